"""A pack says what passes without a human, in versions, where it is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, curator, join, name_of, state
from helpers import recall, write
from reviewing import ask, queue, reviewer

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
EASY = {"promotion_thresholds": {"*": {"confidence": 0.8}}}
LINK = {"class": "evidence_link"}


@pytest.fixture
def desk(world: World) -> Connection[DictRow]:
    """Connect as who administers Ana's organisation."""
    world.scope(HOME)
    return curator(world, "/org/acme")


def define(desk: Connection[DictRow], definition: Any, name: str = "house") -> int:
    """Define a version of a pack."""
    [row] = call(desk, "define_pack", name=name, definition=Jsonb(definition))
    return int(row["define_pack"])


def use(desk: Connection[DictRow], pack: str | None = "house", **where: Any) -> None:
    """Put a pack in force."""
    call(desk, "use_pack", pack=pack, **where)


def test_every_violation_is_told_at_once(desk: Connection[DictRow]) -> None:
    """Of the form, and then of what it names.

    Proves: F4
    """
    wrong: dict[str, Any] = {
        "promotion_thresholds": {"*": {"confidence": 2}},
        "freshness": {"preference": "soon"},
        "sample_audit": {},
        "unheard_of": 1,
    }
    with pytest.raises(psycopg.Error) as raised:
        define(desk, wrong)
    assert raised.value.sqlstate == "22023"
    told = str(raised.value.diag.message_detail)
    for path in ("confidence", "freshness", "sample_audit"):
        assert path in told, told
    rules = [
        {
            "rule": "r",
            "kind": "pii.badge",
            "pattern": "(",
            "action": "redact",
            "tests": {"positive": ["x"], "negative": ["y"]},
        }
    ]
    for wrong in (
        {"write_classes_allowed": ["hearsay"]},
        {"consent": {"hearsay": {"purpose": "p"}}},
        {"redaction_rules": rules},
    ):
        with pytest.raises(psycopg.Error) as raised:
            define(desk, wrong)
        assert raised.value.sqlstate == "22023"


def test_a_version_never_changes_and_an_earlier_one_comes_back(
    world: World, desk: Connection[DictRow]
) -> None:
    """Whatever is in force is one of them, by number.

    Proves: F4 (versioned; roll back)
    """
    assert [define(desk, EASY), define(desk, {"description": "none"})] == [1, 2]
    with pytest.raises(psycopg.Error, match="append"):
        world.admin.execute("UPDATE memwarden_data.pack SET definition = '{}'")
    with pytest.raises(psycopg.Error, match="append"):
        world.admin.execute("DELETE FROM memwarden_data.pack")
    use(desk)
    use(desk, version=1)
    agent = world.agent(HOME)
    in_force = "SELECT pack, version, definition FROM memwarden.packs_in_force"
    assert agent.execute(in_force).fetchall() == [
        {"pack": "house", "version": 1, "definition": EASY}
    ]
    use(desk, None)
    assert agent.execute(in_force).fetchall() == []
    assert state(desk, "use_pack", pack="house", version=3) == "42704"
    assert state(desk, "use_pack", pack="house", scope="/org/umbrella") == "42704"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        use(agent)


def test_what_meets_the_thresholds_passes_and_the_rest_waits(
    world: World, desk: Connection[DictRow]
) -> None:
    """With what is not met said in the trail, and to the reviewer.

    Proves: F3 (auto_promote_eligible from the pack), F4 (promotion thresholds), W3 (pack_auto)
    """
    ask(world, approval="pack_auto")
    agent, person = world.agent(HOME), reviewer(world)
    define(desk, {"promotion_thresholds": {"evidence_link": {"confidence": 0.8}}})
    waits = write(agent, "semantic", "no pack is in force", confidence=0.9, **LINK)
    assert waits["outcome"] == "DEFERRED"
    use(desk)
    passed = write(agent, "semantic", "the pump was cheap", confidence=0.9, **LINK)
    assert passed["outcome"] == "COMMITTED", passed
    unsure = write(agent, "semantic", "the valve was cheap", confidence=0.7, **LINK)
    other = write(agent, "semantic", "the crane was cheap", confidence=0.9)
    assert {unsure["outcome"], other["outcome"]} == {"DEFERRED"}
    kept = {
        row["request_id"]: row["pack_check"]
        for row in world.rows("SELECT request_id, pack_check FROM memwarden_data.write_request")
    }
    assert kept[passed["request_id"]] == {
        "pack": "house", "version": 1, "eligible": True, "unmet": [],
    }  # fmt: skip
    assert kept[unsure["request_id"]]["unmet"] == ["confidence"]
    assert kept[other["request_id"]]["unmet"] == ["no threshold for the class"]
    seen = {row["proposal_id"]: row["auto_promote_eligible"] for row in queue(person)}
    assert seen == {
        waits["request_id"]: None, unsure["request_id"]: False, other["request_id"]: False,
    }  # fmt: skip


