"""Sessions of a class that is encrypted, in a store as init leaves it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest

from access import call, state
from conftest import World
from intake.sessions.conftest import advance, observe, open_session, set_goal
from operations.erasure.conftest import holding
from operations.subject_keys.test_lost_keys import without_keys
from operations.subject_keys.test_sealed_sources import CANARY, ERASE, WORDS, capture, world
from shipped import SCOPE, Shipped

__all__ = ["world"]

SECRET = {"subject": "Petra", "class": "personal"}
PLAN = [f"ask {CANARY}", "report"]


def work(shipped: Shipped, **about: Any) -> UUID:
    """Have the agent work on a task of Petra's, and note what it learns."""
    agent = shipped.agent
    session = open_session(agent, "a visit", SCOPE, **(SECRET | about))
    said = [{"text": f"no {CANARY}", "importance": "high"}]
    set_goal(agent, session, f"cook without {CANARY}", plan=PLAN, constraints=said)
    observe(agent, session, f"{CANARY} in the kitchen", "critical")
    advance(agent, session)
    call(agent, "note", session_id=session, text=f"buy no {CANARY}")
    return session


def slots(shipped: Shipped, session: UUID) -> Any:
    """The working memory of a session, slot by slot."""
    (row,) = call(shipped.agent, "working_memory", session_id=session)
    return {name: row[name] for name in ("goal", "plan", "constraints", "scratchpad")} | {
        "observations": [seen["result"] for seen in row["observations"]]
    }


SEEN = {
    "goal": f"cook without {CANARY}",
    "plan": {"steps": PLAN, "done": 1},
    "constraints": [{"text": f"no {CANARY}", "importance": "high"}],
    "scratchpad": f"buy no {CANARY}",
    "observations": [f"{CANARY} in the kitchen"],
}


def test_a_session_works_as_others_and_stands_nowhere_in_clear(
    shipped: Shipped, world: World
) -> None:
    """Slots, search, the rendered text, a crash, the end, what is promoted and the next session.

    Proves: R3 (working memory, memories of sessions)
    """
    agent = shipped.agent
    session = work(shipped)
    assert slots(shipped, session) == SEEN
    assert holding(world, CANARY) == set()
    (text,) = call(agent, "render_working_memory", session_id=session)
    assert text["render_working_memory"].count(CANARY) == 4
    found = call(agent, "search_session", session_id=session, query=CANARY)
    assert {row["part"] for row in found} == {"goal", "progress", "observation"}
    prompt = call(agent, "before_call", session_id=session)
    assert CANARY in prompt[0]["prompt"]
    assert holding(world, CANARY) == set()
    # After a crash the table is empty: what is made anew is encrypted, too.
    world.admin.execute("DELETE FROM memwarden_data.working_memory")
    assert slots(shipped, session) == SEEN | {"scratchpad": ""}
    assert holding(world, CANARY) == set()
    call(agent, "end_turn", session_id=session)
    assert slots(shipped, session)["observations"] == []
    closed = call(agent, "close_session", session_id=session, summary=f"She had no {CANARY}.")
    assert {row["disposition"] for row in closed} >= {"released"}
    assert {row["content"]["goal"] for row in closed if row["part"] == "goal"} == {SEEN["goal"]}
    assert holding(world, CANARY) == set()
    (envelope,) = call(agent, "resume_session", scope=SCOPE, task="a visit")
    told = envelope["resume_session"]
    assert (told["goal"], told["plan"]) == (SEEN["goal"], SEEN["plan"])
    assert CANARY in str(told["findings"])
    again = slots(shipped, UUID(told["session_id"]))
    assert (again["goal"], again["observations"]) == (SEEN["goal"], SEEN["observations"])
    assert holding(world, CANARY) == set()


def test_an_erasure_takes_the_sessions_of_a_person(shipped: Shipped, world: World) -> None:
    """By the subject, and by an identifier that stands in encrypted slots alone.

    Proves: R1, R3
    """
    work(shipped)
    agent = shipped.agent
    other = open_session(agent, "errands", SCOPE, **(SECRET | {"subject": "Klaus"}))
    call(agent, "note", session_id=other, text="call zqbaker")
    call(agent, "note", session_id=other, text="call zqmiller")
    (done,) = world.rows(ERASE, "Petra", [])
    assert (done["status"], done["places"]["working_memory"]) == ("COMPLETED", 1)
    assert [row["task"] for row in world.rows("SELECT task FROM memwarden_data.session")] == [
        "errands"
    ]
    with without_keys(world) as connection:
        (waits,) = connection.execute(ERASE, ("Bo", ["zqbaker"])).fetchall()
        assert (waits["blocked_reason"], waits["unread"]) == ("KEYS_UNAVAILABLE", 1)
    world.admin.execute("CALL memwarden.enforce_consent()")
    assert slots(shipped, other)["scratchpad"] == ""
    assert world.value("SELECT count(*) FROM memwarden.erasures WHERE status = 'COMPLETED'") == 2


def test_what_cites_encrypted_words_has_working_memory_encrypted(
    shipped: Shipped, world: World
) -> None:
    """In a session of no class, from then on.

    Proves: R3
    """
    agent = shipped.agent
    session = open_session(agent, "a talk", SCOPE)
    set_goal(agent, session, "listen")
    cites = [{"uri": f"memwarden:capture/{capture(shipped)}"}]
    done = observe(agent, session, WORDS, "high", evidence=cites)
    assert done["kept"], done
    assert slots(shipped, session)["observations"] == [WORDS]
    assert holding(world, CANARY) == set()


def test_without_keys_a_session_loses_nothing(shipped: Shipped, world: World) -> None:
    """Its agent reads empty slots and changes none; with the keys back all is there.

    Proves: R3
    """
    session = work(shipped)
    with without_keys(world) as connection:
        (unread,) = connection.execute(
            "SELECT goal, is_unread FROM memwarden_data.said_working_memory"
        ).fetchall()
        assert unread == {"goal": None, "is_unread": True}
        with pytest.raises(psycopg.errors.ConfigFileError):
            connection.execute(
                'SELECT memwarden_internal.keep_slots(org_id, session_id, \'{"goal": "x"}\')'
                " FROM memwarden_data.working_memory"
            )
    assert slots(shipped, session) == SEEN


@pytest.mark.usefixtures("world")
def test_a_session_keeps_its_subject_and_class(shipped: Shipped) -> None:
    """An encrypted class needs a subject; an open session keeps what it was opened with.

    Proves: R3
    """
    agent = shipped.agent
    about: dict[str, Any] = {"scope": SCOPE, "task": "t"}
    for given, code in (
        ({"class": "personal"}, "22023"),
        ({"class": "unheard_of"}, "42704"),
        ({"subject": " "}, "22023"),
    ):
        assert state(agent, "open_session", **about, **given) == code
    session = open_session(agent, "t", SCOPE, **SECRET)
    assert open_session(agent, "t", SCOPE, **SECRET) == open_session(agent, "t", SCOPE) == session
    assert state(agent, "open_session", **about, **(SECRET | {"subject": "Klaus"})) == "22023"
