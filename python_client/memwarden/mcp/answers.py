"""What a tool answers: JSON for programs, and for a refusal what the model can do about it."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from mcp_types import CallToolResult, TextContent

from memwarden.errors import (
    AlreadyExists,
    ChangedSince,
    ConnectionFailed,
    InvalidArgument,
    MemwardenError,
    NotAllowed,
    NotFound,
    NotIdentified,
    NotReady,
)
from memwarden.mcp.principals import Caller

_CODES: dict[type[MemwardenError], tuple[str, str]] = {
    NotIdentified: ("NOT_IDENTIFIED", "Ask whoever set up this server for a login or a token."),
    NotReady: (
        "NOT_READY",
        "What the call needs is not there, or is over. Do not repeat it.",
    ),
    NotAllowed: ("NOT_ALLOWED", "Do not repeat the call: this principal lacks the right."),
    NotFound: ("NOT_FOUND", "Check the id or name; search_memories finds what you may see."),
    AlreadyExists: ("ALREADY_EXISTS", "Use the one that exists."),
    ChangedSince: ("CHANGED_SINCE", "Read it again, then decide anew."),
    InvalidArgument: ("INVALID_ARGUMENT", "Correct the argument and call again."),
    ConnectionFailed: ("CONNECTION_FAILED", "Call again in a while; a repeated write counts once."),
}


def plain(value: Any) -> Any:
    """Return a result of the client as JSON values."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).isoformat()
        case datetime() | date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case UUID():
            return str(value)
        case bytes():
            return value.hex()
        case Mapping():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    return str(value)


def brief(value: Any) -> Any:
    """Return it as JSON values without what says nothing, so that a model reads less."""
    value = plain(value)
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if each not in (None, [], {})}
    if isinstance(value, list):
        return [brief(each) for each in value]
    return value


def result(value: Mapping[str, Any], *, failed: bool = False) -> CallToolResult:
    """Return the answer of a tool, the same as text and as structured content."""
    structured = plain(value)
    text = json.dumps(structured, ensure_ascii=False, indent=1)
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=structured,
        is_error=failed,
    )


def refusal(error: MemwardenError) -> CallToolResult:
    """Return an error of the client as an answer that a model can act on."""
    code, advice = next(
        (said for kind, said in _CODES.items() if isinstance(error, kind)),
        ("FAILED", "Tell the user; do not repeat the call as it is."),
    )
    told = {
        "refused": code,
        "message": str(error),
        "what_to_do": error.hint or advice,
        "detail": error.detail,
        "sqlstate": error.sqlstate,
    }
    return result({name: each for name, each in told.items() if each is not None}, failed=True)


async def decision(caller: Caller, decided: Any, *, verdict: bool = False) -> dict[str, Any]:
    """Return the decision on a write: its outcome and, unless stored, why and what to do.

    `verdict`: it is the answer to a reviewer, whose rejection is no refusal of the call.
    """
    told: dict[str, Any] = brief(decided)
    told.pop("ordinal", None)
    outcome, code = told.get("outcome"), told.get("reason")
    told["stored"] = outcome in ("COMMITTED", "MERGED", "ALREADY_COMMITTED")
    if verdict or told["stored"]:
        if code == "REPLACED":
            told["what_to_do"] = (
                "It took the place of what stood there (detail.replaced). Where both hold, say the "
                "earlier one again, and end the predicate of both with [], such as recommends[]."
            )
        return told
    known = await caller.reason(code)
    if known is not None:
        told["meaning"] = known.meaning
    advice = known.remedy if known else None
    if outcome == "DEFERRED":
        told["what_to_do"] = (
            "It waits and is not recalled yet. Go on; ask request_status with the request_id."
            + (f" {advice}" if advice else "")
        )
    else:
        told["what_to_do"] = advice or "Do not write the same again; the answer stays the same."
    return told


def refused(told: Mapping[str, Any]) -> bool:
    """Whether a decision is one that a model should see as a failure: nothing waits or is kept."""
    return told.get("outcome") in ("REJECTED", "DEADLINE_EXCEEDED")


Tool = Callable[..., Awaitable[CallToolResult]]


def answered(tool: Tool) -> Tool:
    """Have a tool answer errors of the client as refusals; others are the SDK's to hide."""

    @functools.wraps(tool)
    async def answering(*arguments: Any, **named: Any) -> CallToolResult:
        try:
            return await tool(*arguments, **named)
        except MemwardenError as error:
            return refusal(error)

    return answering
