"""A value of one attribute of one thing, and what statements are made of."""

from __future__ import annotations

from ..language.words import stem, word_set
from ..light import NamedTuple
from .stated import Told, is_placed, name_key, told

_PRONOUNS = word_set(
    "he she it they we you this that these those there here who what which someone somebody"
    " everyone everybody anyone nobody nothing everything all some many most one another"
)
MOST_SUBJECT = 8
WHEN = ("weekday", "clock", "date", "rate")
_WHEN_WHERE = frozenset({*WHEN, "place"})
_DATES = frozenset({"date", "amount"})


class Statement(NamedTuple):
    """A value of one attribute of one thing."""

    subject: str
    slot: str
    """The attribute, as far as the kind of the value tells it: weekday, place, by ..."""
    relation: str
    """The verb that tells it; empty where it only tells of a change."""
    kind: str
    value: str
    beside: frozenset[str] = frozenset()
    """What else is said, by its stems."""
    single: bool = False
    """Whether a thing has one such value at a time."""
    changed: bool = False
    free: bool = True
    """Whether any other value of its kind takes its place; otherwise only one of its sort."""


def family(statement: Statement) -> str:
    """What the key of an attribute is made of: when and where are often told together."""
    if statement.slot in _WHEN_WHERE:
        return "when and where"
    return "amount" if statement.slot.startswith(("be", "count:")) else statement.slot


def thing_key(words: list[str]) -> str:
    """The key of what stands before a verb; empty where nobody knows which thing that is."""
    lower = [word.lower() for word in words]
    if not lower or len(lower) > MOST_SUBJECT or lower[0] in _PRONOUNS or "," in lower:
        return ""
    if lower == ["i"]:
        return "i"
    if lower[0] in ("a", "an") and len(lower) < 4:
        return ""
    key = name_key(words)
    return f"our {key}" if key and lower[0] == "our" else key


def is_name(words: list[str]) -> bool:
    """Whether words name somebody: Ana, Mr Okafor, my sister."""
    if not 0 < len(words) < 4:
        return False
    return all(word[0].isupper() for word in words) or words[0].lower() == "my"


def all_of(
    thing: list[str], relation: str, said: Told, *, single: bool = False, changed: bool = False
) -> list[Statement]:
    """When and where: a statement for each value of a kind that tells one of them."""
    values, beside = said
    if changed and any(value.kind in _DATES for value in values[1:]):
        # "Ana moved to Rome in 2012": of then, not of now.
        return []
    found = []
    for place, value in enumerate(values):
        slot = value.kind if value.kind in WHEN else "place" if is_placed(value) else ""
        if slot == "place" and value.preposition in ("to", "into") and not changed:
            slot = ""
        if not slot or (slot == "place" and changed and place):
            continue
        others = [each for each in values if each is not value]
        if slot != "clock":
            # When and where are told beside each other, and change one by one.
            others = [each for each in others if each.kind not in WHEN and not is_placed(each)]
        more = beside | {each.key for each in others}
        found.append(
            Statement(
                thing_key(thing), slot, relation, value.kind, value.key, more, single, changed
            )
        )
    return sorted(found, key=lambda each: each.slot == "place")


def one_of(
    thing: list[str],
    slot: str,
    relation: str,
    said: Told,
    *,
    single: bool = True,
    changed: bool = False,
) -> list[Statement]:
    """One value, which what is said begins with."""
    values, beside = said
    if not values:
        return []
    first = values[0]
    others = beside | {each.key for each in values[1:]}
    key = thing_key(thing)
    return [Statement(key, slot, relation, first.kind, first.key, others, single, changed)]


def by_whom(thing: list[str], what: str, who: list[str], *, single: bool = True) -> list[Statement]:
    """Who leads, owns or teaches a thing."""
    if not is_name(who):
        return []
    return [Statement(thing_key(thing), "by", what, "name", name_key(who), single=single)]


def noun_of(words: list[str]) -> tuple[list[str], str] | None:
    """The thing and the noun of "the price of the ticket", "Ana's phone number"."""
    lower = [word.lower() for word in words]
    owner, nouns = list[str](), list[str]()
    place = next((n for n, word in enumerate(lower[:-1]) if word.endswith("'s")), -1)
    if place >= 0:
        owner, nouns = [*words[:place], words[place][:-2]], lower[place + 1 :]
    elif lower and lower[0] == "the":
        at = next((n for n, word in enumerate(lower) if word in ("of", "for") and n > 1), 0)
        owner, nouns = (words[at + 1 :], lower[1:at]) if at else (owner, nouns)
    nouns = [each for each in nouns if each not in ("new", "current")]
    if not owner or not nouns or (nouns[-1].endswith("s") and not nouns[-1].endswith(_SINGULAR)):
        return None
    return owner, " ".join(map(stem, nouns))


_SINGULAR = ("ss", "us", "is")

_NOUNS = """
money|price cost fee rent charge fare
by|leader manager head chair chairman chairwoman director boss coordinator supervisor captain
phone|phone telephone number mobile
place|address home location venue place headquarters
employer|employer company workplace
role|job position title profession occupation
state|status state condition
"""
_SLOTS = {
    stem(noun): slot
    for slot, nouns in (line.split("|") for line in _NOUNS.strip().split("\n"))
    for noun in nouns.split()
}
_RELATIONS = {"money": "price", "place": "live", "by": "lead", "state": "be"}
_DOERS_OF = {
    "conductor": "conduct",
    "coach": "coach",
    "trainer": "coach",
    "owner": "own",
    "editor": "edit",
    "host": "host",
    "teacher": "teach",
}
_DOERS = {stem(noun): what for noun, what in _DOERS_OF.items()}
_DUE = frozenset({"deadlin", "dat", "due dat"})
SEVERAL = frozenset(
    map(
        stem,
        word_set(
            "friend brother sister child son daughter cousin uncle aunt colleague student pupil"
            " member hobby skill allergy pet dog cat language book project task idea part example"
            " reason advantage ingredient goal neighbour interest symptom customer supplier sibling"
            " parent event meeting option kind type"
        ),
    )
)
"""Of what these nouns name somebody or something has several."""


def attribute(
    thing: list[str], noun: str, rest: list[str], *, changed: bool = False
) -> list[Statement]:
    """The value of what a noun names."""
    last = noun.rsplit(" ", 1)[-1]
    slot, relation = _SLOTS.get(last, ""), noun
    if last in SEVERAL:
        return []
    if slot == "state" and 0 < len(rest) < 4:
        said = " ".join(rest).lower()
        made = Statement(thing_key(thing), slot, "be", "state", said, single=True)
        return [made._replace(changed=changed)]
    values, beside = told(rest)
    if not values or (len(values) > 1 and not changed):
        return []
    first = values[0]
    if last in _DOERS or slot == "by":
        slot, relation = "by", _DOERS.get(last, "lead")
        first = first._replace(key=name_key(rest))
    elif slot and (noun in (last, "phon number") or slot == "money"):
        relation = _RELATIONS.get(slot, slot)
    if first.kind in WHEN:
        slot, relation = first.kind, "due" if noun in _DUE else noun
    free = bool(slot) or first.kind != "word" or changed
    made = Statement(
        thing_key(thing),
        slot or f"noun:{noun}",
        relation,
        first.kind,
        first.key,
        beside,
        single=True,
    )
    return [made._replace(changed=changed, free=free)]
