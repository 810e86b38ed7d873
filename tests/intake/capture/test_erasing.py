"""Who is erased is gone from the capture log, and from what was made of it."""

from __future__ import annotations

from conftest import World
from intake.capture.conftest import Agent, capture, extract, said
from operations.erasure.conftest import Desk

TABLES = ("capture", "capture_key", "extraction", "candidate")


def counts(world: World) -> list[int]:
    """How many rows each table of the fabric has."""
    return [world.value(f"SELECT count(*) FROM memwarden_data.{name}") for name in TABLES]


def test_captures_that_name_somebody_are_erased_with_what_rests_on_them(world: World) -> None:
    """Also a memory that names nobody; what others said stays.

    Proves: R1 (captures), F1
    """
    desk = Desk(world)
    agent: Agent = desk.agent()
    capture(agent, said("I live in Rome, near Petra.", "Ana"), external_id="1")
    kept = capture(agent, said("I live in Oslo", "Bo"), external_id="2")
    assert [row["outcome"] for row in extract(agent)] == ["COMMITTED", "COMMITTED"]
    row = desk.erase("Petra", "petra")
    assert (row["status"], row["evidence"], row["items"]) == ("COMPLETED", 1, 1)
    assert counts(world) == [1, 1, 1, 1]
    assert world.value("SELECT capture_id FROM memwarden_data.capture") == kept
    assert desk.findings() == []
    assert extract(agent) == []


def test_who_spoke_is_erased_without_being_named(world: World) -> None:
    """Read again by another version, the capture would say it anew.

    Proves: R1 (captures)
    """
    desk = Desk(world)
    agent = desk.agent()
    capture(agent, said("I live in Rome", "Petra"))
    capture(agent, {"messages": [said("My name is Petra")]})
    extract(agent)
    desk.erase("Petra")
    assert counts(world)[0] == 1
    desk.erase("Petra", "petra")
    assert counts(world) == [0, 0, 0, 0]


def test_a_capture_that_was_restored_is_erased_again(world: World) -> None:
    """By the list that lies apart from the backups.

    Proves: R1 (restored captures)
    """
    desk = Desk(world)
    agent = desk.agent()
    capture(agent, said("I live near Petra"))
    world.admin.execute("CREATE SCHEMA backup")
    world.admin.execute("CREATE TABLE backup.capture AS TABLE memwarden_data.capture")
    desk.erase("Petra", "petra")
    erasures = desk.export()
    assert counts(world)[0] == 0
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute("INSERT INTO memwarden_data.capture SELECT * FROM backup.capture")
    desk.apply(erasures)
    assert counts(world)[0] == 0
