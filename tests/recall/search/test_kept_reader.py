"""A recall obeys the settings as they are, however old the row is in which they are kept.

That the row says what the tables say is tested with the terms of writers
(`write/gates/test_kept_terms.py`). Here whole recalls are compared: by the kept row, and without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write
from races import together

KEPT = "SELECT * FROM memwarden_data.reader_at"
# What an administrator may change of what a reader gets; {role} is the reader's login.
CHANGES: dict[str, str] = {
    "clearance": "UPDATE memwarden_data.principal SET clearance = 0 WHERE name = '{role}'",
    "domains": "UPDATE memwarden_data.principal SET domains = '{{}}' WHERE name = '{role}'",
    "the role": "UPDATE memwarden_data.role_permission SET reach = 'own'"
    " WHERE operation = 'READ' AND role_id = ("
    "SELECT role_id FROM memwarden_data.principal WHERE name = '{role}')",
    "a policy": "INSERT INTO memwarden_data.policy_set (org_id, name, default_effect, operations)"
    " SELECT org_id, 'nothing', 'deny', '{{READ}}' FROM memwarden_data.organisation"
    " WHERE name = 'acme'",
    "what is shared": "UPDATE memwarden_data.layer SET shared = false",
    "a threshold": "UPDATE memwarden_data.layer SET relevance_threshold = 0.9",
    "weights": """UPDATE memwarden_data.layer SET weights = '{{"recency": 1}}'""",
    "a phrase": "UPDATE memwarden_data.hedge SET phrase = 'rumour has it that'",
    "the model": "UPDATE memwarden_data.embedding_use SET is_active = false",
}


Answer = list[dict[str, Any]] | str | None


def told(agent: Connection[DictRow]) -> Answer:
    """What two recalls say, by words and by a vector, but for their ids; or their error."""
    try:
        rows = recall(agent, query="lamp", k=50) + recall(agent, embedding=[1.0] * 384, k=50)
    except psycopg.Error as error:
        return error.sqlstate
    # How recent a memory is goes by the clock, of which calls are a little apart.
    return [
        {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items() if k != "recall_id"}
        for row in rows
    ]


def told_by_the_tables(world: World, agent: Connection[DictRow]) -> Answer:
    """The same with nothing kept, and nothing to be kept."""
    world.admin.execute("DELETE FROM memwarden_data.kept_reader")
    with agent.transaction():
        agent.execute("SET TRANSACTION READ ONLY")
        return told(agent)


@pytest.fixture
def reader(world: World) -> Connection[DictRow]:
    """An agent that reads what it and another wrote, of several classifications and domains."""
    other = world.agent("/org/acme", descendants=True)
    agent = world.agent("/org/acme/user/ana", domains=["garden"])
    for number, writer in enumerate([other, agent, other, agent]):
        written = write(
            writer,
            "episodic",
            {"text": f"The lamp number {number} was lit"},
            scope="/org/acme/user/ana",
            classification=["internal", "public"][number // 2],
            embedding=[1.0] * (number + 1) + [0.0] * (383 - number),
        )
        assert written["outcome"] == "COMMITTED", written
    assert write(agent, "episodic", "A lamp in the garden", domains=["garden"])["item_id"]
    assert told(agent)
    assert len(world.rows(KEPT)) == 1
    return agent


@pytest.mark.parametrize("change", CHANGES)
def test_a_recall_obeys_what_another_session_has_changed(
    world: World, reader: Connection[DictRow], change: str
) -> None:
    """By the next call, and as it does where nothing is kept."""
    before = told(reader)
    world.admin.execute(CHANGES[change].format(role=reader.info.user))
    after = told(reader)
    assert after != before
    # Kept by now, and the same once more.
    assert len(world.rows(KEPT)) == 1
    assert told(reader) == after
    assert told_by_the_tables(world, reader) == after


def test_a_change_that_is_taken_back_leaves_nothing_kept(
    world: World, reader: Connection[DictRow]
) -> None:
    """A recall in the transaction of the change obeys it; no other does."""
    before = told(reader)
    with world.admin.transaction(force_rollback=True):
        world.admin.execute(CHANGES["clearance"].format(role=reader.info.user))
        world.admin.execute(f"SET LOCAL SESSION AUTHORIZATION {reader.info.user}")
        assert told(world.admin) != before
        world.admin.execute("RESET SESSION AUTHORIZATION")
        assert told(reader) == before
    assert told(reader) == before


def test_an_old_snapshot_sees_the_settings_of_its_time(
    world: World, reader: Connection[DictRow]
) -> None:
    """To the end, and keeps nothing of them; who comes later sees those of today."""
    before = told(reader)
    past = world.connect(str(reader.info.user))
    with past.transaction():
        past.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert told(past) == before
        world.admin.execute(CHANGES["a phrase"])
        assert told(past) == before
        after = told(reader)
        assert after != before
        assert told(past) == before
    assert len(world.rows("SELECT FROM memwarden_data.kept_reader")) == 1
    assert told(reader) == after


def test_serializable_recalls_at_once_fail_for_nobody(
    world: World, reader: Connection[DictRow]
) -> None:
    """Both find nothing kept. If each kept a row, one would have to be asked again."""
    before = told(reader)
    first, second = (world.connect(str(reader.info.user)) for _ in range(2))
    world.admin.execute("DELETE FROM memwarden_data.kept_reader")
    with first.transaction(), second.transaction():
        for session in (first, second):
            session.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        assert told(first) == before
        assert told(second) == before


def test_how_a_session_wants_numbers_written_is_not_kept(
    world: World, reader: Connection[DictRow]
) -> None:
    """Others are served by the row that its recall keeps."""
    world.admin.execute("UPDATE memwarden_data.layer SET recall_weight = 0.123456789012")
    reader.execute("SET extra_float_digits = -15")
    reader.execute("SET IntervalStyle = sql_standard")
    told(reader)
    (row,) = world.rows(KEPT)
    layers = world.value("SELECT count(*) FROM memwarden_data.layer")
    assert str(row["layers"]).count("0.123456789012") == layers


def test_recalls_at_once_wait_for_nobody_and_answer_alike(
    world: World, reader: Connection[DictRow]
) -> None:
    """Eight sessions keep the same row while settings change under them."""
    sessions = [world.connect(str(reader.info.user)) for _ in range(8)]
    before = told(reader)
    for session in sessions:
        session.execute("SET lock_timeout = '1ms'")
    world.admin.execute("DELETE FROM memwarden_data.kept_reader")
    calls: list[Callable[[], Any]] = [partial(told, session) for session in sessions]
    answers = together(calls)
    assert all(answer == before for answer in answers)
    with sessions[0].transaction():
        world.admin.execute(CHANGES["a phrase"])
        after = told(sessions[0])
        assert after != before
        # The first has not committed the row that it kept.
        assert told(sessions[1]) == after
    assert told(reader) == after


@pytest.mark.parametrize(
    "call",
    ["explain_recall(query => 'lamp')", "compile_context('lamp')", "push(task => 'lamp')"],
)
def test_whoever_else_tells_of_memories_keeps_the_reader(
    world: World, reader: Connection[DictRow], call: str
) -> None:
    """Where its call is recorded; in a read-only transaction nothing is."""
    world.admin.execute("DELETE FROM memwarden_data.kept_reader")
    with reader.transaction():
        reader.execute("SET TRANSACTION READ ONLY")
        assert reader.execute(f"SELECT * FROM memwarden.{call}").fetchall()
    assert world.rows(KEPT) == []
    assert reader.execute(f"SELECT * FROM memwarden.{call}").fetchall()
    assert len(world.rows(KEPT)) == 1
