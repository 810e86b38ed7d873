"""A write request, and the two forms in which it travels: SQL arguments and a JSON object."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from memwarden._adapt import zoned
from memwarden._json import UNREADABLE, json_or_mark, lenient_json, strict_json
from memwarden._lists import listed, several
from memwarden._request_id import new_request_id
from memwarden.errors import InvalidArgument, InvalidContent
from memwarden.telemetry import current_trace_id

# A batch is one SQL parameter. PostgreSQL takes a gigabyte; far less keeps both ends small.
_BATCH_CHARACTERS = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest:
    """The arguments of the SQL function `write`, by the same names.

    `content` is any JSON value. `content_text` replaces it with JSON text that the server parses:
    text that is not JSON is then a recorded refusal. `confidence` and `importance` lie in 0..1;
    a date without a time zone counts as local time, as everywhere in Python. `request_id` is made
    when the object is: the same object written twice counts once. `write_class` is the argument
    `class`, a word that Python keeps for itself; a mapping may use either name. `trace_id` is the
    id of the current OpenTelemetry trace where left out.
    """

    layer: str
    content: Any = None
    content_text: str | None = None
    subject: str | None = None
    predicate: str | None = None
    scope: str | None = None
    confidence: float | None = None
    evidence: Sequence[Mapping[str, Any]] = ()
    embedding: Sequence[float] | None = None
    ttl: timedelta | None = None
    deadline: datetime | None = None
    idempotency_key: str | None = None
    request_id: UUID = field(default_factory=new_request_id)
    kind: str | None = None
    importance: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    embedding_model: str | None = None
    trace_id: str | None = None
    classification: str | None = None
    domains: Sequence[str] | None = None
    attributes: Mapping[str, Any] | None = None
    origin: Mapping[str, Any] | None = None
    write_class: str | None = None
    justification: str | None = None
    corrects: UUID | None = None


_FIELDS = tuple(each.name for each in fields(WriteRequest))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadRequest(WriteRequest):
    """Something given that is no request, sent as it is: the server refuses and records it."""

    layer: str = ""
    given: object


def argument_name(field_name: str) -> str:
    """Return the name that a field has as an argument of the SQL function."""
    return "class" if field_name == "write_class" else field_name


def as_request(value: WriteRequest | Mapping[str, Any]) -> WriteRequest:
    """Return the request that a mapping of argument names describes.

    Raises:
        InvalidArgument: a name is unknown or `layer` is missing.
    """
    if isinstance(value, WriteRequest):
        return value
    try:
        return WriteRequest(
            **{"write_class" if name == "class" else name: each for name, each in value.items()}
        )
    except TypeError as error:
        raise InvalidArgument(
            str(error).removeprefix("WriteRequest.__init__() "),
            hint=f"A request has the names {', '.join(map(argument_name, _FIELDS))}.",
        ) from None


def sent_anyway(value: object) -> WriteRequest:
    """Return the request that a value describes; otherwise one that the server refuses."""
    try:
        return as_request(value)  # type: ignore[arg-type]
    except (AttributeError, InvalidArgument):
        return UnreadRequest(given=value)


def sql_arguments(request: WriteRequest) -> dict[str, Any]:
    """Return the parameters of one `write` call.

    Raises:
        InvalidContent: the content, the evidence or an attribute is not JSON that the database
            can hold.
    """
    arguments = {name: getattr(request, name) for name in _FIELDS}
    if request.trace_id is None:
        arguments["trace_id"] = current_trace_id()
    text = arguments.pop("content_text")
    arguments["content"] = strict_json(request.content) if text is None else text
    arguments["evidence"] = strict_json(listed("evidence", request.evidence))
    if request.embedding is not None:
        arguments["embedding"] = single_precision(request.embedding)
    if request.domains is not None:
        arguments["domains"] = listed("domains", request.domains)
    if request.attributes is not None:
        arguments["attributes"] = strict_json(request.attributes)
    if request.origin is not None:
        arguments["origin"] = strict_json(request.origin)
    return arguments


def single_precision(embedding: Sequence[float]) -> list[float]:
    """Return the numbers rounded to what a `real` holds.

    What is too large becomes infinite, which the schema gate refuses by name. Sent as it is,
    PostgreSQL would fail the whole call, also on a number too small.
    """
    return list(array("f", listed("embedding", embedding)))


def json_object(request: WriteRequest) -> str:
    """Return the request as one element of the array that `write_many` takes.

    Never raises for a value: content, evidence, attributes or origin that are not JSON are sent in
    a form that the server refuses and records, so that one bad request harms no other.
    """
    if isinstance(request, UnreadRequest):
        return _unread_object(request)
    members: dict[str, str] = {}
    for name in _FIELDS:
        value = getattr(request, name)
        if value is not None and name not in _OWN_FORM:
            members[argument_name(name)] = _json_scalar(value)
    if request.trace_id is None and (trace_id := current_trace_id()) is not None:
        members["trace_id"] = json.dumps(trace_id)
    if request.content_text is not None:
        members["content_text"] = json.dumps(request.content_text)
    else:
        try:
            members["content"] = strict_json(request.content)
        except InvalidContent:
            members["content_text"] = json.dumps(lenient_json(request.content))
    members["evidence"] = json_or_mark(_listed(request.evidence), _REFUSED)
    if request.attributes is not None:
        members["attributes"] = json_or_mark(request.attributes, _REFUSED)
    if request.origin is not None:
        members["origin"] = json_or_mark(request.origin, _REFUSED)
    if request.domains is not None:
        domains = _listed(request.domains)
        members["domains"] = json_or_mark(
            [str(each) for each in domains] if isinstance(domains, list) else domains, _REFUSED
        )
    if request.embedding is not None:
        try:
            numbers = array("f", request.embedding)
        except (TypeError, ValueError):
            members["embedding"] = '"no numbers"'
        else:
            members["embedding"] = f"[{','.join(map(_json_real, numbers))}]"
    return "{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}"


def capture_object(given: Any) -> str:
    """Return a capture as one element of the array that `capture_many` takes.

    Never raises for a value: what is not JSON is sent in a form that the server refuses, so that
    one bad capture harms no other. A date without a time zone counts as local time.
    """
    if not isinstance(given, Mapping):
        return json_or_mark(given)
    members: dict[str, str] = {}
    trace_id = current_trace_id()
    if trace_id is not None and "trace_id" not in given:
        members["trace_id"] = json.dumps(trace_id)
    for name, value in given.items():
        if isinstance(value, datetime | UUID):
            text = _json_scalar(value)
        elif name == "content":
            text = json_or_mark(value)
            if text == UNREADABLE:
                name, text = "content_text", json.dumps(lenient_json(value))
        else:
            text = json_or_mark(_listed(value) if name in _LISTS else value)
        members[argument_name(str(name))] = text
    return "{" + ",".join(f"{json_or_mark(name)}:{text}" for name, text in members.items()) + "}"


_LISTS = frozenset(("domains", "captured_for"))

_OWN_FORM = frozenset(
    ("content", "content_text", "evidence", "embedding", "domains", "attributes", "origin")
)


def _unread_object(request: UnreadRequest) -> str:
    """Return what was given, under the id that the request has here; a mark where it is no JSON."""
    given = request.given
    if isinstance(given, Mapping):
        given = {**given, "request_id": given.get("request_id") or str(request.request_id)}
    return json_or_mark(given, _REFUSED)


def _listed(value: Any) -> Any:
    """Return a sequence as a list; what is none as it is, for the server to refuse."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


