"""A deadline already past writes nothing; one that passes while the request waits ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helpers import write
from write.gates.obedient import add_obedient_gate, answering, run_retries

if TYPE_CHECKING:
    from conftest import World

TEXT = {"text": "Ana prefers green tea"}


@pytest.mark.parametrize(
    "deadline", ["now", "yesterday", "1970-01-01", "0044-03-15 BC", "-infinity"]
)
def test_a_passed_deadline_writes_nothing(shared_world: World, home: str, deadline: str) -> None:
    """DEADLINE_EXCEEDED, recorded; no item, no version, and the content is free for another try.

    Proves: W5
    """
    agent = shared_world.agent(home)
    answer = write(agent, "semantic", TEXT, deadline=deadline)
    assert (answer["outcome"], answer["reason"], answer["gate"]) == (
        "DEADLINE_EXCEEDED",
        "DEADLINE_PASSED",
        "15_deadline",
    )
    assert (answer["item_id"], answer["version_id"]) == (None, None)
    assert agent.execute("SELECT FROM memwarden.items").fetchall() == []
    assert write(agent, "semantic", TEXT)["outcome"] == "COMMITTED"


@pytest.mark.parametrize("deadline", ["tomorrow", "294276-12-31", "infinity"])
def test_a_deadline_ahead_changes_nothing(shared_world: World, home: str, deadline: str) -> None:
    """However far it lies ahead.

    Proves: W5
    """
    assert write(shared_world.agent(home), "semantic", TEXT, deadline=deadline)["outcome"] == (
        "COMMITTED"
    )


def test_a_replay_after_the_deadline_still_answers_with_the_commit(
    shared_world: World, home: str
) -> None:
    """Who asks whether a write succeeded learns it, however late: idempotency comes first.

    Proves: W4, W5
    """
    agent = shared_world.agent(home)
    write(agent, "semantic", TEXT, deadline="tomorrow")
    assert write(agent, "semantic", TEXT, deadline="yesterday")["outcome"] == "ALREADY_COMMITTED"


def test_a_deadline_that_passes_while_the_request_waits_ends_it(world: World) -> None:
    """The retry answers DEADLINE_EXCEEDED and commits nothing, though its gate would now accept.

    Proves: W2, W5
    """
    add_obedient_gate(world)
    agent = world.agent()
    content = answering("DEFER", until_attempt=2)
    waiting = write(agent, "semantic", content, deadline="tomorrow")
    assert waiting["outcome"] == "DEFERRED"
    world.admin.execute("UPDATE memwarden_data.write_request SET deadline = now()")
    run_retries(world)
    told = agent.execute("SELECT * FROM memwarden.request_status(%s)", (waiting["request_id"],))
    row = told.fetchall()[0]
    assert (row["outcome"], row["attempt"], row["retry_after"]) == ("DEADLINE_EXCEEDED", 2, None)
    assert agent.execute("SELECT FROM memwarden.items").fetchall() == []
