"""What the worker's tests have, and a folder with a small inference model."""

from __future__ import annotations

from pathlib import Path

import pytest

from write.worker.conftest import agent, org, worker_role

__all__ = ["agent", "model_folder", "org", "worker_role"]


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a model that knows a few words and `not`."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (extra nli)")
    pytest.importorskip("onnx", reason="onnx is not installed (extra dev)")
    from client.judges.toy_model import make_folder

    return make_folder(tmp_path_factory.mktemp("nli") / "model")
