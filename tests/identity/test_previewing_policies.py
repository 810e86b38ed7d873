"""preview_policy() shows what a policy would change: that and nothing else, and changes nothing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import administrator, call, curator, join, name_of
from conftest import World
from helpers import recall, write

# What a caller is told is the same to whoever takes on its role; test_isolation.py logs in.
WARM_LOGINS = True

LEFT = """
SELECT (SELECT jsonb_agg(t) FROM memwarden_data.policy AS t) AS policies,
       (SELECT jsonb_agg(t) FROM memwarden_data.policy_set AS t) AS sets,
       (SELECT count(*) FROM memwarden_data.access_log) AS noted
"""
BEARS = """
SELECT l.layer, l.kind, l.scope_kind, c.name AS classification, l.domains, l.attributes, p.name
  FROM memwarden_data.item AS i
  JOIN memwarden_data.label AS l USING (label_id)
  JOIN memwarden_data.classification AS c ON c.level = l.classification
  JOIN memwarden_data.principal AS p USING (principal_id)
 WHERE i.item_id = %s
"""
LABEL = ["layer", "kind", "scope_kind", "classification", "domains", "attributes"]


class Company:
    """An organisation with agents of every standing, who have written items of many labels."""

    def __init__(self, world: World, home: str) -> None:
        self.world = world
        self.org = home.split("/")[2]
        self.place = home.split("/user")[0]
        self.owner = curator(world, self.place)
        world.scope(home)
        call(self.owner, "change_agent", agent=name_of(self.owner), domains=["law"])
        call(self.owner, "define_attribute", bearer="agent", name="team")
        call(self.owner, "define_attribute", bearer="item", name="urgent", type="boolean")
        below: dict[str, Any] = {"descendants": True}
        secret: dict[str, Any] = {"clearance": "restricted", "domains": ["law"]}
        self.agents = [
            self.owner,
            join(world, self.place, **below, **secret, attributes={"team": "care"}),
            join(world, self.place, **below, role="verifier", attributes={"team": "cure"}),
            join(world, self.place, **below, role="executor", kind="service"),
            join(world, f"{self.place}/user/bob", role="orchestrator", clearance="public"),
        ]
        call(world.admin, "register_agent", name="gone", scope=self.place)
        call(world.admin, "change_agent", agent="gone", org=self.org, enabled=False)
        self.items: dict[UUID, dict[str, Any]] = {}
        for arguments in (
            {"layer": "semantic"},
            {"layer": "semantic", "scope": home, "classification": "public"},
            {"layer": "episodic", "domains": ["law"]},
            {"layer": "episodic", "attributes": {"urgent": True}, "classification": "restricted"},
            {"layer": "session", "scope": home},
        ):
            for author in self.agents[:2]:
                row = write(author, content=str((arguments, name_of(author))), **arguments)
                assert row["outcome"] == "COMMITTED", row
                (self.items[row["item_id"]],) = world.rows(BEARS, row["item_id"])

    def reads(self) -> dict[str, set[UUID]]:
        """What each agent really reads."""
        return {
            name_of(agent): {row["item_id"] for row in recall(agent, k=1000)}
            for agent in self.agents
        }

    def preview(self, effect: str, condition: str, name: str = "a policy") -> list[DictRow]:
        """Ask what a policy would change; see that it has changed nothing."""
        before, reads = self.world.rows(LEFT), self.reads()
        rows = call(self.owner, "preview_policy", policy_set="a set", name=name, effect=effect,
                    condition=condition)  # fmt: skip
        assert (self.world.rows(LEFT), self.reads()) == (before, reads)
        return rows

    def set_policy(self, effect: str, condition: str, name: str = "a policy") -> None:
        """Set the policy."""
        call(self.owner, "set_policy", policy_set="a set", name=name, effect=effect,
             condition=condition)  # fmt: skip

    def same(self, row: DictRow, item: dict[str, Any]) -> bool:
        """Whether a row of the preview is about an item."""
        return row["own"] == (row["agent"] == item["name"]) and all(
            row[name] == item[name] for name in LABEL
        )


@pytest.fixture
def company(shared_world: World, home: str) -> Company:
    """An organisation of its own for each test."""
    return Company(shared_world, home)


@pytest.mark.parametrize("default", ["allow", "deny"])
@pytest.mark.parametrize("effect", ["allow", "deny"])
@pytest.mark.parametrize(
    "condition",
    [
        "TRUE",
        "FALSE",
        "item.own",
        "operation = WRITE",
        "agent.team = 'care' OR agent.team IS NULL",
        "'law' = ANY(item.domains) AND agent.clearance > 'public'",
        "item.scope_kind = 'user' AND item.layer <> 'session'",
        "NOT item.urgent AND agent.role = 'verifier'",
    ],
)
def test_what_it_shows_is_what_then_changes(
    company: Company, default: str, effect: str, condition: str
) -> None:
    """For every agent and item, what is read and what may be written differ as the preview says.

    Proves: A2
    """
    call(company.owner, "define_policy_set", name="a set", default_effect=default)
    rows = company.preview(effect, condition)
    before = company.reads()
    company.set_policy(effect, condition)
    after = company.reads()
    reads = [row for row in rows if row["operation"] == "READ"]
    for agent, item in [(a, i) for a in before for i in company.items]:
        shown = [
            (row["allowed_before"], row["allowed_after"])
            for row in reads
            if row["agent"] == agent and company.same(row, company.items[item])
        ]
        change = (item in before[agent], item in after[agent])
        if change[0] != change[1]:
            assert shown == [change]
        elif shown:
            # A scope that the agent does not see: no policy lets it in.
            assert agent == name_of(company.agents[-1])
            assert company.items[item]["scope_kind"] == "user"
            assert change == (False, False)
    for row in rows:
        assert row["allowed_before"] != row["allowed_after"]
        assert row["agent_org"] == company.org
        if row["operation"] == "WRITE":
            check_writing(company, row)
    assert "gone" not in {row["agent"] for row in rows}


def check_writing(company: Company, row: DictRow) -> None:
    """Write, as the agent, something that bears the same; over another's, ask explain_access()."""
    items = [item for item, bears in company.items.items() if company.same(row, bears)]
    assert row["items"] == len(items)
    for item in items:
        steps = call(company.owner, "explain_access", agent=row["agent"], item_id=item,
                     operation="WRITE")  # fmt: skip
        apart = [step["allowed"] for step in steps if step["rule"] not in ("scope", "identity")]
        assert all(apart) == row["allowed_after"]
    agent = next(each for each in company.agents if name_of(each) == row["agent"])
    if row["own"] and row["scope_kind"] == "org":
        named = {name: row[name] for name in LABEL if name != "scope_kind"}
        with agent.transaction(force_rollback=True):
            answer = write(agent, content="another", scope=company.place, **named)
        assert (answer["reason"] != "POLICY_FORBIDS") == row["allowed_after"]


