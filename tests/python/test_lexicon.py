"""The files of a dictionary are read as their format says; the judge asks little, and marks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

import codes
import tiny_lexicon
from memwarden.evaluation.gates.categories import Asked, categories
from memwarden.evaluation.gates.corpus import Pair
from memwarden_core.language.wordnet import Dictionary, NotADictionary, digest
from memwarden_core.verdict.judge import Memory, Verdict, judge
from memwarden_core.verdict.lexicon import (
    AKIN,
    OPPOSITE,
    QUALITY,
    RIVAL,
    SYNONYM,
    Ask,
    Entry,
    Questions,
    Relations,
    pair,
)
from memwarden_core.verdict.neighbours import judge_neighbours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny dictionary."""
    found = tmp_path_factory.mktemp("lexicon")
    for name, text in tiny_lexicon.files().items():
        (found / name).write_text(text, encoding="ascii")
    return found


@pytest.fixture(scope="module")
def asked(folder: Path) -> Iterable[Dictionary]:
    """The tiny dictionary, open."""
    with Dictionary(folder) as dictionary:
        yield dictionary


def relation(dictionary: Dictionary, one: str, other: str) -> str:
    """How two words stand to each other."""
    questions = Questions()
    questions.get(pair(one, other), "")
    return questions.answered(entries(dictionary)).get(pair(one, other), "")


def entries(dictionary: Dictionary) -> Ask:
    """Ask a dictionary in the way in which the server asks its tables."""

    def ask(words: list[str]) -> Iterable[Entry]:
        return [
            ("english", word, rank, sense)
            for word in words
            for rank, sense in dictionary.ranked(word)
        ]

    return ask


def of(new: str, old: str, relations: Relations) -> Verdict:
    """The verdict on two texts without a key."""
    return judge(Memory(None, None, new, new), Memory(None, None, old, old), None, relations)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("theorbo", "crumhorn", RIVAL),
        ("theorbos", "crumhornae", RIVAL),
        ("theorbo", "glass_harp", RIVAL),
        ("theorbo", "instrument", AKIN),
        ("instrument", "musical_instrument", SYNONYM),
        ("ostmark", "westmark", RIVAL),
        ("ostmarkian", "westmarkian", QUALITY),
        ("oststadt", "ostmark", AKIN),
        ("oststadt", "westmark", RIVAL),
        ("pewter", "teakwooden", QUALITY),
        ("murky", "limpid", OPPOSITE),
        ("turbid", "limpid", OPPOSITE),
        ("turbid", "murky", AKIN),
        ("plummeting", "ascend_steeply", OPPOSITE),
        ("pewter", "crumhorn", ""),
        ("theorbo", "unheard", ""),
    ],
)
def test_two_words_exclude_each_other_by_what_is_above_both(
    asked: Dictionary, one: str, other: str, expected: str
) -> None:
    """Sisters and cousins of things; a kind, a part and a synonym can be so at once.

    Proves: V10
    """
    assert relation(asked, one, other) == relation(asked, other, one) == expected


def test_files_are_told_apart_and_their_notice_is_kept(folder: Path, tmp_path: Path) -> None:
    """Proves: V10."""
    found = digest(folder)
    assert found is not None
    assert found == digest(folder)
    assert found[1] == "A tiny dictionary for tests.\nIt may be copied."
    assert digest(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("data.noun", "no such format\n"),
        ("data.noun", ""),
        ("index.noun", "theorbo n x\n"),
        ("index.noun", "theorbo n 1 1 @ 1 0 00000003\n"),
        ("index.verb", None),
    ],
)
def test_other_files_are_refused(folder: Path, tmp_path: Path, name: str, text: str | None) -> None:
    """A missing file, another format, and an index that points anywhere.

    Proves: V10
    """
    for path in folder.iterdir():
        if path.name != name:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(NotADictionary), Dictionary(tmp_path) as dictionary:
        list(dictionary.every_sense())


SAYS = "Ana keeps a theorbo in the hall"
ASKED = {pair("theorbo", "crumhorn"): RIVAL, pair("murky", "limpid"): OPPOSITE}


def test_what_a_dictionary_alone_tells_marks_and_decides_nothing() -> None:
    """Proves: V10, V4 (false alarms)."""
    found = of("Ana keeps a crumhorn in the hall", SAYS, ASKED)
    assert (found.relation, found.score, found.method) == ("contradicts", 0.86, "rival")
    assert "decisive" not in found.why
    pond = of("The pond is limpid", "The pond is murky", ASKED)
    assert (pond.relation, pond.method) == ("contradicts", "opposite")
    assert "decisive" not in pond.why
    # All else must agree, and nothing be denied.
    for other in (
        "Ana keeps a crumhorn in the attic",
        "Ana keeps no crumhorn in the hall",
        "Ana keeps a crumhorn and a lute in the hall",
        "Ana likes a crumhorn in the hall",
    ):
        assert of(other, SAYS, ASKED).method != "rival"
    assert of("Ana keeps a crumhorn in the hall", SAYS, {}).relation == "unrelated"


