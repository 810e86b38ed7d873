"""Two organisations as they were drawn, in the database and in the model of rules.py."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow

from access import call, join
from conftest import World
from helpers import write
from identity.paths import prepare, relations
from identity.plans import CONDITIONS, DOMAINS, PLACES, Draft, Plan, Rules, Standing
from identity.rules import (
    AS_SHIPPED,
    LEVELS,
    ROLES,
    Agent,
    Item,
    Permission,
    PolicySet,
    Scope,
    unshared,
    visible,
)

WORDS = "a shared word"
NOBODY = UUID(int=0)
PARTS = ("item", "version", "request")
VERSIONED = {"session", "semantic"}
"""Layers in which a second value of a key is a new version."""


@dataclass(eq=False)
class Memory(Item):
    """An item of the model with what would give it away: markers, and the numbers of its parts."""

    item_id: UUID = NOBODY
    markers: set[str] = field(default_factory=set)
    tokens: set[str] = field(default_factory=set)

    def written(self, row: DictRow, *markers: str) -> None:
        """Remember what a committed write answered, and the words in it that are nowhere else."""
        self.item_id = row["item_id"]
        self.markers |= set(markers)
        self.tokens |= {*markers, *(str(row[f"{part}_id"]) for part in PARTS)}


@dataclass(eq=False)
class Caller:
    """An agent of the model with its connection, and the requests that it made itself."""

    agent: Agent
    group: str
    connection: Connection[DictRow]
    requests: set[UUID] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    prepared: dict[str, str] = field(default_factory=dict)


def marker(prefix: str) -> str:
    """A word that is nowhere else."""
    return prefix + uuid.uuid4().hex[:10]


def kind_of(draft: Draft) -> str | None:
    """Annotations are a kind of episodic memory."""
    return "annotation" if draft.annotation and draft.layer == "episodic" else None


def memory_of(draft: Draft, scope: Scope, author: str, clearance: int) -> Memory:
    """What a draft makes in the model: internal, or less for a writer cleared for no more."""
    level = min(1, clearance) if draft.level is None else draft.level
    kind = kind_of(draft)
    return Memory(scope, draft.layer, kind, level, draft.domains, draft.tier, author)


def ask(
    connection: Connection[DictRow], draft: Draft, scope: str, mark: str, **more: Any
) -> DictRow:
    """Write what a draft says, in words that all memories share and one that is its own."""
    content: dict[str, Any] = {"text": f"{WORDS} and {mark}"}
    arguments: dict[str, Any] = {"scope": scope, "domains": sorted(draft.domains)}
    if kind_of(draft):
        content = {"item_id": str(uuid.uuid4()), "verdict": "doubted", "note": f"{WORDS}, {mark}"}
        arguments["kind"] = "annotation"
    if draft.level is not None:
        arguments["classification"] = LEVELS[draft.level]
    if draft.tier:
        arguments["attributes"] = {"tier": draft.tier}
    return write(connection, draft.layer, content, **(arguments | more))


def sow(author: Connection[DictRow], draft: Draft, memory: Memory) -> Memory:
    """Write a memory and what becomes of it: a second value, a higher class, an end."""
    about = marker("mk")
    key: dict[str, Any] = {"subject": f"about {about}", "predicate": "is"}
    if draft.session_is_shared and draft.layer == "session":
        query = "SELECT memwarden.open_session(%s, 'a task', shared => true) AS id"
        (session,) = author.execute(query, (memory.scope.path,)).fetchall()
        key["origin"] = {"kind": "agent_inferred", "session": str(session["id"])}
        memory.session_is_shared = True
    fate = draft.fate if memory.layer in VERSIONED else "stays"
    for n in range(2 if fate in ("changes", "rises") else 1):
        mark = marker("mk")
        more = dict(key)
        if n == 1 and fate == "rises":
            memory.classification = min(memory.classification + 1, 3)
            more["classification"] = LEVELS[memory.classification]
        row = ask(author, draft, memory.scope.path, mark, **more)
        assert row["outcome"] == "COMMITTED", row
        memory.written(row, mark, about)
    if draft.fate == "retracted":
        author.execute("SELECT memwarden.retract(%s, 'no longer true')", (memory.item_id,))
        memory.active = False
    return memory


@dataclass
class Ground:
    """What all examples share: the root of the tree with memories of its own."""

    root: Scope
    memories: list[Memory]
    tables: dict[str, str]
    """For each group of logins a role that holds the tables which have policies for it."""


class Universe:
    """An example: scopes, agents, memories and policies."""

    def __init__(self, world: World, plan: Plan, ground: Ground) -> None:
        self.world = world
        self.root = ground.root
        self.tables = ground.tables
        self.sets: list[PolicySet] = []
        self.memories: list[Memory] = list(ground.memories)
        self.trees = [self._tree(), self._tree()]
        self.scopes = [self.root, *self.trees[0], *self.trees[1]]
        scribe = [
            Permission("READ", (plan.scribe[0],), reach="own"),
            Permission("READ", ("episodic",), "annotation"),
            Permission("WRITE", tuple(sorted({*plan.scribe, "episodic"}))),
        ]
        self.scribe: dict[Scope, list[Permission]] = {}
        self.callers: list[Caller] = []
        for tree in self.trees:
            self.define_scribe(tree[0], scribe)
        self.callers += [self._caller(standing) for standing in plan.agents]
        for tree, first in zip(self.trees, (0, len(PLACES)), strict=True):
            here = [draft for draft in plan.seeds if first <= draft.place < first + len(PLACES)]
            self._seed(tree, here, first)
        for number, rules in enumerate(plan.sets):
            self.add_set(f"set{number}", rules)

    def _tree(self) -> list[Scope]:
        scopes: list[Scope] = []
        for kind, parent in PLACES:
            above = scopes[parent] if parent >= 0 else self.root
            scopes.append(Scope(kind, marker("sc"), above))
            self.world.scope(scopes[-1].path)
        return scopes

    def define_scribe(self, organisation: Scope, permissions: list[Permission]) -> None:
        """Define the role scribe of an organisation, or define it anew."""
        listed = [
            {"operation": p.operation, "layers": list(p.layers) or ["*"], "reach": p.reach}
            | ({"kind": p.kind} if p.kind else {})
            for p in permissions
        ]
        arguments = {"name": "scribe", "permissions": listed, "org": organisation.name}
        call(self.world.admin, "define_role", **arguments)
        self.scribe[organisation] = permissions
        for agent in (each.agent for each in self.callers):
            if agent.role == "scribe" and agent.home.organisation is organisation:
                agent.permissions = permissions

    def _caller(self, plan: Standing) -> Caller:
        tree = self.trees[plan.organisation]
        home = tree[plan.home]
        anchor = frozenset({"org", home.kind}) if plan.anchored else None
        connection = join(
            self.world,
            home.path,
            plan.group,
            writes=plan.writes,
            descendants=plan.below,
            role=plan.role,
            clearance=LEVELS[plan.clearance],
            domains=sorted(plan.domains),
            attributes={"team": plan.team} if plan.team else {},
            validated=plan.validated,
            anchor_required=sorted(anchor or ()),
        )
        agent = Agent(
            name=connection.info.user,
            home=home,
            grants={home: (plan.writes, plan.below)},
            role=plan.role,
            permissions=ROLES.get(plan.role, self.scribe[tree[0]]),
            clearance=plan.clearance,
            domains=plan.domains,
            team=plan.team,
            validated=plan.validated,
            anchor=anchor,
        )
        for place, writes, below in plan.more:
            self.grant(agent, tree[place], writes=writes, below=below)
        if plan.granted:
            # Granting the tables themselves would have every session plan everything again.
            self.world.admin.execute(f"GRANT {self.tables[plan.group]} TO {agent.name}")
        prepared = prepare(connection, relations(self.world.admin, connection.info.user))
        return Caller(agent, plan.group, connection, prepared=prepared)

    def _seed(self, tree: list[Scope], drafts: list[Draft], first: int) -> None:
        standing = {"role": "curator", "clearance": "restricted", "domains": DOMAINS}
        author = join(self.world, tree[0].path, descendants=True, **standing)
        for draft in drafts:
            memory = memory_of(draft, tree[draft.place - first], author.info.user, 3)
            self.memories.append(sow(author, draft, memory))

    def seen_by(self, caller: Caller) -> list[Memory]:
        """The memories that the agent sees, by the model."""
        return [each for each in self.memories if visible(caller.agent, each, self.sets)]

    def grant(self, agent: Agent, scope: Scope, *, writes: bool, below: bool) -> None:
        """Grant a scope, or grant it anew."""
        arguments = {"agent": agent.name, "scope": scope.path, "writes": writes}
        call(self.world.admin, "grant_scope", **arguments, descendants=below)
        agent.grants[scope] = (writes, below)

    def add_set(self, name: str, rules: Rules) -> PolicySet:
        """Define a policy set with its policies."""
        organisation = None if rules.organisation == 2 else self.trees[rules.organisation][0]
        made = PolicySet(organisation, name, rules.default, rules.operations)
        call(
            self.world.admin,
            "define_policy_set",
            name=name,
            default_effect=rules.default,
            operations=sorted(rules.operations),
            org=organisation.name if organisation else "global",
        )
        for number, (effect, condition) in enumerate(rules.policies):
            self.set_policy(made, f"p{number}", effect, condition)
        self.sets.append(made)
        return made

    def set_policy(self, to: PolicySet, name: str, effect: str, number: int) -> None:
        """Set a policy of a set, by the number of its condition."""
        text, holds = CONDITIONS[number]
        org = to.organisation.name if to.organisation else "global"
        arguments = {"policy_set": to.name, "name": name, "effect": effect, "condition": text}
        call(self.world.admin, "set_policy", **arguments, org=org)
        to.policies[name] = (effect, holds)

    def share(self, layer: str, *, shared: bool) -> None:
        """Let others read a layer, or not."""
        query = "SELECT memwarden.configure_layer(%s, jsonb_build_object('shared', %s::boolean))"
        self.world.admin.execute(query, (layer, shared))
        (unshared.discard if shared else unshared.add)(layer)

    def end(self) -> None:
        """Drop every policy: that there is one anywhere makes a difference to everybody."""
        for each in self.sets:
            org = each.organisation.name if each.organisation else "global"
            call(self.world.admin, "drop_policy", policy_set=each.name, org=org)
        for layer in unshared ^ AS_SHIPPED:
            self.share(layer, shared=layer not in AS_SHIPPED)
        for caller in self.callers:
            if not caller.connection.closed:
                statements = (f"DEALLOCATE {each}" for each in caller.prepared.values())
                caller.connection.execute("; ".join(statements))
        self.world.disconnect()
