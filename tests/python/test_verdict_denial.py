"""A denial contradicts what has its subject, its verb and its object, and nothing else."""

from __future__ import annotations

import json

import pytest

from memwarden_core.support.judge import DENIED, UNCLEAR, supports
from memwarden_core.verdict.judge import Memory, Verdict, judge


def of(new: str, old: str) -> Verdict:
    """The verdict on two texts without a key."""
    return judge(Memory(None, None, new, new), Memory(None, None, old, old))


def support(content: str, excerpt: str) -> float:
    """How far an excerpt of a document bears out a content."""
    return supports(None, None, json.dumps(content), [excerpt], ["document"], [""])[0]


@pytest.mark.parametrize(
    ("denied", "said"),
    [
        ("Tomas does not have any pets", "Tomas likes pets"),
        ("Tomas does not have any pets", "The cousin of Tomas has three pets"),
        ("Tomas does not have any pets", "Pets need a lot of time"),
        ("Tomas does not have any pets", "Tomas visited a shelter for pets"),
        ("Ines is not on the night shift", "Ines wrote the plan of the night shift"),
        ("Ines has no bicycle", "Ines repairs her brother's bicycle"),
        ("Ines has no bicycle", "Ines sold a bicycle to her neighbour"),
        ("Ines is not a teacher", "Ines met a teacher at the fair"),
        ("Pavel left without his umbrella", "Pavel has his umbrella"),
        ("The lift in the annex does not work", "The lift in the tower works"),
        ("Our team has no designer", "Our team hired a designer from Oslo"),
        ("Nobody reads the handbook", "The handbook explains the door code"),
        ("There is no lamp in the hall", "A lamp in the kitchen is broken"),
        ("Mira cannot eat nuts", "Mira sells nuts at the market"),
    ],
)
def test_what_only_shares_the_words_that_are_denied_is_no_contradiction(
    denied: str, said: str
) -> None:
    """Either may be the new one.

    Proves: V4 (plain negation)
    """
    for new, old in ((denied, said), (said, denied)):
        assert of(new, old).relation not in ("contradicts", "updates"), (new, old)


@pytest.mark.parametrize(
    ("denied", "said"),
    [
        ("Tomas does not have any pets", "Tomas has two pets"),
        ("Ines has no bicycle", "Ines has a red bicycle"),
        ("Ines is not a teacher", "Ines is a teacher"),
        ("We do not ship to Norway", "We ship to Norway"),
        ("The lift in the annex does not work", "The lift in the annex works"),
        ("No ferry leaves from the old pier", "A ferry leaves from the old pier"),
        ("The bread was not baked by Mira", "Mira baked the bread"),
        ("Pavel works in Oslo, not in Bergen", "Pavel works in Bergen"),
        ("Pavel works in Oslo rather than in Bergen", "Pavel works in Bergen"),
        ("Mira has never climbed the tower", "Mira likes views and has climbed the tower"),
        ("Mira and Pavel are not members of the choir", "Pavel and Mira are members of the choir"),
        ("Lena, not Omar, wrote the report on the harbour", "Omar wrote the report on the harbour"),
    ],
)
def test_what_has_its_subject_verb_and_object_is_one(denied: str, said: str) -> None:
    """Either may be the new one; some tell of news.

    Proves: V4 (plain negation)
    """
    for new, old in ((denied, said), (said, denied)):
        assert of(new, old).relation in ("contradicts", "updates"), (new, old)


@pytest.mark.parametrize(
    ("denied", "said", "decisive"),
    [
        ("The lift is not running", "The lift is running", True),
        ("Ines does not eat fish", "Ines eats fish", True),
        ("My brother does not smoke", "My brother smokes", True),
        ("A lift is not running", "A lift is running", False),
        ("We do not eat fish", "We eat fish", False),
        ("Ines does not eat fish", "Ines eats fish on Fridays", False),
        ("The lift is sometimes not running", "The lift is running", False),
    ],
)
def test_a_denial_of_the_same_words_about_what_has_a_name_is_decisive(
    denied: str, said: str, decisive: bool
) -> None:
    """Proves: V4 (plain negation), V10."""
    for new, old in ((denied, said), (said, denied)):
        assert of(new, old).why.get("decisive", False) is decisive, (new, old)


