"""What a plug-in is, what it answers, and how it says that it cannot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Decision = Literal["accept", "reject", "defer"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a plug-in finds.

    `score` lies in 0..1: for the purpose `verify` it is the support, and required. `detail` is a
    JSON object of at most 8 KiB; for the purpose `gate`, its `reason` is told to the writer, and
    its `run`, an object that says how something ran, becomes evidence on the record of the version.
    `retry_after` (seconds) goes with `defer`: the plug-in is asked again then. `version` takes the
    place of the plug-in's own where more than its code decides, such as a model; 100 characters.
    """

    decision: Decision
    score: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    retry_after: float | None = None
    version: str | None = None

    def __post_init__(self) -> None:
        if self.decision not in ("accept", "reject", "defer"):
            raise PluginError("the decision is neither accept, reject nor defer")
        if self.score is not None and not (math.isfinite(self.score) and 0 <= self.score <= 1):
            raise PluginError("the score is no number from 0 to 1")


class PluginError(Exception):
    """The plug-in has no verdict: it is asked again, with growing patience.

    The message is kept with the job and shown to administrators, so it never repeats content.
    `permanent`: asking again would not help, the job is set aside at once.
    """

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent


@runtime_checkable
class Verifier(Protocol):
    """A plug-in. One object serves all jobs of a process, several at once."""

    name: str
    version: str

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Return the verdict on one payload.

        `payload` is what the gate asks, `settings` what require_verifier() was given, with `part`
        and `quorum`: which of how many verdicts this is. Called outside any transaction.

        Raises:
            PluginError: there is no verdict.
        """
        ...
