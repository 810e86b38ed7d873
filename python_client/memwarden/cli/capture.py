"""`memwarden capture`: what happened, as an application records it."""

from __future__ import annotations

from typing import Annotated

import typer

from memwarden.citing import captured
from memwarden.cli.options import AsJson, Dsn, Moment, connected
from memwarden.cli.terminal import print_json


def capture(
    source: Annotated[str, typer.Argument(help="Where it comes from, for example chat.")],
    text: Annotated[str, typer.Argument(help="What was said.")],
    *,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    role: Annotated[str, typer.Option(help="user, assistant, tool or system")] = "user",
    external_id: Annotated[str | None, typer.Option(help="Its id at the source.")] = None,
    scope: Annotated[str | None, typer.Option(help="Path; your own by default.")] = None,
    captured_at: Moment = None,
    captured_for: Annotated[
        list[str] | None, typer.Option(help="An agent that may cite it; may be repeated.")
    ] = None,
    dsn: Dsn = "",
    as_json: AsJson = False,
) -> None:
    """Record a turn of a conversation, and print the URI that evidence names it by."""
    turn = {"role": role, "speaker": speaker, "text": text}
    with connected(dsn) as memory:
        made = memory.capture(
            source,
            {name: value for name, value in turn.items() if value is not None},
            external_id=external_id,
            scope=scope,
            captured_at=captured_at,
            captured_for=captured_for,
        )
    uri = captured(made)["uri"]
    if as_json:
        print_json({"capture_id": made, "uri": uri})
    else:
        print(uri)
