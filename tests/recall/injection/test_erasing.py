"""What was pushed and is then erased is before nobody any more."""

from __future__ import annotations

from typing import Any

from conftest import World
from helpers import write
from intake.sessions.conftest import note, observe, slots
from operations.erasure.conftest import Desk, holding
from recall.injection.conftest import call, prompt, push, start

GOAL = "order a lunch for the guest"
TERMS: dict[str, Any] = {"threshold": 0}


def lunch(agent: Any, **more: Any) -> Any:
    """A memory about somebody; its words do not name her."""
    row = write(
        agent,
        "semantic",
        {"text": "the guest of the lunch eats no zzqnuts"},
        subject="Petra Zzqova",
        **more,
    )
    assert row["outcome"] == "COMMITTED", row
    return row["item_id"]


def test_nothing_of_it_is_left_in_prompts_pushes_and_logs(world: World) -> None:
    """Words nowhere; of the log of recalls the numbers, by which its readers can be told.

    Proves: R1
    """
    desk = Desk(world)
    agent = desk.agent()
    gone = lunch(agent)
    kept = write(agent, "semantic", {"text": "a lunch takes an hour"}, subject="lunch")["item_id"]
    begun = start(agent, goal=GOAL, **TERMS)
    session = begun["session_id"]
    assert set(begun["item_ids"]) == {gone, kept}
    assert "zzqnuts" in begun["prompt"]
    # What the agent makes of it: it cites it, notes it, and goes by what was noted.
    cited = [{"type": "memory_item", "uri": f"memwarden:item/{gone}"}]
    observe(agent, session, "the cook leaves zzqnuts out", "critical", evidence=cited)
    observe(agent, session, "the cook is in at noon", "critical")
    note(agent, session, "think of the zzqnuts")
    assert [row["item_id"] for row in push(agent, task="zzqnuts")][:1] == [gone]
    assert holding(world, "zzq") >= {"working_memory", "version_hot"}

    done = desk.erase("Petra Zzqova")
    assert (done["status"], done["items"]) == ("COMPLETED", 2)
    assert holding(world, "zzq") == set()
    numbers = holding(world, str(gone))
    assert {name for name in numbers if not name.startswith("recall_log")} <= {
        *("erased_item", "log", "log_entry", "write_request"),
    } | {name for name in numbers if name.startswith(("log_", "write_request_"))}
    logged = world.rows(
        "SELECT task, query_digest FROM memwarden_data.recall_log WHERE item_ids @> %s", [gone]
    )
    assert len(logged) == 2
    assert all(row["task"] is None and row["query_digest"] is None for row in logged)
    assert world.value("SELECT count(*) FROM memwarden_data.pushed_memory") == 0

    now = prompt(agent, session, **TERMS)
    assert now["refreshed"]
    assert (kept in now["item_ids"], gone in now["item_ids"]) == (True, False)
    assert "zzq" not in now["prompt"]
    assert "the cook is in at noon" in now["prompt"]
    assert GOAL in now["prompt"]
    assert call(agent, "search_session", session_id=session, query="zzqnuts cook", k=9) != []
    assert "zzq" not in str(call(agent, "search_session", session_id=session, query="cook", k=9))
    assert desk.findings() == []


def test_a_scratchpad_goes_with_what_it_may_have_been_taken_from(world: World) -> None:
    """Also where what was pushed has been chosen anew since; others' stay.

    Proves: R1 (working memory)
    """
    desk = Desk(world)
    agent = desk.agent()
    lunch(agent)
    given = start(agent, "lunch", goal=GOAL, **TERMS)["session_id"]
    other = start(agent, "boats", goal="paint the boats", max_items=1, threshold=1)["session_id"]
    note(agent, given, "no nuts at all")
    note(agent, other, "blue paint")
    assert prompt(agent, given, refresh=True, threshold=1)["item_ids"] == []
    desk.erase("Petra Zzqova")
    assert holding(world, "no nuts at all") == set()
    assert slots(agent, given)["scratchpad"] == ""
    assert slots(agent, given)["goal"] == GOAL
    assert slots(agent, other)["scratchpad"] == "blue paint"


def test_what_a_later_session_took_up_goes_too(world: World) -> None:
    """A finding that came of it stands in the working memory of who resumed the task.

    Proves: R1 (working memory)
    """
    desk = Desk(world)
    agent = desk.agent()
    gone = lunch(agent)
    first = start(agent, "lunch", goal=GOAL)["session_id"]
    cited = [{"type": "memory_item", "uri": f"memwarden:item/{gone}"}]
    observe(agent, first, "the cook leaves zzqnuts out", "critical", evidence=cited)
    call(agent, "close_session", session_id=first)
    again = start(agent, "lunch")
    assert "zzqnuts" in str(again["resumed"]["findings"])
    assert "zzqnuts" in str(slots(agent, again["session_id"])["observations"])
    desk.erase("Petra Zzqova")
    assert holding(world, "zzq") == set()
    now = prompt(agent, again["session_id"])
    assert "zzq" not in now["prompt"]
    assert GOAL in now["prompt"]
