"""The package installs with everything it needs, at the version of the extension."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


OPTIONAL = {"console", "langgraph", "mcp", "minilm", "nli", "otel", "parquet", "pool"}


def packed(project: Path, folder: Path, *targets: str) -> None:
    """Run the build backend of a project, as pip does."""
    options = [word for target in targets for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *options, "-d", folder],
        cwd=project,
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the sdist and the wheel, built once."""
    pytest.importorskip("hatchling", reason="hatchling is not installed (extra dev)")
    folder = tmp_path_factory.mktemp("dist")
    packed(ROOT / "python_client", folder, "sdist", "wheel")
    return folder


@pytest.fixture
def wheel(dist: Path) -> Path:
    """Return the wheel."""
    [built] = dist.glob("*.whl")
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


def test_the_sdist_makes_the_same_wheel_without_the_repository(dist: Path, wheel: Path) -> None:
    """It brings the code and the version that lie outside the package's folder."""
    [sdist] = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(dist / "source", filter="data")
    [project] = (dist / "source").iterdir()
    packed(project, dist / "again", "wheel")
    assert (dist / "again" / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_wheel_names_its_extras_and_carries_the_licence(wheel: Path) -> None:
    """What an integration needs comes with its extra, and never by itself."""
    with zipfile.ZipFile(wheel) as archive:
        [folder] = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = HeaderParser().parsestr(archive.read(f"{folder}/METADATA").decode())
        licence = archive.read(f"{folder}/licenses/LICENSE")
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert set(metadata.get_all("Provides-Extra", [])) == {*OPTIONAL, "dev"}
    needed = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    names = {re.split(r"[^\w-]", each)[0] for each in needed}
    assert names == {"h11", "psycopg", "rfc8785", "rich", "typer"}
