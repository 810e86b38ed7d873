"""What is reported is handed to the verifiers there are, after it was stored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row

import stored
from access import call
from helpers import recall, write
from memwarden.worker import PluginError, Verdict
from shipped import Shipped, as_init_leaves_it
from write.evidence.conftest import Office, cite
from write.worker.desk import claim, complete, fail, jobs, new_plugin, require, run_worker
from write.worker.test_plugins import Odd

if TYPE_CHECKING:
    from conftest import World

SAID = "The lamp of the hall is about nine feet tall, more or less."
CLAIM = "The lamp in the hall has a height of nine feet."


class Desk(Office):
    """An organisation that stores what is unclear, in a database of its own."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.source("chat:*", "document", issuer=self.broker_name)
        self.worker_role = world.role("memwarden_worker")
        self.worker = world.connect(self.worker_role)
        self.plugin = new_plugin()

    def said(self, number: int = 1, *, quoted: bool = False, **more: Any) -> UUID:
        """Store a claim that words on record, or a quote, may bear out."""
        words = SAID.replace("lamp", f"lamp {number}")
        cited = cite("chat:1", words) if quoted else cite(self.record(words))
        done = self.write(CLAIM.replace("lamp", f"lamp {number}"), cited, **more)
        assert done["outcome"] == "COMMITTED", done
        item: UUID = done["item_id"]
        return item

    def require(self, **more: Any) -> None:
        """Register the verifier."""
        require(self.world, self.plugin, **({"purpose": "verify", "org": self.org} | more))

    def sweep(self, batch: int = 1000) -> None:
        """Run the job once."""
        with self.world.connect("memwarden_jobs") as connection:
            connection.execute(f"CALL memwarden.sweep({batch})")

    def claimed(self) -> list[DictRow]:
        """Take all questions there are."""
        return claim(self.worker, self.plugin)

    def standing(self, item: UUID) -> str:
        """The standing of a memory in its head."""
        found = self.world.value(
            "SELECT standing FROM memwarden_data.item WHERE item_id = %s", item
        )
        return str(found)

    def record_of(self, item: UUID) -> dict[str, Any]:
        """The last record of a memory."""
        (row,) = self.world.rows(
            "SELECT record FROM memwarden_data.whole_provenance WHERE item_id = %s"
            " ORDER BY provenance_id DESC LIMIT 1",
            item,
        )
        record: dict[str, Any] = row["record"]
        return record


@pytest.fixture
def desk(world: World) -> Desk:
    """An organisation whose semantic layer asks for no score."""
    return Desk(world)


@pytest.mark.every_version
def test_a_verifier_that_came_later_is_asked_once(desk: Desk) -> None:
    """About words on record: borne out by it they support. A quote that only its writer has seen.

    Proves: V3, N7
    """
    held, quoted = desk.said(), desk.said(2, quoted=True)
    assert (desk.standing(held), desk.standing(quoted)) == ("reported", "reported")
    desk.sweep()
    desk.require(settings={"least": 0.5})
    assert desk.claimed() == []
    desk.sweep()
    asked = desk.claimed()
    assert [job["settings"] for job in asked] == [{"least": 0.5}] * 2
    payload = asked[0]["payload"]
    assert payload["claim"] == CLAIM.replace("lamp", "lamp 1")
    assert [e["excerpt"] for e in payload["evidence"]] == [SAID.replace("lamp", "lamp 1")]
    for job in asked:
        assert complete(desk.worker, job, score=0.95, version="3")
    assert (desk.standing(held), desk.standing(quoted)) == ("supported", "reported")
    record = desk.record_of(held)
    verdict = {"verifier": desk.plugin, "version": "3", "score": 0.95, "looked": False}
    assert record["verified_by"] == [verdict]
    assert (record["evidence"][0]["support"], record["evidence"][0]["by_rules"]) == (0.95, 0)
    assert record["fact_score"] == pytest.approx(0.95, abs=1e-3)
    # Neither of them is asked about again, also after all questions have been forgotten.
    desk.world.admin.execute("DELETE FROM memwarden_data.job; DELETE FROM memwarden_data.verdict")
    desk.require()
    desk.sweep()
    assert desk.claimed() == []
    assert call(desk.world.admin, "verify_provenance") == []
    stored.check(desk.world.admin)
    call(desk.world.admin, "rebuild_heads", replace=True)
    assert (desk.standing(held), desk.standing(quoted)) == ("supported", "reported")


