"""What became of the operations of a store, and the errors that say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from langgraph.store.base import Op, PutOp, Result

from memwarden.errors import InvalidArgument, MemwardenError
from memwarden.results import WriteResult
from memwarden.transfer.identifiers import Namespace

OnRefusal = Literal["raise", "return", "ignore"]
# What an operation gave: an answer, the decision on a put that is not in effect, or an error.
Outcome = Result | WriteResult | Exception
Decided = tuple[Namespace, str, WriteResult]


class PutRefused(MemwardenError):
    """A gate refused a put or delete: it is not stored, nor later. All others took effect.

    Attributes:
        refused: for each, namespace, key and the result that says which gate, and why.
        deferred: the same of those of the batch that wait.
    """

    def __init__(self, refused: Sequence[Decided], deferred: Sequence[Decided] = ()) -> None:
        super().__init__(
            f"memwarden refused {len(refused)} of the puts: {_reasons(refused)}",
            hint="reasons() explains each; on_refusal='return' gives results instead.",
        )
        self.refused = list(refused)
        self.deferred = list(deferred)


class PutDeferred(MemwardenError):
    """A put or delete waits, and takes effect later: a person decides, or the server tries again.

    Until then a get does not find it. All others of its batch took effect.

    Attributes:
        deferred: for each, namespace, key and the result that says what it waits for.
    """

    def __init__(self, deferred: Sequence[Decided]) -> None:
        calls = " ".join(
            f"SELECT memwarden.approve('{result.request_id}');" for _, _, result in deferred
        )
        super().__init__(
            f"memwarden stores {len(deferred)} of the puts later: {_reasons(deferred)}",
            hint="A reviewer decides on the page of the console, or calls reject() or approve(): "
            f"{calls} What waits for no person the server tries again.",
        )
        self.deferred = list(deferred)


def known(on_refusal: OnRefusal) -> OnRefusal:
    """The same.

    Raises:
        InvalidArgument: there is no such choice.
    """
    if on_refusal not in ("raise", "return", "ignore"):
        raise InvalidArgument(
            "on_refusal is not known", hint="It is 'raise', 'return' or 'ignore'."
        )
    return on_refusal


def answered(ops: Sequence[Op], outcomes: Sequence[Outcome], on_refusal: OnRefusal) -> list[Result]:
    """What a batch answers.

    Raises:
        Exception: an operation failed.
        PutRefused, PutDeferred: a put is not in effect, with on_refusal="raise".
    """
    refused: list[Decided] = []
    deferred: list[Decided] = []
    for op, outcome in zip(ops, outcomes, strict=True):
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, WriteResult) and isinstance(op, PutOp):
            each = (tuple(op.namespace), op.key, outcome)
            (deferred if outcome.deferred else refused).append(each)
    if on_refusal == "raise" and refused:
        raise PutRefused(refused, deferred)
    if on_refusal == "raise" and deferred:
        raise PutDeferred(deferred)
    if on_refusal == "ignore":
        outcomes = [None if isinstance(each, WriteResult) else each for each in outcomes]
    return cast("list[Result]", list(outcomes))


def _reasons(decided: Sequence[Decided]) -> str:
    return ", ".join(sorted({_reason(result) for _, _, result in decided}))


def _reason(result: WriteResult) -> str:
    """The reason, with the server's words on what the content lacks."""
    detail = result.detail if isinstance(result.detail, dict) else {}
    errors = [each.get("message") for each in detail.get("errors") or [] if isinstance(each, dict)]
    words = "; ".join(str(each) for each in errors if each)
    reason = str(result.reason or result.outcome)
    return f"{reason} ({words})" if words else reason
