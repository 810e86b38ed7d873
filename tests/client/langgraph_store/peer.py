"""The behavioural tests of langgraph-checkpoint-postgres, from its sdist on PyPI.

pip fetches the sdist once, by its hash, into the cache outside the repository. Its test modules are
loaded here with a `tests.conftest` of their own; nothing of it is kept in the repository.
"""

from __future__ import annotations

import asyncio
import fcntl
import importlib.util
import itertools
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from client.langgraph_store.clock import Clock

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


def with_fewer(test: Any, counts: Mapping[int, int]) -> Any:
    """The same test, with other numbers in the place of some."""
    code = test.__code__
    numbers = tuple(
        counts.get(each, each) if type(each) is int else each for each in code.co_consts
    )
    changed = FunctionType(code.replace(co_consts=numbers), test.__globals__, test.__name__)
    changed.__defaults__ = test.__defaults__
    return changed


def _awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    async def called(*arguments: Any) -> Any:
        return function(*arguments)

    return called


def _gathering(clock: Clock) -> SimpleNamespace:
    return SimpleNamespace(**{**vars(asyncio), "sleep": _awaited(clock.sleep)})


def _expiring(clock: Clock) -> Callable[..., Any]:
    return lambda _, namespace, key: clock.expire(namespace, key)


def _ending(clock: Clock) -> Callable[..., Any]:
    return lambda _, namespace, key: clock.ends(namespace, key)


def _existing(clock: Clock) -> Callable[..., Any]:
    return lambda _, namespace, key: clock.ends(namespace, key) is not None


# What stands in for a name of the test modules: time that passes in the store alone, and the
# helpers that write into the table of PostgresStore and look into it.
HELPERS: dict[str, Callable[[Clock], Any]] = {
    "time": lambda clock: clock,
    "asyncio": _gathering,
    "_expire_now": _expiring,
    "_aexpire_now": lambda clock: _awaited(_expiring(clock)),
    "_row_exists": _existing,
    "_arow_exists": lambda clock: _awaited(_existing(clock)),
    "_stored_expires_at": _ending,
    "_astored_expires_at": lambda clock: _awaited(_ending(clock)),
}
