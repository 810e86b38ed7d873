"""Whether a statement tells a newer value of the attribute that an older one tells of.

"The choir meets on Mondays", "The choir has moved to Wednesdays". Rules about structure: who or
what stands before the verb, which frame the verb makes, which kind of value follows. A statement
that adds ("also"), asks, hopes, reports or tells of an event has no attribute. What is told twice
without a word of change counts only for attributes of which a thing has one.
"""

from __future__ import annotations

import re
import unicodedata

from ..bookkeeping import speaker_of
from ..language.words import HEDGE, stem, word_set
from ..light import NamedTuple
from .frames import may_state, statements_of
from .function_words import CHANGE
from .statement import Statement, family
from .tokens import ABBREVIATIONS, PLAIN, SPEAKER

_MOST_CHARACTERS = 400
_MOST_SENTENCES = 4
_MOST_NAME = 100
_SENTENCE = re.compile(r"(?<=[^\s.][^\s.][.!;])\s+(?=[^\W\d_])|(?<=[?])\s+")
_SEVERAL = frozenset(".!?;")
_EDGES = "\"()[]{},;:.!'*_\u201c\u201d\u2026"
_MOST_WORDS = 30
_ADDS = word_set(
    "also too additionally another sometimes often usually occasionally or either both likewise"
    " plus well besides"
)
_ELSEWISE = (HEDGE - {"may", "planning"}) | word_set(
    "said says told tells thinks believes thought dreamt dreamed imagine imagines wish wishes"
    " hope going will would used if when because unless asked wonders rumour claims"
)
_OF_TIME = (
    r"(?:now|today|this \w+|last \w+|next \w+|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|(?:\d{1,2} )?(?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december)(?: \d{1,2})?(?: \d{4})?|\d{4}(?:-\d\d-\d\d)?|the \w+ of \w+)"
)
_OPENS = re.compile(
    rf"(?:(?:from {_OF_TIME} on(?:wards)?|(?:as of|since|starting|effective|beginning) {_OF_TIME}"
    r"|now|these days|nowadays|update|correction)[,:]? )",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?:,? (?:(?:this|last) (?:week|month|year|spring|summer|autumn|winter)"
    rf"|(?:as of|since|starting|effective|beginning) {_OF_TIME}"
    rf"|from {_OF_TIME} on(?:wards)?|now|these days|nowadays|again|instead|from now on))$",
    re.IGNORECASE,
)
_OPENERS = word_set(
    "from as since starting effective beginning now these nowadays update correction"
)
_ENDERS = word_set(
    "since starting effective beginning as from now days nowadays again instead last this"
)
_PLANS = re.compile(r"(?:is|are|am|'s|'m|'re) planning ")
_CALLED = re.compile(r"\b(?:has|have|had) an? (?:\w+ ){1,3}(?:called|named) ")
_NOWS = word_set("now recently newly finally just meanwhile")
_FILLS = _NOWS | word_set("currently already officially still since presently actually")


_OVER = CHANGE | word_set("from was left dropped replaced replaces not never")
"""With one of these a text may name what is over: see renewal.py."""


class Attribute(NamedTuple):
    """What a key is made of."""

    subject: str
    family: str


def read_statements(text: str, content: object, subject: str | None) -> list[Statement]:
    """What a memory states of attributes, at most a few statements."""
    if len(text) > _MOST_CHARACTERS:
        return []
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(PLAIN)
    speaker = speaker_of(content)[1].lower() if isinstance(content, dict) else ""
    if speaker and isinstance(content, dict) and isinstance(content.get("text"), str):
        text = str(content["text"])[:_MOST_CHARACTERS]
    found = SPEAKER.match(text) if ": " in text[:_MOST_NAME] else None
    if found and found[1][0].isupper():
        speaker, text = speaker or found[1].lower(), text[found.end() :]
    if subject and text.lower().startswith(subject.lower() + " "):
        # A text is told with its subject before it, which a sentence names again.
        rest = text[len(subject) + 1 :]
        text = rest if rest.lower().startswith(subject.lower()) else text
    if _SEVERAL.isdisjoint(text[:-1]):
        return _read(text, speaker)
    stated: list[Statement] = []
    rest = ""
    for part in _SENTENCE.split(text, _MOST_SENTENCES)[:_MOST_SENTENCES]:
        rest = f"{rest} {part}" if rest else part
        if rest.rsplit(" ", 1)[-1].rstrip(".").lower() not in ABBREVIATIONS:
            stated += _read(rest, speaker)
            rest = ""
    return stated


def _read(sentence: str, speaker: str) -> list[Statement]:
    words = _words(sentence)
    lower = frozenset(map(str.lower, words))
    if (
        not 2 < len(words) <= _MOST_WORDS
        or not (_ADDS.isdisjoint(lower) and _ELSEWISE.isdisjoint(lower))
        or not may_state(words, lower)
        or "may" in words
        or "?" in sentence
        or '"' in sentence
        or ("planning" in lower and _PLANS.search(sentence))
    ):
        return []
    sentence = sentence.strip(" .!;")
    changed = not _NOWS.isdisjoint(lower)
    while sentence.split(" ", 1)[0].lower().strip(":,") in _OPENERS:
        opened = _OPENS.match(sentence)
        if not opened:
            break
        sentence, changed = sentence[opened.end() :], True
    while not _ENDERS.isdisjoint(lower) and (ended := _ENDS.search(sentence)):
        sentence, changed = sentence[: ended.start()], True
    words = [word for word in _words(sentence) if word.lower() not in _FILLS]
    return [
        each._replace(
            subject=_bound(each.subject, speaker),
            changed=each.changed or changed,
        )
        for each in statements_of(words)
    ]


_SHORT = {"i've": "I have", "i'm": "I am", "we've": "we have", "we're": "we are"}


def _words(sentence: str) -> list[str]:
    """The words of a sentence as they are written, and its commas."""
    found = []
    if "'" in sentence:
        sentence = " ".join(_SHORT.get(word.lower(), word) for word in sentence.split())
    for chunk in sentence.split():
        if chunk.isalnum():
            found.append(chunk)
            continue
        if word := chunk.strip(_EDGES):
            found.append(word)
        if chunk[-1] in ",;:":
            found.append(",")
    return found


def _bound(subject: str, speaker: str) -> str:
    """A subject that the speaker names from where they stand, bound to them."""
    if subject == "i":
        return speaker or "i"
    return f"{speaker} {subject}" if speaker and subject.startswith(("my ", "our ")) else subject


def attribute_of(stated: list[Statement]) -> Attribute | None:
    """The thing and the family of attributes that a memory tells of first."""
    return Attribute(stated[0].subject, family(stated[0])) if stated else None


def seeks(stated: list[Statement], text: str) -> bool:
    """Whether a memory may end or deny what another one tells of the same attribute.

    Any other memory is not compared with what only has its attribute in common with it.
    """
    may = any(each.changed or each.single or each.slot == "state" for each in stated)
    return may or not _OVER.isdisjoint(text.lower().split())


def is_beside(new: str, old: str) -> bool:
    """Whether a text gives another value beside the one that stands: "also", a child called ...

    A thing that "a" or "an" brings in is another one each time.
    """
    if not _ADDS.isdisjoint(new[:_MOST_CHARACTERS].lower().replace(".", " ").split()):
        return True
    found = (_CALLED.search(text[:_MOST_CHARACTERS]) for text in (new, old))
    return all(each is not None for each in found)


def is_newer(new: list[Statement], old: list[Statement], *, one_writer: bool) -> bool:
    """Whether something that is stated later is another value of what was stated before."""
    return any(_follows(ours, theirs, one_writer=one_writer) for ours in new for theirs in old)


def _follows(new: Statement, old: Statement, *, one_writer: bool) -> bool:
    if new.subject != old.subject or new.slot != old.slot or new.value == old.value:
        return False
    if not one_writer and new.subject.split(" ", 1)[0] in _OWN:
        return False
    if new.relation and old.relation and new.relation != old.relation:
        return False
    if not (new.changed or (new.single and old.single)):
        return False
    if new.beside != old.beside and (new.beside or new.relation):
        return False
    return _of_one_kind(new, old)


def _of_one_kind(new: Statement, old: Statement) -> bool:
    """Whether the values exclude each other, as far as their kinds tell."""
    if new.kind != old.kind and not {new.kind, old.kind} <= _STATES:
        return False
    if new.free and old.free:
        return True
    if new.kind in ("word", "quality"):
        return _are_rivals(new.value, old.value)
    return not set(new.value.split()).isdisjoint(old.value.split())


def _are_rivals(one: str, two: str) -> bool:
    """Whether two values are of one sort: a red door and a green one, two window seats."""
    from .words import OPPOSED, RIVALS

    ours, theirs = stem(one.rsplit(" ", 1)[-1]), stem(two.rsplit(" ", 1)[-1])
    return ours == theirs or theirs in RIVALS.get(ours, ()) or theirs in OPPOSED.get(ours, ())


_STATES = frozenset({"state", "quality"})
_OWN = frozenset({"i", "my", "our", "we"})
