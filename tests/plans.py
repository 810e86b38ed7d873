"""Plans that the server ran, those within functions included."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from psycopg import sql

if TYPE_CHECKING:
    from psycopg.rows import DictRow

    from conftest import World

SETTINGS = {
    "log_min_duration": "0",
    "log_analyze": "on",
    "log_timing": "off",
    "log_format": "json",
    "log_level": "notice",
    "log_nested_statements": "on",
}


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node of a plan and all below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def plans_of(
    world: World,
    role: str,
    query: str,
    parameters: Sequence[Any] | None = None,
    *,
    after: Sequence[tuple[str, Sequence[Any]]] = (),
) -> tuple[list[DictRow], list[dict[str, Any]]]:
    """The rows of a query that a login asks, and every node that ran for it.

    What its session has asked before is `after`: plans within functions stay as they were then.
    """
    heard: list[str] = []
    with world.connect(autocommit=False) as connection:
        connection.execute("LOAD 'auto_explain'")
        for name, value in SETTINGS.items():
            connection.execute(f"SET LOCAL auto_explain.{name} = {value}")
        connection.execute(
            sql.SQL("SET LOCAL SESSION AUTHORIZATION {}").format(sql.Identifier(role))
        )
        for statement in after:
            connection.execute(*statement)
        connection.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
        rows = connection.execute(query, parameters).fetchall()
    plans = [json.loads(text.split("plan:\n", 1)[1])["Plan"] for text in heard if "plan:\n" in text]
    return rows, [node for plan in plans for node in nodes(plan)]


def touched(node: dict[str, Any]) -> int:
    """How many rows a node has met, those included that it did not pass on."""
    removed = sum(value for name, value in node.items() if name.startswith("Rows Removed"))
    return int((node["Actual Rows"] + removed) * node["Actual Loops"])


def calls_of(world: World, role: str, query: str, *, before: str = "") -> dict[str, int]:
    """How often each function was called for a query that a login asks.

    What a superuser does `before`, in the same transaction, is taken back afterwards.
    """
    with world.connect(autocommit=False) as connection:
        if before:
            connection.execute(before)
        connection.execute("SET LOCAL track_functions = 'all'")
        connection.execute(
            sql.SQL("SET LOCAL SESSION AUTHORIZATION {}").format(sql.Identifier(role))
        )
        connection.execute(query)
        connection.execute("RESET SESSION AUTHORIZATION")
        rows = connection.execute("SELECT funcname, calls FROM pg_stat_xact_user_functions")
        calls = {row["funcname"]: row["calls"] for row in rows}
        connection.rollback()
    return calls
