"""How the requests of a batch are read: the same alone and among others, whatever is wrong."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import DictRow

from helpers import write_many

if TYPE_CHECKING:
    from conftest import World

Agent = psycopg.Connection[DictRow]
REST = ", ".join(["0.05"] * 383)
EMBEDDINGS = {
    "numbers": (f"[1, {REST}]", None),
    "a zero": (f"[0.0, {REST}]", None),
    "nothing but zeros": (f"[{', '.join(['0'] * 384)}]", "EMBEDDING_OUT_OF_RANGE"),
    "hardly a number": (f"[1e-45, {REST}]", None),
    "too small for a number": (f"[1e-50, {REST}]", "INVALID_ARGUMENT"),
    "too small, written out": (f"[-0.{'0' * 60}1, {REST}]", "INVALID_ARGUMENT"),
    "too large for a number": (f"[1e39, {REST}]", "INVALID_ARGUMENT"),
    "too large to compare": (f"[65504.5, {REST}]", "EMBEDDING_OUT_OF_RANGE"),
    "null inside": (f"[null, {REST}]", "EMBEDDING_OUT_OF_RANGE"),
    "a number as a word": (f'["1", {REST}]', None),
    "a word": (f'["one", {REST}]', "INVALID_ARGUMENT"),
    "NaN": (f'["NaN", {REST}]', "EMBEDDING_OUT_OF_RANGE"),
    "true": (f"[true, {REST}]", "INVALID_ARGUMENT"),
    "one too few": (f"[{REST}]", "EMBEDDING_DIMENSION"),
    "one too many": (f"[1, 1, {REST}]", "EMBEDDING_DIMENSION"),
    "far too many": (f"[{', '.join(['1'] * 17_000)}]", "EMBEDDING_DIMENSION"),
    "none": ("[]", "MULTIPLE_VIOLATIONS"),
    "a table": (f"[[1, {REST}]]", "EMBEDDING_DIMENSION"),
    "lists of different length": (f"[[1], [{REST}]]", "INVALID_ARGUMENT"),
    "an array in a text": (f'"{{1, {REST}}}"', None),
    "a vector in a text": (f'"[1, {REST}]"', "INVALID_ARGUMENT"),
    "an object": ('{"a": 1}', "INVALID_ARGUMENT"),
    "no list": ("5", "INVALID_ARGUMENT"),
    "null": ("null", None),
}


def said(answers: list[DictRow]) -> list[str]:
    """The reasons, and the outcome where there is none."""
    return [str(answer["reason"] or answer["outcome"]) for answer in answers]


def episode(room: str, **arguments: Any) -> dict[str, Any]:
    """A request that differs from every other."""
    return {
        "layer": "episodic",
        "scope": room,
        "content": {"text": f"it rained {uuid.uuid4().hex}"},
    } | arguments


def send(agent: Agent, room: str, *embeddings: str) -> list[DictRow]:
    """One request each, with the embedding as it is written."""
    marks = {f'"mark {n}"': embedding for n, embedding in enumerate(embeddings)}
    text = json.dumps([episode(room, embedding=mark.strip('"')) for mark in marks])
    for mark, embedding in marks.items():
        text = text.replace(mark, embedding)
    return agent.execute("SELECT * FROM memwarden.write_many(%s::json)", (text,)).fetchall()


@pytest.mark.parametrize("case", EMBEDDINGS)
def test_an_embedding_is_read_alike_alone_and_among_others(
    shared_world: World, agent: Agent, room: str, case: str
) -> None:
    """What is kept, or why it is refused; its neighbours are not concerned.

    Proves: V1, W8
    """
    embedding, reason = EMBEDDINGS[case]
    usual = EMBEDDINGS["numbers"][0]
    alone = send(agent, room, embedding)
    among = send(agent, room, usual, embedding, usual)
    assert said(alone) == [reason or "COMMITTED"]
    assert said(among) == ["COMMITTED", reason or "COMMITTED", "COMMITTED"]
    assert alone[0]["detail"] == among[1]["detail"]
    if reason is None and embedding != "null":
        number = embedding.strip('"[{').split(",")[0].strip('"')
        kept = shared_world.rows(
            "SELECT e.embedding::real[] = x.given::halfvec::real[] AS same"
            "  FROM memwarden_data.embedding AS e,"
            "       (SELECT ARRAY[%s::real] || array_fill(0.05::real, ARRAY[383]) AS given) AS x"
            " WHERE e.item_id = ANY (%s)",
            number,
            [alone[0]["item_id"], among[1]["item_id"]],
        )
        assert [row["same"] for row in kept] == [True, True]


def test_what_cannot_be_read_is_recorded_under_its_id(agent: Agent, room: str) -> None:
    """A current id is kept and answers again; a foreign one is not, and nothing else is said.

    Proves: W4, W8
    """
    row = agent.execute("SELECT memwarden.write('working', '1') AS made").fetchone()
    assert row is not None
    own = str(uuid.UUID(int=uuid.UUID(row["made"].split(",")[0].strip("(")).int ^ 1))
    foreign = str(uuid.UUID(int=9))
    requests = [
        episode(room, request_id=own, ttl="a while"),
        episode(room, request_id=foreign, ttl="a while"),
        episode(room, request_id=own),
        episode(room, request_id=foreign, confidance=1),
        episode(room, confidance=1),
    ]
    answers = write_many(agent, requests)
    assert said(answers) == [
        "INVALID_ARGUMENT",
        "INVALID_ARGUMENT",
        "INVALID_ARGUMENT",
        "INVALID_REQUEST_ID",
        "UNKNOWN_ARGUMENT",
    ]
    ids = [str(answer["request_id"]) for answer in answers]
    assert ids[0] == ids[2] == own
    assert foreign not in ids
    assert said(write_many(agent, requests[:1])) == ["INVALID_ARGUMENT"]


def test_nobody_says_what_is_wrong_with_his_own_request(agent: Agent, room: str) -> None:
    """Names of the engine's own are no arguments.

    Proves: V1, W8, Z1
    """
    claims = {"fault": "GATE_FAULT x", "permit_held": True, "admitted": True, "numbers": [1]}
    answers = write_many(
        agent, [episode(room), *(episode(room, **{name: claims[name]}) for name in claims)]
    )
    assert said(answers) == ["COMMITTED"] + ["UNKNOWN_ARGUMENT"] * len(claims)
    broken = episode(room, fault="GATE_FAULT x", ttl="a while")
    assert said(write_many(agent, [broken, episode(room)])) == ["INVALID_ARGUMENT", "COMMITTED"]
