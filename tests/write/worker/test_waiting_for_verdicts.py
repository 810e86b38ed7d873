"""A write waits for what plug-ins say of it, and is decided when the last has spoken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write, write_many
from races import together
from write.gates.obedient import make_due, run_retries
from write.worker.desk import claim, complete, jobs, new_plugin, request, require

if TYPE_CHECKING:
    from conftest import World

TEXT = {"text": "Ana prefers green tea"}


def test_a_write_waits_for_its_verdict_and_commits_with_it(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """The worker's call itself sends the request on, in the name of who asked.

    Proves: W9, V3
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org, settings={"a": 1})
    asked = write(agent, "semantic", TEXT, subject="Ana", predicate="prefers")
    assert (asked["outcome"], asked["reason"], asked["gate"]) == (
        "DEFERRED",
        "AWAITING_VERDICT",
        "45_external",
    )
    assert asked["retry_after"] is not None
    [job] = claim(worker, plugin)
    assert (job["org"], job["purpose"], job["settings"]) == (org, "gate", {"a": 1})
    assert job["payload"]["content"] == TEXT
    assert job["payload"]["subject"] == "Ana"
    assert complete(worker, job, version="7", score=1)
    done = agent.execute(
        "SELECT * FROM memwarden.request_status(%s)", (asked["request_id"],)
    ).fetchone()
    assert done is not None
    assert (done["outcome"], done["attempt"]) == ("COMMITTED", 2)
    [left] = jobs(shared_world, plugin)
    assert (left["state"], left["payload"]) == ("done", None)


def test_a_service_that_rejects_is_quoted(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """The writer learns who refused, and the reason that was given for it; nothing else.

    Proves: W9
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org)
    asked = write(agent, "semantic", TEXT)
    [job] = claim(worker, plugin)
    assert complete(worker, job, "reject", detail={"reason": "not on Sundays", "more": "x"})
    row = request(shared_world, asked)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "EXTERNAL_REJECT")
    assert row["detail"] == {"plugin": plugin, "reason": "not on Sundays"}


def test_all_of_a_quorum_have_to_speak(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """Three parts, three jobs; the third verdict decides, at once.

    Proves: V3
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org, quorum=3)
    asked = write(agent, "semantic", TEXT)
    claimed = claim(worker, plugin)
    assert sorted((job["part"], job["quorum"]) for job in claimed) == [(1, 3), (2, 3), (3, 3)]
    for job in claimed:
        assert request(shared_world, asked)["outcome"] == "DEFERRED"
        assert complete(worker, job)
    assert request(shared_world, asked)["outcome"] == "COMMITTED"


def test_of_the_last_two_verdicts_at_once_one_decides(
    shared_world: World, worker_role: str, agent: Connection[DictRow], org: str
) -> None:
    """Neither takes the other's for missing, whoever is first.

    Proves: W9
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org, quorum=2)
    workers = [shared_world.connect(worker_role) for _ in range(2)]
    for turn in range(8):
        asked = write(agent, "semantic", {"text": f"thing number {turn}"})
        held = [
            (each, claim(each, plugin, name=str(at), max_jobs=1)[0], str(at))
            for at, each in enumerate(workers)
        ]
        answers = together(
            [
                lambda each=each, job=job, name=name: complete(each, job, name=name)  # type: ignore[misc]
                for each, job, name in held
            ]
        )
        assert answers == [True, True]
        row = request(shared_world, asked)
        assert (row["outcome"], row["attempt"]) == ("COMMITTED", 2)


def test_a_verdict_and_a_retry_at_once_do_not_wait_for_each_other(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """Each locks the request first: no deadlock, one decision, whoever is first.

    Proves: W9
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org)
    retrying = shared_world.connect("memwarden_jobs")
    for turn in range(8):
        asked = write(agent, "semantic", {"text": f"thing number {turn}"})
        [job] = claim(worker, plugin)
        make_due(shared_world)
        done = together(
            [
                lambda job=job: complete(worker, job),  # type: ignore[misc]
                lambda: bool(retrying.execute("CALL memwarden.retry_deferred()")),
            ]
        )
        assert done == [True, True]
        assert request(shared_world, asked)["outcome"] == "COMMITTED"
    assert [each["state"] for each in jobs(shared_world, plugin)] == ["done"] * 8


