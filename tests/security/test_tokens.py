"""A token makes one transaction of its login act for an agent, and nothing else."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from helpers import recall, write, write_many

from .brokerage import ANA, AUTHENTICATE, BOB, NOBODY, Brokerage, acting, drinks, fault, refusal


def test_every_call_acts_for_whom_the_token_was_issued(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Writing, recalling, reading, views and tables, with two agents in turn on one connection.

    Proves: A3, A6
    """
    for name, other in (("ana", "bob"), ("bob", "ana")):
        home = f"/org/{office.org}/user/{name}"
        with acting(client, office.token(name)):
            one = write(client, "semantic", {"city": f"city of {name}"})
            many = write_many(client, [{"layer": "working", "content": {"of": name}}])
            assert [row["outcome"] for row in (one, *many)] == ["COMMITTED"] * 2
            foreign = write(client, "semantic", {"a": 1}, scope=f"/org/{office.org}/user/{other}")
            assert foreign["reason"] == "UNKNOWN_SCOPE"
        with acting(client, office.token(name)):
            assert {row["scope"] for row in recall(client, k=1000)} == {home}
            got = client.execute("SELECT scope FROM memwarden.get(%s)", (one["item_id"],))
            assert got.fetchall() == [{"scope": home}]
            past = client.execute("SELECT actor FROM memwarden.history(%s)", (one["item_id"],))
            assert past.fetchall() == [{"actor": name}]
            who = client.execute("SELECT agent, org, home FROM memwarden.whoami()").fetchone()
            assert who == {"agent": name, "org": office.org, "home": home}
            for view in ("memwarden.items", "memwarden.requests WHERE outcome = 'COMMITTED'"):
                assert client.execute(f"SELECT DISTINCT scope FROM {view}").fetchall() == [
                    {"scope": home}
                ]
            office.world.grant_tables(client.info.user)
            for table in ("item", "version", "log", "embedding"):
                scopes = client.execute(
                    f"SELECT DISTINCT s.path FROM memwarden_data.{table}"
                    "  JOIN memwarden_data.scope AS s USING (scope_id)"
                ).fetchall()
                assert scopes == [{"path": home}], table


def test_reading_needs_no_transaction_that_writes(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """A read-only transaction is authenticated, recalls, and writes nothing.

    Proves: A6
    """
    for isolation in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
        client.execute(f"BEGIN TRANSACTION ISOLATION LEVEL {isolation} READ ONLY")
        client.execute(AUTHENTICATE, (office.token(),))
        assert drinks(client) == ANA
        assert [row["content"] for row in recall(client, query="tea")] == [{"drink": "green tea"}]
        with pytest.raises(psycopg.Error) as raised:
            write(client, "semantic", {"a": 1})
        assert raised.value.sqlstate in {"25006", "25001"}
        client.execute("ROLLBACK")


def test_a_pipeline_authenticates_and_calls_in_one_round_trip(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Within a pipeline's implicit transaction, too; the next one is nobody's again.

    Proves: A6
    """
    with client.pipeline():
        client.execute("BEGIN")
        client.execute(AUTHENTICATE, (office.token("bob"),))
        cursor = client.execute("SELECT agent FROM memwarden.whoami()")
        client.execute("COMMIT")
        assert cursor.fetchall() == [{"agent": "bob"}]
    with client.pipeline() as pipeline:
        client.execute(AUTHENTICATE, (office.token("ana"),))
        cursor = client.execute("SELECT agent FROM memwarden.whoami()")
        pipeline.sync()
        after = client.execute("SELECT count(*) AS seen FROM memwarden.items")
        assert cursor.fetchall() == [{"agent": "ana"}]
        assert after.fetchone() == {"seen": 0}


def test_a_token_means_nothing_without_a_transaction(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """In autocommit the statement that authenticates is all that it authenticates.

    Proves: A6
    """
    client.execute(AUTHENTICATE, (office.token(),))
    assert drinks(client) == []
    for call in ("SELECT * FROM memwarden.recall('tea')", "SELECT * FROM memwarden.whoami()"):
        assert fault(client, call)[0] == NOBODY
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
        write(client, "semantic", {"a": 1})


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN"])
def test_a_token_ends_with_its_transaction(
    office: Brokerage, client: Connection[DictRow], end: str
) -> None:
    """Proves: A6."""
    client.execute("BEGIN")
    client.execute(AUTHENTICATE, (office.token(),))
    assert drinks(client) == ANA
    client.execute(end)
    assert drinks(client) == []


def test_one_transaction_acts_for_one_principal(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """A second one is refused, also where a savepoint took the first back; the same again is fine.

    Proves: A6
    """
    ana, again, bob = office.token("ana"), office.token("ana"), office.token("bob")
    with client.transaction():
        for taken_back in (True, False):
            client.execute("SAVEPOINT before")
            client.execute(AUTHENTICATE, (ana,))
            assert drinks(client) == ANA
            if taken_back:
                client.execute("ROLLBACK TO SAVEPOINT before")
                assert drinks(client) == []
            assert refusal(client, bob) == "this transaction acts for another principal"
            assert drinks(client) == ([] if taken_back else ANA)
        client.execute(AUTHENTICATE, (ana,))
        client.execute(AUTHENTICATE, (again,))
        assert drinks(client) == ANA
    with acting(client, bob):
        assert drinks(client) == BOB


def test_a_function_that_catches_the_refusal_gains_nothing(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """PL/pgSQL's EXCEPTION is a savepoint; so is a loop over many of them.

    Proves: A6
    """
    client.execute("CREATE TEMP TABLE tokens (name text, token text)")
    for name in ("ana", "bob"):
        client.execute("INSERT INTO tokens VALUES (%s, %s)", (name, office.token(name)))
    client.execute("CREATE TEMP TABLE seen (name text, drink text)")
    client.execute(
        "DO $$ DECLARE t record; BEGIN"
        " FOR t IN SELECT * FROM tokens ORDER BY name LOOP"
        "  BEGIN"
        "   PERFORM memwarden.authenticate(t.token);"
        "   INSERT INTO seen SELECT t.name, i.content ->> 'drink' FROM memwarden.items AS i;"
        "   IF t.name = 'bob' THEN RAISE 'both'; END IF;"
        "  EXCEPTION WHEN invalid_authorization_specification THEN"
        "   INSERT INTO seen VALUES (t.name, SQLERRM);"
        "  END;"
        " END LOOP; END $$"
    )
    assert [row["drink"] for row in client.execute("TABLE seen").fetchall()] == [
        "green tea",
        "this session or transaction has an identity already",
    ]


def test_nothing_of_an_agent_stays_with_the_connection(office: Brokerage) -> None:
    """One connection, two agents by turns, plans forced to be kept: each sees its own only.

    Proves: A6, A9
    """
    client = psycopg.connect(
        office.world.dsn,
        user=office.app,
        autocommit=True,
        row_factory=dict_row,
        prepare_threshold=0,
        options="-c plan_cache_mode=force_generic_plan",
    )
    with client:
        tokens = {"ana": office.token("ana"), "bob": office.token("bob")}
        for turn in range(8):
            name, own = (("ana", ANA), ("bob", BOB))[turn % 2]
            with acting(client, tokens[name]):
                assert drinks(client) == own
                assert [row["content"]["drink"] for row in recall(client, query="drink")] == own
            assert drinks(client) == []
