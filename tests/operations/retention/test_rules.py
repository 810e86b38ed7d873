"""How long a memory may be kept, how long it must be, and which of several rules decides."""

from __future__ import annotations

import pytest

from access import administrator, call, refusal
from helpers import write
from operations.retention.conftest import PHONE, Office, remember

DRINK = {"subject": "Ana", "predicate": "drinks", "class": "preference"}


def test_the_classification_says_how_long_and_what_follows(office: Office) -> None:
    """Personal data 90 days, business 1 year, general 5 years, public for ever.

    Proves: R5 (periods and actions of the table)
    """
    agent = office.writer()
    lasting = {
        "personal": (remember(agent, PHONE), "90 days", "delete"),
        "business": (
            remember(agent, "the margin is 12 %", classification="confidential"),
            "1 year",
            "archive",
        ),
        "general": (remember(agent, "the office opens at nine"), "5 years", "cold"),
    }
    for name, (item, lasts, action) in lasting.items():
        assert office.terms(item, f"{lasts} -1 hour")["action"] is None
        due = office.terms(item, f"{lasts} 1 hour")
        assert (due["action"], due["rule"]) == (action, f"classification {name}")
        assert office.decides(item) == f"classification {name}"
    public = remember(agent, "water boils at 100 degrees", classification="public")
    assert office.terms(public, "900 years") == {"action": None, "rule": None, "lasts": None}
    assert office.decides(public) == "classification public"


def test_personal_is_what_holds_personal_data_or_needs_consent(office: Office) -> None:
    """A finding in an earlier version counts; what was taken out of the content does not.

    Proves: R5 (what is personal)
    """
    agent = office.agent()
    fact = {"subject": "invoice 7", "predicate": "contact"}
    item = remember(agent, "ana.kovac@example.org", **fact)
    assert remember(agent, "the front desk", **fact) == item
    (personal,) = [row for row in office.explain(item) if row["rule"] == "classification personal"]
    assert personal["because"] == {"found": ["pii.email"]}
    call(
        office.officer,
        "set_sensitivity_action",
        kind="pii.email",
        action="redact",
        org=office.org,
    )
    redacted = remember(office.agent(), "Write to ana.kovac@example.org")
    assert office.decides(redacted) == "classification general"
    office.consent("granted")
    preferred = remember(agent, "tea", **DRINK)
    assert office.decides(preferred) == "classification general"
    assert office.explain(preferred)[1]["rule"] == "classification personal"


def test_consent_extends_and_its_withdrawal_ends(office: Office) -> None:
    """Consent lasts as long as it says, and never shortens the 90 days by itself.

    Proves: R5 (or per consent)
    """
    agent = office.agent()
    office.consent("granted")
    item = remember(agent, "tea", **DRINK)
    assert office.terms(item, "4 years")["action"] is None
    until = office.later("200 days")
    office.consent("granted", valid_during=f"[2020-01-01,{until})")
    assert office.terms(item, "199 days")["action"] is None
    assert office.terms(item, "201 days")["action"] == "delete"
    office.consent("granted", valid_during=f"[2020-01-01,{office.later('1 day')})")
    assert office.terms(item, "89 days")["action"] is None
    assert office.terms(item, "91 days")["action"] == "delete"
    office.consent("withdrawn")
    assert office.terms(item, "1 minute")["action"] == "delete"
    assert office.decides(item) == "classification personal"


def test_the_shortest_permission_decides_and_each_rule_acts_in_its_time(office: Office) -> None:
    """A layer that lets memories go after a month does not spare them their deletion.

    Proves: R5 (several rules)
    """
    agent = office.agent()
    item = remember(agent, PHONE, layer="episodic")
    call(
        office.officer,
        "set_retention",
        layer="episodic",
        keep_at_most="30 days",
        afterwards="cold",
        org=office.org,
    )
    assert office.decides(item) == "layer episodic"
    assert office.terms(item, "31 days") | {"lasts": None} == {
        "action": "cold",
        "rule": "layer episodic",
        "lasts": None,
    }
    assert office.end(item, after="31 days") == (1, 0)
    assert office.state(item) == ("EXPIRED", ["cold"])
    assert office.terms(item, "31 days")["action"] is None
    assert office.end(item, after="91 days") == (0, 1)
    assert office.state(item) is None


