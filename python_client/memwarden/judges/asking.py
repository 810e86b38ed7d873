"""Asking a language model about untrusted data, patiently and within budgets.

What it is asked about is hostile until proved otherwise: it travels as JSON between marks that
nobody can guess, in a message of its own.
"""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memwarden.judges import NoVerdict
from memwarden.worker.attempt import sleep_unless_cut
from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.budget import Budget, UsedUp
from memwarden.worker.plugins.chat import Model, Prompt, read, tokens
from memwarden.worker.plugins.http import Refused, require_private

_ATTEMPTS = 4
_FIRST_PAUSE = 0.5
_REST = 600.0


class Asking:
    """One model behind an OpenAI-compatible chat endpoint."""

    def __init__(
        self,
        model: Model,
        *,
        budgets: Sequence[Budget] = (),
        limits: Mapping[str, Any] | None = None,
        until: float = float("inf"),
        sleep: Callable[[float], None] = sleep_unless_cut,
    ) -> None:
        """`model.timeout` is for one answer, all attempts included.

        `budgets`: each is charged for every call; `limits`: what may be spent of them. `until`: on
        the clock time.monotonic(); after it nobody is asked any more.

        Raises:
            PluginError: the key would travel unencrypted.
        """
        if model.key is not None:
            require_private(model.url)
        self._model = model
        self._budgets = tuple(budgets)
        self._limits = limits or {}
        self._until = until
        self._sleep = sleep

    def ask(
        self, instruction: str, data: Mapping[str, Any], answer_format: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the JSON object that the model answers with.

        `instruction` names the marks around the data as {begin} and {end}.

        Raises:
            NoVerdict: no answer in time, one that is no JSON object, or the budget is used up.
        """
        mark = secrets.token_hex(8)
        begin, end = f"<data-{mark}>", f"</data-{mark}>"
        content = f"{begin}\n{json.dumps(data, ensure_ascii=False)}\n{end}"
        try:
            prompt = self._model.prompt(
                instruction.format(begin=begin, end=end), content, response_format=answer_format
            )
            return read(self._answer(prompt))
        except UsedUp as error:
            later = _REST if error.per == "hour" else None
            raise NoVerdict(str(error), permanent=error.permanent, retry_after=later) from None
        except PluginError as error:
            raise NoVerdict(str(error), permanent=error.permanent) from None

    def _answer(self, prompt: Prompt) -> Any:
        """Ask until there is an answer, as long as the service is only busy or broken."""
        until = min(time.monotonic() + self._model.timeout, self._until)
        for attempt in range(_ATTEMPTS):
            left = until - time.monotonic()
            if left <= 0:
                raise NoVerdict("the time for a verdict is over")
            charges = [each.reserve(self._limits, prompt.tokens) for each in self._budgets]
            cost = 0
            try:
                answer = self._model.post(prompt, left)
                cost = tokens(answer, prompt)
                return answer
            except Refused as error:
                if error.status != 429 and error.status < 500:
                    raise
                # Not all at once again.
                pause = _FIRST_PAUSE * 2**attempt * random.uniform(0.8, 1.2)
                pause = max(pause, error.retry_after or 0)
                if attempt == _ATTEMPTS - 1 or pause > until - time.monotonic():
                    raise NoVerdict(str(error), retry_after=error.retry_after) from None
            except PluginError:
                # It may have been answered, and paid for, all the same.
                cost = prompt.tokens
                raise
            finally:
                for charge in charges:
                    charge.tokens = cost
            self._sleep(pause)
        raise AssertionError("the last attempt returns or raises")
