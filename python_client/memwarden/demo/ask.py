"""Asks the questions of a conversation and checks whether their evidence was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.citing import captured
from memwarden.demo.conversation import Conversation, Question
from memwarden.demo.writes import scope_of
from memwarden.results import RecalledItem

K = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """What recall gave for a question.

    `found` is the share (0 to 1) of the evidence turns among the first `K` turns recalled;
    `found_with_facts` the same when turns and noted facts compete for the `K` places and a fact
    stands for the turns it cites. `rank` is the place of the first of those, from 1.
    """

    question: Question
    items: Sequence[RecalledItem]
    found: float
    found_with_facts: float
    rank: int | None


def ask(memory: Client, conversation: Conversation, heard: Mapping[str, UUID]) -> list[Answer]:
    """Ask every question that names its evidence, in the conversation's own scope.

    `heard` has the captures of its turns.
    """
    scopes = [scope_of(conversation)]
    answers = []
    for question in conversation.questions:
        if not question.dia_ids:
            continue
        wanted = {
            captured(heard[each])["uri"] if each in heard else each for each in question.dia_ids
        }
        turns = memory.recall(question.text, k=K, scopes=scopes, layers=["episodic"])
        items = memory.recall(question.text, k=K, scopes=scopes, layers=["episodic", "semantic"])
        answers.append(
            Answer(
                question=question,
                items=items,
                found=_share(wanted, turns),
                found_with_facts=_share(wanted, items),
                rank=next(
                    (rank for rank, item in enumerate(items, start=1) if wanted & cited(item)),
                    None,
                ),
            )
        )
    return answers


def cited(item: RecalledItem) -> set[str]:
    """Return the URIs that an item gives as its evidence."""
    return {each["uri"] for each in item.provenance.get("evidence") or () if "uri" in each}


def _share(wanted: set[str], items: Iterable[RecalledItem]) -> float:
    found = set().union(*(cited(item) for item in items))
    return len(wanted & found) / len(wanted)
