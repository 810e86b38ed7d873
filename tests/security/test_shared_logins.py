"""What a login that several share cannot promise when its clients write SQL themselves.

A token says whom a transaction acts for. It does not isolate the clients of one database session
from one another: whatever a session keeps, its next client finds. docs/secure.md tells so, and what
follows from it: only an application that writes all the SQL may share a login.
"""

from __future__ import annotations

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World

from .brokerage import AUTHENTICATE, NOBODY, Brokerage, acting, drinks, fault
from .pgbouncer import pid, running

Pair = tuple[Connection[DictRow], ...]

MINE = "SELECT content ->> 'drink' AS drink FROM memwarden.items WHERE content ? 'drink'"
TEA = [{"drink": "green tea"}]

LEFT_BEHIND: dict[str, tuple[str, str, str]] = {
    "a cursor that is held": (
        f"DECLARE loot CURSOR WITH HOLD FOR {MINE}",
        "FETCH ALL FROM loot",
        "CLOSE loot",
    ),
    "a temporary table": (f"CREATE TEMP TABLE loot AS {MINE}", "TABLE loot", "DROP TABLE loot"),
    "a setting": (
        f"SELECT set_config('my.loot', max(m.drink), false) FROM ({MINE}) AS m",
        "SELECT current_setting('my.loot') AS drink",
        "RESET my.loot",
    ),
    "a sequence": (
        "CREATE TEMP SEQUENCE loot; SELECT setval('loot', 97)",
        "SELECT CASE WHEN currval('loot') = 97 THEN 'green tea' END AS drink",
        "DROP SEQUENCE loot",
    ),
}


@pytest.mark.parametrize("what", LEFT_BEHIND)
def test_a_shared_login_does_not_isolate_clients_that_write_sql(
    shared_office: Brokerage, pair: Pair, what: str
) -> None:
    """What A keeps in the session, B finds in it, with no identity at all.

    A limit, which docs/secure.md tells.
    """
    a, b = pair
    keep, find, drop = LEFT_BEHIND[what]
    with acting(a, shared_office.token("ana")):
        a.execute(keep)
    assert pid(b) == pid(a)
    assert drinks(b) == []
    assert b.execute(find).fetchall() == TEA
    b.execute(drop)


def test_code_that_a_client_leaves_behind_runs_as_the_next(
    shared_office: Brokerage, pair: Pair
) -> None:
    """A's trigger on a temporary table fires within B's transaction, and reads as B.

    A limit, which docs/secure.md tells.
    """
    a, b = pair
    a.execute("CREATE TEMP TABLE scratch (note text)")
    a.execute("CREATE TEMP TABLE loot (drink text)")
    a.execute(
        "CREATE FUNCTION pg_temp.spy() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN INSERT INTO loot {MINE}; RETURN NEW; END $$"
    )
    a.execute(
        "CREATE TRIGGER spy BEFORE INSERT ON scratch FOR EACH ROW EXECUTE FUNCTION pg_temp.spy()"
    )
    with acting(b, shared_office.token("bob")):
        b.execute("CREATE TEMP TABLE IF NOT EXISTS scratch (note text)")
        b.execute("INSERT INTO scratch VALUES ('a note')")
    assert a.execute("TABLE loot").fetchall() == [{"drink": "black coffee"}]
    a.execute("DISCARD TEMP")


def test_a_search_path_that_a_client_leaves_behind_is_the_next_ones(
    shared_office: Brokerage, pair: Pair, shared_world: World
) -> None:
    """B's functions are then those of A, and see what B passes; qualified names alone are safe.

    A limit, which docs/secure.md tells. PostgreSQL 18 reports this one setting, so that a new
    PgBouncer gives each client its own.
    """
    a, b = pair
    left = [{"drink": "black coffee"}] if a.info.server_version < 180000 else []
    shared_world.admin.execute(f"CREATE SCHEMA trap AUTHORIZATION {shared_office.app}")
    a.execute("CREATE TEMP TABLE loot (drink text)")
    a.execute(
        "CREATE FUNCTION trap.upper(x text) RETURNS text LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO loot VALUES (x); RETURN pg_catalog.upper(x); END $$"
    )
    a.execute("SET search_path = trap, pg_catalog, public")
    with acting(b, shared_office.token("bob")):
        b.execute("SELECT pg_catalog.upper(content ->> 'drink') FROM memwarden.items")
        assert a_table(b, "loot") == []
        b.execute("SELECT upper(content ->> 'drink') FROM memwarden.items")
    assert a_table(a, "loot") == left
    a.execute("RESET search_path")
    a.execute("DISCARD TEMP")
    shared_world.admin.execute("DROP SCHEMA trap CASCADE")


