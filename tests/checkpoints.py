"""What tests of LangGraph's checkpointer share: logins that write threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

pytest.importorskip("langgraph.checkpoint.postgres", reason="needs memwarden[langgraph]")

from langgraph.checkpoint.base import empty_checkpoint

from memwarden.langgraph import checkpointer

if TYPE_CHECKING:
    from conftest import World

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")


def let_in(world: World, login: str) -> None:
    """Let a login use the schema of the checkpointer, as a superuser does it once."""
    world.admin.execute(f'GRANT USAGE ON SCHEMA memwarden_threads TO "{login}"')
    rights = "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memwarden_threads"
    world.admin.execute(f'GRANT {rights} TO "{login}"')


@contextmanager
def saver_of(world: World, login: str) -> Iterator[Any]:
    """A saver of a login that may use the schema."""
    let_in(world, login)
    with checkpointer(make_conninfo(world.dsn, user=login)) as saver:
        yield saver


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
