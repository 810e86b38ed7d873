"""Whether a conflict is certainly about one thing, where only the words tell what it is about.

"Room 12 is free" and "room 13 is free" differ in what they speak of, "the door is open" and "the
door is closed" in what they say of it. Only where both name one thing in the same words, with an
article or a name, and the present value that follows differs, is the second certain. Rules that
are sure of little: a memory that is held up for another room is lost.
"""

from __future__ import annotations

from ..language.units import NUMBERS
from ..language.words import word_set
from .alignment import Alignment, Conflict
from .lexicon import GUESSED
from .reading import Sentence
from .values import SINGLE
from .words import BEINGS, DESCRIBING, OPPOSED, RIVALS, SYNONYMS, WIDE, WIDER

_VERBS = word_set("is has costs weighs")
_OTHER_VERBS = word_set(
    """
    are am was were be been being have had do does did will would shall should can could might
    must there
    """
)
"""With one of these it is of several, of the past, or not simply so."""
_ARTICLES = word_set("the my our")
_ADDS_NOTHING = word_set("very really now currently about")
_BEFORE_A_DATE = word_set("on in at the of due set for scheduled")
_OF_A_TIME = word_set(
    """
    today tonight yesterday tomorrow sometimes often usually mostly partly occasionally always
    still already again this that these those every each another other some any when whenever if
    than as like
    """
)
"""What is so at one time, in part, or beside another is not so at another or beside a third."""
_SHORT = 6
"""Of so many words at most is the name of a thing, where it is one and not a tale."""


def decides(found: Alignment) -> bool:
    """Whether two sentences in conflict give one thing two values."""
    new, old = found.new, found.old
    if len(found.conflicts) != 1 or found.in_new or found.in_old or found.more or found.less:
        return False
    conflict = found.conflicts[0]
    if conflict.method in GUESSED:
        return False
    if found.begins:
        return _begins(found, conflict)
    verb = _verb(new)
    if (
        not 0 < verb <= _SHORT
        or verb != _verb(old)
        or new.words[: verb + 1] != old.words[: verb + 1]
    ):
        return False
    subject = sum(at < verb for at in new.at)
    place = conflict.new
    if (
        place != conflict.old
        or new.keys[:subject] != old.keys[:subject]
        or not _names_one(new, subject)
        or any(found.partner.get(each) != each for each in range(len(new.keys)) if each != place)
        or _rest(new, place, verb) != _rest(old, place, verb)
    ):
        return False
    return _is_its_value(new, place, verb, subject, conflict.method)


def _begins(found: Alignment, conflict: Conflict) -> bool:
    """Whether who did one thing does another now: "Ana works as a cook", "Ana became a nurse"."""
    new, old = found.new, found.old
    last = len(new.keys) - 1
    return (
        conflict.new == conflict.old == last == len(old.keys) - 1
        and conflict.method == "group"
        and all(found.partner.get(place) == place for place in range(last))
        and new.keys[: last - 1] == old.keys[: last - 1]
        and len(set(new.clauses)) == len(set(old.clauses)) == 1
        and not (new.hedged or new.question or new.past or any(new.denied) or any(old.denied))
        and all(_OF_A_TIME.isdisjoint(each.words) for each in (new, old))
        and _names_one(new, last - 1)
    )


def decides_denial(denying: Sentence, saying: Sentence) -> bool:
    """Whether two sentences say the same of one thing that is named, but for a denial."""
    subject = denying.denied.index(True)
    return (
        denying.keys == saying.keys
        and not any(saying.denied)
        and all(denying.denied[subject:])
        and not (denying.hedged or denying.question or denying.past or saying.past)
        and _OF_A_TIME.isdisjoint(denying.words)
        and _OF_A_TIME.isdisjoint(saying.words)
        and denying.words[:1] == saying.words[:1]
        and _names_one(denying, subject)
        and _names_one(saying, subject)
    )


def _verb(sentence: Sentence) -> int:
    """The place of the one verb among all words, 0 where it is none of those that are known."""
    words = sentence.words
    if sentence.hedged or sentence.question or sentence.past or any(sentence.denied):
        return 0
    if not (_OTHER_VERBS.isdisjoint(words) and _OF_A_TIME.isdisjoint(words)):
        return 0
    verbs = [place for place, word in enumerate(words) if word in _VERBS]
    one_clause = len(set(sentence.clauses)) == 1
    return verbs[0] if len(verbs) == 1 and one_clause else 0


def _names_one(sentence: Sentence, subject: int) -> bool:
    """Whether the words before the verb name one thing: the door, my car, Alice, Room 12."""
    if not subject:
        return False
    head = sentence.keys[subject - 1]
    if sentence.words[0] in _ARTICLES:
        # "The man" of one moment is not the man of another.
        return head not in BEINGS or sentence.words[0] != "the"
    if 0 not in sentence.names:
        return False
    if 0 in sentence.owners:
        return True
    # A common noun has a capital at the beginning too: "Tea is hot".
    common = any(head in known for known in (OPPOSED, RIVALS, SYNONYMS, WIDER, WIDE))
    numbered = subject - 1 in sentence.numbers
    return numbered or (not common and all(place in sentence.names for place in range(subject)))


def _own_word(sentence: Sentence, place: int) -> int:
    """The place of a value among all words, or -1 of a figure, which is none."""
    at = sentence.at[place]
    figure = place in sentence.numbers and (at < 0 or sentence.words[at] not in NUMBERS)
    return -1 if figure else at


def _rest(sentence: Sentence, place: int, verb: int) -> list[str]:
    """The words behind the verb without the value, and without those that add nothing."""
    value = _own_word(sentence, place)
    return [
        word
        for at, word in enumerate(sentence.words)
        if at > verb and at != value and word not in _ADDS_NOTHING
    ]


def _is_its_value(sentence: Sentence, place: int, verb: int, subject: int, method: str) -> bool:
    """Whether what differs is the first thing said of it, and it can be so in one way only."""
    value = _own_word(sentence, place)
    before = set(sentence.words[verb + 1 : sentence.at[place] + 1 if value < 0 else value])
    before -= _ADDS_NOTHING
    if sentence.keys[subject - 1] in SINGLE:
        # "The deadline is set for Monday"
        return before <= _BEFORE_A_DATE
    if before or place != subject:
        return False
    if sentence.words[verb] == "has":
        return method == "number"
    if method == "group":
        named = 0 in sentence.names and 0 not in sentence.owners
        return sentence.keys[place] in DESCRIBING and not named
    return method in ("antonym", "number")
