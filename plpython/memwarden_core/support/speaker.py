"""Who says what an excerpt quotes."""

from __future__ import annotations

from collections.abc import Sequence

from ..language.words import word_set
from ..late import late
from ..light import NamedTuple
from .around import DOUBT

_NAME = r"@?[^\W\d_][\w.'\u2019-]{0,30}(?:[ \t][^\W\d_][\w.'\u2019-]{0,30}){0,2}"
_STAMP = r"(?:\[[^\]\n]{0,60}\]|\d[\d:./, -]{2,24}(?:[ap]m)?)[ \t]{0,4}(?:- )?"
_PREFIX = late(
    rf"(?m)^[ \t#*]{{0,8}}(?:{_STAMP})?(?:<({_NAME})>|({_NAME})"
    r"(?:[ \t][(\[][^)\]\n]{0,40}[)\]])?\*{0,2}:\*{0,2})(?:[ \t]|\n)"
)
_WORD = late(r"[^\W_]+")
_URI = late(r"^(?:[a-z+.-]{0,20})[:/]+(?:[^/]{0,60}/){0,4}?([^\W\d_]+(?:[-.][^\W\d_]+)*)/\d")
_TALK = ("chat", "dm", "call", "sms", "mail", "email", "message", "talk", "voice", "conversation")
PARTICLES = word_set("de da del della di du la le van von der den ter ten bin ibn al el y")
PEOPLE = word_set("user customer client speaker person human caller member")
"""Who speaks to an agent, by another word than a name."""
ROLES = PEOPLE | word_set("assistant agent ai bot system model tool")
_PLACES = word_set(
    """
    chat conversation conv session thread room channel log message msg turn user users item doc
    page call calls note notes meeting transcript dialog dialogue email mail sms slack teams
    """
)
"""What stands in a uri, and is nobody's name."""


class Turn(NamedTuple):
    """What somebody says: the words of the name, none where it is not told, and the text."""

    names: tuple[str, ...]
    text: str


def words_of_name(text: str) -> tuple[str, ...]:
    """The words of a name."""
    return tuple(_WORD.findall(text.casefold()))


def turns(excerpt: str, recorded: str | None = None) -> Sequence[Turn]:
    """An excerpt by who speaks; one turn of nobody where it does not say.

    Who is ``recorded`` speaks all of it.
    """
    heads = [m for m in _PREFIX.finditer(excerpt) if _is_name(m[1] or m[2])]
    if recorded is not None:
        own = words_of_name(recorded)
        head = heads[0] if heads and not excerpt[: heads[0].start()].strip() else None
        if head and is_one(words_of_name(head[1] or head[2]), own):
            excerpt = excerpt[head.end() :]
        return (Turn(own, excerpt),)
    if not heads:
        return (Turn((), excerpt),)
    ends = [m.start() for m in heads[1:]] + [len(excerpt)]
    first = excerpt[: heads[0].start()]
    found = [
        Turn(words_of_name(m[1] or m[2]), excerpt[m.end() : end])
        for m, end in zip(heads, ends, strict=True)
    ]
    return [Turn((), first), *found] if first.strip() else found


def _is_name(label: str) -> bool:
    words = label.split()
    lower = [word.casefold() for word in words]
    if len(words) == 1 and (lower[0].lstrip("@") in ROLES):
        return True
    if any(word in DOUBT for word in words_of_name(label)):
        return False
    return all(
        word[0].isupper() or word[0] == "@" or (place and word in PARTICLES)
        for place, word in enumerate(words)
    )


def speaker_of(uri: str) -> tuple[str, ...]:
    """Who speaks by the uri of a conversation, as in chat:ana/17."""
    if not uri.startswith(_TALK):
        return ()
    found = _URI.match(uri)
    names = words_of_name(found[1]) if found else ()
    return () if any(name in _PLACES for name in names) else names


def is_one(name: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two names are of one: the same, or one has only words of the other."""
    return bool(name and other) and (set(name) <= set(other) or set(other) <= set(name))
