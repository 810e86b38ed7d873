"""A memory lies where its rules allow it, or it is not written."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write, write_many

REMOVE = "SELECT * FROM memwarden.remove_copies(%s)"
BREACHES = (
    "SELECT class, place, region, allowed, memories FROM memwarden.residency_breaches"
    " WHERE org = %s ORDER BY class NULLS FIRST, place"
)


@pytest.fixture
def store(shared_world: World) -> Iterator[World]:
    """A server in the EU; afterwards no rule is left for the organisations of other tests."""
    for region in ("eu", "eu-west", "us"):
        shared_world.admin.execute("SELECT memwarden.define_region(%s)", (region,))
    shared_world.admin.execute("SELECT memwarden.set_region('eu')")
    yield shared_world
    shared_world.admin.execute("DELETE FROM memwarden_data.residency_rule")
    shared_world.admin.execute("DELETE FROM memwarden_data.node")


@pytest.fixture
def org() -> str:
    """An organisation that no other test uses."""
    return f"o{uuid.uuid4().hex[:12]}"


@pytest.fixture
def agent(store: World, org: str) -> Connection[DictRow]:
    """An agent of that organisation."""
    return store.agent(f"/org/{org}/user/ana")


def allow(store: World, regions: list[str] | None, **arguments: object) -> None:
    """Set a rule, as an administrator."""
    names = "".join(f", {name} => %({name})s" for name in arguments)
    store.admin.execute(
        f"SELECT memwarden.set_residency(%(regions)s{names})", {"regions": regions} | arguments
    )


def test_a_write_outside_its_regions_is_a_recorded_refusal(
    store: World, agent: Connection[DictRow], org: str
) -> None:
    """Alone and in a batch, with the reason, where it was and where it may be; nothing is kept.

    Proves: R4
    """
    allow(store, ["us", "eu-west"], org=org)
    batch = write_many(agent, [{"layer": "semantic", "content": f"fact {n}"} for n in range(3)])
    for answer in [write(agent, "semantic", "Ana lives in Graz"), *batch]:
        assert (answer["outcome"], answer["reason"]) == ("REJECTED", "RESIDENCY")
        assert answer["gate"] == "06_access"
        assert answer["detail"] == {"region": "eu", "allowed": ["eu-west", "us"]}
    stored = store.rows(
        "SELECT r.reason, num_nonnulls(r.content, r.content_hash, r.subject) AS kept"
        "  FROM memwarden_data.write_request AS r"
        "  JOIN memwarden_data.organisation AS o USING (org_id) WHERE o.name = %s",
        org,
    )
    assert stored == [{"reason": "RESIDENCY", "kept": 0}] * 4
    assert store.rows(BREACHES, org) == []


def test_where_the_region_is_allowed_plain_writes_stay_plain(
    store: World, agent: Connection[DictRow], org: str
) -> None:
    """They may be decided as a set, as without a rule; where it is not, the gates say why not.

    Proves: R4
    """
    plain = (
        "SELECT cardinality(memwarden_internal.plain_terms("
        "       p.principal_id, ARRAY[NULL]::text[], '{semantic}', '{}'))"
        "  FROM memwarden_data.principal AS p JOIN memwarden_data.organisation AS o USING (org_id)"
        " WHERE o.name = %s"
    )
    assert write(agent, "semantic", "The door is blue")["outcome"] == "COMMITTED"
    assert store.value(plain, org) == 1
    allow(store, ["eu"], org=org)
    assert store.value(plain, org) == 1
    assert write(agent, "semantic", "The oven is warm")["outcome"] == "COMMITTED"
    allow(store, ["us"], org=org, expected=2)
    assert store.value(plain, org) == 0


def test_a_rule_of_the_organisation_goes_before_the_one_for_all(
    store: World, agent: Connection[DictRow], org: str
) -> None:
    """All is refused by default, and one organisation may.

    Proves: R4
    """
    other = store.agent(f"/org/x{org}/user/bo")
    allow(store, ["us"], expected=store.value("SELECT count(*) FROM memwarden_data.item"))
    assert write(agent, "semantic", "one")["reason"] == "RESIDENCY"
    allow(store, ["us", "eu"], org=org)
    assert write(agent, "semantic", "two")["outcome"] == "COMMITTED"
    assert write(other, "semantic", "two")["reason"] == "RESIDENCY"
    allow(store, None)
    assert write(other, "semantic", "three")["outcome"] == "COMMITTED"


def test_a_class_has_regions_of_its_own(store: World, agent: Connection[DictRow], org: str) -> None:
    """Both rules must allow a region; of other classes the organisation's alone is asked.

    Proves: R4
    """
    store.admin.execute("SELECT memwarden.define_write_class('health', org => %s)", (org,))
    allow(store, ["eu-west", "us"], org=org, **{"class": "health"})
    allow(store, ["eu", "eu-west"], org=org)
    refused = write(agent, "semantic", "Ana is ill", **{"class": "health"})
    assert refused["detail"] == {"region": "eu", "allowed": ["eu-west"]}
    assert write(agent, "semantic", "Ana is here")["outcome"] == "COMMITTED"
    allow(store, None, org=org, **{"class": "health"})
    kept = write(agent, "semantic", "Ana is ill", **{"class": "health"})
    assert kept["outcome"] == "COMMITTED"
    allow(store, ["us"], org=org, expected=1, **{"class": "health"})
    place = {"place": "this server", "region": "eu", "memories": 1}
    assert store.rows(BREACHES, org) == [{"class": "health", "allowed": []} | place]


def test_nothing_lies_where_nobody_has_said_where_that_is(
    store: World, agent: Connection[DictRow], org: str
) -> None:
    """Under a rule, a server without a region refuses; so does one that a dump was restored into.

    Proves: R4
    """
    allow(store, ["eu"], org=org)
    store.admin.execute("UPDATE memwarden_data.node SET system_identifier = 7")
    refused = write(agent, "semantic", "one")
    assert refused["reason"] == "RESIDENCY"
    assert refused["detail"] == {"region": None, "allowed": ["eu"]}
    status = "SELECT state, detail FROM memwarden.status() WHERE component = 'residency'"
    (row,) = store.rows(status)
    assert row["state"] == "warning"
    assert "set_region" in row["detail"]
    store.admin.execute("SELECT memwarden.set_region('eu')")
    assert write(agent, "semantic", "one")["outcome"] == "COMMITTED"
    assert store.rows(status) == [{"state": "ok", "detail": "this server is in eu"}]


@pytest.mark.every_version
def test_copies_of_an_organisation_are_removed_where_nobody_wrote(store: World, org: str) -> None:
    """Its scopes with them; of another that was written here nothing goes.

    Proves: R4
    """
    store.scope(f"/org/{org}/user/ana")
    gone = {row["place"]: row["rows"] for row in store.rows(REMOVE, org)}
    assert gone["scope"] >= 1
    written = f"{org}w"
    write(store.agent(f"/org/{written}/user/ana"), "semantic", "one")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        store.rows(REMOVE, written)


def test_no_session_can_claim_another_region(
    store: World, agent: Connection[DictRow], org: str
) -> None:
    """Neither by a setting, nor by a call, nor by a table.

    Proves: R4
    """
    store.admin.execute("SELECT memwarden.set_region('us', node => 'pg-us')")
    allow(store, ["us"], org=org)
    admin = store.connect(store.role("memwarden_admin"))
    with pytest.raises(psycopg.errors.CantChangeRuntimeParam):
        agent.execute("SET cluster_name = 'pg-us'")
    for session in (agent, admin):
        for call in (
            "SELECT memwarden.set_region('us')",
            "UPDATE memwarden_data.node SET region = 'us'",
            "INSERT INTO memwarden_data.residency_rule VALUES (1, '*', '{eu}', now())",
            "SELECT * FROM memwarden.create_region_publication('us')",
            f"SELECT * FROM memwarden.remove_copies('{org}')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(call)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT memwarden.set_residency('{eu}')")
    assert write(agent, "semantic", "one")["reason"] == "RESIDENCY"


def test_a_rule_that_memories_break_asks_for_their_number(
    store: World, agent: Connection[DictRow], org: str
) -> None:
    """It says how many, changes nothing, and takes the number as a confirmation.

    Proves: R4
    """
    for n in range(3):
        assert write(agent, "semantic", f"fact {n}")["outcome"] == "COMMITTED"
    for expected in (None, 2):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as raised:
            allow(store, ["us"], org=org, expected=expected)
        assert "3 memories would lie outside" in str(raised.value.diag.message_detail)
    assert store.rows(BREACHES, org) == []
    allow(store, ["us"], org=org, expected=3)
    place = {"class": None, "place": "this server", "region": "eu"}
    assert store.rows(BREACHES, org) == [place | {"allowed": ["us"], "memories": 3}]
    # What is broken already is not asked for again; a standby that holds a copy is.
    allow(store, ["us"], org=org)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        store.admin.execute("SELECT memwarden.set_region('eu-west', node => 'pg-eu-2')")
    store.admin.execute("SELECT memwarden.set_region('eu-west', node => 'pg-eu-2', expected => 3)")
    assert [row["place"] for row in store.rows(BREACHES, org)] == ["standby pg-eu-2", "this server"]


def test_a_write_under_way_when_the_rule_comes_is_found(
    store: World, agent: Connection[DictRow], org: str
) -> None:
    """It commits after the rule, and residency_breaches lists it.

    Proves: R4
    """
    with agent.transaction():
        assert write(agent, "semantic", "under way")["outcome"] == "COMMITTED"
        allow(store, ["us"], org=org)
        assert store.rows(BREACHES, org) == []
        assert write(agent, "semantic", "after the rule")["reason"] == "RESIDENCY"
    assert [row["memories"] for row in store.rows(BREACHES, org)] == [1]


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        ("set_residency('{eu,mars}')", psycopg.errors.UndefinedObject, "'mars'; there are: eu"),
        ("set_residency('{}')", psycopg.errors.InvalidParameterValue, "at least one"),
        ("set_residency('{eu,NULL}')", psycopg.errors.UndefinedObject, "region NULL"),
        ("set_residency('{eu}', org => 'nobody')", psycopg.errors.UndefinedObject, "'nobody'"),
        ("set_residency('{eu}', class => 'none')", psycopg.errors.UndefinedObject, "'none'"),
        ("set_residency(NULL)", psycopg.errors.UndefinedObject, "no such rule"),
        ("set_region('mars')", psycopg.errors.UndefinedObject, "'mars'"),
        ("set_region(NULL, node => 'none')", psycopg.errors.UndefinedObject, "node 'none'"),
        ("define_region('E U')", psycopg.errors.InvalidParameterValue, "lower-case"),
        ("create_region_publication('mars')", psycopg.errors.UndefinedObject, "'mars'"),
        ("remove_copies('nobody')", psycopg.errors.UndefinedObject, "'nobody'"),
    ],
)
def test_what_is_wrong_is_named(store: World, call: str, error: type[Exception], told: str) -> None:
    """Unknown regions with those that there are, and everything else by its name."""
    with pytest.raises(error) as raised:
        store.admin.execute(f"SELECT memwarden.{call}")
    assert isinstance(raised.value, psycopg.Error)
    assert told in str(raised.value.diag.message_detail)


def test_what_no_gate_sees_is_refused_too(
    store: World, agent: Connection[DictRow], org: str
) -> None:
    """Captures and sessions hold what was said, and raise.

    Proves: R4
    """
    allow(store, ["us"], org=org)
    for call in (
        "memwarden.capture('chat', '\"Ana lives in Graz\"')",
        "memwarden.open_session(NULL, 'move')",
    ):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as raised:
            agent.execute(f"SELECT {call}")
        assert '"allowed": ["us"]' in str(raised.value.diag.message_detail)
    (told,) = agent.execute(
        'SELECT fault FROM memwarden.capture_many(\'[{"source": "chat", "content": "x"}]\')'
    ).fetchall()
    assert told == {"fault": "55000"}


def test_each_organisation_sees_its_own_rules(store: World, org: str) -> None:
    """An auditor reads the rules and breaches of its organisation, an agent none, in no way."""
    theirs = f"x{org}"
    for name in (org, theirs):
        store.agent(f"/org/{name}/user/ana")
        allow(store, ["us"], org=name)
    role = store.register(f"/org/{org}", groups=["memwarden_auditor"])
    with store.connect(role) as auditor:
        rows = auditor.execute("SELECT org, regions FROM memwarden.residency").fetchall()
        assert rows == [{"org": org, "regions": ["us"]}]
        assert auditor.execute("SELECT * FROM memwarden.residency_breaches").fetchall() == []
        store.grant_tables(role)
        for table in ("residency_rule", "region", "node"):
            assert auditor.execute(f"SELECT * FROM memwarden_data.{table}").fetchall() == []