def test_the_longest_duty_wins_over_every_permission(office: Office) -> None:
    """Also over the withdrawal of consent, which still keeps the memory from being read.

    Proves: R5 (the longest duty wins, the shortest permission loses)
    """
    agent = office.agent()
    office.consent("granted")
    item = remember(agent, "tea", **DRINK)
    for target, years in ({"class": "preference"}, "3 years"), ({"layer": "semantic"}, "10 years"):
        assert call(
            office.officer, "set_retention", **target, keep_at_least=years, org=office.org
        ) == [{"set_retention": 0}]
    office.consent("withdrawn")
    assert office.decides(item) == "layer semantic"
    assert office.terms(item, "9 years")["action"] is None
    assert office.terms(item, "10 years 1 day")["action"] == "delete"
    assert office.end(item, after="9 years") == (0, 0)


def test_counting_from_the_last_update(office: Office) -> None:
    """What is said anew lives on, where the rule says so.

    Proves: R5
    """
    agent = office.agent()
    fact = {"subject": "office", "predicate": "opens"}
    item = remember(agent, "at eight", **fact)
    world = office.world
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute(
            "UPDATE memwarden_data.item SET created_at = created_at - interval '6 years'"
            " WHERE item_id = %s",
            (item,),
        )
    assert office.terms(item)["action"] == "cold"
    rule = {"classification": "general", "counted_from": "update", "org": office.org}
    call(office.officer, "set_retention", **rule)
    assert office.terms(item)["action"] is None
    # Going back would end it at once.
    call(office.officer, "drop_retention", classification="general", org=office.org, expected=1)


@pytest.mark.every_version
def test_a_rule_that_ends_memories_at_once_wants_their_number(office: Office) -> None:
    """The number is in the message; nothing changes without it; legal holds do not count.

    Proves: R5
    """
    agent = office.agent()
    for n in range(3):
        remember(agent, f"note {n} of a day", layer="episodic")
    short = {"layer": "episodic", "keep_at_most": "1 microsecond", "org": office.org}
    for expected in ({}, {"expected": 2}):
        error = refusal(office.officer, "set_retention", **short, **expected)
        assert error.sqlstate == "22023"
        assert error.diag.message_detail is not None
        assert error.diag.message_detail.startswith("3 memories are beyond the rule now, 0 of")
    assert not office.world.rows("SELECT FROM memwarden.retention_rules WHERE org = %s", office.org)
    assert call(office.officer, "set_retention", **short, expected=3) == [{"set_retention": 3}]
    # Now they would be deleted, which is another thing.
    delete = {"layer": "episodic", "afterwards": "delete", "org": office.org}
    assert "3 of them" in str(
        refusal(office.officer, "set_retention", **delete).diag.message_detail
    )
    (row,) = office.world.rows(
        "SELECT applies_to, name, keep_at_most, afterwards FROM memwarden.retention_rules"
        " WHERE org = %s",
        office.org,
    )
    assert (row["applies_to"], row["name"], row["afterwards"]) == ("layer", "episodic", "archive")
    assert call(office.officer, "drop_retention", layer="episodic", org=office.org) == [
        {"drop_retention": 0}
    ]


@pytest.mark.parametrize(
    ("arguments", "sqlstate"),
    [
        ({"classification": "secret", "keep_at_most": "1 day"}, "42704"),
        ({"layer": "cellar", "keep_at_most": "1 day"}, "42704"),
        ({"class": "gossip", "keep_at_most": "1 day"}, "42704"),
        ({"keep_at_most": "1 day"}, "22023"),
        ({"layer": "episodic", "class": "preference", "keep_at_most": "1 day"}, "22023"),
        ({"layer": "episodic"}, "22023"),
        ({"layer": "episodic", "keep_at_most": "-1 day"}, "22023"),
        ({"layer": "episodic", "keep_at_most": "0"}, "22023"),
        ({"layer": "episodic", "keep_at_most": "1001 years"}, "22023"),
        ({"layer": "episodic", "keep_at_least": "-infinity"}, "22023"),
        ({"layer": "episodic", "keep_at_least": "infinity"}, "22023"),
        ({"layer": "episodic", "keep_at_most": "1 day", "keep_at_least": "2 days"}, "22023"),
        ({"layer": "episodic", "afterwards": "burn"}, "22023"),
        ({"layer": "episodic", "counted_from": "yesterday"}, "22023"),
        ({"layer": "episodic", "keep_at_most": "1 day", "expected": 7}, "22023"),
        ({"layer": "episodic", "keep_at_most": "1 day", "org": "nobody"}, "42501"),
    ],
)
def test_bad_rules_are_named(office: Office, arguments: dict[str, str], sqlstate: str) -> None:
    """An unknown target, an interval that is none, a duty beyond the permission.

    Proves: R5
    """
    error = refusal(office.officer, "set_retention", **({"org": office.org} | arguments))
    assert error.sqlstate == sqlstate


