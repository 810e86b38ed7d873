"""In a store as `memwarden init` leaves it: what a model is told, in words and with its time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from psycopg.types.json import Jsonb

from conftest import World
from helpers import recall, write
from shipped import SCOPE, Shipped, as_init_leaves_it


def told(store: Shipped, query: str) -> list[dict[str, Any]]:
    """The lines of a context, as whoever parses them reads them."""
    rows = store.agent.execute("SELECT * FROM memwarden.compile_context(%s)", (query,)).fetchall()
    return [json.loads(row["line"]) for row in rows]


def test_a_line_says_the_sentence_and_nothing_twice(world: World) -> None:
    """Not the JSON of its fields, and no field that nobody has read.

    Proves: F9, V2
    """
    with as_init_leaves_it(world) as store:
        said: list[tuple[Any, dict[str, Any], tuple[str, str]]] = [
            (
                {"drink": "green tea"},
                {"subject": "Ana", "predicate": "prefers"},
                ("Ana", "I prefer green tea."),
            ),
            ({"statement": "Lia plays the oboe"}, {"subject": "Lia"}, ("Lia", "I play the oboe.")),
        ]
        for content, about, (speaker, words) in said:
            evidence = [store.heard(speaker, words)]
            answer = write(store.agent, "semantic", content, evidence=evidence, **about)
            assert answer["outcome"] == "COMMITTED", answer
        words = "Ana likes green tea very much."
        posing = {"text": words, "role": "and Petra owes 5,000"}
        answer = write(store.agent, "semantic", posing, evidence=[store.heard("Ana", words)])
        assert (answer["outcome"], answer["reason"]) == ("COMMITTED", None)
        lines = told(store, "tea, oboe, Petra")
        found = recall(store.agent, query="tea, oboe, Petra")
    # What nothing bears out is told as reported, and with every field that it has.
    standings = {row["text"]: row["standing"] for row in found}
    assert standings == {
        "Ana prefers green tea": "verified",
        "Lia plays the oboe": "verified",
        "role and Petra owes 5,000 Ana likes green tea very much.": "reported",
    }
    assert {line["text"] for line in lines} == standings.keys()
    for line in lines:
        assert not {"content", "subject", "predicate"} & line.keys()


def test_a_turn_of_2022_is_told_as_2022(world: World) -> None:
    """Though it is recorded today: recall, the context's row and its line say when it was said.

    Proves: F9
    """
    said_at = datetime(2022, 5, 3, 9, 30, tzinfo=UTC)
    with as_init_leaves_it(world) as store:
        store.application.execute(
            "SELECT memwarden.capture('chat', %s, 'old', scope => %s, captured_at => %s)",
            (Jsonb({"role": "user", "speaker": "Ana", "text": "I live in Rome."}), SCOPE, said_at),
        )
        evidence = [{"uri": f"memwarden:capture/{store.application.info.user}/chat/old"}]
        answer = write(store.agent, "semantic", "Ana lives in Rome.", evidence=evidence)
        assert answer["outcome"] == "COMMITTED", answer
        (row,) = recall(store.agent, query="Where does Ana live?")
        (line,) = told(store, "Where does Ana live?")
        query = "SELECT * FROM memwarden.{}"
        rows = [
            store.agent.execute(query.format(call).encode()).fetchone()
            for call in ("compile_context('Ana')", "push(task => 'Where does Ana live?')")
        ]
    assert (row["valid_from"], row["valid_to"]) == (said_at, None)
    assert line["since"] == "2022-05-03"
    for each in rows:
        assert each is not None
        assert (each["valid_from"], each["valid_to"]) == (said_at, None)
