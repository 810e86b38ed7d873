"""What an example of the isolation property consists of, as hypothesis draws it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from identity.rules import ROLES, Agent, Item, Truth

# Not shrunk: an example takes seconds, and what fails names the agent, the path and the memory.
RANDOM: Any = {
    "deadline": None,
    "database": None,
    "phases": [Phase.explicit, Phase.generate],
    "suppress_health_check": list(HealthCheck),
}

# Kind and parent of each scope of an organisation; "team" is a kind that the tests define.
PLACES = [
    ("org", -1),
    ("user", 0),
    ("task", 1),
    ("user", 0),
    ("task", 3),
    ("team", 0),
    ("user", 5),
    ("domain", 0),
]
LAYERS = ["working", "session", "episodic", "semantic"]
DOMAINS = ["legal", "medical"]
TIERS = [None, "gold", "silver"]

# Conditions in the language of policies, each with its truth. An absent attribute equals nothing.
CONDITIONS: list[tuple[str, Truth]] = [
    ("agent.team = 'care'", lambda a, _, __: a.team == "care"),
    ("agent.team <> 'care' AND item.tier = 'gold'", lambda a, m, _: gold(a, m)),
    ("item.tier = 'gold' OR item.tier IS NULL", lambda _, m, __: m.tier in ("gold", None)),
    ("item.own", lambda a, m, _: m.author == a.name),
    ("NOT item.own AND item.layer = 'semantic'", lambda a, m, _: theirs(a, m) == "semantic"),
    ("'medical' = ANY(item.domains)", lambda _, m, __: "medical" in m.domains),
    ("item.classification >= 'confidential'", lambda _, m, __: m.classification >= 2),
    ("item.classification = agent.clearance", lambda a, m, _: m.classification == a.clearance),
    ("item.layer IN ('session', 'episodic')", lambda _, m, __: m.layer in ("session", "episodic")),
    ("item.scope_kind = 'task'", lambda _, m, __: m.scope.kind == "task"),
    ("item.kind = 'annotation'", lambda _, m, __: m.kind == "annotation"),
    ("agent.role = 'executor' OR NOT agent.validated", lambda a, _, __: plain(a)),
    ("operation = WRITE AND item.tier <> 'silver'", lambda _, m, o: wrote(m, o)),
    ("agent.domains IS NOT NULL", lambda _, __, ___: True),
]


def gold(agent: Agent, item: Item) -> bool:
    """Gold, for who is not of the team."""
    return agent.team != "care" and item.tier == "gold"


def theirs(agent: Agent, item: Item) -> str | None:
    """The layer of an item that another wrote."""
    return item.layer if item.author != agent.name else None


def plain(agent: Agent) -> bool:
    """An executor, or nobody that an administrator vouches for."""
    return agent.role == "executor" or not agent.validated


def wrote(item: Item, operation: str) -> bool:
    """A write of anything but silver."""
    return operation == "WRITE" and item.tier != "silver"


@dataclass(frozen=True)
class Draft:
    """What shall be written: a label; seeds also say where, and what comes after it."""

    layer: str
    level: int | None
    domains: frozenset[str]
    tier: str | None
    annotation: bool
    place: int = 0
    fate: str = "stays"
    session_is_shared: bool = False


@dataclass(frozen=True)
class Standing:
    """An agent as it is registered; more are its further grants: place, writes, descendants.

    A DBA has granted it the tables, or has not: what policies are for.
    """

    group: str
    organisation: int
    home: int
    writes: bool
    below: bool
    more: tuple[tuple[int, bool, bool], ...]
    role: str
    clearance: int
    domains: frozenset[str]
    team: str | None
    validated: bool
    anchored: bool
    granted: bool


@dataclass(frozen=True)
class Rules:
    """A policy set; organisation 2 stands for all."""

    organisation: int
    default: str
    operations: frozenset[str]
    policies: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Plan:
    """Everything that an example consists of."""

    agents: list[Standing]
    seeds: list[Draft]
    drafts: list[Draft]
    sets: list[Rules]
    scribe: tuple[str, str]


# What agents hold and are, and what items demand: so drawn that each rule decides often enough.
some_domains = st.sampled_from(
    [frozenset(DOMAINS), frozenset(), frozenset(DOMAINS[:1]), frozenset(DOMAINS[1:])]
)
few_domains: st.SearchStrategy[frozenset[str]] = st.one_of(st.just(frozenset()), some_domains)
places = st.integers(0, len(PLACES) - 1)
labels: dict[str, Any] = {
    "layer": st.sampled_from(LAYERS),
    "level": st.sampled_from([None, 0, 1, 2, 2, 3]),
    "domains": few_domains,
    "tier": st.sampled_from(TIERS),
    "annotation": st.booleans(),
}
drafts = st.builds(Draft, **labels)
seeds = st.builds(
    Draft,
    **labels,
    # Most lie high up, where many see the scope and the other rules decide.
    place=st.sampled_from([0, 0, 0, 1, *range(8), 8, 8, 8, 9, *range(8, 16)]),
    fate=st.sampled_from(["stays", "stays", "changes", "rises", "retracted"]),
    session_is_shared=st.booleans(),
)
standings = st.builds(
    Standing,
    group=st.sampled_from(["agent", "agent", "agent", "curator", "auditor", "reviewer"]),
    organisation=st.integers(0, 1),
    home=places,
    writes=st.sampled_from([True, True, False]),
    below=st.booleans(),
    more=st.lists(st.tuples(places, st.booleans(), st.booleans()), max_size=2).map(tuple),
    role=st.sampled_from(["contributor", "scribe", "scribe", "executor", *ROLES]),
    clearance=st.sampled_from([2, 1, 3, 0]),
    domains=some_domains,
    team=st.sampled_from([None, "care", "ops"]),
    validated=st.sampled_from([True, True, False]),
    anchored=st.sampled_from([False, False, True]),
    granted=st.booleans(),
)
OWN_ITEMS = 3
conditions = st.sampled_from([OWN_ITEMS, OWN_ITEMS, *range(len(CONDITIONS)), OWN_ITEMS])
rule_sets = st.builds(
    Rules,
    organisation=st.sampled_from([2, 0, 1]),
    default=st.sampled_from(["allow", "allow", "deny"]),
    operations=st.sampled_from([("READ",), ("WRITE",), ("READ", "WRITE")]).map(frozenset),
    policies=st.lists(
        st.tuples(st.sampled_from(["allow", "deny"]), conditions),
        min_size=1,
        max_size=2,
    ).map(tuple),
)
plans = st.builds(
    Plan,
    agents=st.lists(standings, min_size=5, max_size=6),
    seeds=st.lists(seeds, min_size=12, max_size=18),
    drafts=st.lists(drafts, min_size=5, max_size=9),
    sets=st.lists(rule_sets, max_size=3),
    scribe=st.tuples(st.sampled_from(LAYERS), st.sampled_from(LAYERS)),
)


def everybody(*sets: Rules) -> Plan:
    """An agent of every role in one place, each writing everything there, under some policies."""
    standing: dict[str, Any] = {
        "group": "agent",
        "organisation": 0,
        "home": 0,
        "writes": True,
        "below": True,
    }
    standing |= {"more": (), "clearance": 2, "domains": frozenset(DOMAINS), "team": "ops"}
    standing |= {"validated": True, "anchored": False, "granted": True}
    written = [Draft(layer, 1, frozenset(), None, annotation=False) for layer in LAYERS]
    written.append(Draft("episodic", 1, frozenset(), None, annotation=True))
    secret = [replace(draft, level=3, fate="changes") for draft in written]
    return Plan(
        agents=[Standing(role=role, **standing) for role in [*ROLES, "scribe"]],
        seeds=[
            *written,
            *secret,
            *(replace(draft, place=1) for draft in written),
            *(replace(draft, session_is_shared=True) for draft in written),
        ],
        drafts=written,
        sets=list(sets),
        scribe=("semantic", "session"),
    )
