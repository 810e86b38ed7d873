"""Asked again under its request id, a session's change is made once, whatever came in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intake.sessions.conftest import advance, observe, open_session, set_goal

if TYPE_CHECKING:
    from conftest import World


def test_a_repeated_change_answers_with_the_first(world: World) -> None:
    """A goal without its plan and a step done, repeated after further steps: nothing moves.

    Proves: W4
    """
    agent = world.agent()
    session = open_session(agent)
    set_goal(agent, session, "upgrade", plan=["one", "two", "three"])
    ids = [world.value("SELECT memwarden_internal.uuid7()") for _ in range(2)]
    assert set_goal(agent, session, "upgrade it", request_id=ids[0])["outcome"] == "COMMITTED"
    assert advance(agent, session, request_id=ids[1])["outcome"] == "COMMITTED"
    assert advance(agent, session)["done"] == 2
    again = set_goal(agent, session, "upgrade it", request_id=ids[0])
    assert (again["outcome"], again["kept"]) == ("ALREADY_COMMITTED", False)
    repeated = advance(agent, session, request_id=ids[1])
    assert (repeated["outcome"], repeated["done"]) == ("ALREADY_COMMITTED", 2)


def test_an_id_used_for_another_change_is_refused(world: World) -> None:
    """Another goal, and another observation, are told that the id is used.

    Proves: W4
    """
    agent = world.agent()
    session = open_session(agent)
    ids = [world.value("SELECT memwarden_internal.uuid7()") for _ in range(2)]
    set_goal(agent, session, "upgrade", request_id=ids[0])
    observe(agent, session, "version 3 runs", request_id=ids[1])
    answers = [
        set_goal(agent, session, "downgrade", request_id=ids[0]),
        observe(agent, session, "version 4 runs", request_id=ids[1]),
    ]
    assert [answer["reason"] for answer in answers] == ["REQUEST_ID_REUSED"] * 2
    assert not any(answer["kept"] for answer in answers)
