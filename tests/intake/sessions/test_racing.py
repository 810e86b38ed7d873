"""Several processes of one agent at work in one session: nothing is lost, and nobody deadlocks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import psycopg

from intake.sessions.conftest import (
    Agent,
    advance,
    close,
    end_turn,
    note,
    observe,
    open_session,
    resume,
    search,
    set_goal,
    slots,
)
from races import together
from replay import check_store

if TYPE_CHECKING:
    from uuid import UUID

    from conftest import World

MANY = 4
EACH = 8


def connections(world: World, agent: Agent) -> list[Agent]:
    """The agent, connected several times."""
    return [world.connect(str(agent.info.user)) for _ in range(MANY)]


def test_of_what_several_observe_at_once_nothing_is_lost(world: World) -> None:
    """Each is remembered; working memory has the newest, and all that is critical.

    Proves: L1, L2 (concurrency)
    """
    agent = world.agent()
    session = open_session(agent)

    def see(connection: Agent, number: int) -> list[str]:
        return [
            str(
                observe(
                    connection,
                    session,
                    f"bird {number}.{each}",
                    "critical" if each == 3 else "normal",
                )["outcome"]
            )
            for each in range(EACH)
        ]

    outcomes = together([partial(see, c, n) for n, c in enumerate(connections(world, agent))])
    assert {each for given in outcomes for each in given} == {"COMMITTED"}
    assert len(search(agent, session, "bird", k=100)) == MANY * EACH
    ordinals = world.rows("SELECT ordinal FROM memwarden_data.session_entry ORDER BY ordinal")
    assert [row["ordinal"] for row in ordinals] == list(range(1, MANY * EACH + 1))
    shown = [each["result"] for each in slots(agent, session)["observations"]]
    assert {f"bird {number}.3" for number in range(MANY)} <= set(shown)
    assert len(shown) == 5
    check_store(world.admin)


def test_each_step_is_done_by_one(world: World) -> None:
    """Who advances at once goes on with different steps.

    Proves: L1 (plan)
    """
    agent = world.agent()
    session = open_session(agent)
    set_goal(agent, session, "g", plan=[f"step {n}" for n in range(MANY + 2)])
    rows = together([partial(advance, each, session) for each in connections(world, agent)])
    assert sorted(row["done"] for row in rows) == list(range(1, MANY + 1))
    assert slots(agent, session)["plan"]["done"] == MANY


def test_who_opens_at_once_has_the_same_session(world: World) -> None:
    """Also where the last one has just run out.

    Proves: L2
    """
    agent = world.agent()
    for attempt in range(4):
        task = f"task {attempt}"
        for expired in (False, True):
            if expired:
                world.admin.execute(
                    "UPDATE memwarden_data.session SET used_at = used_at - interval '2 hours'"
                    " WHERE task = %s",
                    (task,),
                )
            opened = together(
                [partial(open_session, each, task) for each in connections(world, agent)]
            )
            assert len(set(opened)) == 1
            observe(agent, opened[0], "seen")
    assert world.value("SELECT count(*) FROM memwarden_data.session") == 8
    check_store(world.admin)


def test_who_resumes_at_once_takes_it_up_once(world: World) -> None:
    """One of them puts it into the new session's memory.

    Proves: L13 (two at once)
    """
    agent = world.agent()
    session = open_session(agent)
    set_goal(agent, session, "g", plan=["one", "two"])
    advance(agent, session)
    close(agent, session)
    envelopes = together([partial(resume, each) for each in connections(world, agent)])
    assert len({str(each) for each in envelopes}) == 1
    assert envelopes[0]["plan"]["done"] == 1
    entries = world.value(
        "SELECT count(*) FROM memwarden_data.session_entry WHERE session_id = %s",
        envelopes[0]["session_id"],
    )
    assert entries == 1


def look(connection: Agent, session: UUID) -> str:
    """Observe something; the outcome, or the name of the error."""
    try:
        return str(observe(connection, session, "a bird")["outcome"])
    except psycopg.Error as error:
        return type(error).__name__


def shut(connection: Agent, session: UUID) -> str:
    """Close it; what became of its entries."""
    return str(close(connection, session))


def test_closing_and_observing_at_once_end_well(world: World) -> None:
    """What is observed is either among the entries of the session, or the session was over.

    Proves: L2 (concurrency)
    """
    agent = world.agent()
    for attempt in range(5):
        session = open_session(agent, f"task {attempt}")
        looking = [partial(look, each, session) for each in connections(world, agent)]
        closing = world.connect(str(agent.info.user))
        *seen, _ = together([*looking, partial(shut, closing, session)])
        assert set(seen) <= {"COMMITTED", "ObjectNotInPrerequisiteState"}
        entries = world.value(
            "SELECT count(*) FROM memwarden_data.session_entry WHERE session_id = %s", session
        )
        assert entries == seen.count("COMMITTED")
    assert world.value("SELECT count(*) FROM memwarden_data.working_memory") == 0
    active = world.value("SELECT count(*) FROM memwarden_data.item WHERE status = 'ACTIVE'")
    assert active == 0
    check_store(world.admin)


def test_what_is_done_in_one_transaction_deadlocks_with_nobody(world: World) -> None:
    """A note, a turn and a step together, while others observe: the scope is always first.

    Proves: L1
    """
    agent = world.agent()
    session = open_session(agent)
    set_goal(agent, session, "g", plan=[f"step {n}" for n in range(20)])

    def turns(connection: Agent) -> None:
        for _ in range(4):
            with connection.transaction():
                note(connection, session, "a thought")
                end_turn(connection, session)
                advance(connection, session)

    def looks(connection: Agent) -> None:
        for number in range(8):
            with connection.transaction():
                observe(connection, session, f"bird {number}")
                note(connection, session, "another")

    first, second, third, fourth = connections(world, agent)
    together([partial(turns, first), partial(turns, second)])
    together([partial(turns, first), partial(looks, second), partial(looks, third)])
    shown = slots(fourth, session)
    assert (shown["turn"], shown["plan"]["done"]) == (12, 12)
    assert len(search(agent, session, "bird", k=100)) >= 16
