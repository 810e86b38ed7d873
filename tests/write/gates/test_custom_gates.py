"""A gate of the administrator's own sees the request, and its answer is taken at its word."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from helpers import write, write_many
from write.gates.obedient import add_obedient_gate, answering, create_gate_function

if TYPE_CHECKING:
    from conftest import World

ANSWERS: list[tuple[str | None, dict[str, Any], tuple[str, str | None]]] = [
    ("ACCEPT", {}, ("COMMITTED", None)),
    ("ACCEPT", {"reason": "FINE"}, ("COMMITTED", None)),
    ("REJECT", {"reason": "NOT_HERE", "detail": {"why": 1}}, ("REJECTED", "NOT_HERE")),
    ("REJECT", {}, ("REJECTED", "UNSPECIFIED")),
    ("DEFER", {"reason": "LATER"}, ("DEFERRED", "LATER")),
    ("DEFER", {}, ("DEFERRED", "UNSPECIFIED")),
    ("accept", {}, ("REJECTED", "GATE_FAULT")),
    ("COMMITTED", {}, ("REJECTED", "GATE_FAULT")),
    ("", {}, ("REJECTED", "GATE_FAULT")),
    (None, {"raise": "P0001"}, ("REJECTED", "GATE_FAULT")),
    (None, {"raise": "23505"}, ("REJECTED", "GATE_FAULT")),
    (None, {"assert": True}, ("REJECTED", "GATE_FAULT")),
]


@pytest.fixture(scope="module")
def ready(shared_world: World) -> World:
    """A world with an obedient gate."""
    add_obedient_gate(shared_world)
    return shared_world


@pytest.mark.parametrize(("decision", "answer", "expected"), ANSWERS)
def test_anything_but_accept_reject_and_defer_is_a_fault_and_refuses(
    ready: World,
    home: str,
    decision: str | None,
    answer: dict[str, Any],
    expected: tuple[str, str | None],
) -> None:
    """Only ACCEPT lets a request pass; reason and detail are the gate's; alone or in a batch.

    Proves: W2, W7, W8
    """
    agent = ready.agent(home)
    given = [
        write(agent, "semantic", answering(decision, **answer, n=1)),
        *write_many(agent, [{"layer": "semantic", "content": answering(decision, **answer, n=2)}]),
    ]
    for row in given:
        assert (row["outcome"], row["reason"]) == expected
        assert (row["gate"] is None) == (expected[0] == "COMMITTED")
        if "detail" in answer:
            assert row["detail"] == answer["detail"]
    committed = agent.execute("SELECT FROM memwarden.items").fetchall()
    assert len(committed) == (2 if expected[0] == "COMMITTED" else 0)


def test_a_gate_that_returns_no_row_has_not_accepted(world: World) -> None:
    """An empty answer refuses.

    Proves: W2, W7
    """
    function = create_gate_function(
        world, "public.silent", returns="RETURNS SETOF record", body="BEGIN RETURN; END"
    )
    world.admin.execute("SELECT memwarden.add_gate(40, 'silent', %s)", (function,))
    answer = write(world.agent(), "semantic", {"text": "anything"})
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "GATE_FAULT")


def test_a_gate_whose_function_is_gone_or_forbidden_refuses(world: World) -> None:
    """It fails closed until the gate is removed.

    Proves: W2, W7
    """
    add_obedient_gate(world)
    agent = world.agent()
    for change in (
        "REVOKE EXECUTE ON FUNCTION public.obey FROM PUBLIC",
        "DROP FUNCTION public.obey",
    ):
        world.admin.execute(change)
        answer = write(agent, "semantic", {"text": change})
        assert (answer["outcome"], answer["reason"]) == ("REJECTED", "GATE_FAULT")
    world.admin.execute("SELECT memwarden.remove_gate('obedient')")
    assert write(agent, "semantic", {"text": "at last"})["outcome"] == "COMMITTED"


def test_a_gate_sees_the_request_with_its_own_owners_rights(world: World) -> None:
    """Everything that was asked, in canonical form, and who asks; it runs as its owner.

    Proves: W1, W7
    """
    body = (
        "BEGIN decision := 'REJECT'; reason := 'SEEN';"
        " detail := request || jsonb_build_object('user', current_user); END"
    )
    function = create_gate_function(world, "public.look", body=body)
    owner = world.roles[-1]
    world.admin.execute("SELECT memwarden.add_gate(50, 'look', %s)", (function,))
    world.admin.execute("SELECT memwarden.define_schema('semantic', 'drink', '{}')")
    role = world.register()
    evidence = [{"type": "document", "uri": "file:1"}]
    answer = write(
        world.connect(role),
        "semantic",
        {"b": 1.0, "a": "tea"},
        subject="Ana",
        predicate="drinks",
        kind="drink",
        confidence=0.75,
        importance=0.25,
        evidence=evidence,
    )
    seen = answer["detail"]
    principal = world.rows("SELECT * FROM memwarden_data.principal WHERE name = %s", role)[0]
    assert datetime.fromisoformat(seen.pop("submitted_at"))
    assert seen == {
        "request_id": str(answer["request_id"]),
        "layer": "semantic",
        "scope_id": principal["home_scope_id"],
        "kind": "drink",
        "subject": "Ana",
        "predicate": "drinks",
        "content": {"a": "tea", "b": 1},
        "evidence": evidence,
        "confidence": 0.75,
        "importance": 0.25,
        "principal_id": principal["principal_id"],
        "attempt": 1,
        "user": owner,
    }


@pytest.mark.parametrize("content", ['["\\u0000 a"]', "{", "[9007199254740993]", '{"a":""}'])
def test_a_gate_before_the_schema_gate_never_sees_malformed_content(
    world: World, content: str
) -> None:
    """It is asked with no content at all, and what is wrong with the content is still said.

    Proves: W7, V1
    """
    body = (
        "BEGIN decision := CASE WHEN request -> 'content' = 'null' THEN 'ACCEPT'"
        " ELSE 'REJECT' END; END"
    )
    world.admin.execute(
        "SELECT memwarden.add_gate(20, 'before', %s)", (create_gate_function(world, body=body),)
    )
    answer = write_many(world.agent(), [{"layer": "semantic", "content_text": content}])[0]
    assert answer["gate"] == "25_schema"
    assert answer["reason"] in ("NOT_CANONICAL", "INVALID_JSON", "CONTENT_EMPTY")


def test_nothing_is_parked_before_it_was_looked_at(world: World) -> None:
    """A gate before position 30 may refuse, but not defer: what waits is kept.

    Proves: W2, W7
    """
    add_obedient_gate(world, position=29)
    agent = world.agent()
    answer = write(agent, "semantic", answering("DEFER"))
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "GATE_FAULT")
    assert write(agent, "semantic", answering("REJECT"))["reason"] == "UNSPECIFIED"


def test_a_gate_may_name_the_time_of_the_next_attempt(world: World) -> None:
    """Not before it, and never sooner than the layer's own backoff.

    Proves: W2, W7
    """
    add_obedient_gate(world)
    agent = world.agent()
    now = world.value("SELECT clock_timestamp()")
    later, at_once = now + timedelta(days=3), now - timedelta(days=3)
    far = write(agent, "semantic", answering("DEFER", retry_at=later.isoformat()))
    near = write(agent, "semantic", answering("DEFER", retry_at=at_once.isoformat()))
    assert far["retry_after"] == later
    assert near["retry_after"] > now
