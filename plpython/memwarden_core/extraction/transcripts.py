"""A text by who speaks in it: a transcript names the speaker before the words, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..bookkeeping import HEADINGS
from ..language.words import FIRST_PERSON
from ..late import late
from ..light import NamedTuple
from ..normalise import INVISIBLE
from ..support.around import DOUBT
from ..support.speaker import PARTICLES, PEOPLE
from ..written import with_id, without_id
from .layout import plain_text, without_signs
from .sentences import is_opening
from .speakers import MACHINES, USER, is_label
from .words import ATTRIBUTES

_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,6})?(?:[ \u202f]?[APap]\.?[Mm]\.?)?"
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_STAMP = (
    rf"(?:[\[(](?=[^\])\n]{{0,40}}?(?:{_CLOCK}|{_DATE}))[^\])\n]{{1,60}}[\])]"
    rf"|(?:{_DATE},?[ T])?{_CLOCK})(?:[ \t]*(?:[-\u2013](?!-)|-->.*))?[ \t]*"
)
_LINE = late(
    rf"(?P<stamp>{_STAMP})?(?:<(?P<voice>v(?:\.\S+)? )?(?P<angle>[^<>/\n]{{1,60}})>"
    r"|(?P<name>[^\s:\uff1a<>][^:\uff1a<>\n]{0,59}?)[ \t]*(?:[(\[](?P<more>[^)\]\n]{0,40})[)\]])?"
    rf"\**(?:\uff1a|:(?=\s|\*|$)|(?<=\S)[ \t]+(?P<clock>[\[(]?{_CLOCK}[\])]?)$))\**(?P<words>.*)"
)
_STAMPED = late(rf"{_STAMP}(?P<words>.*)")
_BEFORE = " \t\u200e\u200f\u202a*#-\u2022"
_NUMBER = late(r"(?=\S*\d)[\w@.#-]+")
_QUOTE = late(r"[ \t]*(?:>|&gt;)")
_ORIGINAL = late(r"[ \t]*-{2,}[^-\n]{2,60}-{2,}[ \t]*$|.*<[^<>\s]+@[^<>\s]+>.{0,60}[:\uff1a]\s*$")
"""What stands before a message that another one repeats: a line of dashes, or who wrote it."""
_MOST_WORDS = 6
_TALKERS = 2
_HEADER = 3
"""So many lines of names in a row are a form, or the head of a mail, and no transcript."""


class Spoken(NamedTuple):
    """Words of a text. ``by`` is who says them, None where that is not known."""

    by: str | None
    text: str
    labelled: bool = False
    """Whether nobody knows only because of what stands before them: a name or a label."""


class _Line(NamedTuple):
    """A line: the name before its words, "" where a time stands alone, None where there is none."""

    name: str | None
    words: str
    sure: bool
    """Whether no prose begins so: with a time, or as a voice of subtitles."""


def spoken(text: str, speaker: str | None) -> Iterator[Spoken]:
    """A text of somebody by who speaks in it; what it quotes of a message before is left out.

    Where it is a transcript the names of its lines are the speakers. Of one that a person who is
    known has pasted, only that person's own lines are theirs.
    """
    lines = [_read(line) for line in _own(text)]
    is_transcript = _is_transcript(lines, speaker)
    everywhere = all(line.name is not None or not line.words.strip() for line in lines)
    by, words, labels = speaker, list[str](), 0
    for line in lines:
        if line.name is None or not (line.name or is_transcript):
            labels = 0
            words.append(line.words)
            continue
        yield Spoken(by, "".join(words))
        words = []
        labels += 1
        if is_transcript:
            by, words = _who(line, speaker, everywhere=everywhere), [line.words]
            continue
        yield Spoken(None, line.words, labelled=True)
        if labels >= _HEADER:
            by = None
    yield Spoken(by, "".join(words), labelled=by != speaker and not is_transcript)


def _is_transcript(lines: list[_Line], speaker: str | None) -> bool:
    """Whether lines have times, or names that take turns.

    Where somebody says it all, words before a colon may be headings: names come back, or the
    speaker's is among them.
    """
    timed = [line for line in lines if line.sure]
    if any(line.name for line in timed) or len(timed) >= _TALKERS:
        return True
    named = [line.name for line in lines if line.name]
    names = set(named)
    if len(names) < _TALKERS or any(map(_is_field, names)):
        return False
    turns = sum(name != before for name, before in pairwise(named)) + 1
    return (
        speaker is None or turns > len(names) or any(_is_speakers(name, speaker) for name in names)
    )


def _own(text: str) -> Iterator[str]:
    """The lines that are no quotation of another message, each with its end."""
    lines = text.replace("</v>", "").splitlines(keepends=True)
    quoted = [_QUOTE.match(line) for line in lines]
    # A message of nothing but quotations answers no other: it is laid out so.
    is_layout = all(found or not line.strip() for found, line in zip(quoted, lines, strict=True))
    for found, line in zip(quoted, lines, strict=True):
        if _ORIGINAL.match(line):
            return
        if found is None or is_layout:
            yield line if found is None else line[found.end() :]


def _read(line: str) -> _Line:
    body = "".join(line.splitlines())
    end = line[len(body) :]
    bare = body.lstrip(_BEFORE)
    while hidden := INVISIBLE.match(bare):
        bare = bare[hidden.end() :].lstrip(_BEFORE)
    found = _LINE.match(bare)
    if found is not None:
        name = plain_text(found["angle"] or found["name"]).strip(" *")
        sure = bool(found["stamp"] or found["voice"] or found["clock"])
        if _NUMBER.fullmatch(found["more"] or ""):
            name = with_id(name, found["more"])
        if sure or _may_be_name(name):
            return _Line(name, found["words"] + end, sure)
    found = _STAMPED.match(bare)
    return _Line("", found["words"] + end, sure=True) if found else _Line(None, line, sure=False)


def _may_be_name(name: str) -> bool:
    """Whether words before a colon may name who speaks, and begin no sentence."""
    parts = name.split()
    if not 0 < len(parts) <= _MOST_WORDS or not FIRST_PERSON.isdisjoint(name.lower().split()):
        return False
    if len(parts) > 1 and any(p[0].islower() and p not in PARTICLES for p in parts):
        return False
    return not is_opening(without_signs(plain_text(name)))


def _is_field(name: str) -> bool:
    """Whether a name is one of a form or a note: "City", "Note", "Body"."""
    words = name.casefold().split()
    return any(word in DOUBT for word in words) or words[-1] in HEADINGS | ATTRIBUTES


def _is_speakers(name: str, speaker: str) -> bool:
    """Whether a name before a line is that of who says all of it."""
    if speaker == USER:
        return name.casefold() in PEOPLE
    return name.casefold() in (speaker.casefold(), without_id(speaker).casefold())


def _who(line: _Line, speaker: str | None, *, everywhere: bool) -> str | None:
    """Who says a line of a transcript, None where its name tells nobody from others."""
    name = " ".join((line.name or "").split())
    if name.casefold() in PEOPLE:
        name = USER
    elif name.casefold() in MACHINES or is_label(name) or not name[:1].strip("@").isalpha():
        return None
    if speaker is not None and speaker != USER:
        return speaker if _is_speakers(name, speaker) else None
    return name if line.sure or everywhere or not name[0].islower() else None
