"""A BERT whose files are yours: which tokens make its vector, and what goes before a query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

np: Any = pytest.importorskip("numpy", reason="NumPy is not installed (extra minilm)")
for needed in ("safetensors", "tokenizers"):
    pytest.importorskip(needed, reason=f"{needed} is not installed (extra minilm)")

from safetensors.numpy import save_file  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from tokenizers.models import WordLevel  # noqa: E402
from tokenizers.pre_tokenizers import Whitespace  # noqa: E402

from memwarden.cli import app  # noqa: E402
from memwarden.embedders import query_embedding  # noqa: E402
from memwarden.embedders.bge import QUERY_PREFIX, BgeSmallEmbedder  # noqa: E402
from memwarden.embedders.local import LocalEmbedder  # noqa: E402
from memwarden.worker.embedders.local import Local  # noqa: E402
from shipped import Shipped  # noqa: E402

WIDTH = 24
WORDS = ["[UNK]", "tea", "milk", *QUERY_PREFIX.replace(":", " :").split()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the files of a model of one layer, whose numbers mean nothing."""
    chance = np.random.default_rng(7)

    def numbers(*shape: int) -> Any:
        return chance.normal(size=shape).astype(np.float32)

    layer = "encoder.layer.0."
    weights = {
        "embeddings.word_embeddings.weight": numbers(len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": numbers(512, WIDTH),
        "embeddings.token_type_embeddings.weight": numbers(2, WIDTH),
        f"{layer}intermediate.dense.weight": numbers(2 * WIDTH, WIDTH),
        f"{layer}intermediate.dense.bias": numbers(2 * WIDTH),
        f"{layer}output.dense.weight": numbers(WIDTH, 2 * WIDTH),
        f"{layer}output.dense.bias": numbers(WIDTH),
        f"{layer}attention.output.dense.weight": numbers(WIDTH, WIDTH),
        f"{layer}attention.output.dense.bias": numbers(WIDTH),
    }
    for name in ("query", "key", "value"):
        weights[f"{layer}attention.self.{name}.weight"] = numbers(WIDTH, WIDTH)
        weights[f"{layer}attention.self.{name}.bias"] = numbers(WIDTH)
    for name in ("embeddings", f"{layer}attention.output", f"{layer}output"):
        weights[f"{name}.LayerNorm.weight"] = numbers(WIDTH)
        weights[f"{name}.LayerNorm.bias"] = numbers(WIDTH)
    save_file(weights, tmp_path / "model.safetensors")
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_the_first_token_or_all_of_them_make_the_vector(folder: Path) -> None:
    """Of one token both say the same; of two they do not. Length 1 in either case.

    Proves: L12, Z6
    """
    mean, cls = (LocalEmbedder("m", folder, pooling=pooling) for pooling in ("mean", "cls"))
    one, two = ["tea"], ["tea milk"]
    assert np.allclose(mean.embed(one), cls.embed(one), atol=1e-5)
    assert not np.allclose(mean.embed(two), cls.embed(two), atol=0.01)
    for embedder in (mean, cls):
        assert np.allclose(np.linalg.norm(embedder.embed(one + two), axis=1), 1, atol=1e-5)


def test_a_query_has_its_prefix_and_a_text_has_none(folder: Path) -> None:
    """As BGE-small-en-v1.5 was trained.

    Proves: L12
    """
    embedder = BgeSmallEmbedder(folder)
    assert (embedder.name, embedder.dimension) == ("bge-small-en-v1.5", WIDTH)
    assert query_embedding(embedder, "tea") == embedder.embed([f"{QUERY_PREFIX}tea"])[0]
    assert query_embedding(embedder, "tea") != embedder.embed(["tea"])[0]


def test_a_command_makes_the_vectors_itself(
    folder: Path, shipped: Shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --embedder, of what is written and of what is asked; MCP's tools do so as well.

    Proves: L12
    """
    admin = shipped.world.admin
    admin.execute("SELECT memwarden.register_embedding_model('tiny', %s)", (WIDTH,))
    admin.execute("SELECT memwarden.switch_embedding_model('tiny', allow_partial => true)")
    where = ["--dsn", make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)]
    model = ["--embedder", f"tiny={folder}"]
    ran = CliRunner().invoke(app, ["write", "semantic", '"tea"', *model, *where])
    assert ran.exit_code == 0, ran.output
    for option, is_near in ((model, True), ([], False)):
        ran = CliRunner().invoke(app, ["recall", "tea", "--json", *option, *where])
        assert bool(json.loads(ran.output)[0]["similarity"]) == is_near
    ran = CliRunner().invoke(app, ["context", "milk tea", *model, *where])
    assert "tea" in ran.output
    for wrong in ("tiny", "tiny=/nowhere", "bge-small-en-v1.5"):
        ran = CliRunner().invoke(app, ["recall", "x", "--embedder", wrong, *where])
        assert (ran.exit_code, "--embedder" in ran.output) == (2, True)
    served = []
    server = pytest.importorskip("memwarden.mcp.server", reason="needs memwarden[mcp]")
    monkeypatch.setattr(server, "serve_stdio", lambda *given, **_: served.append(given[2].name))
    assert CliRunner().invoke(app, ["mcp", *model, *where]).exit_code == 0
    assert served == ["tiny"]


def test_the_worker_makes_the_same_vectors(folder: Path) -> None:
    """With the settings that a model is registered with.

    Proves: Z6
    """
    settings = {"folder": str(folder), "pooling": "cls", "max_tokens": 512, "dimension": WIDTH}
    made = Local().embed(["tea", "milk"], settings)
    assert np.allclose(made, BgeSmallEmbedder(folder).embed(["tea", "milk"]), atol=1e-6)
    prefixed = Local().embed(["milk"], settings | {"text_prefix": "tea "})
    assert np.allclose(prefixed, BgeSmallEmbedder(folder).embed(["tea milk"]), atol=1e-6)
