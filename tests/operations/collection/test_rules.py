"""Which memories a pass takes, and why: one rule each."""

from __future__ import annotations

from datetime import timedelta

from helpers import recall
from operations.collection.conftest import Yard
from operations.erasure.conftest import cites, remember


def test_what_is_beyond_its_time_expires_and_then_goes(yard: Yard) -> None:
    """Phase one: out of recall, recoverable. Phase two, after the window: gone, with a tombstone.

    Proves: G5 (two phases)
    """
    agent = yard.agent(validated=True)
    old = remember(agent, "the blue kettle", layer="episodic", ttl=timedelta(hours=1))
    new = remember(agent, "the green kettle", layer="episodic")
    assert yard.collect() == {}
    assert yard.collect(hours=2) == {"TTL_OVER": 1}
    assert (yard.status(old), yard.status(new)) == ("EXPIRED", "ACTIVE")
    assert yard.why(old) == [("EXPIRE", "TTL_OVER")]
    assert [row["item_id"] for row in recall(agent, query="kettle")] == [new]
    assert yard.world.rows("SELECT FROM memwarden_data.embedding WHERE item_id = %s", old) == []
    assert yard.collect(days=3) == {}
    assert yard.collect(days=31) == {"GRACE_OVER": 1, "UNREAD": 1}
    assert yard.status(old) is None
    assert yard.why(old)[-1] == ("ERASE", "GRACE_OVER")
    assert yard.findings() == []


def test_what_was_recovered_in_time_stays(yard: Yard) -> None:
    """recover() within the window takes it out of the second phase.

    Proves: G5 (recoverable during the grace period)
    """
    agent = yard.agent(validated=True)
    item = remember(agent, "the red kettle", layer="episodic", ttl=timedelta(hours=1))
    assert yard.collect(hours=2) == {"TTL_OVER": 1}
    agent.execute("SELECT memwarden.recover(%s, 'still needed', '300 days')", (item,))
    assert yard.collect(days=29) == {}
    assert yard.status(item) == "ACTIVE"


def test_what_nobody_reads_and_matters_little_expires(yard: Yard) -> None:
    """Relevance below the layer's threshold and unread for max_idle, and only both.

    Proves: G3 (relevance collection)
    """
    agent = yard.agent(validated=True)
    items = yard.many(agent, 3, layer="semantic", confidence=0.5)
    found = yard.world.rows(
        "SELECT item_id, reason FROM memwarden_internal.collection_rules("
        " %s, %s, clock_timestamp() + interval '3000 days')",
        yard.org_id,
        items,
    )
    assert {row["reason"] for row in found} <= {"IRRELEVANT", "STALE"}
    assert len(found) == 3
    assert yard.collect(days=170) == {}


def test_a_soft_lifetime_ends_what_is_unread(yard: Yard) -> None:
    """Soft lifetime over, and unread for 30 days.

    Proves: G6 (soft TTL expired and unread 30 days)
    """
    agent = yard.agent(validated=True)
    item = remember(agent, "the tea of spring", layer="episodic", confidence=1.0)
    assert yard.collect(days=29) == {}
    assert yard.collect(days=31) == {"UNREAD": 1}
    assert yard.why(item) == [("EXPIRE", "UNREAD")]


def test_pinned_held_and_linked_stay(yard: Yard) -> None:
    """Pinned and held neither expire nor go; what an action rests on expires and does not go.

    Proves: G3 (pinned items never), G5 (action linkage wins)
    """
    agent = yard.agent(validated=True)
    pinned, linked, plain = yard.many(agent, 3, ttl=timedelta(hours=1))
    admin = yard.world.admin
    admin.execute(
        "INSERT INTO memwarden_data.pin SELECT org_id, item_id, scope_id, 'x', 0, 'x', now()"
        " FROM memwarden_data.item WHERE item_id = %s",
        (pinned,),
    )
    admin.execute(
        "INSERT INTO memwarden_data.action_link (org_id, action_id, principal_id, version_id,"
        " item_org_id, item_id, distance, linked_at)"
        " SELECT org_id, 'a', 0, version_id, org_id, item_id, 0, now()"
        " FROM memwarden_data.item WHERE item_id = %s",
        (linked,),
    )
    assert yard.collect(hours=2) == {"TTL_OVER": 2}
    assert yard.collect(days=40) == {"GRACE_OVER": 1}
    assert [yard.status(item) for item in (pinned, linked, plain)] == ["ACTIVE", "EXPIRED", None]