def test_evidence_risk_and_contradictions_count(world: World) -> None:
    """Each by itself keeps a write from passing.

    Proves: F4 (promotion thresholds)
    """
    check = "SELECT memwarden_internal.unmet_thresholds(%s, 'preference', %s, %s, %s, %s, %s, %s)"
    pack = {
        "promotion_thresholds": {
            "preference": {
                "confidence": 0.8, "adjusted_confidence": 0.5, "min_evidence": 2, "max_risk": 0.4,
            }
        }
    }  # fmt: skip
    good = [0.9, 0.6, 2, False, 0.3, "passed"]
    assert world.value(check, Jsonb(pack), *good) == []
    for place, worse, name in (
        (0, 0.7, "confidence"),
        (1, None, "adjusted_confidence"),
        (2, 1, "min_evidence"),
        (3, True, "no_contradiction"),
        (4, None, "max_risk"),
        (5, "missing", "consent"),
    ):
        case = [*good[:place], worse, *good[place + 1 :]]
        assert world.value(check, Jsonb(pack), *case) == [name]


def test_the_nearest_pack_holds(world: World, desk: Connection[DictRow]) -> None:
    """Of the agent, else of the nearest scope, else of the organisation; others have none.

    Proves: F4
    """
    near, far = world.agent(HOME), world.agent("/org/acme/user/bo")
    stranger = world.agent("/org/umbrella")
    named = world.agent(HOME)
    for name, allowed in (("wide", ["preference"]), ("small", []), ("own", ["evidence_link"])):
        define(desk, {"write_classes_allowed": allowed}, name)
    use(desk, "wide")
    use(desk, "small", scope="/org/acme/user/ana")
    use(desk, "own", agent=name_of(named))
    for agent, reason in (
        (near, "CLASS_NOT_IN_PACK"),
        (far, "CLASS_NOT_IN_PACK"),
        (named, None),
        (stranger, None),
    ):
        assert write(agent, "semantic", "the pump was cheap", **LINK)["reason"] == reason
    told = {
        agent: {row["pack"] for row in agent.execute("SELECT * FROM memwarden.packs_in_force")}
        for agent in (near, far, named, stranger)
    }
    assert told == {
        near: {"wide", "small"}, far: {"wide"}, named: {"wide", "small", "own"}, stranger: set(),
    }  # fmt: skip
    world.grant_tables(near.info.user)
    for table in ("pack", "pack_use", "auto_promotion", "storage_budget"):
        assert near.execute(f"SELECT * FROM memwarden_data.{table}").fetchall() == []


def test_its_redaction_comes_on_top_of_the_rules(world: World, desk: Connection[DictRow]) -> None:
    """Before anything is stored; for other agents, and after it is gone, nothing changes.

    Proves: F4 (redaction rules), F7
    """
    rule = {
        "rule": "badge",
        "kind": "pii.badge",
        "pattern": "BADGE-([0-9]{6})",
        "action": "redact",
        "tests": {"positive": ["BADGE-123456"], "negative": ["BADGE-1"]},
    }
    define(desk, {"redaction_rules": [rule]})
    use(desk, scope=HOME)
    agent, other = world.agent(HOME), world.agent("/org/acme/user/bo")
    said = write(agent, "semantic", "Ana wears BADGE-123456")
    assert said["outcome"] == "COMMITTED", said
    assert "123456" not in str(call(agent, "get", item_id=said["item_id"]))
    assert world.rows("SELECT FROM memwarden_data.version WHERE content::text ~ '123456'") == []
    write(other, "semantic", "Bo wears BADGE-123456")
    assert len(world.rows("SELECT FROM memwarden_data.version WHERE content::text ~ '1234'")) == 1
    # The rules of the organisation stay, and change with it.
    blocked = write(agent, "semantic", "the key is ghp_" + "aZ3k9Q" * 6)
    assert blocked["reason"] == "SENSITIVE_CONTENT"
    use(desk, None, scope=HOME)
    write(agent, "semantic", "Ana lost BADGE-123456")
    assert len(world.rows("SELECT FROM memwarden_data.version WHERE content::text ~ '1234'")) == 2


