"""Behind PgBouncer in transaction mode, where clients share a server connection, identity holds."""

from __future__ import annotations

import threading
from functools import partial

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write
from races import PATIENCE, together

from .brokerage import ANA, AUTHENTICATE, BOB, NOBODY, Brokerage, acting, drinks, fault
from .pgbouncer import Bouncer, pid

WHO = "SELECT agent, pg_backend_pid() AS pid FROM memwarden.whoami()"
COPY = "SELECT set_config('memwarden.ticket', %s, %s)"


def test_a_login_of_ones_own_is_ones_own_behind_a_pooler(
    bouncer: Bouncer, bound: dict[str, str]
) -> None:
    """Each login has its own server connection: neither ever sees the other's, nor can become it.

    Proves: A6, A9
    """
    clients = {drink: bouncer.connect(login) for drink, login in bound.items() for _ in "12"}
    more = {drink: bouncer.connect(login) for drink, login in bound.items()}
    assert pid(clients["water"]) == pid(more["water"])
    assert pid(clients["water"]) != pid(clients["wine"])
    for _ in range(3):
        for group in (clients, more):
            for drink, client in group.items():
                assert drinks(client) == [drink]
                assert [r["content"] for r in recall(client, query="drink")] == [{"drink": drink}]
                with client.transaction():
                    assert drinks(client) == [drink]
                for login in set(bound.values()) - {bound[drink]}:
                    for become in ("SET SESSION AUTHORIZATION", "SET ROLE"):
                        assert fault(client, f"{become} {login}")[0] == "42501"


def test_tokens_make_a_shared_connection_serve_each_its_own(
    shared_office: Brokerage, pair: tuple[Connection[DictRow], ...]
) -> None:
    """Transactions by turns on one server process, for every call; between them, nobody.

    Proves: A6, A9
    """
    a, b = pair
    agents = {"ana": (a, "green tea"), "bob": (b, "black coffee")}
    server = pid(a)
    for turn in range(4):
        for name, (client, drink) in agents.items():
            with acting(client, shared_office.token(name)):
                assert client.execute(WHO).fetchall() == [{"agent": name, "pid": server}]
                assert drinks(client) == [drink]
                found = recall(client, query="drink", layers=["semantic"])
                assert [row["content"] for row in found] == [{"drink": drink}]
                row = write(client, "working", {"turn": turn, "of": name})
                assert row["outcome"] == "COMMITTED"
            assert drinks(client) == []
            assert fault(client, WHO)[0] == NOBODY


def test_a_ticket_is_void_for_the_next_client_of_the_same_connection(
    shared_office: Brokerage, pair: tuple[Connection[DictRow], ...]
) -> None:
    """Copied, set for the session, or set for the transaction: the process is the same, it is void.

    Proves: A6
    """
    a, b = pair
    with acting(a, shared_office.token("ana")):
        server = pid(a)
        ticket = a.execute("SELECT current_setting('memwarden.ticket') AS t").fetchall()[0]["t"]
        assert drinks(a) == ANA
        a.execute(COPY, (ticket, False))
        assert drinks(a) == ANA
    assert pid(b) == server
    left = b.execute("SELECT current_setting('memwarden.ticket', true) AS t").fetchall()
    assert left == [{"t": ticket}]  # a session's setting outlives its client
    assert drinks(b) == []
    assert fault(b, WHO)[0] == NOBODY
    with b.transaction():
        b.execute(COPY, (ticket, True))
        assert drinks(b) == []
        assert fault(b, "SELECT memwarden.write('semantic', '1')")[0] == NOBODY
    with acting(b, shared_office.token("bob")):
        assert drinks(b) == BOB
        b.execute(COPY, (ticket, True))
        assert drinks(b) == []
    b.execute("RESET memwarden.ticket")


def test_a_token_without_a_transaction_gives_nothing_to_whoever_comes_next(
    shared_office: Brokerage, pair: tuple[Connection[DictRow], ...]
) -> None:
    """A client that forgot BEGIN has authenticated nothing, for itself and for others.

    Proves: A6
    """
    a, b = pair
    a.execute(AUTHENTICATE, (shared_office.token("ana"),))
    assert drinks(b) == []
    assert drinks(a) == []


def test_a_client_that_forgets_to_commit_keeps_its_connection_to_itself(
    shared_office: Brokerage, pair: tuple[Connection[DictRow], ...]
) -> None:
    """The other waits, and gets the connection without a trace of whom it served.

    Proves: A6
    """
    a, b = pair
    server = pid(a)
    a.execute("BEGIN")
    a.execute(AUTHENTICATE, (shared_office.token("ana"),))
    seen: list[object] = []
    waiting = threading.Thread(target=lambda: seen.extend([pid(b), drinks(b)]))
    waiting.start()
    for _ in range(20):
        assert drinks(a) == ANA
    assert seen == []
    a.execute("ROLLBACK")
    waiting.join(PATIENCE)
    assert seen == [server, []]


