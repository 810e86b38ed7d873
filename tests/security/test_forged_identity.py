"""Nothing that a caller can set, name, prepare, open or define makes it somebody else."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write

from .brokerage import ANA, AUTHENTICATE, BOB, NOBODY, Brokerage, acting, drinks, fault
from .conftest import Store
from .test_shadowing import lay_traps

WHO = "SELECT agent FROM memwarden.whoami()"
MINE = "SELECT content ->> 'drink' AS drink FROM memwarden.items"


def values(setting: DictRow, victim: str) -> list[str]:
    """What somebody who wants to be the victim might set a setting to."""
    if setting["enumvals"]:
        return list(setting["enumvals"])
    if setting["vartype"] == "bool":
        return ["on", "off"]
    if setting["vartype"] in {"integer", "real"}:
        return [setting["min_val"], setting["max_val"]]
    return [victim, "postgres", "memwarden_owner", "0", ""]


def test_no_setting_makes_a_caller_somebody_else(office: Brokerage) -> None:
    """Every setting that a session may change, at its extremes, for a bound login and by token.

    What it says of itself and what it sees stay the same, or the call fails.

    Proves: A6
    """
    world = office.world
    victim = world.register(f"/org/{office.org}/user/carl")
    bound = world.connect(world.register(f"/org/{office.org}/user/dora"))
    write(bound, "semantic", {"drink": "water"})
    by_token = world.connect(office.app)
    token = office.token()
    settings = by_token.execute(
        "SELECT name, vartype, enumvals, min_val, max_val FROM pg_settings WHERE context = 'user'"
    ).fetchall()
    assert len(settings) > 100
    settings += [
        {"name": name, "vartype": "string", "enumvals": None}
        for name in ("role", "session_authorization", "memwarden.principal", "memwarden.user")
    ]
    answers: set[Any] = set()
    for setting in settings:
        for value in values(setting, victim):
            for client, name, own in (
                (bound, bound.info.user, ["water"]),
                (by_token, "ana", ANA),
            ):
                try:
                    with client.transaction():
                        if client is by_token:
                            client.execute(AUTHENTICATE, (token,))
                        client.execute("SELECT set_config(%s, %s, true)", (setting["name"], value))
                        answer = (client.execute(WHO).fetchall(), drinks(client))
                except psycopg.Error as error:
                    answers.add(error.sqlstate)
                    continue
                assert answer == ([{"agent": name}], own), (setting["name"], value)
    # Not permitted, invalid, read only, cancelled by a timeout, out of memory.
    assert {str(answer)[:2] for answer in answers} <= {"42", "22", "25", "57", "53", "28"}
    assert drinks(bound) == ["water"]


@pytest.mark.parametrize("statement", ["SET ROLE {}", "SET SESSION AUTHORIZATION {}"])
def test_a_role_that_was_not_granted_cannot_be_taken(office: Brokerage, statement: str) -> None:
    """Not of the agents, of the broker, of the engine, of an administrator; not within a function.

    Proves: A6
    """
    world = office.world
    victim = world.register(f"/org/{office.org}/user/carl")
    client = world.connect(office.app)
    for role in (victim, office.broker, "memwarden_owner", "memwarden_admin", "postgres"):
        command = statement.format(role)
        with acting(client, office.token()):
            assert fault(client, command)[0] == "42501"
            assert fault(client, f"DO $$ BEGIN EXECUTE '{command}'; END $$")[0] == "42501"
            assert drinks(client) == ANA


def test_a_statement_prepared_by_somebody_else_runs_as_who_executes_it(office: Brokerage) -> None:
    """Prepared by a superuser, by nobody, by another agent, with the plan kept: one's own rows.

    Proves: A3, A6
    """
    session = office.world.connect(options="-c plan_cache_mode=force_generic_plan")
    office.world.grant_tables("memwarden_agent")
    statements = {
        "view": "SELECT content ->> 'drink' AS drink FROM memwarden.items",
        "joined": "SELECT v.content ->> 'drink' AS drink FROM memwarden_data.item AS i"
        " JOIN memwarden_data.version AS v USING (version_id)",
        "counted": "SELECT max(content ->> 'drink') AS drink FROM memwarden_data.version",
    }
    for name, query in statements.items():
        session.execute(f"PREPARE {name} AS {query}")
        assert len(session.execute(f"EXECUTE {name}").fetchall()) >= 1
    session.execute(f"SET SESSION AUTHORIZATION {office.app}")
    tokens = {"ana": office.token("ana"), "bob": office.token("bob")}
    for name in statements:
        for _ in range(3):
            for agent, own in (("ana", ANA), ("bob", BOB), (None, [])):
                if agent is None:
                    seen = session.execute(f"EXECUTE {name}").fetchall()
                else:
                    with acting(session, tokens[agent]):
                        seen = session.execute(f"EXECUTE {name}").fetchall()
                drinks_seen = [row["drink"] for row in seen if row["drink"] is not None]
                assert drinks_seen == own, (name, agent)


def test_a_cursor_ends_with_the_identity_that_opened_it(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """It is closed with its transaction; opened by nobody it stays nobody's row source.

    Proves: A6
    """
    with acting(client, office.token()):
        client.execute(f"DECLARE mine SCROLL CURSOR FOR {MINE}")
        client.execute("SAVEPOINT s")
        assert client.execute("FETCH 1 FROM mine").fetchall() == [{"drink": "green tea"}]
        client.execute("ROLLBACK TO SAVEPOINT s")
        client.execute("MOVE BACKWARD ALL FROM mine")
        assert client.execute("FETCH ALL FROM mine").fetchall() == [{"drink": "green tea"}]
    assert fault(client, "FETCH ALL FROM mine")[0] == "34000"
    assert client.execute("SELECT * FROM pg_cursors WHERE name = 'mine'").fetchall() == []


def test_a_cursor_reads_on_only_as_who_may(office: Brokerage, client: Connection[DictRow]) -> None:
    """What is fetched after the identity is gone is what nobody sees: nothing.

    Proves: A6
    """
    with acting(client, office.token()):
        for number in range(3):
            assert write(client, "episodic", {"n": number})["outcome"] == "COMMITTED"
        client.execute("DECLARE mine CURSOR FOR SELECT item_id FROM memwarden.items")
        assert len(client.execute("FETCH 1 FROM mine").fetchall()) == 1
        client.execute("SET LOCAL memwarden.ticket = ''")
        assert client.execute("FETCH ALL FROM mine").fetchall() == []


def test_a_savepoint_takes_identity_back_and_never_gives_it(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Released it stays, rolled back it goes; errors caught inside leave it as it was.

    Proves: A6
    """
    token = office.token()
    with client.transaction():
        client.execute("SAVEPOINT outer_one")
        client.execute(AUTHENTICATE, (token,))
        client.execute("SAVEPOINT inner_one")
        with pytest.raises(psycopg.errors.DivisionByZero), client.transaction():
            client.execute("SELECT set_config('memwarden.ticket', '', true), 1 / 0")
        assert drinks(client) == ANA
        client.execute("RELEASE SAVEPOINT inner_one")
        assert drinks(client) == ANA
        client.execute("ROLLBACK TO SAVEPOINT outer_one")
        assert drinks(client) == []
        assert fault(client, WHO)[0] == NOBODY


