"""The compliance run finds breaches, opens incidents, tells who wants to know, and remedies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.rows import DictRow

from access import call, join, refusal
from operations.retention.conftest import PHONE, Office, remember
from operations.retention.test_enforcing import age

DRINK = {"subject": "Ana", "predicate": "drinks", "class": "preference"}


def check(office: Office) -> int:
    """Look for breaches in the organisation; how many kinds there are."""
    return int(office.world.value("SELECT memwarden_internal.note_incidents(%s)", office.org_id))


def incidents(office: Office, state: str = "open") -> list[DictRow]:
    """The incidents of the organisation, as its officer sees them."""
    return office.officer.execute(
        "SELECT * FROM memwarden.incidents WHERE org = %s AND state = %s ORDER BY kind",
        (office.org, state),
    ).fetchall()


def remediate(office: Office, incident: UUID, **arguments: Any) -> list[DictRow]:
    """What a remedy says that it did."""
    return call(office.officer, "remediate", incident=incident, **arguments)


@contextmanager
def unguarded(office: Office) -> Iterator[None]:
    """Change tables as a restore would: no trigger looks."""
    with office.world.admin.transaction():
        office.world.admin.execute("SET LOCAL session_replication_role = replica")
        yield


def test_a_memory_kept_too_long_is_an_incident_until_it_is_gone(office: Office) -> None:
    """One incident, told once, with a preview of the remedy; a held memory is no breach.

    Proves: R6 (retention breaches, P0 incidents, remediation with a preview)
    """
    office.world.admin.execute(
        "SELECT memwarden.set_review_channel('dpo', 'webhook', 'https://example.org/hook',"
        " events => '{incident}', org => %s)",
        (office.org,),
    )
    agent = office.agent()
    items = [remember(agent, f"{PHONE} {n}") for n in range(3)]
    age(office, items, "90 days 1 hour")
    assert check(office) == 0
    age(office, items, "1 day")
    assert (check(office), check(office)) == (1, 1)
    (incident,) = incidents(office)
    assert (incident["kind"], incident["severity"], incident["breaches"]) == (
        "RETENTION_BREACH",
        "P0",
        3,
    )
    assert {example["rule"] for example in incident["examples"]} == {"classification personal"}
    line = "SELECT state, left(detail, 3) AS says FROM memwarden.status() WHERE component = %s"
    assert office.world.rows(line, "incidents") == [{"state": "warning", "says": "P0:"}]
    assert agent.execute(line, ("incidents",)).fetchall() == []
    (notice,) = office.world.rows(
        "SELECT memwarden_internal.notice_of(org_id, notice_id, request_id, event_id, event, NULL)"
        "    AS said FROM memwarden_data.review_notice WHERE org_id = %s",
        office.org_id,
    )
    assert {name: notice["said"][name] for name in ("event", "kind", "breaches", "severity")} == {
        "event": "incident",
        "kind": "RETENTION_BREACH",
        "breaches": 3,
        "severity": "P0",
    }
    preview = remediate(office, incident["incident_id"])
    assert {(row["action"], row["outcome"]) for row in preview} == {("delete", "WOULD_BE_DONE")}
    assert sorted(row["object_id"] for row in preview) == sorted(items)
    assert all(office.state(item) for item in items)
    done = remediate(office, incident["incident_id"], dry_run=False, max_objects=2)
    assert [row["outcome"] for row in done] == ["DONE", "DONE"]
    (left,) = incidents(office)
    assert left["breaches"] == 1
    remediate(office, incident["incident_id"], dry_run=False)
    assert (incidents(office), len(incidents(office, "closed"))) == ([], 1)
    assert [office.state(item) for item in items] == [None] * 3


def test_an_erasure_that_came_undone_is_carried_out_again(office: Office) -> None:
    """Part of a backup brought a memory back, which the certificate says is gone.

    Proves: R6 (unfinished erasures)
    """
    agent = office.agent()
    item = remember(agent, "Petra likes tea", subject="Petra", predicate="drinks")
    kept = office.world.rows(
        "SELECT to_jsonb(v) AS row FROM memwarden_data.version AS v WHERE item_id = %s", item
    )
    heads = office.world.rows(
        "SELECT to_jsonb(i) AS row FROM memwarden_data.item AS i WHERE item_id = %s", item
    )
    office.erase("Petra")
    assert check(office) == 0
    with unguarded(office):
        for table, rows in (("version", kept), ("item", heads)):
            office.world.admin.execute(
                f"INSERT INTO memwarden_data.{table} SELECT *"
                f" FROM jsonb_populate_record(NULL::memwarden_data.{table}, %s::text::jsonb)",
                (json.dumps(rows[0]["row"]),),
            )
    assert check(office) == 1
    (incident,) = incidents(office)
    assert (incident["kind"], incident["examples"][0]["items"]) == ("ERASURE_UNFINISHED", 1)
    (done,) = remediate(office, incident["incident_id"], dry_run=False)
    assert (done["action"], done["outcome"]) == ("erase again", "DONE")
    assert (incidents(office), office.state(item)) == ([], None)


def test_a_withdrawal_that_nobody_acted_on(office: Office) -> None:
    """An hour after it was recorded, the memories should be retracted.

    Proves: R6 (consent withdrawn and not acted on)
    """
    agent = office.agent()
    office.consent("granted")
    item = remember(agent, "tea", **DRINK)
    office.consent("withdrawn")
    assert check(office) == 0
    with unguarded(office):
        office.world.admin.execute(
            "UPDATE memwarden_data.consent SET recorded_at = recorded_at - interval '2 hours'"
            " WHERE org_id = %s",
            (office.org_id,),
        )
    assert check(office) == 1
    (incident,) = incidents(office)
    assert incident["kind"] == "CONSENT_NOT_ENFORCED"
    (done,) = remediate(office, incident["incident_id"], dry_run=False)
    assert done["outcome"] == "DONE"
    assert office.state(item) == ("RETRACTED", ["hot"])
    assert incidents(office) == []


def test_memories_outside_their_regions_are_an_incident(office: Office) -> None:
    """Where they lie is for a person to change: the remedy says so, and changes nothing.

    Proves: R6 (residency breaches), R4
    """
    admin = office.world.admin
    item = remember(office.agent(), "the margin is 12 %")
    for region in ("eu", "us"):
        admin.execute("SELECT memwarden.define_region(%s)", (region,))
    admin.execute("SELECT memwarden.set_region('eu')")
    try:
        admin.execute(
            "SELECT memwarden.set_residency('{us}', org => %s, expected => 1)", (office.org,)
        )
        assert check(office) == 1
        (incident,) = incidents(office)
        assert (incident["kind"], incident["severity"]) == ("RESIDENCY_BREACH", "P0")
        (told,) = remediate(office, incident["incident_id"], dry_run=False)
        assert told["outcome"] == "BY_HAND"
        assert office.state(item) == ("ACTIVE", ["hot"])
        admin.execute("SELECT memwarden.set_residency(NULL, org => %s)", (office.org,))
        assert check(office) == 0
        assert incidents(office) == []
    finally:
        admin.execute("DELETE FROM memwarden_data.residency_rule")
        admin.execute("DELETE FROM memwarden_data.node")


def test_the_report_says_it_all_and_no_content(office: Office) -> None:
    """Rules, what is beyond them, also under a hold; erasures, consents, incidents.

    Proves: R6 (report)
    """
    agent = office.agent()
    items = [remember(agent, f"{PHONE} zzq{n}") for n in range(2)]
    age(office, items, "92 days")
    office.world.admin.execute(
        "INSERT INTO memwarden_data.legal_hold (org_id, hold_id, reason, item_id, four_eyes,"
        " set_at, set_login) VALUES (%s, %s, 'case 9', %s, false, now(), 'law')",
        (office.org_id, uuid4(), items[0]),
    )
    check(office)
    auditor = join(office.world, f"/org/{office.org}", "agent", "auditor")
    (row,) = call(auditor, "compliance_report")
    report = row["compliance_report"]
    (organisation,) = report["organisations"]
    assert (organisation["org"], organisation["compliant"]) == (office.org, False)
    (personal,) = [
        rule for rule in organisation["retention"] if rule["rule"] == "classification personal"
    ]
    assert (personal["due"], personal["held"], personal["keep_at_most"]) == (1, 1, "90 days")
    assert organisation["incidents"][0]["examples"][0]["item_id"] == str(items[1])
    assert organisation["erasures"]["legal_holds"] == 1
    assert "zzq" not in str(report)
    assert "ana.kovac" not in str(report)


def test_who_may_see_and_remedy(office: Office) -> None:
    """Overseers of the organisation see incidents; its administrators remedy them.

    Proves: R6
    """
    agent = office.agent()
    age(office, [remember(agent, PHONE)], "92 days")
    check(office)
    (incident,) = incidents(office)
    stranger = Office(office.world)
    assert incidents(stranger) == []
    for arguments, sqlstate in (
        ({"incident": incident["incident_id"]}, "42704"),
        ({"incident": uuid4()}, "42704"),
    ):
        assert refusal(stranger.officer, "remediate", **arguments).sqlstate == sqlstate
    assert (
        refusal(
            office.officer, "remediate", incident=incident["incident_id"], max_objects=0
        ).sqlstate
        == "22023"
    )
    assert refusal(stranger.officer, "compliance_report", org=office.org).sqlstate == "42704"
    with pytest.raises(Exception, match="permission denied"):
        agent.execute("SELECT FROM memwarden.incidents")
    reader = office.world.role("memwarden_agent", "memwarden_auditor")
    office.world.grant_tables(reader)
    for table in ("retention_rule", "personal_item", "incident"):
        seen = office.world.connect(reader).execute(f"SELECT FROM memwarden_data.{table}")
        assert seen.fetchall() == []
