"""Rules are data: with tests of their own, versions, and places where they hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, join
from helpers import write

if TYPE_CHECKING:
    from conftest import World

    from .conftest import House

BADGE: dict[str, Any] = {
    "rule": "badge",
    "kind": "pii.badge",
    "definition": {"pattern": r"\bAB-[0-9]{5}\b", "prefilter": ["AB-"]},
    "tests": {"positive": ["badge AB-12345"], "negative": ["AB-123", "tea"]},
    "level": "high",
    "action": "block",
}
SEEN = {"text": "the badge AB-12345 was seen"}


def define(connection: Connection[DictRow], **changed: Any) -> int:
    """Define the rule of the tests, with something changed; return its version."""
    arguments = {
        name: Jsonb(value) if isinstance(value, dict) else value
        for name, value in (BADGE | changed).items()
    }
    return int(
        call(connection, "define_sensitivity_rule", **arguments)[0]["define_sensitivity_rule"]
    )


def fault(connection: Connection[DictRow], **changed: Any) -> tuple[str | None, str]:
    """Define a rule that must be refused; return SQLSTATE and detail."""
    with pytest.raises(psycopg.Error) as raised:
        define(connection, **changed)
    return raised.value.sqlstate, raised.value.diag.message_detail or ""


def test_every_rule_that_is_shipped_passes_its_tests(shared_world: World) -> None:
    """And has some: what it finds, and what it lets be.

    Proves: L10, Z3
    """
    assert call(shared_world.admin, "test_sensitivity_rules") == []
    rows = shared_world.rows("SELECT * FROM memwarden.sensitivity_rules WHERE shipped AND current")
    assert len(rows) > 30
    kinds = {row["kind"].partition(".")[0] for row in rows}
    assert {"pii", "secret", "injection", "invisible"} <= kinds
    assert [
        r["rule"] for r in rows if not r["tests"]["positive"] or not r["tests"]["negative"]
    ] == []


@pytest.mark.every_version
def test_a_rule_of_an_organisation_holds_there_from_the_next_write_on(house: House) -> None:
    """Each definition is a version; switched off, it finds nothing; elsewhere it never did.

    Proves: L10
    """
    curator = house.curator()
    assert write(house.agent, "semantic", SEEN)["outcome"] == "COMMITTED"
    assert define(curator) == 1
    blocked = write(house.agent, "episodic", SEEN)
    assert blocked["detail"]["findings"][0]["kind"] == "pii.badge"
    neighbour = join(house.world, f"/org/{house.org}x/user/bo")
    assert write(neighbour, "semantic", SEEN)["outcome"] == "COMMITTED"
    call(curator, "enable_sensitivity_rule", rule="badge", enabled=False)
    assert write(house.agent, "episodic", SEEN)["outcome"] == "COMMITTED"
    call(curator, "enable_sensitivity_rule", rule="badge")
    assert define(curator, layers=["semantic"]) == 2
    assert write(house.agent, "session", SEEN)["outcome"] == "COMMITTED"
    assert write(house.agent, "semantic", SEEN | {"n": 1})["reason"] == "SENSITIVE_CONTENT"
    listed = curator.execute(
        "SELECT version, current, org FROM memwarden.sensitivity_rules"
        " WHERE rule = 'badge' ORDER BY version"
    ).fetchall()
    assert [(r["version"], r["current"], r["org"]) for r in listed] == [
        (1, False, house.org),
        (2, True, house.org),
    ]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tests": {"positive": ["AB-1"], "negative": ["tea"]}}, "positive test 1"),
        ({"tests": {"positive": ["AB-12345"], "negative": ["tea", "AB-54321"]}}, "negative test 2"),
        ({"tests": {"positive": ["AB-12345"], "negative": []}}, "at least one of each"),
        ({"tests": {"positive": ["AB-12345"]}}, "at least one of each"),
        ({"tests": {}}, "at least one of each"),
        ({"definition": {"pattern": r"(a+)\1"}}, "RE2"),
        ({"definition": {"pattern": r"(?=a)b"}}, "RE2"),
        ({"definition": {"detector": "no such"}}, "detector"),
        ({"definition": {}}, "either a detector or a pattern"),
        ({"definition": {"pattern": "a", "colour": 1}}, "colour"),
        ({"definition": {"pattern": "a", "action": "allow"}}, "definition"),
        ({"rule": "No Name"}, "id"),
        ({"kind": "badge"}, "kind"),
        ({"level": "dire"}, "level"),
        ({"action": "burn"}, "action"),
        ({"layers": []}, "layers"),
        ({"rule": None}, "id"),
        ({"level": None}, "level"),
    ],
)
def test_a_rule_that_cannot_serve_is_refused(
    shared_world: World, changed: dict[str, Any], said: str
) -> None:
    """With the test that fails, or the member that is wrong; no pattern can take long.

    Proves: L10
    """
    state, detail = fault(shared_world.admin, **changed)
    assert (state, said in detail) == ("22023", True), detail
    assert "AB-1" not in detail


def test_a_rule_of_an_organisation_does_not_displace_one_of_all(house: House) -> None:
    """Neither by its name, nor by finding more in the same place and letting it be.

    Proves: L10
    """
    curator = house.curator()
    assert fault(curator, rule="pii.card")[0] == "42710"
    wide = {"pattern": "(?s).+", "score": 1}
    tests = {"positive": ["a"], "negative": [""]}
    for action in ("allow", "flag"):
        define(curator, definition=wide, tests=tests, action=action)
        answer = write(house.agent, "semantic", {"card": "4111 1111 1111 1111"})
        assert answer["reason"] == "SENSITIVE_CONTENT", action


def test_agents_and_foreigners_make_no_rules(house: House) -> None:
    """An agent has no right to ask; a curator of another organisation none there.

    Proves: L10
    """
    assert fault(house.agent)[0] == "42501"
    assert fault(house.auditor)[0] == "42501"
    assert fault(house.curator(), org="global")[0] == "42501"
    assert fault(house.curator(), org="no such organisation")[0] == "42501"


def test_setup_brings_in_what_is_new_and_leaves_what_was_changed(world: World) -> None:
    """Rules of a release are replaced by those of the next; an administrator's stay, and switches.

    Proves: L10
    """
    admin = world.admin
    query = (
        "SELECT rule, version, action, enabled, shipped, definition"
        "  FROM memwarden.sensitivity_rules WHERE current AND rule = ANY (%s) ORDER BY rule"
    )
    names = ["pii.card", "pii.email", "pii.iban"]
    before = {row["rule"]: row for row in admin.execute(query, (names,))}
    own = {"pattern": "[a-z]+@[a-z]+", "description": "ours"}
    define(
        admin,
        rule="pii.email",
        kind="pii.email",
        definition=own,
        tests={"positive": ["a@b"], "negative": ["tea"]},
    )
    call(admin, "enable_sensitivity_rule", rule="pii.iban", enabled=False)
    call(admin, "set_sensitivity_action", action="flag", kind="pii.card")
    # As an earlier release may have left them.
    admin.execute(
        "UPDATE memwarden_data.sensitivity_rule SET definition = definition || '{\"score\": 0.1}'"
        " WHERE rule IN ('pii.card', 'pii.iban')"
    )
    admin.execute(
        "INSERT INTO memwarden_data.sensitivity_rule SELECT (jsonb_populate_record(r,"
        ' \'{"rule": "gone"}\')).* FROM memwarden_data.sensitivity_rule AS r'
        " WHERE rule = 'pii.iban'"
    )
    admin.execute("SELECT memwarden.setup()")
    after = {row["rule"]: row for row in admin.execute(query, ([*names, "gone"],))}
    assert set(after) == set(names)
    assert after["pii.email"]["definition"] == own
    assert after["pii.card"]["definition"] == before["pii.card"]["definition"]
    assert (after["pii.card"]["version"], after["pii.card"]["shipped"]) == (2, True)
    assert (after["pii.iban"]["version"], after["pii.iban"]["enabled"]) == (2, False)
    agent = world.agent()
    assert write(agent, "semantic", {"card": "4111 1111 1111 1111"})["outcome"] == "COMMITTED"
    assert write(agent, "semantic", {"mail": "x a@b y"})["reason"] == "SENSITIVE_CONTENT"
    # And once more changes nothing.
    admin.execute("SELECT memwarden.setup()")
    assert {row["rule"]: row for row in admin.execute(query, ([*names, "gone"],))} == after


def test_text_can_be_asked_about_without_writing_it(house: House, secret: str) -> None:
    """By the rules of the caller's organisation and the layer that it names.

    Proves: L10, Z3
    """
    text = f"say {secret} to ana@example.org"
    found = call(house.agent, "scan_text", text=text)
    assert [
        (r["kind"], r["action"], text[r["start"] : r["start"] + r["length"]]) for r in found
    ] == [
        ("secret.github_token", "block", secret),
        ("pii.email", "flag", "ana@example.org"),
    ]
    define(house.curator(), layers=["semantic"])
    asked = [
        call(house.agent, "scan_text", text="AB-12345", layer=name)
        for name in ("semantic", "session")
    ]
    assert [len(rows) for rows in asked] == [1, 0]
    for bad in (None, "a" * 1_000_001):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="outside"):
            call(house.agent, "scan_text", text=bad)
    assert call(house.world.admin, "scan_text", text="AB-12345 or tea") == []
    stranger = house.world.connect(house.world.role("memwarden_agent"))
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
        call(stranger, "scan_text", text=text)


def test_the_view_of_rules_tells_nothing_of_other_organisations(house: House) -> None:
    """A curator sees the rules of all and those of the organisation; agents see none.

    Proves: L10, A3
    """
    define(house.curator(), rule=f"r.{house.org}")
    other = join(house.world, f"/org/{house.org}x", "auditor", descendants=True)
    rows = other.execute("SELECT rule FROM memwarden.sensitivity_rules").fetchall()
    names = [row["rule"] for row in rows]
    assert "pii.email" in names
    assert house.org not in json.dumps(names)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        house.agent.execute("SELECT FROM memwarden.sensitivity_rules")
