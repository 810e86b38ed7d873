"""Test modules of other projects, from their sdists on PyPI.

pip fetches an sdist once, by its hash, into the cache outside the repository. Its test modules are
loaded here with a `tests.conftest` of their own; nothing of it is kept in the repository.
"""

from __future__ import annotations

import fcntl
import importlib.util
import itertools
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

# How much the suites of langgraph import that our environment does not have.
_ABSENT = {"pytest_mock": ("MockerFixture",)}


def sources(package: str, version: str, sha256: str) -> Path:
    """The unpacked sdist."""
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "memwarden"
    cache = Path(os.environ.get("MEMWARDEN_CACHE", home)) / "sdists"
    cache.mkdir(parents=True, exist_ok=True)
    name = f"{package.replace('-', '_')}-{version}"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (cache / name).exists():
            wanted = cache / f"{name}.txt"
            wanted.write_text(f"{package}=={version} --hash=sha256:{sha256}\n")
            # Its metadata are built with hatchling, which the environment has.
            options = "--quiet --no-deps --no-binary=:all: --no-build-isolation --require-hashes"
            pip = [sys.executable, "-m", "pip", "download", *options.split()]
            tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            subprocess.run(
                [*pip, f"--dest={cache}", f"--requirement={wanted}"],
                check=True,
                env=os.environ | {"PATH": tools},
            )
            with tarfile.open(cache / f"{name}.tar.gz") as archive:
                archive.extractall(cache, filter="data")
    return cache / name


def load(folder: Path, module: str) -> ModuleType:
    """A test module of a folder, without its fixtures and without a server of its own."""
    names = ["tests", "tests.conftest", "tests.embed_test_utils", *_ABSENT]
    before = {name: sys.modules.get(name) for name in names}
    try:
        package = ModuleType("tests")
        package.__path__ = [str(folder)]
        sys.modules["tests"] = package
        for name, classes in _ABSENT.items():
            sys.modules[name] = ModuleType(name)
            vars(sys.modules[name]).update(dict.fromkeys(classes, object))
        for name in ("embed_test_utils", "conftest"):
            if (folder / f"{name}.py").exists():
                _load(f"tests.{name}", folder / f"{name}.py", register=True)
        return _load(f"{folder.parent.name}_{module}", folder / f"{module}.py", register=False)
    finally:
        for name, value in before.items():
            if value is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = value


def _load(name: str, path: Path, *, register: bool) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    if register:
        sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def tests(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The tests of a module by name."""
    return (each for each in vars(module).items() if each[0].startswith("test_"))


def cases(test: Any) -> list[dict[str, Any]]:
    """The arguments of every case of a test."""
    axes: list[list[dict[str, Any]]] = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = [each.strip() for each in mark.args[0].split(",")]
            rows = [row if len(names) > 1 else (row,) for row in mark.args[1]]
            axes.append([dict(zip(names, row, strict=True)) for row in rows])
    return [
        {name: value for part in parts for name, value in part.items()}
        for parts in itertools.product(*axes)
    ]


def with_fewer(test: Any, counts: Mapping[int, int]) -> Any:
    """The same test, with other numbers in the place of some."""
    code = test.__code__
    numbers = tuple(
        counts.get(each, each) if type(each) is int else each for each in code.co_consts
    )
    changed = FunctionType(code.replace(co_consts=numbers), test.__globals__, test.__name__)
    changed.__defaults__ = test.__defaults__
    changed.__annotations__ = test.__annotations__
    return changed
