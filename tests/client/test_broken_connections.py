"""A connection that breaks is replaced once, and what was sent counts once."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from client.desk import Desk
from memwarden import AsyncClient, Client, ConnectionFailed, MemoryManager, WriteRequest

if TYPE_CHECKING:
    from conftest import World

FACT = {"statement": "Ana drinks green tea"}


class Proxy:
    """Stands between client and server, and can swallow the server's answer to a call.

    The server has then decided and committed, which the client cannot know.
    """

    def __init__(self, folder: Path, server: str) -> None:
        self.swallow = 0
        self.dsn = ""
        self._server = server
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / ".s.PGSQL.5432"))
        self._listening.listen()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Cut every connection and take no new one."""
        # Shut down first: it wakes the threads that wait on the sockets.
        for each in (self._listening, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            self._open += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(
                    target=self._forward, args=(source, target, source is server), daemon=True
                ).start()

    def _forward(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if answers and self.swallow > 0:
                    self.swallow -= 1
                    break
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(agent_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Yield a proxy before the test's server; `dsn` leads through it."""
    server = conninfo_to_dict(agent_dsn)
    folder = tmp_path_factory.mktemp("p")
    made = Proxy(folder, f"{server['host']}/.s.PGSQL.{server.get('port', 5432)}")
    made.dsn = make_conninfo(agent_dsn, host=str(folder), port=5432)
    yield made
    made.close()


def _count(admin: psycopg.Connection) -> tuple[int, int]:
    row = admin.execute(
        "SELECT (SELECT count(*) FROM memwarden_data.write_request), "
        "(SELECT count(*) FROM memwarden_data.version)"
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def test_a_write_whose_answer_is_lost_is_sent_again_and_counts_once(
    proxy: Proxy, admin: psycopg.Connection
) -> None:
    """Proves: W4."""
    with Client.connect(proxy.dsn) as memory:
        proxy.swallow = 1
        result = memory.write("semantic", FACT)
        assert result.outcome == "ALREADY_COMMITTED"
        assert result.stored
        assert result.item_id is not None
        assert memory.get(result.item_id) is not None
    assert _count(admin) == (1, 1)


def test_a_batch_whose_answer_is_lost_is_sent_again_and_counts_once(
    proxy: Proxy, admin: psycopg.Connection
) -> None:
    """Proves: W4, W8."""
    requests = [WriteRequest(layer="semantic", content={"n": n}) for n in range(20)]
    requests[7] = WriteRequest(layer="nowhere", content={"n": 7})
    with Client.connect(proxy.dsn) as memory:
        proxy.swallow = 1
        results = memory.write_many(requests)
    assert [result.request_id for result in results] == [each.request_id for each in requests]
    assert results[7].reason == "UNKNOWN_LAYER"
    others = {result.outcome for result in results[:7] + results[8:]}
    assert others == {"ALREADY_COMMITTED"}
    assert _count(admin) == (20, 19)


def test_a_write_with_a_token_whose_answer_is_lost_counts_once(
    proxy: Proxy, world: World, admin: psycopg.Connection
) -> None:
    """The COMMIT may have arrived, or not.

    Proves: W4
    """
    with ExitStack() as stack:
        desk = Desk(world, stack)
        token = desk.issue(desk.agent())
        dsn = make_conninfo(proxy.dsn, user=desk.login)
        memory = stack.enter_context(Client.connect(dsn, token=token))
        proxy.swallow = 1
        assert memory.write("semantic", FACT).outcome == "ALREADY_COMMITTED"
    assert _count(admin) == (1, 1)


def test_a_retraction_whose_answer_is_lost_is_not_sent_again(
    proxy: Proxy, admin: psycopg.Connection
) -> None:
    """The second would find nothing to retract, which is not what happened."""
    with Client.connect(proxy.dsn) as memory:
        curator = "SELECT memwarden.change_agent(%s, role => 'curator')"
        admin.execute(curator, (memory.whoami().agent,))
        item_id = memory.write("semantic", FACT).item_id
        assert item_id is not None
        proxy.swallow = 1
        with pytest.raises(ConnectionFailed):
            memory.retract(item_id, "said in jest")
        told = [version.operation for version in memory.history(item_id)]
        assert told == ["RETRACT", "INSERT"]


def test_an_act_without_a_request_id_is_not_sent_again(
    proxy: Proxy, admin: psycopg.Connection, agent_scope: str
) -> None:
    """A second one would be refused, or would be another one; the first has happened.

    Proves: W4
    """
    with Client.connect(proxy.dsn) as memory:
        curator = "SELECT memwarden.change_agent(%s, role => 'curator')"
        admin.execute(curator, (memory.whoami().agent,))
        login = Identifier(str(conninfo_to_dict(proxy.dsn)["user"]))
        admin.execute(SQL("GRANT memwarden_curator TO {}").format(login))
        task = f"{agent_scope}/task/one"
        memory.create_scope(task)
        item_id = memory.write("semantic", FACT, scope=task).item_id
        assert item_id is not None
        memory.pin(item_id, "it matters")
        for act, done in (
            (lambda: memory.promote(item_id), (2, 2, 1)),
            (lambda: memory.annotate(item_id, "confirmed"), (3, 3, 1)),
            (lambda: memory.unpin(item_id), (3, 3, 0)),
            (lambda: memory.capture("chat", "I drink tea"), (3, 3, 0)),
        ):
            memory.whoami()  # on a connection that is there
            proxy.swallow = 1
            with pytest.raises(ConnectionFailed):
                act()
            pins = admin.execute("SELECT count(*) FROM memwarden.pins").fetchone()
            assert (*_count(admin), *(pins or ())) == done
        for _ in range(2):
            memory.whoami()
            proxy.swallow = 1
            memory.capture("chat", "I drink tea", external_id="17")
    captures = "SELECT count(*) FROM memwarden_data.capture"
    assert admin.execute(captures).fetchone() == (2,)


def test_a_rollback_whose_answer_is_lost_is_not_sent_again(
    proxy: Proxy, admin: psycopg.Connection
) -> None:
    """The second would undo the first."""
    with Client.connect(proxy.dsn) as memory:
        curator = "SELECT memwarden.change_agent(%s, role => 'curator')"
        admin.execute(curator, (memory.whoami().agent,))
        item_id = memory.write("semantic", FACT).item_id
        assert item_id is not None
        proxy.swallow = 1
        with pytest.raises(ConnectionFailed):
            memory.rollback(item_id, "said in jest")
        told = [version.operation for version in memory.history(item_id)]
        assert told == ["RETRACT", "INSERT"]


@pytest.mark.parametrize("last", [False, True])
def test_a_step_of_a_loop_whose_answer_is_lost_is_taken_once(
    proxy: Proxy, admin: psycopg.Connection, last: bool
) -> None:
    """The plan goes on by one step, the last one too, and what was observed is noted once.

    Proves: L9, W4
    """
    with Client.connect(proxy.dsn) as memory:
        manager = MemoryManager(memory, fail_safe=False)
        manager.task_start("move the user service", ["read", "migrate", "look"][: 1 if last else 3])
        proxy.swallow = 1
        manager.observation("changes", "v3 drops the users view", "critical")
        proxy.swallow = 1
        manager.turn_end(step_done=True)
        prompt = manager.before_llm_call()
        assert ("[CURRENT_STEP]" in prompt.text) != last
        assert last or '[CURRENT_STEP] (1/3) "migrate"' in prompt.text
        assert last or prompt.turn == 1
    parts = admin.execute(
        "SELECT array_agg(part ORDER BY ordinal) FROM memwarden_data.session_entry"
    )
    assert parts.fetchone() == (["goal", "observation", "progress"],)


def test_without_asyncio_and_with_it_the_same_happens(
    proxy: Proxy, admin: psycopg.Connection
) -> None:
    """Proves: W4."""

    async def write() -> str:
        async with await AsyncClient.connect(proxy.dsn) as memory:
            proxy.swallow = 1
            return (await memory.write("semantic", FACT)).outcome

    assert asyncio.run(write()) == "ALREADY_COMMITTED"
    assert _count(admin) == (1, 1)


def test_a_connection_that_was_terminated_is_replaced(
    memory: Client, admin: psycopg.Connection
) -> None:
    """The caller notices nothing."""
    admin.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'memwarden'"
    )
    assert memory.recall("tea") == []
    assert memory.write("semantic", FACT).committed


def test_when_the_second_attempt_fails_too_the_unknown_requests_are_named(
    proxy: Proxy, admin: psycopg.Connection
) -> None:
    """Proves: W4."""
    requests = [WriteRequest(layer="semantic", content={"n": n}) for n in range(3)]
    with Client.connect(proxy.dsn) as memory:
        proxy.swallow = 2
        with pytest.raises(ConnectionFailed) as caught:
            memory.write_many(requests)
        assert list(caught.value.request_ids) == [each.request_id for each in requests]
        proxy.swallow = 0
        results = memory.write_many(requests)
    assert {result.stored for result in results} == {True}
    assert _count(admin) == (3, 3)


def test_a_connection_that_was_handed_over_is_not_replaced(
    proxy: Proxy, admin: psycopg.Connection
) -> None:
    """Its owner decides what follows; the server has committed all the same."""
    with ExitStack() as stack:
        connection = psycopg.connect(proxy.dsn, autocommit=True)
        stack.callback(connection.close)
        memory = Client(connection)
        proxy.swallow = 1
        with pytest.raises(ConnectionFailed) as caught:
            memory.write("semantic", FACT)
        # On another one it says which request it is, and is told what became of it.
        [request_id] = caught.value.request_ids
        with psycopg.connect(proxy.dsn, autocommit=True) as another:
            again = Client(another).write("semantic", FACT, request_id=request_id)
    assert (again.outcome, again.request_id) == ("ALREADY_COMMITTED", request_id)
    assert _count(admin) == (1, 1)


def test_nothing_stays_on_a_connection_that_a_pooler_may_hand_on(memory: Client) -> None:
    """No prepared statement, no setting, no open transaction."""
    for number in range(12):
        memory.write("semantic", {"n": number})
        memory.recall("n")
    connection = memory._session.open()
    assert connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)
    changed = connection.execute(
        "SELECT array_agg(name) FROM pg_settings WHERE source = 'session'"
    ).fetchone()
    assert changed == (None,)
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