def test_who_may_set_rules_and_who_may_ask(office: Office) -> None:
    """Administrators of the organisation; whoever sees a memory may ask how long it stays.

    Proves: R5
    """
    agent = office.agent()
    item = remember(agent, "the office opens at nine")
    stranger = office.world.agent("/org/elsewhere/user/eve")
    for connection in agent, stranger:
        error = (
            refusal(connection, "explain_retention", item_id=item)
            if (connection is stranger)
            else None
        )
        assert error is None or error.sqlstate == "42704"
        with pytest.raises(Exception, match="permission denied"):
            call(connection, "set_retention", layer="episodic", keep_at_most="1 year")
    assert [row["rule"] for row in call(agent, "explain_retention", item_id=item)] == [
        "classification general"
    ]
    rules = administrator(office.world).execute("SELECT * FROM memwarden.retention_rules")
    assert len(rules.fetchall()) >= 4
    assert (
        stranger.execute(
            "SELECT FROM memwarden.retention_rules WHERE org = %s", (office.org,)
        ).fetchall()
        == []
    )


def test_pins_and_links_yield_and_a_hold_does_not(office: Office) -> None:
    """Retention goes before relevance, pins and links of actions; a legal hold goes before it.

    Proves: R5 (overrides relevance), Z5 (an agent does not learn of a hold)
    """
    agent = office.agent()
    item = remember(agent, PHONE)
    principal = {"org": office.org_id, "item": item}
    office.world.admin.execute(
        "INSERT INTO memwarden_data.pin (org_id, item_id, scope_id, reason, principal_id, login,"
        " pinned_at) SELECT i.org_id, i.item_id, i.scope_id, 'dear', i.principal_id, 'ana', now()"
        "  FROM memwarden_data.item AS i WHERE i.item_id = %(item)s",
        principal,
    )
    office.world.admin.execute(
        "INSERT INTO memwarden_data.action_link (org_id, action_id, principal_id, version_id,"
        " item_org_id, item_id, distance, linked_at)"
        "SELECT i.org_id, 'payment 7', i.principal_id, i.version_id, i.org_id, i.item_id, 0, now()"
        "  FROM memwarden_data.item AS i WHERE i.item_id = %(item)s",
        principal,
    )
    office.world.admin.execute(
        "INSERT INTO memwarden_data.legal_hold (org_id, hold_id, reason, item_id, four_eyes,"
        " set_at, set_login)"
        " VALUES (%(org)s, gen_random_uuid(), 'case 9', %(item)s, false, now(), 'law')",
        principal,
    )
    assert {row["rule"]: row["decides"] for row in office.explain(item)} == {
        "legal hold": True,
        "classification personal": False,
        "classification general": False,
        "pin": False,
        "action link": False,
    }
    # Who is under inquiry does not learn of it, nor a reader of the actions of others.
    reader = office.agent(role="contributor")
    told = {row["rule"]: row for row in call(reader, "explain_retention", item_id=item)}
    assert "legal hold" not in told
    assert told["classification personal"]["decides"]
    assert told["classification personal"]["ends_at"] is not None
    assert told["action link"]["because"] == {"kept": "an action"}
    assert office.end(item, after="91 days") == (0, 0)
    office.world.admin.execute(
        "UPDATE memwarden_data.legal_hold SET lifted_at = now(), lifted_login = 'law',"
        " lift_reason = 'settled' WHERE item_id = %(item)s",
        principal,
    )
    assert office.decides(item) == "classification personal"
    assert office.end(item, after="91 days") == (0, 1)
    assert write(agent, "semantic", "a later note")["outcome"] == "COMMITTED"
    assert office.findings() == []
