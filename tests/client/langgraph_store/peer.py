"""The behavioural tests of langgraph-checkpoint-postgres, from its sdist on PyPI.

pip fetches the sdist once, by its hash, into the cache outside the repository. Its test modules are
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
from pathlib import Path
from types import ModuleType
from typing import Any

NAME = "langgraph_checkpoint_postgres-3.2.0"
SHA256 = "dffef0e6822d7c614019f7f2c4bdbef42859746aee2d3e6d9d9747cf3744ca90"


def sources() -> Path:
    """The unpacked sdist."""
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "memwarden"
    cache = Path(os.environ.get("MEMWARDEN_CACHE", home)) / "sdists"
    cache.mkdir(parents=True, exist_ok=True)
    unpacked = cache / NAME
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not unpacked.exists():
            wanted = cache / "langgraph.txt"
            wanted.write_text(f"langgraph-checkpoint-postgres==3.2.0 --hash=sha256:{SHA256}\n")
            # Its metadata are built with hatchling, which the environment has.
            options = "--quiet --no-deps --no-binary=:all: --no-build-isolation --require-hashes"
            pip = [sys.executable, "-m", "pip", "download", *options.split()]
            subprocess.run(
                [*pip, f"--dest={cache}", f"--requirement={wanted}"],
                check=True,
                env=os.environ
                | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
            )
            with tarfile.open(cache / f"{NAME}.tar.gz") as archive:
                archive.extractall(cache, filter="data")
    return unpacked


def load(module: str) -> ModuleType:
    """A test module of the sdist, without its fixtures and without a server of its own."""
    folder = sources() / "tests"
    names = ("tests", "tests.conftest", "tests.embed_test_utils")
    before = {name: sys.modules.get(name) for name in names}
    try:
        package = ModuleType("tests")
        package.__path__ = [str(folder)]
        sys.modules["tests"] = package
        for name in ("tests.embed_test_utils", "tests.conftest"):
            _load(name, folder / f"{name.removeprefix('tests.')}.py", register=True)
        return _load(f"peer_{module}", folder / f"{module}.py", register=False)
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


def cases(test: Any) -> list[dict[str, Any]]:
    """The arguments of every case of a test: one where only its kinds of vectors differ."""
    axes: list[list[dict[str, Any]]] = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = [each.strip() for each in mark.args[0].split(",")]
            if "vector_type" in names:
                continue
            rows = [row if len(names) > 1 else (row,) for row in mark.args[1]]
            axes.append([dict(zip(names, row, strict=True)) for row in rows])
    return [
        {name: value for part in parts for name, value in part.items()}
        for parts in itertools.product(*axes)
    ]
