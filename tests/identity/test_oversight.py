"""Who may do what is shown to those who answer for it, each in its organisation."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import administrator, call, curator, join, name_of
from conftest import World

VIEWS = ["agents", "roles", "policies", "access_changes"]
TABLES = [
    *("organisation", "principal", "access_role", "role_permission", "attribute"),
    *("policy_set", "policy", "scope_grant", "token", "access_log"),
]


class Estate:
    """Two organisations and the one of all, each with an agent, a role, a policy and a token."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.places = {"acme": "/org/acme", "other": "/org/other", "global": "/global"}
        self.agents: dict[str, str] = {}
        self.curators: dict[str, Connection[DictRow]] = {}
        self.auditors: dict[str, Connection[DictRow]] = {}
        world.scope("/org/acme/user/ana")
        for org, place in self.places.items():
            about: dict[str, Any] = {"role": "curator"}
            if org != "global":
                world.scope(place)
            self.curators[org] = self.person(place, "curator", **about)
            self.auditors[org] = self.person(place, "auditor")
            self.agents[org] = f"agent of {org}"
            call(world.admin, "register_agent", name=self.agents[org], scope=place)
            call(world.admin, "define_role", name=f"role_of_{org}", permissions=[], org=org)
            call(world.admin, "define_attribute", bearer="agent", name=f"of_{org}", org=org)
            about = {"default_effect": "allow", "operations": ["ADMIN"], "org": org}
            call(world.admin, "define_policy_set", name=f"set of {org}", **about)
            about = {"name": f"policy of {org}", "effect": "allow", "condition": "TRUE"}
            call(world.admin, "set_policy", policy_set=f"set of {org}", **about, org=org)
            self.token(org)

    def person(self, place: str, group: str, **standing: Any) -> Connection[DictRow]:
        """Register a curator or auditor, also in /global, which no helper creates."""
        login = self.world.role(f"memwarden_{group}")
        about = {"name": login, "scope": place, "login_role": login}
        call(self.world.admin, "register_agent", **about, **standing)
        return self.world.connect(login)

    def token(self, org: str) -> None:
        """Put a token of the organisation's agent into the store: looking at it takes no key."""
        self.world.admin.execute(
            "WITH made AS (INSERT INTO memwarden_data.token_key (salt)"
            "              VALUES (sha256('')) RETURNING key_id)"
            " INSERT INTO memwarden_data.token SELECT gen_random_uuid(), made.key_id,"
            "        p.principal_id, 'audience', 'broker', now(), now(), NULL"
            "   FROM made, memwarden_data.principal AS p WHERE p.name = %s",
            (self.agents[org],),
        )


@pytest.fixture
def estate(world: World) -> Estate:
    """Three organisations in a database of their own."""
    return Estate(world)


def test_curators_and_auditors_see_their_own_organisation_and_what_holds_for_all(
    estate: Estate,
) -> None:
    """Agents and changes of their own; roles and policies of their own and of all.

    Proves: A1, A3
    """
    for org in ("acme", "other"):
        for who in (estate.curators[org], estate.auditors[org]):
            seen = {
                view: who.execute(f"SELECT * FROM memwarden.{view}").fetchall() for view in VIEWS
            }
            assert {row["org"] for row in seen["agents"]} == {org}
            assert {row["agent"] for row in seen["agents"]} == {
                estate.agents[org],
                name_of(estate.curators[org]),
                name_of(estate.auditors[org]),
            }
            assert {row["org"] for row in seen["roles"]} == {org, "global"}
            roles = {row["role"] for row in seen["roles"]}
            assert roles >= {"executor", "curator", f"role_of_{org}", "role_of_global"}
            assert {row["policy"] for row in seen["policies"]} == {
                f"policy of {org}",
                "policy of global",
            }
            assert {row["org"] for row in seen["access_changes"]} == {org}
            assert len(seen["access_changes"]) == 9


