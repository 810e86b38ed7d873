"""promote() goes up along the line of a scope, with what the caller sees, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection
from psycopg.errors import InvalidParameterValue, UndefinedObject
from psycopg.rows import DictRow

from conftest import World
from helpers import write
from replay import check_store
from scope_calls import (
    annotate,
    close_scope,
    get,
    organisation_of,
    promote,
    refused,
    remember,
    retract,
)


@pytest.fixture
def task(home: str) -> str:
    """The path of a task in the home."""
    return f"{home}/task/t"


@pytest.fixture
def agent(shared_world: World, home: str, task: str) -> Connection[DictRow]:
    """An agent that writes its task, its home and the organisation."""
    made = shared_world.agent(home, descendants=True)
    shared_world.scope(task)
    shared_world.admin.execute(
        "SELECT memwarden.grant_scope(%s, %s, true)", (made.info.user, organisation_of(home))
    )
    return made


def test_every_gate_of_the_target_is_passed(shared_world: World, home: str, task: str) -> None:
    """Right, role, layer, kind, and what an administrator added: a result with its reason.

    Proves: A5, A1
    """
    shared_world.scope(task)
    author = shared_world.agent(task)
    item = remember(author, task, {"lesson": 1})
    assert promote(author, item)["reason"] == "SCOPE_READ_ONLY"
    worker = shared_world.agent(home, descendants=True, role="orchestrator")
    assert promote(worker, item)["reason"] == "ROLE_FORBIDS"
    assert promote(worker, item, layer="episodic")["outcome"] == "COMMITTED"
    unproven = shared_world.agent(home, descendants=True, validated=False)
    assert promote(unproven, item)["reason"] == "AGENT_NOT_VALIDATED"
    helper = shared_world.agent(home, descendants=True)
    assert promote(helper, item, layer="none")["reason"] == "UNKNOWN_LAYER"
    up = promote(helper, item, layer="procedural")
    assert get(helper, up["item_id"])["layer"] == "procedural"
    annotated = annotate(author, item, "confirmed")["item_id"]
    assert promote(worker, annotated)["outcome"] == "COMMITTED"
    assert promote(helper, annotated, layer="semantic")["reason"] == "UNKNOWN_KIND"
    close_scope(shared_world.admin, home)
    check_store(shared_world.admin)


@pytest.mark.parametrize(
    "target", ["/global", "{task}", "{task}/task/sub", "{bob}", "{other}", "/org/nowhere", ""]
)
def test_a_target_lies_above(
    shared_world: World, agent: Connection[DictRow], home: str, task: str, target: str
) -> None:
    """22023 for itself, below, beside, another organisation, /global and nothing at all.

    Proves: A5, A4
    """
    bob, other = f"{organisation_of(home)}/user/bob", f"{organisation_of(home)}x"
    for path in (bob, other, f"{task}/task/sub"):
        shared_world.scope(path)
    item = remember(agent, task, {"lesson": 1})
    with pytest.raises(InvalidParameterValue) as raised:
        promote(agent, item, target=target.format(task=task, bob=bob, other=other))
    told = raised.value.diag.message_detail
    assert told == "target: a scope above, but not /global"


def test_what_lies_at_the_top_goes_no_further(
    shared_world: World, agent: Connection[DictRow], home: str
) -> None:
    """Neither an organisation's memory nor one of /global.

    Proves: A5, A4
    """
    item = remember(agent, organisation_of(home), {"all": uuid4().hex})
    everybodys = shared_world.agent("/global")
    shared = remember(everybodys, "/global", {"all": uuid4().hex})
    for caller, number in ((agent, item), (agent, shared), (everybodys, shared)):
        with pytest.raises(InvalidParameterValue):
            promote(caller, number)


@pytest.mark.parametrize("what", ["hidden", "secret", "foreign", "absent", "null", "expired"])
def test_an_item_that_the_caller_does_not_see_is_unknown(
    shared_world: World, agent: Connection[DictRow], home: str, task: str, what: str
) -> None:
    """In a hidden scope, above its clearance, of another tenant, past its time, or not there.

    Proves: A5, A3
    """
    bob = shared_world.agent(f"{organisation_of(home)}/user/bob")
    chief = shared_world.agent(task, clearance="restricted")
    stranger = shared_world.agent(f"{organisation_of(home)}x/user/ana")
    made: dict[str, Callable[[], Any]] = {
        "hidden": lambda: write(bob, "semantic", {"a": 1})["item_id"],
        "secret": lambda: remember(chief, task, {"a": 1}, classification="restricted"),
        "foreign": lambda: write(stranger, "semantic", {"a": 1})["item_id"],
        "absent": uuid4,
        "null": lambda: None,
        "expired": lambda: remember(agent, task, {"a": 1}, ttl="1 microsecond"),
    }
    item = made[what]()
    absent = uuid4()
    answer = refused(lambda: promote(agent, item), item)
    assert answer[0] == "42704"
    if item is not None:
        assert answer == refused(lambda: promote(agent, absent), absent)


def test_what_was_taken_back_does_not_go_up(shared_world: World, home: str, task: str) -> None:
    """42704: the caller sees it, and it is no longer active.

    Proves: A5
    """
    shared_world.scope(task)
    curator = shared_world.agent(home, descendants=True, role="curator")
    item = remember(curator, task, {"a": 1})
    retract(curator, item)
    with pytest.raises(UndefinedObject) as raised:
        promote(curator, item)
    assert raised.value.diag.message_detail == f"active item {item}"


def test_evidence_has_room_for_one_more_reference(agent: Connection[DictRow], task: str) -> None:
    """A hundred references are all that an item may have: then the link is what is too much.

    Proves: A5
    """
    cited = [{"type": "document", "uri": f"file:{n}"} for n in range(100)]
    fits = remember(agent, task, {"n": 1}, evidence=cited[:99])
    full = remember(agent, task, {"n": 2}, evidence=cited)
    assert promote(agent, fits)["outcome"] == "COMMITTED"
    assert promote(agent, full)["reason"] == "EVIDENCE_INVALID"
