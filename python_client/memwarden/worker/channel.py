"""What a channel is: a way to tell reviewers that something waits for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Channel(Protocol):
    """A channel. One object serves all notices of a process, one after the other."""

    name: str
    version: str

    def send(self, notice: Mapping[str, Any], target: str, settings: Mapping[str, Any], /) -> None:
        """Send one notice; return when whoever gets it has it.

        `notice` is what claim_notices() describes: it has an `id`, the same at each attempt, and
        holds nothing of what is to be remembered. `target` and `settings` are those of
        set_review_channel(). Called outside any transaction; it needs a timeout of its own.

        Raises:
            PluginError: it was not sent.
        """
        ...
