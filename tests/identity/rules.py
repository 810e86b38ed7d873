"""Who sees and who writes what, as the documents say it, in Python: what the store is held against.

visible(a, m) = scope and role and policies and classification(m) <= clearance(a)
                and domains(m) within domains(a)                       (chapter 12.8.2 and 12.8.5)
                and (m is a's own or shared, or a administers its layer)  (four-layer design, L1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

LEVELS = ["public", "internal", "confidential", "restricted"]
VALIDATED = {"episodic", "semantic", "procedural", "durable"}
"""Layers that take writes of validated agents only."""


AS_SHIPPED = frozenset({"working", "session"})
unshared = set(AS_SHIPPED)
"""Layers of which others read only what a shared session holds: a setting of the whole database."""


@dataclass(eq=False)
class Scope:
    """A level of the scope tree. The organisation is the scope right below /global."""

    kind: str
    name: str
    parent: Scope | None
    closed: bool = False

    @property
    def lineage(self) -> list[Scope]:
        """The scope and everything above it, root first: what it inherits from."""
        return [*(self.parent.lineage if self.parent else []), self]

    @property
    def path(self) -> str:
        """How callers name it."""
        levels = self.lineage[1:]
        return "".join(f"/{each.kind}/{each.name}" for each in levels) or "/global"

    @property
    def organisation(self) -> Scope | None:
        """Whose it is; None for /global, which is everybody's."""
        return self.lineage[1] if self.parent else None


@dataclass(frozen=True)
class Permission:
    """One thing that a role permits. What none permits is forbidden."""

    operation: str
    layers: tuple[str, ...] = ()
    kind: str | None = None
    reach: str = "all"

    def covers(self, operation: str, layer: str, kind: str | None, *, own: bool) -> bool:
        """No layers are all of them; reach 'own' is what the agent wrote last."""
        return (
            operation == self.operation
            and (not self.layers or layer in self.layers)
            and (self.kind is None or kind == self.kind)
            and (own or self.reach == "all")
        )


# The table of chapter 12.8.2; the contributor is the project's own.
ROLES = {
    "executor": [
        Permission("READ", ("working", "session"), reach="own"),
        Permission("READ", ("episodic",)),
        Permission("WRITE", ("working", "session"), reach="own"),
    ],
    "verifier": [Permission("READ"), Permission("WRITE", ("episodic",), "annotation", "own")],
    "orchestrator": [
        Permission("READ"),
        Permission("WRITE", ("working", "session", "episodic")),
        Permission("ADMIN"),
    ],
    "curator": [Permission("READ"), Permission("WRITE"), Permission("ADMIN")],
    "contributor": [Permission("READ"), Permission("WRITE")],
}


@dataclass(eq=False)
class Agent:
    """Who asks. A grant says whether it writes, and whether it reaches what lies below."""

    name: str
    home: Scope
    grants: dict[Scope, tuple[bool, bool]]
    role: str
    permissions: list[Permission]
    clearance: int
    domains: frozenset[str]
    team: str | None = None
    validated: bool = True
    anchor: frozenset[str] | None = None
    enabled: bool = True

    def reads_scope(self, scope: Scope) -> bool:
        """Granted scopes, all above them; and what lies below where the grant says so."""
        return any(
            scope in granted.lineage or (below and granted in scope.lineage)
            for granted, (_, below) in self.grants.items()
        )

    def writes_scope(self, scope: Scope) -> bool:
        """Granted scopes, and below where the grant says so; never one above."""
        return any(
            writes and (scope is granted or (below and granted in scope.lineage))
            for granted, (writes, below) in self.grants.items()
        )

    def is_anchored_in(self, scope: Scope) -> bool:
        """Whether the path has every kind that the agent is anchored on."""
        return not self.anchor or self.anchor <= {each.kind for each in scope.lineage}

    def administers(self, organisation: Scope | None) -> bool:
        """A curator who writes the organisation's own scope."""
        writes = organisation is not None and self.grants.get(organisation, (False, False))[0]
        return self.enabled and self.role == "curator" and writes


@dataclass(eq=False)
class Item:
    """What is asked for. Its author is who wrote it last."""

    scope: Scope
    layer: str
    kind: str | None
    classification: int
    domains: frozenset[str]
    tier: str | None
    author: str
    active: bool = True
    session_is_shared: bool = False


Truth = Callable[[Agent, Item, str], bool]
"""Whether a policy's condition holds for an agent, an item and an operation."""


@dataclass(eq=False)
class PolicySet:
    """Policies that are asked together: a deny decides, then an allow, then the default."""

    organisation: Scope | None
    name: str
    default: str
    operations: frozenset[str]
    policies: dict[str, tuple[str, Truth]] = field(default_factory=dict)

    def allows(self, agent: Agent, item: Item, operation: str) -> bool:
        """What the set says; it is asked only about its operations."""
        effects = {
            effect for effect, holds in self.policies.values() if holds(agent, item, operation)
        }
        return "deny" not in effects and ("allow" in effects or self.default == "allow")


def rules(
    agent: Agent, item: Item, operation: str, sets: Iterable[PolicySet]
) -> Iterator[tuple[str, bool]]:
    """Every rule between an agent and an item, in the order they are told, and what it says."""
    own = item.author == agent.name
    open_ = agent.is_anchored_in(item.scope) and not item.scope.closed
    writes = agent.writes_scope(item.scope) and open_
    yield "identity", agent.enabled
    yield "scope", agent.reads_scope(item.scope) if operation == "READ" else writes
    yield "clearance", item.classification <= agent.clearance
    yield "domains", item.domains <= agent.domains
    shared = own or item.session_is_shared or item.layer not in unshared
    administers = any(each.covers("ADMIN", item.layer, None, own=own) for each in agent.permissions)
    yield "sharing", operation != "READ" or shared or administers
    yield (
        f"role {agent.role}",
        any(each.covers(operation, item.layer, item.kind, own=own) for each in agent.permissions),
    )
    # Those of the agent's organisation, and those that hold for all.
    asked = [
        each
        for each in sets
        if each.organisation in (None, agent.home.organisation) and operation in each.operations
    ]
    for each in sorted(asked, key=lambda each: each.name):
        yield f"policy set {each.name}", each.allows(agent, item, operation)


def visible(agent: Agent, item: Item, sets: Iterable[PolicySet]) -> bool:
    """Whether the agent sees the item, by whatever path."""
    return all(allowed for _, allowed in rules(agent, item, "READ", sets))


def write_refusal(agent: Agent, item: Item, sets: Iterable[PolicySet]) -> str | None:
    """The reason for which the agent may not write an item like this; None when it may."""
    if not agent.writes_scope(item.scope):
        return "SCOPE_READ_ONLY" if agent.reads_scope(item.scope) else "UNKNOWN_SCOPE"
    if item.scope.closed:
        return "SCOPE_CLOSED"
    if not agent.is_anchored_in(item.scope):
        return "ANCHOR_MISMATCH"
    reasons = {"clearance": "CLEARANCE_TOO_LOW", "domains": "DOMAIN_NOT_HELD"}
    for rule, allowed in rules(agent, item, "WRITE", sets):
        if not allowed:
            kind = rule.partition(" ")[0]
            return reasons.get(kind, f"{kind.upper()}_FORBIDS")
    if item.layer in VALIDATED and not agent.validated:
        return "AGENT_NOT_VALIDATED"
    return None
