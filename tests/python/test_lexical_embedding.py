"""The embedder without a model: the same everywhere, and nearer for texts that share words."""

from __future__ import annotations

import hashlib
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.embedding import DIMENSION, lexical_embedding


def cosine(one: str, other: str) -> float:
    """The cosine of two texts' vectors, which have length 1."""
    first, second = lexical_embedding(one), lexical_embedding(other)
    assert first is not None
    assert second is not None
    return math.fsum(a * b for a, b in zip(first, second, strict=True))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_has_a_unit_vector_or_none(text: str) -> None:
    """Proves: L6."""
    vector = lexical_embedding(text)
    if vector is not None:
        assert len(vector) == DIMENSION
        assert math.isclose(math.hypot(*vector), 1.0, rel_tol=1e-12)


def test_the_same_text_has_the_same_bits_everywhere() -> None:
    """Vectors of different machines are compared with each other. Proves: L6."""
    text = (
        "Caroline went to the LGBTQ group on 7 May 2023; "
        "she didn't paint, caf\u00e9 \u65e5\u672c\u8a9e"
    )
    vector = lexical_embedding(text)
    assert vector is not None
    assert hashlib.sha256(struct.pack(">384d", *vector)).hexdigest() == (
        "e6213ea8d7936ccf4aaf6ddfc3269e86aae96c63ad0fc8a7568d6291b26f1722"
    )


@pytest.mark.parametrize("text", ["", " ", "...", "?!", "\u200b"])
def test_a_text_without_words_has_no_vector(text: str) -> None:
    """Its cosine would not be a number. Proves: L6."""
    assert lexical_embedding(text) is None


def test_dress_does_not_matter() -> None:
    """Proves: L6."""
    assert lexical_embedding("Ana likes GREEN  tea!") == lexical_embedding("ana likes green tea")


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "When did Ana paint a sunrise?",
            "Ana painted that lake sunrise last year",
            "Ana ran a race",
        ),
        (
            "what is the wifi password",
            "the password of the wifi is on the fridge",
            "what is the plan",
        ),
        ("flight LH1234", "her flight is LH1234 at noon", "her flight is BA4321 at noon"),
        (
            "\u6771\u4eac\u306e\u5929\u6c17",
            "\u6771\u4eac\u306f\u6674\u308c",
            "\u5927\u962a\u306f\u96e8",
        ),
    ],
)
def test_shared_words_bring_texts_near(question: str, answer: str, other: str) -> None:
    """Proves: L6."""
    assert cosine(question, answer) > cosine(question, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana gave Bob a book", "Bob gave Ana a book"),
        ("Ana likes green tea in the morning", "Ana does not like green tea in the morning"),
        ("the meeting is at 10:30 on Monday", "the meeting is at 11:30 on Monday"),
    ],
)
def test_another_fact_in_nearly_the_same_words_is_no_duplicate(one: str, other: str) -> None:
    """The threshold of the semantic tier is 0.95. Proves: L6."""
    assert cosine(one, other) < 0.95
