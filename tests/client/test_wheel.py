"""The client installs as a thin core, and all else beside it, at the version of the extension."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from memwarden._needs import EXTRA
from shipped import Shipped

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "python_client"
SERVICE = ROOT / "docs/examples/service.py"
PAGES = (ROOT / "README.md", CLIENT / "README.md")
OWN = {"embed", "otel", "pool"}
# Runs each program, and prints the message of what it raises.
ATTEMPTS = """
for program in {programs}:
    try:
        exec(program)
        print("done")
    except Exception as error:
        print(error)
"""
FRACTION = (
    "import memwarden as m;m.Client(embedder=m.LexicalEmbedder()).write('semantic', {'kg': 1.5})"
)
HEAVY = ("flask", "h11", "mcp", "numpy", "onnxruntime", "rfc8785", "rich", "typer")


def packed(project: Path, folder: Path, *targets: str) -> None:
    """Run the build backend of a project, as pip does."""
    options = [word for target in targets for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *options, "-d", folder],
        cwd=project,
        check=True,
        capture_output=True,
    )


class Built(NamedTuple):
    """A distribution, built once."""

    sdist: Path
    wheel: Path

    @property
    def names(self) -> set[str]:
        """What the wheel holds, but for what describes it."""
        names = zipfile.ZipFile(self.wheel).namelist()
        return {name for name in names if ".dist-info/" not in name}

    @property
    def metadata(self) -> Message:
        """What describes it."""
        return HeaderParser().parsestr(self._described("METADATA").decode())

    @property
    def licence(self) -> bytes:
        """The licence in it."""
        return self._described("licenses/LICENSE")

    def needs(self, extra: str = "") -> dict[str, Requirement]:
        """The requirements, those of an extra included, by name."""
        all_of_them = map(Requirement, self.metadata.get_all("Requires-Dist", []))
        return {
            each.name: each
            for each in all_of_them
            if each.marker is None or (extra and each.marker.evaluate({"extra": extra}))
        }

    def _described(self, name: str) -> bytes:
        with zipfile.ZipFile(self.wheel) as archive:
            [folder] = {each.split("/")[0] for each in archive.namelist() if ".dist-info/" in each}
            return archive.read(f"{folder}/{name}")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the sdists and the wheels."""
    pytest.importorskip("hatchling", reason="hatchling is not installed (extra dev)")
    folder = tmp_path_factory.mktemp("dist")
    for project in (CLIENT, CLIENT / "tools"):
        packed(project, folder, "sdist", "wheel")
    return folder


def found(dist: Path, name: str) -> Built:
    """What was built of a project."""
    [sdist], [wheel] = dist.glob(f"{name}-*.tar.gz"), dist.glob(f"{name}-*.whl")
    return Built(sdist, wheel)


@pytest.fixture(scope="module")
def core(dist: Path) -> Built:
    """Return the client."""
    return found(dist, "memwarden")


