"""A refusal says which name it is about: the one that the caller gave, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers import write, write_many

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped

HOME = "/org/acme/user/ana"


@pytest.fixture
def world(shipped: Shipped) -> World:
    """Return the store as `memwarden init` leaves it."""
    return shipped.world


NAMES = {
    "UNKNOWN_SCOPE": {"scope": "/org/acme/user/nobody"},
    "SCOPE_READ_ONLY": {"scope": "/org/acme"},
    "UNKNOWN_LAYER": {"layer": "gossip"},
    "UNKNOWN_KIND": {"kind": "rumour"},
    "UNKNOWN_CLASS": {"class": "hearsay"},
    "UNKNOWN_CLASSIFICATION": {"classification": "whispered"},
    "UNKNOWN_EMBEDDING_MODEL": {"embedding_model": "none-such"},
}


@pytest.mark.parametrize("reason", NAMES)
def test_a_refusal_names_what_the_caller_named(world: World, reason: str) -> None:
    """Alone, in a batch and when it is asked again; the record keeps no such name.

    Proves: W2
    """
    agent = world.agent(HOME)
    asked = str(world.value("SELECT memwarden_internal.uuid7()"))
    request: dict[str, Any] = {"layer": "semantic", "content": "Ana likes tea"} | NAMES[reason]
    answers = [
        write(agent, **request, request_id=asked),
        write(agent, **request, request_id=asked),
        *write_many(agent, [{"layer": "semantic", "content": "Ana likes lakes"}, request]),
    ]
    assert answers.pop(2)["outcome"] == "COMMITTED"
    assert [each["reason"] for each in answers] == [reason] * 3
    for each in answers:
        # Beside the name, the schema gate lists its errors.
        assert {k: v for k, v in each["detail"].items() if k != "errors"} == NAMES[reason]
    [name] = NAMES[reason].values()
    kept = world.value(
        "SELECT string_agg(r::text, '') FROM memwarden_data.write_request AS r WHERE r.reason = %s",
        reason,
    )
    assert name not in kept or reason == "SCOPE_READ_ONLY"


def test_a_scope_of_others_is_answered_as_one_that_is_not_there(world: World) -> None:
    """And a home that is no longer readable is not named: nobody named it.

    Proves: W2
    """
    agent = world.agent(HOME)
    world.scope("/org/acme/user/secret")
    there, absent = (
        write(agent, "semantic", "Ana likes tea", scope=f"/org/acme/user/{name}")
        for name in ("secret", "absent")
    )
    assert there["reason"] == absent["reason"] == "UNKNOWN_SCOPE"
    assert [{**each["detail"]} for each in (there, absent)] == [
        {"scope": "/org/acme/user/secret"},
        {"scope": "/org/acme/user/absent"},
    ]
    long = write(agent, "semantic", "Ana likes tea", scope="/org/" + "x" * 5000)
    assert len(long["detail"]["scope"]) == 1000
    world.admin.execute(
        "DELETE FROM memwarden_data.scope_grant WHERE principal_id ="
        " (SELECT principal_id FROM memwarden_data.principal WHERE name = %s)",
        (agent.info.user,),
    )
    nameless = write(agent, "semantic", "Ana likes tea")
    assert (nameless["reason"], nameless["detail"]) == ("UNKNOWN_SCOPE", None)
