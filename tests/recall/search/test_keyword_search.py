"""The words of a query are OR-ed, and the rare ones tell more."""

from __future__ import annotations

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write

from .conftest import Remember

WORDS = {"keyword": 1}


def texts(reader: Connection[DictRow], query: str) -> list[str]:
    """Return what matches by its words, best first."""
    found = recall(reader, query=query, weights=WORDS, k=1000)
    return [row["content"]["text"] for row in found if row["keyword_score"] > 0]


def test_one_of_the_words_is_enough(reader: Connection[DictRow], remember: Remember) -> None:
    """All of them is better; none is found only by other means.

    Proves: L6 (keyword search)
    """
    remember("Ana drinks green tea")
    remember("Ana hikes in the mountains")
    remember("Bob drinks coffee")
    remember("The invoice was paid")
    ranked = texts(reader, "Does Ana drink tea?")
    assert ranked[0] == "Ana drinks green tea"
    assert set(ranked[1:]) == {"Ana hikes in the mountains", "Bob drinks coffee"}
    assert len(recall(reader, query="Does Ana drink tea?")) == 4


def test_a_rare_word_weighs_more_than_a_common_one(
    reader: Connection[DictRow], remember: Remember
) -> None:
    """Proves: L6 (keyword search)."""
    for n in range(20):
        remember(f"project note {n}")
    remember("zeppelin note")
    remember("project budget")
    ranked = texts(reader, "project zeppelin")
    assert ranked[0] == "zeppelin note"
    assert len(ranked) == 22
    # The same word, had it been the rare one.
    assert texts(reader, "budget note")[0] == "project budget"


def test_a_long_question_is_searched_with_its_last_word_too(
    reader: Connection[DictRow], remember: Remember
) -> None:
    """A paragraph as a query: no word is left out for where it stands in the alphabet."""
    remember("the zebra crossed")
    remember("nothing of the kind")
    others = " ".join(f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(200))
    assert texts(reader, f"{others} zebra") == ["the zebra crossed"]
    assert texts(reader, f"zebra {others}") == ["the zebra crossed"]


def test_words_are_compared_by_their_stem_and_whatever_their_case(
    reader: Connection[DictRow], remember: Remember
) -> None:
    """The layer's text search configuration decides: English by default."""
    remember("She PAINTED the kitchens")
    assert texts(reader, "painting a kitchen") == ["She PAINTED the kitchens"]
    assert texts(reader, "the a of") == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("a café in Zürich", "café"),
        ("Größe und Straße", "straße"),
        ("поезд на Москву", "москву"),
        ("東京 タワー", "東京"),
        ("the fish & chips shop", "fish"),
        ("mail ana@example.org today", "ana@example.org"),
        ("build 4711-B failed", "4711"),
        ("O'Brien's back\\slash", "O'Brien"),
        ("see https://example.org/a/b?c=d", "https://example.org/a/b?c=d"),
        ("emoji 🦊 and words", "words"),
    ],
)
def test_words_of_any_script_are_found(
    reader: Connection[DictRow], remember: Remember, text: str, query: str
) -> None:
    """Unicode, addresses, numbers, quotes."""
    remember(text)
    remember("something else entirely")
    assert texts(reader, query) == [text]


HOSTILE = {
    "nothing": "",
    "blanks": " \t\n ",
    "only stop words": "the of and is a",
    "only punctuation": "?!... --- ''' \"\"",
    "a quote": "it's 'quoted",
    "a double quote": 'say "tea',
    "backslashes": "\\ \\\\ \\' tea \\",
    "operators": "tea & | ! <-> <2> ( ) :* :A !! && tea:*",
    "a tsquery": "'tea' & !'coffee' | ('x' <-> 'y')",
    "a statement": "'; DROP TABLE memwarden_data.item; --",
    "placeholders": "%s %I $1 {} %(x)s",
    "a dollar quote": "$$tea$$ $function$",
    "markup": "<b>tea</b> <script>",
    "paths": "/etc/passwd ../../x C:\\temp",
    "control characters": "tea \x01\x02\x1f\x7f",
    "directions": "tea \u202e\u200b\ufeff\u00a0",
    "combined": "te\u0301a t\u0308e\u0308a\u0308 " + "\u0301" * 50,
    "noncharacters": "tea \uffff \U0010ffff",
    "one long word": "x" * 100_000,
    "many words": " ".join(f"word{n}" for n in range(20_000)),
    "a megabyte": "tea " * 262_144,
}


@pytest.mark.parametrize("query", HOSTILE.values(), ids=HOSTILE)
def test_no_query_is_an_error(reader: Connection[DictRow], remember: Remember, query: str) -> None:
    """Whatever the text, the memories come back; those that share a word first."""
    remember("green tea in the morning")
    remember("black coffee at night")
    for arguments in ({}, {"fusion": "rrf"}, {"weights": WORDS}):
        found = recall(reader, query=query, threshold=0, **arguments)
        assert len(found) == 2
        assert all(0 <= row["score"] <= 1 for row in found)
    if "tea" in query.split():
        assert found[0]["content"]["text"] == "green tea in the morning"


@pytest.mark.parametrize("word", ["'", "\\", "a'b", "a\\b", "\\'", "''", ":*", "&", "!x", "<->"])
def test_a_word_of_signs_matches_itself_alone(
    reader: Connection[DictRow], remember: Remember, word: str
) -> None:
    """A lexeme may hold quotes and backslashes: it is searched for, not read as a query."""
    weird = f"path C:\\{word}\\temp/{word}/x"
    remember(weird)
    remember("an ordinary sentence")
    assert texts(reader, weird) == [weird]
    assert texts(reader, f"{word} ordinary")[0] == "an ordinary sentence"


def test_a_layer_with_its_own_language_is_searched_in_it(world: World) -> None:
    """The configuration is a setting of the layer; one recall may span layers that differ."""
    world.admin.execute(
        "UPDATE memwarden_data.layer SET text_search_config = 'simple' WHERE layer = 'working'"
    )
    agent = world.agent()
    for layer in ("semantic", "working"):
        assert write(agent, layer, {"text": f"the kitchens ({layer})"})["outcome"] == "COMMITTED"
    assert texts(agent, "kitchen") == ["the kitchens (semantic)"]
    assert set(texts(agent, "kitchens")) == {"the kitchens (semantic)", "the kitchens (working)"}
    assert texts(agent, "the") == ["the kitchens (working)"]
