"""What may be spent on models: calls and tokens, within an hour or for one job."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.settings import number

_HOUR = 3600.0


Span = Literal["hour", "job"]


class UsedUp(PluginError):
    """Nothing more may be spent within the hour, or for the job."""

    def __init__(self, per: Span) -> None:
        super().__init__(f"the budget of models for one {per} is used up", permanent=per == "job")
        self.per = per


@dataclass(slots=True)
class Charge:
    """One call: when it was made, and the tokens it cost, an estimate until it is answered."""

    at: float
    tokens: int


class Budget:
    """What one plug-in of one process spent within the last hour, or on the job at hand.

    The limits are the settings `calls_per_hour` and `tokens_per_hour`, or `calls_per_job` and
    `tokens_per_job`; without them there is none.
    """

    def __init__(self, per: Span = "hour") -> None:
        self._per = per
        self._charges: list[Charge] = []
        self._lock = threading.Lock()

    def spend(self, tokens: int) -> None:
        """Note a call that was paid for."""
        with self._lock:
            self._charges.append(Charge(time.monotonic(), tokens))

    def reserve(self, settings: Mapping[str, Any], tokens: int) -> Charge:
        """Note a call that is about to be made; its `tokens` are put right afterwards.

        Raises:
            UsedUp: a limit is reached. The last call may go beyond the limit of tokens.
        """
        charge = Charge(time.monotonic(), tokens)
        with self._lock:
            if self._is_used_up(settings):
                raise UsedUp(self._per)
            self._charges.append(charge)
        return charge

    def is_used_up(self, settings: Mapping[str, Any]) -> bool:
        """Whether a limit is reached."""
        with self._lock:
            return self._is_used_up(settings)

    def _is_used_up(self, settings: Mapping[str, Any]) -> bool:
        if self._per == "hour":
            since = time.monotonic() - _HOUR
            self._charges = [each for each in self._charges if each.at > since]
        spent = {
            f"calls_per_{self._per}": len(self._charges),
            f"tokens_per_{self._per}": sum(each.tokens for each in self._charges),
        }
        return any(
            settings.get(name) is not None
            and amount >= number(settings, name, 0, least=0, most=1e12)
            for name, amount in spent.items()
        )
