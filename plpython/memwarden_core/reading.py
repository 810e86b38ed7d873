"""What a content says: its values, one after another, without the bookkeeping beside a sentence.

The text of a memory is made of this, and so is what its evidence must bear out.
"""

from __future__ import annotations

from .bookkeeping import BARE, bookkeeping, is_bare, is_message, speaker_of
from .light import NamedTuple

_FEW = 8

Scalar = str | int | float | bool | None


class Part(NamedTuple):
    """One value of a content.

    ``label`` is the name that is told before it, "" where it needs none. ``names`` are those that
    lead to it. ``sentence``: it is a text by itself, or stands where the sentence stands.
    ``speaker`` is whom the content says it is by. ``way``: from and to, said again as one thing.
    """

    value: Scalar
    label: str = ""
    names: tuple[str, ...] = ()
    sentence: bool = False
    speaker: str = ""
    way: bool = False


def read(value: object) -> tuple[Part, ...]:
    """The values of a content, sentences before what stands beside them."""
    if isinstance(value, str):
        return (Part(value, sentence=True),)
    if isinstance(value, dict) and len(value) == 1:
        # Most contents.
        ((name, child),) = value.items()
        if isinstance(child, str):
            if name in BARE:
                return (Part(child, sentence=True),)
            return (Part(child, name if says_little(child) else "", (name,)),)
    reader = _Reader()
    reader.collect(value, (), sentence=True)
    return tuple(reader.parts)


def says_little(value: object) -> bool:
    """A few words, a number, true or false: its property name tells about what."""
    if isinstance(value, str):
        return 0 < len(value.split(None, _FEW)) <= _FEW
    return value is not None and not isinstance(value, (dict, list))


def _is_place(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


class _Reader:
    """Walks through a content, value by value."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.labels: list[str] = []
        """Names that are told before the next value."""
        self.speaker = ""
        self.messages = 0
        """How many messages are around this value."""

    def collect(
        self, value: object, names: tuple[str, ...], *, sentence: bool, beside: bool = False
    ) -> None:
        if isinstance(value, dict):
            self._object(value, names, beside=beside)
        elif isinstance(value, list):
            for child in value:
                self.collect(child, names, sentence=sentence, beside=beside)
        elif isinstance(value, (str, int, float)) and not (
            isinstance(value, str) and not value.strip()
        ):
            self._say(value, names, sentence=sentence)

    def _say(
        self, value: Scalar, names: tuple[str, ...], *, sentence: bool = False, way: bool = False
    ) -> None:
        if sentence and self.messages and any(value == p.value and p.sentence for p in self.parts):
            # Slack has it twice, as a text and in blocks.
            return
        label = "" if way else " ".join(self.labels)
        self.parts.append(Part(value, label, names, sentence, self.speaker, way))
        if not way:
            self.labels = []

    def _object(self, value: dict[str, object], names: tuple[str, ...], *, beside: bool) -> None:
        message = is_message(value)
        if not (message or beside):
            ends = [value[n] for n in ("from", "to") if _is_place(value.get(n))]
            if len(ends) == 2:
                self._say(f"from {ends[0]} to {ends[1]}", names, way=True)
        before = self.speaker
        told: dict[str, object] = {}
        if message:
            told, speaker = speaker_of(value)
            self.speaker = speaker or before
            self.messages += 1
        kept = bookkeeping(value, beside=beside, told=told)
        for name in sorted(value):
            child = told.get(name, value[name])
            if name in kept or (name in told and child is None):
                continue
            bare = is_bare(name, value)
            self._field(name, child, names, bare=bare, beside=message or beside)
        self.speaker = before
        self.messages -= message

    def _field(
        self, name: str, child: object, names: tuple[str, ...], *, bare: bool, beside: bool
    ) -> None:
        told = child if isinstance(child, list) else (child,)
        empty = child in ([], {})
        if not bare and (empty or any(map(says_little, told))):
            self.labels.append(name)
            if empty:
                self._say(None, (*names, name))
        self.collect(
            child, names if bare else (*names, name), sentence=bare, beside=beside and not bare
        )
