#!/usr/bin/env python3
"""Many memories at once, in the form that a commit leaves: the gates would take hours.

Called itself, it fills a small store and shows that all verifies that does after a commit: signed
provenance, the log, the heads.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from store import Stores, scope_path
from workload import DIMENSION, Workload

# Each row is as that of the first memory of the store but for what is its own.
IDS = {
    "scope_id": "f.scope_id",
    "item_id": "f.item_id",
    "version_id": "f.version_id",
    "request_id": "f.request_id",
}
CONTENT_HASH = """sha256(convert_to('{"text":"' || f.words || '"}', 'UTF8'))"""
ANY_HASH = "sha256(convert_to(f.item_id::text, 'UTF8'))"
PATH = "(SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = f.scope_id)"
OWN = {
    "version": {
        "content": "jsonb_build_object('text', f.words)",
        "search_text": "f.words",
        "content_hash": CONTENT_HASH,
        "evidence": "jsonb_build_array(x.evidence -> 0 || jsonb_build_object('excerpt', f.words))",
    },
    "item": {
        "content_hash": CONTENT_HASH,
        "fingerprint": ANY_HASH,
        "search_vector": "to_tsvector('english', f.words)",
    },
    "embedding": {"embedding": "f.embedding"},
    "write_request": {
        "scope_path": PATH,
        "content_hash": CONTENT_HASH,
        "asked_hash": ANY_HASH,
    },
    "idempotency": {"token": ANY_HASH},
}
# The shared shelf: a scope that has grown is moved from there.
TEMPLATE = {"embedding": "embedding_shared"}
# The functions of the commit hash and sign, so that everything verifies.
VERSIONS = """
WITH v AS ({versions} RETURNING *), logged AS (
    INSERT INTO memwarden_data.log (
        recorded_at, transaction_id, system_identifier, org_id, operation, item_id, version_id,
        scope_id, layer, principal_id, request_id, reason, snapshot_hash)
    SELECT lower(v.recorded_during), pg_current_xact_id(), memwarden_internal.system_identifier(),
           v.org_id, 'INSERT', v.item_id, v.version_id, v.scope_id, v.layer, v.principal_id,
           v.request_id, 'new item', memwarden_internal.snapshot_hash(
               v.version_id, v.item_id, v.version, NULL, NULL, NULL, v.scope_id, v.layer, v.kind,
               v.subject, v.predicate, v.content_hash, v.confidence, v.importance, v.evidence,
               v.principal_id, v.label_id, v.request_id, lower(v.recorded_during), v.valid_during,
               v.expires_at, v.class, NULL, NULL)
      FROM v)
