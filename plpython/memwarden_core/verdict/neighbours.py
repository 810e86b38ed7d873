"""What a new memory is to the memories that a search has found near it."""

from __future__ import annotations

from ..light import Any
from .changes import is_beside, is_newer, read_statements, seeks
from .judge import JUDGE, VERSION, Memory, Prepared, Verdict, judge, prepare
from .lexicon import Ask, Questions
from .renewal import Change, read_change, renews
from .statement import Statement

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
    keyed = bool(new[0] and new[1])
    stated = [] if keyed else read_statements(new[3], new[2], new[0])
    changes = [] if keyed else [each for each in map(read_change, read.sentences) if each]
    if not (stated and seeks(stated, new[3])):
        neighbours = [
            near for near in neighbours if near["similarity"] is not None or near["same_key"]
        ]
    # Anything else takes the place of nothing: see is_newer().
    stated = [each for each in stated if each.changed or each.single]
    olds = [_prepared(near) for near in neighbours]
    verdicts: list[Verdict] = []
    questions = Questions()
    in_question = []
    for place, (near, old) in enumerate(zip(neighbours, olds, strict=True)):
        asked = questions.count
        verdicts.append(judge(read, old, near["similarity"], questions))
        if questions.count > asked:
            in_question.append(place)
    relations = questions.answered(ask) if in_question and ask else {}
    for place in in_question if relations else ():
        near = neighbours[place]
        verdicts[place] = judge(read, olds[place], near["similarity"], relations)
    told = []
    for near, old, found in zip(neighbours, olds, verdicts, strict=True):
        against = found.relation in _AGAINST and _is_guess(found)
        # Who says "I" is the speaker, where the content names one, else the writer.
        one_speaker = read.speaker == old.speaker and bool(read.speaker or near["mine"])
        if against and not one_speaker and read.of_oneself and old.of_oneself:
            found = Verdict("unrelated", 1.0, "entity", {})
        elif against and found.method in _VALUES and is_beside(new[3], near["text"]):
            found = Verdict("unrelated", 1.0, "several", {})
        found = _changed(changes, stated, near, old, found, one_speaker=one_speaker)
        told.append(_told(near, found))
    return told


_AGAINST = frozenset({"contradicts", "updates"})
_VALUES = frozenset({"attribute", "date", "number", "group", "rival"})


def _is_guess(found: Verdict) -> bool:
    return not found.why.get("decisive", False)


_NEWER = 0.9
"""How sure it is that one attribute of one thing is told: enough to mark, not to replace."""


def _changed(
    changes: list[Change],
    new: list[Statement],
    near: dict[str, Any],
    old: Prepared,
    found: Verdict,
    *,
    one_speaker: bool,
) -> Verdict:
    """The verdict, or that the new memory tells another value of what the old one tells."""
    if (
        not (changes or new)
        or found.relation not in ("unrelated", "contradicts", "updates")
        or found.method == "time"
        or not _is_guess(found)
        or (near["subject"] and near["predicate"])
    ):
        return found
    newer = any(
        renews(change, told, one_speaker=one_speaker)
        for change in changes
        for told in old.sentences
    )
    if not newer and new and _may_share(new, near):
        stated = read_statements(near["text"], near["content"], near["subject"])
        newer = is_newer(new, stated, one_writer=near["mine"])
    return Verdict("updates", _NEWER, "attribute", {}) if newer else found


def _may_share(new: list[Statement], near: dict[str, Any]) -> bool:
    """Whether the words of an old memory may name a thing that the new one tells of."""
    if isinstance(near["content"], dict):
        return True
    text = near["text"].lower()
    return any(each.subject.rsplit(" ", 1)[-1][:4] in text for each in new)


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