def test_what_something_was_made_of_stays_with_it(yard: Yard) -> None:
    """A source expires, and goes for good after what was made of it."""
    agent = yard.agent(validated=True)
    source = remember(agent, "the tap drips", layer="episodic", ttl=timedelta(hours=1))
    made = remember(agent, "call the plumber", evidence=cites(source))
    assert yard.collect(hours=2) == {"TTL_OVER": 1}
    assert yard.collect(days=40) == {}
    assert (yard.status(source), yard.status(made)) == ("EXPIRED", "ACTIVE")


def test_a_layer_that_says_never_deletes_nothing(yard: Yard) -> None:
    """The second phase is the layer's to allow."""
    agent = yard.agent(validated=True)
    item = remember(agent, "the chair", layer="semantic")
    agent.execute("SELECT memwarden.expire(%s, 'old')", (item,))
    assert yard.collect(days=400) == {}
    assert yard.status(item) == "EXPIRED"


def test_most_of_a_layer_waits_for_a_person(yard: Yard) -> None:
    """A rule that would take most of a layer takes nothing; what has a time to live still goes.

    Proves: G3 (a rule that would expire everything asks first)
    """
    agent = yard.agent(validated=True)
    items = yard.many(agent, 12)
    short = remember(agent, "a note of today", layer="episodic", ttl=timedelta(hours=1))
    assert yard.collect(days=40) == {"TTL_OVER": 1}
    assert yard.held_back() == {"episodic": {"IRRELEVANT": 12}}
    assert {yard.status(item) for item in items} == {"ACTIVE"}
    assert yard.status(short) == "EXPIRED"


def test_what_was_superseded_long_ago_goes(yard: Yard) -> None:
    """After 90 days, where the layer deletes; before, it is history.

    Proves: G6 (superseded over 90 days)
    """
    agent = yard.agent(validated=True)
    item = remember(agent, "the old price", layer="episodic")
    yard.world.admin.execute(
        "SELECT memwarden_internal.end_items(%s, %s, 'SUPERSEDED', 'SUPERSEDE', 'x', 0)",
        (yard.org_id, [item]),
    )
    assert yard.collect(days=89) == {}
    assert yard.collect(days=91) == {"SUPERSEDED": 1}
    assert yard.status(item) is None
    assert yard.findings() == []


def test_what_a_rule_wants_kept_stays(yard: Yard) -> None:
    """A duty stands against relevance, and against deletion after the grace; a time to live ends.

    Proves: G3, G5, R5 (the duty to keep goes before collection)
    """
    agent = yard.agent(validated=True)
    unread = remember(agent, "the lease", layer="episodic", confidence=1.0)
    short = remember(agent, "the offer", layer="episodic", ttl=timedelta(hours=1))
    yard.rule("layer", "episodic", keep_at_least="60 days")
    assert yard.collect(hours=2) == {"TTL_OVER": 1}
    assert yard.collect(days=40) == {}
    found = yard.world.rows(
        "SELECT item_id, reason, kept FROM memwarden_internal.collection_rules("
        " %s, %s, clock_timestamp() + interval '40 days')",
        yard.org_id,
        [unread, short],
    )
    assert {row["item_id"]: (row["reason"], row["kept"]) for row in found} == {
        unread: ("UNREAD", ["DUTY"]),
        short: ("GRACE_OVER", ["DUTY"]),
    }
    assert yard.collect(days=61) == {"IRRELEVANT": 1, "GRACE_OVER": 1}
    assert (yard.status(unread), yard.status(short)) == ("EXPIRED", None)


def test_a_layer_may_leave_deletion_to_retention(yard: Yard) -> None:
    """hard_delete retention: gone once a rule wants it deleted, and never into the void otherwise.

    Proves: G5 (by a hard_delete setting), R5
    """
    agent = yard.agent(validated=True)
    item = remember(agent, "the table", layer="semantic")
    agent.execute("SELECT memwarden.expire(%s, 'old')", (item,))
    # The rule of all for what is general keeps it in the cold tier after five years.
    assert yard.collect(days=2000) == {}
    yard.rule("layer", "semantic", keep_at_most="200 days", afterwards="delete")
    assert yard.collect(days=199) == {}
    assert yard.collect(days=201) == {"RETENTION_OVER": 1}
    assert yard.status(item) is None
    assert yard.why(item)[-1] == ("ERASE", "RETENTION_OVER")