def test_the_tables_would_show_no_more_than_the_views(estate: Estate) -> None:
    """Curators hold no right to them; where one is granted all the same, row security holds.

    Proves: A3
    """
    ids = estate.world.rows(
        "SELECT o.org_id, o.name AS org, p.principal_id"
        "  FROM memwarden_data.principal AS p JOIN memwarden_data.organisation AS o USING (org_id)"
    )
    principals = {row["principal_id"]: row["org"] for row in ids}
    orgs = {row["org_id"]: row["org"] for row in ids}
    overseers = [estate.curators["acme"], estate.auditors["acme"]]
    for table in [*TABLES, "principal_login", "principal_identity", "token_key"]:
        for who in overseers:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                who.execute(f"SELECT * FROM memwarden_data.{table}")
        grant = f"GRANT SELECT ON memwarden_data.{table} TO memwarden_curator, memwarden_auditor"
        estate.world.admin.execute(grant)
        for who in overseers:
            rows = who.execute(f"SELECT * FROM memwarden_data.{table}").fetchall()
            assert bool(rows) == (table in TABLES), table
            assert "other" not in str(rows), table
            whose = {principals[row["principal_id"]] for row in rows if row.get("principal_id")}
            assert whose <= {"acme"}, table
            assert {orgs[row["org_id"]] for row in rows if "org_id" in row} <= {"acme", "global"}


def test_those_of_global_oversee_nobody(estate: Estate) -> None:
    """What holds for all is the administrators' matter.

    Proves: A3
    """
    for who in (estate.curators["global"], estate.auditors["global"]):
        for view in VIEWS:
            assert who.execute(f"SELECT * FROM memwarden.{view}").fetchall() == []


def test_administrators_see_all_and_agents_nothing(estate: Estate) -> None:
    """Who has neither a right nor an identity is refused, or shown an empty view.

    Proves: A1, A3
    """
    admin = administrator(estate.world)
    for view in VIEWS:
        rows = admin.execute(f"SELECT * FROM memwarden.{view}").fetchall()
        assert {row["org"] for row in rows} == {"acme", "other", "global"}
    assert "memwarden" not in {
        row["agent"] for row in admin.execute("SELECT agent FROM memwarden.agents")
    }
    for group in ("agent", "reviewer", "broker"):
        other = join(estate.world, "/org/acme", group, role="curator")
        for view in VIEWS:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(f"SELECT * FROM memwarden.{view}")
    for group in ("curator", "auditor"):
        unbound = estate.world.connect(estate.world.role(f"memwarden_{group}"))
        for view in VIEWS:
            assert unbound.execute(f"SELECT * FROM memwarden.{view}").fetchall() == []


def test_the_views_say_what_is(world: World) -> None:
    """An agent with its grants, a role with each permission, a change with who made it.

    Proves: A1, A2
    """
    world.scope("/org/acme/user/ana")
    owner = curator(world, "/org/acme")
    permissions = [
        {"operation": "READ", "layers": ["semantic", "episodic"]},
        {"operation": "DELETE", "kind": "trip", "reach": "own"},
    ]
    call(owner, "define_role", name="guide", permissions=permissions, description="leads trips")
    call(owner, "define_role", name="guest", permissions=[])
    call(owner, "register_agent", name="ana's", scope="/org/acme/user/ana", role="guide",
         kind="human", clearance="public", domains=["law"], validated=False)  # fmt: skip
    call(owner, "grant_scope", agent="ana's", scope="/org/acme", writes=True)
    call(owner, "change_agent", agent="ana's", enabled=False)
    (agent,) = owner.execute("SELECT * FROM memwarden.agents WHERE agent = 'ana''s'").fetchall()
    grants = [
        (grant["scope"], grant["writes"], grant["descendants"]) for grant in agent.pop("grants")
    ]
    assert grants == [("/org/acme", True, False), ("/org/acme/user/ana", True, False)]
    del agent["created_at"]
    assert agent == {
        "org": "acme",
        "agent": "ana's",
        "kind": "human",
        "role": "guide",
        "clearance": "public",
        "domains": ["law"],
        "attributes": {},
        "validated": False,
        "enabled": False,
        "home": "/org/acme/user/ana",
        "logins": [],
    }
    roles = owner.execute("SELECT * FROM memwarden.roles WHERE org = 'acme'").fetchall()
    assert {tuple(row.values()) for row in roles} == {
        ("acme", "guide", "leads trips", "READ", "semantic", None, "all", None),
        ("acme", "guide", "leads trips", "READ", "episodic", None, "all", None),
        ("acme", "guide", "leads trips", "DELETE", "*", "trip", "own", "soft"),
        ("acme", "guest", "", None, None, None, None, None),
    }
    changes = owner.execute("SELECT * FROM memwarden.access_changes ORDER BY 1").fetchall()
    assert [(row["agent"], row["action"]) for row in changes[-5:]] == [
        (name_of(owner), "define_role"),
        (name_of(owner), "define_role"),
        (name_of(owner), "register_agent"),
        (name_of(owner), "grant_scope"),
        (name_of(owner), "change_agent"),
    ]
    assert {row["login_role"] for row in changes[-5:]} == {name_of(owner)}
