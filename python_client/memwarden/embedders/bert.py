"""The forward pass of a small BERT in NumPy: what MiniLM and BGE-small need, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Pooling = Literal["mean", "cls"]

_HEADS = 12
_EPSILON = 1e-12  # layer_norm_eps of the model's config.json


class Bert:
    """Token ids to one vector a text: encoder, one vector of all tokens, length 1."""

    def __init__(self, weights: Mapping[str, Floats], pooling: Pooling = "mean") -> None:
        """`weights` are named as in the model's safetensors file.

        `pooling`: the mean over the tokens, or the first of them, which stands for the text.
        """
        self._pooling = pooling
        self._weights = weights
        self._words = weights["embeddings.word_embeddings.weight"]
        self._positions = weights["embeddings.position_embeddings.weight"]
        self._layers = sum(name.endswith(".intermediate.dense.bias") for name in weights)

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self._words.shape[1])

    def embed(self, ids: NDArray[np.int64]) -> Floats:
        """Return (texts, dimension) for ids of shape (texts, tokens).

        Texts of equal length only, so that no padding needs masking.
        """
        states = self._words[ids] + self._positions[: ids.shape[1]]
        states = states + self._weights["embeddings.token_type_embeddings.weight"][0]
        states = self._normalised(states, "embeddings.LayerNorm")
        for layer in range(self._layers):
            states = self._encoded(states, f"encoder.layer.{layer}.")
        pooled = states.mean(axis=1) if self._pooling == "mean" else states[:, 0]
        vectors: Floats = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors

    def _encoded(self, states: Floats, layer: str) -> Floats:
        attended = self._linear(self._attended(states, layer), f"{layer}attention.output.dense")
        states = self._normalised(attended + states, f"{layer}attention.output.LayerNorm")
        inner = _gelu(self._linear(states, f"{layer}intermediate.dense"))
        outer = self._linear(inner, f"{layer}output.dense")
        return self._normalised(outer + states, f"{layer}output.LayerNorm")

    def _attended(self, states: Floats, layer: str) -> Floats:
        texts, tokens, width = states.shape
        query, key, value = (
            self._linear(states, f"{layer}attention.self.{name}")
            .reshape(texts, tokens, _HEADS, width // _HEADS)
            .transpose(0, 2, 1, 3)
            for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32((width // _HEADS) ** 0.5)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = shares / shares.sum(axis=-1, keepdims=True)
        mixed: Floats = (shares @ value).transpose(0, 2, 1, 3).reshape(texts, tokens, width)
        return mixed

    def _linear(self, states: Floats, name: str) -> Floats:
        product: Floats = states @ self._weights[f"{name}.weight"].T
        return product + self._weights[f"{name}.bias"]

    def _normalised(self, states: Floats, name: str) -> Floats:
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        scaled: Floats = centred / spread * self._weights[f"{name}.weight"]
        return scaled + self._weights[f"{name}.bias"]


def _gelu(x: Floats) -> Floats:
    """Return the exact GELU that the model was trained with.

    erf is that of Abramowitz and Stegun 7.1.26, whose error of 1.5e-7 is about that of single
    precision; NumPy has none.
    """
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    polynomial = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    erf = np.sign(x) * (1 - polynomial * np.exp(-z * z))
    activated: Floats = x * np.float32(0.5) * (1 + erf)
    return activated
