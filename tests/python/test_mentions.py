"""Identifiers in documents: found literally, as words of their own, in every string of JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.mentions import mentions, term

ALPHABET = 'aB1_ .*+(\\"\n\tčЖ-'
TEXTS = st.text(ALPHABET, min_size=0, max_size=30)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def said(value: Any) -> list[str]:
    """Every string, name and number of a value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for each in value for text in said(each)]
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in said(each)]
    return [str(value)] if isinstance(value, int) and not isinstance(value, bool) else []


def stands_in(wanted: str, text: str) -> bool:
    """What it should be: a quoted regular expression over the folded text."""
    before = r"(?<!\w)" if re.match(r"\w", wanted) else ""
    after = r"(?!\w)" if re.match(r"\w", wanted[-1]) else ""
    return re.search(before + re.escape(wanted) + after, text) is not None


@given(
    value=VALUES,
    identifier=st.text(ALPHABET, min_size=1, max_size=4).filter(lambda text: bool(term(text))),
)
def test_it_is_found_where_an_expression_finds_it(value: Any, identifier: str) -> None:
    """In JSON as jsonb writes it, whatever its structure and escapes.

    Proves: R1 (direct matches)
    """
    wanted = term(identifier)
    expected = any(stands_in(wanted, term(text)) for text in said(value))
    document = json.dumps(value, ensure_ascii=False)
    assert mentions([wanted], [document]) == expected


@pytest.mark.parametrize(
    ("identifier", "document", "found"),
    [
        ("ana", "not json: Ana", True),
        ("ana", '{"broken": "x\\nAna', True),
        ("ana", None, False),
        ("ana", "", False),
        ("10", "[1e1, 10.0]", True),
        ("10", "[100]", False),
        ("\uff41\uff4e\uff41", '"ANA"', True),
        ("a-b", '["a", "b"]', False),
    ],
)
def test_what_is_no_json_is_searched_as_text(
    identifier: str, document: str | None, found: bool
) -> None:
    """Requests keep what was sent, also where it was no JSON."""
    assert mentions([term(identifier)], [document]) == found


def test_a_deep_document_is_searched() -> None:
    """Deeper than Python recurses."""
    deep = "[" * 100_000 + '"ana"' + "]" * 100_000
    assert mentions(["ana"], [deep])


@pytest.mark.parametrize(
    ("identifier", "document", "found"),
    [
        ("subject", '{"subject": "Ana"}', False),
        ("ana", '{"Ana": "subject"}', True),
        ("50", '{"at": "2026-11-24T10:50:50.123456+00:00"}', False),
        ("50", '["2026-11-24 10:50:50+00"]', False),
        ("50", '{"note": "2026-11-24T10:50:50Z, said 50"}', True),
        ("2026", '["2026"]', True),
    ],
)
def test_names_and_moments_of_the_store_are_nobodys_words(
    identifier: str, document: str, found: bool
) -> None:
    """Somebody may be called 50, but no minute is.

    Proves: R1 (direct matches)
    """
    assert mentions([identifier], [], [document]) == found
