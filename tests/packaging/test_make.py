"""What `make` offers, and what `make install` puts where."""

from __future__ import annotations

import lzma
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from server_checkout import WorkingCopy
from test_build import version

PG_CONFIG = f"PG_CONFIG=/usr/lib/postgresql/{os.environ.get('PG', '17')}/bin/pg_config"
TARGETS = (
    "build db env stop psql dsn install uninstall lint check test mutants fuzz bench bench-peers"
    " demo docs dist clean help"
)


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[WorkingCopy]:
    """A copy of this tree with an extension directory of its own, and no server."""
    made = WorkingCopy(tmp_path / "copy")
    yield made
    made.server("clean")


def installed(copy: WorkingCopy) -> dict[str, bytes]:
    """The files of memwarden in the extension directory."""
    folder = Path(copy.server("sharedir"))
    return {path.name: path.read_bytes() for path in folder.glob("memwarden*")}


def test_make_alone_lists_every_target(copy: WorkingCopy) -> None:
    """Each with a word about it."""
    listed = copy.run("make").stdout
    assert listed == copy.run("make", "help").stdout
    words = dict(line.removeprefix("  make ").split(maxsplit=1) for line in listed.splitlines())
    assert set(TARGETS.split()) <= words.keys()


def test_make_install_puts_the_control_file_and_the_scripts_there(copy: WorkingCopy) -> None:
    """With PGXS, inside the server's root file system; and make uninstall takes them away."""
    name = f"0.0.1--{version()}"
    kept = copy.directory / "migrations/released"
    (kept / "memwarden--0.0.1.sql.xz").write_bytes(lzma.compress(b""))
    others = set(Path(copy.server("sharedir")).iterdir())
    # DATA means something to PGXS too, and somebody may have set it for `make demo`.
    copy.run("deploy/server", "install", env={"DATA": "/nowhere/conversation.json"})
    built = copy.directory / "build"
    updates = [
        f"{path.name.removesuffix('.sql.xz')}--{version()}.sql" for path in kept.glob("*.sql.xz")
    ]
    assert f"memwarden--{name}.sql" in updates
    scripts = [f"memwarden--{version()}.sql", *updates]
    assert installed(copy) == {
        "memwarden.control": (copy.directory / "memwarden.control").read_bytes()
    } | {script: (built / script).read_bytes() for script in scripts}
    control = Path(copy.server("sharedir"), "memwarden.control")
    assert stat.S_IMODE(control.stat().st_mode) == 0o644

    inside = ["exec", "--root", "make", "-s", "-C", "/usr/src/memwarden"]
    copy.server(*inside, "uninstall", PG_CONFIG)
    assert installed(copy) == {}
    copy.server(*inside, "install", PG_CONFIG)
    assert len(installed(copy)) == 1 + len(scripts)
    copy.server(*inside, "uninstall", PG_CONFIG)
    assert set(Path(copy.server("sharedir")).iterdir()) == others


def test_make_clean_leaves_what_git_has(copy: WorkingCopy) -> None:
    """Nothing of the tree itself goes."""
    before = {p.relative_to(copy.directory) for p in copy.directory.rglob("*")}
    copy.run("make", "build")
    assert (copy.directory / "build").is_dir()
    copy.run("make", "clean")
    assert {p.relative_to(copy.directory) for p in copy.directory.rglob("*")} == before
