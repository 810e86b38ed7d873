"""The notes of the demo's conversation, for every way in, and the turns that they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memwarden.citing import captured_as
from memwarden.demo.conversation import Observation, load

if TYPE_CHECKING:
    from memwarden import Client
    from shipped import Shipped

[CONVERSATION] = load(None)
NOTES: tuple[Observation, ...] = CONVERSATION.observations
"""Each has `speaker`, `text`, `predicate` (None but for five) and `dia_ids`, the turns."""


def hear(application: Client, scope: str) -> None:
    """Have the application record every turn: then evidence() of a note stands."""
    application.capture_many(
        {
            "source": "chat",
            "content": {"role": "user", "speaker": turn.speaker, "text": turn.text},
            "external_id": turn.dia_id,
            "scope": scope,
        }
        for turn in CONVERSATION.turns
    )


def evidence(note: Observation, shipped: Shipped) -> list[dict[str, str]]:
    """Return what cites the turns of a note, as `write` takes it."""
    recorder = shipped.application.info.user
    return [captured_as(recorder, "chat", each) for each in note.dia_ids]


def counts(outcomes: Iterable[tuple[str, str | None]]) -> dict[str, int]:
    """Count outcomes with their reasons: `COMMITTED`, `REJECTED STRUCTURAL_DUPLICATE`."""
    return dict(Counter(" ".join(filter(None, each)) for each in outcomes))
