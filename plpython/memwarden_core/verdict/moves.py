"""The frames of change: what has moved, switched, grown, been renamed or taken over."""

from __future__ import annotations

from ..language.words import stem, word_set
from .stated import ARTICLES, key_of, name_key, told
from .statement import Statement, all_of, attribute, by_whom, noun_of, one_of, thing_key

MOVED = word_set(
    "moved relocated shifted rescheduled postponed pushed transferred extended brought switched"
    " changed converted migrated risen rose grown grew gone went fallen fell dropped increased"
    " decreased raised lowered cut reduced shrunk shrank updated upgraded moves switches changes"
)
_SWITCHED = word_set("switched changed converted migrated switches changes")
_AROUND = word_set("house home over back up down forward out")
_POSSESSIVES = word_set("its their his her my")
NAMED = word_set("renamed promoted appointed")


def moved(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    """What follows a verb of change: perhaps from something, to something."""
    lower = [word.lower() for word in rest]
    if lower and lower[0] in _POSSESSIVES and "to" in lower:
        # "The shop has changed its phone number to ..."
        at = lower.index("to")
        return attribute(thing, " ".join(map(stem, lower[1:at])), rest[at + 1 :], changed=True)
    while lower and lower[0] in _AROUND:
        rest, lower = rest[1:], lower[1:]
    former, ends = "", [n for n, word in enumerate(lower) if word in ("to", "into")]
    if not ends:
        return []
    if lower[0] == "from":
        former = _state_or_key(rest[1 : ends[0]])
    elif ends[0]:
        return []
    rest = rest[ends[0] + 1 :]
    noun = noun_of(thing)
    if noun:
        return attribute(*noun, rest, changed=True, former=former)
    return [each._replace(former=former) for each in _moved_to(thing, verb, rest)]


def _state_or_key(words: list[str]) -> str:
    values = told(words).values
    return values[0].key if values and values[0].kind != "word" else " ".join(words).lower()


def _moved_to(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    values, beside = told(["to", *rest])
    first = values[0] if len(values) == 1 else None
    if first and first.kind in ("code", "amount", "money"):
        slot = "money" if first.kind == "money" else "be"
        made = Statement(thing_key(thing), slot, "", first.kind, first.key, beside, single=True)
        made = made._replace(changed=True)
        number, _, counted = first.key.partition(" ")
        count = made._replace(slot=f"count:{counted}", value=number)
        return [count, made] if counted and first.kind == "amount" else [made]
    found = all_of(thing, "", ["to", *rest], changed=True)
    if verb not in _SWITCHED:
        return found
    found = [each for each in found if each.kind not in ("name", "word")]
    used = one_of(thing, "use", "", rest, single=False, changed=True)
    return found or [each for each in used if each.kind == "name"]


def been(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    """What follows "has been": moved to, renamed, sold to."""
    if verb in MOVED:
        return moved(thing, verb, rest)
    if verb in NAMED:
        rest = rest[1:] if rest[0].lower() in ("to", "as") else rest
        return one_of(thing, "name" if verb == "renamed" else "role", "", rest, changed=True)
    return sold(thing, verb, rest) if verb == "sold" else []


def sold(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    """Who has a thing: "has been sold to Bo", "belongs to Bo"."""
    return by_whom(thing, "own", rest[1:]) if rest[0].lower() == "to" else []


def bought(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    """What follows "Ana has bought": the kiosk from Bo."""
    what, former = _parted(rest, "from")
    if not what or what[0].lower() not in ARTICLES:
        return []
    found = by_whom(what, "own", thing)
    return [each._replace(changed=True, former=former) for each in found]


def taken(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    """What follows "Ana has taken": over the shop from Bo."""
    if rest[0].lower() != "over":
        return []
    what, former = _parted(rest[1:], "from")
    if not what or what[0].lower() == "as":
        return []
    return [each._replace(changed=True, former=former) for each in by_whom(what, "", thing)]


def replaced(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    """What follows "Ana has replaced": Bo as manager of the shop."""
    lower = [word.lower() for word in rest]
    if "as" not in lower[1:-1]:
        return []
    at = lower.index("as")
    role = rest[at + 1 :]
    noun = noun_of(role if role[0].lower() == "the" else ["the", *role])
    if noun is None:
        return []
    return attribute(*noun, thing, changed=True, former=name_key(rest[:at]))


def _parted(words: list[str], link: str) -> tuple[list[str], str]:
    lower = [word.lower() for word in words]
    at = lower.index(link) if link in lower else len(lower)
    return words[:at], name_key(words[at + 1 :])


def joined(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    """What follows "Ana has joined": a firm."""
    found = one_of(thing, "employer", "", rest, changed=True)
    return [each for each in found if each.kind == "name"]


def left(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    """What follows "Ana has left": a firm, perhaps "and joined" another."""
    lower = [word.lower() for word in rest]
    if "joined" in lower:
        at = lower.index("joined")
        former = key_of([word for word in rest[:at] if word.lower() != "and"])
        return [each._replace(former=former) for each in joined(thing, "", rest[at + 1 :])]
    return [each._replace(gone=True) for each in joined(thing, "", rest)]
