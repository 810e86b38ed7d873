"""A person is erased: everything that concerns them, everywhere, and nothing else."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.errors import UndefinedObject
from psycopg.types.json import Jsonb

from conftest import World
from helpers import recall, write, write_many
from operations.erasure.conftest import Desk, cites, holding, remember


def items(desk: Desk) -> set[UUID]:
    """The items that the organisation has."""
    rows = desk.world.rows(
        "SELECT i.item_id FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.organisation AS o USING (org_id) WHERE o.name = %s",
        desk.org,
    )
    return {row["item_id"] for row in rows}


def test_a_subject_is_gone_from_every_table(desk: Desk) -> None:
    """In every layer and status, past versions and requests included; others stay as they were.

    Proves: R1 (erasure of a subject), T6 (an erasure is no finding), Z10 (counts per place)
    """
    agent = desk.agent(validated=True)
    kept = remember(agent, {"note": "Bob likes mzqtea"}, subject="Bob", predicate="likes")
    for layer in ("working", "session", "episodic", "semantic", "procedural", "durable"):
        remember(
            agent, {"note": "likes zzqtea"}, layer=layer, subject="Petra Zzqova", predicate="likes"
        )
    for n in range(3):
        vector = [float(n + 1), *[0.5] * 383]
        remember(
            agent, {"at": f"zzqtown {n}"}, subject="petra  ZZQOVA", predicate="at", embedding=vector
        )
    gone = remember(agent, "Call Petra Zzqova, tomorrow.", layer="episodic")
    agent.execute("SELECT memwarden.retract(%s, 'Zzqova said so')", (gone,))
    refused = write(agent, "semantic", {"at": "zzqtown 2"}, subject="Petra Zzqova", predicate="at")
    assert refused["outcome"] != "COMMITTED"
    assert holding(desk.world, "zzq") >= {"item", "version_hot"}
    desk.seal()

    found = desk.erase("Petra Zzqova", "petra zzqova", dry_run=True)
    assert (found["status"], found["items"], found["erasure_id"]) == ("DRY_RUN", 8, None)
    done = desk.erase("Petra Zzqova", "petra zzqova")
    assert done["status"] == "COMPLETED"
    assert (done["items"], done["versions"]) == (8, 10)
    assert set(done["layers"]) == {
        *("working", "session", "episodic", "semantic", "procedural", "durable"),
    }
    assert done["subject_hash"] is not None
    assert done["requests"] >= 10
    assert holding(desk.world, "zzq") == set()
    assert items(desk) == {kept}
    assert desk.findings() == []
    assert desk.rebuild() == {"item": 0, "timeline": 0, "embedding": 0}
    desk.seal()
    assert desk.findings() == []
    assert [row["item_id"] for row in recall(agent, query="likes tea")] == [kept]
    assert agent.execute("SELECT * FROM memwarden.as_of()").fetchone() is not None
    assert agent.execute("SELECT * FROM memwarden.diff_store('2020-01-01')").fetchall()
    assert agent.execute("SELECT * FROM memwarden.history(%s)", (kept,)).fetchall()


def test_a_second_erasure_fails_and_leaves_no_certificate(desk: Desk) -> None:
    """It says that nothing matched; a dry run counts nothing and does not fail.

    Proves: R1 (certificate), Z10
    """
    agent = desk.agent()
    remember(agent, "tea", subject="Qiu", predicate="likes")
    done = desk.erase("Qiu")
    with pytest.raises(UndefinedObject, match="nothing was erased"):
        desk.erase("qiu", "qiu@example.org")
    assert desk.erase("qiu", dry_run=True)["items"] == 0
    (certificate,) = desk.world.rows(
        "SELECT erasure_id, items, signature, reason FROM memwarden.erasures WHERE org = %s",
        desk.org,
    )
    assert certificate == {
        "erasure_id": done["erasure_id"],
        "items": 1,
        "signature": "GENUINE",
        "reason": "asked for on 1 March",
    }


def test_what_was_derived_goes_too(desk: Desk) -> None:
    """To any depth, and what took the place of another; what merely stands beside it stays.

    Proves: R2 (derived items are erased), R1 (transitive closure)
    """
    agent = desk.agent()
    basis = remember(agent, {"salary": 1}, subject="Rex", predicate="earns")
    summary = remember(agent, "salaries are low", evidence=cites(basis))
    conclusion = remember(agent, "morale is low", layer="episodic", evidence=cites(summary))
    beside = remember(agent, "tea is warm")
    one = remember(agent, "the sky is blue")
    other = remember(agent, "sky has colour blue", evidence=cites(basis))
    agent.execute("SELECT memwarden.merge(%s, %s, 'the same')", (one, other))
    done = desk.erase("Rex")
    assert done["items"] == 5
    assert items(desk) == {beside}
    assert {conclusion, summary, basis, one, other}.isdisjoint(items(desk))
    assert desk.findings() == []


@pytest.mark.parametrize(
    ("identifier", "content", "found"),
    [
        ("ana@example.org", {"mail": "write to ANA@Example.org."}, True),
        ("ana@example.org", {"mail": "joana@example.org"}, False),
        ("ana@example.org", {"mail": "ana@example.organisation"}, False),
        ("Ana Kovač", {"a": [{"b": "Dear\nana  KOVAC\u030c!"}]}, True),
        ("Ana Kovač", {"first": "Ana", "last": "Kovač"}, False),
        ("Kovač", {"Kovač": 1}, True),
        ("Kovač", {"text": "Kova\u200bč"}, True),
        ("+49 30 1234", {"tel": "tel.:+49 30 1234"}, True),
        ("4930123", {"tel": 4930123}, True),
        ("4930123", {"tel": 49301234}, False),
        (".*", {"text": "anything at all"}, False),
        ("a|b", {"text": "x a|b y"}, True),
        ('O"Neil \\ Co', {"text": 'by O"Neil \\ Co'}, True),
        ("100%_x", {"text": "100% x"}, False),
        ("北京", {"text": "在 北京 见"}, True),
    ],
)
def test_an_identifier_is_found_literally(
    desk: Desk, identifier: str, content: Any, found: bool
) -> None:
    """As a word of its own, in any string, name or number, whatever its case; never as a pattern.

    Proves: R1 (direct matches)
    """
    remember(desk.agent(), content)
    assert desk.erase("nobody", identifier, dry_run=not found)["items"] == (1 if found else 0)


def test_it_is_found_in_evidence_and_names(desk: Desk) -> None:
    """And in a past version alone: the item goes with all of its history.

    Proves: R1 (direct matches)
    """
    agent = desk.agent()
    remember(agent, "x1", evidence=[{"type": "human_input", "uri": "chat:zed-7"}])
    remember(agent, "x2", subject="zed-7's car", predicate="is")
    remember(agent, "x3", subject="car", predicate="of zed-7")
    remember(agent, "zed-7", subject="who", predicate="is it")
    remember(agent, "nobody", subject="who", predicate="is it")
    kept = remember(agent, "x5")
    done = desk.erase("nobody", "ZED-7")
    assert (done["items"], done["versions"]) == (4, 5)
    assert items(desk) == {kept}


def test_requests_are_blanked(desk: Desk) -> None:
    """Those that were refused, too; one that waits is refused, as is what rests on what goes.

    Proves: R1 (request content), W1 (content of requests follows erasure)
    """
    agent = desk.agent()
    basis = remember(agent, "tea", subject="Sam", predicate="likes", idempotency_key="sam's key")
    with desk.world.connect().transaction() as held:
        held.connection.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        agent.execute("SET lock_timeout = '1ms'")
        waiting = [
            write(agent, "semantic", "coffee", subject="Sam", predicate="likes"),
            write(agent, "semantic", "hot drinks sell", evidence=cites(basis)),
            write(agent, "semantic", "of nobody", subject="Tom", predicate="likes"),
        ]
    agent.execute("RESET lock_timeout")
    assert {row["outcome"] for row in waiting} == {"DEFERRED"}
    assert desk.erase("Sam")["requests"] >= 3
    rows = desk.world.rows(
        "SELECT outcome, reason, subject, content, retry_at, content_hash,"
        "       refused_hash IS NULL AS unkeyed"
        "  FROM memwarden_data.write_request WHERE request_id = ANY (%s) ORDER BY submitted_at",
        [row["request_id"] for row in waiting],
    )
    blank = {"subject": None, "content": None, "retry_at": None, "content_hash": None}
    erased = {"outcome": "REJECTED", "reason": "SUBJECT_ERASED", "unkeyed": False} | blank
    assert rows[:2] == [erased, erased]
    assert (rows[2]["outcome"], rows[2]["subject"]) == ("DEFERRED", "Tom")
    assert not desk.world.value(
        "SELECT count(*) FROM memwarden_data.idempotency WHERE item_id = %s", basis
    )
    desk.world.admin.execute(
        "UPDATE memwarden_data.write_request SET retry_at = now() WHERE outcome = 'DEFERRED'"
    )
    desk.world.admin.execute("CALL memwarden.retry_deferred()")
    assert len(items(desk)) == 1
    again = write(
        agent, "semantic", "tea", subject="Sam", predicate="likes", idempotency_key="sam's key"
    )
    assert again["outcome"] == "COMMITTED"
    assert again["item_id"] != basis


def test_reasons_in_the_log_go_and_their_hashes_stay(desk: Desk) -> None:
    """Of the items that go, and of others where a reason names the person.

    Proves: T6 (legal erasure does not break the chain), R1 (log)
    """
    agent = desk.agent()
    gone = remember(agent, "tea", subject="Una", predicate="likes")
    stays = remember(agent, "the kettle is blue")
    agent.execute("SELECT memwarden.retract(%s, 'asked for by Una Uvx')", (stays,))
    agent.execute("SELECT memwarden.retract(%s, 'no longer so')", (gone,))
    desk.seal()
    done = desk.erase("Una", "uvx")
    assert (done["items"], done["log_entries"]) == (1, 3)
    reasons = desk.world.rows(
        "SELECT operation, reason, reason_hash IS NOT NULL AS hashed FROM memwarden_data.log"
        " WHERE item_id = ANY (%s) AND operation IN ('RETRACT', 'ERASE') ORDER BY log_seq",
        [gone, stays],
    )
    assert reasons == [
        {"operation": "RETRACT", "reason": "", "hashed": True},
        {"operation": "RETRACT", "reason": "", "hashed": True},
        {"operation": "ERASE", "reason": "erased", "hashed": False},
    ]
    assert desk.findings() == []
    (proof,) = agent.execute("SELECT memwarden.log_proof(%s) AS proof", (stays,)).fetchall()
    assert proof["proof"]["told"]["reason"] is None
    with pytest.raises(psycopg.errors.UndefinedObject):
        agent.execute("SELECT memwarden.log_proof(%s)", (gone,))
    agent.execute("SELECT * FROM memwarden.rollback(%s, 'after all')", (stays,))
    desk.seal()
    assert desk.findings() == []


def test_a_reason_that_names_the_subject_is_refused(desk: Desk) -> None:
    """It is kept with the certificate; an earlier one that names somebody goes with them."""
    for reason in ("for Vic", "on behalf of VX-1"):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            desk.erase("Vic", "vx-1", reason=reason)
    remember(desk.agent(), "tea", subject="Wim", predicate="likes")
    desk.erase("Wim", reason="asked by Vic")
    desk.erase("someone", "vic")
    reasons = desk.world.rows("SELECT reason FROM memwarden.erasures WHERE org = %s", desk.org)
    assert {row["reason"] for row in reasons} == {"", "asked for on 1 March"}
    assert desk.findings() == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"subject": " "},
        {"subject": None},
        {"subject": "x" * 1001},
        {"reason": " "},
        {"reason": None},
        {"identifiers": [None]},
        {"identifiers": ["x"]},
        {"identifiers": ["ok", " "]},
        {"identifiers": ["y" * 1001]},
        {"identifiers": ["id-" + str(n) for n in range(101)]},
        {"org": None},
    ],
)
def test_arguments_out_of_range_are_refused(desk: Desk, arguments: dict[str, Any]) -> None:
    """Before anything is looked for."""
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        desk.erase(**({"subject": "Ana"} | arguments))


def test_only_who_answers_for_the_organisation_erases(desk: Desk) -> None:
    """Administration and the right to delete for good; and no other organisation's memory.

    Proves: A1 (hard deletion), R1 (whose request it is)
    """
    call = "SELECT * FROM memwarden.erase_subject('Xia', 'asked for', org => %s)"
    desk.world.scope(f"/org/{desk.org}")
    curator = desk.world.agent(f"/org/{desk.org}", role="curator", descendants=True)
    other = Desk(desk.world)
    for each in (desk, other):
        remember(each.agent(), "tea", subject="Xia", predicate="likes")
    for refused in (
        desk.agent(),
        desk.world.agent(f"/org/{desk.org}", role="orchestrator", descendants=True),
        desk.world.agent(f"/org/{desk.org}", role="contributor"),
        other.agent(),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            refused.execute(call, (desk.org,))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        curator.execute(call, (other.org,))
    for unprivileged in ("export_erasures()", "apply_erasures('[]')"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            curator.execute(f"SELECT memwarden.{unprivileged}")
    assert curator.execute(call, (None,)).fetchall()[0]["items"] == 1
    assert items(desk) == set()
    assert len(items(other)) == 1


def test_a_batch_after_an_erasure_goes_on(desk: Desk) -> None:
    """The same fact may be written again: it is a new item, and its history begins anew."""
    agent = desk.agent()
    before = remember(agent, 1, subject="Yun", predicate="has")
    desk.erase("Yun")
    rows = write_many(
        agent,
        [{"layer": "semantic", "content": n, "subject": "Yun", "predicate": "has"} for n in (1, 2)],
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    assert {row["item_id"] for row in rows}.isdisjoint({before})
    assert desk.findings() == []


def test_rollback_and_recovery_leave_what_is_erased_alone(desk: Desk) -> None:
    """A run that touched an erased item is undone as far as it is there."""
    agent = desk.agent()
    remember(agent, "a", subject="Zoe", predicate="is")
    stays = remember(agent, "b", subject="kettle", predicate="is")
    desk.erase("Zoe")
    undone = agent.execute(
        "SELECT * FROM memwarden.rollback_batch('nonsense', scope => %s)", (desk.home,)
    ).fetchall()
    assert [row["item_id"] for row in undone] == [stays]
    assert desk.findings() == []
    assert desk.rebuild() == {"item": 0, "timeline": 0, "embedding": 0}


def test_tiers_do_not_matter(desk: Desk, shared_world: World) -> None:
    """Versions in the warm and cold tiers go like those in the hot one.

    Proves: R1 (archive)
    """
    agent = desk.agent()
    for n in range(3):
        remember(agent, n, subject="Abe", predicate="has")
    old = Jsonb({"warm_after": "0 s", "cold_after": "0 s"})
    shared_world.admin.execute("SELECT memwarden.configure_layer('semantic', %s)", (old,))
    shared_world.admin.execute("CALL memwarden.compact_history()")
    assert shared_world.value("SELECT count(*) FROM memwarden_data.version_cold") >= 2
    assert desk.erase("Abe")["versions"] == 3
    assert (
        shared_world.value("SELECT count(*) FROM memwarden_data.version WHERE subject = 'Abe'") == 0
    )
    assert desk.findings() == []


def test_certificates_are_seen_by_those_who_answer_for_the_organisation(desk: Desk) -> None:
    """Curators and auditors of it; nobody sees which rows it took, whatever tables are granted.

    Proves: A3, R1 (certificate)
    """
    remember(desk.agent(), "tea", subject="Ada", predicate="likes")
    done = desk.erase("Ada")
    other = Desk(desk.world)
    seen = {}
    for name, home, group in (
        ("auditor", desk.home, "memwarden_auditor"),
        ("curator", desk.home, "memwarden_curator"),
        ("elsewhere", other.home, "memwarden_auditor"),
        ("agent", desk.home, "memwarden_agent"),
    ):
        role = desk.world.register(home, groups=[group])
        desk.world.grant_tables(role)
        reader = desk.world.connect(role)
        for table in ("erased_item", "erased_request", "erased_reason", "erased_evidence"):
            assert reader.execute(f"SELECT * FROM memwarden_data.{table}").fetchall() == []
        assert reader.execute("SELECT * FROM memwarden_data.store_origin").fetchall() == []
        rows = reader.execute("SELECT erasure_id FROM memwarden_data.erasure").fetchall()
        seen[name] = {row["erasure_id"] for row in rows}
        if name != "agent":
            viewed = reader.execute("SELECT erasure_id FROM memwarden.erasures").fetchall()
            assert {row["erasure_id"] for row in viewed} == seen[name]
    mine = {done["erasure_id"]}
    assert seen == {"auditor": mine, "curator": mine, "elsewhere": set(), "agent": set()}
