"""What a new memory is to the memories that a search has found near it."""

from __future__ import annotations

from typing import Any

from .judge import JUDGE, VERSION, Memory, judge, prepare

_TOLD = ("item_id", "version_id", "similarity", "confidence", "mine", "same_key", "exclusive")


def judge_neighbours(
    new: tuple[str | None, str | None, Any, str, float | None, float | None],
    neighbours: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Judge each neighbour: what it was, without its words, and the verdict."""
    read = prepare(Memory(*new))
    told = []
    for near in neighbours:
        old = Memory(
            near["subject"],
            near["predicate"],
            near["content"],
            near["text"],
            near["valid_from"],
            near["valid_to"],
        )
        found = judge(read, old, near["similarity"])
        told.append(
            {name: near[name] for name in _TOLD}
            | {
                "relation": found.relation,
                "score": found.score,
                "method": found.method,
                "decisive": found.why.get("decisive", False),
                "judge": JUDGE,
                "version": VERSION,
            }
        )
    return told
