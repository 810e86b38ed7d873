"""expire(): what was right and is no longer needed ends before its time."""

from __future__ import annotations

from uuid import uuid4

import pytest

from access import call, state
from conftest import World
from helpers import recall, write
from history.versions.past import KEY, Agent, cites, history, now, say
from history.versions.past import state as stands
from scope_calls import get, remember


def test_it_is_not_recalled_and_not_forgotten(
    shared_world: World, author: Agent, curator: Agent
) -> None:
    """History keeps it with the reason; the key is free; nothing turns stale.

    Proves: T2, G5, G4 (force-expire)
    """
    item = say(author, "Lund")["item_id"]
    resting = say(author, "a town", subject="Lund", evidence=cites(item))["item_id"]
    call(curator, "expire", item_id=item, reason="moved out")
    assert stands(shared_world, item)[0] == get(author, item)["status"] == "EXPIRED"
    row = history(author, item)[0]
    told = (row["operation"], row["status"], row["reason"], row["actor"])
    assert told == ("EXPIRE", "EXPIRED", "moved out", curator.info.user)
    assert [row["item_id"] for row in recall(author)] == [resting]
    assert not get(author, resting)["stale"]
    assert say(author, "Oslo")["item_id"] != item
    assert row["recorded_at"] <= now(shared_world)


@pytest.mark.parametrize("status", ["RETRACTED", "EXPIRED", "SUPERSEDED"])
def test_what_has_ended_does_not_end_again(home: str, curator: Agent, status: str) -> None:
    """42704, as for what is not there.

    Proves: T2, Z10 (nothing there)
    """
    item, other = remember(curator, home, 1), remember(curator, home, 2)
    ends = {
        "RETRACTED": lambda: call(curator, "retract", item_id=item, reason="r"),
        "EXPIRED": lambda: call(curator, "expire", item_id=item, reason="r"),
        "SUPERSEDED": lambda: call(curator, "merge", item_id=other, absorbed=item, reason="r"),
    }
    ends[status]()
    for function in ("expire", "retract"):
        assert state(curator, function, item_id=item, reason="r") == "42704"
    assert state(curator, "expire", item_id=uuid4(), reason="r") == "42704"


def test_who_may(shared_world: World, home: str, author: Agent, curator: Agent) -> None:
    """DELETE, as retract(): its writer, and who may end what others wrote; a reason is given.

    Proves: T2, A1
    """
    item = remember(author, home, 1)
    assert state(shared_world.agent(home), "expire", item_id=item, reason="r") == "42501"
    for reason in (None, " ", "r" * 1001):
        assert state(curator, "expire", item_id=item, reason=reason) == "22023"
    orchestrator = shared_world.agent(home, role="orchestrator")
    call(orchestrator, "expire", item_id=item, reason="r")
    call(author, "expire", item_id=remember(author, home, 2), reason="r")
    assert write(author, "semantic", 1, **KEY)["outcome"] == "COMMITTED"
