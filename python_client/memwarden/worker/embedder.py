"""What an embedder is: a plug-in that makes the vectors of a model for the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class EmbedderPlugin(Protocol):
    """An embedder. One object serves all models of a process that name it, one after the other."""

    name: str
    version: str

    def embed(
        self, texts: Sequence[str], settings: Mapping[str, Any], /
    ) -> Sequence[Sequence[float] | None]:
        """Return one vector for each text, in order; None for a text that has none.

        `settings` are those of set_embedder(), with `model` and `dimension`: the name of the model
        and how many numbers a vector has. Called outside any transaction; whatever asks a service
        needs a timeout of its own.

        Raises:
            PluginError: there are no vectors. `permanent`: because of these texts; where there are
                several, each is asked for alone. Otherwise all are asked for again later.
        """
        ...
