"""What an agent sees and writes, by every path there is: asked, and compared with rules.py."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call
from conftest import World
from helpers import recall
from identity.paths import answers, functions, relations, tokens
from identity.plans import Draft, Plan
from identity.rules import Item, Scope, rules, write_refusal
from identity.universe import WORDS, Caller, Ground, Universe, ask, marker, memory_of

# Relations that hold no memory: the same for everybody in an organisation, or for who oversees it.
SETTINGS = {
    *("layer", "embedding_model", "scope_kind", "classification", "pipeline", "functions"),
    "kept_layer",
    *("content_schema", "vocabulary", "predicate", "schemas", "predicates", "synonyms"),
    *("attributes", "origin_kind", "source", "source_type", "sources"),
    *("canonical_sources", "integrity_rule", "integrity_rules"),
    *("durability_rule", "durability_rules"),
    *("write_class", "write_classes", "approval_policy", "approval_policies", "packs_in_force"),
    *("extractors", "functions"),
    *("injection_policy", "injection_block", "injection_policies"),
    *("ontology", "ontology_pin", "ontologies"),
    *("surface", "surfaces", "hedge"),
    *("external_source", "external_sources"),
    *("retention_rule", "retention_rules"),
}
OVERSIGHT = {
    *("organisation", "access_role", "role_permission", "attribute", "policy_set", "policy"),
    *("principal", "scope_grant", "token", "access_log", "erasure", "erasures"),
    *("agents", "roles", "policies", "access_changes", "tokens"),
    *("sensitivity_rules", "dead_jobs", "job_queue", "verifiers"),
    *("packs", "consents", "auto_promotion", "storage_budgets"),
    *("review_channels", "escalations", "embedding_models"),
    *("collection", "collections", "storage_day", "jobs", "record_retention"),
    *("region", "regions", "residency", "residency_rule", "node"),
    *("write_hour", "write_day", "gate_hour", "counted_hour", "metric_point", "metric_range"),
    *("metrics", "health", "rejection_reasons", "gate_latency", "write_latency", "duplicate_tiers"),
    *("ablation", "ablations", "correctness_impact"),
    *("revalidation", "revalidations", "revalidated", "tightening"),
    *("write_facts", "decision_facts", "recall_facts", "job_facts"),
    *(
        "dim_organisation",
        "dim_scope",
        "dim_agent",
        "dim_layer",
        "dim_gate",
        "dim_reason",
        "dim_day",
    ),
}
OVERSEERS = {"curator", "auditor"}
OWN = {"requests", "write_request", "request_status"}
"""Where callers find what they asked for themselves, also where they do not see what came of it."""

ECHOES = {"explain_recall"}
"""What repeats the words it was asked with."""

SOME = {
    *("derivation", "past_embedding", "timeline", "evidence", "dispute", "disputes", "signal"),
    *("retention_states", "leaked_memories"),
}
"""What there is of some memories only."""


def giveaways(universe: Universe, caller: Caller) -> set[str]:
    """What must not appear in any answer: everything about hidden memories, names of scopes."""
    seen = set(universe.seen_by(caller))
    hidden = set().union(*(each.tokens for each in universe.memories if each not in seen))
    agent = caller.agent
    organisation = agent.home.organisation
    oversees = caller.group in OVERSEERS or agent.administers(organisation)
    for scope in universe.scopes[1:]:
        if not agent.reads_scope(scope) and not (oversees and scope.organisation is organisation):
            hidden.add(scope.name)
    return hidden


def check_writes(universe: Universe, drafts: list[Draft]) -> None:
    """Into every scope: committed, or the reason; a hidden scope answers as an absent one."""
    nowhere = Scope("org", "nowhere", universe.root)
    turns = itertools.cycle(drafts)
    for caller in universe.callers:
        if caller.group in ("auditor", "reviewer"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ask(caller.connection, drafts[0], "/global", marker("mk"))
            continue
        unknown = []
        everywhere = [(scope, next(turns)) for scope in (nowhere, *universe.scopes)]
        for scope, draft in [*everywhere, *((caller.agent.home, each) for each in drafts)]:
            mark = marker("mk")
            row = ask(caller.connection, draft, scope.path, mark)
            memory = memory_of(draft, scope, caller.agent.name, caller.agent.clearance)
            reason = write_refusal(caller.agent, memory, universe.sets)
            assert (row["outcome"], row["reason"]) == (
                "REJECTED" if reason else "COMMITTED",
                reason,
            ), (scope.path, draft)
            caller.requests.add(row["request_id"])
            caller.own |= tokens(str(row))
            if reason is None:
                memory.written(row, mark)
                universe.memories.append(memory)
            elif reason == "UNKNOWN_SCOPE":
                # It names the scope that was asked for, and says no more of it.
                told = {key: value for key, value in row.items() if key != "request_id"}
                unknown.append(str(told).replace(scope.path, "the scope"))
        assert all(each == unknown[0] for each in unknown)


def check_functions(universe: Universe, caller: Caller) -> None:
    """Every function that reads, with all that there is to ask about, tells nothing hidden."""
    hidden = giveaways(universe, caller)
    seen = {each.item_id for each in universe.seen_by(caller)}
    asked = [each for other in universe.callers for each in sorted(other.requests)[:8]]
    paths = [each.path for each in universe.scopes[::4]]
    others = [each.agent.name for each in universe.callers if each is not caller]
    oversees = caller.group in OVERSEERS or caller.agent.role == "curator"
    moments = [
        row["recorded_at"]
        for row in universe.world.rows(
            "SELECT recorded_at FROM memwarden_data.log WHERE item_id = ANY (%s) ORDER BY log_seq",
            [each.item_id for each in universe.memories],
        )
    ]
    recalls = [
        row["recall_id"]
        for row in universe.world.rows(
            "SELECT recall_id FROM memwarden_data.recall_log ORDER BY recall_id DESC LIMIT 20"
        )
    ]
    time = "timestamp with time zone"
    marks = [mark for each in universe.memories[::3] for mark in each.markers]
    values: dict[tuple[str, str], list[Any]] = {
        ("item_id", "uuid"): [each.item_id for each in universe.memories] + [uuid.uuid4()],
        ("request_id", "uuid"): [*asked, uuid.uuid4()],
        ("proposal_id", "uuid"): [*asked, uuid.uuid4()],
        ("recall_id", "uuid"): recalls,
        # Holds are shown to who may hold: tests/operations/keeping/test_holds.py.
        ("hold_id", "uuid"): [uuid.UUID(int=0)],
        ("agent", "text"): [caller.agent.name, *others[: 1 if oversees else 0]],
        ("profile", "text"): ["open"],
        ("layer", "text"): ["semantic"],
        ("operation", "text"): ["READ", "WRITE", "DELETE", "ADMIN"],
        ("query", "text"): [WORDS, *sorted(hidden)[:3], "nothing of it"],
        ("subject", "text"): [f"about {mark}" for mark in marks],
        ("predicate", "text"): ["is"],
        ("kind", "text"): ["annotation"],
        ("fusion", "text"): ["rrf"],
        ("scope", "text"): paths,
        ("scopes", "text[]"): [[path] for path in paths],
        ("json_text", "text"): ['{"text": 1}'],
        ("text", "text"): [WORDS],
        ("lines", "text[]"): [[WORDS]],
        ("answers", "jsonb"): [Jsonb([{"text": WORDS}])],
        ("entity", "text"): ["person:nobody"],
        ("name", "text"): ["nobody", *marks[:2]],
        ("system_time", time): moments[-1:] + moments[len(moments) // 2 :: len(moments)],
        ("valid_time", time): moments[-1:],
        ("since", time): moments[:1] + moments[len(moments) // 2 :: len(moments)],
        ("until", time): moments[-1:],
        ("version_a", "integer"): [1],
        ("version_b", "integer"): [1, 2],
        ("direction", "text"): ["derived"],
        ("metric", "text"): ["health", "write_rate"],
        ("from_layer", "text"): ["session", "semantic", "episodic"],
        ("to_layer", "text"): ["durable"],
        ("depth", "integer"): [1],
        ("head", "jsonb"): [Jsonb(call(caller.connection, "log_head")[0]["log_head"])],
    }
    # What reads needs no more than this, and the log of recalls would be all there is to read.
    caller.connection.execute("SET default_transaction_read_only = on")
    for function in functions(universe.world.admin, [caller.connection.info.user]):
        if function.changes:
            continue
        asked_for, answered = set(), set()
        for arguments, found, said in answers(caller.connection, function, values):
            asked_for.add(arguments.get("item_id"))
            told = tokens(said) & hidden
            told -= caller.own if function.name in OWN else set()
            told -= tokens(str(arguments)) if function.name in ECHOES else set()
            assert not told, f"{function.name}({arguments}) tells of what is hidden: {told}"
            if found:
                answered |= {arguments.get("item_id"), arguments.get("request_id")}
        if function.name in ("get", "history"):
            assert answered - {None} == seen, function.name
        if function.name == "as_of":
            active = {each.item_id for each in universe.seen_by(caller) if each.active}
            assert answered - {None} == active & asked_for
        if function.name == "request_status":
            assert answered - {None} == caller.requests & set(asked)
    caller.connection.execute("RESET default_transaction_read_only")


def check_recall(universe: Universe, caller: Caller) -> None:
    """Everything active, a scope with what it inherits, one scope; or that there is none."""
    active = [each for each in universe.seen_by(caller) if each.active]
    for arguments in ({}, {"query": WORDS}, {"query": "nothing of it", "fusion": "rrf"}):
        answers = recall(caller.connection, k=1000, threshold=0, **arguments)
        found = [row for row in answers if row["standing"] != "unknown"]
        assert {row["item_id"] for row in found} == {each.item_id for each in active}
        assert {row["scope"] for row in found} == {each.scope.path for each in active}
    for scope in universe.scopes:
        within = {each.item_id for each in active if each.scope in scope.lineage}
        exactly = {each.item_id for each in active if each.scope is scope}
        for how, expected in (({"scope": scope.path}, within), ({"scopes": [scope.path]}, exactly)):
            if caller.agent.reads_scope(scope):
                rows = recall(caller.connection, k=1000, **how)
                assert {row["item_id"] for row in rows} == expected
            else:
                with pytest.raises(psycopg.errors.UndefinedObject):
                    recall(caller.connection, **how)


def check_relations(universe: Universe, caller: Caller) -> None:
    """Every table, partition and view, asked afresh and by a statement of before the example."""
    hidden = giveaways(universe, caller)
    for relation in relations(universe.world.admin, caller.connection.info.user):
        name = relation["name"]
        if not relation["readable"]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                caller.connection.execute(f"SELECT FROM {name}")
            continue
        for query in (f"SELECT t.* FROM {name} AS t", f"EXECUTE {caller.prepared[name]}"):
            rows = caller.connection.execute(query).fetchall()
            short = name.partition(".")[2]
            told = (tokens(str(rows)) & hidden) - (caller.own if short in OWN else set())
            assert not told, f"{query} tells of what is hidden: {told}"
            check_rows(universe, caller, short, relation["columns"], rows)


def check_rows(
    universe: Universe, caller: Caller, name: str, columns: list[str], rows: list[DictRow]
) -> None:
    """Relations that list something list all that the caller may see of it, and nothing else."""
    if name in OWN:
        assert {row["request_id"] for row in rows} == caller.requests
    elif name in (
        *("evidence", "sensitivity_findings", "sensitivity_counts"),
        *("consolidation", "consolidations", "review", "review_event"),
        *("captures", "extraction_statistics"),
        *("session", "session_entry", "working_memory", "sessions", "pushed_memory"),
        *("entity", "entity_alias", "entity_attribute", "entity_event", "memory_key"),
        *("entities", "entity_changes", "probe", "probe_run", "probes", "probe_runs"),
        *("proposals", "audit_sample", "audit_queue", "learning_signals", "correction_adoption"),
        *("noise", "review_load", "reviewer_throughput"),
        *("pin", "legal_hold", "hold_policy", "blocked_erasure", "action_link"),
        *("pins", "holds", "action_links", "tombstones"),
        *("incident", "incidents", "residency_breaches", "collectable", "personal_item"),
        *("subject_key", "destroyed_key", "registered_subjects"),
        *("memory_errors", "leaked_memories"),
    ):
        # There are none here; tests of their own show who sees which.
        assert rows == []
    elif name in ("recalls", "retrieval_quality"):
        # Of whom is shown in tests of their own; of what, is what the caller reads.
        read = {each.item_id for each in universe.seen_by(caller)}
        assert all(set(row.get("item_ids") or ()) <= read for row in rows)
    elif "item_id" in columns:
        seen = universe.seen_by(caller)
        # What has ended is in no index.
        expected = {each.item_id for each in seen if each.active or name != "embedding"}
        found = {row["item_id"] for row in rows}
        assert found <= expected if name in SOME else found == expected, name
    elif name in ("scope", "scopes"):
        readable = {each.path for each in universe.scopes if caller.agent.reads_scope(each)}
        assert {row["path" if name == "scope" else "scope"] for row in rows} == readable
    elif name == "label":
        assert {row["label_id"] for row in rows} == readable_labels(universe, caller)
    elif name == "allowances":
        assert caller.group in OVERSEERS or {row["agent"] for row in rows} <= {caller.agent.name}
    elif name == "storage":
        # Bytes by organisation, table and layer: of one's own, for who administers it.
        own = caller.agent.home.organisation
        names = {own.name} if own is not None and caller.agent.administers(own) else set()
        assert {row["org"] for row in rows} <= names
    elif name == "gate_statistics":
        asked = sum(row["requests"] for row in rows if row["gate"] == "05_identity")
        assert asked == len(caller.requests)
    else:
        assert name in (SETTINGS | OVERSIGHT), f"{name}: say here what a caller may see of it"
        sees = OVERSEERS | {"reviewer"} if name == "revalidations" else OVERSEERS
        assert name in SETTINGS or caller.group in sees


def readable_labels(universe: Universe, caller: Caller) -> set[int]:
    """Labels of memories that the caller would see, were they in a scope of its own."""
    rows = universe.world.rows(
        "SELECT l.*, o.name AS org FROM memwarden_data.label AS l"
        "  JOIN memwarden_data.organisation AS o USING (org_id)"
    )
    organisation = caller.agent.home.organisation
    readable = set()
    for row, author in itertools.product(rows, (caller.agent.name, "somebody else")):
        item = Item(
            scope=Scope(row["scope_kind"], "any", None),
            layer=row["layer"],
            kind=row["kind"],
            classification=row["classification"],
            domains=frozenset(row["domains"]),
            tier=row["attributes"].get("tier"),
            author=author,
            session_is_shared=row["shared"],
        )
        said = [allowed for rule, allowed in told(universe, caller, item) if rule != "scope"]
        if all(said) and row["org"] in ("global", organisation.name if organisation else ""):
            readable.add(row["label_id"])
    return readable


def told(universe: Universe, caller: Caller, item: Item) -> list[tuple[str, bool]]:
    """The rules of reading, by the model."""
    return list(rules(caller.agent, item, "READ", universe.sets))


def check_explanations(universe: Universe, admin: Connection[DictRow]) -> None:
    """explain_access() tells an administrator every rule, and which of them decides."""
    memories = {each.item_id: each for each in universe.memories}
    for caller, operation in itertools.product(universe.callers, ("READ", "WRITE")):
        told: dict[Any, list[tuple[str, bool, bool]]] = {each: [] for each in memories}
        for row in admin.execute(
            "SELECT i.id, e.rule, e.allowed, e.decisive FROM unnest(%s::uuid[]) AS i (id),"
            "       memwarden.explain_access(%s, i.id, %s) AS e ORDER BY i.id, e.step",
            (list(memories), caller.agent.name, operation),
        ):
            told[row["id"]].append((row["rule"], row["allowed"], row["decisive"]))
        for item_id, memory in memories.items():
            said = list(rules(caller.agent, memory, operation, universe.sets))
            refusals = [n for n, (_, allowed) in enumerate(said) if not allowed]
            decisive = refusals[0] if refusals else len(said) - 1
            expected = [(*rule, n == decisive) for n, rule in enumerate(said)]
            assert told[item_id] == expected, memory


def check_paths(shared_world: World, ground: Ground, plan: Plan) -> None:
    """Whatever way a plan's callers ask, they are told what the model says."""
    universe = Universe(shared_world, plan, ground)
    try:
        check_writes(universe, plan.drafts)
        shared_world.admin.execute("CALL memwarden.seal_log()")
        for caller in universe.callers:
            check_recall(universe, caller)
            check_functions(universe, caller)
            check_relations(universe, caller)
        check_explanations(universe, shared_world.admin)
    finally:
        universe.end()