ARTICLES = {"The", "Die", "La", "A", "De"}
# What is said, and denials of it in more than one word.
IN_MORE_WORDS = {
    "The hall is heated": [
        "The hall is not heated at all.",
        "The hall isn't heated at all, as we know",
        "The hall is not at all heated",
        "The hall isn't heated in the least",
        "The hall is not in the slightest heated",
        "The hall is by no means heated",
        "The hall is in no way heated",
        "The hall is under no circumstances heated",
        "The hall is not heated whatsoever",
        "The hall is not heated in any way",
    ],
    "Ana smokes": ["Ana does not smoke at all", "Ana in no way smokes", "Ana never smokes at all"],
    "Ana eats meat": ["Ana eats no meat at all", "Ana does not eat any meat whatsoever"],
    "Die Halle ist beheizt": [
        "Die Halle ist gar nicht beheizt",
        "Die Halle ist \u00fcberhaupt nicht beheizt",
        "Die Halle ist nicht im Geringsten beheizt",
        "Die Halle ist keineswegs beheizt",
        "Die Halle ist in keiner Weise beheizt",
    ],
    "La salle est chauff\u00e9e": [
        "La salle n'est pas chauff\u00e9e",
        "La salle n'est pas du tout chauff\u00e9e",
        "La salle n\u2019est pas chauff\u00e9e du tout",
        "La salle n'est nullement chauff\u00e9e",
        "La salle n'est en aucun cas chauff\u00e9e",
    ],
    "La sala est\u00e1 climatizada": [
        "La sala no est\u00e1 climatizada en absoluto",
        "La sala no est\u00e1 de ning\u00fan modo climatizada",
        "La sala jam\u00e1s est\u00e1 climatizada",
    ],
    "La sala \u00e8 riscaldata": [
        "La sala non \u00e8 riscaldata",
        "La sala non \u00e8 affatto riscaldata",
        "La sala non \u00e8 riscaldata per nulla",
    ],
    "A sala \u00e9 aquecida": [
        "A sala n\u00e3o \u00e9 de modo algum aquecida",
        "A sala n\u00e3o \u00e9 nada aquecida",
    ],
    "De zaal is verwarmd": ["De zaal is helemaal niet verwarmd", "De zaal is geenszins verwarmd"],
    "Salen \u00e4r uppv\u00e4rmd": [
        "Salen \u00e4r inte uppv\u00e4rmd alls",
        "Salen \u00e4r inte alls uppv\u00e4rmd",
    ],
    "Salen er opvarmet": [
        "Salen er slet ikke opvarmet",
        "Salen er p\u00e5 ingen m\u00e5de opvarmet",
    ],
    "Sala jest ogrzewana": [
        "Sala wcale nie jest ogrzewana",
        "Sala nie jest w og\u00f3le ogrzewana",
    ],
    "Зал отапливается": [
        "Зал совсем не отапливается",
        "Зал никогда не отапливается",
    ],
}


