"""Every function of the extension is labelled, commented, pinned, owned and closed to PUBLIC."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from psycopg.rows import DictRow

from conftest import ROOT, World

PINNED = "search_path=pg_catalog, pg_temp"

# A SET clause forbids COMMIT, and pg_partman's set_config() outlives it: these name every object
# with its schema instead, and the caller's rights are all they have.
UNPINNED = {
    "memwarden.arrange_shelves",
    "memwarden.reindex_words",
    "memwarden.check_probes",
    "memwarden.checkpoint",
    "memwarden.clear_models",
    "memwarden.close_due_scopes",
    "memwarden.clean_layers",
    "memwarden.collect",
    "memwarden.close_due_sessions",
    "memwarden.compact_captures",
    "memwarden.compact_history",
    "memwarden.count_recalls",
    "memwarden.take_metrics",
    "memwarden.revalidate",
    "memwarden.check_compliance",
    "memwarden.delete_old_records",
    "memwarden.enforce_consent",
    "memwarden.enforce_retention",
    "memwarden.escalate_reviews",
    "memwarden.expire_reviews",
    "memwarden.extract_captures",
    "memwarden.load_lexicons",
    "memwarden.maintain",
    "memwarden.rescan_sensitivity",
    "memwarden.retry_deferred",
    "memwarden.run_due_jobs",
    "memwarden.seal_log",
    "memwarden.settle_values",
    "memwarden.setup",
    "memwarden.sweep",
    "memwarden_internal.run_job",
    "memwarden_internal.try_step",
    "memwarden_internal.work_on_job",
}

# Called by a superuser, who needs no grant.
UNGRANTED = {
    "memwarden.create_region_publication",
    "memwarden.remove_copies",
    "memwarden.set_region",
    "memwarden.drop_canonical_source",
    "memwarden.place_tier",
    "memwarden.rebuild_heads",
    "memwarden.register_canonical_source",
    "memwarden.setup",
}

MAX_LINES = 60
LONG = {
    "memwarden.reasons": "a table",
    "memwarden_internal.python_source": "the Python package",
    "memwarden_internal.storage_parts": "the storage",
    "memwarden_internal.neighbours": "one query",
    "memwarden_internal.search": "one query",
    "memwarden_internal.relevance_of": "one query",
    "memwarden_internal.load_python": "one step after another",
    "memwarden_internal.write_plain": "one query",
    "memwarden_internal.write_alone": "one demand after another, and six INSERTs",
    "memwarden.write": "its arguments",
    "memwarden_internal.search_plainly": "one query, and a column for each word",
    "memwarden_internal.search_shelf": "what it goes by, and one query with a column for each word",
    "memwarden_internal.sample_shelf": "one query, and what it is reckoned up to",
    "memwarden_internal.grown_part": "one kind of shelf after another",
    "memwarden_internal.gate_duplicate": "what is found, and what becomes of it",
    "memwarden_internal.gate_merge": "one demand after another, and what becomes of it",
    "memwarden.explain_recall": "one query",
    "memwarden.rollback": "one demand after another, and the change",
    "memwarden_internal.errors": "a table",
    "memwarden_internal.setting_rules": "a table",
    "memwarden.status": "one component after another",
    "memwarden_internal.function_areas": "a table",
    "memwarden_internal.append_version": "two INSERTs, and what follows from them",
    "memwarden_internal.gate_access": "one demand after another, and the lock",
    "memwarden_internal.describe": "one query",
    "memwarden.compile_context": "one choice and its lines",
    "memwarden_internal.pack_schema": "a document",
    "memwarden_internal.gate_approval": "one demand after another, and what becomes of it",
    "memwarden_internal.gate_canonical": "one query, one call, and what they set",
    "memwarden_internal.gate_commit": "four INSERTs and what they set",
    "memwarden_internal.gate_reset": "assignments, one a line",
    "memwarden_internal.gate_store": "assignments, one a line",
    "memwarden_internal.gate_constraint": "one kind of declaration after another",
    "memwarden_internal.gate_contradiction": "what is found, and what becomes of it",
    "memwarden_internal.gate_evidence": "one demand after another",
    "memwarden_internal.metric_definitions": "a list",
    "memwarden_internal.gate_identity": "one query and its answer",
}


def test_every_definition_spells_out_its_labels() -> None:
    """What PostgreSQL would otherwise fill in is a decision that somebody has to see."""
    silent = []
    for path in sorted((ROOT / "sql").rglob("*.sql")):
        heads = re.split(r"^CREATE OR REPLACE (?=FUNCTION|PROCEDURE)", path.read_text(), flags=re.M)
        for head in heads[1:]:
            labels = re.split(r"^AS \$|^RETURN ", head, maxsplit=1, flags=re.M)[0]
            wanted = [r"\nLANGUAGE \w+ ", r" SECURITY (INVOKER|DEFINER)\b"]
            if head.startswith("FUNCTION"):
                wanted += [r" (VOLATILE|STABLE|IMMUTABLE) ", r" PARALLEL (SAFE|RESTRICTED|UNSAFE) "]
            if not all(re.search(label, labels) for label in wanted):
                silent.append(f"{path.name}: {labels.splitlines()[0]}")
    assert silent == []


def test_search_paths_are_pinned(functions: list[DictRow]) -> None:
    """An SQL-standard body has its names resolved when it is created: it needs no path."""
    loose = {
        f["qualified"] for f in functions if PINNED not in (f["settings"] or []) and not f["bound"]
    }
    assert loose == UNPINNED
    assert not [f["qualified"] for f in functions if f["qualified"] in loose and f["definer"]]
    assert [f["qualified"] for f in functions if f["bound"] and f["definer"]] == []


def test_definer_functions_belong_to_memwarden_owner(functions: list[DictRow]) -> None:
    """Owned by the superuser who installs, they would ignore even forced row security."""
    definers = [f for f in functions if f["definer"]]
    assert definers
    others = [f["qualified"] for f in definers if f["owner"] != "memwarden_owner"]
    # They read the key file, which memwarden_owner may not, and touch no table.
    assert set(others) == {"memwarden_internal.keyed_hash", "memwarden_internal.keyed_hash_in_sql"}


def test_nobody_else_owns_what_a_superuser_function_calls(functions: list[DictRow]) -> None:
    """Who owns a function may replace it by one that runs with the rights of its caller."""
    superusers = [f for f in functions if f["definer"] and f["owner"] == "postgres"]
    called = {
        f["qualified"]
        for f in functions
        for caller in superusers
        if f["owner"] != "postgres" and f"{f['qualified']}(" in (caller["body"] or "")
    }
    assert superusers
    assert called == set()


def test_python_never_runs_with_the_rights_of_its_caller(functions: list[DictRow]) -> None:
    """PL/Python is untrusted, keeps code in GD and cannot run in a parallel worker."""
    python = [f for f in functions if f["language"] == "plpython3u"]
    assert python
    assert {(f["definer"], f["parallel"]) for f in python} == {(True, "r")}


def test_public_may_execute_nothing(world: World, functions: list[DictRow]) -> None:
    """Proves: Z1."""
    open_to_all = world.rows(
        "SELECT p.oid::regprocedure::text AS f FROM pg_proc AS p"
        "  LEFT JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a"
        "    ON a.grantee = 0 AND a.privilege_type = 'EXECUTE'"
        " WHERE p.oid = ANY (%s) AND a.grantee IS NOT NULL",
        [f["oid"] for f in functions],
    )
    assert open_to_all == []


def test_every_public_function_is_granted_to_somebody(functions: list[DictRow]) -> None:
    """Somebody: a role that is neither the owner nor the engine."""
    lonely = {
        f["qualified"]
        for f in functions
        if f["schema"] == "memwarden" and not re.search(r"memwarden_(?!owner)\w+=X", str(f["acl"]))
    }
    assert lonely == UNGRANTED


def test_no_literal_depends_on_the_settings_of_the_caller(functions: list[DictRow]) -> None:
    """A session may set standard_conforming_strings; E'...' does not depend on it."""
    fragile = [
        (f["qualified"], literal)
        for f in functions
        if f["language"] in {"plpgsql", "sql"}
        for escaped, literal in re.findall(r"(E?)'((?:[^']|'')*)'", f["text"])
        if "\\" in literal and not escaped
    ]
    assert fragile == []


def test_names_follow_the_conventions(functions: list[DictRow]) -> None:
    """Public arguments are bare words, internal ones p_something; nothing is overloaded."""
    for f in functions:
        inputs = f["names"][: f["arguments"]]
        prefixed = [name for name in inputs if re.match(r"[pv]_", name)]
        assert prefixed == ([] if f["schema"] == "memwarden" else inputs), f["qualified"]
    assert max(Counter(f["qualified"] for f in functions).values()) == 1


def test_functions_fit_on_a_screen(functions: list[DictRow]) -> None:
    """The bodies that do not have a reason, and the list of them no idle entry."""
    long = {f["qualified"] for f in functions if f["body"].strip().count("\n") >= MAX_LINES}
    assert long <= LONG.keys(), "split it, or say here why it is long"


@pytest.mark.parametrize(
    ("catalog", "where"),
    [
        ("pg_proc", "pronamespace::regnamespace::text IN ('memwarden', 'memwarden_internal')"),
        ("pg_class", "relnamespace = 'memwarden'::regnamespace AND relkind = 'v'"),
        (
            "pg_class",
            "relnamespace = 'memwarden_data'::regnamespace AND relkind IN ('r', 'p')"
            " AND NOT relispartition",
        ),
        ("pg_class", "relnamespace = 'memwarden_internal'::regnamespace AND relkind = 'c'"),
        ("pg_namespace", r"nspname LIKE 'memwarden%%'"),
    ],
    ids=["functions", "views", "tables", "types", "schemas"],
)
def test_everything_has_a_comment(world: World, catalog: str, where: str) -> None:
    """The reference documentation is made of the comments."""
    rows = world.rows(
        "SELECT o.oid, coalesce(obj_description(o.oid, %s), obj_description(t.oid, 'pg_type'))"
        f" AS comment FROM {catalog} AS o LEFT JOIN pg_type AS t ON t.typrelid = o.oid"
        f" WHERE {where}",
        catalog,
    )
    assert rows
    assert [row["oid"] for row in rows if not row["comment"]] == []
