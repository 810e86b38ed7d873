"""Any login may NOTIFY on any channel: who listens looks now and then, and reads no payload."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from helpers import write
from memwarden import Client
from memwarden._sync import reviewing as waiting
from memwarden.worker.line import LEAST_PAUSE
from memwarden.worker.loop import Pace
from memwarden.worker.plugin import Verdict
from memwarden.worker.queue import Job, Queue
from memwarden.worker.runner import Runner
from races import PATIENCE
from reviewing import HOME, ask, reviewer
from write.worker.desk import jobs, require

if TYPE_CHECKING:
    from conftest import World
    from memwarden.results import RequestStatus

ENOUGH = 3000
"""Messages that have to be sent before a flood counts as one."""

PAYLOADS = (
    "",
    "not a number",
    "'; DROP TABLE memwarden_data.item; --",
    '{"job_id": 1}',
    "\\x00",
    "\u202e\ufeff",
    str(uuid.uuid4()),
    "x" * 7000,
)


class Flood:
    """What is sent, and how much of it so far."""

    sent = 0


@contextmanager
def flood(world: World, channel: str, payloads: Sequence[str] = PAYLOADS) -> Iterator[Flood]:
    """Send messages as fast as it goes, as a login that is in no role, until the block ends."""
    stranger, over, made = world.connect(world.role()), threading.Event(), Flood()

    def send() -> None:
        while not over.is_set():
            # Of equal messages of one transaction one is sent.
            made.sent += stranger.execute(
                "SELECT pg_notify(%s, said) FROM unnest(%s::text[]) AS said",
                (channel, [*payloads, *(f"{made.sent}:{n}" for n in range(100))]),
            ).rowcount

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield made
    finally:
        over.set()
        thread.join(PATIENCE)


class Counted(Queue):
    """A queue that knows how often it was asked."""

    looks = 0

    def claim(self, plugins: Sequence[str], lease: float) -> Job | None:
        """Ask, and count."""
        self.looks += 1
        return super().claim(plugins, lease)


class Agreeing:
    """A plug-in that agrees with everything."""

    name = "agrees"
    version = "1"

    def judge(self, _payload: Mapping[str, Any], _settings: Mapping[str, Any]) -> Verdict:
        """Accept."""
        return Verdict("accept")


def test_a_worker_asks_no_more_often_than_it_may(world: World) -> None:
    """Thousands of messages on its channel, of any content; and its work is done meanwhile."""
    plugin = f"p{uuid.uuid4().hex[:12]}"
    require(world, plugin)
    agent, stop = world.agent(HOME), threading.Event()
    judge = Agreeing()
    judge.name = plugin
    queue = Counted(make_conninfo(world.dsn, user=world.role("memwarden_worker")), "w", stop)
    runner = Runner(queue, {plugin: judge}, stop, Pace(poll=3600))
    with ThreadPoolExecutor(1) as pool, flood(world, queue.listen.split()[1]) as sent:
        begun = time.monotonic()
        running = pool.submit(runner.run, once=False)
        while sent.sent < ENOUGH:
            time.sleep(0.01)
        asked = write(agent, "semantic", "tea")
        assert asked["outcome"] == "DEFERRED"
        while jobs(world, plugin)[0]["state"] != "done":
            assert not running.done()
            time.sleep(0.01)
        elapsed = time.monotonic() - begun
        looks = queue.looks
        stop.set()
        running.result(PATIENCE)
    assert runner.failure is None
    # One that found the job, and the first, come besides.
    assert looks <= elapsed / LEAST_PAUSE + 3
    assert looks < sent.sent / 20


@pytest.mark.parametrize("aimed", [False, True])
def test_who_waits_for_a_decision_asks_no_more_often_than_it_may(
    world: World, monkeypatch: pytest.MonkeyPatch, aimed: bool
) -> None:
    """Whether the messages name the request or not; the decision is what ends the wait."""
    ask(world)
    ana = reviewer(world)
    looked = []
    decision = waiting.Reviewing._decision

    def counted(
        client: waiting.Reviewing, request_id: uuid.UUID, *most: str
    ) -> RequestStatus | None:
        looked.append(request_id)
        return decision(client, request_id, *most)

    monkeypatch.setattr(waiting.Reviewing, "_decision", counted)
    with Client.connect(make_conninfo(world.dsn, user=world.register(HOME))) as memory:
        waits = memory.write("semantic", "The sky is blue").request_id
        payloads = [str(waits), f"{waits} "] if aimed else PAYLOADS
        with ThreadPoolExecutor(1) as pool, flood(world, "memwarden_review", payloads) as sent:
            begun = time.monotonic()
            waiter = pool.submit(memory.await_decision, waits, PATIENCE)
            while sent.sent < ENOUGH or len(looked) < 3:
                assert not waiter.done()
                time.sleep(0.01)
            with Client(ana) as desk:
                assert desk.approve(waits, "so it is").committed
            status = waiter.result(PATIENCE)
            elapsed = time.monotonic() - begun
    assert status is not None
    assert status.outcome == "COMMITTED"
    assert len(looked) <= elapsed / waiting._LEAST_PAUSE + 3
    assert len(looked) < sent.sent / 20
