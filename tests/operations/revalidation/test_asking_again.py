"""The weekly sweep asks the verifiers that there are, about evidence as it is today."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from access import call
from helpers import recall, write
from memwarden.worker import PluginError, Verdict
from shipped import SCOPE
from write.worker.desk import jobs, run_worker
from write.worker.test_asking_afterwards import Desk
from write.worker.test_plugins import Odd

if TYPE_CHECKING:
    from psycopg.rows import DictRow

    from conftest import World
    from shipped import Shipped


def revalidate(world: World) -> None:
    """Run the weekly job once."""
    with world.connect("memwarden_jobs") as job:
        job.execute("CALL memwarden.revalidate()")


def last_sweep(world: World, layer: str) -> DictRow:
    """What the last sweep of a layer found, as the view tells."""
    (row,) = world.rows(
        "SELECT * FROM memwarden.revalidations WHERE layer = %s AND sampled > 0"
        " ORDER BY begun_at DESC LIMIT 1",
        layer,
    )
    return row


def run_plugin(world: World, answers: dict[str, float | None]) -> None:
    """Have a real worker answer what is asked: by a word of the claim, a score; none is a no."""

    def read(payload: Any, _: Any) -> Verdict:
        for word, score in answers.items():
            if word in payload["claim"]:
                return Verdict("reject", score=0.1) if score is None else Verdict("accept", score)
        raise PluginError("I know nothing of this", permanent=True)

    run_worker(world, world.role("memwarden_worker"), [Odd("reader", read)])


@pytest.mark.every_version
def test_a_verifier_that_says_no_today_counts_and_lowers(shipped: Shipped) -> None:
    """In a store as init leaves it: asked again, answered by a worker, lowered, counted, shown.

    Proves: Q8
    """
    world, turns = shipped.world, ["I moved to Rome last year.", "My brother plays the cello."]
    claims = ["Ana lives in Rome.", "Ana has a brother who plays an instrument."]
    for turn, claim in zip(turns, claims, strict=True):
        done = write(shipped.agent, "semantic", claim, evidence=[shipped.heard("Ana", turn)])
        assert done["outcome"] == "COMMITTED"
    told = {row["content"]: row["standing"] for row in recall(shipped.agent, query="Ana")}
    assert told == dict.fromkeys(claims, "reported")
    call(world.admin, "require_verifier", layer="semantic", purpose="verify", plugin="reader")
    world.admin.execute("CALL memwarden.sweep()")
    run_plugin(world, {"Rome": 0.9, "brother": 0.9})
    told = {row["content"]: row["standing"] for row in recall(shipped.agent, query="Ana")}
    assert told == dict.fromkeys(claims, "supported")
    revalidate(world)
    found = last_sweep(world, "semantic")
    assert (found["asked"], found["answered"], found["found_false"]) == (2, 0, 0)
    run_plugin(world, {"Rome": None, "brother": 0.85})
    found = last_sweep(world, "semantic")
    assert (found["asked"], found["answered"], found["found_false"]) == (2, 2, 1)
    assert found["threshold_raised_by"] is not None
    told = {row["content"]: row["standing"] for row in recall(shipped.agent, query="Ana")}
    assert told == dict(zip(claims, ("reported", "supported"), strict=True))
    (leaked,) = world.rows("SELECT * FROM memwarden.leaked_memories")
    assert leaked["reason"] == "VERIFICATION_FAILED"
    assert call(world.admin, "verify_provenance") == []
    # And back: what a verifier reads otherwise next time is no longer counted.
    revalidate(world)
    run_plugin(world, {"Rome": 0.95, "brother": 0.85})
    told = {row["content"]: row["standing"] for row in recall(shipped.agent, query="Ana")}
    assert told == dict.fromkeys(claims, "supported")
    assert last_sweep(world, "semantic")["found_false"] == 0


def status_of(world: World) -> str | None:
    """What status() says of verifiers that do not answer."""
    rows = world.rows("SELECT * FROM memwarden.status() WHERE component = 'revalidation'")
    return rows[0]["detail"] if rows else None


@pytest.fixture
def desk(world: World) -> Desk:
    """An organisation whose semantic layer asks for no score."""
    return Desk(world)


def test_nobody_waits_for_an_answer_and_status_says_that_none_comes(desk: Desk) -> None:
    """The sweep is over before; after a day it is told. An answer that is late counts nothing.

    Proves: Q8
    """
    item = desk.said()
    desk.require()
    revalidate(desk.world)
    assert last_sweep(desk.world, "semantic")["asked"] == 1
    assert status_of(desk.world) is None
    desk.world.admin.execute(
        "UPDATE memwarden_data.revalidation SET finished_at = now() - interval '25 hours'"
    )
    assert "about 1 memories" in str(status_of(desk.world))
    desk.world.admin.execute("UPDATE memwarden_data.job SET deadline = now() - interval '1 s'")
    revalidate(desk.world)
    assert len(jobs(desk.world, desk.plugin)) == 1
    assert desk.standing(item) == "reported"


def test_questions_are_bounded_and_two_runs_ask_once(desk: Desk) -> None:
    """However many runs there are at once, and again after one was killed.

    Proves: Q8
    """
    items = [desk.said(number) for number in range(6)]
    desk.require()
    with desk.world.connect("memwarden_jobs", autocommit=False) as killed:
        killed.execute("SELECT memwarden_internal.revalidate_step('draw ', now())")
        killed.execute("SELECT memwarden_internal.revalidate_step('judge ', now())")
        killed.rollback()
    assert jobs(desk.world, desk.plugin) == []
    threads = [threading.Thread(target=revalidate, args=(desk.world,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(jobs(desk.world, desk.plugin)) == len(items)
    desk.world.admin.execute(
        "DELETE FROM memwarden_data.job; INSERT INTO memwarden_data.job (org_id, request_id,"
        " purpose, plugin, part, job_id, created_at, run_at, deadline, afterwards)"
        " SELECT 1, gen_random_uuid(), 'verify', 'other', 1, gen_random_uuid(), now(), now(),"
        " now() + interval '1 hour', true FROM generate_series(1, 998)"
    )
    revalidate(desk.world)
    assert len(jobs(desk.world, desk.plugin)) == 2
    assert last_sweep(desk.world, "semantic")["asked"] == 2


# What a memory becomes that cites another one.
AFTERWARDS = {
    "erased": ("reported", "disputed"),
    "disputed": ("reported",),
    "taken back": ("reported",),
    "nothing": ("supported",),
}


@pytest.mark.parametrize("change", AFTERWARDS)
@pytest.mark.parametrize("job", ["revalidate", "sweep"])
def test_what_rests_on_something_that_changed_is_weighed_again(
    shipped: Shipped, change: str, job: str
) -> None:
    """In a store as init leaves it, by the weekly look at all as by that at a sample.

    Proves: Q8
    """
    world = shipped.world
    heard = shipped.heard("Ana", "I work at Initech in Ghent.")
    words = "Ana works at Initech in Ghent."
    basis = write(shipped.agent, "semantic", words, evidence=[heard])
    other = world.agent(SCOPE)
    cited = {"uri": f"memwarden:item/{basis['item_id']}"}
    built = write(other, "episodic", words, evidence=[cited])
    assert (basis["outcome"], built["outcome"]) == ("COMMITTED", "COMMITTED"), (basis, built)

    def standing(answer: DictRow) -> str:
        return str(
            world.value(
                "SELECT standing FROM memwarden_data.item WHERE item_id = %s", answer["item_id"]
            )
        )

    assert (standing(basis), standing(built)) == ("verified", "supported")
    if change == "erased":
        with world.connect() as eraser:
            eraser.execute("SET session_replication_role = replica")
            eraser.execute(
                "DELETE FROM memwarden_data.item WHERE item_id = %s", (basis["item_id"],)
            )
            eraser.execute("RESET session_replication_role")
    elif change == "disputed":
        world.admin.execute(
            "UPDATE memwarden_data.item SET standing = 'disputed' WHERE item_id = %s",
            (basis["item_id"],),
        )
    elif change == "taken back":
        call(shipped.agent, "retract", item_id=basis["item_id"], reason="wrong")
    if job == "sweep":
        world.admin.execute(
            "UPDATE memwarden_data.sweep SET finished_at = now() - interval '8 days'"
            " WHERE sweep = 'standings'"
        )
    with world.connect("memwarden_jobs") as connection:
        connection.execute(f"CALL memwarden.{job}()")
    assert standing(built) in AFTERWARDS[change]
    if change in ("taken back", "nothing"):
        assert call(world.admin, "verify_provenance") == []