def test_floors_and_freshness_mark_what_is_recalled(
    world: World, desk: Connection[DictRow]
) -> None:
    """Nothing is dropped for it.

    Proves: F4 (freshness windows, confidence floors), F8
    """
    agent = world.agent(HOME)
    write(agent, "semantic", "the pump was cheap", confidence=0.6, **LINK)
    [row] = recall(agent, query="pump")
    before = (row["low_confidence"], row["stale"])
    define(desk, {"confidence_floors": {"evidence_link": 0.7}, "freshness": {"*": "30 days"}})
    use(desk)
    [row] = recall(agent, query="pump")
    assert (before, row["low_confidence"], row["stale"]) == ((False, False), True, False)
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute(
        "UPDATE memwarden_data.item SET updated_at = updated_at - interval '31 days'"
    )
    assert recall(agent, query="pump")[0]["stale"]


@pytest.mark.every_version
def test_a_preview_says_what_it_would_have_decided(world: World, desk: Connection[DictRow]) -> None:
    """Of the last requests, and changes nothing.

    Proves: F4
    """
    agent = world.agent(HOME)
    sure = write(agent, "semantic", "the pump was cheap", confidence=0.9, **LINK)
    unsure = write(agent, "semantic", "the valve was dear", confidence=0.5, **LINK)
    other = write(agent, "semantic", "it rained", confidence=0.9, **{"class": "decision_outcome"})
    define(desk, EASY | {"write_classes_allowed": ["evidence_link"]})
    told = {row["request_id"]: row for row in call(desk, "preview_pack", pack="house")}
    assert {key: (row["allowed"], row["eligible"]) for key, row in told.items()} == {
        sure["request_id"]: (True, True),
        unsure["request_id"]: (True, False),
        other["request_id"]: (False, True),
    }
    assert told[unsure["request_id"]]["unmet"] == ["confidence"]
    assert len(call(desk, "preview_pack", pack="house", requests=1)) == 1
    stranger = curator(world, "/org/umbrella")
    assert state(stranger, "preview_pack", pack="house") == "42704"
    assert world.rows("SELECT FROM memwarden_data.pack_use") == []


@pytest.mark.every_version
def test_a_sample_is_looked_at_and_too_many_wrong_ones_switch_it_off(
    world: World, desk: Connection[DictRow]
) -> None:
    """By class; who administers switches it on again, and it counts anew.

    Proves: F11 (sample audit), Q7 (accuracy of auto-promotion)
    """
    ask(world, approval="pack_auto")
    agent, person = world.agent(HOME), reviewer(world)
    audit = {"rate": 1, "max_failure_rate": 0.5, "min_sample": 2}
    define(desk, EASY | {"sample_audit": audit})
    use(desk)
    for what in ("pump", "valve", "crane", "hoist"):
        said = write(agent, "semantic", f"the {what} was cheap", confidence=0.9, **LINK)
        assert said["outcome"] == "COMMITTED"
    drawn = person.execute("SELECT * FROM memwarden.audit_queue ORDER BY request_id").fetchall()
    assert drawn[0]["content"] == "the pump was cheap"
    assert [row["class"] for row in drawn] == ["evidence_link"] * 4
    first = drawn[0]["request_id"]
    call(person, "record_audit", request_id=first, was_right=True)
    assert state(person, "record_audit", request_id=first, was_right=False) == "42710"
    stranger = reviewer(world, scope="/org/umbrella")
    assert state(stranger, "record_audit", request_id=first, was_right=True) == "42704"
    call(
        person,
        "record_audit",
        request_id=drawn[1]["request_id"],
        was_right=False,
        note="it was dear",
    )
    assert world.rows("SELECT FROM memwarden_data.auto_promotion") == []
    call(person, "record_audit", request_id=drawn[2]["request_id"], was_right=False)
    [switched] = desk.execute("SELECT * FROM memwarden.auto_promotion").fetchall()
    assert not switched["enabled"]
    assert switched["reason"] == "2 of 3 audited were wrong"
    assert (switched["sampled"], switched["verdicts"], switched["wrong"]) == (4, 3, 2)
    waits = write(agent, "semantic", "the ramp was cheap", confidence=0.9, **LINK)
    assert waits["outcome"] == "DEFERRED"
    other = write(agent, "semantic", "it rained", confidence=0.9, **{"class": "decision_outcome"})
    assert other["outcome"] == "COMMITTED"
    on = {"pack": "house", "class": "evidence_link", "enabled": True, "reason": "thresholds raised"}
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        call(person, "set_auto_promotion", **on)
    call(desk, "set_auto_promotion", **on)
    call(person, "record_audit", request_id=drawn[3]["request_id"], was_right=False)
    again = write(agent, "semantic", "the gate was cheap", confidence=0.9, **LINK)
    assert again["outcome"] == "COMMITTED"


