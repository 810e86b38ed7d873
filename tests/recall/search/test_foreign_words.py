"""A model states its languages: what is in another is found by its words."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection, DatabaseError
from psycopg.rows import DictRow

from access import call
from conftest import World
from helpers import recall
from recall.search.conftest import Remember


def axis(number: int) -> list[float]:
    """A vector that is like no other of another number."""
    return [1.0 if n == number else 0.0 for n in range(384)]


def test_where_the_model_cannot_read_the_words_decide(
    shared_world: World, reader: Connection[DictRow], remember: Remember, home: str
) -> None:
    """Of a question, of single memories among others, of a scope with a language of its own.

    Proves: L12 (languages)
    """
    admin, model = shared_world.admin, f"reads-english{home.replace('/', '-')}"
    admin.execute("SELECT memwarden.register_embedding_model(%s, 384)", (model,))
    texts = [
        "我昨天在商店买了新的iPhone14手机很好用",
        "OPPOFindX3的相机拍照效果非常清楚明亮",
        "今天天气很好我们一起去公园散步",
        "The weather in Lisbon was fine all week",
        "Ana keeps her phone in the kitchen",
        "Das Wetter war die ganze Woche über schön",
    ]
    said = [
        remember(text, embedding=axis(n), embedding_model=model) for n, text in enumerate(texts)
    ]

    def found(query: str, vector: int, **how: Any) -> list[DictRow]:
        given = {"embedding": axis(vector), "embedding_model": model, "threshold": 0}
        return recall(reader, query=query, k=6, **given, **how)

    def first(query: str, vector: int) -> int:
        return said.index(found(query, vector)[0]["item_id"])

    # Its vectors know no Chinese, and are near whatever is nearest.
    assert first("相机拍照怎么样", 2) == 2
    assert first("iPhone", 4) == 4
    call(admin, "set_model_languages", model=model, languages=["en", "en"])
    assert first("相机拍照怎么样", 2) == 1
    assert {row["similarity"] for row in found("相机拍照怎么样", 2)} == {None}
    for row in found("相机拍照怎么样", 2):
        assert row["vector_score"] == row["keyword_score"]
        assert row["score"] == row["relevance"] <= 1
    # A name is asked for by a part of it; what the model reads keeps its vector.
    assert first("iPhone", 4) == 0
    assert first("OPPO", 4) == 1
    assert first("Find", 4) == 1
    rows = {row["item_id"]: row for row in found("iPhone", 4)}
    assert rows[said[4]]["similarity"] == pytest.approx(1)
    assert rows[said[0]]["similarity"] is None
    assert rows[said[0]]["score"] == pytest.approx(1)
    # A vector without words is all that there is to go by.
    assert first("", 2) == 2
    assert first("weather Lisbon phone kitchen Ana keeps fine week all the", 3) == 3
    (step,) = reader.execute(
        "SELECT detail, facts FROM memwarden.explain_recall('相机', %s::real[],"
        " embedding_model => %s, layers => '{episodic}') WHERE step = 'weights'",
        (axis(2), model),
    ).fetchall()
    assert step["facts"]["vectors_read"] == "none"
    assert step["detail"].endswith("the model does not know the language")
    # German is written as English is: the scope says so.
    assert first("Wetter", 4) == 4
    call(admin, "set_scope_language", path=home, language="german")
    admin.execute("CALL memwarden.reindex_words()")
    assert first("Wetter", 4) == 5
    call(admin, "set_model_languages", model=model, languages=["en", "de"])
    assert first("Wetter", 4) == 4
    listed = admin.execute(
        "SELECT DISTINCT languages FROM memwarden.embedding_models WHERE model = %s", (model,)
    ).fetchall()
    assert listed == [{"languages": ["de", "en"]}]
    call(admin, "set_model_languages", model=model, languages=None)
    assert first("相机拍照怎么样", 2) == 2


@pytest.mark.parametrize(
    ("languages", "foreign"),
    [
        (["en"], "这 и ไ ω"),
        (["zh"], "a и あ ไ"),
        (["ja", "en"], "и ไ ب"),
        (["ru"], "a 这 ω"),
        (["de", "fr"], "这 и"),
    ],
)
def test_letters_that_no_language_of_a_model_has(
    shared_world: World, languages: list[str], foreign: str
) -> None:
    """Japanese has Chinese signs; most languages have Latin letters; digits are of none."""
    signs = shared_world.value("SELECT memwarden_internal.foreign_letters(%s)", languages)
    told = {
        sign: shared_world.value("SELECT %s ~ %s", sign, signs)
        for sign in ["a", "这", "あ", "и", "ω", "ไ", "ب", "7"]
    }
    known = {"en": "a7", "zh": "这7", "ja": "あ这a7", "ru": "и7", "de": "a7"}[languages[0]]
    assert all(told[sign] for sign in foreign.split())
    assert not any(told[sign] for sign in known)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("iPhone14", {"iphon"}),
        ("OPPOFindX3", {"oppo", "find", "x3"}),
        ("a YouTube video", {"tube", "you"}),
        ("DVDs at 10am, 3rd of May", set()),
        ("d41d8cd98f00b204e9800998ecf8427e", set()),
        ("0191e0aa-7abc-7def-8abc-0123456789ab", set()),
        ("the iPhone", set()),
    ],
)
def test_names_are_found_by_their_parts(shared_world: World, text: str, parts: set[str]) -> None:
    """Of what is run together, besides the whole; of keys and hashes nothing is made."""
    words = shared_world.value(
        "SELECT tsvector_to_array(memwarden_internal.words_of('english', %s))", text
    )
    whole = shared_world.value("SELECT tsvector_to_array(to_tsvector('english', %s))", text)
    assert set(words) - set(whole) <= parts
    assert set(whole) <= set(words)


@pytest.mark.parametrize("languages", [[], ["English"], ["en", None], ["e"]])
def test_no_code_of_a_language_is_refused(shared_world: World, languages: list[Any]) -> None:
    """As is a model that nobody knows."""
    with pytest.raises(DatabaseError) as raised:
        call(shared_world.admin, "set_model_languages", model="default", languages=languages)
    assert raised.value.sqlstate == "22023"
    with pytest.raises(DatabaseError) as raised:
        call(shared_world.admin, "set_model_languages", model="nobody", languages=["en"])
    assert raised.value.sqlstate == "42704"
