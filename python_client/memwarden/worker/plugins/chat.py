"""One question to a model behind an OpenAI-compatible chat endpoint, answered in JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.budget import Budget
from memwarden.worker.plugins.http import post_json
from memwarden.worker.plugins.settings import number, secret, text

MAX_QUESTION = 50_000  # characters


class Prompt(NamedTuple):
    """A question as it is sent, and an estimate of what it costs, on the high side."""

    body: bytes
    tokens: int


@dataclass(frozen=True, slots=True)
class Model:
    """Where a model is asked, and for how much."""

    url: str
    name: str
    key: str | None = field(repr=False)
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

    @classmethod
    def of_environment(cls, use: str, *, max_tokens: int) -> Model | None:
        """Read MEMWARDEN_{use}_URL and _MODEL, and the key MEMWARDEN_SECRET_{use}; None: not set.

        Raises:
            PluginError: there is a part of it only.
        """
        named = {"url": f"MEMWARDEN_{use}_URL", "model": f"MEMWARDEN_{use}_MODEL"}
        settings = {name: os.environ.get(variable) for name, variable in named.items()}
        if not any(settings.values()):
            return None
        key = f"MEMWARDEN_SECRET_{use}"
        if key in os.environ or f"{key}_FILE" in os.environ:
            settings["secret_env"] = key
        return cls.configured(settings, {"max_tokens": max_tokens})

    def ask(self, instruction: str, question: Mapping[str, Any], budget: Budget) -> dict[str, Any]:
        """Return the JSON object that the model answers with.

        What is judged is sent as JSON in a message of its own: it is data, whatever it says.

        Raises:
            PluginError: no answer, or none that is one JSON object.
        """
        prompt = self.prompt(instruction, json.dumps(question, ensure_ascii=False))
        answer = self.post(prompt, self.timeout)
        budget.spend(tokens(answer, prompt))
        return read(answer)

    def prompt(self, instruction: str, content: str, **more: Any) -> Prompt:
        """Make a question; `more` are further members of the request's body.

        Raises:
            PluginError: it is too long. Of a claim that is cut short another one would be judged.
        """
        if len(content) > MAX_QUESTION:
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
        estimate = (len(content) + len(instruction)) // 3 + self.max_tokens
        return Prompt(json.dumps(body | more).encode(), estimate)

    def post(self, prompt: Prompt, timeout: float) -> Any:
        """Return the JSON that the endpoint answers with.

        Raises:
            PluginError: there is none.
        """
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        return post_json(self.url, prompt.body, headers, timeout)


def read(answer: Any) -> dict[str, Any]:
    """Return the JSON object that a model wrote.

    Raises:
        PluginError: it wrote something else.
    """
    try:
        found = json.loads(_unfenced(answer["choices"][0]["message"]["content"]))
    except (KeyError, IndexError, TypeError, ValueError, RecursionError, AttributeError):
        raise PluginError("the model's answer is not the JSON that was asked for") from None
    if not isinstance(found, dict):
        raise PluginError("the model's answer is no JSON object")
    return found


def tokens(answer: object, prompt: Prompt) -> int:
    """Return the tokens that an answer cost: as it says, or estimated high where it does not."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    if isinstance(total, int) and not isinstance(total, bool) and total >= 0:
        return total
    return prompt.tokens


def share(answer: Mapping[str, Any], name: str) -> float:
    """Return a number from 0 to 1 out of a model's answer.

    Raises:
        PluginError: it is none.
    """
    value = answer.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise PluginError(f"the model's {name} is no number from 0 to 1")
    return float(value)


def _unfenced(said: str) -> str:
    """Models like to put their JSON into a fence of Markdown."""
    stripped = said.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped[3:-3].removeprefix("json")
    return stripped