def test_tokens_are_not_fooled_by_names_of_the_callers_own(world: World) -> None:
    """Functions, operators and tables like ours and PostgreSQL's, each of which would raise.

    Proves: A6
    """
    office = Brokerage(world, "acme")
    client = world.connect(office.app)
    store = Store.__new__(Store)
    store.world = world
    assert lay_traps(store, client) > 400
    world.admin.execute(f"GRANT USAGE ON SCHEMA trap TO {office.broker}")
    broker = world.connect(office.broker)
    broker.execute("CREATE TEMP TABLE token (token_id uuid, revoked_at timestamptz)")
    broker.execute("CREATE TEMP TABLE pg_roles AS SELECT 'forged' AS rolname, true AS rolcanlogin")
    broker.execute("SET search_path = trap, pg_temp, pg_catalog")
    issue = "SELECT * FROM memwarden.issue_token(%s, %s)"
    assert fault(broker, issue, "ana", "forged")[0] == "42704"
    for agent, own in (("ana", "green tea"), ("bob", "black coffee")):
        row = broker.execute(issue, (agent, office.app)).fetchone()
        assert row is not None
        with acting(client, row["token"]):
            assert client.execute(WHO).fetchall() == [{"agent": agent}]
            assert [row["content"] for row in recall(client, query="drink")] == [{"drink": own}]
            assert write(client, "episodic", {"by": agent})["outcome"] == "COMMITTED"
        assert fault(client, WHO)[0] == NOBODY


