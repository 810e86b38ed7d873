"""Whatever changes who may see what, the very next statement follows the new rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from access import call
from conftest import World
from helpers import recall
from identity.plans import (
    LAYERS,
    OWN_ITEMS,
    RANDOM,
    Draft,
    Plan,
    Rules,
    conditions,
    drafts,
    everybody,
    places,
    plans,
    rule_sets,
    some_domains,
)
from identity.rules import LEVELS, ROLES, Agent, Permission, Scope, write_refusal
from identity.universe import Caller, Ground, Universe, ask, marker, memory_of


def change_agent(universe: Universe, number: int, **changes: Any) -> None:
    """Change what an agent is, and the agent of the model."""
    agent = universe.callers[number % len(universe.callers)].agent
    organisation = agent.home.organisation
    assert organisation is not None
    said = {name: value for name, value in changes.items() if name != "team"}
    if "clearance" in changes:
        said["clearance"] = LEVELS[changes["clearance"]]
    if "domains" in changes:
        said["domains"] = sorted(changes["domains"])
    if "team" in changes:
        said["attributes"] = {"team": changes["team"]} if changes["team"] else {}
    call(universe.world.admin, "change_agent", agent=agent.name, org=organisation.name, **said)
    for name, value in changes.items():
        setattr(agent, name, value)
    agent.permissions = ROLES.get(agent.role, universe.scribe[organisation])


def grant(universe: Universe, number: int, place: int, *, writes: bool, below: bool) -> None:
    """Grant a scope, or grant it anew."""
    agent, tree = agent_and_tree(universe, number)
    universe.grant(agent, tree[place], writes=writes, below=below)


def revoke(universe: Universe, number: int, place: int) -> None:
    """Revoke a grant where there is one, the home included."""
    agent, tree = agent_and_tree(universe, number)
    if tree[place] in agent.grants:
        call(universe.world.admin, "revoke_scope", agent=agent.name, scope=tree[place].path)
        del agent.grants[tree[place]]


def agent_and_tree(universe: Universe, number: int) -> tuple[Agent, list[Scope]]:
    """An agent and the scopes of its organisation."""
    agent = universe.callers[number % len(universe.callers)].agent
    (tree,) = (each for each in universe.trees if each[0] is agent.home.organisation)
    return agent, tree


def define_role(universe: Universe, organisation: int, layer: str, reach: str) -> None:
    """Define the role scribe anew, for all who have it."""
    scope = universe.trees[organisation][0]
    universe.define_scribe(scope, [Permission("READ", (layer,), reach=reach), Permission("WRITE")])


def add_set(universe: Universe, rules: Rules) -> None:
    """A further policy set."""
    universe.add_set(f"set{len(universe.sets)}", rules)


def set_policy(universe: Universe, number: int, effect: str, condition: int) -> None:
    """Set, or replace, a policy."""
    if universe.sets:
        chosen = universe.sets[number % len(universe.sets)]
        universe.set_policy(chosen, "p0", effect, condition)


def drop_policies(universe: Universe, number: int) -> None:
    """Drop every policy of a set; its default remains."""
    if universe.sets:
        chosen = universe.sets[number % len(universe.sets)]
        org = chosen.organisation.name if chosen.organisation else "global"
        for name in list(chosen.policies):
            call(universe.world.admin, "drop_policy", policy_set=chosen.name, name=name, org=org)
            del chosen.policies[name]


def move(universe: Universe, organisation: int, place: int, to: int) -> None:
    """Put a scope with all below it under another, where that is possible."""
    scope, parent = universe.trees[organisation][place], universe.trees[organisation][to]
    if place and scope not in parent.lineage and not parent.closed:
        call(universe.world.admin, "move_scope", path=scope.path, new_parent=parent.path)
        scope.parent = parent


def share(universe: Universe, layer: str, *, shared: bool) -> None:
    """Let others read a layer, or not; what is there already included."""
    universe.share(layer, shared=shared)


def close(universe: Universe, organisation: int, place: int) -> None:
    """Close a scope with all below it; its memories end."""
    scope = universe.trees[organisation][place]
    if place:
        call(universe.world.admin, "close_scope", path=scope.path)
        for each in universe.trees[organisation]:
            each.closed |= scope in each.lineage
        for memory in universe.memories:
            memory.active &= scope not in memory.scope.lineage


def change(function: Callable[..., None], *arguments: Any, **named: Any) -> st.SearchStrategy[Any]:
    """A change with drawn arguments."""
    return st.builds(
        lambda positional, keywords: (function, positional, keywords),
        st.tuples(*arguments),
        st.fixed_dictionaries(named),
    )


numbers, organisations, flags = st.integers(0, 9), st.integers(0, 1), st.booleans()
effects = st.sampled_from(["allow", "deny"])
changes = st.one_of(
    change(change_agent, numbers, clearance=st.integers(0, 3)),
    change(change_agent, numbers, domains=some_domains),
    change(change_agent, numbers, team=st.sampled_from([None, "care", "ops"])),
    change(change_agent, numbers, role=st.sampled_from([*ROLES, "scribe"])),
    change(change_agent, numbers, enabled=flags),
    change(change_agent, numbers, validated=flags),
    change(grant, numbers, places, writes=flags, below=flags),
    change(revoke, numbers, places),
    change(define_role, organisations, st.sampled_from(LAYERS), st.sampled_from(["own", "all"])),
    change(add_set, rule_sets),
    change(set_policy, numbers, effects, conditions),
    change(drop_policies, numbers),
    change(move, organisations, places, places),
    change(close, organisations, places),
    change(share, st.sampled_from(LAYERS), shared=flags),
)


# What a session has planned for other callers must not tell this one anything, either.
WARM_LOGINS = True
LISTS = {"memwarden.items", "memwarden_data.item", "memwarden_data.version", "memwarden_data.log"}


def check(universe: Universe, caller: Caller, draft: Draft) -> None:
    """What the caller sees by old statements and new calls, and what it writes at home."""
    seen = universe.seen_by(caller)
    expected = {each.item_id for each in seen}
    for relation in LISTS & caller.prepared.keys():
        rows = caller.connection.execute(f"EXECUTE {caller.prepared[relation]}").fetchall()
        assert {row["item_id"] for row in rows} == expected, relation
    if not caller.agent.enabled:
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
            recall(caller.connection)
        return
    found = recall(caller.connection, k=1000)
    assert {row["item_id"] for row in found} == {each.item_id for each in seen if each.active}
    if caller.group in ("auditor", "reviewer"):
        return
    agent, mark = caller.agent, marker("mk")
    row = ask(caller.connection, draft, agent.home.path, mark)
    memory = memory_of(draft, agent.home, agent.name, agent.clearance)
    assert row["reason"] == write_refusal(agent, memory, universe.sets), draft
    if row["outcome"] == "COMMITTED":
        memory.written(row, mark)
        universe.memories.append(memory)


# One of each, on the contributor (4) and the scribe (5) of everybody().
EVERY: list[Any] = [
    (change_agent, (4,), {"clearance": 0}),
    (change_agent, (4,), {"clearance": 3}),
    (change_agent, (4,), {"domains": frozenset()}),
    (change_agent, (4,), {"role": "executor"}),
    (change_agent, (4,), {"enabled": False}),
    (change_agent, (4,), {"enabled": True, "role": "contributor"}),
    (add_set, (Rules(0, "deny", frozenset({"READ", "WRITE"}), (("allow", OWN_ITEMS),)),), {}),
    (set_policy, (0, "deny", OWN_ITEMS), {}),
    (drop_policies, (0,), {}),
    (set_policy, (0, "allow", 0), {}),
    (change_agent, (4,), {"team": "care"}),
    (change_agent, (4,), {"validated": False}),
    (define_role, (0, "semantic", "all"), {}),
    (share, ("session",), {"shared": True}),
    (share, ("episodic",), {"shared": False}),
    (grant, (4, 1), {"writes": True, "below": False}),
    (revoke, (4, 0), {}),
    (move, (0, 1, 3), {}),
    (close, (0, 3), {}),
]


@pytest.mark.one_version
@settings(max_examples=5, **RANDOM)
@given(plan=plans, made=st.lists(changes, min_size=12, max_size=20), draft=drafts)
@example(plan=everybody(), made=EVERY, draft=everybody().drafts[-2])
def test_every_change_counts_from_the_next_statement_on(
    shared_world: World, ground: Ground, plan: Plan, made: list[Any], draft: Draft
) -> None:
    """Agents, grants, roles, policies and scopes change under sessions that are open.

    Their statements were prepared before, and planned once for all.

    Proves: A1, A2, A3, A4, A9, A10
    """
    universe = Universe(shared_world, plan, ground)
    try:
        for function, arguments, named in made:
            function(universe, *arguments, **named)
            for caller in universe.callers:
                check(universe, caller, draft)
    finally:
        universe.end()
