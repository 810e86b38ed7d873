"""Many agents share one login: each call acts for whom its token was issued for."""

from __future__ import annotations

import asyncio
import logging
import traceback
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from client.desk import Desk, Source
from memwarden import (
    AsyncClient,
    Client,
    InvalidArgument,
    IssuedToken,
    MemwardenError,
    NotAllowed,
    NotFound,
    NotIdentified,
)
from memwarden._sync.vectors import Vectors

if TYPE_CHECKING:
    from conftest import World

FACT = {"statement": "Ana drinks green tea"}


def test_agents_that_share_a_login_see_only_their_own(desk: Desk) -> None:
    """Proves: A6, A4."""
    names = (desk.agent(), desk.agent())
    with ExitStack() as stack:
        clients = {
            name: stack.enter_context(Client.connect(desk.dsn, token=desk.issue(name)))
            for name in names
        }
        written = {name: memory.write("semantic", FACT) for name, memory in clients.items()}
        assert {result.outcome for result in written.values()} == {"COMMITTED"}
        for name, other in (names, names[::-1]):
            memory = clients[name]
            assert memory.whoami().agent == name
            [found] = memory.recall("tea")
            assert (found.item_id, found.scope) == (written[name].item_id, desk.home(name))
            hidden = written[other].item_id
            assert hidden is not None
            assert memory.get(hidden) is None
            assert memory.history(hidden) == []


def test_a_login_without_a_token_is_nobody(desk: Desk, agent: str) -> None:
    """Also right after a call with one, on the same connection.

    Proves: A6
    """
    with desk.connect() as connection:
        assert Client(connection, token=desk.issue(agent)).whoami().agent == agent
        with pytest.raises(NotIdentified):
            Client(connection).whoami()


def test_an_issued_token_is_kept_and_text_is_asked_for_each_time(desk: Desk, agent: str) -> None:
    """The callable decides which it returns."""
    issued = desk.issue(agent)
    for source, times in ((Source(issued), 1), (Source(issued.token), 3)):
        with Client.connect(desk.dsn, token=source) as memory:
            assert {memory.whoami().agent for _ in range(3)} == {agent}
        assert source.asked == times