def test_workers_of_a_parallel_plan_see_what_their_leader_sees(
    office: Brokerage, client: Connection[DictRow]
) -> None:
    """Forced wherever it is possible, for a bound login and by token.

    Proves: A3, A6
    """
    bound = office.world.agent(f"/org/{office.org}/user/carl")
    office.world.grant_tables("memwarden_agent")
    write(bound, "semantic", {"drink": "water"})
    for connection in (client, bound):
        for setting in (
            "debug_parallel_query = on",
            "min_parallel_table_scan_size = 0",
            "parallel_setup_cost = 0",
            "parallel_tuple_cost = 0",
            "parallel_leader_participation = off",
        ):
            connection.execute(f"SET {setting}")
    reads = [
        MINE,
        "SELECT content ->> 'drink' AS drink FROM memwarden_data.version",
        "SELECT max(content ->> 'drink') AS drink FROM memwarden_data.version",
        "SELECT content ->> 'drink' AS drink FROM memwarden.recall('drink')",
        # Beside a table that workers do scan; those of memwarden only their leader does.
        "SELECT max(i.content ->> 'drink') AS drink FROM memwarden.items AS i,"
        " (SELECT count(*) FROM pg_proc WHERE length(md5(prosrc)) = 32) AS c WHERE c.count > 0",
    ]
    assert any(
        "Gather" in row["QUERY PLAN"]
        for read in reads
        for row in bound.execute(f"EXPLAIN {read}").fetchall()
    )
    tokens = {"ana": office.token("ana"), "bob": office.token("bob")}
    for read in reads:
        assert bound.execute(read).fetchall() == [{"drink": "water"}]
        for agent, own in (("ana", ANA), ("bob", BOB)):
            with acting(client, tokens[agent]):
                assert client.execute(read).fetchall() == [{"drink": own[0]}], read
        assert [row for row in client.execute(reads[0]).fetchall() if row["drink"]] == []


def test_a_function_of_anothers_acts_for_who_calls_it(store: Store) -> None:
    """SECURITY DEFINER or not: calling it lends it one's own eyes, as docs/secure.md says.

    Proves: A6
    """
    ana, bob = store.ana, store.bob
    world = store.world
    world.admin.execute(f"GRANT CREATE ON SCHEMA public TO {ana.info.user}")
    for security in ("INVOKER", "DEFINER"):
        ana.execute(
            "CREATE OR REPLACE FUNCTION public.helpful() RETURNS SETOF text LANGUAGE sql"
            f" SECURITY {security} AS"
            " 'SELECT DISTINCT content ->> ''drink'' FROM memwarden.items'"
        )
        assert ana.execute("SELECT public.helpful() AS drink").fetchall() == [{"drink": ANA[0]}]
        assert bob.execute("SELECT public.helpful() AS drink").fetchall() == [{"drink": BOB[0]}]
    stranger = world.connect(world.role())
    # Rights are the owner's, and so suffice; identity is the stranger's, who is nobody.
    assert stranger.execute("SELECT public.helpful()").fetchall() == []
