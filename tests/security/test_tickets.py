"""The setting that carries an identity through a transaction is worthless to anybody else."""

from __future__ import annotations

import uuid

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection, sql
from psycopg.rows import DictRow

from helpers import recall, write

from .brokerage import ANA, AUTHENTICATE, NOBODY, Brokerage, acting, drinks, fault

SET = "SELECT set_config('memwarden.ticket', %s, %s)"


def ticket_of(connection: Connection[DictRow]) -> str:
    """The ticket of this transaction, as anybody in it can read it."""
    row = connection.execute("SELECT current_setting('memwarden.ticket') AS ticket").fetchone()
    assert row is not None
    return str(row["ticket"])


def is_nobody(connection: Connection[DictRow]) -> bool:
    """Whether it sees nothing, and is told that it has no identity."""
    return drinks(connection) == [] and fault(connection, "SELECT memwarden.whoami()")[0] == NOBODY


def test_a_copied_ticket_is_worthless_elsewhere(office: Brokerage) -> None:
    """In another session of the same login, under another login, for a superuser, after SET ROLE.

    Proves: A6
    """
    world = office.world
    victim = world.connect(office.app)
    other = world.role("memwarden_agent")
    world.admin.execute(f"GRANT {office.app} TO {other}")
    thieves = {
        "same login": world.connect(office.app),
        "other login": world.connect(other),
        "role of the victim": world.connect(other, options=f"-c role={office.app}"),
        "superuser": world.connect(),
    }
    thieves["superuser"].execute(f"SET SESSION AUTHORIZATION {office.app}")
    with acting(victim, office.token()):
        ticket = ticket_of(victim)
        for who, thief in thieves.items():
            for within in (thief.transaction(), None):
                if within is not None:
                    with within:
                        thief.execute(SET, (ticket, True))
                        assert is_nobody(thief), who
                else:
                    thief.execute(SET, (ticket, False))
                    assert is_nobody(thief), who
        assert drinks(victim) == ANA


def test_a_copied_ticket_is_worthless_later(office: Brokerage, client: Connection[DictRow]) -> None:
    """In the next transactions of the very session it was made in, however it was kept.

    Proves: A6
    """
    client.execute("CREATE TEMP TABLE kept (ticket text)")
    client.execute("BEGIN")
    client.execute(AUTHENTICATE, (office.token(),))
    ticket = ticket_of(client)
    client.execute("INSERT INTO kept SELECT current_setting('memwarden.ticket')")
    client.execute(SET, (ticket, False))
    assert drinks(client) == ANA
    client.execute("COMMIT AND CHAIN")
    assert ticket_of(client) == ticket
    assert is_nobody(client)
    client.execute("COMMIT")
    assert is_nobody(client)
    client.execute(sql.SQL("SET memwarden.ticket = {}").format(ticket))
    assert is_nobody(client)
    for turn in ("BEGIN", "BEGIN READ ONLY", "BEGIN ISOLATION LEVEL SERIALIZABLE"):
        client.execute(turn)
        client.execute("SELECT set_config('memwarden.ticket', ticket, true) FROM kept")
        assert is_nobody(client)
        client.execute("ROLLBACK")
    with acting(client, office.token("bob")):
        client.execute(SET, (ticket, True))
        assert is_nobody(client)