_REFUSED = '"not JSON"'
"""What gates refuse with a reason, where an object or a list is asked for."""


def _json_scalar(value: object) -> str:
    match value:
        case datetime():
            return json.dumps(zoned(value).isoformat())
        case timedelta():
            # Days stay days: 24 hours and a day differ when clocks change.
            seconds = f"{value.seconds}.{value.microseconds:06}"
            return json.dumps(f"{value.days} days {seconds} seconds")
        case float() if not math.isfinite(value):
            return json.dumps(str(value))
        case bool() | int() | float():
            return json.dumps(value)
        case _:
            return json.dumps(str(value))


def _json_real(value: float) -> str:
    """Nine digits carry a `real` exactly; PostgreSQL reads nan and inf from strings."""
    return f"{value:.9g}" if math.isfinite(value) else f'"{value}"'


def in_batches(
    requests: Iterable[Any], size: int, read: Callable[[Any], WriteRequest] = as_request
) -> Iterator[list[WriteRequest]]:
    """Cut any iterable into lists of at most `size`, reading no further than needed."""
    rest = iter(several("requests", requests))
    while batch := [read(each) for each in islice(rest, size)]:
        yield batch


def payloads(batch: Sequence[WriteRequest]) -> Iterator[tuple[list[WriteRequest], str]]:
    """Yield the batch as JSON arrays with their requests, cut again where one would grow huge."""
    part: list[WriteRequest] = []
    objects: list[str] = []
    characters = 0
    for request in batch:
        text = json_object(request)
        if part and characters + len(text) > _BATCH_CHARACTERS:
            yield part, f"[{','.join(objects)}]"
            part, objects, characters = [], [], 0
        part.append(request)
        objects.append(text)
        characters += len(text)
    if part:
        yield part, f"[{','.join(objects)}]"