def test_who_moved_is_in_another_place_where_a_dictionary_knows_both() -> None:
    """The mark says that it is newer; what a dictionary tells decides nothing.

    Proves: V10
    """
    lived, places = "Lena lives in Ostmark", {pair("ostmark", "westmark"): RIVAL}
    found = of("Lena moved to Westmark", lived, places)
    assert (found.relation, found.method) == ("updates", "rival")
    assert "decisive" not in found.why


SYNONYMS = {pair("sackbut", "trombone"): SYNONYM, pair("apollo", "phoebus"): SYNONYM}


@pytest.mark.parametrize(
    ("new", "old", "relation"),
    [
        ("The sackbut is in the hall", "The trombone is in the hall", "alike"),
        ("The rusty sackbut is in the hall", "The trombone is in the hall", "unrelated"),
        ("Ana owns no sackbut", "Ana owns a trombone", "contradicts"),
        # Names have no synonyms, wherever they stand.
        ("Apollo is in the hall", "Phoebus is in the hall", "unrelated"),
        ("The key is with Apollo in the hall", "The key is with Phoebus in the hall", "unrelated"),
        ("The key of Room Apollo is lost", "The key of Room Phoebus is lost", "unrelated"),
    ],
)
def test_words_of_one_meaning_are_alike_and_nothing_is_lost(
    new: str, old: str, relation: str
) -> None:
    """Proves: D1 (a dictionary merges nothing), V10."""
    assert of(new, old, SYNONYMS).relation == of(old, new, SYNONYMS).relation == relation


def test_no_dictionary_is_asked_about_a_word_and_itself(wordnet: Dictionary) -> None:
    """A code stands behind the word before it, and is none. Proves: D1, V10."""
    asked: list[str] = []

    def ask(words: list[str]) -> Iterable[Entry]:
        asked.extend(words)
        return entries(wordnet)(words)

    for new, old in codes.pairs():
        questions = Questions()
        assert of(new, old, questions).relation == "unrelated", (new, old)
        assert all(one != other and (one + other).isalpha() for one, other in questions.asked)
        told = of(new, old, questions.answered(ask))
        assert told.relation == "unrelated", (new, old, told)
    assert len(codes.pairs()) >= 300
    assert asked


def test_materials_differ_only_where_they_describe() -> None:
    """Proves: V10, V4 (false alarms)."""
    asked = {pair("pewter", "teakwood"): QUALITY}
    for one, other in (
        ("Ana carries the pewter bowl", "Ana carries the teakwood bowl"),
        ("The bowl is made of pewter", "The bowl is made of teakwood"),
    ):
        assert of(one, other, asked).relation == "contradicts"
    assert of("Ana carried the pewter", "Ana carried the teakwood", asked).relation == "unrelated"


def test_one_look_up_serves_all_neighbours_and_equal_ones_need_none(asked: Dictionary) -> None:
    """Proves: V10."""

    def near(text: str) -> dict[str, object]:
        names = ("subject", "predicate", "valid_from", "valid_to", "similarity", "confidence")
        others = ("item_id", "version_id", "mine", "same_key", "exclusive")
        told = {"text": text, "content": text, "similarity": 0.7}
        return dict.fromkeys(names + others) | told

    calls = []

    def ask(words: list[str]) -> Iterable[Entry]:
        calls.append(words)
        return entries(asked)(words)

    new = (None, None, SAYS, SAYS, None, None)
    judge_neighbours(new, [near(SAYS), near("The lift stood still"), near("Ana keeps cats")], ask)
    assert calls == []
    told = judge_neighbours(
        new,
        [
            near("Ana keeps a crumhorn in the hall"),
            near(SAYS),
            near("Ana keeps a glass harp in the hall"),
        ],
        ask,
    )
    assert [found["relation"] for found in told] == ["contradicts", "same", "contradicts"]
    assert [found["decisive"] for found in told] == [False, False, False]
    assert len(calls) == 1
    assert {"theorbo", "crumhorn", "glass_harp"} <= set(calls[0])


def test_a_category_left_out_is_told_by_a_dictionary_alone(asked: Dictionary) -> None:
    """The lists forget its words while it is judged, and know them again. Proves: Z8."""
    pairs = [
        Pair("A man plays a guitar", "A man plays a piano", "contradiction", "listed"),
        Pair("A man plays a theorbo", "A man plays a crumhorn", "contradiction", "not listed"),
    ]
    found = {each.name: each[1:] for each in categories(pairs, Asked(asked), 0.85)}
    assert found == {"listed": (1, 0, 1, 1), "not listed": (1, 0, 0, 1)}
    assert categories(pairs[:1], Asked(asked), 0.85)[0].with_lists == 0


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("harpsichord", "glockenspiel", RIVAL),
        ("parsnips", "turnips", RIVAL),
        ("pantry", "attic", RIVAL),
        ("bolivia", "nepal", RIVAL),
        ("bolivian", "nepalese", QUALITY),
        ("wooden", "plastic", QUALITY),
        ("humid", "arid", OPPOSITE),
        ("parsnips", "vegetables", AKIN),
        ("sofa", "couch", SYNONYM),
        ("singer", "mother", ""),
        ("tall", "wide", ""),
    ],
)
def test_the_package_of_debian_tells_words_apart(
    wordnet: Dictionary, one: str, other: str, expected: str
) -> None:
    """Proves: V10, V4 (false alarms)."""
    assert relation(wordnet, one, other) == expected