def test_a_block_that_commits_in_the_middle_loses_its_identity(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """PL/pgSQL can end a transaction and begin another within one statement.

    Proves: A6
    """
    client.execute("CREATE TEMP TABLE kept (token text, ticket text)")
    client.execute("INSERT INTO kept VALUES (%s, NULL)", (office.token(),))
    client.execute("CREATE TEMP TABLE seen (at text, items bigint)")
    client.execute(
        "DO $$ BEGIN"
        " PERFORM memwarden.authenticate(k.token) FROM kept AS k;"
        " UPDATE kept SET ticket = current_setting('memwarden.ticket');"
        " INSERT INTO seen SELECT 'before', count(*) FROM memwarden.items;"
        " COMMIT;"
        " INSERT INTO seen SELECT 'after', count(*) FROM memwarden.items;"
        " PERFORM set_config('memwarden.ticket', k.ticket, true) FROM kept AS k;"
        " INSERT INTO seen SELECT 'copied', count(*) FROM memwarden.items;"
        " END $$"
    )
    rows = client.execute("TABLE seen").fetchall()
    assert [(row["at"], row["items"]) for row in rows] == [
        ("before", 1),
        ("after", 0),
        ("copied", 0),
    ]


def test_transactions_of_one_message_share_the_ticket_that_its_sender_has(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """The one exception: to PostgreSQL they began at the same moment, that of the message.

    Whoever sent it holds the token too, nobody gets a word in, another principal is refused.

    Proves: A6
    """
    client.execute("CREATE TEMP TABLE kept (name text, token text, ticket text)")
    for name in ("ana", "bob"):
        client.execute("INSERT INTO kept VALUES (%s, %s)", (name, office.token(name)))
    use = "SELECT memwarden.authenticate(k.token) FROM kept AS k WHERE k.name"
    keep = "UPDATE kept SET ticket = current_setting('memwarden.ticket')"
    copy = "SELECT set_config('memwarden.ticket', max(k.ticket), true) FROM kept AS k"
    client.execute("CREATE TEMP TABLE seen (at text, items bigint)")
    see = "INSERT INTO seen SELECT {}, count(*) FROM memwarden.items"
    client.execute(
        f"BEGIN; {use} = 'ana'; {keep}; COMMIT;"
        f"BEGIN; {see.format(1)}; {copy}; {see.format(2)}; COMMIT"
    )
    client.execute(f"BEGIN; {copy}; {see.format(3)}; COMMIT")
    rows = client.execute("TABLE seen").fetchall()
    assert [(row["at"], row["items"]) for row in rows] == [("1", 0), ("2", 1), ("3", 0)]
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
        client.execute(f"BEGIN; {use} = 'ana'; COMMIT; BEGIN; {use} = 'bob'; COMMIT")
    client.execute("ROLLBACK")
    assert is_nobody(client)


def test_a_ticket_gives_what_its_transaction_has_and_survives_set_role(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Identity is the session's: a role that is set changes rights, and not who it is.

    Proves: A6
    """
    with acting(client, office.token()):
        client.execute("SET LOCAL ROLE memwarden_agent")
        assert drinks(client) == ANA
        assert [row["content"] for row in recall(client, query="tea")] == [{"drink": "green tea"}]
        client.execute("RESET ROLE")
        client.execute("RESET memwarden.ticket")
        assert is_nobody(client)


FORGED = [
    "",
    " ",
    "1",
    "ana",
    "memwarden",
    "-" * 36 + ":" + "0" * 64,
    "{" + "0" * 34 + "}:" + "0" * 64,
    "0" * 36 + ":" + "0" * 64,
    "00000000-0000-0000-0000-000000000000:" + "0" * 64,
    "00000000-0000-0000-0000-000000000000:" + "f" * 64 + "\n",
    "00000000-0000-0000-0000-000000000000:" + "F" * 64,
    "%s:" + "0" * 64,
    "\U0001f4a5" * 36 + ":" + "\u0660" * 64,
    "x" * 10_000_000,
    "a-" * 5_000_000,
]


def test_a_forged_ticket_never_raises_and_gives_nothing(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Neither does one of the right shape, or of a real token with another signature.

    Proves: A6
    """
    real = [office.issue()["token_id"], office.world.value("SELECT gen_random_uuid()")]
    for forged in [*FORGED, *(f"{token_id}:{'0' * 64}" for token_id in real)]:
        client.execute(SET, (forged, False))
        assert is_nobody(client), forged[:80]
    agent = office.world.agent(f"/org/{office.org}/user/carl")
    for number, forged in enumerate(FORGED):
        agent.execute(SET, (forged, False))
        assert write(agent, "semantic", {"number": number})["outcome"] == "COMMITTED"


@settings(max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_mutation_of_a_ticket_gives_anything(
    office: Brokerage, client: Connection[DictRow], data: st.DataObject
) -> None:
    """Within its own transaction: any other setting is nobody, the right one is Ana again.

    Proves: A6
    """
    client.execute("ROLLBACK")
    client.execute("BEGIN")
    client.execute(AUTHENTICATE, (office.token(),))
    ticket = ticket_of(client)
    start = data.draw(st.integers(0, len(ticket)))
    end = data.draw(st.integers(start, len(ticket)))
    alphabet = st.sampled_from("0123456789abcdef-:\n ")
    forged = ticket[:start] + data.draw(st.text(alphabet, max_size=40)) + ticket[end:]
    client.execute(SET, (forged, True))
    assert drinks(client) == (ANA if forged == ticket else [])
    client.execute(SET, (ticket, True))
    assert drinks(client) == ANA
    client.execute("ROLLBACK")


@pytest.mark.parametrize("where", ["ROLE {role}", "DATABASE {db}", "ROLE {role} IN DATABASE {db}"])
def test_a_setting_that_a_session_starts_with_is_no_identity(office: Brokerage, where: str) -> None:
    """A role's own (which it cannot even set), a database's, those of the connection string.

    Proves: A6
    """
    world = office.world
    session = world.connect(office.app)
    where = where.format(role=office.app, db=session.info.dbname)
    with acting(session, office.token()):
        ticket = ticket_of(session)
        query = sql.SQL("ALTER {} SET memwarden.ticket = {}").format(sql.SQL(where), ticket)
        with pytest.raises(psycopg.errors.InsufficientPrivilege), session.transaction():
            session.execute(query)
        world.admin.execute(query)
        try:
            for options in ("", f"-c memwarden.ticket={ticket}"):
                later = world.connect(office.app, options=options)
                assert ticket_of(later) == ticket
                assert is_nobody(later)
        finally:
            world.admin.execute(f"ALTER {where} RESET memwarden.ticket")
        assert drinks(session) == ANA


def test_a_ticket_of_one_database_is_none_of_another(office: Brokerage) -> None:
    """Two databases of one server share its master key, and nothing that it signs.

    Proves: A6
    """
    world = office.world
    name = f"tickets_{uuid.uuid4().hex[:12]}"
    world.admin.execute(f"CREATE DATABASE {name}")
    try:
        dsn = psycopg.conninfo.make_conninfo(world.dsn, dbname=name)
        with psycopg.connect(dsn, autocommit=True) as admin:
            admin.execute("CREATE EXTENSION memwarden CASCADE")
            admin.execute("SELECT FROM memwarden.setup()")
        token = office.token("bob")
        with psycopg.connect(dsn, user=office.app) as stranger:
            with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification) as raised:
                stranger.execute(AUTHENTICATE, (token,))
            assert raised.value.diag.message_detail == "it was not issued here"
        with acting(world.connect(office.app), token):
            pass
    finally:
        world.admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
