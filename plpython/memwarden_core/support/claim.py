"""What a content says: the statements that an excerpt must bear out."""

from __future__ import annotations

from ..light import NamedTuple
from .text import Token, sentences

MAX_STATEMENTS = 64
_MAX_CLAIM = 16_384
_SENTENCE = 5
"""A text of so many words says something by itself; a shorter one is a value."""
WAY = frozenset({"from", "to"})


class Statement(NamedTuple):
    """One thing that a claim says.

    ``about`` may stand anywhere in the excerpt, or in the uri of the source; ``says`` must stand
    together. ``words`` are all those that it is said with. ``state`` is what is said of a yes or
    no, None where it is none.
    """

    about: tuple[Token, ...]
    says: tuple[Token, ...]
    words: frozenset[str] = frozenset()
    state: bool | None = None


def _tokens(text: str | None) -> tuple[Token, ...]:
    return tuple(t for s in sentences(text[:_MAX_CLAIM]) for t in s.tokens) if text else ()


def statements(subject: str | None, predicate: str | None, content: object) -> list[Statement]:
    """What a content says, one thing after another; at most MAX_STATEMENTS and one more."""
    reader = _Claim(subject, predicate)
    reader.collect(content, ())
    return reader.found


class _Claim:
    """Takes a content apart into statements about one subject."""

    def __init__(self, subject: str | None, predicate: str | None) -> None:
        self.about = _tokens(subject)
        self.relation = _tokens(predicate)
        self.words = frozenset((predicate or "").lower().split())
        self.found: list[Statement] = []

    def collect(self, value: object, labels: tuple[Token, ...]) -> None:
        if len(self.found) > MAX_STATEMENTS or value is None:
            return
        if isinstance(value, dict):
            way = [
                value[name]
                for name in ("from", "to")
                if isinstance(value.get(name), (str, int, float))
            ]
            if len(way) == 2:
                ends = tuple(t for end in way for t in _tokens(str(end)))
                self.say(self.relation + ends, self.words | WAY)
            for name, child in value.items():
                self.collect(child, labels + _tokens(name))
        elif isinstance(value, list):
            for child in value:
                self.collect(child, labels)
        elif isinstance(value, bool):
            self.say(self.relation + labels, self.words, value)
        elif isinstance(value, str):
            read = sentences(value[:_MAX_CLAIM])
            for sentence in read:
                if len(read) > 1 or len(sentence.words) >= _SENTENCE:
                    self.say(sentence.tokens, sentence.words)
                else:
                    # The name it stands under tells its kind, and is seldom in the source.
                    self.say(self.relation + sentence.tokens, self.words | sentence.words)
        elif isinstance(value, (int, float)):
            # A bare number says nothing without its name.
            self.say(self.relation + labels + _tokens(f"{value!r}"), self.words)

    def say(
        self, tokens: tuple[Token, ...], words: frozenset[str], state: bool | None = None
    ) -> None:
        self.found.append(Statement(self.about, tokens, words, state))
