"""Jobs that cannot be judged, settings that lead nowhere, and workers that lack something."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from client.judges.endpoint import Reply, chat, says
from client.judges.payloads import DEEP, asked_of, endpoint, gate, inference, neighbour
from memwarden.worker import PluginError
from memwarden.worker.plugins.judges import Judges


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ({"content": {"text": DEEP}}, "neither neighbours nor a claim"),
        (gate(DEEP) | {"neighbours": None}, "neighbours are no list"),
        (gate(DEEP, "a lake"), "neighbours are no list"),
        (gate(DEEP, *[neighbour(DEEP)] * 51), "neighbours are no list of at most 50"),
        (gate(DEEP, {}), "says nothing"),
        (gate("", neighbour(DEEP)) | {"subject": None}, "says nothing"),
        (gate(DEEP, neighbour("deep " * 60)), "longer than the model reads"),
    ],
)
def test_a_job_that_cannot_be_judged_is_set_aside(
    payload: dict[str, Any], error: str, model_folder: Path
) -> None:
    """Another attempt would change nothing.

    Proves: V7 (through the worker)
    """
    with pytest.raises(PluginError, match=error) as raised:
        asked_of(payload, inference(model_folder))
    assert raised.value.permanent


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({}, "judges is no list"),
        ({"judges": ["nli"]}, "judges is no list"),
        ({"judges": []}, "1 to 9 judges"),
        ({"judges": [{"judge": "oracle"}]}, "neither nli nor llm"),
        ({"judges": [{"judge": "nli"}]}, "folder is missing"),
        ({"judges": [{"judge": "nli", "folder": "/nowhere"}]}, r"missing.*model.onnx"),
        ({"judges": [{"judge": "llm"}]}, "url is missing"),
        ({"judges": [endpoint("http://127.0.0.1:1/")] * 2, "agree": 1}, "more than half"),
        ({"judges": [endpoint("http://127.0.0.1:1/")], "agree": 0}, "agree is no number"),
        ({"judges": [endpoint("http://127.0.0.1:1/")], "threshold": 2}, "threshold"),
        ({"judges": [endpoint("http://127.0.0.1:1/")]}, "cannot be reached"),
    ],
)
def test_settings_that_lead_nowhere_are_named(settings: dict[str, Any], error: str) -> None:
    """And mended without another write: the job is tried again.

    Proves: V7 (through the worker)
    """
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (extra nli)")
    with pytest.raises(PluginError, match=error) as raised:
        asked_of(gate(DEEP, neighbour(DEEP)), settings)
    assert not raised.value.permanent


def test_a_job_that_is_given_up_asks_no_more() -> None:
    """Of eight questions four are asked at a time, and the time is over with the first four.

    Proves: V7 (the language model through the worker)
    """

    def never(*_: object) -> Reply:
        server.ended.wait(60)
        return says("same")

    with chat(never) as server:
        slow = endpoint(server.url) | {"timeout": 2}
        with pytest.raises(PluginError):
            asked_of(gate(DEEP, *[neighbour(DEEP)] * 8), {"judges": [slow], "timeout": 0.3})
        assert len(server.asked) <= 4


def test_a_model_is_loaded_once(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For all jobs of a process.

    Proves: V7 (the inference model through the worker)
    """
    from memwarden.worker.plugins import judges

    loaded: list[str] = []
    load_it = judges._loaded

    def noted(folder: str, *more: int) -> Any:
        loaded.append(folder)
        return load_it(folder, *more)

    monkeypatch.setattr(judges, "_loaded", noted)
    plugin = Judges()
    for _ in range(3):
        plugin.judge(gate(DEEP, neighbour(DEEP)), inference(model_folder))
    assert loaded == [str(model_folder)]


def test_a_worker_without_the_library_says_so(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job waits for a worker that has it.

    Proves: V7 (the inference model through the worker)
    """
    for name in ("memwarden.judges.nli", "memwarden.judges.nli_model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(PluginError, match="extra nli is not installed") as raised:
        asked_of(gate(DEEP, neighbour(DEEP)), inference(model_folder))
    assert not raised.value.permanent
