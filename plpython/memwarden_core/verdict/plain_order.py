"""The same in plain words and order: who does what to whom.

"The ball is chased by a dog" says what "a dog chases the ball" says, "a dog, which is brown" what
"a brown dog" says, and "one man" is "a man". What says something is the same then as before: where
another reading gives other words, there is none. It serves to find that two texts say the same,
and for nothing else.
"""

from __future__ import annotations

from ..language.units import MONTHS, NUMBERS
from ..language.words import base_form, stem, word_set
from .reading import Sentence, read

_MARKS = word_set("by which that who one some someone somebody")
"""Without one of them a sentence is in plain words and order."""
_BE = word_set("is are was were am be been")
_SOMEBODY = word_set("someone somebody")
_WHO = word_set("which that who")
_PAST = word_set("was were")
_TIMES = MONTHS | word_set(
    "monday tuesday wednesday thursday friday saturday sunday today tomorrow now then noon midnight"
)
"""What is done by Monday is not done by somebody of that name."""
_ENDS = word_set(
    """
    in on at with from into onto over under near to for through during across along around behind
    beside between against while but or because when where that which who is are was were and
    """
)
"""Behind them something else begins."""
_MOST_WORDS = 40
_ADJECTIVES = 3


def in_plain_order(sentence: Sentence) -> Sentence | None:
    """The sentence with who acts first, and what something is like before it; None if it is so."""
    if not sentence.is_ordered:
        sentence.is_ordered = True
        if len(sentence.words) <= _MOST_WORDS and not _MARKS.isdisjoint(sentence.words):
            sentence.ordered = _ordered(sentence)
    return sentence.ordered


def _ordered(sentence: Sentence) -> Sentence | None:
    capitals = _capitals(sentence)
    words = [w.capitalize() if n in capitals else w for n, w in enumerate(sentence.words)]
    if sentence.question or _keys(words) != sentence.keys:
        # It has amounts in digits, which are not among its words.
        return None
    plain = _without_counting(words)
    turned = _active(_before_its_noun(plain))
    found = read(" ".join(turned)) if turned != words else []
    return found[0] if len(found) == 1 and sorted(found[0].keys) == sorted(_keys(plain)) else None


def _keys(words: list[str]) -> list[str]:
    return [key for sentence in read(" ".join(words)) for key in sentence.keys]


def _capitals(sentence: Sentence) -> set[int]:
    return {sentence.at[place] for place in sentence.names if place < len(sentence.at)}


def _without_counting(words: list[str]) -> list[str]:
    """An article for "one", nothing for "some", and a person for somebody."""
    found: list[str] = []
    for word, after in zip(words, [*words[1:], "of"], strict=True):
        lower = word.lower()
        if lower in _SOMEBODY:
            found += ["a", "person"]
        elif after in _ENDS or after == "of" or lower not in ("one", "some"):
            found.append(word)
        elif lower == "one":
            found.append("a")
    return found


def _before_its_noun(words: list[str]) -> list[str]:
    """What a clause says that something is like, in front of it: "a brown dog"."""
    found = list(words)
    for who in range(len(words) - 3, 0, -1):
        if words[who] not in _WHO or words[who + 1] not in _BE:
            continue
        end = who + 2
        while end < len(words) and words[end] not in _ENDS - {"and"}:
            end += 1
        told = words[who + 2 : end]
        if 0 < len(told) <= _ADJECTIVES and not any(word.endswith("ing") for word in told):
            found = [*found[: who - 1], *told, found[who - 1], *found[end:]]
    return found


def _active(words: list[str]) -> list[str]:
    """Who does it before what it is done to."""
    for being in range(1, len(words) - 2):
        if words[being] not in _BE:
            continue
        verb = being + 1 + (words[being + 1] == "being")
        while verb < len(words) and words[verb].endswith("ly"):
            verb += 1
        by = next((i for i in range(verb + 1, len(words)) if words[i] == "by"), -1)
        if by < 0 or by + 1 == len(words) or _is_time(words[by + 1 :]):
            return words
        end = by + 1
        while end < len(words) and (words[end] not in _ENDS or words[end] == "of"):
            end += 1
        lasts = words[being] not in _PAST
        how = words[being + 1 + (words[being + 1] == "being") : verb]
        return [
            *words[by + 1 : end],
            *([words[being], _unfinished(words[verb])] if lasts else [words[verb]]),
            *how,
            *words[:being],
            *words[verb + 1 : by],
            *words[end:],
        ]
    return words


def _unfinished(participle: str) -> str:
    """The verb of which it is the participle: "chased" is of "chase"."""
    forms = (base_form(participle), *(participle[:-end] for end in (1, 2, 3)))
    return next(
        (form for form in forms[participle == forms[0] :] if stem(form) == stem(participle)),
        participle,
    )


def _is_time(words: list[str]) -> bool:
    """Whether something is done by then, and not by somebody: "by Monday", "by five"."""
    first = words[0].lower()
    return first in _TIMES or (first in NUMBERS and (len(words) == 1 or words[1] in _ENDS))
