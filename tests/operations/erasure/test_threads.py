"""Threads of a checkpointer beside the store: who sees them, and how they end."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

pytest.importorskip("langgraph.checkpoint.postgres", reason="needs memwarden[langgraph]")

from langgraph.checkpoint.base import empty_checkpoint

from memwarden.langgraph import checkpointer

if TYPE_CHECKING:
    from conftest import World
    from operations.erasure.conftest import Desk

THREADS = "SELECT DISTINCT thread_id FROM memwarden_threads.checkpoints ORDER BY 1"


def put(saver: Any, thread: str, user: str, said: str, at: str | None = None) -> None:
    """A checkpoint of a thread, with its state and a pending write."""
    config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"said": [said]}
    if at is not None:
        checkpoint["ts"] = at
    versions: Any = {"said": saver.get_next_version(None, None)}
    checkpoint["channel_versions"] = versions
    saved = saver.put(config, checkpoint, {"user_id": user}, versions)
    saver.put_writes(saved, [("said", [said])], "task")


def threads(world: World) -> list[str]:
    """The threads that are there."""
    return [row["thread_id"] for row in world.rows(THREADS)]


def open_for(stack: ExitStack, world: World, scope: str) -> Any:
    """A saver of a new agent that logs in as itself."""
    login = world.register(scope)
    world.admin.execute(f'GRANT USAGE ON SCHEMA memwarden_threads TO "{login}"')
    rights = "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memwarden_threads"
    world.admin.execute(f'GRANT {rights} TO "{login}"')
    return stack.enter_context(checkpointer(make_conninfo(world.dsn, user=login)))


def test_threads_are_their_logins_own_and_end_with_a_person_or_with_age(desk: Desk) -> None:
    """The thread's name is chosen by the caller; whose it is, is told by the login.

    Proves: N11
    """
    world = desk.world
    world.scope("/org/elsewhere/user/ana")
    # Without the tables nothing is missed, and nothing fails.
    with pytest.raises(psycopg.errors.UndefinedObject):
        desk.erase("Zora Zimt")
    with checkpointer(world.dsn, setup=True), ExitStack() as stack:
        ours = open_for(stack, world, desk.home)
        theirs = open_for(stack, world, "/org/elsewhere/user/ana")
        put(ours, "zora", "zora  zimt", "hello")
        put(
            ours, "named", "bo", "Write to zora@example.org, please; she is away until Monday noon."
        )
        put(ours, "müller", "bo", "Frau Müller-Babić ruft an.")
        put(ours, "kept", "bo", "zoraster@example.organ")
        put(theirs, "zora", "Zora Zimt", "hello")
        assert [each.checkpoint["channel_values"] for each in theirs.list(None)] == [
            {"said": ["hello"]}
        ]
        assert ours.get_tuple({"configurable": {"thread_id": "kept"}}) is not None
        assert theirs.get_tuple({"configurable": {"thread_id": "kept"}}) is None
        theirs.delete_thread("kept")
        assert threads(world) == ["kept", "müller", "named", "zora"]

        dry = desk.erase("Zora Zimt", "zora@example.org", dry_run=True)
        assert (dry["status"], threads(world)) == ("DRY_RUN", ["kept", "müller", "named", "zora"])
        done = desk.erase("Zora Zimt", "zora@example.org", "Babić")
        assert done["places"]["checkpoints"] == 3
        assert done["places"]["checkpoint_blobs"] == done["places"]["checkpoint_writes"] == 3
        assert threads(world) == ["kept", "zora"]
        assert theirs.get_tuple({"configurable": {"thread_id": "zora"}}) is not None

        put(ours, "old", "bo", "hello", at="2020-01-01T00:00:00+00:00")
        put(ours, "resumed", "bo", "hello", at="2020-01-01T00:00:00+00:00")
        put(ours, "resumed", "bo", "hello again")
        [held] = world.rows(
            "SELECT h.hold_id AS id"
            " FROM memwarden.hold('a court asked', subject => 'Bo', org => %s) AS h",
            desk.org,
        )
        world.admin.execute("CALL memwarden.delete_old_records()")
        assert threads(world) == ["kept", "old", "resumed", "zora"]
        world.rows("SELECT memwarden.lift_hold(%s, 'the court is content')", held["id"])
        world.admin.execute("CALL memwarden.delete_old_records()")
        world.admin.execute("CALL memwarden.delete_old_records()")
        assert threads(world) == ["kept", "resumed", "zora"]

        # Tables of somebody else may have triggers: nobody with the rights of the store goes there.
        world.admin.execute("CREATE ROLE somebody_of_threads")
        world.admin.execute(
            "ALTER TABLE memwarden_threads.checkpoints OWNER TO somebody_of_threads"
        )
        put(ours, "old", "bo", "hello", at="2020-01-01T00:00:00+00:00")
        world.admin.execute("CALL memwarden.delete_old_records()")
        assert threads(world) == ["kept", "old", "resumed", "zora"]
        world.admin.execute("ALTER TABLE memwarden_threads.checkpoints OWNER TO postgres")
        world.admin.execute("DROP ROLE somebody_of_threads")
