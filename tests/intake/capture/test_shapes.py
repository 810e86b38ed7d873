"""What people export is read by the rules, and what has no known shape is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from intake.capture.conftest import capture, extract, function
from memwarden import Client
from memwarden.cli import app
from python.exports import FORMATS, UNKNOWN
from shipped import SCOPE

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as `memwarden init` leaves it."""
    return shipped.world


def told(who: Any) -> list[str]:
    """What status() tells somebody of captures."""
    rows = who.execute("SELECT * FROM memwarden.status() WHERE component = 'captures'").fetchall()
    assert {row["state"] for row in rows} <= {"warning"}
    return [row["detail"].split(": ")[0] for row in rows]


@pytest.mark.every_version
def test_what_is_exported_becomes_memories(shipped: Shipped) -> None:
    """In each format, and in odd layout: a memory in the words that were said, and no fault.

    Proves: F2
    """
    application = shipped.application
    made = {
        capture(application, form([f"I\u00a0collect {name.replace('_', '')}s."]), scope=SCOPE)
        for name, form in FORMATS.items()
    }
    odd = {"role": "user", "text": "\ufeff\u2022 I\u2009collect\r\nice\u200b skates"}
    made.add(capture(application, odd, scope=SCOPE))
    rows = extract(application, k=1000)
    assert {row["capture_id"] for row in rows if row["candidates"]} == made
    assert {(row["fault"], row["unread"], row["dropped"]) for row in rows} == {(None, 0, 0)}
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    assert told(application) == []
    # Each rests on the words of its speaker, wherever the program keeps who that is.
    cited = shipped.world.rows(
        "SELECT v.subject, v.evidence #>> '{0,recorded,speaker}' AS speaker, i.standing"
        " FROM memwarden_data.version AS v JOIN memwarden_data.item AS i USING (org_id, item_id)"
    )
    assert all(row["subject"] == (row["speaker"] or "user") for row in cited)
    by = {row["subject"] for row in cited}
    assert by >= {"user", "U0A1", "Ana <user7>", "Ana <7>", "@ana:example.org", "Ana Maria"}
    assert {row["standing"] for row in cited if row["subject"][0] != "@"} == {"supported"}
    kept = shipped.agent.execute("SELECT content ->> 'collects' AS what FROM memwarden.items")
    assert {row["what"] for row in kept} == {
        *(f"{name.replace('_', '')}s" for name in FORMATS),
        "ice skates",
    }


@pytest.mark.every_version
def test_what_has_no_known_shape_is_a_fault_that_is_counted(shipped: Shipped) -> None:
    """By extract(), once, and by status() until another extractor has read it; others see none.

    Proves: F2
    """
    application = shipped.application
    client = Client(application)
    unread = [capture(application, each) for each in UNKNOWN]
    mixed = capture(application, [*UNKNOWN, FORMATS["gemini"](["I collect stamps."])], source="mix")
    rows = client.extract(k=1000)
    count = len(UNKNOWN)
    assert {each.capture_id: (each.fault, each.unread, each.outcome) for each in rows} == {
        **dict.fromkeys(unread, ("0A000", 1, None)),
        mixed: ("0A000", count, "COMMITTED"),
    }
    # Nothing is gained by reading it again.
    assert client.extract() == []
    assert (
        told(application)
        == told(shipped.world.admin)
        == [
            f"{count + 1} captures of chat, mix hold {2 * count} parts in a shape that the built-in"
            " rules do not know"
        ]
    )
    assert told(shipped.agent) == told(shipped.reviewer) == []
    made = function(shipped.world, "own", "BEGIN RETURN; END")
    shipped.world.admin.execute(
        "SELECT memwarden.define_extractor('own', source => 'chat', function => %s)", (made,)
    )
    assert len(extract(application, extractor="own", extractor_version=1, k=1000)) == count
    assert told(application) == [
        f"1 captures of mix hold {count} parts in a shape that the built-in rules do not know"
    ]


def test_the_command_tells_of_it(shipped: Shipped) -> None:
    """With an exit code of its own beside the count.

    Proves: F2
    """
    capture(shipped.application, UNKNOWN[0])
    info = shipped.application.info
    dsn = make_conninfo(info.dsn, user=info.user, dbname=info.dbname)
    ran = CliRunner().invoke(app, ["extract", "--dsn", dsn])
    assert ran.exit_code == 4, ran.output
    assert "0A000" in ran.output
    assert "1 of unknown shape" in ran.output
