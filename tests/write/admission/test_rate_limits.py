"""So many writes of an agent in a layer: the rest wait, whoever asks, however they are asked."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write, write_many
from races import together
from write.admission.conftest import configure, limit, note
from write.gates.obedient import make_due, run_retries, status

if TYPE_CHECKING:
    from conftest import World

WRITERS = 32
PATIENT = "-c lock_timeout=2min"
Tasks = Callable[[int], list[str]]


@pytest.fixture
def role(shared_world: World, home: str) -> str:
    """An agent that writes its home and the tasks there."""
    return shared_world.register(home, descendants=True)


@pytest.fixture
def agent(shared_world: World, role: str) -> Connection[DictRow]:
    """A connection of that agent."""
    return shared_world.connect(role)


def uuid_of_yesterday(world: World) -> uuid.UUID:
    """A request id that an agent minted twenty-three hours ago."""
    moment = world.value("SELECT (extract(epoch FROM now() - interval '23 hours') * 1000)::bigint")
    number = (int(moment) << 80) | (7 << 76) | (uuid.uuid4().int & ((1 << 76) - 1))
    return uuid.UUID(int=(number & ~(3 << 62)) | (2 << 62))


def test_over_the_limit_a_write_is_deferred_and_told_why(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """The detail gives limit and window; the retry is when the first permit comes back.

    Proves: W6
    """
    configure(shared_world, "procedural", rate_limit=2, rate_window="10 minutes")
    assert [note(agent, home, "procedural") for _ in range(2)] == ["COMMITTED"] * 2
    over = write(agent, "procedural", {"note": 3})
    assert (over["outcome"], over["gate"], over["reason"]) == (
        "DEFERRED",
        "31_allowance",
        "RATE_LIMITED",
    )
    assert over["detail"] == {"limit": 2, "window": "00:10:00"}
    first = shared_world.value(
        "SELECT min(decided_at) FROM memwarden_data.write_request"
        " WHERE layer = 'procedural' AND principal_id ="
        " (SELECT principal_id FROM memwarden_data.principal WHERE name = %s)",
        agent.info.user,
    )
    assert timedelta(0) < over["retry_after"] - first < timedelta(minutes=10, seconds=5)
    assert over["retry_after"] - status(shared_world, over)["decided_at"] > timedelta(minutes=9)
    # Another agent has permits of its own, and so has another layer.
    assert note(shared_world.agent(home), home, "procedural") == "COMMITTED"
    assert note(agent, home, "semantic") == "COMMITTED"
    configure(shared_world, "procedural", rate_limit=None)
    assert note(agent, home, "procedural") == "COMMITTED"
    run_retries(shared_world)
    assert status(shared_world, over)["outcome"] == "COMMITTED"


def test_the_wait_grows_with_every_attempt(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """Where a permit is expected sooner than the layer's patience says, the patience counts.

    Proves: W6
    """
    shared_world.admin.execute(
        "INSERT INTO memwarden_data.layer SELECT (jsonb_populate_record(l,"
        """ '{"layer": "slow", "ordinal": 93, "rate_limit": 1, "rate_window": "1 second","""
        """  "retry_backoff": "10 minutes"}')).* FROM memwarden_data.layer AS l"""
        " WHERE l.layer = 'semantic'"
    )
    # The one permit is held: each attempt finds none.
    holder = shared_world.connect(agent.info.user)
    scope = f"{home}/task/held"
    shared_world.scope(scope)
    with holder.transaction():
        assert note(holder, scope, "slow") == "COMMITTED"
        asked = write(agent, "slow", {"note": 1})
        waits = []
        for _ in range(4):
            row = status(shared_world, asked)
            assert (row["outcome"], row["reason"]) == ("DEFERRED", "RATE_LIMITED")
            waits.append((row["retry_at"] - row["decided_at"]) / timedelta(minutes=1))
            run_retries(shared_world)
    assert waits == [10, 20, 40, 60]


