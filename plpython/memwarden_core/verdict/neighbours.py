"""What a new memory is to the memories that a search has found near it."""

from __future__ import annotations

from ..light import Any
from .judge import JUDGE, VERSION, Memory, Prepared, Verdict, judge, prepare
from .lexicon import Ask, Questions

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
    return [_told(near, found) for near, found in zip(neighbours, verdicts, strict=True)]


def _prepared(near: dict[str, Any]) -> Prepared:
    return prepare(
        Memory(
            near["subject"],
            near["predicate"],
            near["content"],
            near["text"],
            near["valid_from"],
            near["valid_to"],
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
