"""What was blocked leaves no copy: in no table, no dump, no log, no error, no answer."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import DictRow

from access import call, join, refusal
from conftest import deploy_server
from helpers import beside_names, write, write_many
from traces import traces
from write.gates.obedient import add_obedient_gate, answering, run_retries

if TYPE_CHECKING:
    from conftest import World

    from .conftest import House

SECRET = "s3cret"
PLACES: dict[str, dict[str, Any]] = {
    "a text": {"content": {"text": f"the key is {SECRET}"}},
    "a bare text": {"content": SECRET},
    "a name": {"content": {SECRET: 1}},
    "a name above a finding": {"content": {SECRET: {"more": [SECRET, {SECRET: SECRET}]}}},
    "subject": {"subject": f"about {SECRET}"},
    "predicate": {"predicate": SECRET},
    "the address of evidence": {"evidence": [{"type": "document", "uri": f"file:/{SECRET}"}]},
    "an excerpt": {"evidence": [{"type": "document", "uri": "file:x", "excerpt": SECRET}]},
    "a note to evidence": {"evidence": [{"type": "document", "uri": "file:x", SECRET: SECRET}]},
    "origin": {"origin": {"kind": "user_stated", "task": f"with {SECRET}"}},
    "what was asked for": {"origin": {"retrieval_query": SECRET}},
    "idempotency key": {"idempotency_key": SECRET},
    "trace id": {"trace_id": SECRET},
}
# Where the request is refused for another reason, before or after what is sensitive is looked for.
BESIDES: dict[str, dict[str, Any]] = {
    "unknown scope": {"scope": "/org/nowhere", "trace_id": SECRET},
    "unknown layer": {"layer": "nowhere", "trace_id": SECRET},
    "read-only scope": {"scope": "/global", "trace_id": SECRET},
    "no JSON": {"content": None, "content_text": f'{{"a": "{SECRET}" {SECRET}', "trace_id": SECRET},
    "no JSON, and nothing else": {"content": None, "content_text": f"{SECRET}"},
    "too deep": {"content": None, "content_text": "[" * 70 + f'"{SECRET}"' + "]" * 70},
    "too late": {"deadline": "2020-01-01", "trace_id": SECRET},
    "out of range": {"confidence": 7, "trace_id": SECRET, "content": {SECRET: SECRET}},
    "no number": {"confidence": SECRET},
    "unknown origin": {"origin": {"kind": SECRET}, "trace_id": SECRET},
    "unknown attribute": {"attributes": {SECRET: SECRET}, "trace_id": SECRET},
    "unknown domain": {"domains": [SECRET]},
    "unknown classification": {"classification": SECRET},
    "unknown model": {"embedding": [1.0], "embedding_model": SECRET},
    "unknown argument": {SECRET: SECRET, "trace_id": SECRET},
    "unknown kind": {"kind": SECRET.lower()},
    "a gate that fails": {"content": {"text": SECRET, "answer": {"raise": "P0001"}}},
    "an early gate that says too much": {
        "content": {"text": SECRET, "answer": {"decision": "REJECT", "detail": {"was": SECRET}}}
    },
}


def with_secret(value: Any, secret: str) -> Any:
    """The value with this test's secret in place of the table's."""
    if isinstance(value, str):
        return value.replace(SECRET, secret)
    if isinstance(value, dict):
        return {with_secret(k, secret): with_secret(v, secret) for k, v in value.items()}
    return [with_secret(child, secret) for child in value] if isinstance(value, list) else value


def dump(world: World) -> str:
    """Everything that the database holds, as SQL."""
    return deploy_server("exec", "pg_dump", "--inserts", "--no-comments", world.dsn)


def once(agent: psycopg.Connection[DictRow], request: dict[str, Any]) -> DictRow:
    """Ask by write()."""
    return write(agent, **{"layer": "semantic", "content": {"text": "nothing of note"}} | request)


def in_a_batch(agent: psycopg.Connection[DictRow], request: dict[str, Any]) -> DictRow:
    """Ask by write_many(), beside others that are sound."""
    asked = {"layer": "semantic", "content": {"text": "nothing of note"}} | request
    sound = [{"layer": "episodic", "content": {"n": uuid.uuid4().hex[:8]}} for _ in range(2)]
    first, answer, last = write_many(agent, [sound[0], asked, sound[1]])
    assert {first["outcome"], last["outcome"]} == {"COMMITTED"}
    return answer


@pytest.mark.parametrize("ask", [once, in_a_batch])
def test_a_secret_is_blocked_wherever_it_stands(
    shared_world: World,
    house: House,
    secret: str,
    ask: Callable[[psycopg.Connection[DictRow], dict[str, Any]], DictRow],
) -> None:
    """In content, its names, key, evidence, origin, idempotency key, trace id, attributes.

    Proves: L10, F7
    """
    told: list[str] = []
    house.agent.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
    for place, request in PLACES.items():
        answer = ask(house.agent, with_secret(request, secret))
        assert (answer["outcome"], answer["reason"]) == ("REJECTED", "SENSITIVE_CONTENT"), place
        assert {f["kind"] for f in answer["detail"]["findings"]} == {"secret.github_token"}, place
        assert secret not in str(answer), place
        status = call(house.agent, "request_status", request_id=answer["request_id"])
        assert status[0]["reason"] == "SENSITIVE_CONTENT", place
    assert told == []
    assert traces(shared_world, secret) == []
    assert secret not in dump(shared_world)
    assert secret.encode().hex() not in dump(shared_world)


@pytest.mark.parametrize("case", BESIDES)
def test_a_secret_is_forgotten_also_where_something_else_was_wrong(
    world: World, secret: str, case: str
) -> None:
    """A gate that faults, JSON that is none, an argument of another type, an unknown place.

    Proves: L10
    """
    add_obedient_gate(world, position=20)
    agent = world.agent()
    request = {"layer": "semantic", "content": {"text": "nothing"}} | BESIDES[case]
    answer = write_many(agent, [with_secret(request, secret), {"layer": "working", "content": 1}])[
        0
    ]
    assert answer["outcome"] in ("REJECTED", "DEADLINE_EXCEEDED")
    assert secret not in str(beside_names(answer))
    assert traces(world, secret) == []


def test_a_promotion_is_screened_by_the_rules_of_today(house: House, secret: str) -> None:
    """What was stored before a rule was there is not copied upwards; nothing is added to what is.

    Proves: L10, N3 (sanitisation)
    """
    world = house.world
    scribe = join(world, f"/org/{house.org}/user/ana/task/t")
    call(world.admin, "grant_scope", agent=scribe.info.user, scope=f"/org/{house.org}", writes=True)
    call(world.admin, "set_sensitivity_action", action="flag", kind="secret", org=house.org)
    kept = write(scribe, "semantic", {"text": f"the key is {secret}"})
    assert kept["outcome"] == "COMMITTED"
    call(world.admin, "set_sensitivity_action", action=None, kind="secret", org=house.org)
    before = dump(world).count(secret)
    answer = call(scribe, "promote", item_id=kept["item_id"], target=f"/org/{house.org}")
    assert [row["reason"] for row in answer] == ["SENSITIVE_CONTENT"]
    assert dump(world).count(secret) == before


def test_what_waits_is_screened_again(world: World, secret: str) -> None:
    """A rule that came while a request waited applies to it, and its copy goes.

    Proves: L10
    """
    add_obedient_gate(world, position=50)
    agent = world.agent()
    call(world.admin, "set_sensitivity_action", action="flag", kind="secret")
    waiting = write(agent, "semantic", answering("DEFER") | {"key": secret})
    assert waiting["outcome"] == "DEFERRED"
    call(world.admin, "set_sensitivity_action", action=None, kind="secret")
    run_retries(world)
    status = call(agent, "request_status", request_id=waiting["request_id"])[0]
    assert status["reason"] == "SENSITIVE_CONTENT"
    assert traces(world, secret) == []


def test_a_reason_and_recorded_evidence_are_read_too(house: House, secret: str) -> None:
    """What is kept beside contents passes no gate: it is refused, saying where and not what.

    Proves: L10
    """
    world, curator = house.world, house.curator()
    item = write(curator, "semantic", {"text": "tea"})["item_id"]
    call(
        world.admin,
        "define_source",
        uri_pattern="shop:*",
        type="document",
        issuer=curator.info.user,
        org=house.org,
    )
    for function, arguments in (
        ("retract", {"item_id": item, "reason": f"it was {secret}"}),
        ("rollback", {"item_id": item, "reason": secret}),
        ("rollback_batch", {"reason": secret, "agent": "nobody"}),
        ("record_evidence", {"uri": "shop:1", "excerpt": f"says {secret}"}),
        ("record_evidence", {"uri": f"shop:{secret}", "excerpt": "says"}),
    ):
        error = refusal(curator, function, **arguments)
        assert (error.sqlstate, "github" in str(error.diag.message_detail)) == ("22023", True)
        assert secret not in f"{error} {error.diag.message_detail} {error.diag.context}"
    assert traces(world, secret) == []


def test_bind_parameters_keep_a_secret_out_of_the_log(world: World, secret: str) -> None:
    """A statement that fails is logged with its text: parameters are not part of it.

    Proves: L10
    """
    agent = world.agent()
    with pytest.raises(psycopg.errors.UndefinedFunction):
        agent.execute("SELECT memwarden.write(%s, %s, nothing => 1)", ("semantic", secret))
    agent.execute("SET default_transaction_isolation = 'serializable'")
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        write(agent, "semantic", {"text": secret})
    assert traces(world, secret) == []
