"""The published forms of a write request and of a task that is resumed, for other clients.

The names and types are those of the SQL function memwarden.write(); a field is only ever added.
"""

from __future__ import annotations

from importlib.resources import files

VERSION = "1.0"


def schema_text() -> str:
    """Return the JSON Schema (2020-12) of one element of what write_many() takes."""
    return (files(__name__) / "write_request.schema.json").read_text(encoding="utf-8")


def proto() -> str:
    """Return the same in Protocol Buffers 3, with the result, for who fronts it with gRPC."""
    return (files(__name__) / "memwarden.proto").read_text(encoding="utf-8")


def resumption_schema_text() -> str:
    """Return the JSON Schema (2020-12) of the envelope that resume_session() answers with."""
    return (files(__name__) / "task_resumption.schema.json").read_text(encoding="utf-8")
