"""The frames in which a sentence states a value of an attribute of a thing, by their verbs."""

from __future__ import annotations

from collections.abc import Callable

from ..language.words import stem, word_set
from .stated import ARTICLES, told
from .statement import (
    MOST_SUBJECT,
    SEVERAL,
    Statement,
    all_of,
    attribute,
    by_whom,
    is_name,
    noun_of,
    one_of,
    thing_key,
)

_ALWAYS_MORE = frozenset(
    map(
        stem,
        word_set(
            "likes loves enjoys adores hates dislikes visits speaks knows wants needs reads writes"
            " learns tries collects talks listens watches believes sees says thinks travels"
            " flies looks dreams argues subscribes donates interested involved allergic afraid"
            " includes contains helps supports offers sells gets gives makes works plays buys"
            " eats drinks studies goes returns has reviewed used owns"
        ),
    )
)
"""Who does one of these does it with several."""
_ONE_AT_A_TIME = frozenset(
    (stem(verb), link)
    for verb, link in (("plays", "for"), ("buys", "from"), ("studies", "at"), ("goes", "to"))
)
_LED = dict.fromkeys(
    word_set(
        "led run headed managed chaired directed coordinated supervised captained leads runs heads"
        " manages chairs directs coordinates supervises captains"
    ),
    "lead",
) | {
    "conducted": "conduct",
    "conducts": "conduct",
    "coached": "coach",
    "coaches": "coach",
    "trained": "coach",
    "taught": "teach",
    "teaches": "teach",
    "owned": "own",
    "owns": "own",
    "edited": "edit",
    "edits": "edit",
    "hosted": "host",
}
MOVED = word_set(
    "moved relocated shifted rescheduled postponed pushed transferred extended brought switched"
    " changed converted migrated risen rose grown grew gone went fallen fell dropped increased"
    " decreased raised lowered cut reduced shrunk shrank updated upgraded moves switches changes"
)
_AROUND = word_set("house home over back up down forward out")
_AT_HOME = word_set("based located situated headquartered")
_NO_EMPLOYERS = word_set("night home noon dai weekend present")
_SHIFTS = word_set("nights days mornings evenings weekends")
_IRREGULAR = word_set("sent held set made built paid kept done put drawn")
_STATES = word_set(
    "open closed finished done cancelled canceled ready full available online offline active"
    " inactive live broken sold vacant occupied suspended postponed paused complete completed"
    " delayed approved rejected pending archived published blocked free busy"
)
_IDIOMS = word_set("on in under at out off")
_WHERE = word_set("in at on near behind")
_PARTICLES = word_set("together up out again")


def statements_of(words: list[str]) -> list[Statement]:
    """What a sentence states: by the first word that makes a frame."""
    end = min(len(words) - 1, MOST_SUBJECT + 1)
    places = range(1, min(end, words.index(",")) if "," in words else end)
    known = [place for place in places if words[place].lower() in _FRAMES]
    for place in known or [place for place in places if _is_habit(words[place])]:
        frame = _FRAMES.get(words[place].lower(), _habit)
        found = frame(words[:place], words[place].lower(), words[place + 1 :])
        if found := [each for each in found if each.subject]:
            return found
    return []


def may_state(words: list[str], lower: frozenset[str]) -> bool:
    """Whether a sentence has a word that makes a frame; ``lower``: its words in lower case."""
    return not lower.isdisjoint(_FRAMES) or any(map(_is_habit, words[1 : MOST_SUBJECT + 1]))


def _is_habit(word: str) -> bool:
    """Whether a word looks like a verb that tells what is done again and again."""
    return word[-1] == "s" and word.islower() and not word.endswith(("ss", "us", "'s"))


