"""The cached root file system: made once, whole or not at all.

Proves: two checkouts may want it at once, a failure leaves nothing half-made, and a day without
PostgreSQL 18 in Debian testing can be told from every other failure.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from server_checkout import Checkout

# Stands in for mmdebstrap: the last argument is where the root file system goes.
GOOD = """#!/bin/sh
for target; do :; done
echo made >> "$COUNT"
sleep 0.3
mkdir -p "$target"/usr/share/postgresql/17/extension
"""
BROKEN = """#!/bin/sh
for target; do :; done
mkdir -p "$target"/usr
echo 'E: Unable to locate package postgresql-18' >&2
exit 1
"""


class Machine:
    """A cache of its own, a stand-in for mmdebstrap, and checkouts."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.checkouts: list[Checkout] = []
        self.cache = directory / "cache"
        self.count = directory / "count"
        self.environment = {
            "PATH": f"{directory / 'bin'}:{os.environ['PATH']}",
            "MEMWARDEN_CACHE": str(self.cache),
            "COUNT": str(self.count),
            "PG": "17",
        }

    def set_mmdebstrap(self, script: str) -> None:
        """Let the stand-in do what the script says."""
        (self.directory / "bin").mkdir()
        (self.directory / "bin/mmdebstrap").write_text(script)
        (self.directory / "bin/mmdebstrap").chmod(0o755)

    def checkout(self, name: str) -> Checkout:
        """A new checkout on this machine."""
        self.checkouts.append(Checkout(self.directory / name, name))
        return self.checkouts[-1]

    def server(
        self, checkout: Checkout, *arguments: str, check: bool = True, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `deploy/server` of a checkout on this machine."""
        return checkout.run(
            "deploy/server", *arguments, check=check, env=self.environment | environment
        )

    def roots(self) -> list[Path]:
        """The root file systems in the cache, finished or not."""
        return [path for path in (self.cache / "roots").iterdir() if path.is_dir()]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine that never made a root file system."""
    result = Machine(tmp_path)
    yield result
    for checkout in result.checkouts:
        if checkout.directory.exists():
            result.server(checkout, "clean")


def test_two_checkouts_make_one_root_between_them(machine: Machine) -> None:
    """Both ask at the same moment and get the same finished path."""
    machine.set_mmdebstrap(GOOD)
    checkouts = [machine.checkout(name) for name in ("one", "two")]
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(lambda one: machine.server(one, "root").stdout, checkouts)
    assert first == second
    assert Path(first.rstrip("\n")).is_dir()
    assert machine.count.read_text() == "made\n"


@pytest.mark.parametrize(("version", "status"), [("17", 69), ("18", 75)])
def test_a_failure_is_told_apart_and_leaves_nothing(
    machine: Machine, version: str, status: int
) -> None:
    """The end of the log is shown, the exit status names the case, no root is left behind."""
    machine.set_mmdebstrap(BROKEN)
    result = machine.server(machine.checkout("one"), "up", "test", check=False, PG=version)
    assert result.returncode == status
    assert "Unable to locate package" in result.stderr
    assert machine.roots() == []


def test_what_a_deleted_checkout_left_is_pruned(machine: Machine) -> None:
    """Its state goes, and with it every root file system that no checkout uses."""
    machine.set_mmdebstrap(GOOD)
    gone, kept = machine.checkout("gone"), machine.checkout("kept")
    machine.server(gone, "root")
    (machine.cache / "roots/pg17-unused").mkdir()
    used = machine.server(kept, "root").stdout.rstrip("\n")
    gone.directory.rename(gone.directory.with_name("elsewhere"))
    machine.server(kept, "prune")
    owners = [path.read_text() for path in machine.cache.glob("checkouts/*/checkout")]
    assert owners == [f"{kept.directory}\n"]
    assert machine.roots() == [Path(used)]


def test_a_new_package_list_gives_a_new_root(machine: Machine) -> None:
    """Nobody keeps a server that misses a package."""
    machine.set_mmdebstrap(GOOD)
    checkout = machine.checkout("one")
    before = machine.server(checkout, "root").stdout
    with (checkout.directory / "deploy/packages.txt").open("a") as packages:
        packages.write("hello\n")
    assert machine.server(checkout, "root").stdout != before
