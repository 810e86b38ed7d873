"""What people export is read, and what has no known shape is counted."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core.extraction.candidates import found_in
from python.chat_formats import formats
from python.exports import FORMATS, UNKNOWN, Form

PLAIN = ["I live in Rome."]
SEVERAL = ["I live in Rome.", "I collect stamps.", "I have two cats."]


def said(content: object) -> list[object]:
    """What is found; of no part the shape was unknown."""
    found = found_in(content)
    assert found.unread == 0
    return [each["content"] for each in found.candidates]


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_what_is_exported_is_read(form: Form) -> None:
    """One part, several with pictures and answers of tools between, none, blank ones, and nested.

    Proves: F2
    """
    assert said(form(PLAIN)) == ["Rome"]
    assert said(form(SEVERAL)) == ["Rome", {"collects": "stamps"}, {"has": "two cats"}]
    assert said(form([""])) == said(form([" ", "\u00a0"])) == []
    nested: Any = form(PLAIN)
    for _ in range(20):
        nested = {"export": [nested]}
    if not isinstance(form(PLAIN), str):
        assert said(nested) == ["Rome"]
        assert said([form([each]) for each in SEVERAL]) == said(form(SEVERAL))


TURNS = formats("The project uses PostgreSQL 15.")


@pytest.mark.parametrize("message", TURNS.values(), ids=TURNS)
def test_a_turn_of_any_program_is_read(message: object) -> None:
    """Whether or not anybody knows who speaks.

    Proves: F2
    """
    assert {"uses": "PostgreSQL 15"} in said(message)


@pytest.mark.parametrize("content", UNKNOWN, ids=str)
def test_what_has_no_known_shape_is_counted(content: object) -> None:
    """Alone, and beside what is read.

    Proves: F2
    """
    assert found_in(content) == ([], 1)
    for form in FORMATS.values():
        beside = found_in([content, form(PLAIN), content])
        assert ([each["content"] for each in beside.candidates], beside.unread) == (["Rome"], 2)


def test_what_is_deeper_than_anybody_nests_is_counted() -> None:
    """It ends, and says so."""
    deep: Any = {"role": "user", "content": PLAIN[0]}
    parts: Any = PLAIN[0]
    for _ in range(900):
        deep, parts = {"messages": [deep]}, [parts]
    assert found_in(deep) == ([], 1)
    assert found_in({"role": "user", "content": parts}) == ([], 1)
    assert found_in("[" * 5_000) == ([], 0)


def test_a_prompt_that_was_edited_counts_as_it_is_now() -> None:
    """Of the tree of an export one branch is the conversation; without its end all are.

    Proves: F2
    """
    (made,) = FORMATS["chatgpt_export"](PLAIN)
    assert said(made) == ["Rome"]
    assert said(made | {"current_node": None}) == ["Rome", "Paris"]
    assert said(made | {"current_node": "gone"}) == ["Rome", "Paris"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "parts", "messages", "mapping", "x"]
            ),
            each,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_content_is_read_or_counted(content: object) -> None:
    """Nothing raises; a number or a sentence that nobody says is counted.

    Proves: F2
    """
    before = found_in([content]).unread
    assert found_in([content, 7, {"unheard of": "I live in Rome."}]).unread == before + 2


@pytest.mark.parametrize(
    ("first", "second"), list(permutations(("text", "content", "parts", "value", "body"), 2))
)
def test_the_words_count_that_say_something(first: str, second: str) -> None:
    """A field that is there and blank hides no other."""
    assert said({"role": "user", first: "", second: PLAIN[0]}) == ["Rome"]
