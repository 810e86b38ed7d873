"""Consolidation: what becomes of the memories of one layer in the next.

A consolidator decides, and only that: `run.consolidate` carries its decisions out as an agent's own
writes and retractions. So a consolidator that errs, or is talked into something by what it reads,
can do no more than the agent may, and to no memory that it was not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args, runtime_checkable
from uuid import UUID

__all__ = ["ACTIONS", "Action", "Candidate", "Consolidator", "Decision", "Near", "NoDecision"]

Action = Literal["ADD", "UPDATE", "DELETE", "NOOP"]
"""ADD: remember it too. UPDATE: it is what a memory says from now on. DELETE: a memory is wrong.
NOOP: it adds nothing."""
ACTIONS: tuple[Action, ...] = get_args(Action)


@dataclass(frozen=True, slots=True)
class Near:
    """A memory of the layer that is written to, near a candidate. `similarity`: of embeddings."""

    item_id: UUID
    version_id: UUID
    subject: str | None
    predicate: str | None
    content: Any
    text: str
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory to decide about, with what is near it. `text` says in words what `content` says."""

    item_id: UUID
    version_id: UUID
    subject: str | None
    predicate: str | None
    content: Any
    text: str
    near: tuple[Near, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a candidate.

    `target`: the item_id of one of its `near`, of UPDATE and DELETE. `content`: what ADD or UPDATE
    is to say instead of what the candidate says. `reason`: why a memory is deleted, told to whoever
    looks at its history.
    """

    action: Action
    target: UUID | None = None
    content: Any = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class NoDecision:
    """The consolidator cannot tell: the candidate waits for another run. `why` has no content."""

    why: str


@runtime_checkable
class Consolidator(Protocol):
    """A plug-in. `version` changes whenever its decisions may."""

    name: str
    version: str

    def decide(
        self, candidates: Sequence[Candidate], settings: Mapping[str, Any]
    ) -> Sequence[Decision | NoDecision]:
        """Return a decision for each candidate, in order.

        Raises:
            PluginError: there is none for any of them.
        """
        ...
