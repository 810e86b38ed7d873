"""Who is erased is gone from sessions and from working memory."""

from __future__ import annotations

from conftest import World
from intake.sessions.conftest import advance, note, observe, open_session, set_goal, slots
from operations.erasure.conftest import Desk

TABLES = ("session", "session_entry", "working_memory")


def counts(world: World) -> list[int]:
    """How many rows each table has."""
    return [world.value(f"SELECT count(*) FROM memwarden_data.{name}") for name in TABLES]


def test_what_a_session_knows_of_somebody_is_erased(world: World) -> None:
    """From its memories and from before the agent; what it knows of others comes back.

    Proves: R1 (sessions, working memory)
    """
    desk = Desk(world)
    agent = desk.agent()
    session = open_session(agent)
    set_goal(agent, session, "answer the letter", plan=["read", "write"])
    advance(agent, session)
    observe(agent, session, "the letter is from Petra", "critical")
    observe(agent, session, "the letter is short", "critical")
    note(agent, session, "Petra wants an answer")
    row = desk.erase("Petra", "petra")
    assert (row["status"], row["items"]) == ("COMPLETED", 1)
    assert counts(world) == [1, 3, 0]
    shown = slots(agent, session)
    assert [each["result"] for each in shown["observations"]] == ["the letter is short"]
    assert (shown["goal"], shown["plan"]["done"], shown["scratchpad"]) == (
        "answer the letter",
        1,
        "",
    )
    assert desk.findings() == []


def test_a_note_that_names_somebody_goes_alone(world: World) -> None:
    """Which is in working memory only.

    Proves: R1 (working memory)
    """
    desk = Desk(world)
    agent = desk.agent()
    session = open_session(agent)
    note(agent, session, "Petra wants an answer")
    desk.erase("Petra", "petra")
    assert counts(world) == [1, 0, 0]


def test_a_task_that_is_about_somebody_goes_as_a_whole(world: World) -> None:
    """By the identifier in its name, or as the subject itself.

    Proves: R1 (sessions)
    """
    desk = Desk(world)
    agent = desk.agent()
    for task, subject, identifiers in (
        ("answer Petra", "nobody", ["petra"]),
        ("Petra", "petra", []),
    ):
        session = open_session(agent, task)
        observe(agent, session, "a letter came", "critical")
        desk.erase(subject, *identifiers)
        assert counts(world) == [0, 0, 0]
        assert world.value("SELECT count(*) FROM memwarden_data.item") == 0