@pytest.fixture(scope="module")
def tools(dist: Path) -> Built:
    """Return all else."""
    return found(dist, "memwarden_tools")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, core: Built) -> Path:
    """Return the Python of an environment with the core and what it declares, and nothing else."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin/python"
    [site] = folder.glob("lib/python*/site-packages")
    wanted, names = list(core.needs().values()), set()
    while wanted:
        requirement = wanted.pop()
        if requirement.name in names:
            continue
        names.add(requirement.name)
        each = distribution(requirement.name)
        for extra in requirement.extras or {""}:
            wanted += [
                found
                for found in map(Requirement, each.requires or [])
                if found.marker is None or found.marker.evaluate({"extra": extra})
            ]
        for top in {file.parts[0] for file in each.files or [] if file.parts[0] != ".."}:
            if top != "__pycache__":
                (site / top).symlink_to(str(each.locate_file(top)))
    assert names - {"typing-extensions"} == {"psycopg", "psycopg-binary"}
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    options = ["--no-index", "--no-deps", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, *options, core.wheel], check=True)
    return python


def ran(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program whose Python finds nothing but what is installed there."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [program, *arguments], env=variables, capture_output=True, text=True, check=False
    )


def example(page: Path) -> str:
    """The first example in Python."""
    block = re.search(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None
    return block[1]


def test_both_have_the_version_of_the_extension_and_its_licence(core: Built, tools: Built) -> None:
    """The version is written in one place, and each locks the other to it."""
    control = re.search(r"default_version = '(.+)'", (ROOT / "memwarden.control").read_text())
    assert control is not None
    for built in (core, tools):
        assert built.metadata["Version"] == control[1]
        assert built.licence == (ROOT / "LICENSE").read_bytes()
    assert {str(each) for each in tools.needs().values()} == {f"memwarden=={control[1]}"}
    extras = set(core.metadata.get_all("Provides-Extra", []))
    assert extras - OWN == set(tools.metadata.get_all("Provides-Extra", [])) - {"dev"}
    for extra in extras - OWN:
        brought = core.needs(extra)["memwarden-tools"]
        assert (brought.extras, str(brought.specifier)) == ({extra}, f"=={control[1]}")


def test_the_core_needs_psycopg_alone_and_each_extra_what_it_is_for(
    core: Built, tools: Built
) -> None:
    """Whoever asks for the worker gets no web page."""
    assert [str(each) for each in core.needs().values()] == ["psycopg[binary]>=3.2"]
    brings = {
        extra: set(tools.needs(extra)) - {"memwarden"}
        for extra in ("cli", "worker", "console", "mem0", "langgraph", "demo", "evaluation")
    }
    command = {"rfc8785", "rich", "typer"}
    assert brings == {
        "cli": command,
        "demo": command,
        "evaluation": command,
        "worker": {*command, "h11"},
        "console": {*command, "flask", "waitress"},
        "langgraph": {"langgraph-checkpoint-postgres"},
        "mem0": {"h11"},
    }


def test_together_they_have_every_file_once(core: Built, tools: Built) -> None:
    """Both put files into the same two packages. The core has what `import memwarden` reads."""
    there = {
        file.relative_to(parent).as_posix()
        for parent, package in ((CLIENT, "memwarden"), (ROOT / "plpython", "memwarden_core"))
        for file in (parent / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert core.names | tools.names == there
    assert not core.names & tools.names
    settings = tomllib.loads((CLIENT / "pyproject.toml").read_text("utf-8"))
    listed = settings["tool"]["hatch"]["build"]["only-include"]
    assert all((CLIENT / each).exists() for each in listed)
    # Whoever imports anything else is told how to install it.
    shared = {name.split("/")[1] for name in core.names if name.startswith("memwarden/")}
    rest = [re.split(r"[/.]", name) for name in sorted(tools.names)]
    modules = {
        ".".join(parts[: 3 if parts[1] in shared else 2])
        for parts in rest
        if parts[0] == "memwarden"
    }
    assert modules == set(EXTRA)
    extras = set(core.metadata.get_all("Provides-Extra", []))
    assert set(EXTRA.values()) <= extras


@pytest.mark.parametrize("name", ["memwarden", "memwarden_tools"])
def test_an_sdist_makes_the_same_wheel_without_the_repository(dist: Path, name: str) -> None:
    """It brings the code and the version that lie outside the project's folder."""
    built = found(dist, name)
    with tarfile.open(built.sdist) as archive:
        archive.extractall(dist / name, filter="data")
    [project] = (dist / name).iterdir()
    packed(project, dist / name, "wheel")
    assert (dist / name / built.wheel.name).read_bytes() == built.wheel.read_bytes()


def test_importing_the_client_loads_nothing_heavy() -> None:
    """Here, where all of it is installed."""
    for name in HEAVY:
        assert find_spec(name) is not None, name
    paths = [str(CLIENT), str(ROOT / "plpython")]
    script = f"import sys; sys.path[:0] = {paths}; import memwarden; print(*sys.modules)"
    loaded = ran(Path(sys.executable), "-W", "error", "-c", script)
    assert loaded.stderr == ""
    assert not set(HEAVY) & set(loaded.stdout.split())