@pytest.mark.parametrize("said", IN_MORE_WORDS)
def test_a_denial_of_more_words_denies_as_one_word_does(said: str) -> None:
    """For the judge of two memories, and for that of evidence, whichever of the two is claimed.

    Proves: V4 (plain negation), V3 (source cross-reference)
    """
    for denied in IN_MORE_WORDS[said]:
        assert of(denied, said).relation == of(said, denied).relation == "contradicts", denied
        if "," in denied:
            continue
        assert support(said, denied) == support(denied, said) == DENIED, denied


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The hall is not only heated but painted", "The hall is heated"),
        ("The hall is not just heated", "The hall is heated"),
        ("The hall is not merely heated", "The hall is heated"),
        ("The hall is not heated by gas but by oil", "The hall is heated by oil"),
        ("The hall is heated at all times", "The hall is heated"),
        ("The hall is not heated at all times", "The hall is heated"),
        ("The hall is heated not at all by gas", "The hall is heated by oil"),
        ("The hall is not heated in the least used wing", "The hall is heated"),
        ("The hall is not heated any more than the barn", "The hall is heated"),
        ("Is the hall not heated at all?", "The hall is heated"),
        ("Ana eats no meat at all on Fridays", "Ana eats meat"),
        ("Die Halle ist nicht nur beheizt, sondern trocken", "Die Halle ist beheizt"),
        ("La salle n'est pas seulement chauff\u00e9e", "La salle est chauff\u00e9e"),
        ("La salle n'est chauff\u00e9e que le soir", "La salle est chauff\u00e9e"),
        ("De zaal is niet helemaal verwarmd", "De zaal is verwarmd"),
        (
            "Зал не совсем отапливается",
            "Зал отапливается",
        ),
        # Before a denial "not at all", behind it "not entirely".
        ("Die Halle ist nicht gar warm", "Die Halle ist warm"),
        ("Die Halle ist nicht ganz und gar beheizt", "Die Halle ist beheizt"),
        ("De zaal is niet volstrekt dicht", "De zaal is dicht"),
        ("De zaal is niet in het geheel verwarmd", "De zaal is verwarmd"),
        ("Зал не вовсе холодный", "Зал холодный"),
        # What denies behind "ne" is something else alone, and what says it again is elsewhere a
        # name, a month or a mineral.
        ("De zaal is pas verwarmd", "De zaal is verwarmd"),
        ("Ana heeft haar pas verloren", "Ana heeft haar verloren"),
        ("Ana est \u00e0 jamais fid\u00e8le", "Ana est fid\u00e8le"),
        ("Non per niente la sala \u00e8 riscaldata", "La sala \u00e8 riscaldata"),
        ("Ana does not sell mica", "Ana does not sell"),
        ("Ana war nicht im Mai krank", "Ana war nicht im krank"),
        ("Ana n\u00e3o nada em casa", "Ana n\u00e3o em casa"),
        # Not quite, and hardly at all.
        ("The hall is hardly heated", "The hall is heated"),
        ("Ana hardly ever smokes", "Ana smokes"),
        ("Ana scarcely eats meat", "Ana eats meat"),
        ("Ana barely passed the test", "Ana passed the test"),
        ("The hall is not yet heated", "The hall is heated"),
    ],
)
def test_words_of_a_denial_that_deny_something_else_flip_nothing(text: str, said: str) -> None:
    """Proves: V4 (plain negation), V3 (source cross-reference)."""
    assert of(text, said).relation not in ("contradicts", "updates", "same")
    assert of(said, text).relation not in ("contradicts", "updates", "same")
    assert support(said, text) == support(text, said) == UNCLEAR


def test_a_denial_that_is_said_again_is_the_same_denial() -> None:
    """Proves: V7 (words of one meaning)."""
    assert of("The hall is not heated at all", "The hall is not heated").relation == "same"
    assert of("The hall is heated", "The hall is heated at all hours").relation != "same"


# What tells one thing from another; "{}" stands for the kind of thing that a sentence is about.
TWINS = [
    ("Ana", "Bo"),
    ("Ana Berg", "Ana Dahl"),
    ("{} 12", "{} 13"),
    ("{} A", "{} B"),
    ("srv-12", "srv-13"),
]
TIMES = [("May", "June"), ("Mai", "Juni"), ("2024", "2025")]


@pytest.mark.parametrize("said", IN_MORE_WORDS)
def test_a_denial_about_another_thing_or_time_is_none(said: str) -> None:
    """No conflict, and nothing denied or borne out.

    Proves: V4 (no false alarms), V3 (source cross-reference)
    """
    kind = " ".join(said.split()[: 2 if said.split()[0] in ARTICLES else 1])
    for denied in (each for each in IN_MORE_WORDS[said] if "," not in each):
        pairs = [
            (one.format(kind) + said[len(kind) :], two.format(kind) + denied[len(kind) :])
            for one, two in TWINS
        ]
        pairs += [(f"{said} {one}", f"{denied.rstrip('.')} {two}") for one, two in TIMES]
        for one, two in (*pairs, *((two, one) for one, two in pairs)):
            assert of(one, two).relation not in ("contradicts", "updates", "same"), (one, two)
            assert support(one, two) == UNCLEAR, (one, two)