def test_the_draw_is_the_same_for_ever_and_near_its_rate(world: World) -> None:
    """By the request's number alone, keyed.

    Proves: F11 (deterministic sample)
    """
    drawn = world.rows(
        "SELECT memwarden_internal.sample_position(id) AS one,"
        "       memwarden_internal.sample_position(id) AS other"
        "  FROM (SELECT memwarden_internal.uuid7() AS id FROM generate_series(1, 2000)) AS t"
    )
    assert all(row["one"] == row["other"] and 0 <= row["one"] < 1 for row in drawn)
    assert 100 < sum(row["one"] < 0.1 for row in drawn) < 300


def test_a_proposal_has_the_shape_of_the_fabric(world: World, desk: Connection[DictRow]) -> None:
    """Member by member; for whoever may decide, and nobody else.

    Proves: F3, F6 (contradiction check)
    """
    agent, person = world.agent(HOME), reviewer(world)
    key = {"subject": "customer:cus_77", "predicate": "prefers_communication_channel"}
    old = write(agent, "semantic", "phone", **key)
    ask(world, approval="pack_auto")
    call(
        desk, "record_consent", subject="customer:cus_77", purpose="personalisation",
        decision="granted",
    )  # fmt: skip
    waits = write(
        agent, "semantic", "email", confidence=0.93, **key, **{"class": "preference"},
        evidence=[{"uri": "tool:crm.lookup:tc_212"}, {"uri": "session:sess_42f1"}],
    )  # fmt: skip
    assert waits["outcome"] == "DEFERRED", waits
    [told] = call(person, "proposal", proposal_id=waits["request_id"])
    assert told["proposal"] == {
        "proposal_id": str(waits["request_id"]),
        "candidate": {
            "entity_ceid": "customer:cus_77",
            "predicate": "prefers_communication_channel",
            "value": "email",
            "evidence_refs": ["tool:crm.lookup:tc_212", "session:sess_42f1"],
            "confidence": 0.93,
        },
        "class": "preference",
        "tier_target": "semantic",
        "consent_check": "passed",
        "contradiction_check": {"existing": str(old["item_id"]), "verdict": "superseded"},
        "auto_promote_eligible": False,
    }
    fresh = write(agent, "semantic", "it rains", **{"class": "evidence_link"})
    [told] = call(person, "proposal", proposal_id=fresh["request_id"])
    assert told["proposal"]["contradiction_check"] == {"existing": None, "verdict": "no_conflict"}
    assert told["proposal"]["consent_check"] == "not_required"
    listed = person.execute("SELECT proposal_id FROM memwarden.proposals").fetchall()
    assert {row["proposal_id"] for row in listed} == {waits["request_id"], fresh["request_id"]}
    stranger = reviewer(world, scope="/org/umbrella")
    [told] = call(stranger, "proposal", proposal_id=waits["request_id"])
    assert told["proposal"] is None
    mere = join(world, HOME, "curator")
    assert mere.execute("SELECT * FROM memwarden.proposals").fetchall() == []


def test_a_layer_over_its_budget_is_told_of(world: World, desk: Connection[DictRow]) -> None:
    """To who administers; nothing is refused for it.

    Proves: F11 (storage and index budgets per tier), Q4 (store size)
    """
    agent = world.agent(HOME)
    call(desk, "set_storage_budget", layer="semantic", max_items=1)
    write(agent, "semantic", "one")
    mine = "SELECT layer, items, max_items, exceeded FROM memwarden.storage_budgets"
    assert desk.execute(mine).fetchall() == [
        {"layer": "semantic", "items": 1, "max_items": 1, "exceeded": False}
    ]
    warning = (
        "SELECT state FROM memwarden.status() WHERE component = 'storage budgets' AND state <> 'ok'"
    )
    assert world.rows(warning) == []
    assert write(agent, "semantic", "two")["outcome"] == "COMMITTED"
    assert desk.execute(mine).fetchall()[0]["exceeded"]
    assert len(world.rows(warning)) == 1
    assert world.value("SELECT min(bytes) FROM memwarden_internal.list_storage_budgets()") > 0
    call(desk, "set_storage_budget", layer="semantic")
    assert world.rows(warning) == []