def test_one_that_looks_at_the_source_verifies_and_a_no_changes_nothing(desk: Desk) -> None:
    """However sure the no is. Proves: V3, N7."""
    yes, no = desk.said(1, quoted=True), desk.said(2, quoted=True)
    desk.plugin = "retrieval"
    desk.require()
    desk.sweep()
    for job in desk.claimed():
        decision = "accept" if "lamp 1" in job["payload"]["claim"] else "reject"
        complete(desk.worker, job, decision, score=0.99)
    assert (desk.standing(yes), desk.standing(no)) == ("verified", "reported")
    assert desk.record_of(no)["verified_by"][0]["score"] == 0


def test_those_of_the_write_and_those_that_came_later_count_together(desk: Desk) -> None:
    """The first was sure and the second is not: their mean supports nothing.

    Proves: V3
    """
    desk.require(on_timeout="reject")
    first = desk.write(CLAIM, cite(desk.record(SAID)))
    assert first["reason"] == "AWAITING_VERDICT"
    (job,) = desk.claimed()
    complete(desk.worker, job, score=0.79)
    item = desk.world.value("SELECT item_id FROM memwarden_data.item")
    assert desk.standing(item) == "reported"
    desk.plugin, before = new_plugin(), desk.plugin
    desk.require()
    desk.sweep()
    (job,) = desk.claimed()
    complete(desk.worker, job, score=0.9)
    assert desk.standing(item) == "supported"
    record = desk.record_of(item)
    assert {verdict["verifier"] for verdict in record["verified_by"]} == {before, desk.plugin}
    assert record["evidence"][0]["support"] == pytest.approx(0.845)
    assert record["evidence"][0]["by_rules"] == 0