def test_an_agent_can_have_a_limit_of_its_own(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """Higher or lower than the layer's; without it the layer's holds again. What was used counts.

    Proves: W6
    """
    limit(shared_world, agent, 1)
    assert note(agent, home) == "COMMITTED"
    over = write(agent, "episodic", {"note": 1})
    assert over["detail"] == {"limit": 1, "window": "01:00:00", "agent": agent.info.user}
    limit(shared_world, agent, 3)
    assert [note(agent, home) for _ in range(3)] == ["COMMITTED"] * 2 + ["RATE_LIMITED"]
    limit(shared_world, agent, None)
    assert note(agent, home) == "COMMITTED"
    changes = shared_world.rows(
        "SELECT detail -> 'rate_limit' AS n FROM memwarden.access_changes"
        " WHERE action = 'set_rate_limit' AND detail ->> 'agent' = %s ORDER BY changed_at",
        agent.info.user,
    )
    assert [row["n"] for row in changes] == [1, 3, None]


def test_thirty_two_connections_get_as_many_permits_as_there_are(
    shared_world: World, role: str, agent: Connection[DictRow], tasks: Tasks
) -> None:
    """Half of the writes are undone: no more than the limit stand, and no permit is lost.

    Proves: W6
    """
    allowed = 40
    limit(shared_world, agent, allowed)
    paths = tasks(WRITERS)
    sessions = [shared_world.connect(role, options=PATIENT) for _ in paths]

    def work(session: Connection[DictRow], path: str, undone: bool) -> list[str]:
        said = []
        for _ in range(3):
            with session.transaction(force_rollback=undone):
                said.append(note(session, path))
        return [] if undone else said

    pairs = zip(sessions, paths, strict=True)
    actions = [partial(work, *pair, n % 2 == 1) for n, pair in enumerate(pairs)]
    outcomes = Counter(outcome for said in together(actions) for outcome in said)
    assert set(outcomes) <= {"COMMITTED", "RATE_LIMITED"}
    assert outcomes["COMMITTED"] <= allowed
    # One after another, what is left: exactly so many, wherever the shards are.
    rest = [note(agent, paths[0]) for _ in range(allowed - outcomes["COMMITTED"] + 2)]
    assert rest == ["COMMITTED"] * (allowed - outcomes["COMMITTED"]) + ["RATE_LIMITED"] * 2


def test_a_rolled_back_write_gives_its_permit_back(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """A transaction or a savepoint: what it took is there again.

    Proves: W6
    """
    limit(shared_world, agent, 3)
    with agent.transaction(force_rollback=True):
        assert [note(agent, home) for _ in range(4)] == ["COMMITTED"] * 3 + ["RATE_LIMITED"]
    with agent.transaction():
        assert note(agent, home) == "COMMITTED"
        with agent.transaction(force_rollback=True):
            assert [note(agent, home) for _ in range(2)] == ["COMMITTED"] * 2
        assert [note(agent, home) for _ in range(2)] == ["COMMITTED"] * 2
    assert note(agent, home) == "RATE_LIMITED"


def test_a_batch_is_admitted_as_far_as_the_limit_goes(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """The first so many commit, the others wait; also where the batch is split at a faulty request.

    Proves: W6, W8
    """
    limit(shared_world, agent, 70)
    requests = [
        {"layer": "episodic", "content": {"n": n, "at": home}, "scope": home} for n in range(80)
    ]
    answers = write_many(agent, requests)
    assert [a["outcome"] for a in answers] == ["COMMITTED"] * 70 + ["DEFERRED"] * 10
    again = write_many(agent, [requests[0], {"layer": "episodic", "confidence": "high"}, {}])
    assert [a["reason"] or a["outcome"] for a in again] == [
        "ALREADY_COMMITTED",
        "INVALID_ARGUMENT",
        "UNKNOWN_LAYER",
    ]


def test_a_request_id_of_yesterday_is_a_write_of_today(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """The server's clock counts, not the time in the caller's id.

    Proves: W6
    """
    limit(shared_world, agent, 1)
    assert note(agent, home) == "COMMITTED"
    old = uuid_of_yesterday(shared_world)
    row = write(agent, "episodic", {"note": "late"}, request_id=old)
    assert (row["request_id"], row["reason"]) == (old, "RATE_LIMITED")


def test_a_held_permit_makes_nobody_wait(
    shared_world: World, role: str, agent: Connection[DictRow], tasks: Tasks
) -> None:
    """While one transaction keeps permits, the agent's other connections write on at once.

    Proves: W6
    """
    limit(shared_world, agent, 200)
    paths = tasks(5)
    holders = [shared_world.connect(role) for _ in range(4)]
    for round_ in range(2):
        for holder, path in zip(holders, paths[1:], strict=True):
            holder.execute("BEGIN")
            assert [note(holder, path) for _ in range(3)] == ["COMMITTED"] * 3
        # They commit only after these are done: whoever waited for them would wait for ever.
        assert [note(agent, paths[0]) for _ in range(10)] == ["COMMITTED"] * 10
        for holder in holders:
            holder.execute("COMMIT" if round_ else "ROLLBACK")


def test_transactions_in_opposite_orders_do_not_deadlock(
    shared_world: World, role: str, agent: Connection[DictRow], tasks: Tasks
) -> None:
    """Many writes in each, over two layers, with permits scarce: all end, none by a deadlock.

    Proves: W6
    """
    for layer in ("episodic", "semantic"):
        limit(shared_world, agent, 6, layer)
    paths = tasks(8)
    sessions = [shared_world.connect(role, options=PATIENT) for _ in paths]

    def work(session: Connection[DictRow], path: str, layers: list[str]) -> set[str]:
        said = set()
        for n in range(5):
            with session.transaction(force_rollback=n % 2 == 0):
                said |= {note(session, path, layer) for layer in layers}
        return said

    orders = [["episodic", "semantic"], ["semantic", "episodic"]]
    pairs = zip(sessions, paths, strict=True)
    actions = [partial(work, *pair, orders[n % 2]) for n, pair in enumerate(pairs)]
    assert set().union(*together(actions)) <= {"COMMITTED", "RATE_LIMITED"}


def test_maintain_forgets_idle_permits_and_leaves_what_is_held(
    shared_world: World, role: str, agent: Connection[DictRow], tasks: Tasks
) -> None:
    """While a writer holds one, nobody waits for it; twice at once; what counts still counts.

    Proves: W6
    """
    limit(shared_world, agent, 2)
    paths, holder = tasks(2), shared_world.connect(role)
    assert note(agent, paths[0]) == "COMMITTED"
    used = "principal_id = (SELECT principal_id FROM memwarden_data.principal WHERE name = %s)"
    shared_world.admin.execute(
        "UPDATE memwarden_data.allowance SET used_at = ARRAY[now() - interval '26 hours']"
        f" WHERE {used}",
        (role,),
    )
    # A partition that is due would wait for the writer; it is none of this test's business.
    shared_world.admin.execute("SELECT memwarden.maintain()")
    maintainers = [shared_world.connect(options="-c lock_timeout=30s") for _ in range(2)]
    with holder.transaction():
        assert [note(holder, paths[1]) for _ in range(2)] == ["COMMITTED"] * 2
        together([partial(m.execute, "SELECT memwarden.maintain()") for m in maintainers])
    assert note(agent, paths[0]) == "RATE_LIMITED"
    shared_world.admin.execute(
        "UPDATE memwarden_data.allowance SET used_at = ARRAY[now() - interval '26 hours']"
        f" WHERE {used}",
        (role,),
    )
    maintainers[0].execute("SELECT memwarden.maintain()")
    count = f"SELECT count(*) FROM memwarden_data.allowance WHERE {used}"
    assert shared_world.value(count, role) == 0
    assert note(agent, paths[0]) == "COMMITTED"


def test_nobody_defers_what_was_not_looked_at(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """Over the limit a request that breaks the schema is refused, not kept.

    Proves: W6
    """
    limit(shared_world, agent, 1)
    assert note(agent, home) == "COMMITTED"
    row = write(agent, "episodic", {"note": "x"}, confidence=2)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "CONFIDENCE_OUT_OF_RANGE")


def test_an_agents_queue_has_an_end(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """So many wait for a layer, for whatever cause; one more is refused, single or in a batch.

    Proves: W6
    """
    shared_world.admin.execute(
        "INSERT INTO memwarden_data.layer SELECT (jsonb_populate_record(l,"
        """ '{"layer": "queued", "ordinal": 94, "rate_limit": 2, "rate_window": "1 hour","""
        """  "max_pending": 3, "lock_wait": "1 millisecond"}')).* FROM memwarden_data.layer AS l"""
        " WHERE l.layer = 'semantic'"
    )
    other = shared_world.agent(home, descendants=True)
    with other.transaction():
        assert note(other, home, "queued") == "COMMITTED"
        assert note(agent, home, "queued") == "SCOPE_BUSY"
    requests = [{"layer": "queued", "content": {"n": n}, "scope": home} for n in range(5)]
    answers = write_many(agent, requests)
    assert [a["reason"] for a in answers] == [
        None,
        "RATE_LIMITED",
        "RATE_LIMITED",
        "TOO_MANY_PENDING",
        "TOO_MANY_PENDING",
    ]
    refused = status(shared_world, answers[4])
    assert (refused["gate"], refused["content"]) == ("20_admission", None)
    assert refused["detail"] == {"last_reason": "RATE_LIMITED", "max_pending": 3}
    with other.transaction():
        note(other, f"{home}", "queued")
        # What another gate defers is refused as well.
        shared_world.admin.execute(
            "SELECT memwarden.set_rate_limit('queued', %s, 100)", (agent.info.user,)
        )
        assert note(agent, home, "queued") == "TOO_MANY_PENDING"
    # Those that wait are not refused for waiting.
    make_due(shared_world)
    run_retries(shared_world)
    assert {status(shared_world, a)["outcome"] for a in answers[1:3]} == {"COMMITTED"}
    assert note(agent, home, "queued") == "COMMITTED"
