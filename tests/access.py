"""Calls that administer access, by name and with the types that they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from conftest import World

JSON = {"attributes", "permissions", "allowed", "schema", "synonyms", "merge_policy"}


def call(connection: Connection[DictRow], function: str, **arguments: Any) -> list[DictRow]:
    """Call a function of memwarden with named arguments, return its rows."""
    named = ", ".join(
        f"{name} => %({name})s{'::jsonb' if name in JSON else ''}" for name in arguments
    )
    query = f"SELECT * FROM memwarden.{function}({named})"
    return connection.execute(query, _adapted(arguments)).fetchall()


def _adapted(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        name: Jsonb(value) if name in JSON and value is not None else value
        for name, value in arguments.items()
    }


def refusal(connection: Connection[DictRow], function: str, **arguments: Any) -> psycopg.Error:
    """Call a function that must raise, with detail and hint; return what it raised."""
    with pytest.raises(psycopg.Error) as raised:
        call(connection, function, **arguments)
    assert raised.value.diag.message_detail
    assert raised.value.diag.message_hint
    return raised.value


def state(connection: Connection[DictRow], function: str, **arguments: Any) -> str | None:
    """Call a function that must raise, return the SQLSTATE."""
    return refusal(connection, function, **arguments).sqlstate


def join(world: World, scope: str, *groups: str, **standing: Any) -> Connection[DictRow]:
    """Register a principal with a login of its own in these groups, and connect as it.

    Its name is the login's. The groups are memwarden_agent unless others are named.
    """
    logins = [f"memwarden_{group}" for group in groups or ("agent",)]
    return world.connect(world.register(scope, groups=logins, **_adapted(standing)))


def curator(world: World, organisation: str) -> Connection[DictRow]:
    """Connect as a person who administers an organisation, and no more than that."""
    return join(
        world,
        organisation,
        "agent",
        "curator",
        kind="human",
        role="curator",
        descendants=True,
        clearance="restricted",
    )


def administrator(world: World) -> Connection[DictRow]:
    """Connect as a member of memwarden_admin who is no superuser."""
    return world.connect(world.role("memwarden_admin"))


def name_of(connection: Connection[Any]) -> str:
    """The login of a connection, which is also its agent's name."""
    return connection.info.user
