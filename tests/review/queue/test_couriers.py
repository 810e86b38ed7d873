"""Whole workers that send notices: several at once, killed, woken, and a receiver that fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow

from races import PATIENCE
from review.queue.desk import notices, propose, set_channel
from write.worker.desk import serving

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[3]


@dataclass
class Couriers:
    """Starts workers, as processes of their own, that send to webhooks."""

    dsn: str
    _open: ExitStack = field(default_factory=ExitStack)

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Start one."""
        path = (ROOT / "python_client", ROOT / "plpython")
        process = subprocess.Popen(
            [sys.executable, "-m", "memwarden", "worker", "--channels", "webhook", *options],
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join(map(str, path)),
                "MEMWARDEN_DSN": self.dsn,
                "MEMWARDEN_SECRET_DESK": "topsecret",
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        self._open.callback(process.communicate)
        self._open.callback(process.kill)
        return process

    def close(self) -> None:
        """Kill those that still run."""
        self._open.close()


@pytest.fixture
def couriers(shared_world: World, worker_role: str) -> Iterator[Couriers]:
    """Yield a way to start them."""
    made = Couriers(make_conninfo(shared_world.dsn, user=worker_role))
    yield made
    made.close()


class Receiver:
    """An address that notes what it gets, and does what it is told to."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.failing = 0
        self.hang = threading.Event()
        self.hang.set()

    def __call__(self, body: dict[str, Any], headers: Mapping[str, str]) -> tuple[int, Any]:
        """Answer one POST."""
        assert headers["idempotency-key"] == body["id"]
        self.got.append(body)
        self.hang.wait(PATIENCE)
        if self.failing > 0:
            self.failing -= 1
            return 503, {}
        return 200, {}


def until_sent(world: World, org: str, count: int) -> None:
    """Wait until so many notices of the organisation were sent."""
    limit = time.monotonic() + PATIENCE
    while sum(each["state"] == "done" for each in notices(world, org)) < count:
        assert time.monotonic() < limit, notices(world, org)
        time.sleep(0.05)


def test_several_workers_send_each_notice_once(
    shared_world: World, org: str, agent: Connection[DictRow], couriers: Couriers
) -> None:
    """Three processes, twenty notices, until nothing is due.

    Proves: Z9
    """
    receiver = Receiver()
    with serving(receiver) as url:
        set_channel(shared_world, org, target=url, settings={"secret_env": "MEMWARDEN_SECRET_DESK"})
        proposals = [propose(agent, {"text": f"thing number {number}"}) for number in range(20)]
        processes = [couriers.start("--once") for _ in range(3)]
        assert [each.wait(PATIENCE) for each in processes] == [0] * 3
    counted = Counter(each["proposal_id"] for each in receiver.got)
    assert counted == Counter(str(each) for each in proposals)
    assert {each["state"] for each in notices(shared_world, org)} == {"done"}


def test_a_worker_is_woken_by_an_event_and_tries_again_what_was_not_taken(
    shared_world: World, org: str, agent: Connection[DictRow], couriers: Couriers
) -> None:
    """It looks by itself only every hour here, so what is sent at first was announced.

    Proves: Z9
    """
    receiver = Receiver()
    receiver.failing = 1
    with serving(receiver) as url:
        set_channel(shared_world, org, target=url)
        sleeper = couriers.start("--poll", "3600")
        propose(agent, {"text": "tea"})
        limit = time.monotonic() + PATIENCE
        while not receiver.got:
            assert time.monotonic() < limit
            time.sleep(0.02)
        sleeper.terminate()
        assert sleeper.wait(PATIENCE) == 0
        [row] = notices(shared_world, org)
        assert (row["state"], row["last_error"]) == (
            "ready",
            "the service answers with HTTP status 503",
        )
        couriers.start("--poll", "0.2")
        until_sent(shared_world, org, 1)
    assert len(receiver.got) == 2
    assert receiver.got[0]["id"] == receiver.got[1]["id"]


def test_what_a_killed_worker_was_sending_is_sent_again_under_the_same_id(
    shared_world: World, org: str, agent: Connection[DictRow], couriers: Couriers
) -> None:
    """At least once: the receiver tells by the id.

    Proves: Z9
    """
    receiver = Receiver()
    receiver.hang.clear()
    with serving(receiver) as url:
        set_channel(shared_world, org, target=url)
        propose(agent, {"text": "tea"})
        first = couriers.start("--lease", "1")
        limit = time.monotonic() + PATIENCE
        while not receiver.got:
            assert time.monotonic() < limit
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.wait(PATIENCE)
        receiver.hang.set()
        couriers.start("--lease", "5", "--poll", "0.2")
        until_sent(shared_world, org, 1)
    assert len({each["id"] for each in receiver.got}) == 1
    assert len(receiver.got) >= 2


def test_a_login_that_is_no_worker_is_told_so(shared_world: World, couriers: Couriers) -> None:
    """Instead of trying for ever; and an unknown channel is named.

    Proves: Z9
    """
    couriers.dsn = make_conninfo(shared_world.dsn, user=shared_world.role("memwarden_agent"))
    process = couriers.start("--once")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "42501" in said
    unknown = uuid.uuid4().hex
    process = couriers.start("--channels", unknown)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert unknown in said
