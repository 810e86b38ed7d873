"""Decides by the rules about language that judge writes in the server. It deletes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memwarden.consolidation import Candidate, Decision, Near
from memwarden.worker.plugins.settings import number
from memwarden_core.verdict import judge as verdict

# The strongest first: what is there already needs nothing.
_NOTHING_NEW = ("same", "wider")
_NEWS = ("updates", "narrower")


class Rules:
    """NOOP for what is known, UPDATE for what says more or what has become of it, ADD for the rest.

    What contradicts a memory is added: the layer's conflict policy decides what becomes of both.
    Setting: `threshold`, how sure the rules must be that something is an update (0.85).
    """

    name = "rules"
    version = verdict.VERSION

    def decide(
        self, candidates: Sequence[Candidate], settings: Mapping[str, Any]
    ) -> list[Decision]:
        """Return a decision for each candidate; the same candidates have the same decisions."""
        threshold = number(settings, "threshold", 0.85, least=0, most=1)
        return [_decision(each, threshold) for each in candidates]


def _decision(candidate: Candidate, threshold: float) -> Decision:
    new = verdict.prepare(_memory(candidate))
    found = [(near, verdict.judge(new, _memory(near), near.similarity)) for near in candidate.near]
    if any(each.relation in _NOTHING_NEW for _, each in found):
        return Decision("NOOP")
    for relation in _NEWS:
        sure = [
            (each.score, near)
            for near, each in found
            if each.relation == relation and each.score >= threshold and _takes(near, candidate)
        ]
        if sure:
            return Decision("UPDATE", max(sure, key=lambda each: each[0])[1].item_id)
    return Decision("ADD")


def _takes(near: Near, candidate: Candidate) -> bool:
    """Whether the candidate can be a version of it: a fact keeps its subject and predicate."""
    if candidate.subject is None and candidate.predicate is None:
        return True
    return (near.subject, near.predicate) == (candidate.subject, candidate.predicate)


def _memory(said: Candidate | Near) -> verdict.Memory:
    return verdict.Memory(said.subject, said.predicate, said.content, said.text)
