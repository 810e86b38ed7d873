"""What a content says: the sentences that evidence must bear out, each by itself.

They come of the same reading as the text of a memory, so nothing is told that was not weighed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..bookkeeping import looks_kept
from ..language.words import word_set
from ..late import late
from ..light import NamedTuple
from ..reading import Part, read
from ..text import content_text, is_lone, is_named, paths, sentence, tidy
from .speaker import turns
from .text import Sentence, sentences

MAX_STATEMENTS = 64
_MAX_CLAIM = 16_384
_SENTENCE = 5
"""A text of so many words says something by itself; a shorter one is a value."""
_BARE = word_set("statement fact note message text memory says said")
"""Predicates that tell nothing."""
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
    """One thing that a claim says, in each of the ways in which it can be said.

    ``whom`` are names that the words do not have: of whom it is, or who says it.
    """

    forms: tuple[Sentence, ...]
    whom: tuple[tuple[str, ...], ...] = ()


def claimed(subject: str | None, predicate: str | None, content: object) -> Claim:
    """What a content says, text by text; at most MAX_STATEMENTS of them are read."""
    parts = read(content)
    # From and to are one thing: "changed from INFO to DEBUG".
    ends = {(*part.names, end) for part in parts if part.way for end in ("from", "to")}
    parts = tuple(part._replace(way=False) for part in parts if part.names not in ends)
    lone = is_lone(parts)
    texts: list[Text] = []
    for part in parts[: MAX_STATEMENTS + 1]:
        texts += _texts(subject, predicate, part, lone=lone)
    if predicate and predicate.casefold() not in _BARE and texts and all(t.whole for t in texts):
        relation = predicate.replace("_", " ")
        if not any(is_named(t.words, relation) for t in texts):
            # The key claims what no sentence says.
            texts.append(Text(relation, f"{subject or ''} {relation}".strip(), whole=False))
    unread = len(texts) > MAX_STATEMENTS or any(len(t.words) > _MAX_CLAIM for t in texts)
    return Claim(tuple(texts[:MAX_STATEMENTS]), unread)


def of_kind(content: object, template: str, subject: str | None, predicate: str | None) -> object:
    """The content of a kind with a text of its own, as evidence must bear it out.

    That is the text. What the template leaves out is declared to be bookkeeping, and is claimed all
    the same unless it looks like it: an id, a number, a time.
    """
    text = content_text(content, template, subject, predicate)
    left = _left_out(content, paths(template))
    return {"text": text, "value": left} if left else text


def _left_out(value: object, told: Sequence[tuple[str, ...]]) -> object:
    if () in told or looks_kept(value):
        return None
    if not isinstance(value, (dict, list)):
        return value
    named = value.items() if isinstance(value, dict) else ((str(i), v) for i, v in enumerate(value))
    left = {}
    for name, child in named:
        rest = _left_out(child, [path[1:] for path in told if path[0] == name])
        if rest not in (None, {}, []):
            left[name] = rest
    return left if isinstance(value, dict) else list(left.values())


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
            # A name that the memory tells is claimed with the words.
            named = part.label and not (predicate and lone)
            whole = told == tidy(words) or (len(words.split()) >= _SENTENCE and not named)
            found.append(Text(words, told, whole, speaker))
    return found


def keys_of(text: str | None) -> tuple[str, ...]:
    """What the words of a text are compared by."""
    return tuple(key for s in sentences(text) for key in s.keys) if text else ()


def holds(keys: tuple[str, ...], part: tuple[str, ...]) -> bool:
    """Whether words stand together in others, also as an owner's."""
    size = len(part)
    for at, key in enumerate(keys if part else ()):
        if key.startswith(part[0]):
            found = [k.removesuffix("'s") for k in keys[at : at + size]]
            if tuple(found) == part or keys[at : at + size] == part:
                return True
    return False


def statements(subject: str | None, predicate: str | None, claim: Claim) -> list[Statement]:
    """What a claim says, one thing after another."""
    about = keys_of(subject)
    found: list[Statement] = []
    for text in claim.texts:
        names = [name for name in (about, keys_of(text.speaker)) if name]
        if text.whole:
            for turn in turns(text.words):
                # It may name its speaker itself.
                of = [*names[: len(about) > 0], turn.names] if turn.names else names
                for said in sentences(turn.text):
                    keys = tuple(said.keys)
                    whom = tuple(name for name in of if not holds(keys, name))
                    found.append(Statement((said,), whom))
            continue
        if not predicate and subject and text.told == f"{subject} {text.words}":
            # Said by whom it is of, perhaps.
            for said in sentences(text.words):
                found.append(Statement((said, *_forms([text.told])), tuple(names)))
            continue
        whom = tuple(names[len(about) > 0 :])
        found.append(Statement(_forms(_ways(subject, predicate, text)), whom))
    return found


def _ways(subject: str | None, predicate: str | None, text: Text) -> list[str]:
    """How a value of something may be told."""
    told = text.told.rstrip(".")
    who = subject or ""
    rest = told.removeprefix(f"{who} ") if who else told
    relation = (predicate or "").replace("_", " ")
    value = rest.removeprefix(f"{predicate} ").removeprefix(f"{relation} ") if relation else rest
    if not relation:
        relation, _, value = rest.rpartition(" ")
        words = " ".join(text.words.split()).rstrip(".")
        if rest.endswith(f" {words}"):
            relation, value = rest[: -len(words) - 1], words
        relation = relation.replace("_", " ")
    if not value or not relation:
        return [told]
    ways = [told, f"{who} {relation} {value}", f"{who} is {relation} {value}"]
    if who:
        ways += [f"{who}'s {relation} is {value}", f"The {relation} of {who} is {value}"]
    else:
        ways += [f"The {relation} is {value}", f"{relation} is {value}"]
    verb, _, behind = relation.partition(" ")
    if predicate and verb.isalpha() and not verb.endswith("s"):
        ways.append(f"{who} {verb}s {behind} {value}")
    return ways


def _forms(ways: list[str]) -> tuple[Sentence, ...]:
    read_in = [tuple(w for s in sentences(way) for w in s.words) for way in ways]
    return tuple(Sentence(words, ".") for words in dict.fromkeys(read_in) if words)
