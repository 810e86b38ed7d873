"""What a content says: the sentences that evidence must bear out, each by itself.

They come of the same reading as the text of a memory, so nothing is told that was not weighed.
"""

from __future__ import annotations

from ..late import late
from ..light import NamedTuple
from ..reading import Part, read
from ..text import is_lone, is_named, sentence, tidy
from .text import Token, sentences

MAX_STATEMENTS = 64
_MAX_CLAIM = 16_384
_SENTENCE = 5
"""A text of so many words says something by itself; a shorter one is a value."""
WAY = frozenset({"from", "to"})
# How an export of a chat begins a line: [12/05/2023, 14:32] Ana: ..., 00:01:23 Ana: ...
_HEAD = late(
    r"(?m)^[ \t\u200e]{0,8}[\[(]?(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[ T])?\d{1,2}:\d\d"
    r"(?::\d\d)?(?:[.,]\d{1,6})?"
    r"(?:[ \u202f]?[APap]\.?[Mm]\.?)?[\])]?[ \t]{1,3}(?:[-\u2013][ \t])?"
    r"([^\W\d_][^:\n\[\]]{0,59}):[ \t]"
)


class Text(NamedTuple):
    """One text or value of a content.

    ``words`` are as the content has them, perhaps several sentences; ``told`` is how the memory
    tells them, "Ana prefers green tea". ``whole``: the words say it by themselves; otherwise they
    are the value of what ``told`` says. ``speaker`` is whom the content says the words are by, ""
    where it does not: evidence whose words are known to be another's does not bear them out.
    """

    words: str
    told: str
    whole: bool
    speaker: str = ""


class Claim(NamedTuple):
    """All that a content says. ``unread``: some of it was not read, so it is not borne out."""

    texts: tuple[Text, ...]
    unread: bool = False


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


def claimed(subject: str | None, predicate: str | None, content: object) -> Claim:
    """What a content says, text by text; at most MAX_STATEMENTS of them are read."""
    parts = [part for part in read(content) if not part.way]
    lone = is_lone(parts)
    texts: list[Text] = []
    for part in parts[: MAX_STATEMENTS + 1]:
        texts += _texts(subject, predicate, part, lone=lone)
    if predicate and texts and all(t.whole for t in texts):
        relation = predicate.replace("_", " ")
        if not any(is_named(t.words, relation) for t in texts):
            # The key claims what no sentence says.
            texts.append(Text(relation, f"{subject or ''} {relation}".strip(), whole=False))
    unread = len(texts) > MAX_STATEMENTS or any(len(t.words) > _MAX_CLAIM for t in texts)
    return Claim(tuple(texts[:MAX_STATEMENTS]), unread)


def _texts(
    subject: str | None, predicate: str | None, part: Part, *, lone: bool = False
) -> list[Text]:
    if not isinstance(part.value, str):
        told = tidy(sentence(subject, predicate, [part], lone=lone))
        return [Text(told, told, whole=False, speaker=part.speaker)]
    heads = list(_HEAD.finditer(part.value))
    found = []
    ends = [head.start() for head in heads] + [len(part.value)]
    for start, end, speaker in zip(
        [0, *(head.end() for head in heads)],
        ends,
        [part.speaker, *(head[1].strip() for head in heads)],
        strict=True,
    ):
        words = part.value[start:end].strip()
        if words:
            bare = part._replace(value=words, speaker="")
            told = tidy(sentence(subject, predicate, [bare], lone=lone))
            whole = told == " ".join(words.split()) or len(words.split()) >= _SENTENCE
            found.append(Text(words, told, whole, speaker))
    return found


def _tokens(text: str | None) -> tuple[Token, ...]:
    return tuple(t for s in sentences(text[:_MAX_CLAIM]) for t in s.tokens) if text else ()


def statements(subject: str | None, predicate: str | None, content: object) -> list[Statement]:
    """What a content says, one thing after another; at most MAX_STATEMENTS and one more."""
    about = _tokens(subject)
    relation = _tokens(predicate)
    words = frozenset((predicate or "").lower().split())
    found: list[Statement] = []
    for part in read(content)[: MAX_STATEMENTS + 1]:
        if part.way:
            found.append(Statement(about, relation + _tokens(str(part.value)), words | WAY))
        elif isinstance(part.value, bool):
            labels = tuple(t for name in part.names for t in _tokens(name))
            found.append(Statement(about, relation + labels, words, part.value))
        elif isinstance(part.value, str):
            heads = [text.words for text in _texts(subject, predicate, part)]
            read_in = [s for text in heads for s in sentences(text[:_MAX_CLAIM])]
            for each in read_in:
                if len(read_in) > 1 or len(each.words) >= _SENTENCE:
                    found.append(Statement(about, each.tokens, each.words))
                else:
                    # The name it stands under tells its kind, and is seldom in the source.
                    found.append(Statement(about, relation + each.tokens, words | each.words))
        else:
            # A bare number says nothing without its name, and a name alone that there is none.
            labels = tuple(t for name in part.names for t in _tokens(name))
            told = () if part.value is None else _tokens(f"{part.value!r}")
            found.append(Statement(about, relation + labels + told, words))
    return found