@pytest.mark.parametrize("page", PAGES, ids=["project", "client"])
def test_the_first_example_runs_in_an_environment_with_nothing_else(
    page: Path, empty: Path, shipped: Shipped, tmp_path: Path
) -> None:
    """In a store as `memwarden init` leaves it."""
    file = tmp_path / "first.py"
    text = example(page)
    stated = [line.partition("# => ")[2] for line in text.splitlines() if "# => " in line]
    logins = {
        "application": shipped.application,
        "assistant": shipped.agent,
        "reviewer": shipped.reviewer,
    }
    for name, login in logins.items():
        way = f"{shipped.world.dsn} dbname={login.info.dbname} user={login.info.user}"
        text = re.sub(rf"dbname=\w+ user={name}", way, text)
    file.write_text(text)
    done = ran(empty, "-W", "error", "-W", "ignore::ResourceWarning", str(file))
    assert (done.stderr, done.stdout.splitlines()) == ("", stated)


def test_programs_are_checked_against_the_types_of_the_core(empty: Path, tmp_path: Path) -> None:
    """`mypy --strict`: `py.typed` is there, and no Any."""
    pytest.importorskip("mypy", reason="mypy is not installed (extra dev)")
    firsts = [tmp_path / f"first{number}.py" for number in range(len(PAGES))]
    for file, page in zip(firsts, PAGES, strict=True):
        file.write_text(example(page))
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import memwarden\n"
        "with memwarden.connect() as memory:\n"
        "    memory.recal('tea')\n"
        "    number: int = memory.recall('tea')[0].text\n"
        "    memory.write('semantic')\n"
        "    memory.remember('Ana sings', source=7)\n"
        "async def ask(memory: memwarden.AsyncClient) -> list[str]:\n"
        "    return await memory.recall('tea')\n"
    )
    [site] = empty.parent.parent.glob("lib/python*/site-packages")
    command: list[str | Path] = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    checked = subprocess.run(
        [*command, "--cache-dir", tmp_path / "cache", *firsts, SERVICE, wrong],
        env=os.environ | {"PYTHONPATH": str(site)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^(\S+):(\d+): error:", checked.stdout, re.MULTILINE)
    lines = [(Path(file).name, int(line)) for file, line in found]
    assert lines == [("wrong.py", line) for line in (3, 4, 5, 6, 8)], checked.stdout


def test_what_is_not_installed_says_how_to_install_it(empty: Path, tools: Built) -> None:
    """The command, a package, a plug-in; also where only a library of others is missing."""
    command = empty.with_name("memwarden")
    alone = ran(command, "status")
    advice = "error: {} is missing; run: pip install 'memwarden[cli]'\n"
    assert (alone.returncode, alone.stderr) == (1, advice.format("memwarden.cli"))
    tries = {
        "from memwarden import langgraph": "memwarden.langgraph is missing; run: .*langgraph]'",
        "import memwarden.mcp.server": "memwarden.mcp is missing; run: .*mcp]'",
        "from memwarden.rerankers import load; load('llm')": r"run: .*\[worker\]'",
        "from memwarden.retrievers.discovery import load; load('http_json')": r"\[worker\]'",
        "import memwarden.pooling as p; p.memory_pool()": "psycopg_pool is missing; .*pool]'",
        "import memwarden.embedders.minilm": r"minilm is missing; run: .*\[local\]'",
        FRACTION: r"rfc8785 is missing; run: .*\[embed\]'",
        "import memwarden.nothing": "No module named 'memwarden.nothing'",
    }
    told = ran(empty, "-c", ATTEMPTS.format(programs=list(tries)))
    assert told.stderr == ""
    for said, message in zip(tries.values(), told.stdout.splitlines(), strict=True):
        assert re.search(said, message), message
    [site] = empty.parent.parent.glob("lib/python*/site-packages")
    zipfile.ZipFile(tools.wheel).extractall(site)
    alone = ran(command, "status")
    assert (alone.returncode, alone.stderr) == (1, advice.format("typer"))
    tries = {
        "import memwarden.worker.loop": "done",
        "import memwarden.rerankers as r; r.load('llm')": r"h11 is missing; run: .*\[worker\]'",
        "import memwarden.langgraph": "langgraph is missing; run: .*langgraph]'",
        "import memwarden.embedders.minilm": r"numpy is missing; run: .*\[local\]'",
    }
    told = ran(empty, "-c", ATTEMPTS.format(programs=list(tries)))
    for said, message in zip(tries.values(), told.stdout.splitlines(), strict=True):
        assert re.search(said, message), message
