"""In a store as `memwarden init` leaves it: each speaker's facts are that speaker's alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from intake.capture.conftest import capture, extract
from shipped import Shipped


def lives(shipped: Shipped, *contents: Any) -> dict[str, Any]:
    """Where who lives, by the memories that are made of captures."""
    for content in contents:
        capture(shipped.agent, content)
    answers = [row for row in extract(shipped.agent) if row["request_id"]]
    assert {row["outcome"] for row in answers} <= {"COMMITTED"}, answers
    items = shipped.agent.execute("SELECT subject, predicate, content FROM memwarden.items")
    return {row["subject"]: row["content"] for row in items if row["predicate"] == "lives in"}


@pytest.mark.every_version
def test_two_speakers_are_two(shipped: Shipped) -> None:
    """By id, by name and id, and by the lines of a transcript; a machine or a heading is none.

    Proves: F2
    """
    slack = {"type": "message", "ts": "1.2"}
    ana = {"id": "53", "username": "ana", "global_name": "Ana"}
    found = lives(
        shipped,
        slack | {"user": "U0A1", "text": "I live in Ghent."},
        slack | {"user": "U0B2", "text": "I live in Malmo."},
        {"id": "1", "type": 0, "content": "I live in Rome.", "author": ana},
        {"id": "2", "type": 0, "content": "I live in Oslo.", "author": ana | {"id": "54"}},
        "Ben: I live in Kobe\nCy: I live in Pisa",
        {"role": "assistant", "content": "I live in the cloud."},
        {"text": "I live in Bonn."},
        {"role": "user", "content": "I live in New\nYork"},
        {"role": "user", "content": "Update: I live in Lyon\nReason: I live in Nice"},
    )
    assert found == {
        "U0A1": "Ghent",
        "U0B2": "Malmo",
        "Ana <53>": "Rome",
        "Ana <54>": "Oslo",
        "Ben": "Kobe",
        "Cy": "Pisa",
    }
    texts = shipped.agent.execute("SELECT text FROM memwarden.items").fetchall()
    assert {"U0A1 lives in Ghent", "Ana lives in Oslo"} <= {row["text"] for row in texts}
    # Each rests on the words of its own speaker.
    cited = shipped.world.rows(
        "SELECT subject, evidence #>> '{0,recorded,speaker}' AS speaker FROM memwarden_data.version"
    )
    told = {row["subject"]: row["speaker"] for row in cited}
    assert told["U0B2"] == "U0B2"
    assert told["Ana <54>"] == "Ana <54>"


def test_the_user_by_either_name_is_one(shipped: Shipped) -> None:
    """Whichever extractor names "the user". Proves: F2."""
    made = {"role": "user", "content": "The user prefers Rust for services."}
    capture(shipped.agent, made | {"content": "The user works at Acme."})
    shipped.world.admin.execute(
        "SELECT memwarden.define_extractor('model', method => 'plugin', plugin => 'p',"
        " layer => 'episodic')"
    )
    number = capture(shipped.agent, made)
    named = ("user", "User", "the User", "THE  USER", "The user of the lift")
    given = [{"subject": name, "content": f"likes tea {n}"} for n, name in enumerate(named)]
    shipped.agent.execute(
        "SELECT FROM memwarden.submit_candidates(%s, 'model', 1, %s)", (number, json.dumps(given))
    )
    assert [row["outcome"] for row in extract(shipped.agent)] == ["COMMITTED"] * 2
    asked = "SELECT subject, count(*) AS n FROM memwarden.items GROUP BY 1 ORDER BY 1"
    found = {row["subject"]: row["n"] for row in shipped.agent.execute(asked)}
    assert found == {"The user of the lift": 1, "user": 6}


def test_an_id_says_who_somebody_is_whatever_the_name(shipped: Shipped) -> None:
    """Another name replaces nothing of another person, and an erasure by id leaves none of it.

    Proves: F2
    """
    author, turn = {"id": "535", "global_name": "Ana"}, {"id": "1", "type": 0}
    other = {"id": "546", "global_name": "Ana"}
    found = lives(
        shipped,
        turn | {"content": "I live in Rome.", "author": author},
        turn | {"content": "I live in Oslo.", "author": other},
        turn | {"content": "I live in Pisa.", "author": author | {"global_name": "Anna S"}},
        turn | {"content": "Hello", "author": author},
    )
    assert found == {"Anna S <535>": "Pisa", "Ana <546>": "Oslo"}
    for name in ("535", "Ana <535>"):
        row = shipped.agent.execute(
            "SELECT content FROM memwarden.recall(subject => %s, predicate => 'lives in')", (name,)
        ).fetchone()
        assert row is not None
        assert row["content"] == "Pisa"
    admin = shipped.world.admin
    held = admin.execute(
        "SELECT * FROM memwarden.hold('a case', subject => 'id:535', org => 'acme')"
    ).fetchone()
    assert held is not None
    assert held["items"] == 1
    admin.execute("SELECT memwarden.lift_hold(%s, 'over')", (held["hold_id"],))
    admin.execute("SELECT memwarden.erase_subject('id:535', 'asked', org => 'acme')")
    assert lives(shipped) == {"Ana <546>": "Oslo"}
    kept = shipped.world.rows("SELECT content #>> '{author,id}' AS id FROM memwarden_data.capture")
    assert [row["id"] for row in kept] == ["546"]
