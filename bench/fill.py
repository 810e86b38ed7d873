"""Many memories at once, in the form that a commit leaves: the gates would take hours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from store import Stores, scope_path
from workload import DIMENSION, Workload

# Each is the first memory of the store but for what is its own.
OWN = {
    "scope_id": "f.scope_id",
    "item_id": "f.item_id",
    "version_id": "f.version_id",
    "content": "jsonb_build_object('text', f.words)",
    "search_text": "f.words",
    "content_hash": "sha256(convert_to(f.item_id::text, 'UTF8'))",
    "fingerprint": "sha256(convert_to(f.item_id::text, 'UTF8'))",
    "search_vector": "to_tsvector('english', f.words)",
    "embedding": "f.embedding",
}
RAW = """
INSERT INTO raw_memory (scope_id, content, words, embedding)
SELECT 0, jsonb_build_object('text', f.words), to_tsvector('english', f.words), f.embedding::vector
  FROM fill AS f"""
SLICE = 10_000


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
        " item_id uuid DEFAULT gen_random_uuid(), version_id uuid DEFAULT gen_random_uuid())"
    )
    texts, drawn = workload.texts(len(homes)), vectors.array(len(homes)).astype(">f2")
    with admin.cursor().copy("COPY fill (scope_id, words, embedding) FROM STDIN BINARY") as copy:
        copy.set_types(["int8", "text", "bytea"])
        for home, text, vector in zip(homes, texts, drawn, strict=True):
            copy.write_row((home, text, binary(vector)))
    for table in ("version", "item", "embedding"):
        columns = [
            name
            for (name,) in admin.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
                " AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                (f"memwarden_data.{table}",),
            )
        ]
        values = ", ".join(OWN.get(name, f"x.{name}") for name in columns)
        # The shared shelf: a scope that has grown is moved from there.
        source = "memwarden_data.embedding_shared" if table == "embedding" else ""
        admin.execute(
            f"INSERT INTO memwarden_data.{table} ({', '.join(columns)}) SELECT {values}"
            f"  FROM fill AS f, (SELECT * FROM {source or f'memwarden_data.{table}'} LIMIT 1) AS x"
        )
    if raw:
        admin.execute(RAW)
    admin.execute("DROP TABLE fill")
