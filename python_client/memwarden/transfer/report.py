"""What became of an import: counts by what happened, and each record that was not stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from memwarden.results import WriteResult
from memwarden.transfer.records import Unreadable

# The store has it already, whenever it came.
_THE_SAME = ("EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE", "SEMANTIC_DUPLICATE")


@dataclass(slots=True)
class ImportReport:
    """`refused` and `waiting` count by reason; `problems` says which record, and why.

    `apart` has the subjects that are another source's, and under which theirs are kept. `already`
    counts what an earlier run, or somebody else, had stored or had left waiting.
    """

    accepted: int = 0
    merged: int = 0
    already: int = 0
    waiting: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    problems: list[dict[str, str | None]] = field(default_factory=list)
    apart: dict[str, str] = field(default_factory=dict)

    def decided(self, place: str, result: WriteResult) -> bool:
        """Count a decision; return whether it is a problem to tell."""
        reason = result.reason or result.outcome
        match result.outcome:
            case "COMMITTED":
                self.accepted += 1
            case "MERGED":
                self.merged += 1
            case "ALREADY_COMMITTED":
                self.already += 1
            case "REJECTED" if reason in _THE_SAME:
                self.already += 1
                return False
            case "DEFERRED":
                self.waiting[reason] += 1
            case _ if reason == "ALREADY_PENDING":
                self.waiting[reason] += 1
                return False
            case _:
                self.refused[reason] += 1
        if result.stored:
            return False
        self.problems.append(
            {
                "record": place,
                "outcome": result.outcome,
                "reason": result.reason,
                "request_id": str(result.request_id),
            }
        )
        return True

    def unsent(self, record: Unreadable) -> None:
        """Count a record that was not sent."""
        self.refused[record.reason] += 1
        self.problems.append(
            {"record": record.place, "outcome": None, "reason": record.why, "request_id": None}
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return told | {"waiting": dict(self.waiting), "refused": dict(self.refused)}

    def summary(self) -> str:
        """Return the counts as one line."""
        parts = [
            f"{self.accepted} accepted",
            f"{self.merged} merged",
            f"{self.already} already there",
            _counted("waiting", self.waiting),
            _counted("refused", self.refused),
        ]
        return ", ".join(parts)


def _counted(what: str, reasons: Counter[str]) -> str:
    if not reasons:
        return f"0 {what}"
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return f"{reasons.total()} {what} ({told})"
