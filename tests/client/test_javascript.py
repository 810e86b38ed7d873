"""The examples of docs/javascript.md run with Node, in a store as `memwarden init` leaves it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from psycopg import conninfo

from shipped import Shipped

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/javascript.md"
PACKAGES = ("@modelcontextprotocol/client@2.4.0", "pg@8.23.1")


def cache() -> Path:
    """Where tools/python-env keeps what it gets."""
    user = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("MEMWARDEN_CACHE", user / "memwarden"))


@pytest.fixture(scope="module")
def modules() -> Path:
    """Return a folder with the packages, which npm fills once."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node or npm is not installed")
    there = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(there.strip().lstrip("v").partition(".")[0]) < 20:
        pytest.skip(f"needs Node 20, there is {there.strip()}")
    kept = cache() / f"node-{hashlib.sha256(' '.join(PACKAGES).encode()).hexdigest()[:12]}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=kept.parent))
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0"]
        command: list[str | Path] = [npm, "install", "--prefix", made, *options, *PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            shutil.rmtree(made)
            pytest.skip(f"npm could not install {', '.join(PACKAGES)}: {done.stderr[-300:]}")
        if not kept.is_dir():
            made.rename(kept)
    return kept


def test_the_examples_print_what_they_say(modules: Path, shipped: Shipped, tmp_path: Path) -> None:
    """With `pg`, and with an MCP client that starts `memwarden mcp`."""
    pytest.importorskip("mcp", reason="needs memwarden[mcp]")
    (tmp_path / "node_modules").symlink_to(modules / "node_modules")
    command = tmp_path / "memwarden"
    path = os.pathsep.join((str(ROOT / "python_client"), str(ROOT / "plpython")))
    command.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} -m memwarden "$@"\n')
    command.chmod(0o755)
    where = conninfo.conninfo_to_dict(shipped.world.dsn)
    variables = os.environ | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        **{f"PG{name.upper()}": str(where[name]) for name in ("host", "port") if name in where},
        "PGDATABASE": shipped.agent.info.dbname,
    }
    names = {"application": shipped.application.info.user, "assistant": shipped.agent.info.user}
    blocks = re.findall(r"^```js\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    for number, block in enumerate(blocks):
        stated = re.findall(r"^// => (.*)$", block, re.MULTILINE)
        text = block.replace('database: "app", ', "").replace("dbname=app ", "")
        for name, login in names.items():
            text = re.sub(rf'(user: "|user=|capture/){name}\b', rf"\g<1>{login}", text)
        file = tmp_path / f"example{number}.mjs"
        file.write_text(text)
        ran = subprocess.run(
            ["node", file], env=variables, capture_output=True, text=True, check=False, timeout=60
        )
        assert (ran.returncode, ran.stdout.splitlines()) == (0, stated), ran.stderr