def test_nobody_waits_longer_than_the_patience(
    shared_world: World, agent: Connection[DictRow], org: str
) -> None:
    """Then it is refused, or goes on without, as the layer was told; the question is gone.

    Proves: W9, V3
    """
    strict, lenient = new_plugin(), new_plugin()
    require(shared_world, strict, org=org, layer="semantic")
    require(shared_world, lenient, org=org, layer="procedural", on_timeout="accept")
    refused = write(agent, "semantic", TEXT)
    passed = write(agent, "procedural", TEXT)
    shared_world.admin.execute(
        "UPDATE memwarden_data.job SET deadline = now() WHERE plugin = ANY (%s)",
        ([strict, lenient],),
    )
    run_retries(shared_world)
    row = request(shared_world, refused)
    assert (row["outcome"], row["reason"], row["gate"]) == (
        "REJECTED",
        "VERDICT_TIMEOUT",
        "45_external",
    )
    assert request(shared_world, passed)["outcome"] == "COMMITTED"
    assert jobs(shared_world, strict) + jobs(shared_world, lenient) == []


def test_a_retry_that_comes_too_early_changes_nothing(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """No question is asked twice, and the worker that has it goes on.

    Proves: W2, W9
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org)
    asked = write(agent, "semantic", TEXT)
    [job] = claim(worker, plugin)
    run_retries(shared_world)
    assert request(shared_world, asked)["reason"] == "AWAITING_VERDICT"
    assert [each["job_id"] for each in jobs(shared_world, plugin)] == [job["job_id"]]
    assert complete(worker, job)
    assert request(shared_world, asked)["outcome"] == "COMMITTED"


def test_defer_asks_again_later(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """It counts neither as an attempt of the job nor as one of the request.

    Proves: W9
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org)
    asked = write(agent, "semantic", TEXT)
    [job] = claim(worker, plugin)
    assert complete(worker, job, "defer", retry_after=120)
    [stored] = jobs(shared_world, plugin)
    assert (stored["state"], stored["attempts"]) == ("ready", 0)
    assert shared_world.value(
        "SELECT run_at BETWEEN now() + '100 seconds' AND now() + '130 seconds'"
        "  FROM memwarden_data.job WHERE plugin = %s",
        plugin,
    )
    assert claim(worker, plugin) == []
    shared_world.admin.execute(
        "UPDATE memwarden_data.job SET run_at = now() WHERE plugin = %s", (plugin,)
    )
    [again] = claim(worker, plugin)
    assert (again["job_id"], again["payload"]["content"]) == (job["job_id"], TEXT)
    assert complete(worker, again)
    row = request(shared_world, asked)
    assert (row["outcome"], row["attempt"]) == ("COMMITTED", 2)