@pytest.mark.parametrize("state", ["idle", "failed", "running"])
def test_a_client_that_dies_within_its_transaction_leaves_no_identity(
    shared_office: Brokerage, bouncer: Bouncer, state: str
) -> None:
    """What it wrote is rolled back; whoever comes next is nobody, or whom its own token names.

    Proves: A6
    """
    world = shared_office.world
    a, b = bouncer.connect(shared_office.app), bouncer.connect(shared_office.app)
    token = shared_office.token("bob")
    a.execute("BEGIN")
    a.execute(AUTHENTICATE, (shared_office.token("ana"),))
    assert write(a, "working", {"lost": state})["outcome"] == "COMMITTED"
    if state == "failed":
        with pytest.raises(psycopg.errors.DivisionByZero):
            a.execute("SELECT 1 / 0")
    if state == "running":
        a.pgconn.send_query(b"SELECT pg_sleep(600)")
        a.pgconn.flush()
    a.close()
    assert drinks(b) == []
    with acting(b, token):
        assert drinks(b) == BOB
    lost = "SELECT count(*) FROM memwarden_data.version WHERE content = %s::jsonb"
    assert world.value(lost, f'{{"lost": "{state}"}}') == 0


def test_prepared_statements_serve_whoever_executes_them(
    shared_office: Brokerage, pair: tuple[Connection[DictRow], ...]
) -> None:
    """PgBouncer gives both clients the same server-side statement; each sees its own.

    Proves: A6, A9
    """
    a, b = pair
    query = "SELECT content ->> 'drink' AS drink FROM memwarden.items WHERE layer = %s"
    tokens = {"ana": shared_office.token("ana"), "bob": shared_office.token("bob")}
    for _ in range(8):
        for client, name, own in ((a, "ana", ANA), (b, "bob", BOB)):
            with client.transaction():
                client.execute(AUTHENTICATE, (tokens[name],), prepare=True)
                rows = client.execute(query, ("semantic",), prepare=True).fetchall()
                assert [row["drink"] for row in rows] == own
                shared = client.execute(
                    "SELECT count(*) AS n FROM pg_prepared_statements"
                    " WHERE statement LIKE 'SELECT content ->>%'",
                    prepare=False,
                ).fetchall()
                assert shared == [{"n": 1}]
            assert client.execute(query, ("semantic",), prepare=True).fetchall() == []


def test_a_second_principal_is_refused_in_the_transaction_and_not_on_the_connection(
    shared_office: Brokerage, pair: tuple[Connection[DictRow], ...]
) -> None:
    """What the connection remembers of a transaction concerns that transaction only.

    Proves: A6
    """
    a, b = pair
    ana, bob = shared_office.token("ana"), shared_office.token("bob")
    for _ in range(3):
        with acting(a, ana):
            assert fault(a, AUTHENTICATE, bob)[1] == "this transaction acts for another principal"
            assert drinks(a) == ANA
        with acting(b, bob):
            assert drinks(b) == BOB


def test_a_token_revoked_by_somebody_else_ends_behind_the_pooler_too(
    shared_office: Brokerage, pair: tuple[Connection[DictRow], ...]
) -> None:
    """Proves: A6."""
    a, _ = pair
    row = shared_office.issue("ana")
    with acting(a, row["token"]):
        assert drinks(a) == ANA
        shared_office.world.value("SELECT memwarden.revoke_tokens(token_id => %s)", row["token_id"])
        assert drinks(a) == []
    assert fault(a, AUTHENTICATE, row["token"]) == (NOBODY, "it was revoked")


def test_many_clients_at_once_never_see_one_another(
    shared_office: Brokerage, bouncer: Bouncer
) -> None:
    """Eight clients, two agents, one connection: a transaction sees and writes its own.

    Proves: A6, A9
    """
    tokens = {"ana": shared_office.token("ana"), "bob": shared_office.token("bob")}

    def work(name: str, own: str, client: Connection[DictRow]) -> set[str]:
        seen: set[str] = set()
        for number in range(15):
            with acting(client, tokens[name]):
                seen |= {f"{row['content']}" for row in recall(client, query="cup", k=3)}
                write(client, "episodic", {"cup": own, "at": str(number), "by": name})
            seen |= {"nobody" for _ in drinks(client)}
        return seen

    clients = [bouncer.connect(shared_office.app) for _ in range(8)]
    results = together(
        [
            partial(work, *(("ana", "tea"), ("bob", "coffee"))[number % 2], client)
            for number, client in enumerate(clients)
        ]
    )
    for number, seen in enumerate(results):
        other = ("coffee", "tea")[number % 2]
        assert not [text for text in seen if other in text or text == "nobody"]
    authors = shared_office.world.rows(
        "SELECT DISTINCT p.name, v.content ->> 'by' AS by FROM memwarden_data.version AS v"
        "  JOIN memwarden_data.principal AS p USING (principal_id) WHERE v.content ? 'by'"
    )
    assert {(row["name"], row["by"]) for row in authors} == {("ana", "ana"), ("bob", "bob")}


def test_a_broker_works_behind_a_pooler(shared_office: Brokerage, bouncer: Bouncer) -> None:
    """Its login is its own, so its identity is: tokens are issued and used through the same pooler.

    Proves: A6
    """
    broker = bouncer.connect(shared_office.broker)
    client = bouncer.connect(shared_office.app)
    for name, own in (("ana", ANA), ("bob", BOB)):
        row = broker.execute(
            "SELECT * FROM memwarden.issue_token(%s, %s)", (name, shared_office.app)
        ).fetchone()
        assert row is not None
        with acting(client, row["token"]):
            assert set(own) <= set(drinks(client))
