"""One question to a model behind an OpenAI-compatible chat endpoint, answered in JSON."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.http import post_json
from memwarden.worker.plugins.settings import number, secret, text

MAX_QUESTION = 50_000  # characters
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Model:
    """Where a model is asked, and for how much."""

    url: str
    name: str
    key: str | None
    timeout: float
    max_tokens: int

    @classmethod
    def configured(cls, settings: Mapping[str, Any], common: Mapping[str, Any]) -> Model:
        """Read `url`, `model`, `secret_env`, `timeout` and `max_tokens`; the last from `common`."""
        return cls(
            text(settings, "url"),
            text(settings, "model"),
            secret(settings),
            number(common, "timeout", 30, least=0.1, most=3600),
            int(number(common, "max_tokens", 200, least=1, most=100_000)),
        )

    def ask(self, instruction: str, question: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
        """Return the JSON object that the model answers with.

        What is judged is sent as JSON in a message of its own: it is data, whatever it says.

        Raises:
            PluginError: no answer, or none that is one JSON object.
        """
        content = json.dumps(question, ensure_ascii=False)
        if len(content) > MAX_QUESTION:
            # Of a claim that is cut short another one would be judged.
            raise PluginError("the question is too long for a model", permanent=True)
        body = {
            "model": self.name,
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "messages": [
                {"role": "system", "content": instruction},
                {"role": "user", "content": content},
            ],
        }
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        answer = post_json(self.url, json.dumps(body).encode(), headers, self.timeout)
        budget.spend(_tokens(answer, len(content) + len(instruction), self.max_tokens))
        try:
            said = answer["choices"][0]["message"]["content"]
            found = json.loads(_unfenced(said))
        except (KeyError, IndexError, TypeError, ValueError, RecursionError, AttributeError):
            raise PluginError("the model's answer is not the JSON that was asked for") from None
        if not isinstance(found, dict):
            raise PluginError("the model's answer is no JSON object")
        return found


def share(answer: Mapping[str, Any], name: str) -> float:
    """Return a number from 0 to 1 out of a model's answer.

    Raises:
        PluginError: it is none.
    """
    value = answer.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise PluginError(f"the model's {name} is no number from 0 to 1")
    return float(value)


class Budget:
    """Tokens spent within the last hour, by one plug-in of one process."""

    def __init__(self) -> None:
        self._spent: list[tuple[float, int]] = []
        self._lock = threading.Lock()

    def spend(self, tokens: int) -> None:
        """Note tokens that were paid for."""
        with self._lock:
            self._spent.append((time.monotonic(), tokens))

    def is_used_up(self, settings: Mapping[str, Any]) -> bool:
        """Whether the setting `tokens_per_hour` is reached; without it there is no limit."""
        if settings.get("tokens_per_hour") is None:
            return False
        limit = number(settings, "tokens_per_hour", 0, least=0, most=1e12)
        with self._lock:
            since = time.monotonic() - _HOUR
            self._spent = [each for each in self._spent if each[0] > since]
            return sum(tokens for _, tokens in self._spent) >= limit


def _tokens(answer: object, characters: int, max_tokens: int) -> int:
    """Tokens that an answer cost: as it says, or estimated high where it does not."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    if isinstance(total, int) and not isinstance(total, bool) and total >= 0:
        return total
    return characters // 3 + max_tokens


def _unfenced(said: str) -> str:
    """Models like to put their JSON into a fence of Markdown."""
    stripped = said.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped[3:-3].removeprefix("json")
    return stripped
