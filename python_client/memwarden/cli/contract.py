"""`memwarden contract`: the published forms of a write request and of a resumed task."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from memwarden.contract import proto, resumption_schema_text, schema_text


class Form(StrEnum):
    """A form of the contract."""

    SCHEMA = "schema"
    PROTO = "proto"
    RESUMPTION = "resumption"


def contract(
    form: Annotated[
        Form,
        typer.Argument(
            help="schema: JSON Schema 2020-12; proto: Protocol Buffers 3; resumption: "
            "JSON Schema of what resume_session() answers."
        ),
    ] = Form.SCHEMA,
) -> None:
    """Print the contract of a write request, or of a resumed task, with its version."""
    texts = {
        Form.SCHEMA: schema_text,
        Form.PROTO: proto,
        Form.RESUMPTION: resumption_schema_text,
    }
    print(texts[form](), end="")