def test_a_request_that_is_decided_leaves_no_question_behind(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """Its jobs are gone, a verdict that comes late is not taken, details of others are emptied.

    Proves: W9
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org, quorum=3)
    asked = write(agent, "semantic", TEXT)
    first, second = claim(worker, plugin, max_jobs=2)
    assert complete(worker, first, detail={"quotes": "Ana prefers"})
    shared_world.admin.execute(
        "UPDATE memwarden_data.principal SET disabled_at = now() WHERE principal_id ="
        " (SELECT principal_id FROM memwarden_data.write_request WHERE request_id = %s)",
        (asked["request_id"],),
    )
    run_retries(shared_world)
    assert request(shared_world, asked)["reason"] == "PRINCIPAL_DISABLED"
    assert [each["state"] for each in jobs(shared_world, plugin)] == ["done"]
    assert not complete(worker, second)
    verdicts = shared_world.rows(
        "SELECT part, detail FROM memwarden_data.verdict WHERE plugin = %s", plugin
    )
    assert verdicts == [{"part": first["part"], "detail": {}}]
    assert "prefers" not in str(shared_world.rows("SELECT * FROM memwarden_data.job"))


def test_an_organisation_has_its_own_word_on_a_plug_in(
    shared_world: World, agent: Connection[DictRow], org: str
) -> None:
    """Its row counts in place of that for all; released, that for all counts again.

    Proves: V3
    """
    plugin = new_plugin()
    require(shared_world, plugin, layer="durable", quorum=1)
    require(shared_world, plugin, layer="durable", quorum=3, org=org)
    try:
        write(agent, "durable", TEXT)
        assert len(jobs(shared_world, plugin)) == 3
        shared_world.admin.execute(
            "SELECT memwarden.release_verifier('durable', 'gate', %s, %s)", (plugin, org)
        )
        write(agent, "durable", {"text": "Ana prefers black coffee"})
        assert len(jobs(shared_world, plugin)) == 4
    finally:
        shared_world.admin.execute(
            "SELECT memwarden.release_verifier('durable', 'gate', %s)", (plugin,)
        )
    done = write(agent, "durable", {"text": "Ana prefers water"})
    assert done["outcome"] == "COMMITTED"


def test_one_message_leaves_a_transaction_however_many_jobs_it_makes(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """And none, where nobody is to be asked.

    Proves: W9
    """
    require(shared_world, new_plugin(), org=org, quorum=2)
    worker.execute("LISTEN memwarden_job")
    assert write(agent, "episodic", TEXT)["outcome"] == "COMMITTED"
    batch = [{"layer": "semantic", "content": {"text": f"thing number {n}"}} for n in range(5)]
    answers = write_many(agent, batch)
    assert {answer["reason"] for answer in answers} == {"AWAITING_VERDICT"}
    heard = [(each.channel, each.payload) for each in worker.notifies(timeout=0.2)]
    assert heard == [("memwarden_job", "")]


@pytest.mark.parametrize(
    "options",
    [
        {"purpose": "guess"},
        {"plugin": "No Such Name"},
        {"quorum": 0},
        {"quorum": 10},
        {"patience": "0 seconds"},
        {"patience": "8 days"},
        {"on_timeout": "wait"},
        {"settings": []},
        {"settings": {"x": "y" * 16384}},
        {"layer": "working"},
        {"layer": "none"},
        {"org": "nobody"},
    ],
)
def test_a_verifier_is_set_as_it_can_be(shared_world: World, options: dict[str, object]) -> None:
    """Everything else is refused by SQLSTATE.

    Proves: V3
    """
    arguments = {"plugin": "p", "org": None} | options
    with pytest.raises(psycopg.Error) as caught:
        require(shared_world, **arguments)  # type: ignore[arg-type]
    assert caught.value.sqlstate in ("22023", "42704")
    with pytest.raises(psycopg.errors.UndefinedObject):
        shared_world.admin.execute("SELECT memwarden.release_verifier('semantic', 'gate', 'p')")


def test_what_is_over_is_kept_for_a_month(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """Then delete_old_records() deletes jobs and verdicts.

    Proves: W9
    """
    old, young = new_plugin(), new_plugin()
    require(shared_world, old, org=org)
    require(shared_world, young, org=org)
    write(agent, "semantic", TEXT)
    for plugin in (old, young):
        [job] = claim(worker, plugin)
        complete(worker, job)
    for table, column in (("job", "finished_at"), ("verdict", "given_at")):
        shared_world.admin.execute(
            f"UPDATE memwarden_data.{table} SET {column} = now() - interval '31 days'"
            " WHERE plugin = %s",
            (old,),
        )
    shared_world.connect("memwarden_jobs").execute("CALL memwarden.delete_old_records()")
    for table in ("job", "verdict"):
        kept = shared_world.rows(
            f"SELECT plugin FROM memwarden_data.{table} WHERE plugin = ANY (%s)", [old, young]
        )
        assert kept == [{"plugin": young}]


def test_a_waiting_request_is_not_due_before_its_patience_is_over(
    shared_world: World, agent: Connection[DictRow], org: str
) -> None:
    """The job that retries leaves it alone, and the writer is told when at the latest.

    Proves: W2, W9
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org, patience="1 hour")
    make_due(shared_world)
    asked = write(agent, "semantic", TEXT)
    [job] = jobs(shared_world, plugin)
    assert asked["retry_after"] == job["deadline"]
    shared_world.connect("memwarden_jobs").execute("CALL memwarden.retry_deferred()")
    assert request(shared_world, asked)["attempt"] == 1


