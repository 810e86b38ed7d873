"""Small models for natural language inference, made by the tests that run them.

The one that thinks knows words and `not`: a text follows from one that has all its words and denies
as much; it is ruled out by one that has all its words and denies what it does not, or the reverse.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

SPECIAL = ("[CLS]", "[SEP]", "[UNK]", "[PAD]")
WORDS = ("not", "the", "lake", "is", "deep", "wide", "cold", "ana", "drinks", "tea", "coffee")
LABELS = ("contradiction", "entailment", "neutral")
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_VOCABULARY = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
_PAD = _VOCABULARY["[PAD]"]


def make_folder(
    folder: Path, *, labels: Sequence[str] = LABELS, directed: bool = False, **config: Any
) -> Path:
    """Write the model that thinks; its columns are in the order of `labels`.

    `directed`: only a premise that denies rules anything out, which no good model would say.
    """
    graph = _graph(labels, "Relu" if directed else "Abs")
    _write(folder, graph, labels, config)
    return folder


def make_constant(
    folder: Path,
    answer: Sequence[float],
    *,
    inputs: Sequence[str] = INPUTS,
    outputs: Sequence[str] = ("logits",),
    **config: Any,
) -> Path:
    """Write a model that says the same of everything; its other outputs are of no use."""
    weights = np.array([answer], dtype=np.float32)
    nodes = [
        # As many rows as there are pairs: the sum of no columns, and the answer.
        helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["ids", "zero"], ["nothing"]),
        helper.make_node("ReduceSum", ["nothing", "second"], ["rows"], keepdims=1),
        helper.make_node("Add", ["rows", "answer"], ["logits"]),
    ]
    constants = {
        "zero": np.zeros((), np.float32),
        "second": np.array([1], np.int64),
        "answer": weights,
    }
    _write(folder, _made(nodes, constants, inputs, outputs), LABELS, config)
    return folder


def _graph(labels: Sequence[str], difference: str) -> onnx.GraphProto:
    size = len(_VOCABULARY)
    counts = np.array([word not in (*SPECIAL, "not") for word in _VOCABULARY], np.float32)
    counts[_VOCABULARY["[UNK]"]] = 1
    # Whoever takes the padding for a part of the text is contradicted.
    denies = np.array([word in ("not", "[PAD]") for word in _VOCABULARY], np.float32)
    constants = {
        "size": np.array([size], np.int64),
        "off_on": np.array([0, 1], np.float32),
        "one": np.ones((), np.float32),
        "last": np.array([2], np.int64),
        "second": np.array([1], np.int64),
        "counts": counts,
        "denies": denies.reshape(size, 1),
        "missing_entailment": np.array(-20, np.float32),
        "missing_contradiction": np.array(-20, np.float32),
        "denied_entailment": np.array(-20, np.float32),
        "denied_contradiction": np.array(12, np.float32),
        "base_entailment": np.array(6, np.float32),
        "base_contradiction": np.array(-6, np.float32),
        "zero": np.zeros((), np.float32),
    }
    node = helper.make_node
    nodes = [
        node("OneHot", ["input_ids", "size", "off_on"], ["hot"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["type"], to=TensorProto.FLOAT),
        node("Mul", ["mask", "type"], ["of_hypothesis"]),
        node("Sub", ["mask", "of_hypothesis"], ["of_premise"]),
        *(
            each
            for side in ("premise", "hypothesis")
            for each in (
                node("Unsqueeze", [f"of_{side}", "last"], [f"{side}_column"]),
                node("Mul", ["hot", f"{side}_column"], [f"{side}_hot"]),
                node("ReduceMax", [f"{side}_hot"], [side], axes=[1], keepdims=0),
                node("MatMul", [side, "denies"], [f"{side}_denies"]),
            )
        ),
        node("Sub", ["hypothesis", "premise"], ["beyond"]),
        node("Relu", ["beyond"], ["new"]),
        node("Mul", ["new", "counts"], ["new_words"]),
        node("ReduceSum", ["new_words", "second"], ["missing"], keepdims=1),
        node("Sub", ["premise_denies", "hypothesis_denies"], ["difference"]),
        node(difference, ["difference"], ["denied"]),
        *(
            each
            for label in ("entailment", "contradiction")
            for each in (
                node("Mul", ["missing", f"missing_{label}"], [f"{label}_a"]),
                node("Mul", ["denied", f"denied_{label}"], [f"{label}_b"]),
                node("Add", [f"{label}_a", f"{label}_b"], [f"{label}_c"]),
                node("Add", [f"{label}_c", f"base_{label}"], [label]),
            )
        ),
        node("Mul", ["missing", "zero"], ["neutral"]),
        node("Concat", [label.lower() for label in labels], ["logits"], axis=1),
    ]
    return _made(nodes, constants, INPUTS, ["logits"])


def _made(
    nodes: Sequence[onnx.NodeProto],
    constants: dict[str, Any],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> onnx.GraphProto:
    return helper.make_graph(
        list(nodes),
        "toy",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "s"]) for n in inputs],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["b", None]) for n in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )


def _write(
    folder: Path, graph: onnx.GraphProto, labels: Sequence[str], config: dict[str, Any]
) -> None:
    folder.mkdir(exist_ok=True)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer = Tokenizer(WordLevel(_VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, _VOCABULARY[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    # As files on the hub often are; the judge pads and cuts by its own rules.
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(folder / "tokenizer.json"))
    described = {
        "id2label": {str(place): label for place, label in enumerate(labels)},
        "max_position_embeddings": 64,
        "pad_token_id": _PAD,
    }
    (folder / "config.json").write_text(json.dumps(described | config))
