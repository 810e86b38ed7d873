"""all-MiniLM-L6-v2 on this machine: extra `local`; see memwarden.embedders.local."""

from __future__ import annotations

from pathlib import Path

from memwarden.embedders.local import LocalEmbedder, ModelNotFound

__all__ = ["MiniLMEmbedder", "ModelNotFound"]


class MiniLMEmbedder(LocalEmbedder):
    """Sentence embeddings of 384 numbers and length 1; about 70 short texts a second on a core."""

    def __init__(self, folder: Path | str | None = None) -> None:
        """Load the model from `folder`, or from the installed package.

        Raises:
            ModelNotFound: neither holds model.safetensors and tokenizer.json.
        """
        # max_seq_length of the model's sentence_bert_config.json
        super().__init__("all-MiniLM-L6-v2", folder, max_tokens=256)
