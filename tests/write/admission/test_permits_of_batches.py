"""A batch takes its permits at once: as many as one by one, and no more in any window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write_many
from races import together
from write.admission.conftest import limit, note
from write.gates.obedient import add_obedient_gate, answering, create_gate_function, run_retries

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
START = datetime(2030, 1, 1, tzinfo=UTC)
WINDOW = timedelta(seconds=10)
PATIENT = "-c lock_timeout=2min"
# So many permits in a shard, and so many of them that share an entry of its ring.
RING = st.tuples(st.integers(1, 12), st.integers(1, 5))
STEP = st.tuples(st.sampled_from([0, 0, 1, 400, 5000, 9999, 10000]), st.integers(1, 30))
NESTING = """
BEGIN
    IF request -> 'content' ? 'also' THEN
        PERFORM memwarden.write(
            'episodic', jsonb_build_object('note', request -> 'content' -> 'also'),
            scope => request -> 'content' ->> 'where');
    END IF;
    decision := 'ACCEPT';
END
"""


@pytest.fixture
def role(shared_world: World, home: str) -> str:
    """An agent that writes its home and the tasks there."""
    return shared_world.register(home, descendants=True)


@pytest.fixture
def agent(shared_world: World, role: str) -> Agent:
    """A connection of that agent."""
    return shared_world.connect(role)


def requests(home: str, numbers: range, **arguments: Any) -> list[dict[str, Any]]:
    """Requests that differ by their number."""
    same = {"layer": "episodic", "scope": home} | arguments
    return [same | {"content": {"n": n, "at": home}} for n in numbers]


def said(answers: list[DictRow]) -> Counter[str]:
    """How many answers there are of each reason, or outcome where there is none."""
    return Counter(str(answer["reason"] or answer["outcome"]) for answer in answers)


def used(agent: Agent, layer: str = "episodic") -> int:
    """How many permits of a layer the agent has used."""
    row = agent.execute(
        "SELECT used FROM memwarden.allowances WHERE agent = %s AND layer = %s",
        (agent.info.user, layer),
    ).fetchone()
    return 0 if row is None else int(row["used"])


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(rings=st.tuples(RING, RING), steps=st.lists(STEP, max_size=12))
@example(rings=((7, 3), (4, 4)), steps=[(0, 2), (0, 7), (10000, 9), (9999, 3), (1, 8), (0, 8)])
def test_at_once_is_as_one_by_one(
    shared_world: World, agent: Agent, rings: Any, steps: list[tuple[int, int]]
) -> None:
    """Two agents with the same shards, at the same times: what they have used is the same.

    Proves: W6
    """
    admin = shared_world.admin
    with admin.transaction(force_rollback=True):
        who = shared_world.rows(
            "SELECT org_id, principal_id FROM memwarden_data.principal WHERE name = %s",
            agent.info.user,
        )[0]
        keys = (who["org_id"], who["principal_id"])
        admin.execute(
            "SELECT memwarden.set_rate_limit('durable', %s, 2, %s)",
            (agent.info.user, WINDOW),
        )
        for layer in ("durable", "one by one"):
            for shard, (share, grain) in enumerate(rings):
                admin.execute(
                    "INSERT INTO memwarden_data.allowance"
                    " VALUES (%s, %s, 0, %s, %s, 2, %s, %s, 1, 0, '{}')",
                    (*keys, layer, shard, share, grain),
                )
        at = START
        for gap, count in steps:
            at += timedelta(milliseconds=gap)
            got = shared_world.value(
                "SELECT count(*) FILTER (WHERE memwarden_internal.take_permit("
                "    %s, %s, 0, 'one by one', 2, %s, %s)) FROM generate_series(1, %s)",
                *(*keys, WINDOW, at, count),
            )
            for when in (None, at):
                query = "SELECT memwarden_internal.use_permits(%s, %s, 'durable', %s, %s, %s)"
                assert shared_world.value(query, *keys, count, at, when) == count - got
            rows = shared_world.rows(
                "SELECT shard, place, spent, array_remove(used_at, NULL) AS used_at, layer"
                "  FROM memwarden_data.allowance WHERE principal_id = %s"
                "   AND layer IN ('durable', 'one by one') ORDER BY layer, shard",
                keys[1],
            )
            state = [{name: row[name] for name in row if name != "layer"} for row in rows]
            assert state[:2] == state[2:]


def test_batches_at_once_get_as_many_permits_as_there_are(
    shared_world: World, role: str, agent: Agent, tasks: Callable[[int], list[str]]
) -> None:
    """A third of them is undone: no more than the limit stand, and no permit is lost.

    Proves: W6, W8
    """
    allowed, writers = 150, 9
    limit(shared_world, agent, allowed)
    paths = tasks(writers)
    sessions = [shared_world.connect(role, options=PATIENT) for _ in paths]

    def work(session: Agent, path: str, undone: bool) -> Counter[str]:
        got: Counter[str] = Counter()
        for size in (12, 2, 9):
            with session.transaction(force_rollback=undone):
                first = got.total()
                got += said(write_many(session, requests(path, range(first, first + size))))
        return Counter() if undone else got

    pairs = zip(sessions, paths, strict=True)
    actions = [partial(work, *pair, n % 3 == 1) for n, pair in enumerate(pairs)]
    got = sum(together(actions), Counter[str]())
    assert set(got) <= {"COMMITTED", "RATE_LIMITED"}
    assert used(agent) == got["COMMITTED"] <= allowed
    rest = allowed - got["COMMITTED"]
    last = write_many(agent, requests(paths[0], range(100, 100 + rest)))
    assert said(last) == Counter(COMMITTED=rest)
    assert note(agent, paths[0]) == "RATE_LIMITED"


@pytest.mark.parametrize("allowed", [2, 64, 100, 2049])
def test_a_batch_can_use_the_whole_limit(
    shared_world: World, agent: Agent, home: str, allowed: int
) -> None:
    """Shards that are missing are made; one request more than is free, and it waits.

    Proves: W6, W8
    """
    limit(shared_world, agent, allowed)
    first = min(allowed, 50)
    assert said(write_many(agent, requests(home, range(first)))) == Counter(COMMITTED=first)
    # Enough for the rest of a low limit, in a layer whose other gates ask less.
    shared_world.admin.execute(
        "SELECT memwarden.set_rate_limit('working', %s, %s, '1 hour')",
        (agent.info.user, allowed),
    )
    every = requests(home, range(allowed), layer="working")
    assert said(write_many(agent, every)) == Counter(COMMITTED=allowed)
    assert used(agent, "working") == allowed
    more = write_many(agent, requests(home, range(allowed, allowed + 2), layer="working"))
    assert said(more) == Counter(RATE_LIMITED=2)


def test_what_is_not_admitted_uses_no_permit(shared_world: World, agent: Agent, home: str) -> None:
    """Replays, in the batch itself and of one before, and what is refused before gate 20.

    Proves: W4, W6, W8
    """
    limit(shared_world, agent, 10)
    batch = [*requests(home, range(4)), *requests(home, range(2)), {"layer": "nowhere"}]
    assert said(write_many(agent, batch)) == Counter(
        COMMITTED=4, ALREADY_COMMITTED=2, UNKNOWN_LAYER=1
    )
    assert used(agent) == 4
    late = requests(home, range(4, 6), deadline="2020-01-01")
    assert said(write_many(agent, requests(home, range(4)) + late)) == Counter(
        ALREADY_COMMITTED=4, DEADLINE_PASSED=2
    )
    assert used(agent) == 4
    # Gates behind it may refuse what has its permit.
    wrong = requests(home, range(8, 10), confidence=2)
    assert said(write_many(agent, [*requests(home, range(4, 8)), *wrong])) == Counter(
        COMMITTED=4, CONFIDENCE_OUT_OF_RANGE=2
    )
    assert used(agent) == 10


def test_layers_of_a_batch_have_limits_of_their_own(
    shared_world: World, agent: Agent, home: str
) -> None:
    """Where one has too few permits, its requests wait; those of the others do not.

    Proves: W6, W8
    """
    limit(shared_world, agent, 5)
    limit(shared_world, agent, 2, "semantic")
    lists = [requests(home, range(4), layer=layer) for layer in ("episodic", "semantic", "working")]
    batch = [request for three in zip(*lists, strict=True) for request in three]
    answers = write_many(agent, batch)
    assert [said(answers[n::3]) for n in range(3)] == [
        Counter(COMMITTED=4),
        Counter(COMMITTED=2, RATE_LIMITED=2),
        Counter(COMMITTED=4),
    ]
    assert (used(agent), used(agent, "semantic")) == (4, 2)


def test_a_batch_that_is_rolled_back_gives_its_permits_back(
    shared_world: World, role: str, agent: Agent, tasks: Callable[[int], list[str]]
) -> None:
    """Nobody else gets them before; all are there again afterwards.

    Proves: W6, W8
    """
    limit(shared_world, agent, 6)
    paths, other = tasks(2), shared_world.connect(role)
    with agent.transaction(force_rollback=True):
        assert said(write_many(agent, requests(paths[0], range(4)))) == Counter(COMMITTED=4)
        assert said(write_many(other, requests(paths[1], range(3)))) == Counter(
            COMMITTED=2, RATE_LIMITED=1
        )
    assert said(write_many(agent, requests(paths[0], range(4)))) == Counter(COMMITTED=4)
    assert note(agent, paths[0]) == "RATE_LIMITED"


def test_a_batch_does_not_pile_up_versions_of_its_shards(
    shared_world: World, agent: Agent, home: str
) -> None:
    """Five hundred requests change as many rows as there are shards in use, not five hundred.

    Proves: W8
    """
    limit(shared_world, agent, 6000)
    table = shared_world.value("SELECT 'memwarden_data.allowance'::regclass::oid")
    counted = (
        "SELECT pg_stat_get_xact_tuples_inserted(%(t)s) AS made,"
        "       pg_stat_get_xact_tuples_updated(%(t)s) AS changed"
    )
    for numbers, expected in ((range(500), 6), (range(500, 1000), 0)):
        with agent.transaction():
            # What the transaction before did is counted along until the server has reported it.
            before = agent.execute(counted, {"t": table}).fetchone()
            assert said(write_many(agent, requests(home, numbers))) == Counter(COMMITTED=500)
            row = agent.execute(counted, {"t": table}).fetchone()
        assert before is not None
        assert row is not None
        assert expected <= row["made"] - before["made"] <= 6
        assert row["changed"] - before["changed"] <= 7
    assert used(agent) == 1000


def test_a_request_that_waits_takes_another_permit(world: World, home: str) -> None:
    """What its batch held for it was for once.

    Proves: W6, W8
    """
    add_obedient_gate(world)
    agent = world.agent(home)
    limit(world, agent, 10)
    batch = requests(home, range(2))
    batch.append(batch[0] | {"content": answering("DEFER", until_attempt=2)})
    assert [a["outcome"] for a in write_many(agent, batch)] == ["COMMITTED"] * 2 + ["DEFERRED"]
    assert used(agent) == 3
    run_retries(world)
    assert used(agent) == 4


def test_a_gate_that_writes_takes_permits_of_the_batch(world: World, home: str) -> None:
    """Each request brings another: decided as one by one, in halves where too few are left.

    Proves: W6, W8
    """
    function = create_gate_function(world, "public.nests", body=NESTING)
    world.admin.execute(
        "DO $$ BEGIN EXECUTE format('GRANT memwarden_agent TO %I', (SELECT r.rolname"
        " FROM pg_proc AS p JOIN pg_roles AS r ON r.oid = p.proowner"
        " WHERE p.proname = 'nests')); END $$"
    )
    world.admin.execute("SELECT memwarden.add_gate(40, 'nests', %s)", (function,))
    agent = world.agent(home, descendants=True)
    world.scope(f"{home}/task/t")
    limit(world, agent, 6)
    batch = requests(home, range(4))
    for number, request in enumerate(batch):
        request["content"] |= {"also": number, "where": f"{home}/task/t"}
    answers = write_many(agent, batch)
    assert [a["reason"] or a["outcome"] for a in answers] == ["COMMITTED"] * 3 + ["RATE_LIMITED"]
    assert used(agent) == 6
    assert world.value("SELECT count(*) FROM memwarden_data.item") == 6
