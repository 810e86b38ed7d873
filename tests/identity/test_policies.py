"""Policies narrow what role, clearance and domains permit: by conditions, and at once."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, curator, join, refusal, state
from conftest import World
from helpers import recall, write

SEEN = "SELECT content FROM memwarden.items"
STORED = (
    "SELECT (SELECT count(*) FROM memwarden_data.policy)"
    "     + (SELECT count(*) FROM memwarden_data.policy_set)"
)
# Word for word, as the chapter has it.
MEDICAL = """agent.domain_specialization = "medical"
             AND item.domain_tag = "medical"
             AND operation = WRITE"""


def forbid(world: World, org: str | None, condition: str, *operations: str) -> None:
    """Deny, in a set that else allows, what a condition holds for."""
    about = {"policy_set": "forbidden", "name": condition[:200], "effect": "deny"}
    covered = list(operations or ("READ", "WRITE", "DELETE"))
    call(world.admin, "define_policy_set", name="forbidden", default_effect="allow",
         operations=covered, org=org)  # fmt: skip
    call(world.admin, "set_policy", **about, condition=condition, org=org)


def seen(reader: Connection[DictRow]) -> set[str]:
    """Return what a reader sees; recall() and the view must agree."""
    found = {row["content"] for row in recall(reader, k=1000)}
    assert {row["content"] for row in reader.execute(SEEN)} == found
    return found


def test_medical_agents_may_only_write_items_tagged_medical(shared_world: World, home: str) -> None:
    """The example of the chapter: who is medical writes medical items, and nobody anything else.

    Proves: A2
    """
    shared_world.scope(home)
    org = {"org": home.split("/")[2]}
    tags = {"bearer": "item", "name": "domain_tag", "allowed": ["medical", "financial"]}
    specialization = {"bearer": "agent", "name": "domain_specialization"}
    for declared in (tags, specialization):
        call(shared_world.admin, "define_attribute", **declared, **org)
    kinds: list[dict[str, Any]] = [
        {"domain_specialization": "medical"},
        {"domain_specialization": "financial"},
        {},
    ]
    agents = [join(shared_world, home, attributes=attributes) for attributes in kinds]
    call(shared_world.admin, "define_policy_set", name="medical agents", default_effect="deny",
         operations=["WRITE"], **org)  # fmt: skip
    call(shared_world.admin, "set_policy", policy_set="medical agents", name="write medical items",
         effect="allow", condition=MEDICAL, **org)  # fmt: skip
    for number, agent in enumerate(agents):
        for tag in ("medical", "financial", None):
            attributes = {"domain_tag": tag} if tag else {}
            row = write(agent, "semantic", f"{tag} {number}", attributes=attributes)
            if number == 0 and tag == "medical":
                assert row["outcome"] == "COMMITTED"
            else:
                assert (row["gate"], row["reason"]) == ("06_access", "POLICY_FORBIDS")
    # Reading is no matter of this set.
    assert [seen(agent) for agent in agents] == [{"medical 0"}] * 3


@pytest.mark.parametrize(
    ("policies", "default", "allowed"),
    [
        ([], "allow", True),
        ([], "deny", False),
        (["allow TRUE"], "deny", True),
        (["deny TRUE"], "allow", False),
        (["allow FALSE"], "deny", False),
        (["deny FALSE"], "allow", True),
        (["allow TRUE", "deny TRUE"], "deny", False),
        (["deny TRUE", "allow TRUE"], "allow", False),
        (["allow FALSE", "deny TRUE"], "allow", False),
        (["allow TRUE", "deny FALSE"], "deny", True),
        (["allow FALSE", "deny FALSE"], "deny", False),
        (["allow FALSE", "allow TRUE", "deny FALSE"], "deny", True),
    ],
    ids=repr,
)
def test_a_denial_decides_then_a_permission_then_the_default(
    shared_world: World, home: str, policies: list[str], default: str, allowed: bool
) -> None:
    """Whatever the order in which they were set, and by every operation.

    Proves: A2
    """
    author, reader = shared_world.agent(home), join(shared_world, home, role="curator")
    items = [write(author, "semantic", text)["item_id"] for text in ("one", "two")]
    org = {"org": home.split("/")[2]}
    call(shared_world.admin, "define_policy_set", name="a set", default_effect=default, **org)
    for number, policy in enumerate(policies):
        effect, condition = policy.split()
        call(shared_world.admin, "set_policy", policy_set="a set", name=f"no. {number}",
             effect=effect, condition=condition, **org)  # fmt: skip
    assert len(seen(reader)) == (2 if allowed else 0)
    assert write(reader, "semantic", "three")["reason"] == (None if allowed else "POLICY_FORBIDS")
    retract = {"item_id": items[0], "reason": "wrong"}
    if allowed:
        call(reader, "retract", **retract)
    else:
        assert state(reader, "retract", **retract) == "42704"


def test_each_operation_is_asked_of_the_sets_that_cover_it(shared_world: World, home: str) -> None:
    """What may be read may still not be written or retracted, and the refusal says why.

    Proves: A2
    """
    reader = join(shared_world, home, role="curator")
    org = home.split("/")[2]
    item = write(reader, "semantic", "one")["item_id"]
    forbid(shared_world, org, "operation = DELETE", "READ", "WRITE", "DELETE")
    assert seen(reader) == {"one"}
    assert write(reader, "semantic", "two")["outcome"] == "COMMITTED"
    error = refusal(reader, "retract", item_id=item, reason="wrong")
    assert error.sqlstate == "42501"
    assert (error.diag.message_detail or "").endswith("POLICY_FORBIDS")
    forbid(shared_world, org, "TRUE", "WRITE")
    call(reader, "retract", item_id=item, reason="wrong")
    assert write(reader, "semantic", "three")["reason"] == "POLICY_FORBIDS"


def test_every_set_must_allow_and_those_of_all_count_for_all(world: World) -> None:
    """A set of organisation global counts everywhere, one of an organisation in it alone.

    Proves: A2
    """
    ours, theirs = world.agent("/org/ours"), world.agent("/org/theirs")
    sets = {"ours": "allow", "theirs": "allow", "global": "allow"}

    def outcomes(**changes: str) -> tuple[bool, ...]:
        for org, default in (sets | changes).items():
            about = {"name": "a set", "default_effect": default}
            call(world.admin, "define_policy_set", **about, org=org)
        text = str(changes)
        reasons = [write(agent, "semantic", text)["reason"] for agent in (ours, theirs)]
        assert set(reasons) <= {None, "POLICY_FORBIDS"}
        return tuple(reason is None for reason in reasons)

    assert outcomes() == (True, True)
    assert outcomes(ours="deny") == (False, True)
    assert outcomes(theirs="deny") == (True, False)
    assert outcomes(**{"global": "deny"}) == (False, False)
    # Without an organisation, an administrator of all means all.
    call(world.admin, "drop_policy", policy_set="a set")
    assert write(ours, "semantic", "again")["outcome"] == "COMMITTED"
    call(world.admin, "define_policy_set", name="another", default_effect="deny", org="ours")
    assert write(ours, "semantic", "and again")["reason"] == "POLICY_FORBIDS"


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("item.own", ["of ana", "task of ana"]),
        ("NOT item.own", ["of bob", "task of bob"]),
        ("item.scope_kind = 'task'", ["of ana", "of bob"]),
        ("item.layer = 'episodic'", ["of bob", "task of bob"]),
        ("item.classification > 'public'", ["task of ana"]),
        ("item.classification = 'public'", ["of ana", "of bob", "task of bob"]),
        ("'law' = ANY(item.domains)", ["of ana", "of bob", "task of ana"]),
        ("item.domains IS NULL", ["of ana", "of bob", "task of ana", "task of bob"]),
        ("item.kind IS NULL", []),
        ("agent.home LIKE '/org/%'", []),
        ("agent.home LIKE '/org/nobody/%'", ["of ana", "of bob", "task of ana", "task of bob"]),
        ("agent.role = 'contributor' AND agent.kind = 'agent' AND agent.validated", []),
        ("agent.clearance < 'internal'", ["of ana", "of bob", "task of ana", "task of bob"]),
        ("agent.clearance <= item.classification", ["task of ana"]),
        ("item.grade <> 3", ["of bob"]),
        ("NOT item.grade = 3", ["of bob"]),
        ("item.grade < 3", ["of ana", "of bob", "task of ana", "task of bob"]),
        ("item.grade >= 3", ["of ana", "task of ana", "task of bob"]),
        ("item.grade IS NULL", ["of bob"]),
    ],
    ids=repr,
)
def test_conditions_ask_about_items_and_agents(
    shared_world: World, home: str, condition: str, left: list[str]
) -> None:
    """What a denial of reading leaves, of four items: own and another's, at home and in a task.

    Proves: A2
    """
    org = home.split("/")[2]
    ana = join(shared_world, home, descendants=True, domains=["law"])
    bob = join(shared_world, home, descendants=True, domains=["law"])
    shared_world.scope(f"{home}/task/t")
    call(shared_world.admin, "define_attribute", bearer="item", name="grade", type="number",
         allowed=[1, 2, 3], org=org)  # fmt: skip
    task: dict[str, Any] = {"scope": f"{home}/task/t"}
    written = [
        (ana, "episodic", "of ana", {}),
        (bob, "semantic", "of bob", {"attributes": {"grade": 3}}),
        (ana, "episodic", "task of ana", task | {"classification": "public"}),
        (bob, "semantic", "task of bob", task | {"domains": ["law"]}),
    ]
    for author, layer, text, arguments in written:
        assert write(author, layer, text, **arguments)["outcome"] == "COMMITTED"
    assert len(seen(bob)) == 4
    forbid(shared_world, org, condition, "READ")
    assert seen(bob) == set(left)


@pytest.mark.parametrize(("effect", "default"), [("allow", "deny"), ("deny", "allow")])
def test_what_cannot_be_decided_counts_against_the_caller(
    shared_world: World, home: str, effect: str, default: str
) -> None:
    """No condition that was accepted is undecidable; were one, it would not open anything.

    Proves: A2
    """
    agent = shared_world.agent(home)
    write(agent, "semantic", "one")
    org = {"org": home.split("/")[2]}
    call(shared_world.admin, "define_policy_set", name="a set", default_effect=default, **org)
    call(shared_world.admin, "set_policy", policy_set="a set", name=home, effect=effect,
         condition="TRUE", **org)  # fmt: skip
    assert len(seen(agent)) == (effect == "allow")
    change = "UPDATE memwarden_data.policy SET compiled = '$.nothing > 1' WHERE name = %s"
    shared_world.admin.execute(change.replace("> 1", ""), (home,))
    assert seen(agent) == set()


def test_a_policy_counts_from_the_next_statement_on(shared_world: World, home: str) -> None:
    """Set, replaced and dropped while sessions are open, in transactions and prepared statements.

    Proves: A2
    """
    agent = shared_world.agent(home)
    write(agent, "semantic", "one")
    owner = curator(shared_world, home.split("/user")[0])
    agent.execute(f"PREPARE mine AS {SEEN}")
    agent.execute("SET plan_cache_mode = force_generic_plan")
    call(owner, "define_policy_set", name="a set", default_effect="allow")

    def set_policy(effect: str, condition: str) -> None:
        call(owner, "set_policy", policy_set="a set", name="a policy", effect=effect,
             condition=condition)  # fmt: skip

    def allowed() -> bool:
        found = bool(agent.execute("EXECUTE mine").fetchall())
        assert bool(seen(agent)) == found
        reason = write(agent, "working", "a note")["reason"]
        assert (reason is None) == found
        return found

    with agent.transaction():
        assert allowed()
        set_policy("deny", "item.layer IN ('semantic', 'working')")
        assert not allowed()
        set_policy("deny", "item.layer = 'episodic'")
        assert allowed()
        set_policy("deny", "operation = READ OR operation = WRITE")
        assert not allowed()
        call(owner, "drop_policy", policy_set="a set", name="a policy")
        assert allowed()
        call(owner, "define_policy_set", name="a set", default_effect="deny")
        assert not allowed()
        call(owner, "drop_policy", policy_set="a set")
        assert allowed()
