"""An erasure of somebody who is held waits, says for what, and is carried out afterwards."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from operations.erasure.conftest import cites, holding, remember

if TYPE_CHECKING:
    from operations.keeping.conftest import Office


@pytest.mark.parametrize("what", ["item", "subject", "scope", "texts"])
def test_an_erasure_waits_for_a_hold(office: Office, what: str) -> None:
    """Nothing goes; the list says which hold blocks it; once lifted, the job erases it all.

    Proves: Z5 (erasure requests are queued and reported as blocked), R1
    """
    agent = office.agent()
    word = f"Zz{office.org}"
    item = remember(agent, {"note": f"{word} likes tea"}, subject=word, predicate="likes")
    remember(agent, {"note": "in Rome"}, subject=word, predicate="lives in", layer="episodic")
    named: dict[str, dict[str, Any]] = {
        "item": {"item_id": item},
        "subject": {"subject": word},
        "scope": {"scope": office.home},
        "texts": {"texts": [word]},
    }
    hold = office.hold(**named[what])
    assert office.erase(word, word, dry_run=True)["status"] == "BLOCKED"
    asked = office.erase(word, word)
    assert (asked["status"], asked["items"], asked["erased_at"]) == ("BLOCKED", 2, None)
    assert office.erase(word, word)["erasure_id"] == asked["erasure_id"]
    [row] = office.erasures()
    assert (row["status"], row["blocked_by"], row["signature"]) == ("BLOCKED", [hold], None)
    assert row["login_role"] == "postgres"
    (line,) = office.world.rows(
        "SELECT state, detail FROM memwarden.status() WHERE component = 'legal holds'"
    )
    assert line["state"] == "warning"
    assert "erasures wait for them" in line["detail"]
    office.run_job()
    assert {"item", "version_hot"} <= holding(office.world, word)
    office.lift(hold)
    office.run_job()
    office.run_job()
    [row] = office.erasures()
    assert (row["status"], row["erasure_id"]) == ("COMPLETED", asked["erasure_id"])
    assert (row["items"], row["signature"]) == (2, "GENUINE")
    assert holding(office.world, word) == set()
    assert office.findings() == []


def test_a_second_hold_goes_on_blocking(office: Office) -> None:
    """Set before or after the first is lifted; the list names the one that blocks now.

    Proves: Z5
    """
    agent = office.agent()
    item = remember(agent, "tea", subject="Fay", predicate="likes")
    first = office.hold(item_id=item)
    asked = office.erase("Fay")
    second = office.hold(subject="Fay")
    office.lift(first)
    office.run_job()
    [row] = office.erasures()
    assert (row["status"], row["blocked_by"]) == ("BLOCKED", [second])
    office.lift(second)
    assert office.erase("Fay")["erasure_id"] == asked["erasure_id"]
    assert [row["status"] for row in office.erasures()] == ["COMPLETED"]


def test_what_was_made_of_a_person_blocks_too(office: Office) -> None:
    """A held memory of somebody else's that rests on one of theirs would go with it.

    Proves: Z5
    """
    agent = office.agent()
    source = remember(agent, "tea", subject="Gus", predicate="likes")
    derived = remember(
        agent, "tea is liked", subject="tea", predicate="popularity", evidence=cites(source)
    )
    hold = office.hold(item_id=derived)
    office.erase("Gus")
    [row] = office.erasures()
    assert row["blocked_by"] == [hold]


def test_others_are_erased_meanwhile(office: Office) -> None:
    """A hold on one person blocks no other, and none of another organisation.

    Proves: Z5
    """
    agent = office.agent()
    for name in ("Hal", "Ida"):
        remember(agent, "tea", subject=name, predicate="likes")
    office.hold(subject="Hal")
    assert office.erase("Ida")["status"] == "COMPLETED"
    elsewhere = type(office)(office.world)
    remember(elsewhere.agent(), "tea", subject="Hal", predicate="likes")
    assert elsewhere.erase("Hal")["status"] == "COMPLETED"


def test_a_hold_that_is_set_meanwhile_is_seen(office: Office) -> None:
    """A deletion that has begun ends before the hold is set; none begins after it.

    Proves: Z5 (no gap between the two)
    """
    agent = office.agent()
    first, second = remember(agent, "tea"), remember(agent, "coffee")
    for item in (first, second):
        office.expire(agent, item)
    deleter, holder = office.world.connect(autocommit=False), office.world.connect()
    deleter.execute(
        "SELECT memwarden_internal.delete_for_good(%s, %s, 'old')", (office.org_id, [first])
    )
    done = threading.Event()

    def hold() -> None:
        """Set a hold while the deletion is open."""
        holder.execute(
            "SELECT memwarden.hold('case', scope => %s, org => %s)", (office.home, office.org)
        )
        done.set()

    thread = threading.Thread(target=hold)
    thread.start()
    waits = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND pid = %s"
    while not office.world.value(waits, holder.info.backend_pid):
        assert not done.is_set()
    deleter.commit()
    thread.join(30)
    assert done.is_set()
    assert office.collect(second, cause="RETENTION") == set()


def test_two_runs_at_once_erase_once(office: Office) -> None:
    """The second finds nothing to do; a run that was killed has done nothing.

    Proves: Z5 (safe to run twice and to kill)
    """
    agent = office.agent()
    remember(agent, "tea", subject="Jo", predicate="likes")
    hold = office.hold(subject="Jo")
    asked = office.erase("Jo")
    office.lift(hold)
    killed = office.world.connect(autocommit=False)
    killed.execute("SELECT memwarden_internal.carry_out_next_blocked(NULL)")
    killed.rollback()
    assert [row["status"] for row in office.erasures()] == ["BLOCKED"]
    runs = [
        threading.Thread(
            target=office.world.connect().execute, args=("CALL memwarden.enforce_consent()",)
        )
        for _ in range(2)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join(30)
    rows = office.erasures()
    assert [(row["status"], row["erasure_id"]) for row in rows] == [
        ("COMPLETED", asked["erasure_id"])
    ]
