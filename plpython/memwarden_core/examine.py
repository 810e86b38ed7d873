"""Everything the write path needs to know about one content, found in one call."""

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache

from .canonical import NotCanonical, parse, serialise
from .embedding import lexical_embedding
from .fingerprint import (
    fingerprint_of,
    key_hash_of,
    normalised_predicate,
    normalised_subject,
    normalised_value,
    table_for,
)
from .light import NamedTuple
from .normalise import normalise, synonym_table
from .screening import screen
from .sensitive.scan import Finding, RuleSet
from .synonyms import Synonyms
from .text import content_text
from .violation import Violation

_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class Examined(NamedTuple):
    """What ``examine`` found.

    ``canonical`` and ``content_hash`` are there whenever the content has a canonical form; the
    rest only where ``violations`` is empty. ``sensitive`` is what its rules found in the request,
    content that has no canonical form left out.
    """

    canonical: str | None
    content_hash: bytes | None
    fingerprint: bytes | None
    key_hash: bytes | None
    text: str | None
    embedding: list[float] | None
    violations: list[Violation]
    sensitive: tuple[Finding, ...] = ()


@lru_cache(maxsize=64)
def prepared_synonyms(definition: str) -> Synonyms:
    """A prepared table of synonyms (configuration, like a schema) from its JSON object text."""
    mapping = parse(definition)
    if not isinstance(mapping, dict) or not all(isinstance(v, str) for v in mapping.values()):
        raise ValueError("synonyms are a JSON object from phrase to phrase")
    return synonym_table(mapping)


def _says_something(value: object) -> bool:
    """Whether anything but null and blank strings is in a normalised value.

    A name with an empty list or object under it says that there are none.
    """
    if isinstance(value, dict):
        return any(child in ([], {}) or _says_something(child) for child in value.values())
    if isinstance(value, list):
        return any(_says_something(child) for child in value)
    return value is not None and value != ""


def _is_larger(content: str, max_bytes: int) -> bool:
    if len(content) > max_bytes:
        return True
    if content.isascii() or 4 * len(content) <= max_bytes:
        return False
    return len(content.encode(errors="surrogatepass")) > max_bytes


def _refused(violation: Violation, sensitive: tuple[Finding, ...]) -> Examined:
    return Examined(None, None, None, None, None, None, [violation], sensitive)


def examine(
    content: str,
    subject: str | None = None,
    predicate: str | None = None,
    schema: str | None = None,
    template: str | None = None,
    synonyms: str | None = None,
    max_bytes: int = 1_048_576,
    want_embedding: bool = False,
    rules: RuleSet | None = None,
    arguments: str | None = None,
) -> Examined:
    """Check one content and derive its canonical form, hashes, text and embedding.

    ``content`` is JSON text as it arrived; ``schema`` (JSON Schema), ``template`` and ``synonyms``
    (JSON object) are the definitions of its layer and kind. ``max_bytes`` counts UTF-8. ``rules``
    say what is sensitive in content, subject, predicate and
    ``arguments``, the JSON object of the request's others.

    Bad content never raises: it gives violations, all that can be known at once. Raises:
    SchemaRefused, TemplateRefused or ValueError where a definition itself is broken, which
    ``check_schema`` and ``check_template`` find out when it is made.
    """
    request = request_of(subject, predicate, arguments)
    if _is_larger(content, max_bytes):
        message = f"larger than {max_bytes} bytes"
        return _refused(
            Violation("CONTENT_TOO_LARGE", "content", message), _sensitive(request, rules)
        )
    try:
        value = parse(content)
        canonical = serialise(value)
    except NotCanonical as error:
        return _refused(Violation(error.code, "content", error.message), _sensitive(request, rules))
    sensitive = _sensitive({"content": value} | request, rules)
    canonical_text = canonical.decode()
    violations: list[Violation] = []
    for name, text in (("subject", subject), ("predicate", predicate)):
        if text is not None and not text.isascii() and not _is_encodable(text):
            violations.append(Violation("NOT_CANONICAL", name, "holds a lone surrogate"))
    if "\\u0000" in canonical_text and _NUL.search(canonical_text):
        message = "holds the character U+0000, which PostgreSQL cannot store"
        violations.append(Violation("NOT_CANONICAL", "content", message))
    table = prepared_synonyms(synonyms) if synonyms is not None else None
    normalised = normalised_value(value, lambda text: normalise(text, table))
    if not _says_something(normalised):
        violations.append(
            Violation("CONTENT_EMPTY", "content", "holds nothing but blanks and nulls")
        )
    if schema is not None:
        from .schema.check import compiled

        violations += compiled(schema).violations(value)
    content_hash = hashlib.sha256(canonical).digest()
    if violations:
        return Examined(canonical_text, content_hash, None, None, None, None, violations, sensitive)
    names = table_for(predicate, table)
    subject_name = normalised_subject(subject, names)
    predicate_name = normalised_predicate(predicate, names)
    text = content_text(value, template, subject, predicate)
    return Examined(
        canonical_text,
        content_hash,
        fingerprint_of(normalised, subject_name, predicate_name),
        key_hash_of(subject_name, predicate_name),
        text,
        lexical_embedding(text) if want_embedding else None,
        violations,
        sensitive,
    )


def request_of(
    subject: str | None, predicate: str | None, arguments: str | None
) -> dict[str, object]:
    """Return what of a request is scanned beside its content, by name."""
    request: dict[str, object] = {}
    if subject is not None:
        request["subject"] = subject
    if predicate is not None:
        request["predicate"] = predicate
    if arguments is not None:
        request.update(json.loads(arguments))
    return request


def _sensitive(request: dict[str, object], rules: RuleSet | None) -> tuple[Finding, ...]:
    return () if rules is None else tuple(screen(request, rules))


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
