"""Errors have types of their own, chosen by SQLSTATE, and say what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from traceback import format_exception
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

import memwarden
from memwarden import (
    Client,
    ConnectionFailed,
    InvalidArgument,
    MemwardenError,
    NotAllowed,
    NotFound,
    NotIdentified,
    NotReady,
    WrongIsolation,
)
from memwarden.cli import app

if TYPE_CHECKING:
    from shipped import Shipped

FACT = {"statement": "Ana drinks green tea"}


def test_a_login_that_is_no_agent_is_not_identified(stranger_dsn: str) -> None:
    """It has the role of agents and is bound to none."""
    with memwarden.connect(stranger_dsn) as memory, pytest.raises(NotIdentified) as caught:
        memory.write("semantic", FACT)
    assert caught.value.sqlstate == "28000"
    assert caught.value.detail
    assert caught.value.hint


def test_a_login_without_the_role_is_told_what_to_ask_for(shipped: Shipped) -> None:
    """PostgreSQL refuses it without a word of what to do; the client and the command say it."""
    login = shipped.world.role()
    dsn = make_conninfo(shipped.world.dsn, user=login)
    with memwarden.connect(dsn) as memory:
        for call in (lambda: memory.write("semantic", FACT), memory.whoami, memory.status):
            with pytest.raises(NotAllowed) as caught:
                call()
            assert caught.value.sqlstate == "42501"
            assert f'GRANT memwarden_agent TO "{login}";' in str(caught.value.hint)
            assert str(caught.value.hint) in "".join(format_exception(caught.value))
    ran = CliRunner().invoke(app, ["recall", "tea", "--dsn", dsn])
    assert ran.exit_code == 1
    assert f'hint: The login "{login}" has no role of memwarden' in ran.stderr
    # With the role, and bound to nobody.
    shipped.world.admin.execute(f"GRANT memwarden_agent TO {login}")
    ran = CliRunner().invoke(app, ["recall", "tea", "--dsn", dsn])
    assert f"detail: login role {login}" in ran.stderr
    assert "memwarden.register_agent(..., login_role => ...)" in ran.stderr


def test_an_error_names_what_it_is_about(shipped: Shipped) -> None:
    """Where it is printed, too: the scope that the caller gave."""
    nobody = "/org/acme/user/nobody"
    client = Client(shipped.agent)
    calls: list[Callable[[], object]] = [
        lambda: client.recall("tea", scope=nobody),
        lambda: client.recall("tea", scopes=[nobody]),
        lambda: client.context("tea", scope=nobody),
        lambda: client.as_of(scope=nobody),
        lambda: client.capture("chat", "Ana said it", scope=nobody),
        lambda: client.open_session("trip", scope=nobody),
    ]
    for call in calls:
        with pytest.raises(NotFound) as caught:
            call()
        assert f"scope '{nobody}'" in str(caught.value)
    refused = client.write("semantic", FACT, scope=nobody)
    assert (refused.reason, refused.detail) == ("UNKNOWN_SCOPE", {"scope": nobody})
    dsn = make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)
    ran = CliRunner().invoke(
        app, ["write", "semantic", json.dumps(FACT), "--scope", nobody, "--dsn", dsn]
    )
    assert nobody in ran.output


def test_a_database_without_the_extension_is_not_ready(empty_dsn: str) -> None:
    """The hint says how to install it."""
    with memwarden.connect(empty_dsn) as memory, pytest.raises(NotReady) as caught:
        memory.status()
    assert caught.value.sqlstate == "3F000"
    assert caught.value.hint is not None
    assert "CREATE EXTENSION" in caught.value.hint


def test_an_extension_that_is_not_set_up_is_not_ready(empty_dsn: str) -> None:
    """`status()` answers all the same."""
    with psycopg.connect(empty_dsn, autocommit=True) as admin:
        admin.execute("SET client_min_messages = warning")
        admin.execute("CREATE EXTENSION memwarden CASCADE")
    with memwarden.connect(empty_dsn) as memory:
        assert {each.component: each.state for each in memory.status()}["storage"] == "missing"
        with pytest.raises(NotReady) as caught:
            memory.write("semantic", FACT)
    assert caught.value.sqlstate == "55000"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("isolation_level", psycopg.IsolationLevel.REPEATABLE_READ),
        ("isolation_level", psycopg.IsolationLevel.SERIALIZABLE),
        ("read_only", True),
    ],
)
def test_a_transaction_of_the_wrong_kind_is_told_so(
    agent_dsn: str, setting: str, value: object
) -> None:
    """Isolation other than READ COMMITTED, or read-only."""
    with psycopg.connect(agent_dsn) as connection:
        setattr(connection, setting, value)
        with pytest.raises(WrongIsolation) as caught:
            Client(connection).write("semantic", FACT)
    assert caught.value.sqlstate is not None
    assert caught.value.sqlstate.startswith("25")


def test_a_write_in_a_transaction_of_the_caller_is_the_callers_to_commit(
    agent_dsn: str, memory: Client
) -> None:
    """The client neither commits nor closes a connection it was given."""
    with psycopg.connect(agent_dsn) as connection:
        with Client(connection) as inside:
            written = inside.write("semantic", FACT)
        assert written.item_id is not None
        assert not connection.closed, "the connection is the caller's"
        assert memory.get(written.item_id) is None
        connection.commit()
    assert memory.get(written.item_id) is not None


def test_errors_of_the_server_that_have_no_type_keep_their_sqlstate(
    memory: Client, admin: psycopg.Connection
) -> None:
    """A lock time-out stands for them."""
    admin.execute("BEGIN")
    admin.execute("LOCK TABLE memwarden_data.kept_layer IN ACCESS EXCLUSIVE MODE")
    connection = memory._session.open()
    connection.execute("SET lock_timeout = '50ms'")
    with pytest.raises(MemwardenError) as caught:
        memory.write("semantic", FACT)
    admin.execute("ROLLBACK")
    assert type(caught.value) is MemwardenError
    assert caught.value.sqlstate == "55P03"


NOWHERE: dict[str, Callable[[str], str]] = {
    "no server": lambda _: "host=/nonexistent",
    "no database": lambda dsn: psycopg.conninfo.make_conninfo(dsn, dbname="memwarden_nowhere"),
    "no role": lambda dsn: psycopg.conninfo.make_conninfo(dsn, user="memwarden_nobody"),
}


@pytest.mark.parametrize("change", NOWHERE.values(), ids=NOWHERE.keys())
def test_a_server_that_does_not_let_us_in_is_a_failed_connection(
    agent_dsn: str, change: Callable[[str], str]
) -> None:
    """Whatever the cause, before the first call."""
    with pytest.raises(ConnectionFailed) as caught:
        memwarden.connect(change(agent_dsn))
    assert str(caught.value)


def test_a_connection_string_that_is_none_is_an_error_of_the_caller() -> None:
    """The message does not repeat it, since it may hold a password."""
    with pytest.raises(InvalidArgument):
        memwarden.connect("this is no connection string")
