"""A request id is one call of a session: the same answer again, and a refusal for anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from helpers import write
from intake.sessions.conftest import advance, observe, open_session, set_goal, slots
from races import together

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection
    from psycopg.rows import DictRow

    from conftest import World

DOORS: dict[str, Callable[..., DictRow]] = {
    "set_goal": lambda agent, session, **more: set_goal(agent, session, "another goal", **more),
    "advance_plan": advance,
    "observe": lambda agent, session, **more: observe(agent, session, "seen", **more),
}
FIRST: dict[str, Callable[[Connection[DictRow], UUID, UUID], Any]] = {
    "a write": lambda agent, _, made: write(agent, "semantic", "tea", request_id=made),
    "a refused write": lambda agent, _, made: write(agent, "nowhere", "tea", request_id=made),
    "a goal": lambda agent, session, made: set_goal(agent, session, "first", request_id=made),
    "an observation": lambda agent, session, made: observe(
        agent, session, "something else", request_id=made
    ),
}


def new_id(world: World) -> UUID:
    """An id that a client mints."""
    made: UUID = world.value("SELECT memwarden_internal.uuid7()")
    return made


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("first", FIRST)
def test_an_id_used_for_something_else_changes_nothing(
    shared_world: World, home: str, door: str, first: str
) -> None:
    """Refused, and neither working memory nor the session has it.

    Proves: W4
    """
    agent = shared_world.agent(home)
    session = open_session(agent)
    set_goal(agent, session, "g", plan=["one", "two"])
    made = new_id(shared_world)
    FIRST[first](agent, session, made)
    before = slots(agent, session)
    answer = DOORS[door](agent, session, request_id=made)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "REQUEST_ID_REUSED")
    assert slots(agent, session) == before


@pytest.mark.parametrize("door", DOORS)
def test_an_id_of_another_agent_is_refused_and_tells_nothing(
    shared_world: World, home: str, door: str
) -> None:
    """As an id that could not be one.

    Proves: W4
    """
    made = new_id(shared_world)
    write(shared_world.agent(f"{home}x"), "semantic", "tea", request_id=made)
    agent = shared_world.agent(home)
    session = open_session(agent)
    set_goal(agent, session, "g", plan=["one", "two"])
    before = slots(agent, session)
    answer = DOORS[door](agent, session, request_id=made)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "INVALID_REQUEST_ID")
    assert slots(agent, session) == before


def test_the_last_step_answers_again(shared_world: World, home: str) -> None:
    """Of a plan that is done by then.

    Proves: W4, L1 (plan)
    """
    agent = shared_world.agent(home)
    session = open_session(agent)
    set_goal(agent, session, "g", plan=["one"])
    made = new_id(shared_world)
    told = [advance(agent, session, request_id=made) for _ in range(2)]
    assert [(row["done"], row["outcome"]) for row in told] == [
        (1, "COMMITTED"),
        (1, "ALREADY_COMMITTED"),
    ]
    assert advance(agent, session)["outcome"] is None


@pytest.mark.parametrize("door", DOORS)
def test_two_connections_at_once_make_one_entry(shared_world: World, home: str, door: str) -> None:
    """The second has the answer of the first.

    Proves: W4
    """
    role = shared_world.register(home)
    agents = [shared_world.connect(role) for _ in range(2)]
    session = open_session(agents[0])
    set_goal(agents[0], session, "g", plan=["one", "two"])
    made = new_id(shared_world)
    answers = together(
        [lambda a=a: DOORS[door](a, session, request_id=made) for a in agents]  # type: ignore[misc]
    )
    assert sorted(answer["outcome"] for answer in answers) == ["ALREADY_COMMITTED", "COMMITTED"]
    entries = "SELECT count(*) FROM memwarden_data.session_entry WHERE session_id = %s"
    assert shared_world.value(entries, session) == 2


def test_a_goal_that_waits_answers_again_after_a_step(world: World) -> None:
    """What it left out is what it was when it was asked first.

    Proves: W4
    """
    agent = world.agent()
    session = open_session(agent)
    set_rate_limit = "SELECT memwarden.set_rate_limit('session', %s, 1, rate_window => '1 day')"
    world.admin.execute(set_rate_limit, (agent.info.user,))
    set_goal(agent, session, "g", plan=["one", "two"])
    made = new_id(world)
    waiting = set_goal(agent, session, "later", request_id=made)
    assert (waiting["outcome"], waiting["kept"]) == ("DEFERRED", True)
    advance(agent, session)
    again = set_goal(agent, session, "later", request_id=made)
    assert (again["outcome"], again["request_id"]) == ("DEFERRED", made)