def test_an_accepted_memory_says_who_judged_it(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """Plug-in, version and score are in its signed record.

    Proves: V3
    """
    verifier, gate = new_plugin(), new_plugin()
    require(shared_world, verifier, org=org, purpose="verify")
    require(shared_world, gate, org=org)
    asked = write(
        agent, "semantic", TEXT, evidence=[{"type": "document", "uri": "https://a.example"}]
    )
    for plugin, score in ((verifier, 0.75), (gate, 0.5)):
        [job] = claim(worker, plugin)
        assert complete(worker, job, version="3", score=score)
    row = request(shared_world, asked)
    assert (row["outcome"], row["attempt"]) == ("COMMITTED", 3)
    record = agent.execute(
        "SELECT verified_by FROM memwarden.provenance(%s)", (row["item_id"],)
    ).fetchall()
    assert record == [
        {
            "verified_by": [
                {"verifier": verifier, "version": "3", "score": 0.75, "looked": False},
                {"verifier": gate, "version": "3", "score": 0.5},
            ]
        }
    ]


def test_a_verdict_that_meets_a_busy_scope_is_not_lost(
    shared_world: World, home: str, worker: Connection[DictRow], org: str
) -> None:
    """The request waits for the scope, and nobody is asked again.

    Proves: W9, W2
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org)
    agent, holder = shared_world.agent(home), shared_world.agent(home)
    asked = write(agent, "semantic", TEXT)
    [job] = claim(worker, plugin)
    worker.execute("SET lock_timeout = '50ms'")
    with holder.transaction():
        write(holder, "semantic", {"text": "Ben prefers coffee"})
        assert complete(worker, job)
        assert request(shared_world, asked)["reason"] == "SCOPE_BUSY"
    run_retries(shared_world)
    row = request(shared_world, asked)
    assert (row["outcome"], row["attempt"]) == ("COMMITTED", 3)


def test_an_erasure_takes_the_questions_along(
    shared_world: World, agent: Connection[DictRow], worker: Connection[DictRow], org: str
) -> None:
    """What waited for a verdict is gone from the queue, also where a worker had it at hand.

    Proves: W9
    """
    plugin = new_plugin()
    require(shared_world, plugin, org=org, quorum=2)
    asked = write(agent, "semantic", {"text": "Zenobia Zweig keeps bees"}, subject="Zenobia Zweig")
    [job] = claim(worker, plugin, max_jobs=1)
    erase = "SELECT * FROM memwarden.erase_subject('Zenobia Zweig', 'asked for', org => %s)"
    shared_world.admin.execute(erase, (org,))
    assert request(shared_world, asked)["reason"] == "SUBJECT_ERASED"
    assert jobs(shared_world, plugin) == []
    assert not complete(worker, job, "reject", detail={"reason": "Zenobia Zweig keeps none"})
    assert shared_world.rows("SELECT * FROM memwarden_data.verdict WHERE plugin = %s", plugin) == []