def test_all_verdicts_of_a_quorum_are_waited_for(desk: Desk) -> None:
    """Given at once by two workers, or one of them never. Proves: V3."""
    item = desk.said()
    desk.require(quorum=3)
    desk.sweep()
    asked = desk.claimed()
    assert len(asked) == 3
    fail(desk.worker, asked[0], permanent=True)
    assert desk.standing(item) == "reported"
    barrier = threading.Barrier(2)

    def give(job: DictRow) -> None:
        with desk.world.connect(desk.worker_role) as worker:
            barrier.wait()
            assert complete(worker, job, score=0.9)

    threads = [threading.Thread(target=give, args=(job,)) for job in asked[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert desk.standing(item) == "supported"
    assert len(desk.record_of(item)["verified_by"]) == 2


def test_what_a_write_waits_for_comes_first(desk: Desk) -> None:
    """Proves: V3."""
    for number in range(5):
        desk.said(number)
    desk.require()
    desk.sweep()
    waits = desk.write(CLAIM, cite(desk.record(SAID)))
    assert waits["reason"] == "AWAITING_VERDICT"
    first, *_ = claim(desk.worker, desk.plugin, max_jobs=1)
    assert first["request_id"] == waits["request_id"]


def test_a_thousand_questions_are_open_at_most(desk: Desk) -> None:
    """The next are asked when these are answered; a job that is killed leaves nothing undone.

    Proves: V3
    """
    items = [desk.said(number) for number in range(12)]
    # A plug-in with a quorum of nine: 108 questions, of which 990 others leave room for few.
    desk.world.admin.execute(
        "INSERT INTO memwarden_data.job (org_id, request_id, purpose, plugin, part, job_id,"
        " created_at, run_at, deadline, afterwards) SELECT 1, gen_random_uuid(), 'verify', 'other',"
        " 1, gen_random_uuid(), now(), now(), now() + interval '1 hour', true"
        " FROM generate_series(1, 980)"
    )
    desk.require(quorum=9)
    with desk.world.connect("memwarden_jobs", autocommit=False) as killed:
        killed.execute("SELECT memwarden_internal.sweep_next('verdicts', 100)")
        killed.rollback()
    assert jobs(desk.world, desk.plugin) == []
    desk.sweep(5)
    assert len(jobs(desk.world, desk.plugin)) == 27
    desk.sweep(5)
    assert len(jobs(desk.world, desk.plugin)) == 27
    desk.world.admin.execute("DELETE FROM memwarden_data.job WHERE plugin = 'other'")
    desk.sweep(5)
    assert len(jobs(desk.world, desk.plugin)) == 9 * len(items)


def test_what_nobody_answered_in_a_day_is_asked_again(desk: Desk) -> None:
    """And an administrator restarts what was set aside. Proves: V3."""
    item = desk.said()
    desk.require()
    desk.sweep()
    (job,) = desk.claimed()
    past = "UPDATE memwarden_data.job SET deadline = now() - interval '1 second'"
    desk.world.admin.execute(past)
    desk.require()
    desk.sweep()
    (again,) = jobs(desk.world, desk.plugin)
    assert (again["state"], again["job_id"] == job["job_id"]) == ("ready", False)
    assert not complete(desk.worker, job, score=1)
    fail(desk.worker, desk.claimed()[0], permanent=True)
    desk.sweep()
    assert desk.claimed() == []
    (dead,) = desk.world.rows("SELECT * FROM memwarden.dead_jobs")
    call(desk.world.admin, "revive_job", job_id=dead["job_id"])
    (third,) = desk.claimed()
    complete(desk.worker, third, score=1)
    assert desk.standing(item) == "supported"


@pytest.mark.parametrize("end", ["retracted", "corrected", "erased"])
def test_a_verdict_about_what_is_over_is_lost(desk: Desk, end: str) -> None:
    """Nothing of it is left where the memory is erased. Proves: V3."""
    item = desk.said(subject="the lamp")
    desk.require()
    desk.sweep()
    (job,) = desk.claimed()
    if end == "retracted":
        call(desk.writer, "retract", item_id=item, reason="wrong")
    elif end == "corrected":
        done = write(desk.writer, "semantic", "The lamp is green.", corrects=item)
        assert done["reason"] == "AWAITING_VERDICT", done
        (own,) = desk.claimed()
        complete(desk.worker, own, score=1)
    else:
        call(desk.world.admin, "erase_subject", subject="the lamp", reason="asked", org=desk.org)
        assert jobs(desk.world, desk.plugin) == []
    assert complete(desk.worker, job, score=1) == (end != "erased")
    told = "SELECT count(*) FROM memwarden_data.provenance WHERE event = 'STANDING'"
    assert desk.world.value(told) == 0


def test_who_may_not_cannot_ask_or_answer(desk: Desk) -> None:
    """An agent has no way to a verdict about its own memory. Proves: V3."""
    desk.said()
    desk.require()
    desk.sweep()
    (job,) = jobs(desk.world, desk.plugin)
    for statement in (
        f"SELECT memwarden.claim_jobs('one', ARRAY['{desk.plugin}'])",
        f"SELECT memwarden.complete_job('{job['job_id']}', 'one', '{{}}')",
        "SELECT memwarden_internal.ask_afterwards(1, gen_random_uuid(), now())",
        "SELECT memwarden_internal.settle_verdicts(1, gen_random_uuid(), 'x', now())",
        "SELECT memwarden_internal.sweep_next('verdicts', 10)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            desk.writer.execute(statement)


@pytest.fixture
def opened(world: World) -> Iterator[tuple[Shipped, Connection[DictRow], str]]:
    """A store as init leaves it, its superuser, and how that one connects."""
    with as_init_leaves_it(world) as store:
        dsn = make_conninfo(world.dsn, dbname=store.agent.info.dbname)
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as admin:
            yield store, admin, dsn


def test_in_a_store_as_init_leaves_it_a_worker_supports_what_people_said(
    world: World, opened: tuple[Shipped, Connection[DictRow], str]
) -> None:
    """What is told in other words is reported, and supported once a worker has read it.

    Proves: V3, N7
    """
    store, admin, dsn = opened
    turns = ["I moved to Rome last year.", "My brother plays the cello."]
    claims = ["Ana lives in Rome.", "Ana has a brother who plays an instrument."]
    for turn, claim_ in zip(turns, claims, strict=True):
        answer = write(store.agent, "episodic", claim_, evidence=[store.heard("Ana", turn)])
        assert answer["outcome"] == "COMMITTED", answer

    def told() -> dict[str, str]:
        found = recall(store.agent, query="Ana", k=10)
        return {row["content"]: row["standing"] for row in found}

    assert told() == dict.fromkeys(claims, "reported")
    call(admin, "require_verifier", layer="episodic", purpose="verify", plugin="reader")
    admin.execute("CALL memwarden.sweep()")

    def read(payload: Any, _: Any) -> Verdict:
        if "Rome" not in payload["claim"]:
            raise PluginError("I do not know music", permanent=True)
        assert payload["evidence"][0]["excerpt"] == turns[0]
        return Verdict("accept", score=0.9)

    role = world.role("memwarden_worker")
    run_worker(cast("World", SimpleNamespace(dsn=dsn)), role, [Odd("reader", read)])
    assert told() == {claims[0]: "supported", claims[1]: "reported"}
