"""What an agent notes in a session is its own, until it is promoted or shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, join
from helpers import recall, write
from identity.paths import grant_tables
from identity.universe import WORDS
from intake.sessions.conftest import HOME, close, observe, open_session, set_goal

if TYPE_CHECKING:
    from uuid import UUID

    from conftest import World

Agent = Connection[DictRow]
SECRET = "herons nest at the mill"
KEY = {"subject": "herons", "predicate": "nest at"}
RELATIONS = (
    "memwarden.items",
    "memwarden_data.item",
    "memwarden_data.version",
    "memwarden_data.log",
    "memwarden_data.embedding",
)
BY_ITEM = ("get(%s)", "as_of(item_id => %s)", "history(%s)", "diff(%s, 1, 1)", "lineage(%s)",
           "get_provenance(%s)", "retract(%s, 'no')", "rollback(%s, 'no')", "expire(%s, 'no')",
           "promote(%s, '/org/acme')", "explain_access('me', %s)")  # fmt: skip
BY_WORDS = ("recall('herons')", "explain_recall('herons')", "compile_context('herons')",
            "push(task => 'herons', threshold => 0)")  # fmt: skip


def noted(agent: Agent, **session: Any) -> UUID:
    """Observe something in a session; the memory that it is."""
    row = observe(agent, open_session(agent, **session), SECRET, "critical")
    assert row["outcome"] == "COMMITTED", row
    item_id: UUID = row["item_id"]
    return item_id


def sees(agent: Agent, item: UUID) -> bool:
    """Whether a reader finds it in every way of reading, or in none."""
    told = [item in {row["item_id"] for row in recall(agent, query="herons")}]
    told += [bool(agent.execute("SELECT * FROM memwarden.get(%s)", (item,)).fetchall())]
    for relation in RELATIONS:
        query = f"SELECT count(*) AS n FROM {relation} WHERE item_id = %s"
        found = agent.execute(query, (item,)).fetchone()
        told.append(bool(found and found["n"]))
    assert len(set(told)) == 1, told
    return told[0]


def reader(world: World, **standing: Any) -> Agent:
    """Connect as somebody who reads all of acme, whom a DBA has granted the tables."""
    agent = join(world, "/org/acme", descendants=True, **standing)
    grant_tables(world.admin, agent.info.user, "memwarden_agent")
    return agent


def test_a_session_is_read_by_its_agent_and_by_who_administers(world: World) -> None:
    """By whatever way; also in another session of the agent, and by its other connections.

    Proves: L2 (whose it is)
    """
    agent = world.agent(HOME)
    grant_tables(world.admin, agent.info.user, "memwarden_agent")
    item = noted(agent)
    open_session(agent, "another task")
    assert sees(agent, item)
    assert sees(world.connect(agent.info.user), item)
    for role in ("orchestrator", "curator"):
        assert sees(reader(world, role=role), item), role
    for role in ("executor", "verifier", "contributor", "reviewer"):
        assert not sees(reader(world, role=role), item), role


def test_no_way_of_asking_tells_another_of_it(world: World) -> None:
    """It answers as a memory that is not there, and a write into it as into an empty session.

    Proves: L2 (whose it is), A3
    """
    agent, other = world.agent(HOME), reader(world)
    row = write(agent, "session", {"text": SECRET}, **KEY)
    item = row["item_id"]
    for question in BY_ITEM:
        answers = []
        for number in (item, row["request_id"]):
            try:
                query = f"SELECT * FROM memwarden.{question}".replace(
                    "'me'", f"'{other.info.user}'"
                )
                answers.append(str(other.execute(query, (number,)).fetchall()))
            except psycopg.Error as error:
                answers.append(f"{error.sqlstate} {error.diag.message_primary}")
        assert answers[0] == answers[1], question
        assert SECRET not in answers[0]
    for question in BY_WORDS:
        assert SECRET not in str(other.execute(f"SELECT * FROM memwarden.{question}").fetchall())
    scope = {"scope": HOME}
    same = write(other, "session", {"text": SECRET}, **KEY, **scope)
    assert (same["outcome"], same["detail"]) == ("COMMITTED", None)
    assert same["item_id"] != item
    contrary = write(other, "session", {"text": "no"}, **KEY, **scope)
    assert contrary["item_id"] == same["item_id"]
    own = write(agent, "session", {"text": "no"}, **KEY)
    assert (own["outcome"], own["item_id"]) == ("COMMITTED", item)


def test_a_shared_session_or_layer_is_read_as_any_memory(world: World) -> None:
    """The session by what it notes from then on, the layer at once and until it is no more.

    Proves: L2 (whose it is)
    """
    agent, other = world.agent(HOME), reader(world)
    first = noted(agent)
    assert open_session(agent, shared=True) == open_session(agent)
    second = observe(agent, open_session(agent), f"{SECRET} again", "critical")["item_id"]
    assert (sees(other, first), sees(other, second)) == (False, True)
    shown = agent.execute("SELECT shared FROM memwarden.sessions").fetchall()
    assert [row["shared"] for row in shown] == [True]
    # Who names the session of somebody else shares nothing.
    session = str(open_session(agent))
    for name, layer in ((session, "session"), ("no id", "session"), (session, "working")):
        origin = {"kind": "agent_inferred", "session": name}
        theirs = write(other, layer, {"text": f"mine {name} {layer}"}, scope=HOME, origin=origin)
        assert call(agent, "get", item_id=theirs["item_id"]) == []
    for shared in (True, False):
        settings = f'{{"shared": {str(shared).lower()}}}'
        world.admin.execute("SELECT memwarden.configure_layer('session', %s)", (settings,))
        assert sees(other, first) is shared
        assert sees(other, second)


def test_what_is_promoted_is_what_its_layer_is(world: World) -> None:
    """The end of a session makes a lasting memory that others read; the notes stay its own.

    Proves: L2 (whose it is)
    """
    agent, other = world.agent(HOME), reader(world)
    world.admin.execute(
        "SELECT memwarden.define_source('tool:look/*', 'tool_output', org => 'acme')"
    )
    item = noted(agent)
    session = open_session(agent)
    set_goal(agent, session, "count")
    done = {row["disposition"]: row for row in close(agent, session)}
    assert done["promoted"]["outcome"] == "COMMITTED", done
    assert sees(other, done["promoted"]["item_id"])
    assert call(other, "get", item_id=item) == []


def test_a_key_that_was_private_is_not_shared_by_its_next_version(world: World) -> None:
    """Versions of a memory are seen together: it is shared only if all of it is.

    Proves: L2 (whose it is)
    """
    agent, other = world.agent(HOME), reader(world)
    first = write(agent, "session", {"text": WORDS}, **KEY)
    origin = {"kind": "agent_inferred", "session": str(open_session(agent, shared=True))}
    again = write(agent, "session", {"text": "the mill"}, origin=origin, **KEY)
    assert again["item_id"] == first["item_id"]
    assert call(other, "get", item_id=first["item_id"]) == []


@pytest.mark.parametrize("layer", ["working", "session"])
def test_a_note_without_a_session_is_its_writers_own(world: World, layer: str) -> None:
    """What is written into the layer directly is nobody else's either.

    Proves: L2 (whose it is)
    """
    agent, other = world.agent(HOME), reader(world)
    item = write(agent, layer, {"text": SECRET})["item_id"]
    assert call(agent, "get", item_id=item)
    assert call(other, "get", item_id=item) == []