SELECT memwarden_internal.record_provenance(
           v.org_id, v.scope_id, v.item_id, v.version_id, NULL, 'WRITE',
           jsonb_set(x.record, '{{evidence,0,excerpt_hash}}', to_jsonb(
               encode(sha256(convert_to(v.search_text, 'UTF8')), 'hex')))
           || jsonb_build_object('request_id', v.request_id,
                                 'content_hash', encode(v.content_hash, 'hex')),
           lower(v.recorded_during))
  FROM v, (SELECT p.record FROM memwarden_data.whole_provenance AS p LIMIT 1) AS x"""
# As the first write into a scope leaves it.
LOCKS = """
INSERT INTO memwarden_data.write_lock
SELECT (jsonb_populate_record(x, jsonb_build_object('scope_id', f.scope_id))).*
  FROM (SELECT DISTINCT scope_id FROM fill) AS f,
       (SELECT l AS x FROM memwarden_data.write_lock AS l LIMIT 1) AS one
    ON CONFLICT DO NOTHING"""
RAW = """
INSERT INTO raw_memory (scope_id, content, words, embedding)
SELECT 0, jsonb_build_object('text', f.words), to_tsvector('english', f.words), f.embedding::vector
  FROM fill AS f"""
SLICE = 10_000
# Nothing, where all is as a commit leaves it.
FAULTS = """
SELECT (SELECT count(*) FROM memwarden.verify_provenance()),
       (SELECT count(*) FROM memwarden.verify_log()),
       (SELECT count(*) FROM memwarden_data.version AS v
          LEFT JOIN memwarden_data.whole_provenance AS p USING (org_id, version_id)
         WHERE p.signature IS NULL
            OR p.record #>> '{evidence,0,excerpt_hash}' IS DISTINCT FROM
               encode(sha256(convert_to(v.evidence #>> '{0,excerpt}', 'UTF8')), 'hex'))"""


class Vectors:
    """Where vectors come from: mixtures of real ones, or clusters."""

    def __init__(self, workload: Workload, file: Path | None) -> None:
        self.workload = workload
        self.real = None
        if file is not None:
            with np.load(file) as data:
                self.real = np.vstack([data[name].astype(np.float32) for name in data.files])

    def array(self, count: int) -> Any:
        """So many unit vectors, shape (count, 384)."""
        if self.real is None:
            return self.workload.vectors(count)
        random = self.workload.random
        one, other = (self.real[random.integers(0, len(self.real), count)] for _ in range(2))
        share = random.uniform(0, 0.5, (count, 1)).astype(np.float32)
        noise = 0.02 * random.standard_normal((count, DIMENSION)).astype(np.float32)
        mixed = (1 - share) * one + share * other + noise
        return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)

    def draw(self, count: int) -> list[list[float]]:
        """So many unit vectors, as lists."""
        return np.round(self.array(count), 5).tolist()  # type: ignore[no-any-return]


def binary(vector: Any) -> bytes:
    """A vector as pgvector's halfvec reads it from COPY."""
    numbers: bytes = vector.tobytes()
    return DIMENSION.to_bytes(2) + bytes(2) + numbers


def fill(
    stores: Stores,
    workload: Workload,
    vectors: Vectors,
    sizes: Iterable[tuple[int, int]],
    *,
    raw: bool = False,
) -> None:
    """Put so many memories into each scope, named by its number; into the raw table as well."""
    admin = stores.admin
    if not admin.execute("SELECT FROM memwarden_data.item LIMIT 1").fetchall():
        stores.write(0, (workload.memories(1)[0][0], vectors.draw(1)[0]))
    paths = admin.execute("SELECT path, scope_id FROM memwarden_data.scope").fetchall()
    numbers: dict[str, int] = dict(paths)
    places = [(numbers[scope_path(scope)], count) for scope, count in sizes]
    homes = np.repeat([home for home, _ in places], [count for _, count in places])
    # Memories of a scope are written at different times, and lie apart.
    workload.random.shuffle(homes)
    for start in range(0, len(homes), SLICE):
        _slice(stores, workload, vectors, homes[start : start + SLICE].tolist(), raw=raw)
    admin.execute("VACUUM ANALYZE")


def _slice(
    stores: Stores, workload: Workload, vectors: Vectors, homes: list[int], *, raw: bool
) -> None:
    admin = stores.admin
    admin.execute(
        "CREATE TEMPORARY TABLE fill (scope_id bigint, words text, embedding halfvec,"
        " item_id uuid DEFAULT memwarden_internal.uuid7(),"
        " version_id uuid DEFAULT memwarden_internal.uuid7(),"
        " request_id uuid DEFAULT memwarden_internal.uuid7())"
    )
    texts, drawn = workload.texts(len(homes)), vectors.array(len(homes)).astype(">f2")
    with admin.cursor().copy("COPY fill (scope_id, words, embedding) FROM STDIN BINARY") as copy:
        copy.set_types(["int8", "text", "bytea"])
        for home, text, vector in zip(homes, texts, drawn, strict=True):
            copy.write_row((home, text, binary(vector)))
    with admin.transaction():
        admin.execute(VERSIONS.format(versions=_copies(stores, "version")))
        for table in ("item", "embedding", "idempotency"):
            admin.execute(_copies(stores, table))
        admin.execute(LOCKS)
        # The triggers of a request are the gates.
        admin.execute("SET LOCAL session_replication_role = replica")
        admin.execute(_copies(stores, "write_request"))
    if raw:
        admin.execute(RAW)
    admin.execute("DROP TABLE fill")


def _copies(stores: Stores, table: str) -> str:
    """The INSERT of one row for each memory of the slice."""
    columns = [
        name
        for (name,) in stores.admin.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
            " AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            (f"memwarden_data.{table}",),
        )
    ]
    own = IDS | OWN[table]
    values = ", ".join(own.get(name, f"x.{name}") for name in columns)
    return (
        f"INSERT INTO memwarden_data.{table} ({', '.join(columns)}) SELECT {values} FROM fill AS f,"
        f" (SELECT * FROM memwarden_data.{TEMPLATE.get(table, table)} LIMIT 1) AS x"
    )


def main() -> None:
    """Fill a small store, and verify it."""
    parser = argparse.ArgumentParser(description="Fill a small store, and verify it.")
    parser.add_argument("--dsn", required=True, help="superuser connection string of the server")
    arguments = parser.parse_args()
    stores, workload = Stores.create(arguments.dsn, 5, "memwarden_fill"), Workload(seed=1)
    fill(stores, workload, Vectors(workload, None), [(scope, 300) for scope in range(5)])
    faults = stores.admin.execute(FAULTS).fetchone()
    # Raises where a head is not what the log says.
    stores.admin.execute("SELECT memwarden.rebuild_heads()")
    print("faults of provenance, log and evidence:", faults)
    raise SystemExit(faults != (0, 0, 0))


if __name__ == "__main__":
    main()
