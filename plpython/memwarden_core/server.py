"""What the PL/Python wrappers call: the package's functions in the shapes PL/Python converts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from . import canonical, embedding, merkle
from . import examine as examination
from .constraints import constraint_violations
from .constraints import constraints as prepared_constraints
from .fingerprint import fingerprint, key_hash
from .policy import PolicyError, compile_condition
from .schema import check_schema
from .text import check_template


def try_canonical_json(text: str) -> tuple[str | None, bytes | None, str | None, str | None]:
    """Return (canonical, SHA-256, None, None), or (None, None, code, message)."""
    try:
        form = canonical.canonical_json(text)
    except canonical.NotCanonical as error:
        return None, None, error.code, error.message
    return form, canonical.content_hash(text), None, None


def examine(
    content: str,
    subject: str | None,
    predicate: str | None,
    schema: str | None,
    constraints: str | None,
    template: str | None,
    synonyms: str | None,
    max_bytes: int,
    want_embedding: bool,
) -> tuple[
    str | None, bytes | None, bytes | None, bytes | None, str | None, list[float] | None, str | None
]:
    """Return the fields of ``Examined`` in order, the violations as a JSON array or None."""
    found = examination.examine(
        content,
        subject,
        predicate,
        schema=schema,
        template=template,
        synonyms=synonyms,
        max_bytes=max_bytes,
        want_embedding=want_embedding,
    )
    violations = found.violations
    if constraints not in (None, "[]") and found.canonical is not None:
        violations = violations + constraint_violations(constraints, json.loads(found.canonical))
    findings = json.dumps([v._asdict() for v in violations]) if violations else None
    return (
        found.canonical,
        found.content_hash,
        found.fingerprint,
        found.key_hash,
        found.text,
        found.embedding,
        findings,
    )


def fingerprints(
    content: str, subject: str | None, predicate: str | None, synonyms: str
) -> tuple[bytes, bytes | None]:
    """Return fingerprint and key hash of stored content under the synonyms of a JSON object."""
    table = examination.prepared_synonyms(synonyms)
    value = canonical.parse_stored(content)
    return fingerprint(value, subject, predicate, table), key_hash(subject, predicate, table)


def lexical_embedding(text: str) -> list[float] | None:
    """Return the 384 numbers of a text's lexical embedding, None for a text without words."""
    return embedding.lexical_embedding(text[:100_000])


def check_definition(
    schema: str | None, constraints: str | None, template: str | None, synonyms: str | None
) -> str | None:
    """Return what is wrong with a definition, None when it can serve."""
    try:
        if schema is not None:
            check_schema(schema)
        if constraints is not None:
            prepared_constraints(constraints)
        if template is not None:
            check_template(template)
        if synonyms is not None:
            examination.prepared_synonyms(synonyms)
    except ValueError as error:
        return str(error)
    return None


def compile_policy(
    condition: str, known: str, levels: str
) -> tuple[str | None, str | None, int | None]:
    """Return (jsonpath, None, None), or (None, what is wrong, at which character from 0).

    ``known`` and ``levels`` are the JSON objects that ``compile_condition`` describes.
    """
    try:
        return compile_condition(condition, json.loads(known), json.loads(levels)), None, None
    except PolicyError as error:
        return None, error.message, error.position


def stored_content_hash(text: str) -> bytes | None:
    """Return the content hash of stored content, None for what was never accepted as content."""
    try:
        return hashlib.sha256(canonical.serialise(canonical.parse_stored(text))).digest()
    except (canonical.NotCanonical, ValueError, OverflowError):
        return None


def merkle_root(leaves: bytes) -> bytes:
    """Return the root over leaf hashes, 32 bytes each."""
    return merkle.root(leaves)


def merkle_path(leaves: bytes, index: int) -> bytes:
    """Return the hashes between a leaf (from 0) and the root, lowest first."""
    return merkle.path(leaves, index)


def append_segment(index: int, record: str, node: merkle.Node) -> tuple[bytes, bytes]:
    """Return what the tree over segments stores for a new one (from 0), and its root then."""
    nodes = merkle.completed(index, merkle.hash_leaf(record.encode()), node)
    level = len(nodes) // merkle.SIZE - 1

    def grown(h: int, p: int) -> bytes:
        is_new = (h, p) == (level, index >> level)
        return nodes[h * merkle.SIZE :] if is_new else node(h, p)

    return nodes, merkle.tree_root(index + 1, grown)


def segment_path(index: int, size: int, node: merkle.Node) -> bytes:
    """Return the hashes between a segment (from 0) and the head of the first ``size``."""
    return merkle.tree_path(index, size, node)


def check_chain(
    rows: Iterable[dict[str, Any]], since: int, node: merkle.Node, head: bytes
) -> Iterator[tuple[str, int, str]]:
    """Return (finding, segment, detail) for what does not fit in the segments from one on."""
    before = {place: node(*place) for place in merkle.perfect_subtrees(since - 1)}
    return merkle.check_chain((merkle.Segment(**row) for row in rows), since, before, head)
