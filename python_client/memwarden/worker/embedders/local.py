"""`local`: a small BERT whose files lie on the worker's machine; extra `local`.

Settings: `folder`, with model.safetensors and tokenizer.json, by default that of the installed
package of all-MiniLM-L6-v2; `pooling`, mean (MiniLM, E5) or cls (BGE); `max_tokens` of a text (256;
what is longer is cut); `text_prefix`, what the model wants before each text that is searched.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins.settings import number, text

if TYPE_CHECKING:
    from memwarden.embedders.local import LocalEmbedder


class Local:
    """Opens each model once."""

    name = "local"
    version = "1"

    def __init__(self) -> None:
        self._open: dict[tuple[str, str, int], LocalEmbedder] = {}
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], settings: Mapping[str, Any], /) -> list[list[float]]:
        """Return vectors of length 1."""
        prefix = text(settings, "text_prefix") if settings.get("text_prefix") else ""
        with self._lock:
            model = self._opened(settings)
        return model.embed([prefix + each for each in texts])

    def _opened(self, settings: Mapping[str, Any]) -> LocalEmbedder:
        try:  # the numbers of a model need packages that not every worker has
            from memwarden.embedders.local import LocalEmbedder, ModelNotFound
        except ImportError as error:
            raise PluginError(f"the extra local is not installed: {error.name}") from None
        folder = text(settings, "folder") if settings.get("folder") else ""
        pooling = settings.get("pooling", "mean")
        tokens = int(number(settings, "max_tokens", 256, least=1, most=8192))
        if pooling not in ("mean", "cls"):
            raise PluginError("the setting pooling is neither mean nor cls")
        key = (folder, pooling, tokens)
        if key not in self._open:
            try:
                self._open[key] = LocalEmbedder(
                    self.name, folder or None, pooling=pooling, max_tokens=tokens
                )
            except ModelNotFound as error:
                raise PluginError(str(error)) from None
            except Exception as error:
                raise PluginError(f"the model cannot be read: {type(error).__name__}") from None
        return self._open[key]
