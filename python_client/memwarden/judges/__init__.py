"""Judges: what a new memory is to one that is already there.

Every judge answers in the same words, whatever it is made of: rules, an inference model from local
files (`memwarden.judges.nli`), a language model behind an endpoint (`memwarden.judges.llm`), or
several of them that have to agree (`memwarden.judges.consensus`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args, runtime_checkable

__all__ = ["RELATIONS", "Judge", "Memory", "NoVerdict", "Relation", "Verdict", "judge_all"]

Relation = Literal["same", "narrower", "wider", "contradicts", "updates", "unrelated"]
"""What the new memory is to the old one.

same: each follows from the other. narrower: the new one says more, the old one follows from it.
wider: the new one says less, it follows from the old one. contradicts: both cannot be true.
updates: the new one says what has become of the same thing since. unrelated: neither bears on the
other.
"""
RELATIONS: tuple[Relation, ...] = get_args(Relation)


@dataclass(frozen=True, slots=True)
class Memory:
    """What is judged. `text` says in words what `content` (any JSON value) says."""

    subject: str | None
    predicate: str | None
    content: Any
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge finds.

    `score`, from 0 to 1, is how sure it is of the relation. `method` says how it was found, `why`
    on what grounds: numbers and names for programs to read, never a word of the memories.
    """

    relation: Relation
    score: float
    method: str
    why: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise NoVerdict("the relation is none that there is")
        if not (math.isfinite(self.score) and 0 <= self.score <= 1):
            raise NoVerdict("the score is no number from 0 to 1")


class NoVerdict(Exception):
    """The judge cannot tell. The message is kept and shown, so it never repeats content.

    `permanent`: asking again would not help. `retry_after`: seconds after which it might. `why` is
    what was found all the same, as in a verdict.
    """

    def __init__(
        self,
        message: str,
        *,
        permanent: bool = False,
        retry_after: float | None = None,
        why: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.retry_after = retry_after
        self.why = why or {}


@runtime_checkable
class Judge(Protocol):
    """Compares two memories. `version` changes whenever its verdicts may."""

    name: str
    version: str

    def judge(self, new: Memory, old: Memory) -> Verdict:
        """Return what `new` is to `old`.

        Raises:
            NoVerdict: the judge cannot tell.
        """
        ...


@runtime_checkable
class _BatchJudge(Protocol):
    def judge_many(self, new: Memory, olds: Sequence[Memory]) -> list[Verdict | NoVerdict]: ...


def judge_all(judge: Judge, new: Memory, olds: Sequence[Memory]) -> list[Verdict | NoVerdict]:
    """Compare with several memories, in order: at once where the judge has `judge_many`."""
    if isinstance(judge, _BatchJudge):
        return judge.judge_many(new, olds)
    found: list[Verdict | NoVerdict] = []
    for old in olds:
        try:
            found.append(judge.judge(new, old))
        except NoVerdict as error:
            found.append(error)
    return found
