"""One request id, one write: with another content it is refused, and nothing is acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helpers import write, write_many
from races import overlap, together
from write.gates.obedient import add_obedient_gate, answering, run_retries

if TYPE_CHECKING:
    from uuid import UUID

    from psycopg.rows import DictRow

    from conftest import World

TEA = {"text": "Ana prefers green tea"}
COFFEE = {"text": "Ana prefers coffee"}
FIRST: dict[str, Any] = {
    "layer": "semantic",
    "content": TEA,
    "subject": "Ana",
    "predicate": "likes",
}
OTHERS: dict[str, dict[str, Any]] = {
    "content": {"content": COFFEE},
    "subject": {"subject": "Bob"},
    "predicate": {"predicate": "avoids"},
    "layer": {"layer": "episodic"},
    "scope": {"scope": "/global"},
}


def new_id(world: World) -> UUID:
    """An id that a client mints."""
    made: UUID = world.value("SELECT memwarden_internal.uuid7()")
    return made


def is_refused(answer: DictRow, first: Any) -> bool:
    """Whether an answer says that the id was used, and names the first request."""
    return (answer["outcome"], answer["reason"], answer["detail"], answer["item_id"]) == (
        "REJECTED",
        "REQUEST_ID_REUSED",
        {"request_id": str(first)},
        None,
    )


@pytest.mark.parametrize("changed", OTHERS)
@pytest.mark.parametrize("many", [False, True], ids=["one", "batch"])
def test_an_id_used_for_something_else_is_refused(
    shared_world: World, home: str, changed: str, *, many: bool
) -> None:
    """The refusal names the first request and has an id of its own; the first stands.

    Proves: W2, W4
    """
    agent = shared_world.agent(home)
    asked = new_id(shared_world)
    first = write(agent, **FIRST, request_id=asked)
    request = FIRST | OTHERS[changed] | {"request_id": asked}
    if many:
        (answer,) = write_many(agent, [request | {"request_id": str(asked)}])
    else:
        answer = write(agent, **request)
    assert is_refused(answer, asked), answer
    recorded = agent.execute(
        "SELECT outcome, reason FROM memwarden.request_status(%s)", (answer["request_id"],)
    ).fetchall()
    assert recorded == [{"outcome": "REJECTED", "reason": "REQUEST_ID_REUSED"}]
    again = write(agent, **FIRST, request_id=asked)
    assert (again["outcome"], again["version_id"]) == ("ALREADY_COMMITTED", first["version_id"])


def test_an_id_used_twice_in_one_batch_is_refused_the_second_time(
    shared_world: World, home: str
) -> None:
    """Unless both ask for the same, however its JSON is spelt.

    Proves: W4
    """
    asked = str(new_id(shared_world))
    texts = ['{"n": 1, "text": "a"}', '{"text":"a","n":1.0}', '{"n": 2}']
    requests = [{"layer": "semantic", "content_text": t, "request_id": asked} for t in texts]
    first, same, other = write_many(shared_world.agent(home), requests)
    assert (first["outcome"], same["outcome"]) == ("COMMITTED", "ALREADY_COMMITTED")
    assert same["version_id"] == first["version_id"]
    assert is_refused(other, asked), other


def test_an_id_used_a_thousand_requests_before_is_known(shared_world: World, home: str) -> None:
    """In the same batch: the same content has the first outcome, another one is refused.

    Proves: W4, W8
    """
    asked = str(new_id(shared_world))
    requests: list[Any] = [FIRST | {"request_id": asked}, *[{}] * 1_000]
    requests += [requests[0], requests[0] | {"content": COFFEE}]
    first, *_, same, other = write_many(shared_world.agent(home), requests)
    assert (first["outcome"], same["outcome"]) == ("COMMITTED", "ALREADY_COMMITTED")
    assert same["version_id"] == first["version_id"]
    assert is_refused(other, asked), other


@pytest.mark.parametrize("first", ["COMMITTED", "REJECTED"])
@pytest.mark.parametrize("many", [False, True], ids=["one", "batch"])
def test_an_id_of_another_agent_tells_nothing(
    shared_world: World, home: str, first: str, *, many: bool
) -> None:
    """The answer is that of an id that could not be one, whatever became of the other's request.

    Proves: W4
    """
    asked = new_id(shared_world)
    more: dict[str, Any] = {} if first == "COMMITTED" else {"confidence": 2}
    theirs = write(shared_world.agent(f"{home}x"), **FIRST, **more, request_id=asked)
    assert theirs["outcome"] == first
    agent = shared_world.agent(home)
    if many:
        (answer,) = write_many(agent, [FIRST | {"request_id": str(asked)}])
    else:
        answer = write(agent, **FIRST, request_id=asked)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "INVALID_REQUEST_ID")
    assert (answer["detail"], answer["item_id"]) == (None, None)


@pytest.mark.parametrize("same", [True, False], ids=["same content", "other content"])
@pytest.mark.parametrize("many", [False, True], ids=["one", "batch"])
def test_an_id_that_another_connection_has_in_hand_is_waited_for(
    shared_world: World, home: str, *, same: bool, many: bool
) -> None:
    """The second waits until the first has committed: then it is a replay, or refused.

    Proves: W4
    """
    role = shared_world.register(home)
    first, second = shared_world.connect(role, autocommit=False), shared_world.connect(role)
    asked = new_id(shared_world)
    request = FIRST | {} if same else FIRST | {"content": COFFEE, "layer": "episodic"}

    def follow() -> DictRow:
        if many:
            return write_many(second, [request | {"request_id": str(asked)}])[0]
        return write(second, **request, request_id=asked)

    answer = overlap(
        shared_world.admin,
        first,
        lambda: write(first, **FIRST, request_id=asked),
        second,
        follow,
    )
    if same:
        assert answer["outcome"] == "ALREADY_COMMITTED"
    else:
        assert is_refused(answer, asked), answer


def test_the_id_of_a_copy_is_no_id_for_a_write(shared_world: World, home: str) -> None:
    """A promotion is asked for under an id of the server's: a write cannot have it as well.

    Proves: W4
    """
    agent = shared_world.agent(home, descendants=True)
    shared_world.scope(f"{home}/task/t")
    item = write(agent, "semantic", TEA, scope=f"{home}/task/t")
    row = agent.execute(
        "SELECT request_id, outcome FROM memwarden.promote(%s)", (item["item_id"],)
    ).fetchone()
    assert row is not None
    answer = write(agent, "semantic", COFFEE, request_id=row["request_id"])
    assert is_refused(answer, row["request_id"]), answer


def test_the_id_of_a_refused_request_repeats_the_refusal_for_the_same_content_alone(
    shared_world: World, home: str
) -> None:
    """Another content under it is told that the id is used, not why the first was refused.

    Proves: W2, W4
    """
    agent = shared_world.agent(home)
    asked = new_id(shared_world)
    first = write(agent, **FIRST, confidence=2, request_id=asked)
    assert first["outcome"] == "REJECTED"
    assert write(agent, **FIRST, confidence=2, request_id=asked) == first
    assert is_refused(write(agent, **(FIRST | {"content": COFFEE}), request_id=asked), asked)


REFUSED: dict[str, dict[str, Any]] = {
    "an unknown layer": {"layer": "nowhere"},
    "an unknown scope": {"scope": "/org/nowhere"},
    "no JSON": {"content_text": "{"},
    "no content": {"content": None},
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_an_id_refused_before_its_content_was_read_is_used_all_the_same(
    shared_world: World, home: str, wrong: str
) -> None:
    """Whoever puts the mistake right needs another id, and is told so; who repeats it, is told it.

    Proves: W2, W4
    """
    agent = shared_world.agent(home)
    asked = new_id(shared_world)
    first = FIRST | REFUSED[wrong] | {"request_id": str(asked)}
    if "content_text" in first:
        del first["content"]
    (refused,) = write_many(agent, [first])
    assert refused["outcome"] == "REJECTED"
    assert write_many(agent, [first])[0] == refused
    assert is_refused(write(agent, **FIRST, request_id=asked), asked)
    kept = "SELECT octet_length(asked_hash) FROM memwarden_data.write_request WHERE request_id = %s"
    assert shared_world.value(kept, asked) == 33


def test_the_id_of_a_waiting_request_answers_for_the_same_content_alone(world: World) -> None:
    """While it waits, and once it is committed.

    Proves: W2, W4
    """
    add_obedient_gate(world)
    agent = world.agent()
    content = answering("DEFER", until_attempt=2)
    asked = new_id(world)
    waiting = write(agent, "semantic", content, request_id=asked)
    assert waiting["outcome"] == "DEFERRED"
    assert write(agent, "semantic", content, request_id=asked) == waiting
    assert is_refused(write(agent, "semantic", COFFEE, request_id=asked), asked)
    run_retries(world)
    later = write(agent, "semantic", content, request_id=asked)
    assert later["outcome"] == "ALREADY_COMMITTED"
    assert is_refused(write(agent, "semantic", COFFEE, request_id=asked), asked)


@pytest.mark.parametrize("has_key", [True, False], ids=["hash kept", "nothing kept"])
def test_the_id_of_an_erased_request_never_acknowledges_another_content(
    world: World, *, has_key: bool
) -> None:
    """Its keyed hash is compared; without one nothing is acknowledged that was perhaps not asked.

    Proves: W4, R1 (request content)
    """
    agent = world.agent()
    asked = new_id(world)
    write(agent, **FIRST, request_id=asked)
    world.admin.execute("SELECT memwarden.erase_subject('Ana', 'a request', org => 'acme')")
    stored = world.value(
        "SELECT octet_length(asked_hash) FROM memwarden_data.write_request WHERE request_id = %s",
        asked,
    )
    assert stored == 33
    if not has_key:
        with world.admin.transaction():
            world.admin.execute("SET LOCAL session_replication_role = replica")
            world.admin.execute("UPDATE memwarden_data.write_request SET asked_hash = NULL")
    same = write(agent, **FIRST, request_id=asked)
    if has_key:
        assert same["outcome"] == "ALREADY_COMMITTED"
    else:
        assert is_refused(same, asked)
    assert is_refused(write(agent, **(FIRST | {"content": COFFEE}), request_id=asked), asked)


def test_a_replay_of_a_redacted_content_is_the_same(world: World) -> None:
    """What was asked is compared, not what was kept of it; and its hash confirms no guess.

    Proves: W4
    """
    world.admin.execute("SELECT memwarden.set_sensitivity_action('redact', kind => 'pii.email')")
    agent = world.agent()
    content = {"text": "Write to ana.zqx@example.org for an offer"}
    other = {"text": "Write to bob.zqx@example.org for an offer"}
    asked = new_id(world)
    assert write(agent, "semantic", content, request_id=asked)["outcome"] == "COMMITTED"
    assert write(agent, "semantic", content, request_id=asked)["outcome"] == "ALREADY_COMMITTED"
    assert is_refused(write(agent, "semantic", other, request_id=asked), asked)
    assert (
        world.value("SELECT min(octet_length(asked_hash)) FROM memwarden_data.write_request") == 33
    )


@pytest.mark.parametrize("layers", [("semantic", "semantic"), ("semantic", "episodic")])
def test_of_two_contents_under_one_id_at_the_same_moment_one_is_refused(
    shared_world: World, home: str, layers: tuple[str, str]
) -> None:
    """One commits; the other is told that the id is used, and is not written.

    Proves: W4
    """
    role = shared_world.register(home)
    asked = new_id(shared_world)
    sessions = [shared_world.connect(role) for _ in layers]
    requests = list(zip(sessions, layers, (TEA, COFFEE), strict=True))
    answers = together(
        [lambda c=c, at=at, t=t: write(c, at, t, request_id=asked) for c, at, t in requests]  # type: ignore[misc]
    )
    done, refused = sorted(answers, key=lambda answer: answer["outcome"])
    assert done["outcome"] == "COMMITTED"
    assert is_refused(refused, asked), refused
