"""Who says what an excerpt quotes, and whom a claim is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..language.lexicon import SIBLINGS
from ..language.words import BREAK, FIRST_PERSON, HEDGE, NEGATION, STOP, stem
from ..late import late
from ..light import NamedTuple
from .telling_words import GENERIC, SPEAKERS, THIRD_PERSON, TIMES, WEIGHTS
from .text import Token

_NAME = r"[^\W\d_][\w.'\u2019-]{0,30}(?:[ \t][^\W\d_][\w.'\u2019-]{0,30}){0,2}"
_PREFIX = late(
    rf"(?m)^[ \t]{{0,8}}(?:\[[^\]\n]{{0,60}}\][ \t]{{0,4}})?({_NAME})"
    r"(?:[ \t]\([^)\n]{0,40}\))?:[ \t]"
)
_WORD = late(r"[^\W\d_]+")
_URI = late(r"^(?:[a-z+.-]{0,20})[:/]+(?:[^/]{0,60}/){0,4}?([^\W\d_]+(?:[-.][^\W\d_]+)*)/\d")
_TALK = ("chat", "dm", "call", "sms", "mail", "email", "message", "talk", "voice", "conversation")
_ADDRESS = (
    r"(?:^|[,.!?;:\n]\s{0,3}|\b(?:hey|hi|hello|thanks|thank you|yeah|yep|yes|wow|oh|sure|congrats"
    r"|cheers|sorry|okay|ok|well|dear)[ ,]{1,2})"
)
_LEADER = late(r"\s{0,8}([^\W\d_][\w-]{0,40})(['\u2019]s\b)?")
_WE = FIRST_PERSON | frozenset(("we", "us", "our", "ours", "let's", "lets", "we're", "we've"))


class Turn(NamedTuple):
    """What somebody says: the stems of the name, none where it is not told, and the words."""

    names: frozenset[str]
    text: str


def stems(text: str) -> frozenset[str]:
    """The stems of the words of a name."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()))


def turns(excerpt: str) -> Sequence[Turn]:
    """An excerpt by who speaks; one turn of nobody where it does not say."""
    heads = [m for m in _PREFIX.finditer(excerpt) if m[1][0].isupper()] if ": " in excerpt else []
    if not heads:
        return (Turn(frozenset(), excerpt),)
    ends = [m.start() for m in heads[1:]] + [len(excerpt)]
    first = excerpt[: heads[0].start()].strip()
    found = [Turn(stems(m[1]), excerpt[m.end() : end]) for m, end in zip(heads, ends, strict=True)]
    return [Turn(frozenset(), first), *found] if first else found


def speaker_of(uri: str) -> frozenset[str]:
    """Who speaks by the uri of a conversation, as in chat:ana/17."""
    if not uri.startswith(_TALK):
        return frozenset()
    found = _URI.match(uri)
    return stems(found[1]) - GENERIC if found else frozenset()


def leader(text: str) -> str | None:
    """The stem of the name that a claim begins with, or None."""
    found = _LEADER.match(text)
    if not found or not found[1][0].isupper():
        return None
    lower = found[1].lower()
    key = stem(lower)
    if (
        lower in STOP
        or lower in BREAK
        or lower in HEDGE
        or lower in NEGATION
        or lower in TIMES
        or lower.endswith("ing")
        or key in WEIGHTS
        or key in SIBLINGS
    ):
        return None
    return key


def is_addressed(name: str, text: str) -> bool:
    """Whether somebody of that name is spoken to: "Thanks, Ana!"."""
    lower = text.lower()
    if name not in lower:
        return False
    return (
        late(rf"{_ADDRESS}{late_escape(name)}\w{{0,3}}\s{{0,2}}(?:[,.!?;:\n-]|$)").search(lower)
        is not None
    )


def late_escape(name: str) -> str:
    """A stem as a pattern: it has letters alone, but for i that stands for y."""
    return name[:-1] + "[iy]" if name.endswith("i") else name


def alias(name: str, others: Iterable[str]) -> bool:
    """Whether a name is one of others, or a short form of one, or one of it."""
    return any(
        name == other
        or (min(len(name), len(other)) >= 3 and (name.startswith(other) or other.startswith(name)))
        for other in others
    )


def is_own(words: frozenset[str]) -> bool:
    """Whether words may be of the speaker: said in the first person, or of nobody else."""
    return not _WE.isdisjoint(words) or THIRD_PERSON.isdisjoint(words)


def known_names(
    turn: Turn,
    about: Sequence[Token],
    first: str | None,
    words: frozenset[str],
    uri: str,
    *,
    spoken: bool,
) -> tuple[frozenset[str], bool]:
    """The names that a turn need not say since they are the speaker's, and whether one is wrong.

    It is wrong where the claim begins with the name of whom the speaker speaks to.
    """
    subject = frozenset(t.key for t in about)
    names = turn.names or (speaker_of(uri) if spoken else frozenset())
    if names:
        own = frozenset(
            n for n in (subject | ({first} if first else set())) if n and alias(n, names)
        )
        own |= names | SPEAKERS
    elif spoken and is_own(words):
        own = subject | SPEAKERS
        if first is not None and (not subject or subject <= SPEAKERS):
            own |= frozenset() if is_addressed(first, turn.text) else {first}
    else:
        return frozenset(), False
    if subject and not names and subject.isdisjoint(own):
        return own, False
    if subject and names and not own & subject and not subject & SPEAKERS:
        # The subject is another than who speaks: it has to be named.
        own -= subject
    wrong = first is not None and first not in own and is_addressed(first, turn.text)
    return own, wrong
