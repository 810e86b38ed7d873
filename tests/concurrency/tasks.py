"""A task of Ana's that closes while others write it."""

from __future__ import annotations

from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write, write_many
from replay import check_store
from scope_calls import check_tree

Agent = Connection[DictRow]

HOME = "/org/acme/user/ana"
TASK = f"{HOME}/task/t"


def check(world: World) -> None:
    """The tree, and the store."""
    check_tree(world.admin)
    check_store(world.admin)


def single(connection: Agent) -> str:
    """Write one thing to the task; return the reason, or the outcome."""
    row = write(connection, "episodic", "late", scope=TASK)
    return str(row["reason"] or row["outcome"])


def of_a_kind(connection: Agent) -> str:
    """Write one thing of a kind to the task, as ``single`` does: the kind is looked up."""
    row = write(connection, "episodic", "late", scope=TASK, kind="remark")
    return str(row["reason"] or row["outcome"])


def batch(connection: Agent) -> str:
    """Write a batch to the home and the task; return what became of the latter."""
    requests = [{"layer": "episodic", "content": "late", "scope": path} for path in (HOME, TASK)]
    home, task = write_many(connection, requests)
    assert home["outcome"] in ("COMMITTED", "ALREADY_COMMITTED")
    return str(task["reason"] or task["outcome"])
