"""The package installs with everything it needs, at the version of the extension."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built once."""
    pytest.importorskip("hatchling", reason="hatchling is not installed (extra dev)")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT / "python_client",
        check=True,
        capture_output=True,
    )
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_has_the_version_of_the_extension(wheel: Path) -> None:
    """Which is written in one place."""
    control = (ROOT / "memwarden.control").read_text()
    found = re.search(r"default_version = '(.+)'", control)
    assert found is not None
    assert wheel.name.startswith(f"memwarden-{found[1]}-")


def test_the_wheel_brings_the_code_it_shares_with_the_server_and_the_sample(wheel: Path) -> None:
    """That code lies outside the package's folder in the repository."""
    names = set(zipfile.ZipFile(wheel).namelist())
    shared = ROOT / "plpython" / "memwarden_core"
    assert {each.relative_to(shared.parent).as_posix() for each in shared.rglob("*.py")} <= names
    assert {
        "memwarden/py.typed",
        "memwarden_core/py.typed",
        "memwarden/demo/sample.json",
        "memwarden/console/templates/queue.html",
        "memwarden/console/static/console.css",
        "memwarden/_sync/client.py",
    } <= names


def test_the_wheel_runs_from_itself_alone(wheel: Path) -> None:
    """Without the repository beside it."""
    program = "import memwarden, memwarden.cli; print(memwarden.__file__)"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"PYTHONPATH": str(wheel)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.startswith(str(wheel))
