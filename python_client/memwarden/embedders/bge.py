"""BGE-small-en-v1.5 on this machine: extra `local`; see memwarden.embedders.local."""

from __future__ import annotations

from pathlib import Path

from memwarden.embedders.local import LocalEmbedder

QUERY_PREFIX = "Represent this sentence for searching relevant passages: "


class BgeSmallEmbedder(LocalEmbedder):
    """Sentence embeddings of 384 numbers and length 1.

    Queries get the prefix that the model was trained with, texts that are searched get none.
    """

    def __init__(self, folder: Path | str) -> None:
        """Load the model from `folder`.

        Raises:
            ModelNotFound: it does not hold model.safetensors and tokenizer.json.
        """
        super().__init__(
            "bge-small-en-v1.5", folder, pooling="cls", max_tokens=512, query_prefix=QUERY_PREFIX
        )
