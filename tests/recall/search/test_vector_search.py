"""The vector part of recall is exact: it finds what comparing everything by hand finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many

DIMENSION = 24


@pytest.fixture(scope="module")
def model(shared_world: World) -> str:
    """A small embedding model."""
    shared_world.admin.execute(
        "SELECT memwarden.register_embedding_model('small', %s)", (DIMENSION,)
    )
    return "small"


def half(vectors: Any) -> Any:
    """Round to half precision, as vectors are stored and compared."""
    return np.asarray(vectors, dtype=np.float16).astype(np.float64)


def cosines(vectors: Any, query: Any) -> Any:
    """Compare every vector with the query."""
    vectors, query = half(vectors), half(query)
    return vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_nearest_are_those_that_comparing_all_finds(
    reader: Connection[DictRow], model: str, seed: int
) -> None:
    """400 vectors of any length, in three layers; similarity is the cosine, its score min-max.

    Proves: L6 (vector search)
    """
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(400, DIMENSION)) * random.uniform(0.01, 50, size=(400, 1))
    layers = ["episodic", "semantic", "procedural"]
    requests = [
        {
            "layer": layers[i % 3],
            "content": {"n": i},
            "embedding": vector.tolist(),
            "embedding_model": model,
        }
        for i, vector in enumerate(vectors)
    ]
    assert {row["outcome"] for row in write_many(reader, requests)} == {"COMMITTED"}

    for query in random.normal(size=(5, DIMENSION)):
        truth = cosines(vectors, query)
        best = np.argsort(-truth, kind="stable")
        found = recall(
            reader, embedding=query.tolist(), embedding_model=model, weights={"vector": 1}, k=25
        )
        numbers = [row["content"]["n"] for row in found]
        assert np.allclose([row["similarity"] for row in found], truth[numbers], atol=1e-6)
        # Beyond the last digits of a float, the very order; a tie may stand either way.
        assert np.allclose(truth[numbers], truth[best[:25]], atol=1e-6)
        scale = (truth - truth.min()) / (truth.max() - truth.min())
        assert np.allclose([row["vector_score"] for row in found], scale[numbers], atol=1e-6)
        truths = np.maximum(truth[numbers], 0)
        assert np.allclose([row["score"] for row in found], truths, atol=1e-6)
        assert found[0]["vector_score"] == 1


def test_vectors_of_different_models_are_never_compared(
    reader: Connection[DictRow], model: str
) -> None:
    """What has no vector of the model in question is found, by its words, with no similarity.

    Proves: Z6 (models side by side)
    """
    vector = [1.0] * DIMENSION
    write(reader, "semantic", {"text": "alpha"}, embedding=vector, embedding_model=model)
    write(reader, "semantic", {"text": "beta"}, embedding=[1.0] * 384)
    write(reader, "semantic", {"text": "gamma"})

    def similar(**arguments: Any) -> dict[str, bool]:
        found = recall(reader, **arguments)
        assert [row["vector_score"] for row in found if row["similarity"] is None] == [0, 0]
        return {row["content"]["text"]: row["similarity"] is not None for row in found}

    names = ("alpha", "beta", "gamma")
    small = similar(embedding=vector, embedding_model=model)
    default = similar(embedding=[1.0] * 384)
    lexical = similar(query="gamma")
    assert [small[name] for name in names] == [True, False, False]
    assert [default[name] for name in names] == [False, True, False]
    assert [lexical[name] for name in names] == [False, False, True]


def test_a_new_version_is_found_by_its_own_vector_only(
    reader: Connection[DictRow], model: str
) -> None:
    """The vector of what was superseded is gone, under whichever model it was.

    Proves: D5
    """
    first, second = [1.0] + [0.0] * (DIMENSION - 1), [0.0] * (DIMENSION - 1) + [1.0]
    key = {"subject": "Ana", "predicate": "lives in"}
    for text, vector in (("Oslo", first), ("Bergen", second)):
        row = write(
            reader, "semantic", {"in": text}, embedding=vector, embedding_model=model, **key
        )
        assert row["outcome"] == "COMMITTED"
    (found,) = recall(reader, embedding=second, embedding_model=model)
    assert found["similarity"] == pytest.approx(1)
    (found,) = recall(reader, embedding=first, embedding_model=model)
    assert found["similarity"] == pytest.approx(0)
    write(reader, "semantic", {"in": "Rome"}, **key)
    (found,) = recall(reader, embedding=second, embedding_model=model)
    assert found["similarity"] is None


def test_a_text_alone_is_embedded_in_the_server(reader: Connection[DictRow]) -> None:
    """Words that share their letters are near without being equal.

    Proves: L6 (vector search without a model)
    """
    write(reader, "semantic", {"text": "She has been repainting the kitchen"})
    write(reader, "semantic", {"text": "The meeting was moved to Thursday"})
    found = recall(reader, query="kitchens repainted", weights={"vector": 1})
    assert [row["content"]["text"].split()[0] for row in found] == ["She", "The"]
    assert found[0]["similarity"] > found[1]["similarity"] + 0.2
    passed = reader.execute(
        "SELECT similarity FROM memwarden.recall(embedding_model => 'lexical',"
        " embedding => memwarden.lexical_embedding('kitchens repainted'))"
    ).fetchall()
    assert [row["similarity"] for row in passed] == [row["similarity"] for row in found]
