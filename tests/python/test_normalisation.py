"""Equal meaning in other dress normalises alike; whatever carries meaning stays."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memwarden_core.normalise import normalise

# Signs with rules of their own, mixed with anything else Unicode has.
awkward = "ab1 .,:;!?'\"-_*()[]/\\@#$%`&+=<>~^\t\u2019\u2013\u2014\u00b2\u00bd\u0301\u0345\u200b"
texts = st.text(st.sampled_from(awkward) | st.characters(exclude_categories=["Cs"]), max_size=20)
phrases = st.lists(st.sampled_from(["a", "b", "c", "3", "-", "not"]), max_size=4).map(" ".join)


@given(texts)
@example("\u1e9e\u0130\u037e")
@example("a" + "\u0301\u0316" * 40)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    """Proves: D2."""
    once = normalise(text)
    assert normalise(once) == once


@given(st.dictionaries(phrases, phrases, max_size=4), phrases)
@example({"a": "b", "b": "a"}, "a b")
@example({"a": "a b"}, "a")
@example({"3": "c"}, "3 - 3")
def test_synonyms_settle(synonyms: dict[str, str], text: str) -> None:
    """Proves: D2."""
    once = normalise(text, synonyms)
    assert normalise(once, synonyms) == once


@given(texts)
def test_case_white_space_and_invisible_characters_do_not_matter(text: str) -> None:
    """Proves: D2."""
    dressed = "\u200b\n  " + "\u2060\u00ad".join(text) + "\t\ufeff"
    assert normalise(dressed) == normalise(text)
    assert not any(unicodedata.category(each) in ("Cf", "Cc") for each in normalise(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User prefers Dark-Mode!", "\u201cuser  prefers dark mode.\u201d"),
        ("\uff26\uff55\uff4c\uff4c \ufb01le", "full file"),
        ("Stra\u00dfe", "STRASSE"),
        ("cafe\u0301", "caf\u00e9"),
        ("tea \u2014 green (jasmine); hot", "tea, green: jasmine hot..."),
        ("don\u2019t", "don't"),
        ("**bold** `code`", "bold code"),
        ("10\u201312", "10-12"),
        ("1\u00bd cups", "1 1/2 cups"),
        (
            "\u65e5\u672c\u8a9e\u3001\u30c6\u30b9\u30c8\u3002",
            "\u65e5\u672c\u8a9e \u30c6\u30b9\u30c8",
        ),
    ],
)
def test_other_dress_is_the_same(one: str, other: str) -> None:
    """Proves: D2."""
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("it costs 3.50", "it costs 350"),
        ("-5 degrees", "5 degrees"),
        ("5 - 3", "5 3"),
        ("50%", "50"),
        ("$5", "5"),
        ("C++", "C"),
        ("C#", "C"),
        ("blood type A-", "blood type A"),
        (".NET", "net"),
        ("10:30", "1030"),
        ("1,500", "1 500"),
        ("10\u00b2", "102"),
        ("1\u00bd", "11/2"),
        ("ana@example.com", "ana example com"),
        ("user_id", "user id"),
        ("--force", "force"),
        ("tea?", "tea"),
        ("we're late", "were late"),
        ("she likes tea", "she does not like tea"),
        ("...", "!"),
    ],
)
def test_what_carries_meaning_stays(one: str, other: str) -> None:
    """Proves: D2."""
    assert normalise(one) != normalise(other)


def test_synonyms_match_whole_phrases_the_longest_first() -> None:
    """Proves: D2."""
    synonyms = {"NYC": "New York City", "New York": "NY", "cat": "feline", "big cat": "tiger"}
    assert normalise("In N.Y.C? nyc!", synonyms) == "in n.y.c? new york city"
    assert normalise("new york, concatenate", synonyms) == "ny concatenate"
    assert normalise("A Big Cat, a cat", synonyms) == "a tiger a feline"


def test_chains_of_synonyms_end_at_their_last_member() -> None:
    """Proves: D2."""
    assert normalise("auto", {"auto": "car", "car": "vehicle"}) == "vehicle"
    circle = {"b": "c", "c": "a", "a": "b"}
    assert {normalise(word, circle) for word in "abc"} == {"a"}
