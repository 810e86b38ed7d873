"""Many requests in one call: order kept, each its own outcome, a bad one harms no other."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import DictRow

from helpers import write, write_many
from races import wait_until_blocked
from write.gates.obedient import add_obedient_gate, answering

if TYPE_CHECKING:
    from conftest import World


def episode(number: int, **arguments: Any) -> dict[str, Any]:
    """A request for the episodic layer, different for every number."""
    return {"layer": "episodic", "content": {"text": f"on day {number} it rained"}} | arguments


def outcomes(answers: list[DictRow]) -> list[str]:
    """Outcome and, where there is one, reason."""
    return [" ".join(filter(None, (a["outcome"], a["reason"]))) for a in answers]


BAD: dict[str, tuple[Any, str]] = {
    "no object": (5, "INVALID_ARGUMENT"),
    "null": (None, "INVALID_ARGUMENT"),
    "an array": ([episode(99)], "INVALID_ARGUMENT"),
    "nothing": ({}, "UNKNOWN_LAYER"),
    "no content": ({"layer": "episodic"}, "CONTENT_EMPTY"),
    "no JSON": ({"layer": "episodic", "content_text": "{bad"}, "INVALID_JSON"),
    "a number that is a word": (episode(99, confidence="x"), "INVALID_ARGUMENT"),
    "a number too large": (episode(99, importance="1e999"), "INVALID_ARGUMENT"),
    "an embedding of words": (episode(99, embedding=["a"]), "INVALID_ARGUMENT"),
    "a time that is none": (episode(99, deadline="soon"), "INVALID_ARGUMENT"),
    "an interval that is none": (episode(99, ttl="a while"), "INVALID_ARGUMENT"),
    "an id that is none": (episode(99, request_id="1"), "INVALID_ARGUMENT"),
    "a foreign id": (episode(99, request_id=str(uuid.UUID(int=9))), "INVALID_REQUEST_ID"),
    "NUL in a name": (episode(99, subject="a\0b"), "INVALID_ARGUMENT"),
    "half a surrogate in a name": (episode(99, subject="\ud800"), "INVALID_ARGUMENT"),
    "NUL in a layer": ({"layer": "a\0b", "content": 1}, "INVALID_ARGUMENT"),
    "NUL in an argument's name": (episode(99, **{"a\0b": 1}), "INVALID_ARGUMENT"),
    "NUL in content": ({"layer": "episodic", "content": {"a": "\0"}}, "INVALID_ARGUMENT"),
    "NUL in its text": ({"layer": "episodic", "content_text": '"a\\u0000b"'}, "NOT_CANONICAL"),
    "half a surrogate in content": (episode(9, content="\ud800"), "INVALID_ARGUMENT"),
    "half a surrogate in its text": (
        {"layer": "episodic", "content_text": '"\\ud800"'},
        "NOT_CANONICAL",
    ),
    "an unknown argument": (episode(99, confidance=1, ttls=2), "UNKNOWN_ARGUMENT"),
    "a gate that raises": (episode(99, content=answering(**{"raise": "P0001"})), "GATE_FAULT"),
    "a gate that divides by zero": (
        episode(99, content=answering(**{"raise": "22012"})),
        "GATE_FAULT",
    ),
    "a gate that asserts": (episode(99, content=answering(None, **{"assert": True})), "GATE_FAULT"),
}


@pytest.fixture(scope="module")
def ready(shared_world: World) -> World:
    """A world with a gate that raises on demand."""
    add_obedient_gate(shared_world)
    return shared_world


@pytest.mark.parametrize("case", BAD)
@pytest.mark.usefixtures("ready")
def test_a_bad_request_is_recorded_and_its_neighbours_commit(
    agent: psycopg.Connection[DictRow], room: str, case: str
) -> None:
    """First, in the middle, and last in its batch: five commit, three are refused with the reason.

    Proves: W2, W8
    """
    bad, reason = BAD[case]
    good = [episode(number, scope=room) for number in range(5)]
    answers = write_many(agent, [bad, *good[:2], bad, *good[2:], bad])
    assert [answer["ordinal"] for answer in answers] == list(range(8))
    expected = ["COMMITTED"] * 8
    expected[0] = expected[3] = expected[7] = f"REJECTED {reason}"
    assert outcomes(answers) == expected
    recorded = {
        row["request_id"]: " ".join(filter(None, (row["outcome"], row["reason"])))
        for row in agent.execute("SELECT request_id, outcome, reason FROM memwarden.requests")
    }
    assert [recorded[answer["request_id"]] for answer in answers] == expected
    assert len({answer["request_id"] for answer in answers}) == 8


def test_answers_come_in_the_order_of_the_requests(ready: World, home: str) -> None:
    """Ordinals count from 0, each answer names the item of its own request, in time order.

    Proves: W8
    """
    agent = ready.agent(home)
    requests = [episode(number) for number in range(200)]
    answers = write_many(agent, requests)
    assert [answer["ordinal"] for answer in answers] == list(range(200))
    stored = {
        row["version_id"]: row
        for row in ready.rows("SELECT version_id, content FROM memwarden_data.version")
    }
    assert [stored[answer["version_id"]]["content"] for answer in answers] == [
        request["content"] for request in requests
    ]
    log = ready.rows("SELECT version_id FROM memwarden_data.log ORDER BY log_seq")
    committed = [answer["version_id"] for answer in answers]
    assert [row["version_id"] for row in log if row["version_id"] in committed] == committed


def test_a_batch_is_decided_as_its_requests_would_be_one_by_one(ready: World, home: str) -> None:
    """Each request meets what the ones before it in the same batch have written.

    Proves: W4, W8, D1, D5
    """
    agent, single = ready.agent(home), ready.agent(f"/org/{uuid.uuid4().hex[:12]}")
    key = {"layer": "semantic", "subject": "Ana", "predicate": "prefers"}
    requests: list[dict[str, Any]] = [
        key | {"content": "tea"},
        key | {"content": "tea"},
        key | {"content": "TEA.", "idempotency_key": "k"},
        key | {"content": "coffee"},
        key | {"content": "tea"},
        key | {"content": "water", "confidence": 9},
        key | {"content": "water", "deadline": "2020-01-01"},
        key | {"content": "milk", "idempotency_key": "k2"},
        key | {"content": "juice", "idempotency_key": "k2"},
        {"layer": "semantic", "content": "nothing else"},
    ]
    in_batch = outcomes(write_many(agent, requests))
    one_by_one = outcomes([write(single, **request) for request in requests])
    assert (
        in_batch
        == one_by_one
        == [
            "COMMITTED",
            "ALREADY_COMMITTED",
            "REJECTED STRUCTURAL_DUPLICATE",
            "COMMITTED REPLACED",
            "COMMITTED REPLACED",
            "REJECTED CONFIDENCE_OUT_OF_RANGE",
            "DEADLINE_EXCEEDED DEADLINE_PASSED",
            "COMMITTED REPLACED",
            "REJECTED IDEMPOTENCY_KEY_REUSED",
            "COMMITTED",
        ]
    )


def test_a_request_id_twice_in_a_batch_is_one_write(ready: World, home: str) -> None:
    """The second answers with the first, also when a bad row makes the batch run in halves.

    Proves: W4, W8
    """
    agent = ready.agent(home)
    ids = [str(ready.value("SELECT memwarden_internal.uuid7()")) for _ in range(3)]
    requests: list[Any] = [episode(n, request_id=ids[n % 3]) for n in (0, 1, 0, 2, 1, 0)]
    first = write_many(agent, [*requests[:4], 5, *requests[4:]])
    assert outcomes(first) == [
        "COMMITTED",
        "COMMITTED",
        "ALREADY_COMMITTED",
        "COMMITTED",
        "REJECTED INVALID_ARGUMENT",
        "ALREADY_COMMITTED",
        "ALREADY_COMMITTED",
    ]
    again = write_many(agent, requests)
    assert outcomes(again) == ["ALREADY_COMMITTED"] * 6
    versions = {answer["request_id"]: answer["version_id"] for answer in first[:4]}
    for answer in [*first[5:], *again]:
        assert answer["version_id"] == versions[answer["request_id"]]


def test_an_empty_batch_answers_nothing(ready: World, home: str) -> None:
    """No request, no row, no record.

    Proves: W8
    """
    agent = ready.agent(home)
    assert write_many(agent, []) == []
    assert agent.execute("SELECT FROM memwarden.requests").fetchall() == []


@pytest.mark.parametrize("value", ["{}", "null", '"[]"', "7", None])
def test_what_is_no_array_is_misuse(ready: World, home: str, value: str | None) -> None:
    """22023 with a hint: there is no request that could be recorded.

    Proves: W8
    """
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        ready.agent(home).execute("SELECT * FROM memwarden.write_many(%s::json)", (value,))
    assert caught.value.diag.message_hint


@pytest.mark.parametrize(("requests", "told"), [(1_000, []), (2_500, [1_000, 2_000])])
def test_a_long_batch_tells_how_far_it_is(
    ready: World, home: str, requests: int, told: list[int]
) -> None:
    """One notice after each thousand but the last; a batch of a thousand is quiet.

    Proves: W8
    """
    agent = ready.agent(home)
    heard: list[str] = []
    agent.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
    answers = write_many(agent, [{} for _ in range(requests)])
    assert [answer["ordinal"] for answer in answers] == list(range(requests))
    assert heard == [f"write_many(): {n} of {requests} requests are decided" for n in told]


def test_the_notice_comes_while_the_batch_is_at_work(ready: World, home: str) -> None:
    """The second thousand waits for another's request id, and the first is told already.

    Proves: W8
    """
    role = ready.register(home)
    agent, other = ready.connect(role), ready.connect(role, autocommit=False)
    asked = ready.value("SELECT memwarden_internal.uuid7()")
    write(other, "episodic", "first", request_id=asked)
    heard: list[str] = []
    agent.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
    last = {"layer": "working", "content": "second", "request_id": str(asked)}
    with ThreadPoolExecutor(1) as pool:
        batch = pool.submit(write_many, agent, [{}] * 1_000 + [last])
        wait_until_blocked(ready.admin, agent)
        while not heard:
            assert not batch.done()
        other.rollback()
        answers = batch.result(60)
    assert outcomes(answers[-1:]) == ["COMMITTED"]


def test_one_bad_request_among_ten_thousand_costs_only_itself(world: World) -> None:
    """9,999 commit, one is recorded as refused.

    Proves: W8
    """
    agent = world.agent()
    requests = [
        # An index of vectors that are all the same would take most of the time.
        {"layer": "episodic", "content": n, "embedding": [1, n, n % 7], "embedding_model": "tiny"}
        for n in range(10_000)
    ]
    world.admin.execute("SELECT memwarden.register_embedding_model('tiny', 3)")
    # What is planned for empty tables walks all that is there, until autovacuum has come by.
    write_many(agent, [{"layer": "episodic", "content": f"before {n}"} for n in range(300)])
    world.admin.execute("ANALYZE")
    requests[6_789]["confidence"] = "very"
    answers = write_many(agent, requests)
    assert [answer["ordinal"] for answer in answers] == list(range(10_000))
    assert [a["ordinal"] for a in answers if a["outcome"] != "COMMITTED"] == [6_789]
    assert outcomes(answers[6_789:6_790]) == ["REJECTED INVALID_ARGUMENT"]
    for table, rows in (("write_request", 10_300), ("item", 10_299), ("version", 10_299)):
        assert world.value(f"SELECT count(*) FROM memwarden_data.{table}") == rows
