"""What a new memory is to the memories that a search has found near it."""

from __future__ import annotations

from ..light import Any
from .again import has_another_value
from .attribute import attribute_of
from .judge import JUDGE, VERSION, Memory, Prepared, Verdict, judge, prepare
from .lexicon import Ask, Questions
from .renewal import Change, is_beside, read_change, renews

_TOLD = ("item_id", "version_id", "similarity", "confidence", "mine", "same_key", "exclusive")


def judge_neighbours(
    new: tuple[str | None, str | None, Any, str, float | None, float | None],
    neighbours: list[dict[str, Any]],
    ask: Ask | None = None,
) -> list[dict[str, Any]]:
    """Judge each neighbour: what it was, without its words, and the verdict.

    ``ask`` looks words up in the dictionaries. It is called at most once, and only where the new
    memory and a neighbour differ in a few words that no list knows.
    """
    read = prepare(Memory(*new))
    # What has a key of its own takes the place of nothing else.
    keyed = bool(new[0] and new[1])
    changes = [] if keyed else [each for each in map(read_change, read.sentences) if each]
    near = [n for n in neighbours if n["similarity"] is not None or n["same_key"]]
    if len(near) < len(neighbours):
        attribute = None if keyed else attribute_of(new[3], new[2], new[0])
        if not (attribute.sought if attribute else changes):
            neighbours = near
    olds = [_prepared(near) for near in neighbours]
    verdicts: list[Verdict] = []
    questions = Questions()
    in_question = []
    for place, (each, old) in enumerate(zip(neighbours, olds, strict=True)):
        asked = questions.count
        verdicts.append(judge(read, old, each["similarity"], questions))
        if questions.count > asked:
            in_question.append(place)
    relations = questions.answered(ask) if in_question and ask else {}
    for place in in_question if relations else ():
        verdicts[place] = judge(read, olds[place], neighbours[place]["similarity"], relations)
    told = []
    for each, old, found in zip(neighbours, olds, verdicts, strict=True):
        against = found.relation in _AGAINST and _is_guess(found)
        # Who says "I" is the speaker, where the content names one, else the writer.
        one_speaker = read.speaker == old.speaker and bool(read.speaker or each["mine"])
        if against and not one_speaker and read.of_oneself and old.of_oneself:
            found = Verdict("unrelated", 1.0, "entity", {})
        elif against and found.method in _VALUES and is_beside(new[3], each["text"]):
            found = Verdict("unrelated", 1.0, "several", {})
        found = _changed(changes, read.speaker, each, old, found, one_speaker=one_speaker)
        told.append(_told(each, found))
    return told


_AGAINST = frozenset({"contradicts", "updates"})
_VALUES = frozenset({"attribute", "date", "number", "group", "rival"})


def _is_guess(found: Verdict) -> bool:
    return not found.why.get("decisive", False)


_NEWER = 0.9
"""How sure it is that one attribute of one thing is told: enough to mark, not to replace."""


def _changed(
    changes: list[Change],
    speaker: str,
    near: dict[str, Any],
    old: Prepared,
    found: Verdict,
    *,
    one_speaker: bool,
) -> Verdict:
    """The verdict, or that the new memory tells another value of what the old one tells."""
    if (
        not changes
        or found.relation not in ("unrelated", "contradicts", "updates")
        or found.method in ("time", "another_thing")
        or not _is_guess(found)
        or (near["subject"] and near["predicate"])
    ):
        return found
    speakers = (speaker, old.speaker)
    newer = any(
        renews(change, told, one_speaker=one_speaker)
        or has_another_value(change, told, speakers, one_speaker=one_speaker)
        for change in changes
        for told in old.sentences
    )
    return Verdict("updates", _NEWER, "attribute", {}) if newer else found


def _prepared(near: dict[str, Any]) -> Prepared:
    return prepare(
        Memory(
            near["subject"],
            near["predicate"],
            near["content"],
            near["text"],
            near["valid_from"],
            near["valid_to"],
            near.get("over", False),
        )
    )


def _told(near: dict[str, Any], found: Verdict) -> dict[str, Any]:
    return {name: near[name] for name in _TOLD} | {
        "relation": found.relation,
        "score": found.score,
        "method": found.method,
        "decisive": found.why.get("decisive", False),
        "judge": JUDGE,
        "version": VERSION,
    }
