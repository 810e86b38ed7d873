"""Content that cannot be kept is refused: too large, no JSON, not canonical, too deep, empty."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.rows import DictRow

from helpers import write, write_many

if TYPE_CHECKING:
    from conftest import World

LIMIT = 1_048_576


def errors(answer: DictRow) -> list[str]:
    """The codes of all violations."""
    return [error["code"] for error in answer["detail"]["errors"]]


@pytest.mark.parametrize("letter", ["x", "\U0001f9e0"])
def test_content_is_admitted_up_to_a_mebibyte_of_utf8(
    agent: psycopg.Connection[DictRow], room: str, letter: str
) -> None:
    """The limit counts bytes, not characters: exactly 1 MiB commits, a byte more does not.

    Proves: V1
    """
    size = len(letter.encode())
    length = LIMIT - len('""')
    most = letter * (length // size) + "x" * (length % size)
    whole = write(agent, "semantic", most, scope=room)
    assert whole["outcome"] == "COMMITTED"
    rows = agent.execute("SELECT content FROM memwarden.get(%s)", (whole["item_id"],)).fetchall()
    assert rows[0]["content"] == most
    for request in ({"content": most + "x"}, {"content_text": json.dumps(most + "x")}):
        answer = write_many(agent, [{"layer": "semantic"} | request])[0]
        assert (answer["outcome"], answer["reason"]) == ("REJECTED", "CONTENT_TOO_LARGE")
    assert write(agent, "semantic", most + "x")["reason"] == "CONTENT_TOO_LARGE"


def test_the_limit_of_content_is_the_layers(world: World) -> None:
    """An administrator sets it, in bytes of UTF-8.

    Proves: V1
    """
    agent = world.agent()
    world.admin.execute(
        "UPDATE memwarden_data.layer SET max_content_bytes = 10 WHERE layer = 'semantic'"
    )
    assert write(agent, "semantic", "12345678")["outcome"] == "COMMITTED"
    assert write(agent, "semantic", "123456789")["reason"] == "CONTENT_TOO_LARGE"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "INVALID_JSON"),
        ("{", "INVALID_JSON"),
        ("{'a': 1}", "INVALID_JSON"),
        ('{"a": 1,}', "INVALID_JSON"),
        ("01", "INVALID_JSON"),
        ("1 2", "INVALID_JSON"),
        ('"\t"', "INVALID_JSON"),
        ("NaN", "NOT_CANONICAL"),
        ('{"a": -Infinity}', "NOT_CANONICAL"),
        ("1e999", "NOT_CANONICAL"),
        ("9007199254740992", "NOT_CANONICAL"),
        ("-" + "9" * 5000, "NOT_CANONICAL"),
        ('{"a": 1, "\\u0061": 2}', "NOT_CANONICAL"),
        ('"\\ud800 alone"', "NOT_CANONICAL"),
        ('{"\\udfff": 1}', "NOT_CANONICAL"),
        ('"a \\u0000 b"', "NOT_CANONICAL"),
        ('{"\\u0000": 1}', "NOT_CANONICAL"),
        ("[" * 100_000, "CONTENT_TOO_DEEP"),
        ('{"a":' * 65 + "1" + "}" * 65, "CONTENT_TOO_DEEP"),
        ("null", "CONTENT_EMPTY"),
        ('""', "CONTENT_EMPTY"),
        ('{"a": null, "b": {"c": ""}}', "CONTENT_EMPTY"),
        ('" \\u200b\\ufeff\\u00ad\\n"', "CONTENT_EMPTY"),
    ],
)
def test_content_that_is_no_content_is_refused(
    agent: psycopg.Connection[DictRow], room: str, text: str, reason: str
) -> None:
    """In a layer of either kind, with the violation named and nothing of the content quoted.

    Proves: V1
    """
    layers = ("semantic", "working")
    requests = [{"layer": layer, "scope": room, "content_text": text} for layer in layers]
    for answer in write_many(agent, requests):
        assert (answer["outcome"], answer["reason"]) == ("REJECTED", reason)
        assert errors(answer) == [reason]


@pytest.mark.parametrize("text", ["0", "-0.0", "false", "9007199254740991", "[0]", '"…"', "1e-400"])
def test_little_is_not_nothing(agent: psycopg.Connection[DictRow], room: str, text: str) -> None:
    """Zero, false and a lone sign are something to remember; 2^53 - 1 is still exact.

    Proves: V1
    """
    request = {"layer": "semantic", "scope": room, "content_text": text}
    assert write_many(agent, [request])[0]["outcome"] == "COMMITTED"
