"""A value of another time has a time to live of its own, beside the item's present one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helpers import write
from history.versions.past import Agent

if TYPE_CHECKING:
    from conftest import World

KEY = {"subject": "Ana", "predicate": "lives in"}
THEN: dict[str, Any] = {"valid_from": "2015-01-01Z", "valid_to": "2016-01-01Z"}
ASKED = "SELECT content FROM memwarden.as_of(valid_time => '2015-06-01Z')"


def test_what_was_said_of_the_past_is_not_shown_once_its_time_to_live_is_over(
    shared_world: World, author: Agent
) -> None:
    """What is said of the present stays; and the same may be said of then again.

    Proves: T4, G9 (expiry at read time)
    """
    write(author, "semantic", "Rome", **KEY)
    shown = write(author, "semantic", "Oslo", ttl="40 ms", **KEY, **THEN)
    assert shown["outcome"] == "COMMITTED"
    shared_world.admin.execute("SELECT pg_sleep(0.05)")
    assert author.execute(ASKED).fetchall() == []
    assert [row["content"] for row in author.execute("SELECT content FROM memwarden.as_of()")] == [
        "Rome"
    ]
    again = write(author, "semantic", "Oslo", **KEY, **THEN)
    assert again["outcome"] == "COMMITTED", again
    assert author.execute(ASKED).fetchall() == [{"content": "Oslo"}]
