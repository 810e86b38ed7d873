"""`memwarden contract`: the published form of a write request."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from memwarden.contract import proto, schema_text


class Form(StrEnum):
    """A form of the contract."""

    SCHEMA = "schema"
    PROTO = "proto"


def contract(
    form: Annotated[
        Form, typer.Argument(help="schema: JSON Schema 2020-12; proto: Protocol Buffers 3.")
    ] = Form.SCHEMA,
) -> None:
    """Print the contract of a write request, with its version."""
    print(schema_text() if form is Form.SCHEMA else proto(), end="")
