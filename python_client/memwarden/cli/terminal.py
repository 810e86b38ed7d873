"""Printing for people and for programs: tables that survive a pipe, JSON, harmless text."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_PIPE_WIDTH = 100


def console() -> Console:
    """Return a console for stdout: colours and lines on a terminal, plain text elsewhere."""
    piped = not sys.stdout.isatty()
    width = _PIPE_WIDTH if piped and "COLUMNS" not in os.environ else None
    return Console(width=width, highlight=False, soft_wrap=False)


def is_plain(to: Console) -> bool:
    """Whether the output is a pipe, a file or a terminal that cannot move its cursor."""
    return not to.is_terminal or to.is_dumb_terminal


def table(
    to: Console, *headings: str, right: Sequence[str] = (), whole: Sequence[str] = ()
) -> Table:
    """Return an empty table; columns named in `right` are aligned there.

    Neither these nor the `whole` ones are broken into lines, so that an id can be copied.
    """
    result = Table(
        box=None if is_plain(to) else box.SIMPLE_HEAD, pad_edge=False, header_style="bold"
    )
    for heading in headings:
        result.add_column(
            heading,
            justify="right" if heading in right else "left",
            no_wrap=heading in right or heading in whole,
            overflow="fold",
        )
    return result


def show_fields(value: DataclassInstance, skip: Sequence[str] = ()) -> None:
    """Print one result as a table of names and values, without what is None."""
    out = console()
    rows = table(out, "", "")
    rows.show_header = False
    for each in fields(value):
        member = getattr(value, each.name)
        if member is not None and each.name not in skip:
            rows.add_row(each.name.replace("_", " "), cell(member))
    out.print(rows)


def cell(value: object) -> Text:
    """Return one table cell; remembered content is shown as it is and never as markup."""
    match value:
        case None:
            return Text("-", style="dim")
        case Text():
            return value
        case bool():
            return Text("yes" if value else "no")
        case float():
            return Text(f"{value:.3f}")
        case datetime():
            return Text(f"{local(value):%Y-%m-%d %H:%M:%S}")
        case str():
            return Text(printable(value))
        case dict() | list():
            return Text(printable(json.dumps(value, ensure_ascii=False)))
        case _:
            return Text(printable(str(value)))


def lines(*values: object) -> Text:
    """Return a cell with each value on a line of its own, without those that are None."""
    return Text("\n").join(cell(value) for value in values if value is not None)


def instant(value: datetime) -> str:
    """Return a time that tells two moments of the same second apart, as history needs."""
    return f"{local(value):%Y-%m-%d %H:%M:%S.%f}"


def local(value: datetime) -> datetime:
    """Return the time in the zone of whoever reads it: the zone in which options are read."""
    try:
        return value.astimezone()
    except OverflowError:  # infinity, which a connection of ours reads as the last datetime
        return value


def shortened(text: str, characters: int) -> str:
    """Return the text on one line, cut with an ellipsis where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def printable(text: str) -> str:
    """Return text that cannot steer a terminal: control and direction marks become escapes.

    What an agent remembers may have been written by an attacker, and is shown to a person.
    """
    return "".join(
        character
        if character in _HARMLESS or unicodedata.category(character) not in _UNSAFE
        else character.encode("unicode_escape").decode()
        for character in text
    )


_HARMLESS = "\n\t\N{ZERO WIDTH JOINER}"  # the joiner holds emoji together
_UNSAFE = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))


def print_json(value: object) -> None:
    """Print a result, or a list of results, as one JSON document."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=True, default=str))


def print_json_line(value: object) -> None:
    """Print one of the lines of a command that goes on: a JSON document without a line break."""
    print(json.dumps(_plain(value), ensure_ascii=True, default=str), flush=True)


def print_names(named: dict[str, str], as_json: bool) -> None:
    """Print what there is by name, such as plug-ins and where each comes from."""
    if as_json:
        print_json(named)
        return
    for name, value in named.items():
        print(f"{name}  {value}")


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(member) for name, member in asdict(value).items()}
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, datetime) else value
