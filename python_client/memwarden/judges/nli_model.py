"""A cross-encoder for natural language inference, run by onnxruntime from local files.

The folder is what a model's repository holds: `config.json`, `tokenizer.json`, where there is one
`tokenizer_config.json`, and `model.onnx` (or `onnx/model.onnx`). Nothing is downloaded here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_USUAL_TOKENS = 512
_BATCH = 16
# In these, positions are counted from behind the number of the padding token.
_OFFSET_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert"})


class BadModel(Exception):
    """The folder holds no model that can be used; the message says what is wrong with it."""


class Outcome(NamedTuple):
    """What a hypothesis is to a premise: probabilities that add up to 1."""

    entailment: float
    neutral: float
    contradiction: float

    @property
    def label(self) -> str:
        """The likeliest; of two that are equal, the one that says less."""
        return max(("neutral", "entailment", "contradiction"), key=lambda each: getattr(self, each))


class NliModel:
    """Takes pairs of texts. `version` is made from the files, so that it changes with them."""

    def __init__(
        self, folder: Path | str, *, max_tokens: int | None = None, threads: int = 0
    ) -> None:
        """Load the model.

        `max_tokens`: of both texts together, bounded by what the model takes; 512 by default.
        `threads`: for one batch; 0 for as many as there are cores.

        Raises:
            BadModel: files are missing, damaged, or those of another kind of model.
        """
        files = _files(Path(folder))
        config = _object(files["config.json"])
        self._columns = _columns(config)
        self._tokenizer = _tokenizer(files["tokenizer.json"])
        self._padding = _whole(config, "pad_token_id") or 0
        most = _longest(config, files.get("tokenizer_config.json"), self._padding)
        self._max_tokens = min(max_tokens or _USUAL_TOKENS, most)
        self._session = _session(files["model.onnx"], threads)
        self._inputs = [each.name for each in self._session.get_inputs()]
        if "input_ids" not in self._inputs or not _INPUTS.issuperset(self._inputs):
            raise BadModel(f"model.onnx takes other inputs than {', '.join(sorted(_INPUTS))}")
        self.version = _digest(files)
        self._try()

    def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Outcome | None]:
        """Return what each (premise, hypothesis) comes to, in order.

        None where the two are too long for the model, or it answers with no numbers.
        """
        encoded = self._tokenizer.encode_batch(list(pairs))
        found: list[Outcome | None] = [None] * len(pairs)
        readable = [at for at, each in enumerate(encoded) if len(each.ids) <= self._max_tokens]
        # Long ones beside long ones, so that little is padded.
        readable.sort(key=lambda at: len(encoded[at].ids))
        for start in range(0, len(readable), _BATCH):
            some = readable[start : start + _BATCH]
            for at, row in zip(some, self._logits([encoded[at] for at in some]), strict=True):
                found[at] = self._outcome(row)
        return found

    def _logits(self, batch: Sequence[Encoding]) -> NDArray[np.float64]:
        """Return numbers of shape (pairs, 3)."""
        shape = (len(batch), max(len(each.ids) for each in batch))
        feed = {name: np.zeros(shape, dtype=np.int64) for name in _INPUTS}
        feed["input_ids"] += self._padding
        for row, each in enumerate(batch):
            end = len(each.ids)
            feed["input_ids"][row, :end] = each.ids
            feed["attention_mask"][row, :end] = each.attention_mask
            feed["token_type_ids"][row, :end] = each.type_ids
        [logits] = self._session.run([self._output], {name: feed[name] for name in self._inputs})
        return np.asarray(logits, dtype=np.float64)

    def _outcome(self, logits: NDArray[np.float64]) -> Outcome | None:
        if not np.isfinite(logits).all():
            return None
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        return Outcome(*(float(shares[column]) for column in self._columns))

    @property
    def _output(self) -> str:
        names = [each.name for each in self._session.get_outputs()]
        return "logits" if "logits" in names else names[0]

    def _try(self) -> None:
        """See by one small question whether it answers as such a model does."""
        try:
            shape = self._logits(self._tokenizer.encode_batch([("one", "two")])).shape
        except Exception as error:
            raise BadModel(f"model.onnx cannot be run: {type(error).__name__}") from error
        if shape != (1, len(self._columns)):
            raise BadModel("model.onnx does not answer with a number for each label")


def _files(folder: Path) -> dict[str, Path]:
    """Where each file is, by the name that it usually has."""
    found = {
        name: folder / name
        for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.onnx")
        if (folder / name).is_file()
    }
    if "model.onnx" not in found and (folder / "onnx/model.onnx").is_file():
        found["model.onnx"] = folder / "onnx/model.onnx"
    missing = [n for n in ("config.json", "tokenizer.json", "model.onnx") if n not in found]
    if missing:
        raise BadModel(f"missing in the folder of the model: {', '.join(missing)}")
    return found


def _digest(files: Mapping[str, Path]) -> str:
    """Twelve digits that stand for all the files; large weights may lie beside model.onnx."""
    beside = files["model.onnx"].parent.glob("*.onnx?data")
    total = hashlib.sha256()
    for path in [*files.values(), *sorted(beside)]:
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:12]


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadModel(f"{path.name} cannot be read: {type(error).__name__}") from error
    if not isinstance(found, dict):
        raise BadModel(f"{path.name} is no JSON object")
    return found


def _columns(config: Mapping[str, Any]) -> tuple[int, ...]:
    """Which column is which: models differ, and say so in id2label."""
    labels = config.get("id2label")
    if not isinstance(labels, dict):
        raise BadModel("config.json has no id2label")
    places = {str(label).casefold(): place for place, label in labels.items()}
    if set(places) != set(Outcome._fields) or set(places.values()) != {"0", "1", "2"}:
        raise BadModel(f"config.json: id2label is not {', '.join(Outcome._fields)} by 0, 1, 2")
    return tuple(int(places[label]) for label in Outcome._fields)


def _tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more particular
        raise BadModel("tokenizer.json cannot be read") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _whole(config: Mapping[str, Any], name: str) -> int | None:
    """A count out of a file; tokenizers write 10^30 where they know no limit."""
    value = config.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1_000_000:
        return None
    return value


def _longest(config: Mapping[str, Any], beside: Path | None, padding: int) -> int:
    """How many tokens the model takes, the least of what its files say."""
    positions = _whole(config, "max_position_embeddings")
    if positions is not None and config.get("model_type") in _OFFSET_POSITIONS:
        positions -= padding + 1
    limits = [positions, _whole(_object(beside), "model_max_length") if beside else None]
    return min((each for each in limits if each), default=_USUAL_TOKENS)


def _session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # what is wrong is told by BadModel
    try:
        # Named, because another one that may be built in asks a service on the network.
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise BadModel(f"model.onnx cannot be loaded: {type(error).__name__}") from error
