"""`e5`: the model that comes with the extra `embed`; no settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memwarden.embedders import E5_NAME, packaged
from memwarden.errors import NotInstalled
from memwarden.worker.plugin import PluginError


class E5:
    """Makes the vectors of texts that are searched."""

    name = "e5"
    version = "1"

    def embed(
        self, texts: Sequence[str], _settings: Mapping[str, Any], /
    ) -> Sequence[Sequence[float] | None]:
        """Return vectors of length 1; None for a text without a letter."""
        try:  # not every worker has the package
            embedder = packaged(E5_NAME)
        except NotInstalled as error:
            raise PluginError(str(error)) from None
        assert embedder is not None
        return embedder.embed(texts)
