"""A refusal says which name it is about: the one that the caller gave, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
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


NOBODY = "/org/acme/user/nobody"
SCOPES = ["scope", "scopes", "path", "home", "target", "target_scope", "new_parent"]
# Something for whatever else a call needs, by its name or by its type.
OTHERS = {"layer": "'semantic'", "org": "'acme'", "text": "'x'", "jsonb": "'{}'", "json": "'[]'"}
OTHERS |= dict.fromkeys(("scope", "path"), "'/org/acme/user/ana'")
OTHERS |= {"text[]": "'{}'", "uuid[]": "'{}'", "boolean": "true", "interval": "'1 day'"}
OTHERS |= {"timestamp with time zone": "now()", "double precision": "0.5", "integer": "1"}
OTHERS |= {"uuid": "'00000000-0000-7000-8000-000000000000'"}
# They need more than that before they look at a scope, or list what there is of one.
ASKED_OTHERWISE = {
    *("add_alias", "remove_alias", "merge_entities", "split_entity", "unmerge_entity"),
    *("set_entity_attribute", "recall_entity", "close_session", "promote", "push", "create_scope"),
    *("define_probe", "drop_probe", "preview_decisions", "review_queue", "find_items", "write"),
}


def test_every_call_that_knows_no_such_scope_names_it(shipped: Shipped) -> None:
    """Of whoever may make it: the agent, the reviewer, an administrator.

    Proves: W2
    """
    calls = shipped.world.rows(
        "SELECT p.proname AS name, p.pronargs - p.pronargdefaults AS needed,"
        "       p.proargnames AS names,"
        "       ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes::oid[])"
        "             WITH ORDINALITY AS a (t, n) ORDER BY n) AS types"
        "  FROM pg_proc AS p WHERE p.pronamespace = 'memwarden'::regnamespace"
        "   AND p.proargnames[:p.pronargs] && %s",
        SCOPES,
    )
    silent = set()
    for call in calls:
        arguments = list(zip(call["names"], call["types"], strict=False))
        for name, kind in arguments:
            if name not in SCOPES or not kind.startswith("text"):
                continue
            given = {
                other: OTHERS.get(other, OTHERS.get(its, "NULL"))
                for other, its in arguments
                if arguments.index((other, its)) < call["needed"] or other in ("org", "layer")
            } | {name: f"'{{{NOBODY}}}'" if kind == "text[]" else f"'{NOBODY}'"}
            query = ", ".join(f"{each} => {value}" for each, value in given.items())
            if not told(shipped, f"SELECT * FROM memwarden.{call['name']}({query})"):
                silent.add(f"{call['name']} {name}")
    assert {each for each in silent if each.split()[0] not in ASKED_OTHERWISE} == {
        "close_scope target",  # it has to lie above
        "set_review_channel target",  # an address
    }


def told(shipped: Shipped, query: str) -> bool:
    """Whether somebody is told which scope there is not; what a call does is undone."""
    for connection in (shipped.agent, shipped.reviewer, shipped.world.admin):
        try:
            with connection.transaction(force_rollback=True):
                connection.execute(query)
        except psycopg.Error as error:
            if NOBODY in f"{error.diag.message_detail}":
                return True
    return False
