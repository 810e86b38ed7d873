"""Whole workers: several at once, killed, stopped, woken and cut off."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow

from helpers import write, write_many
from races import PATIENCE
from write.worker.counting import ENTRY_POINTS
from write.worker.desk import jobs, request, require

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[3]


@dataclass
class Workers:
    """Starts workers as processes of their own, with a plug-in that is installed for them."""

    dsn: str
    folder: Path
    _open: ExitStack = field(default_factory=ExitStack)

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Start one."""
        path = (self.folder, ROOT / "python_client", ROOT / "plpython")
        process = subprocess.Popen(
            [sys.executable, "-m", "memwarden", "worker", "--plugins", "counting", *options],
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(map(str, path)), "MEMWARDEN_DSN": self.dsn},
            stderr=subprocess.PIPE,
            text=True,
        )
        self._open.callback(process.communicate)
        self._open.callback(process.kill)
        return process

    def run(self, *options: str) -> int:
        """Run one to its end, return its status."""
        process = self.start("--once", *options)
        process.communicate(timeout=PATIENCE)
        return process.returncode

    def noted(self) -> list[str]:
        """Return what the plug-in was asked about, in order."""
        notes = self.folder / "notes"
        return notes.read_text().splitlines() if notes.exists() else []

    def close(self) -> None:
        """Kill those that still run."""
        self._open.close()


@pytest.fixture
def workers(shared_world: World, worker_role: str, tmp_path: Path, org: str) -> Iterator[Workers]:
    """Yield a way to start workers that judge the organisation's semantic writes."""
    info = tmp_path / "worker_test_plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: worker-test-plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    source = (Path(__file__).parent / "counting.py").read_text()
    (tmp_path / "worker_test_plugin.py").write_text(source)
    require(shared_world, "counting", org=org, settings={"notes": str(tmp_path / "notes")})
    made = Workers(make_conninfo(shared_world.dsn, user=worker_role), tmp_path)
    yield made
    made.close()


def until(condition: Callable[[], bool]) -> None:
    """Wait for a state; fail when it does not come."""
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.02)


def outcome(world: World, asked: DictRow) -> str:
    """Return the outcome of a request by now."""
    return str(request(world, asked)["outcome"])


def test_several_workers_do_each_job_once(
    shared_world: World, agent: Connection[DictRow], workers: Workers
) -> None:
    """Four processes, 32 jobs, each judged once and every request decided.

    Proves: W9
    """
    texts = [f"thing number {n}" for n in range(32)]
    asked = write_many(agent, [{"layer": "semantic", "content": {"text": each}} for each in texts])
    processes = [workers.start("--once") for _ in range(4)]
    assert [each.wait(PATIENCE) for each in processes] == [0] * 4
    assert Counter(workers.noted()) == Counter(texts)
    assert {outcome(shared_world, each) for each in asked} == {"COMMITTED"}


def test_the_job_of_a_worker_that_was_killed_is_done_by_another(
    shared_world: World, agent: Connection[DictRow], workers: Workers
) -> None:
    """Killed by -9 in the middle of a judgement: the next worker does it when the lease is over.

    Proves: W9
    """
    asked = write(agent, "semantic", {"text": "long", "do": "hang"})
    first = workers.start("--lease", "2")
    until(lambda: workers.noted() == ["long"])
    first.send_signal(signal.SIGKILL)
    first.wait(PATIENCE)
    assert outcome(shared_world, asked) == "DEFERRED"
    second = workers.start("--lease", "2", "--poll", "0.2")
    until(lambda: outcome(shared_world, asked) == "COMMITTED")
    assert workers.noted() == ["long", "long"]
    second.terminate()
    assert second.wait(PATIENCE) == 0


def test_a_job_that_kills_its_worker_harms_no_other(
    shared_world: World, agent: Connection[DictRow], workers: Workers
) -> None:
    """After the last attempt it is set aside; the others are done meanwhile.

    Proves: W9
    """
    poison = write(agent, "semantic", {"text": "poison", "do": "die"})
    others = [write(agent, "semantic", {"text": f"thing number {n}"}) for n in range(3)]
    shared_world.admin.execute(
        "UPDATE memwarden_data.job SET attempts = 3 WHERE request_id = %s", (poison["request_id"],)
    )
    for _ in range(2):
        assert workers.run("--lease", "1") == 9
        # Its lease is over; longest due is first, so the others come before it.
        shared_world.admin.execute(
            "UPDATE memwarden_data.job SET run_at = clock_timestamp() WHERE state = 'running'"
        )
    assert workers.run() == 0
    assert {outcome(shared_world, each) for each in others} == {"COMMITTED"}
    assert outcome(shared_world, poison) == "DEFERRED"
    dead = [each for each in jobs(shared_world, "counting") if each["state"] == "dead"]
    assert [each["request_id"] for each in dead] == [poison["request_id"]]
    assert Counter(workers.noted())["poison"] == 2


def test_a_worker_is_woken_survives_the_loss_of_its_connection_and_ends_when_told(
    shared_world: World, worker_role: str, agent: Connection[DictRow], workers: Workers
) -> None:
    """It looks by itself only every hour here, so what is done was announced.

    Proves: W9
    """
    idle = (
        "SELECT pid FROM pg_stat_activity WHERE usename = %s AND application_name ="
        " 'memwarden worker' AND state = 'idle' AND query LIKE '%%claim_jobs%%'"
    )

    lost: list[int] = []

    def is_idle() -> bool:
        pids = [row["pid"] for row in shared_world.rows(idle, worker_role)]
        return len(pids) == 1 and pids != lost

    process = workers.start("--poll", "3600")
    until(is_idle)
    asked = write(agent, "semantic", {"text": "first"})
    until(lambda: outcome(shared_world, asked) == "COMMITTED")

    until(is_idle)
    lost += [row["pid"] for row in shared_world.rows(idle, worker_role)]
    shared_world.admin.execute("SELECT pg_terminate_backend(%s)", (lost[0],))
    until(is_idle)
    asked = write(agent, "semantic", {"text": "second"})
    until(lambda: outcome(shared_world, asked) == "COMMITTED")

    asked = write(agent, "semantic", {"text": "third", "do": "linger"})
    until(lambda: workers.noted()[-1:] == ["third"])
    process.terminate()
    assert process.wait(PATIENCE) == 0
    assert outcome(shared_world, asked) == "COMMITTED"


def test_a_login_that_is_no_worker_is_told_so(shared_world: World, workers: Workers) -> None:
    """Instead of trying for ever.

    Proves: W9
    """
    workers.dsn = make_conninfo(shared_world.dsn, user=shared_world.role("memwarden_agent"))
    process = workers.start()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "42501" in said


def test_a_plug_in_that_is_not_installed_is_named(workers: Workers) -> None:
    """With those that are there.

    Proves: W9
    """
    process = workers.start("--plugins", "no_such")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "no_such" in said
    assert "http_gate" in said
