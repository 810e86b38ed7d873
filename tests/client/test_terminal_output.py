"""What the commands print cannot steer a terminal and survives a pipe."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from uuid import UUID

import pytest
from rich.console import Console

from memwarden import ComponentStatus, WriteResult
from memwarden.cli.options import ExitCode, exit_code
from memwarden.cli.terminal import cell, print_json, printable, shortened, table


def test_control_and_direction_characters_become_escapes() -> None:
    """What is remembered may have been written by an attacker."""
    hostile = "a\x1b[2Jb\x9bc\u202ed\u2066e\x07\r\n\tf"
    shown = printable(hostile)
    assert shown == "a\\x1b[2Jb\\x9bc\\u202ed\\u2066e\\x07\\r\n\tf"


def test_emoji_that_are_joined_stay_whole() -> None:
    """The joiner is a format character and harmless."""
    family = "\U0001f469\u200d\U0001f467"
    assert printable(family) == family


def test_remembered_content_is_never_read_as_markup() -> None:
    """Square brackets are content."""
    out = Console(file=io.StringIO(), force_terminal=False, width=80)
    rows = table(out, "content")
    rows.add_row(cell("[bold red]not markup[/]"))
    out.print(rows)
    assert isinstance(out.file, io.StringIO)
    assert "[bold red]not markup[/]" in out.file.getvalue()
    assert "\x1b" not in out.file.getvalue()


def test_long_text_is_cut_and_stays_on_one_line() -> None:
    """A table row stays a row."""
    assert shortened("a  b\nc", 10) == "a b c"
    assert shortened("x" * 20, 10) == "x" * 9 + "…"


def test_json_output_is_one_document_of_plain_types(capsys: pytest.CaptureFixture[str]) -> None:
    """ASCII, so that it survives every pipe."""
    result = WriteResult(
        request_id=UUID(int=1),
        outcome="REJECTED",
        item_id=None,
        version_id=None,
        gate="25_schema",
        reason="SCHEMA_VIOLATION",
        detail={"path": "\x1b"},
        retry_after=datetime(2030, 1, 1, tzinfo=UTC),
    )
    print_json([result, ComponentStatus(component="a", state="ok", detail=None)])
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert "\x1b" not in printed
    first, second = json.loads(printed)
    assert first["request_id"] == str(UUID(int=1))
    assert first["retry_after"] == "2030-01-01T00:00:00+00:00"
    assert second["state"] == "ok"


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ("COMMITTED", 0),
        ("MERGED", 0),
        ("ALREADY_COMMITTED", 0),
        ("REJECTED", 3),
        ("DEFERRED", 4),
        ("DEADLINE_EXCEEDED", 5),
        ("AN_OUTCOME_OF_LATER", 1),
    ],
)
def test_each_kind_of_outcome_has_its_exit_code(outcome: str, code: int) -> None:
    """An outcome that this client does not know is a failure."""
    assert exit_code(outcome) == ExitCode(code)
