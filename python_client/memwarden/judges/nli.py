"""The judge that a model for natural language inference makes.

Extra `nli` (onnxruntime, tokenizers, NumPy), no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memwarden.judges import Memory, NoVerdict, Relation, Verdict
from memwarden.judges.nli_model import NliModel, Outcome

_METHOD = "inference"


class NliJudge:
    """Asks in both directions: whether the new memory follows from the old one, and the reverse."""

    name = "nli"

    def __init__(
        self, folder: Path | str, *, max_tokens: int | None = None, threads: int = 0
    ) -> None:
        """Load the model; the arguments are those of `NliModel`.

        Raises:
            BadModel: the folder holds none that can be used.
        """
        self._model = NliModel(folder, max_tokens=max_tokens, threads=threads)
        self.version = self._model.version

    def judge(self, new: Memory, old: Memory) -> Verdict:
        """Return what `new` is to `old`.

        Raises:
            NoVerdict: the texts are too long, or one direction says yes and the other no.
        """
        [found] = self.judge_many(new, [old])
        if isinstance(found, NoVerdict):
            raise found
        return found

    def judge_many(self, new: Memory, olds: Sequence[Memory]) -> list[Verdict | NoVerdict]:
        """Do so for several memories, in order, many at a time."""
        onward = [(old.text, new.text) for old in olds]
        back = [(new.text, old.text) for old in olds]
        found = self._model.infer([*onward, *back])
        return [
            combined(*both) for both in zip(found[: len(olds)], found[len(olds) :], strict=True)
        ]


def combined(onward: Outcome | None, back: Outcome | None) -> Verdict | NoVerdict:
    """Make one relation of two directions, as sure as the less sure of them.

    A contradiction has no direction: the surer of the two says how sure it is. `onward` says
    whether the new memory follows from the old one, `back` the reverse.
    """
    if onward is None or back is None:
        # Of a text that is cut short another one would be judged.
        return NoVerdict("the texts are longer than the model reads", permanent=True)
    said = (onward.label, back.label)
    relation: Relation
    if "contradiction" in said:
        if "entailment" in said:
            return NoVerdict("the model says yes one way and no the other", permanent=True)
        relation, score = "contradicts", max(onward.contradiction, back.contradiction)
    elif said == ("entailment", "entailment"):
        relation, score = "same", min(onward.entailment, back.entailment)
    elif onward.label == "entailment":
        relation, score = "wider", onward.entailment
    elif back.label == "entailment":
        relation, score = "narrower", back.entailment
    else:
        relation, score = "unrelated", min(onward.neutral, back.neutral)
    why = {"new_from_old": _rounded(onward), "old_from_new": _rounded(back)}
    return Verdict(relation, score, _METHOD, why)


def _rounded(outcome: Outcome) -> dict[str, float]:
    return {name: round(share, 4) for name, share in outcome._asdict().items()}
