"""A replay answers with the first commit, whoever replays it, however often, even at once."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from helpers import write, write_many
from races import together
from scope_calls import retract
from write.gates.obedient import add_obedient_gate, answering, run_retries

if TYPE_CHECKING:
    from conftest import World

TEA = {"text": "Ana prefers green tea"}
COFFEE = {"text": "Ana prefers coffee"}
KEY = {"subject": "Ana", "predicate": "prefers"}
REPLAYS: dict[str, dict[str, Any]] = {
    "by content": {},
    "by key": {"idempotency_key": "the first"},
    "by request id": {"request_id": None},
}


def arguments_of(world: World, kind: str) -> dict[str, Any]:
    """What a replay of that kind repeats."""
    if kind == "by request id":
        return {"request_id": world.value("SELECT memwarden_internal.uuid7()")}
    return REPLAYS[kind]


def items(world: World, home: str) -> int:
    """How many items a scope holds."""
    query = (
        "SELECT count(*) FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s"
        " USING (scope_id) WHERE s.path = %s"
    )
    return int(world.value(query, home))


@pytest.mark.parametrize("layer", ["working", "session", "episodic", "semantic"])
@pytest.mark.parametrize("kind", REPLAYS)
def test_a_replay_answers_with_the_first_commit(
    shared_world: World, home: str, layer: str, kind: str
) -> None:
    """ALREADY_COMMITTED, with the first item and version; nothing is written again.

    Proves: W4
    """
    agent = shared_world.agent(home)
    repeated = arguments_of(shared_world, kind)
    first = write(agent, layer, TEA, **repeated)
    again = [write(agent, layer, TEA, **repeated) for _ in range(2)]
    assert first["outcome"] == "COMMITTED"
    for answer in again:
        assert answer["outcome"] == "ALREADY_COMMITTED"
        assert (answer["item_id"], answer["version_id"]) == (first["item_id"], first["version_id"])
    assert items(shared_world, home) == 1


@pytest.mark.parametrize("layer", ["working", "semantic"])
@pytest.mark.parametrize("kind", REPLAYS)
def test_two_at_the_same_moment_commit_once(
    shared_world: World, home: str, layer: str, kind: str
) -> None:
    """Four sessions of one agent ask at once: one COMMITTED, three ALREADY_COMMITTED.

    Proves: W4
    """
    role = shared_world.register(home)
    repeated = arguments_of(shared_world, kind)
    sessions = [shared_world.connect(role) for _ in range(4)]
    answers = together([lambda c=c: write(c, layer, TEA, **repeated) for c in sessions])  # type: ignore[misc]
    assert sorted(a["outcome"] for a in answers) == ["ALREADY_COMMITTED"] * 3 + ["COMMITTED"]
    assert len({(a["item_id"], a["version_id"]) for a in answers}) == 1
    assert items(shared_world, home) == 1


def test_content_is_the_same_in_any_spelling_of_its_json(shared_world: World, home: str) -> None:
    """Order of names, white space, escapes and spelling of numbers do not matter.

    Proves: W4
    """
    spellings = [
        '{"n": 1, "text": "t\\u00e9"}',
        '{ "text" : "té",\n"n":1.0 }',
        '{"text":"t\\u00E9","n":1e0}',
    ]
    answers = write_many(
        shared_world.agent(home), [{"layer": "semantic", "content_text": s} for s in spellings]
    )
    outcomes = [answer["outcome"] for answer in answers]
    assert outcomes == ["COMMITTED", "ALREADY_COMMITTED", "ALREADY_COMMITTED"]


def test_a_token_of_the_content_stops_answering_once_the_item_has_moved_on(
    shared_world: World, home: str
) -> None:
    """On, off, and on again are three versions; the caller's own key goes on answering.

    Proves: W4, D5
    """
    agent = shared_world.agent(home)
    on, off = {"light": "on"}, {"light": "off"}
    keys: list[dict[str, str]] = [{"idempotency_key": f"k{n}"} for n in range(3)]
    none: list[dict[str, str]] = [{}, {}, {}]
    for tokens in (none, keys):
        values = zip((on, off, on), tokens, strict=True)
        versions = [write(agent, "session", value, **KEY, **token) for value, token in values]
        assert [answer["outcome"] for answer in versions] == ["COMMITTED"] * 3
        assert len({answer["item_id"] for answer in versions}) == 1
        late = write(agent, "session", on, **KEY, **tokens[0])
        expected = versions[0] if tokens[0] else versions[2]
        assert late["outcome"] == "ALREADY_COMMITTED"
        assert late["version_id"] == expected["version_id"]


@pytest.mark.parametrize(
    "changed",
    [{"content": COFFEE}, {"subject": "Bob"}, {"predicate": "avoids"}],
    ids=["content", "subject", "predicate"],
)
@pytest.mark.parametrize("moved_on", [False, True], ids=["current", "moved on"])
def test_a_key_used_for_something_else_is_refused(
    shared_world: World, home: str, changed: dict[str, Any], moved_on: bool
) -> None:
    """IDEMPOTENCY_KEY_REUSED names the first request; a write is never answered with another one.

    Proves: W4
    """
    agent = shared_world.agent(home)
    request: dict[str, Any] = {"layer": "semantic", "content": TEA, "idempotency_key": "k"} | KEY
    first = write(agent, **request)
    if moved_on:
        write(agent, **(request | {"content": {"text": "water"}, "idempotency_key": "other"}))
    answer = write(agent, **(request | changed))
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "IDEMPOTENCY_KEY_REUSED")
    assert answer["detail"] == {"request_id": str(first["request_id"])}


def test_another_agents_write_is_never_answered_with_mine(shared_world: World, home: str) -> None:
    """Same content, same key: another agent, scope, layer or subject is another write.

    Proves: W4
    """
    org = home.partition("/user")[0]
    other = f"{org}/user/bob"
    role = shared_world.register(home)
    agent, colleague = shared_world.connect(role), shared_world.agent(home)
    shared_world.scope(other)
    shared_world.admin.execute("SELECT memwarden.grant_scope(%s, %s, true)", (role, other))
    for tokens in ({}, {"idempotency_key": "k"}):
        content = TEA | {"round": len(tokens)}
        mine = write(agent, "working", content, **tokens)
        others = [
            write(colleague, "working", content, **tokens),
            write(agent, "working", content, scope=other, **tokens),
            write(agent, "session", content, **tokens),
        ]
        if not tokens:
            others.append(write(agent, "working", content, subject="Bob"))
        assert [answer["outcome"] for answer in others] == ["COMMITTED"] * len(others)
        assert mine["item_id"] not in {answer["item_id"] for answer in others}
    theirs = write(shared_world.agent(other), "semantic", TEA)
    assert theirs["outcome"] == "COMMITTED"
    stranger = write(
        shared_world.agent(f"/org/{uuid.uuid4().hex[:12]}"),
        "semantic",
        TEA,
        request_id=theirs["request_id"],
    )
    assert (stranger["outcome"], stranger["reason"]) == ("REJECTED", "INVALID_REQUEST_ID")
    assert (stranger["item_id"], stranger["version_id"]) == (None, None)


@pytest.mark.parametrize("tokens", [{}, {"idempotency_key": "k"}], ids=["content", "key"])
def test_a_token_is_forgotten_when_its_window_has_passed(world: World, tokens: Any) -> None:
    """24 hours by default; then the same write is a new one, and its token counts anew.

    Proves: W4
    """
    agent = world.agent()
    first = write(agent, "working", TEA, **tokens)
    lifetime = "SELECT expires_at - now() BETWEEN '23 h' AND '24 h' FROM memwarden_data.idempotency"
    assert world.value(lifetime) is True
    world.admin.execute("UPDATE memwarden_data.idempotency SET expires_at = now()")
    second, third = (write(agent, "working", TEA, **tokens) for _ in range(2))
    assert (second["outcome"], third["outcome"]) == ("COMMITTED", "ALREADY_COMMITTED")
    assert first["item_id"] != second["item_id"] == third["item_id"]
    world.admin.execute("UPDATE memwarden_data.idempotency SET expires_at = now()")
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("SELECT memwarden.maintain()")
    assert world.value("SELECT count(*) FROM memwarden_data.idempotency") == 0


def test_a_plain_write_is_its_own_token(world: World) -> None:
    """Where a layer holds a content once, nothing is kept beside the memory to know a replay by.

    Proves: W4
    """
    agent = world.agent()
    first = write(agent, "episodic", TEA)
    assert world.value("SELECT count(*) FROM memwarden_data.idempotency") == 0
    again = write(agent, "episodic", TEA)
    assert (again["outcome"], again["version_id"]) == ("ALREADY_COMMITTED", first["version_id"])
    assert again["detail"] == {"request_id": str(first["request_id"])}
    # Another agent's own, or of another subject, is none of it.
    other = write(world.agent(), "episodic", TEA)
    assert (other["outcome"], other["reason"]) == ("REJECTED", "EXACT_DUPLICATE")
    assert write(agent, "episodic", TEA, subject="Bob")["outcome"] == "COMMITTED"
    # A day later the memory is known, and the write no replay.
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute(
            "UPDATE memwarden_data.item SET created_at = created_at - interval '25 hours'"
        )
    late = write(agent, "episodic", TEA)
    assert (late["outcome"], late["reason"]) == ("REJECTED", "EXACT_DUPLICATE")


def test_a_key_of_the_callers_answers_for_itself_alone(world: World) -> None:
    """The same content without the key is another request, of what is known.

    Proves: W4
    """
    agent = world.agent()
    keyed = write(agent, "episodic", TEA, idempotency_key="k")
    assert write(agent, "episodic", TEA, idempotency_key="k")["outcome"] == "ALREADY_COMMITTED"
    without = write(agent, "episodic", TEA)
    assert (without["outcome"], without["reason"]) == ("REJECTED", "EXACT_DUPLICATE")
    assert without["item_id"] == keyed["item_id"]


def test_what_is_written_anew_after_a_retraction_answers_from_then_on(world: World) -> None:
    """The memory that was retracted does not; the one that took its place does.

    Proves: W4
    """
    agent = world.agent()
    curator = world.agent(role="curator")
    first = write(agent, "episodic", TEA)
    retract(curator, first["item_id"], "a mistake")
    second, third = (write(agent, "episodic", TEA) for _ in range(2))
    assert (second["outcome"], third["outcome"]) == ("COMMITTED", "ALREADY_COMMITTED")
    assert first["item_id"] != second["item_id"] == third["item_id"]


def test_a_batch_says_a_content_once(shared_world: World, home: str) -> None:
    """The second of two alike in one batch meets the first.

    Proves: W4
    """
    rows = [{"layer": "episodic", "content": TEA, "scope": home} for _ in range(2)]
    answers = write_many(shared_world.agent(home), rows)
    assert [row["outcome"] for row in answers] == ["COMMITTED", "ALREADY_COMMITTED"]
    assert answers[0]["version_id"] == answers[1]["version_id"]


def test_a_refused_write_uses_up_neither_its_key_nor_its_content(
    shared_world: World, home: str
) -> None:
    """After a refusal the corrected request commits under the same key.

    Proves: W4
    """
    agent = shared_world.agent(home)
    for tokens in ({}, {"idempotency_key": "k"}):
        content = TEA | {"round": len(tokens)}
        assert write(agent, "semantic", content, confidence=2, **tokens)["outcome"] == "REJECTED"
        assert write(agent, "semantic", content, **tokens)["outcome"] == "COMMITTED"


def test_a_replayed_request_id_answers_with_whatever_became_of_the_first(world: World) -> None:
    """A refusal stays that refusal; a deferral answers with its state, and later with its commit.

    Proves: W2, W4
    """
    add_obedient_gate(world)
    agent = world.agent()
    refused = write(agent, "semantic", TEA, confidence=2)
    again = write(agent, "semantic", TEA, request_id=refused["request_id"])
    assert again == refused
    content = answering("DEFER", until_attempt=2)
    waiting = write(agent, "semantic", content)
    assert write(agent, "semantic", content, request_id=waiting["request_id"]) == waiting
    pending = write(agent, "semantic", content)
    assert (pending["outcome"], pending["reason"]) == ("REJECTED", "ALREADY_PENDING")
    assert pending["detail"] == {"request_id": str(waiting["request_id"])}
    run_retries(world)
    later = write(agent, "semantic", content, request_id=waiting["request_id"])
    by_content = write(agent, "semantic", content)
    assert (later["outcome"], by_content["outcome"]) == ("ALREADY_COMMITTED",) * 2
    assert later["version_id"] == by_content["version_id"] is not None