def a_table(connection: Connection[DictRow], name: str) -> list[DictRow]:
    """The rows of a table."""
    return connection.execute(f"TABLE {name}").fetchall()


def test_a_client_can_make_the_next_one_fail(shared_office: Brokerage, pair: Pair) -> None:
    """Isolation, prepared names, channels and locks are the session's, and so everybody's.

    A limit, which docs/secure.md tells.
    """
    a, b = pair
    a.execute("SET default_transaction_isolation = serializable")
    with acting(b, shared_office.token()):
        assert fault(b, "SELECT memwarden.write('semantic', '1')")[0] == "25001"
    a.execute("RESET default_transaction_isolation")
    a.execute("PREPARE question AS SELECT 'a lie' AS answer")
    assert b.execute("EXECUTE question").fetchall() == [{"answer": "a lie"}]
    b.execute("DEALLOCATE question")
    # It listens on what the other asked for.
    a.execute("LISTEN gossip")
    heard = b.execute("SELECT pg_listening_channels() AS channel").fetchall()
    assert heard == [{"channel": "gossip"}]
    b.execute("UNLISTEN *")
    # A lock of the session is the other's, too.
    a.execute("SELECT pg_advisory_lock(4711)")
    assert b.execute("SELECT pg_advisory_unlock(4711) AS held").fetchall() == [{"held": True}]


def test_clients_of_a_shared_login_see_and_end_each_others_sessions(
    shared_office: Brokerage,
) -> None:
    """Without any pooler: to the server they are one role, who may watch and cancel itself.

    A statement with its literals is seen; bind parameters, and so tokens, are not.

    A limit, which docs/secure.md tells.
    """
    world = shared_office.world
    victim, other = world.connect(shared_office.app), world.connect(shared_office.app)
    token = shared_office.token()
    with acting(victim, token):
        victim.execute("SELECT 'a literal of the victim'")
        watched = other.execute(
            "SELECT query FROM pg_stat_activity WHERE pid = %s", (victim.info.backend_pid,)
        ).fetchall()
        assert watched == [{"query": "SELECT 'a literal of the victim'"}]
        victim.execute(AUTHENTICATE, (token,))
        watched = other.execute(
            "SELECT query FROM pg_stat_activity WHERE pid = %s", (victim.info.backend_pid,)
        ).fetchall()
        assert watched == [{"query": "SELECT memwarden.authenticate($1)"}]
        other.execute("SELECT pg_terminate_backend(%s, 10000)", (victim.info.backend_pid,))
        with pytest.raises(psycopg.OperationalError):
            victim.execute("SELECT 1")
        victim.close()


def test_a_token_that_a_client_holds_is_good_for_every_client_of_its_login(
    shared_office: Brokerage, pair: Pair
) -> None:
    """It is a bearer's: whoever of that login has it, has it, for five minutes at most.

    A limit, which docs/secure.md tells.
    """
    a, b = pair
    token = shared_office.token("ana")
    for client in (a, b):
        with acting(client, token):
            assert drinks(client) == ["green tea"]
    stranger = shared_office.world.connect(shared_office.world.role("memwarden_agent"))
    assert fault(stranger, AUTHENTICATE, token)[0] == NOBODY


def test_a_pooler_that_discards_the_session_each_time_keeps_nothing(
    shared_office: Brokerage,
) -> None:
    """PgBouncer's server_reset_query_always: what A left is gone; a statement prepared works on.

    Proves: A6
    """
    with running(
        shared_office.world, [shared_office.app], "server_reset_query_always = 1"
    ) as bouncer:
        a, b = (bouncer.connect(shared_office.app) for _ in "AB")
        for what, (keep, find, _) in LEFT_BEHIND.items():
            with acting(a, shared_office.token("ana")):
                a.execute(keep)
                server = pid(a)
            assert pid(b) == server
            try:
                found = b.execute(find).fetchall()
            except psycopg.Error:
                continue
            assert found == [{"drink": ""}], what
        for client in (a, b, a, b):
            assert client.execute("SELECT %s + 1 AS n", (1,), prepare=True).fetchall() == [{"n": 2}]