def _was(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    """What was done to a thing: "was moved to"."""
    first = rest[0].lower()
    return _has(thing, verb, ["been", *rest]) if first in MOVED or first == "sold" else []


def _moved(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    """What follows a verb of change: perhaps from something, to something."""
    lower = [word.lower() for word in rest]
    while lower and lower[0] in _AROUND:
        rest, lower = rest[1:], lower[1:]
    if "to" not in lower[:-1] or (lower[0] not in ("to", "from")):
        return []
    rest = rest[lower.index("to") + 1 :]
    noun = noun_of(thing)
    if noun:
        return attribute(*noun, rest, changed=True)
    found = one_of(thing, "be", "", told(rest), changed=True)
    return all_of(thing, "", told(["to", *rest]), changed=True) or [
        each for each in found if each.kind in ("amount", "code", "money")
    ]


def _joined(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    """What follows "Ana has joined": a firm; one that she left is told, and no newer one."""
    lower = [word.lower() for word in rest]
    later = "joined" in lower
    rest = rest[lower.index("joined") + 1 :] if later else rest
    began = later or verb == "joined"
    found = one_of(thing, "employer", "", told(rest), single=began, changed=began)
    return [each for each in found if each.kind == "name"]


def _taken(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    """What follows "Ana has taken": over the shop from Bo."""
    lower = [word.lower() for word in rest]
    end = lower.index("from") if "from" in lower else len(lower)
    if lower[0] != "over" or end < 2 or lower[1] == "as":
        return []
    return [s._replace(changed=True) for s in by_whom(rest[1:end], "", thing)]


def _habit(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    """What is done again and again: when and where, or with what."""
    if rest[0].lower() in _PARTICLES and len(rest) > 1:
        rest = rest[1:]
    relation = stem(verb)
    if verb == "held":
        relation = "happen"
    elif verb == "takes" and rest[0] == "place" and len(rest) > 1:
        relation, rest = "happen", rest[1:]
    said = told(rest)
    found = all_of(thing, relation, said)
    if found and (found[0].slot != "place" or relation not in _ALWAYS_MORE):
        return found
    values, beside = said
    if not 0 < len(values) < 3 or relation in SEVERAL:
        return []
    last = values[-1]
    link = last.preposition
    if relation in _ALWAYS_MORE and (relation, link) not in _ONE_AT_A_TIME:
        return []
    more = beside | {each.key for each in values[:-1]}
    slot = f"verb:{relation} {link}"
    made = Statement(thing_key(thing), slot, relation, last.kind, last.key, more)
    return [made._replace(free=link != "")]


def _lives(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    return [s for s in all_of(thing, "live", told(rest), single=True) if s.slot == "place"]


def _works(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    first = rest[0].lower()
    if first in ("at", "for", "with"):
        found = one_of(thing, "employer", "work", told(rest[1:]))
        return [s for s in found if s.value not in _NO_EMPLOYERS]
    if first == "as":
        return one_of(thing, "role", "work", told(rest[1:]))
    if first in _SHIFTS:
        return one_of(thing, "shift", "work", told(rest), single=False)
    return _habit(thing, verb, rest)


def _timed(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    found = all_of(
        thing, stem(verb), told(rest), single=verb in ("opens", "closes", "open", "close")
    )
    return [s for s in found if s.slot == "clock"] or [s._replace(single=False) for s in found]


def _costs(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    return [s for s in one_of(thing, "money", "price", told(rest)) if s.kind == "money"]


def _uses(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    found = one_of(thing, "use", stem(verb), told(rest), single=False)
    if found and found[0].kind == "room":
        return [found[0]._replace(slot="place")]
    if verb in ("uses", "use"):
        # Who uses a thing uses others too.
        return []
    return [s for s in found if s.kind == "name"] or _habit(thing, verb, rest)


def _leads(thing: list[str], verb: str, rest: list[str]) -> list[Statement]:
    found = by_whom(rest, _LED[verb], thing, single=_LED[verb] in ("lead", "own"))
    definite = rest[0].lower() in ARTICLES and rest[0].lower() not in ("a", "an")
    return found if definite else [] if found else _habit(thing, verb, rest)


def _is(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    lower = [word.lower() for word in rest]
    first = lower[0]
    noun = noun_of(thing)
    if noun:
        return attribute(*noun, rest)
    if len(rest) == 1:
        return _plain(thing, rest)
    if first in _AT_HOME:
        return _lives(thing, "", rest[1:])
    if first == "due":
        return all_of(thing, "due", told(rest[1:]), single=True)
    if lower[:3] == ["in", "charge", "of"]:
        return by_whom(rest[3:], "lead", thing)
    if first in _LED and lower[1] == "by":
        return by_whom(thing, _LED[first], rest[2:])
    if first in ("called", "named"):
        return one_of(thing, "name", "name", told(rest[1:]))
    if lower[:2] == ["priced", "at"]:
        return _costs(thing, "", rest[2:])
    if lower[:2] == ["married", "to"]:
        return one_of(thing, "spouse", "married", told(rest[2:]))
    if lower[1:3] == ["years", "old"]:
        return one_of(thing, "age", "age", told(rest[:1]))
    if first == "the":
        return _is_the(thing, rest)
    if first in ("a", "an"):
        found = one_of(thing, "role", "be", told(rest[1:]), single=False)
        return [s._replace(free=False) for s in found if s.kind == "word" and not s.beside]
    if noun_of(rest) and is_name(thing):
        # "Bo is the club's new treasurer"
        return _is_the(thing, rest)
    if first.endswith("ed") or first in _IRREGULAR:
        return _habit(thing, first, rest[1:])
    return _plain(thing, rest)


def _is_the(who: list[str], rest: list[str]) -> list[Statement]:
    """Of "Ana is the new manager of the shop": it tells of the shop."""
    noun = noun_of(rest)
    return attribute(*noun, who) if noun and is_name(who) else []


def _plain(thing: list[str], rest: list[str]) -> list[Statement]:
    """What "is" tells without another verb: a state, when, where, how much."""
    where = rest[0].lower() in _WHERE
    said = told(rest)
    placed = [s for s in all_of(thing, "be", said) if s.slot != "place" or (where and not s.beside)]
    return (
        _state(thing, rest)
        or placed
        or _costs(thing, "", rest)
        or [s for s in one_of(thing, "be", "be", said) if s.kind in ("amount", "code")]
    )


def _state(thing: list[str], rest: list[str]) -> list[Statement]:
    """The state of a thing; of a person nobody knows which states exclude each other."""
    lower = [word.lower() for word in rest]
    person = thing[0][0].isupper() and thing[0].lower() not in ARTICLES
    idiom = len(lower) in (2, 3) and lower[0] in _IDIOMS and rest[-1].islower()
    if idiom and ARTICLES.isdisjoint(lower):
        values = told(rest).values
        if person or not values or values[0].kind != "word":
            return []
    elif len(lower) > 1 or not rest[0].isalpha() or not rest[0].islower():
        return []
    known = not person and (idiom or lower[0] in _STATES)
    kind = "state" if known else "quality"
    said = " ".join(lower)
    return [Statement(thing_key(thing), "state", "be", kind, said, free=known)]


def _has(thing: list[str], _verb: str, rest: list[str]) -> list[Statement]:
    first = rest[0].lower()
    if first == "been" and len(rest) > 2:
        rest, first = rest[1:], rest[1].lower()
    if first == "sold" and rest[1].lower() == "to":
        return by_whom(thing, "own", rest[2:])
    if len(rest) > 1 and rest[1].lower() == "to" and (first.endswith("ed") or first in _IRREGULAR):
        return _moved(thing, first, rest[1:])
    if first in _PERFECT and len(rest) > 1:
        return _FRAMES[first](thing, first, rest[1:])
    if first == "a" and len(rest) > 3 and rest[1].lower() == "new":
        # "The club has a new treasurer, Ana"
        at = next((n for n, word in enumerate(rest) if word[0].isupper()), len(rest))
        nouns = [word for word in rest[2:at] if word not in (",", "called", "named")]
        found = attribute(thing, " ".join(map(stem, nouns)), rest[at:], changed=True)
        return [s for s in found if s.kind == "name"]
    values, beside = told(rest)
    if len(values) == 1 and values[0].kind == "amount" and " " in values[0].key:
        number, _, noun = values[0].key.partition(" ")
        slot = "count:" + noun
        return [Statement(thing_key(thing), slot, "have", "amount", number, beside, single=True)]
    return []


_PERFECT = MOVED | {"taken", "joined", "left"}
_FRAMES: dict[str, Callable[[list[str], str, list[str]], list[Statement]]] = {
    **dict.fromkeys(("is", "are", "am"), _is),
    **dict.fromkeys(("has", "have"), _has),
    **dict.fromkeys(("was", "were"), _was),
    **dict.fromkeys(("works", "work"), _works),
    **dict.fromkeys(("costs", "cost"), _costs),
    **dict.fromkeys(("lives", "live", "resides", "reside"), _lives),
    **dict.fromkeys(word_set("opens closes starts begins ends finishes"), _timed),
    **dict.fromkeys(("uses", "use", "drives", "rides"), _uses),
    **dict.fromkeys([verb for verb in _LED if verb.endswith("s")], _leads),
    **dict.fromkeys(MOVED, _moved),
    **dict.fromkeys(("took", "taken"), _taken),
    **dict.fromkeys(("joined", "left"), _joined),
}