def test_clients_of_one_connection_and_token_ask_for_the_model_once(
    desk: Desk, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service makes a client for each piece of work; another agent's asks for itself.

    Proves: A6
    """
    asked: list[object] = []
    ask = Vectors._asked

    def counted(vectors: Vectors) -> str:
        asked.append(vectors)
        return ask(vectors)

    monkeypatch.setattr(Vectors, "_asked", counted)
    tokens = [desk.issue(agent), desk.issue(desk.agent())]
    with desk.connect() as connection:
        for token in tokens * 3:
            Client(connection, token=token).recall("tea")
    assert len(asked) == 2


def test_a_token_at_the_end_of_its_life_is_not_used_again(desk: Desk, agent: str) -> None:
    """The next call asks for another before it is refused."""
    over = replace(desk.issue(agent), expires_at=datetime.now(UTC))
    source = Source(over, desk.issue(agent))
    with Client.connect(desk.dsn, token=source) as memory:
        for _ in range(3):
            memory.whoami()
    assert source.asked == 2


def test_an_expired_token_is_replaced_once_and_the_write_counts_once(
    desk: Desk, agent: str
) -> None:
    """Whatever the clock here says: the server refuses it, and nothing was written."""
    source = Source(desk.expired(agent), desk.issue(agent))
    with Client.connect(desk.dsn, token=source) as memory:
        result = memory.write("semantic", FACT)
        assert result.outcome == "COMMITTED"
        assert result.item_id is not None
        assert len(memory.history(result.item_id)) == 1
    assert source.asked == 2


def test_a_token_that_stays_refused_is_an_error(desk: Desk, agent: str) -> None:
    """A callable is asked a second time and no third; a constant is what it is."""
    expired = desk.expired(agent)
    source = Source(expired)
    with Client.connect(desk.dsn, token=source) as memory:
        with pytest.raises(NotIdentified) as caught:
            memory.whoami()
        assert (caught.value.sqlstate, caught.value.detail) == ("28000", "it has expired")
    assert source.asked == 2
    for constant in (expired, expired.token):
        with Client.connect(desk.dsn, token=constant) as memory, pytest.raises(NotIdentified):
            memory.whoami()


def test_a_call_that_ran_is_never_repeated(world: World) -> None:
    """Not even when it raises what a refused token raises."""
    world.admin.execute(
        "CREATE SEQUENCE runs; GRANT USAGE ON SEQUENCE runs TO PUBLIC;"
        "CREATE OR REPLACE FUNCTION memwarden.reasons() RETURNS TABLE (reason text, outcome text,"
        " gate text, meaning text, remedy text) LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM nextval('public.runs'); RAISE 'no' USING ERRCODE = '28000'; END $$"
    )
    with ExitStack() as stack:
        desk = Desk(world, stack)
        source = Source(desk.issue(desk.agent()))
        memory = stack.enter_context(Client.connect(desk.dsn, token=source))
        with pytest.raises(NotIdentified):
            memory.reasons()
        memory.whoami()
        assert world.value("SELECT last_value FROM runs") == 1
        assert source.asked == 1


def test_a_token_for_another_login_is_refused(desk: Desk, agent: str) -> None:
    """Proves: A6."""
    elsewhere = desk.broker.issue_token(agent, desk.world.role("memwarden_agent"))
    with Client.connect(desk.dsn, token=elsewhere) as memory:
        with pytest.raises(NotIdentified) as caught:
            memory.write("semantic", FACT)
        assert caught.value.detail == "it was issued for another login role"


def test_the_token_of_a_disabled_agent_is_refused_from_the_next_call_on(
    desk: Desk, agent: str
) -> None:
    """And good again when the agent is enabled."""
    change = "SELECT memwarden.change_agent(%s, enabled => %s)"
    with Client.connect(desk.dsn, token=lambda: desk.issue(agent)) as memory:
        assert memory.write("semantic", FACT).committed
        desk.world.admin.execute(change, (agent, False))
        with pytest.raises(MemwardenError):
            memory.recall("tea")
        desk.world.admin.execute(change, (agent, True))
        assert len(memory.recall("tea")) == 1


def test_a_login_that_is_bound_takes_no_token(desk: Desk, agent: str) -> None:
    """One login acts for its own principal, or for those of its tokens."""
    role = desk.world.register(f"/org/acme/user/{agent}-2")
    token = desk.broker.issue_token(agent, role)
    dsn = psycopg.conninfo.make_conninfo(desk.world.dsn, user=role)
    with Client.connect(dsn, token=token) as memory, pytest.raises(NotIdentified):
        memory.whoami()


@pytest.mark.parametrize("given", ["", "mw1.none", 5, (), "mw1.\x00" + "a" * 40], ids=ascii)
def test_what_is_no_token_is_an_error(desk: Desk, agent: str, given: Any) -> None:
    """As a constant, and returned by a callable; the connection stays usable."""
    for source in (given, lambda: given):
        with desk.connect() as connection:
            with pytest.raises((InvalidArgument, NotIdentified)):
                Client(connection, token=source).whoami()
            assert Client(connection, token=desk.issue(agent)).whoami().agent == agent


def test_no_message_no_log_and_no_repr_shows_the_token(
    desk: Desk, agent: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Not even where the server adds the parameters of a failed statement to its errors."""
    caplog.set_level(logging.DEBUG)
    login = psycopg.sql.Identifier(desk.login)
    loud = psycopg.sql.SQL("ALTER ROLE {} SET log_parameter_max_length_on_error = -1")
    desk.world.admin.execute(loud.format(login))
    elsewhere = desk.broker.issue_token(agent, desk.world.role("memwarden_agent"))
    shown = [repr(desk.issue(agent))]
    for token in (desk.expired(agent), elsewhere, desk.issue(agent)):
        assert "mw1" not in repr(token)
        with Client.connect(desk.dsn, token=token) as memory:
            shown += [repr(memory), repr(vars(memory)), str(memory._session)]
            for query, k in (("tea", -1), ("\x00", 1)):
                with pytest.raises(MemwardenError) as caught:
                    memory.recall(query, k=k)
                shown += traceback.format_exception(caught.value)
                shown += [repr(caught.value), str(vars(caught.value))]
    quiet = psycopg.sql.SQL("ALTER ROLE {} RESET ALL")
    desk.world.admin.execute(quiet.format(login))
    text = "\n".join([*shown, caplog.text])
    assert "has expired" in text
    assert "mw1." not in text
    assert caplog.records == [], "an expired token is nothing to warn of"


def test_tasks_ask_for_one_token_between_them(desk: Desk, agent: str) -> None:
    """With asyncio the callable may be awaited, or not."""
    issued = desk.issue(agent)
    source = Source(issued)

    async def fetch() -> str | IssuedToken:
        await asyncio.sleep(0)
        return source()

    async def live() -> set[str]:
        async with await AsyncClient.connect(desk.dsn, token=fetch) as memory:
            found = await asyncio.gather(*(memory.whoami() for _ in range(10)))
        async with await AsyncClient.connect(desk.dsn, token=lambda: issued) as memory:
            found.append(await memory.whoami())
        return {each.agent for each in found}

    assert asyncio.run(live()) == {agent}
    assert source.asked == 1


def test_only_a_broker_issues_tokens_and_only_for_whom_it_speaks(desk: Desk, agent: str) -> None:
    """The rest of `issue_token` is the server's, and tested there."""
    with Client.connect(desk.dsn, token=desk.issue(agent)) as memory, pytest.raises(NotAllowed):
        memory.issue_token(agent, desk.login)
    with pytest.raises(NotFound):
        desk.broker.issue_token("nobody", desk.login)
