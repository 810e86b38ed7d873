"""explain_recall() tells why recall() answers what it answers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from psycopg import Connection
from psycopg.errors import Error as DatabaseError
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import recall, write

from .conftest import Remember


def explain(connection: Connection[DictRow], **arguments: Any) -> dict[str, list[DictRow]]:
    """Call it as recall() is called; return its rows by step."""
    for name in ("filter", "weights"):
        if name in arguments:
            arguments[name] = Jsonb(arguments[name])
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    rows = connection.execute(f"SELECT * FROM memwarden.explain_recall({named})", arguments)
    steps: dict[str, list[DictRow]] = {}
    for row in rows.fetchall():
        steps.setdefault(row["step"], []).append(row)
    return steps


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_of_each_answer_the_parts_make_the_score(
    reader: Connection[DictRow], remember: Remember, fusion: str
) -> None:
    """The same answers in the same order, each with what its score is made of.

    Proves: L7
    """
    for text in ("green tea", "green boats", "tea in the morning"):
        remember(text)
    asked: dict[str, Any] = {
        "query": "green tea",
        "fusion": fusion,
        "weights": {"relevance": 1, "confidence": 0.3},
    }
    found = recall(reader, **asked)
    answers = [row["facts"] for row in explain(reader, **asked)["answer"]]
    assert [facts["item_id"] for facts in answers] == [str(row["item_id"]) for row in found]
    for facts, row in zip(answers, found, strict=True):
        assert facts["score"] == pytest.approx(row["score"])
        assert {part["part"] for part in facts["parts"]} == {"vector", "keyword", "confidence"}
        if fusion == "weighted":
            total = math.fsum(part["weight"] * part["component"] for part in facts["parts"])
            assert facts["sum"] == pytest.approx(facts["recall_weight"] * total)


def test_it_says_where_it_looked_what_it_left_out_and_how_rare_each_word_is(
    reader: Connection[DictRow], remember: Remember
) -> None:
    """In words for people and numbers for programs.

    Proves: L12
    """
    given = remember("green tea")
    for text in ("tea at noon", "boats", "ships"):
        remember(text)
    steps = explain(reader, query="green tea", threshold=0.1, exclude=[given])
    (left_out,) = steps["left out"]
    assert left_out["facts"] == {"under_threshold": 2, "excluded": 1, "said_by_others": 0}
    (candidates,) = steps["candidates"]
    assert (candidates["facts"]["count"], candidates["facts"]["with_words"]) == (4, 2)
    words = {row["facts"]["word"]: row["facts"] for row in steps["words"]}
    assert {word: facts["frequency"] for word, facts in words.items()} == {"green": 1, "tea": 2}
    assert words["green"]["weight"] > words["tea"]["weight"]
    # What happened is read with its neighbours.
    assert [row["facts"]["weights"]["neighbour"] for row in steps["weights"]] == [0, 0.5]
    assert {row["facts"]["weights"]["time"] for row in steps["weights"]} == {0}
    assert steps["weights"][1]["facts"]["layers"] == ["episodic"]
    for weights in (row["facts"] for row in steps["weights"]):
        assert weights["source"] == "model"
        assert weights["weights"] | {"vector": 0.2, "keyword": 0.8} == weights["weights"]
        assert weights["threshold"] == 0.1
    (time,) = steps["time"]
    assert time["facts"]["answer_ms"] > 0
    assert len(steps["answer"]) == 1


def test_it_tells_of_nothing_that_the_caller_does_not_see(world: World) -> None:
    """Neither in a count nor in how rare a word is; scopes that are hidden are unknown."""
    write(world.agent("/org/acme/user/bo"), "episodic", {"text": "green tea"})
    agent = world.agent("/org/acme/user/ana")
    steps = explain(agent, query="green tea")
    assert steps["candidates"][0]["facts"]["count"] == 0
    assert {row["facts"]["frequency"] for row in steps["words"]} == {0}
    assert "/org/acme/user/bo" not in steps["scopes"][0]["facts"]["scopes"]
    with pytest.raises(DatabaseError) as raised:
        explain(agent, query="green tea", scope="/org/acme/user/bo")
    assert raised.value.sqlstate == "42704"


def test_it_takes_what_recall_takes(world: World) -> None:
    """The same arguments, in the same order, with the same defaults."""
    rows = world.rows(
        "SELECT p.proname, pg_get_function_arguments(p.oid) AS arguments FROM pg_proc AS p"
        " WHERE p.pronamespace = 'memwarden'::regnamespace"
        "   AND p.proname IN ('recall', 'explain_recall')"
    )
    assert len({row["arguments"].split(", step text")[0] for row in rows}) == 1
