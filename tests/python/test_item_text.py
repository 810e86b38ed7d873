"""The text of an item says what its content says, for search, embedding and readers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.canonical import canonical_json
from memwarden_core.text import (
    MAX_CHARACTERS,
    TemplateRefused,
    check_template,
    content_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("  Ana\nlikes tea ", "Ana likes tea"),
        ({"note": "tea is what she drinks"}, "tea is what she drinks"),
        ({"drink": "tea", "cups": 3, "hot": True, "milk": None}, "cups 3 drink tea hot true"),
        ({"tags": ["tea", "green", 1.50]}, "tags tea green 1.5"),
        ({"food": "pickled fish"}, "food pickled fish"),
        ({"text": "fish"}, "fish"),
        (
            {"plan": "one two three four five six seven eight nine"},
            "one two three four five six seven eight nine",
        ),
        ({"allergies": []}, "allergies"),
        ({"b": "second thing", "a": ["first thing"]}, "a first thing b second thing"),
        ({"a": {"b": [{"c": "inner words"}, 7]}}, "b c inner words 7"),
        (None, ""),
        ([[], {}, ""], ""),
    ],
)
def test_by_default_the_text_is_the_values(value: object, text: str) -> None:
    """A few words and numbers bring their property name, unless it says nothing. Proves: V1."""
    assert content_text(value) == text


def test_subject_and_predicate_come_first() -> None:
    """Proves: V1."""
    assert content_text("tea", None, "Ana", "likes") == "Ana likes tea"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab "),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("xyz"), inner),
        max_leaves=10,
    )
)
def test_the_text_follows_from_the_canonical_content(value: object) -> None:
    """Worked out anew from what is stored, it is the same. Proves: T1."""
    assert content_text(json.loads(canonical_json(json.dumps(value)))) == content_text(value)


def test_a_template_is_filled_with_fields() -> None:
    """Proves: V1."""
    content = {"drink": "tea", "cups": 3.0, "when": [{"at": "dawn"}, "noon"], "sugar": False}
    template = "{subject} ({predicate}): {content.drink}, {content.cups} at {content.when.0.at}{{}}"
    assert content_text(content, template, "Ana", "drinks") == "Ana (drinks): tea, 3 at dawn{}"
    assert content_text(content, "{content.when} {content.sugar}") == "at dawn noon false"
    assert content_text("tea", "likes {content}") == "likes tea"


def test_a_field_that_is_not_there_is_empty() -> None:
    """Proves: V1."""
    for path in ("x", "drink.x", "when.9", "when.x", "when.99999999999999999999", "when.\u00b2"):
        template = "a {content." + path + "} b"
        assert content_text({"drink": "tea", "when": ["noon"]}, template) == "a b"
    assert content_text({"drink": "tea"}, "{content.food}") == "drink tea"


@pytest.mark.parametrize(
    "template",
    ["{", "a } b", "{{content}", "{}", "{item}", "{content.}", "{content..a}", "{subject.x}"],
)
def test_a_malformed_template_is_refused(template: str) -> None:
    """Proves: V1."""
    with pytest.raises(TemplateRefused):
        check_template(template)


def test_a_template_reaches_nothing_but_the_content() -> None:
    """Proves: V1."""
    for template in ("{content.__class__}", "{content!r}", "{content:>9999999}", "{content[0]}"):
        try:
            assert content_text({"a": "x y"}, template) in ("", "a x y")
        except TemplateRefused:
            continue


def test_text_is_cut_at_a_word() -> None:
    """Proves: V1."""
    text = content_text("word " * MAX_CHARACTERS)
    assert len(text) <= MAX_CHARACTERS
    assert text.endswith(" word")
    assert len(content_text("x" * (MAX_CHARACTERS + 5))) == MAX_CHARACTERS


@pytest.mark.parametrize(
    ("value", "subject", "predicate", "text"),
    [
        ({"text": "I like tea", "user_id": "ana", "role": "user"}, "ana", None, "I like tea"),
        ({"text": "I like tea", "user_id": "Bo Quist"}, "%42o%20%51uist", None, "I like tea"),
        (
            {"statement": "Tea is hot", "metadata": {"run_id": "r 1", "topic": "drinks"}},
            "r%201",
            None,
            "topic drinks Tea is hot",
        ),
        ({"likes": "tea"}, "users/ana", "a1~b2=", "likes tea"),
        ({"text": "I like tea", "user_id": "bo"}, "Ana", None, "Ana I like tea"),
        ({"text": "ana likes tea", "user_id": "ana"}, "ana", None, "ana likes tea"),
        ({"text": "I like tea"}, "ana", "x = y", "ana x = y I like tea"),
    ],
)
def test_an_id_of_another_system_is_not_told(
    value: object, subject: str, predicate: str | None, text: str
) -> None:
    """Where the content holds the subject as an id, or it has a key of that system. Proves: V1."""
    assert content_text(value, None, subject, predicate) == text
