"""Which attribute of which thing a memory tells of: what its neighbours are also found by.

Both are read coarsely, by the first verb: a key too many finds a neighbour that is then compared.
It runs for each write, so it loads no lists of the judge.
"""

from __future__ import annotations

import re
import unicodedata

from ..bookkeeping import speaker_of
from ..language.units import MONTHS, NUMBERS
from ..language.words import HEDGE, PAST_FORMS, stem, word_set
from ..light import NamedTuple
from .function_words import CHANGE
from .tokens import ABBREVIATIONS, EDGES, PLAIN, SPEAKER

_MOST_CHARACTERS, _MOST_WORDS, _MOST_SUBJECT = 400, 30, 8
_SENTENCE = re.compile(r"(?<=[.!;?])\s+")
_ELSEWISE = (HEDGE - {"may", "planning"}) | word_set(
    "also too another sometimes often usually or either both said says told tells thinks believes"
    " thought wish wishes hope going will would used when because asked claims"
)
"""With one of these it is told beside another value, or not said to be so."""
_NOBODY = word_set(
    "he she it they it you this that these those there here who what someone somebody nobody"
    " everyone everything nothing all some many most one"
)
_ADDS_NOTHING = word_set(
    "a an the no longer our this its their his her now currently recently newly finally just still"
    " new been"
)
_BE = word_set("is are am has have was were")
_MUTE = _ADDS_NOTHING | _BE
_SINGLE = word_set("is are am lives live works work costs cost opens closes has have")
_CHANGED = (CHANGE - {"instead"}) | word_set(
    "from was left dropped replaced replaces not never new any again these by been"
)
_LINKS = word_set("in at on to into near behind from until")
_WHEN = frozenset(MONTHS) | word_set(
    "monday tuesday wednesday thursday friday saturday sunday daily weekly monthly yearly"
)
_OFTEN = frozenset(
    map(
        stem,
        word_set(
            "likes loves enjoys adores hates dislikes visits speaks knows wants needs reads writes"
            " learns tries collects talks watches believes sees says thinks travels flies looks"
            " involved allergic afraid includes contains supports offers sells"
        ),
    )
)
"""Who does one of these does it with several."""


class Attribute(NamedTuple):
    """What a key is made of."""

    subject: str
    family: str
    sought: bool
    """Whether the memory may end or deny what another one tells of the attribute."""


def attribute_of(text: str, content: object, subject: str | None) -> Attribute | None:
    """The thing and the family of attributes that a memory tells of first."""
    if len(text) > _MOST_CHARACTERS:
        return None
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(PLAIN)
    speaker = speaker_of(content)[1].lower() if isinstance(content, dict) else ""
    if speaker and isinstance(content, dict) and isinstance(content.get("text"), str):
        text = str(content["text"])[:_MOST_CHARACTERS]
    found = SPEAKER.match(text)
    if found and found[1][0].isupper():
        speaker, text = speaker or found[1].lower(), text[found.end() :]
    if subject and text.lower().startswith(f"{subject} {subject}".lower()):
        # A text is told with its subject before it, which a sentence names again.
        text = text[len(subject) + 1 :]
    rest = ""
    for part in _SENTENCE.split(text):
        rest = f"{rest} {part}".strip()
        if rest.rsplit(" ", 1)[-1].rstrip(".").lower() in ABBREVIATIONS:
            continue
        attribute = _read(rest, speaker)
        if attribute:
            return attribute
        rest = ""
    return None


def _read(sentence: str, speaker: str) -> Attribute | None:
    words = [word for word in (chunk.strip(EDGES) for chunk in sentence.split()) if word]
    lower = [word.lower() for word in words]
    if not 2 < len(words) <= _MOST_WORDS or not _ELSEWISE.isdisjoint(lower):
        return None
    if "?" in sentence or '"' in sentence or lower[0] in _NOBODY:
        return None
    if lower[0] in ("from", "as", "since", "by"):
        # "As of this month the choir ..."
        at = next((n for n in range(2, len(lower)) if lower[n] in ("the", "my", "our")), 2)
        words, lower = words[at:], lower[at:]
    first = lower[0].partition("'")[0] if lower else ""
    spoken = first in ("i", "we")
    verb = 1 if spoken else next((n for n in range(1, len(words)) if _is_verb(words, n)), 0)
    if not (3 if first in ("a", "an") else 0) < verb <= _MOST_SUBJECT:
        return None
    thing = [lower[0] if not spoken else first, *lower[1:verb]]
    if speaker and thing[0] in ("i", "my", "our"):
        thing = [speaker, *thing[thing[0] == "i" :]]
    key = " ".join(stem(w.removesuffix("'s")) for w in thing if w not in _ADDS_NOTHING)
    family = _family([w for w in lower[verb:] if w not in _MUTE], plain=lower[verb] == "is")
    if _BE.issuperset(thing):
        return None
    sought = lower[verb] in _SINGLE or not _CHANGED.isdisjoint(lower)
    return Attribute(key, family, sought) if key and family else None


def _is_verb(words: list[str], at: int) -> bool:
    """Whether a word is a form of "be", or looks like a verb of what is so or goes on."""
    word = words[at]
    if word in _BE:
        return True
    if words[at + 1 : at + 2] and words[at + 1] in _BE:
        return False
    return word.islower() and word[-1] == "s" and not word.endswith(("ss", "us", "'s"))


def _family(rest: list[str], *, plain: bool) -> str:
    """What the key of an attribute is made of: when and where are often told together."""
    if (
        _LINKS.issuperset(rest)
        or stem(rest[0]) in _OFTEN
        or (rest[0] in PAST_FORMS and len(rest) < 2)
    ):
        return ""
    if rest[0] in ("works", "work", "left", "joined"):
        # Where somebody works is where they have left.
        return "when and where"
    if any(w in _LINKS or w.removesuffix("s") in _WHEN for w in rest[:-1]) or (
        rest[-1].removesuffix("s") in _WHEN
    ):
        return "when and where"
    if any(w in NUMBERS or any(map(str.isdigit, w)) for w in rest):
        return "amount"
    return "be" if plain else stem(rest[0])
