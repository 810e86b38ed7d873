"""What is past its retention is told by no way of reading, whether a job has run or not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call
from helpers import recall, write
from operations.erasure.conftest import cites
from operations.retention.conftest import PHONE, Office, remember
from shipped import Shipped


@pytest.fixture
def own(shipped: Shipped) -> Office:
    """The organisation of a store as init leaves it."""
    return Office(shipped.world, "acme")


def age(office: Office, items: list[UUID], days: int) -> None:
    """Have memories been written so much earlier, and their heads know it."""
    office.world.admin.execute(
        "UPDATE memwarden_data.item SET created_at = created_at - %s,"
        " kept_until = kept_until - %s WHERE org_id = %s AND item_id = ANY (%s)",
        (timedelta(days=days), timedelta(days=days), office.org_id, items),
    )


# Ways of reading, each with the words of one memory.
READS: dict[str, str] = {
    "recall": "SELECT content FROM memwarden.recall('Ana invoice', k => 50)"
    " WHERE item_id = %(item)s",
    "recall of what is there": "SELECT content FROM memwarden.recall(k => 50)"
    " WHERE item_id = %(item)s",
    "get": "SELECT content FROM memwarden.get(%(item)s)",
    "items": "SELECT content FROM memwarden.items WHERE item_id = %(item)s",
    "find_items": "SELECT content FROM memwarden.find_items('Ana') WHERE item_id = %(item)s",
    "compile_context": "SELECT line FROM memwarden.compile_context('Ana invoice') AS line"
    " WHERE line::text LIKE '%%kovac%%'",
    "recall_entity": "SELECT line FROM memwarden.recall_entity('Ana') AS line"
    " WHERE line::text LIKE '%%kovac%%'",
    "as_of": "SELECT content FROM memwarden.as_of(item_id => %(item)s)",
    "as_of then": "SELECT content FROM memwarden.as_of(%(then)s, item_id => %(item)s)",
    "as_of a scope": "SELECT content FROM memwarden.as_of(%(then)s, scope => %(home)s)"
    " WHERE item_id = %(item)s",
    "history": "SELECT content FROM memwarden.history(%(item)s)",
    "diff": "SELECT after FROM memwarden.diff(%(item)s, 1, 2)",
    "diff_store": "SELECT after FROM memwarden.diff_store(%(then)s - interval '1 hour')"
    " WHERE item_id = %(item)s",
    "lineage": "SELECT content FROM memwarden.lineage(%(derived)s) WHERE related_item = %(item)s",
}


def collect(office: Office) -> None:
    """Whole passes of collection."""
    admin = office.world.admin
    admin.execute("SELECT memwarden_internal.list_layers_to_collect()")
    step = "SELECT memwarden_internal.collect_step(100, 10, clock_timestamp(), %s) AS more"
    while office.world.value(step, office.org_id):
        pass


def tells(agent: Connection[DictRow], **values: Any) -> set[str]:
    """The ways of reading that tell of a memory."""
    found = set()
    for name, query in READS.items():
        try:
            found |= {name} if agent.execute(query, values).fetchall() else set()
        except psycopg.errors.UndefinedObject:
            continue
    return found


def test_nothing_tells_what_is_past_its_retention(own: Office) -> None:
    """Personal data ends when its time is over, for every reader, though no job ran.

    Proves: R5 (expiry holds at read time), G9
    """
    agent = own.writer()
    admin = own.world.admin
    admin.execute("SELECT memwarden.define_entity_type('person')")
    own.officer.execute(
        "SELECT memwarden.register_entity('Ana', 'person', scope => %s)", (own.home,)
    )
    personal = remember(agent, PHONE, subject="Ana", predicate="billing")
    write(agent, "semantic", f"{PHONE} of May", subject="Ana", predicate="billing")
    derived = remember(agent, "one invoice is open", evidence=cites(personal))
    plain = remember(agent, "the invoice office opens at nine", subject="office", predicate="opens")
    where = {"home": own.home, "derived": derived, "then": own.world.value("SELECT now()")}
    assert sorted(set(READS) - tells(agent, item=personal, **where)) == []
    age(own, [personal], days=89)
    assert tells(agent, item=personal, **where) == set(READS)
    age(own, [personal], days=2)
    assert tells(agent, item=personal, **where) == set()
    assert own.state(personal) is not None
    assert "recall" in tells(agent, item=plain, **where)
    # A new value is a memory of its own, and is read.
    new = remember(agent, f"{PHONE} of June", subject="Ana", predicate="billing")
    assert new != personal
    assert "recall" in tells(agent, item=new, **where)


def test_a_held_memory_is_kept_and_told_to_nobody_but_those_who_hold(own: Office) -> None:
    """A legal hold keeps what is past its retention; readers and collection pass over it.

    Proves: R5, Z5 (what is held is kept)
    """
    agent = own.writer()
    held = remember(agent, PHONE)
    pinned = remember(agent, "Ana's bills of May go to ana.kovac@example.org")
    call(own.officer, "pin", item_id=pinned, reason="often asked")
    call(own.world.admin, "hold", item_id=held, reason="inquiry", org=own.org)
    age(own, [held, pinned], days=91)
    assert recall(agent, query="Ana invoice") == []
    collect(own)
    assert [own.state(item) for item in (held, pinned)] == [("ACTIVE", ["hot"])] * 2
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        agent.execute("SELECT memwarden.recover(%s, 'needed')", (held,))
    for row in own.world.rows("SELECT hold_id FROM memwarden.holds"):
        says = call(own.officer, "held_items", hold_id=row["hold_id"])
        assert [(line["item_id"], line["readable"]) for line in says] == [(held, True)]
    assert own.end(held, pinned, after="0") == (0, 1)
    assert own.state(held) is not None


def test_a_changed_rule_changes_at_once_what_is_read(own: Office) -> None:
    """Shorter ends it, longer brings it back, in the transaction that changes the rule.

    Proves: R5
    """
    agent, admin = own.writer(), own.world.admin
    items = {days: remember(agent, f"{PHONE} of day {days}") for days in (5, 20, 29, 40)}
    for days, item in items.items():
        age(own, [item], days=days)

    def read() -> set[int]:
        found = {row["item_id"] for row in recall(agent, query="Ana invoice", k=50)}
        return {days for days, item in items.items() if item in found}

    def retain(interval: str, expected: int) -> None:
        admin.execute(
            "SELECT memwarden.set_retention(classification => 'personal', keep_at_most => %s,"
            " expected => %s, org => %s)",
            (interval, expected, own.org),
        )

    assert read() == {5, 20, 29, 40}
    retain("30 days", 1)
    assert read() == {5, 20, 29}
    # What ends before the next run of the job is known by now; the rest, the job says.
    ends = "SELECT item_id FROM memwarden_data.item WHERE kept_until < now() + interval '2 days'"
    assert {row["item_id"] for row in own.world.rows(ends)} == {items[29], items[40]}
    retain("60 days", 0)
    assert read() == {5, 20, 29, 40}
    retain("10 days", 3)
    assert read() == {5}
    admin.execute(
        "SELECT memwarden.drop_retention(classification => 'personal', expected => 0, org => %s)",
        (own.org,),
    )
    assert read() == {5, 20, 29, 40}
    own.world.connect("memwarden_jobs").execute("CALL memwarden.enforce_retention()")
    (row,) = own.world.rows(
        "SELECT count(*) FILTER (WHERE kept_until = created_at + interval '90 days') AS said,"
        " count(*) AS items FROM memwarden_data.item WHERE item_id = ANY (%s)",
        list(items.values()),
    )
    assert (row["said"], row["items"]) == (4, 4)


def test_consent_extends_what_is_read_and_other_rules_end_it(own: Office) -> None:
    """Consent counts at once, the rule of a class from the write on, that of a layer in time.

    Proves: R5 (or per consent)
    """
    agent, admin = own.writer(), own.world.admin
    own.consent("granted", valid_during=f"[2020-01-01,{own.later('1 day')})")
    liked = remember(agent, "tea", subject="Ana", predicate="drinks", **{"class": "preference"})
    age(own, [liked], days=91)
    assert recall(agent, query="tea") == []
    own.consent("granted")
    assert [row["item_id"] for row in recall(agent, query="tea")] == [liked]
    admin.execute("SELECT memwarden.define_write_class('visit', org => %s)", (own.org,))
    own.officer.execute(
        "SELECT memwarden.set_retention(class => 'visit', keep_at_most => '1 day', org => %s)",
        (own.org,),
    )
    visit = remember(agent, "a visit to the mill", layer="episodic", **{"class": "visit"})
    note = remember(agent, "a note about the mill", layer="episodic")
    own.officer.execute(
        "SELECT memwarden.set_retention(layer => 'episodic', keep_at_most => '25 h', org => %s)",
        (own.org,),
    )
    found = {row["item_id"] for row in recall(agent, query="mill", layers=["episodic"])}
    assert found == {visit, note}
    age(own, [visit, note], days=2)
    assert recall(agent, query="mill", layers=["episodic"]) == []


def test_a_read_touches_no_more_rows_than_before(own: Office) -> None:
    """The plan of a reading statement has the head alone: no rule, no list of personal memories.

    Proves: R5
    """
    agent = own.writer()
    item = remember(agent, PHONE)
    reads = (
        "SELECT relname, seq_scan + coalesce(idx_scan, 0) AS scans FROM pg_stat_xact_user_tables"
        " WHERE relname IN ('personal_item', 'retention_rule') ORDER BY 1"
    )
    with agent.transaction():
        before = agent.execute(reads).fetchall()
        assert recall(agent, query="Ana invoice")[0]["item_id"] == item
        assert agent.execute(reads).fetchall() == before


def test_a_renewed_memory_keeps_the_end_of_its_own(own: Office) -> None:
    """What retention says is no time to live: it comes and goes without a trace in the versions.

    Proves: R5
    """
    agent = own.writer()
    item = remember(agent, PHONE)
    agent.execute("SELECT memwarden.renew(%s, 'still so')", (item,))
    write(agent, "semantic", PHONE)
    rows = own.world.rows(
        "SELECT v.expires_at, i.expires_at = i.kept_until AS is_capped,"
        " i.kept_until = i.created_at + interval '90 days' AS by_rule"
        "  FROM memwarden_data.version AS v JOIN memwarden_data.item AS i USING (org_id, item_id)"
        " WHERE i.item_id = %s",
        item,
    )
    assert len(rows) > 1
    assert {(row["expires_at"], row["is_capped"], row["by_rule"]) for row in rows} == {
        (None, True, True)
    }
    # The heads are what log and rules say, and made anew they say the same.
    heads = "SELECT item_id, expires_at, kept_until FROM memwarden_data.item ORDER BY 1"
    before = own.world.rows(heads)
    own.world.admin.execute("SELECT * FROM memwarden.rebuild_heads()")
    own.world.admin.execute("SELECT * FROM memwarden.rebuild_heads(replace => true)")
    assert own.world.rows(heads) == before
