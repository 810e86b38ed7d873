"""The inference model as a judge: what it says both ways, and which folders it refuses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden.judges import Judge, Memory, NoVerdict, Verdict, judge_all

for needed in ("onnx", "onnxruntime", "tokenizers"):
    pytest.importorskip(needed, reason=f"{needed} is not installed (extra nli)")

from client.judges.toy_model import LABELS, WORDS, make_constant, make_folder  # noqa: E402
from memwarden.judges.nli import NliJudge, combined  # noqa: E402
from memwarden.judges.nli_model import BadModel, NliModel, Outcome  # noqa: E402

CASES = [
    ("the lake is deep", "the lake is deep", "same"),
    ("The Lake is DEEP", "deep is the lake", "same"),
    ("the lake is deep cold", "the lake is deep", "narrower"),
    ("the lake is deep", "the lake is deep wide", "wider"),
    ("the lake is not deep", "the lake is deep", "contradicts"),
    ("the lake is deep", "the lake is not deep", "contradicts"),
    ("the lake is not deep", "the lake is deep cold", "contradicts"),
    ("ana drinks tea", "the lake is deep", "unrelated"),
    ("ana drinks tea", "ana drinks coffee", "unrelated"),
    ("", "the lake", "wider"),
]


def memory(text: str) -> Memory:
    """A memory that says so."""
    return Memory("lake", "is", {"text": text}, text)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> NliJudge:
    """Return the judge of the model that thinks."""
    return NliJudge(make_folder(tmp_path_factory.mktemp("nli")))


@pytest.mark.parametrize(("new", "old", "relation"), CASES)
def test_two_directions_make_a_relation(judge: NliJudge, new: str, old: str, relation: str) -> None:
    """What follows from what tells the same, the narrower and the wider apart.

    Proves: V7 (the inference model), V4 (judged meaning)
    """
    found = judge.judge(memory(new), memory(old))
    assert (found.relation, found.method) == (relation, "inference")
    assert found.score > 0.85
    shares = [sum(found.why[way].values()) for way in ("new_from_old", "old_from_new")]
    assert shares == pytest.approx([1, 1], abs=1e-3)


@pytest.mark.parametrize(
    ("onward", "back", "relation", "score"),
    [
        ((0.8, 0.1, 0.1), (0.7, 0.2, 0.1), "same", 0.7),
        ((0.7, 0.2, 0.1), (0.8, 0.1, 0.1), "same", 0.7),
        ((0.8, 0.1, 0.1), (0.3, 0.4, 0.3), "wider", 0.8),
        ((0.3, 0.4, 0.3), (0.8, 0.1, 0.1), "narrower", 0.8),
        ((0.1, 0.2, 0.7), (0.1, 0.1, 0.8), "contradicts", 0.8),
        ((0.1, 0.2, 0.7), (0.1, 0.5, 0.4), "contradicts", 0.7),
        ((0.1, 0.6, 0.3), (0.1, 0.5, 0.4), "unrelated", 0.5),
        ((0.4, 0.4, 0.2), (0.2, 0.4, 0.4), "unrelated", 0.4),
    ],
)
def test_a_relation_is_as_sure_as_its_weaker_direction(
    onward: tuple[float, float, float],
    back: tuple[float, float, float],
    relation: str,
    score: float,
) -> None:
    """But for a contradiction, which has none.

    Proves: V7 (the inference model)
    """
    found = combined(Outcome(*onward), Outcome(*back))
    assert isinstance(found, Verdict)
    assert (found.relation, found.score) == (relation, score)


@pytest.mark.parametrize("labels", list(itertools.permutations(LABELS)))
def test_the_order_of_labels_is_read(labels: tuple[str, ...], tmp_path: Path) -> None:
    """Models differ in it, and in their spelling.

    Proves: V7 (the inference model)
    """
    folder = make_folder(tmp_path / "m", labels=[each.upper() for each in labels])
    judge = NliJudge(folder)
    for new, old, relation in CASES:
        assert judge.judge(memory(new), memory(old)).relation == relation


TEXTS = st.lists(st.sampled_from(WORDS), max_size=10, unique=True).map(" ".join)
MIRRORED = {"narrower": "wider", "wider": "narrower"}


@given(new=TEXTS, olds=st.lists(TEXTS, max_size=40))
def test_many_at_once_are_judged_as_one_by_one(judge: NliJudge, new: str, olds: list[str]) -> None:
    """Neighbours in a batch, and the padding between them, change nothing.

    Proves: V7 (the inference model)
    """
    together = judge_all(judge, memory(new), [memory(old) for old in olds])
    assert len(together) == len(olds)
    for old, found in zip(olds, together, strict=True):
        alone = judge.judge(memory(new), memory(old))
        assert isinstance(found, Verdict)
        assert found.relation == alone.relation
        assert found.score == pytest.approx(alone.score, abs=1e-6)
        turned = judge.judge(memory(old), memory(new))
        assert turned.relation == MIRRORED.get(found.relation, found.relation)


def test_yes_one_way_and_no_the_other_is_no_verdict(tmp_path: Path) -> None:
    """The model contradicts itself there.

    Proves: V7 (the inference model)
    """
    judge = NliJudge(make_folder(tmp_path / "m", directed=True))
    with pytest.raises(NoVerdict, match="one way") as raised:
        judge.judge(memory("the lake is not deep"), memory("the lake is deep"))
    assert raised.value.permanent


def test_what_is_too_long_is_not_judged_by_its_beginning(judge: NliJudge, tmp_path: Path) -> None:
    """Else a denial could hide behind enough words. Others of the batch are judged.

    Proves: V7 (the inference model)
    """
    short, long = memory("the lake is deep"), memory("the lake is deep " + "cold " * 60)
    found = judge_all(judge, short, [short, long, short])
    assert [isinstance(each, NoVerdict) for each in found] == [False, True, False]
    assert isinstance(found[1], NoVerdict)
    assert found[1].permanent
    folder = make_folder(tmp_path / "m")
    assert NliJudge(folder, max_tokens=11).judge(short, short).relation == "same"
    with pytest.raises(NoVerdict, match="longer"):
        NliJudge(folder, max_tokens=10).judge(short, short)


@pytest.mark.parametrize(
    ("config", "beside", "longest"),
    [
        ({}, None, 64),
        ({"max_position_embeddings": 20}, None, 20),
        ({"max_position_embeddings": 24, "model_type": "roberta", "pad_token_id": 3}, None, 20),
        ({}, {"model_max_length": 30}, 30),
        ({}, {"model_max_length": 10**30}, 64),
        ({"max_position_embeddings": None}, None, 512),
    ],
)
def test_a_model_says_how_much_it_reads(
    config: dict[str, Any],
    beside: dict[str, object] | None,
    longest: int,
    tmp_path: Path,
) -> None:
    """In one file or another; the least counts.

    Proves: V7 (the inference model)
    """
    folder = make_folder(tmp_path / "m", **config)
    if beside is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(beside))
    model = NliModel(folder, max_tokens=100_000)
    words = "tea " * (longest - 4)  # and three marks, and one word of the other text
    assert model.infer([(words, "tea")])[0] is not None
    assert model.infer([(words + "tea", "tea")]) == [None]


def test_the_version_follows_the_files(tmp_path: Path) -> None:
    """Whatever changes the verdicts changes it.

    Proves: V7 (each verdict keeps its version)
    """
    folder = make_folder(tmp_path / "m")
    first = NliJudge(folder)
    assert isinstance(first, Judge)
    assert NliJudge(folder).version == first.version
    seen = {first.version}
    for name, more in (("config.json", b" "), ("tokenizer.json", b"\n"), ("model.onnx_data", b"0")):
        with (folder / name).open("ab") as file:
            file.write(more)
        seen.add(NliJudge(folder).version)
    make_folder(folder, labels=LABELS[::-1])
    seen.add(NliJudge(folder).version)
    assert len(seen) == 5


@pytest.mark.parametrize(
    "inputs", [("input_ids",), ("input_ids", "attention_mask"), ("attention_mask", "input_ids")]
)
def test_a_model_gets_the_inputs_that_it_takes(inputs: tuple[str, ...], tmp_path: Path) -> None:
    """Some know no types of tokens.

    Proves: V7 (the inference model)
    """
    model = NliModel(make_constant(tmp_path / "m", [0, 5, 0], inputs=inputs))
    [found] = model.infer([("tea", "coffee")])
    assert found is not None
    assert found.label == "entailment"


def test_the_numbers_are_those_that_are_called_logits(tmp_path: Path) -> None:
    """Some models answer with more; of one that calls none so the first are taken.

    Proves: V7 (the inference model)
    """
    folder = make_constant(tmp_path / "m", [0, 5, 0], outputs=("rows", "logits"))
    assert NliJudge(folder).judge(memory("tea"), memory("coffee")).relation == "same"
    folder = make_constant(tmp_path / "other", [0, 5, 0], outputs=("rows",))
    with pytest.raises(BadModel, match="a number for each label"):
        NliJudge(folder)


@pytest.mark.parametrize("answer", [[float("nan"), 0, 0], [float("inf"), 0, 0]])
def test_no_number_is_no_verdict(answer: list[float], tmp_path: Path) -> None:
    """A broken model convicts nobody.

    Proves: V7 (the inference model)
    """
    judge = NliJudge(make_constant(tmp_path / "m", answer))
    with pytest.raises(NoVerdict):
        judge.judge(memory("tea"), memory("coffee"))


def test_a_model_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """As exporters put it.

    Proves: V7 (the inference model)
    """
    folder = make_folder(tmp_path / "m")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx/model.onnx")
    assert NliJudge(folder).judge(memory("tea"), memory("tea")).relation == "same"


def _cut(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(
        (folder / name).read_bytes()[: (folder / name).stat().st_size // 2]
    )


def _config(**members: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | members))

    return change


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda folder: (folder / "config.json").unlink(), "missing.*config.json"),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "missing.*tokenizer"),
    "no model": (lambda folder: (folder / "model.onnx").unlink(), "missing.*model.onnx"),
    "half a config": (_cut("config.json"), "config.json cannot be read"),
    "a list": (lambda folder: (folder / "config.json").write_text("[]"), "no JSON object"),
    "bytes": (lambda folder: (folder / "config.json").write_bytes(b"\xff"), "cannot be read"),
    "no labels": (_config(id2label=None), "no id2label"),
    "names of labels": (_config(id2label={"0": "LABEL_0", "1": "b", "2": "c"}), "id2label is not"),
    "two labels": (_config(id2label={"0": "entailment", "1": "not_entailment"}), "id2label is not"),
    "a label twice": (
        _config(id2label={"0": "entailment", "1": "neutral", "2": "Neutral"}),
        "id2label is not",
    ),
    "another place": (
        _config(id2label={"0": "entailment", "1": "neutral", "3": "contradiction"}),
        "id2label is not",
    ),
    "half a tokenizer": (_cut("tokenizer.json"), "tokenizer.json cannot be read"),
    "another tokenizer": (
        lambda folder: (folder / "tokenizer.json").write_text("{}"),
        "tokenizer.json cannot be read",
    ),
    "half a model": (_cut("model.onnx"), "model.onnx cannot be loaded"),
    "an empty model": (
        lambda folder: (folder / "model.onnx").write_bytes(b""),
        "model.onnx cannot be loaded",
    ),
    "no graph": (
        lambda folder: (folder / "model.onnx").write_bytes(b"\0" * 500),
        "model.onnx cannot be loaded",
    ),
    "two numbers": (lambda folder: make_constant(folder, [0, 1]), "a number for each label"),
    "other inputs": (
        lambda folder: make_constant(folder, [0, 1, 2], inputs=("input_ids", "pixels")),
        "takes other inputs",
    ),
    "a lone half of tokenizer_config": (
        lambda folder: (folder / "tokenizer_config.json").write_text('{"model_max'),
        "tokenizer_config.json cannot be read",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_folder_that_holds_no_such_model_is_refused(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """At once, by a message that names the file, and not by a strange verdict later.

    Proves: V7 (the inference model)
    """
    folder = make_folder(tmp_path / "m")
    broken, message = BROKEN[name]
    broken(folder)
    with pytest.raises(BadModel, match=message):
        NliJudge(folder)
    assert capfd.readouterr().err == ""


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """It holds none of the files.

    Proves: V7 (the inference model)
    """
    with pytest.raises(BadModel, match=r"config.json, tokenizer.json, model.onnx"):
        NliJudge(tmp_path / "nowhere")
