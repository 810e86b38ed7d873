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

    Proves: Q11
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

    Proves: Q11
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

    Proves: Q11
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


# Who says where he works, and what a memory becomes that cites what was kept of it.
AFTERWARDS = {
    "erased": ("Ana", "Initech in Ghent", {"reported", "disputed"}),
    "disputed": ("Bob", "Globex in Lyon", {"reported"}),
    "expired": ("Cleo", "Hooli in Malmo", {"reported"}),
    "corrected": ("Dov", "Umbrella in Porto", {"reported"}),
    "taken back": ("Eva", "Acme in Turin", {"reported"}),
    "nothing": ("Finn", "Wonka in Bern", {"supported"}),
}
# What becomes of what a registered source bore out, and how that source is registered afterwards.
SOURCES = {
    "kept": ({"authority": 0.95}, {"verified"}),
    "poorer": ({"authority": 0.3}, {"supported", "disputed"}),
    "dropped": (None, {"reported", "disputed"}),
}


def register(store: Shipped, site: str, options: dict[str, Any] | None) -> None:
    """Register a site of the application's, or drop it."""
    where = {"uri_pattern": f"https://{site}.example.org/*", "org": "acme"}
    if options is None:
        call(store.world.admin, "drop_source", **where)
    else:
        issuer = store.application.info.user
        call(store.world.admin, "define_source", **where, type="document", issuer=issuer, **options)


def said_by(store: Shipped, site: str) -> Any:
    """A memory of what the application has read at a site."""
    register(store, site, {"authority": 0.95})
    words = f"The lamp of the {site} hall hangs in Ghent."
    uri = f"https://{site}.example.org/1"
    (row,) = call(store.application, "record_evidence", uri=uri, excerpt=words)
    done = write(store.agent, "semantic", words, evidence=[{"uri": row["record_evidence"]}])
    assert done["outcome"] == "COMMITTED", done
    return done["item_id"]


def alter(store: Shipped, change: str, item_id: Any) -> None:
    """Let happen to a memory what the table above says."""
    admin = store.world.admin
    if change == "erased":
        admin.execute("SET session_replication_role = replica")
        admin.execute("DELETE FROM memwarden_data.item WHERE item_id = %s", (item_id,))
        admin.execute("RESET session_replication_role")
    elif change in ("disputed", "expired"):
        what = "standing = 'disputed'" if change == "disputed" else "expires_at = now()"
        admin.execute(f"UPDATE memwarden_data.item SET {what} WHERE item_id = %s", (item_id,))
    elif change == "corrected":
        heard = store.heard("Dov", "I am a nurse at the hospital of Faro.")
        words = "Dov is a nurse at the hospital of Faro."
        done = write(store.agent, "semantic", words, evidence=[heard], corrects=item_id)
        assert (done["outcome"], done["item_id"]) == ("COMMITTED", item_id)
    elif change == "taken back":
        call(store.agent, "retract", item_id=item_id, reason="wrong")


@pytest.mark.parametrize("job", ["revalidate", "sweep"])
def test_what_rests_on_something_that_changed_is_weighed_again(shipped: Shipped, job: str) -> None:
    """In a store as init leaves it, by the weekly look at all as by that at a sample.

    Proves: Q11
    """
    world, built, basis = shipped.world, {}, {}
    other = world.agent(SCOPE)
    for change, (name, firm, _) in AFTERWARDS.items():
        words = f"{name} works at {firm}."
        heard = shipped.heard(name, f"I work at {firm}.")
        first = write(shipped.agent, "semantic", words, evidence=[heard])
        cited = {"uri": f"memwarden:item/{first['item_id']}"}
        then = write(other, "episodic", words, evidence=[cited])
        assert (first["outcome"], then["outcome"]) == ("COMMITTED", "COMMITTED"), (first, then)
        basis[change], built[change] = first["item_id"], then["item_id"]
    query = "SELECT standing FROM memwarden_data.item WHERE item_id = %s"
    assert {world.value(query, item_id) for item_id in basis.values()} == {"verified"}
    assert {world.value(query, item_id) for item_id in built.values()} == {"supported"}
    sites = {site: said_by(shipped, site) for site in SOURCES}
    assert {world.value(query, item_id) for item_id in sites.values()} == {"verified"}
    for change, item_id in basis.items():
        alter(shipped, change, item_id)
    for site, (options, _) in SOURCES.items():
        register(shipped, site, options)
    if job == "sweep":
        world.admin.execute(
            "UPDATE memwarden_data.sweep SET finished_at = now() - interval '8 days'"
            " WHERE sweep = 'standings'"
        )
    with world.connect("memwarden_jobs") as connection:
        connection.execute(f"CALL memwarden.{job}()")
    for change, (_, _, expected) in AFTERWARDS.items():
        assert world.value(query, built[change]) in expected, change
    for site, (_, expected) in SOURCES.items():
        assert world.value(query, sites[site]) in expected, site
    faults = call(world.admin, "verify_provenance")
    by_hand = {basis[change] for change in ("erased", "disputed", "expired")}
    assert {fault["item_id"] for fault in faults} <= by_hand, faults
