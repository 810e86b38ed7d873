"""Every column that could hold what somebody said is erased, or listed with why it holds none.

A table or column that is new makes this fail: it gets its place in
sql/8_operations/30_erasure, or a line here.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT, World
from operations.erasure.conftest import Desk, remember

# Deleted with the item, blanked with the request, replaced by its hash with the entry.
ERASED = {
    "item": "deleted",
    "version": "deleted",
    "timeline": "deleted",
    "ablation": "deleted",
    "embedding": "deleted",
    "past_embedding": "deleted",
    "embedding_job": "deleted",
    "derivation": "deleted",
    "dispute": "deleted",
    "provenance": "deleted",
    "idempotency": "deleted",
    "sensitive_value": "deleted",
    "sensitivity_scan": "deleted",
    "promotion": "deleted",
    "consolidation": "deleted",
    "sighting": "deleted",
    "signal": "deleted",
    "audit_sample": "deleted",
    "consent": "deleted",
    "consent_state": "deleted",
    "evidence": "deleted",
    "thread": "deleted",
    "job": "deleted",
    "verdict": "deleted",
    "memory_key": "deleted",
    "probe": "deleted",
    "probe_run": "deleted",
    "entity": "deleted",
    "entity_alias": "deleted",
    "entity_attribute": "deleted",
    "capture": "deleted",
    "capture_key": "deleted",
    "extraction": "deleted",
    "candidate": "deleted",
    "noise": "deleted",
    "session": "deleted",
    "session_entry": "deleted",
    "working_memory": "deleted",
    "pushed_memory": "deleted",
    "recall_use": "deleted",
    "pin": "deleted",
    "revalidated": "deleted",
    "personal_item": "deleted",
    # Where they name somebody: test_other_places.py. The synonyms of vocabulary lose the entry.
    "predicate": "deleted",
    "kept_terms": "deleted",
}

# Names that an administrator or an application gave to places, people and rules. They are not
# memory: docs/erase.md says so, and what to do about them.
NAMES = {
    *(
        "organisation",
        "scope",
        "scope_kind",
        "principal",
        "principal_login",
        "principal_identity",
        "scope_grant",
        "token",
    ),
    *("access_role", "role_permission", "attribute", "policy_set", "policy", "label", "access_log"),
    "kept_reader",
    *("source", "verifier", "canonical_source"),
    *("review_channel", "review_notice"),
}
SETTINGS = {
    *("storage", "classification", "layer", "embedding_model", "content_schema", "vocabulary"),
    *("embedder", "embedding_use", "vector_move"),
    *("token_key", "write_lock", "signing_key", "origin_kind", "store_origin"),
    *("shelf", "shelf_word", "job_run", "record_retention", "storage_day"),
    *(
        "sensitivity_rule",
        "sensitivity_action",
        "sensitivity_ruleset",
        "sensitivity_rules_text",
        "sealing_key",
    ),
    *("source_type", "leak_defence", "layer_setting", "kept_layer", "allowance", "integrity_rule"),
    *("durability_rule", "durability_ruleset", "approval_policy"),
    "ontology",
    *("region", "node", "residency_rule"),
    *("write_class", "pack", "pack_use", "auto_promotion", "storage_budget"),
    *("capture_source", "extractor", "calibration"),
    *("escalation", "noise_policy"),
    *("injection_policy", "injection_block"),
    "threshold_tuning",
    *("surface", "hedge", "external_source"),
    # For whom a job acts: there is no row to see.
    "acting",
    # Breaches by number.
    "incident",
    "retention_rule",
    # Findings of verify_provenance() by number.
    "sweep",
    # Numbers of memories, and codes.
    *("collection", "collectable"),
    *("write_hour", "write_day", "gate_hour", "counted_hour", "metric_point", "metric_range"),
    *("revalidation", "tightening"),
    # A language's words, the same for everybody: tests/write/lexicon.
    *("lexicon", "lexicon_word", "lexicon_sense"),
}
# Hashes and numbers of a sealed log: what it takes to notice a theft.
PROOFS = {"log_segment", "checkpoint", "checkpoint_head"}
# The records of erasures themselves, and of changes of entities, by number: they name nobody.
RECORDS = {
    "entity_event",
    "erasure",
    "erased_item",
    "erased_reason",
    "erased_request",
    "erased_evidence",
    "destroyed_key",
    "erased_subject",
}

# Keys of subjects, under a keyed hash: destroyed by the erasure, tests/operations/subject_keys.
KEYS = {"subject_key"}

# Deleted with the person whom it names: tests/operations/subjects.
REGISTER = {"registered_subject"}

# Blanked with their request: tests/review/approval/test_erasing.py.
REVIEWS = {"review", "review_event"}

# Emptied of what they say, or counts by number: tests/recall/log/test_erasing.py.
RECALLS = {"recall_log", "recall_outcome", "recall_day"}

# Emptied of names, or gone once it is carried out: tests/operations/keeping/test_erasing.py.
KEEPING = {"legal_hold", "blocked_erasure", "action_link"}

# What stays of a request that was blanked.
OF_A_REQUEST = {
    "layer": "a name from a list",
    "scope_path": "the path of a scope",
    "embedding_model": "a name from a list",
    "admission": "a name from a list",
    "sensitivity": "a name from a list",
    "outcome": "a name from a list",
    "gate": "the name of a gate",
    "reason": "a code",
    "gates": "names, decisions and times",
    "refused_hash": "a keyed hash",
    "asked_hash": "a keyed hash",
    "act": "a name from a list",
    "trial": "names from lists, and codes",
}
OF_AN_ENTRY = {
    "operation": "a name from a list",
    "layer": "a name from a list",
    "reason": "blank",
    "reason_hash": "the hash of what was there, sealed",
    "snapshot_hash": "the hash of the version, sealed",
}

COLUMNS = """
SELECT c.relname AS table, a.attname AS column
  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
  JOIN pg_type AS t ON t.oid = a.atttypid
  LEFT JOIN pg_type AS e ON e.oid = t.typelem AND t.typcategory = 'A'
 WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')
   AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
   AND coalesce(e.typname, t.typname) IN
       ('text', 'varchar', 'name', 'json', 'jsonb', 'bytea', 'tsvector', 'vector', 'halfvec',
        'sparsevec', 'float4', 'xml', 'jsonpath')"""


def columns(world: World) -> dict[str, set[str]]:
    """The columns of every table that can hold words, vectors or bytes."""
    found: dict[str, set[str]] = {}
    for row in world.rows(COLUMNS):
        found.setdefault(row["table"], set()).add(row["column"])
    return found


def test_every_table_is_judged(shared_world: World) -> None:
    """One that is new is erased, or listed.

    Proves: R1 (everywhere content can sit)
    """
    judged = {*ERASED, *NAMES, *SETTINGS, *PROOFS, *RECORDS, *REVIEWS, "log", "write_request"}
    judged |= RECALLS | KEEPING | KEYS | REGISTER
    assert set(columns(shared_world)) - judged == set()


def test_what_is_deleted_is_deleted_by_the_engine() -> None:
    """The list above is that of the functions which delete."""
    text = Path(ROOT, "sql/8_operations/30_erasure/40_erase_places.sql").read_text()
    deleted = set(re.findall(r"DELETE FROM memwarden_data\.(\w+)", text))
    assert deleted == set(ERASED)


@pytest.mark.parametrize(
    ("table", "staying", "key"),
    [("write_request", OF_A_REQUEST, "item_id"), ("log", OF_AN_ENTRY, "item_id")],
)
def test_of_a_row_that_stays_every_other_column_is_blank(
    shared_world: World, table: str, staying: dict[str, str], key: str
) -> None:
    """Whatever it held before: each column is filled with a marker, and then looked for.

    Proves: R1 (request content, log)
    """
    desk = Desk(shared_world)
    item = remember(desk.agent(), "tea", subject="Ana", predicate="likes", trace_id="t")
    if table == "write_request":
        with shared_world.admin.transaction():
            shared_world.admin.execute("SET LOCAL session_replication_role = replica")
            filled = columns(shared_world)[table] - set(staying)
            for column in filled:
                kind = shared_world.value(
                    "SELECT format_type(atttypid, NULL) FROM pg_attribute"
                    " WHERE attrelid = %s::regclass AND attname = %s",
                    f"memwarden_data.{table}",
                    column,
                )
                value = {"jsonb": "'\"zzq\"'", "bytea": "sha256('zzq')", "text": "'zzq'"}.get(
                    kind, "ARRAY['zzq']" if kind == "text[]" else "ARRAY[1]"
                )
                shared_world.admin.execute(
                    f"UPDATE memwarden_data.{table} SET {column} = {value} WHERE {key} = %s",
                    (item,),
                )
    desk.erase("Ana")
    rows = shared_world.rows(f"SELECT * FROM memwarden_data.{table} WHERE {key} = %s", item)
    assert rows
    for row in rows:
        wordy = {c: row[c] for c in columns(shared_world)[table] if row[c] is not None}
        assert set(wordy) <= set(staying)
        assert "zzq" not in str(row)