def test_it_counts_the_items_that_are_concerned(company: Company) -> None:
    """Active ones only, own and others' apart, wherever they are.

    Proves: A2
    """
    call(company.owner, "define_policy_set", name="a set", default_effect="allow",
         operations=["READ"])  # fmt: skip
    ended = next(
        item
        for item, bears in company.items.items()
        if bears["layer"] == "semantic" and bears["name"] == name_of(company.owner)
    )
    call(company.owner, "retract", item_id=ended, reason="wrong")
    del company.items[ended]
    rows = company.preview("deny", "item.layer = 'semantic'")
    assert {row["operation"] for row in rows} == {"READ"}
    for row in rows:
        concerned = [bears for bears in company.items.values() if company.same(row, bears)]
        assert row["items"] == len(concerned)
    assert {row["items"] for row in rows} == {0, 1, 2}


def test_replacing_a_policy_is_previewed_against_the_one_that_is_there(company: Company) -> None:
    """Setting the same again shows no change; another policy beside it what it adds.

    Proves: A2
    """
    call(company.owner, "define_policy_set", name="a set", default_effect="allow")
    company.set_policy("deny", "item.layer = 'semantic'")
    assert company.preview("deny", "item.layer = 'semantic'") == []
    assert company.preview("deny", "item.layer = 'semantic' AND item.own", name="another") == []
    moved = company.preview("deny", "item.layer = 'episodic'")
    assert {(row["layer"], row["allowed_after"]) for row in moved} == {
        ("semantic", True),
        ("episodic", False),
    }
    assert {row["layer"] for row in company.preview("allow", "TRUE")} == {"semantic"}


def test_a_policy_for_all_is_previewed_for_all(world: World) -> None:
    """By an administrator of all: every organisation's agents, with whose they are.

    Proves: A2
    """
    admin = administrator(world)
    agents: list[Connection[DictRow]] = [world.agent(f"/org/{org}") for org in ("one", "two")]
    for agent in agents:
        assert write(agent, "semantic", "something")["outcome"] == "COMMITTED"
    call(admin, "define_policy_set", name="a set", default_effect="allow", operations=["READ"])
    about = {"policy_set": "a set", "name": "a policy", "effect": "deny", "condition": "item.own"}
    rows = call(admin, "preview_policy", **about)
    assert [(row["agent"], row["agent_org"]) for row in rows if row["items"]] == [
        (name_of(agent), org) for agent, org in zip(agents, ("one", "two"), strict=True)
    ]
    call(admin, "define_policy_set", name="a set", default_effect="allow", org="one")
    rows = call(admin, "preview_policy", **about, org="one")
    assert {row["agent_org"] for row in rows} == {"one"}
