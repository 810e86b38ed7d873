"""A store that holds something worth forging, and the roles that might try."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write

from .brokerage import Brokerage
from .pgbouncer import Bouncer, pid, running


def sqlstate(connection: Connection[DictRow], statement: str) -> str | None:
    """Run a statement, return the SQLSTATE it fails with; None when it is accepted."""
    try:
        with connection.cursor() as cursor:
            if statement.startswith("COPY") and statement.endswith("STDIN"):
                with cursor.copy(statement) as copy:
                    copy.write("\n")
            else:
                cursor.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate
    return None


ANA, BOB = "/org/acme/user/ana", "/org/acme/user/bob"


RIGHTS = """
SELECT c.relname, c.relacl::text, c.relowner, c.relrowsecurity, c.relforcerowsecurity,
       ARRAY(SELECT p.polname FROM pg_policy AS p
              WHERE p.polrelid = c.oid ORDER BY p.polname) AS policies,
       ARRAY(SELECT t.tgname || t.tgenabled::text FROM pg_trigger AS t
              WHERE t.tgrelid = c.oid AND NOT t.tgisinternal ORDER BY t.tgname) AS triggers
  FROM pg_class AS c
 WHERE c.relnamespace = 'memwarden_data'::regnamespace
 ORDER BY c.relname
"""


class Store:
    """Two neighbours who each remember something."""

    def __init__(self, world: World) -> None:
        self.world = world
        ana, bob = world.register(ANA), world.register(BOB)
        # Their own connections are new, and the test's alone. This one has written before.
        for role, drink in ((ana, "green tea"), (bob, "black coffee")):
            world.admin.execute(f"SET SESSION AUTHORIZATION {role}")
            for layer in ("working", "episodic", "semantic"):
                row = write(
                    world.admin, layer, {"drink": drink}, subject="self", predicate="prefers"
                )
                assert row["outcome"] == "COMMITTED", row
            world.admin.execute("RESET SESSION AUTHORIZATION")
        self.ana, self.bob = world.connect(ana), world.connect(bob)

    def intruder(self, *groups: str) -> Connection[DictRow]:
        """Connect as a login role of these groups, bound to a principal in Ana's scope."""
        if groups == ("memwarden_jobs",):
            return self.world.connect("memwarden_jobs")
        role = self.world.register(ANA)
        if "memwarden_agent" not in groups:
            self.world.admin.execute(f"REVOKE memwarden_agent FROM {role}")
        for group in groups:
            self.world.admin.execute(f"GRANT {group} TO {role}")
        return self.world.connect(role)

    def read_tables(self) -> None:
        """Let both SELECT from the tables, as a DBA may: then policies alone hold."""
        self.world.grant_tables(self.ana.info.user, self.bob.info.user)

    def tables(self) -> list[str]:
        """Every table and partition of the storage, found in the catalog."""
        rows = self.world.rows(
            "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
            " WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')"
        )
        return [row["name"] for row in rows]

    def contents(self) -> dict[str, str]:
        """A fingerprint of each table's rows, and of who may do what with which triggers."""
        return {
            table: self.world.value(
                "SELECT count(*) || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '')"
                f"  FROM {table} AS t"
            )
            for table in self.tables()
        } | {"rights": str(self.world.rows(RIGHTS))}


@pytest.fixture
def store(world: World) -> Store:
    """Ana's and Bob's memories."""
    return Store(world)


@pytest.fixture(scope="module")
def shared_store(shared_world: World) -> Store:
    """The same for all tests of a module, without the connections of the two."""
    made = Store(shared_world)
    shared_world.disconnect()
    return made


@pytest.fixture
def office(shared_world: World) -> Brokerage:
    """An organisation of its own: Ana and Bob, reached by tokens, and the broker of both."""
    return Brokerage(shared_world, uuid.uuid4().hex[:12])


@pytest.fixture
def client(office: Brokerage) -> Connection[DictRow]:
    """A connection of the login that acts for either."""
    return office.world.connect(office.app)


@pytest.fixture(scope="module")
def shared_office(shared_world: World) -> Brokerage:
    """Ana and Bob, reached through one login, for all tests of this module."""
    return Brokerage(shared_world, "acme")


@pytest.fixture(scope="module")
def bound(shared_world: World, shared_office: Brokerage) -> dict[str, str]:
    """Two further agents, each with a login of its own, and what each remembers."""
    logins = {}
    for drink in ("water", "wine"):
        login = shared_world.register(f"/org/{shared_office.org}/user/{drink}")
        with shared_world.connect(login) as agent:
            write(agent, "semantic", {"drink": drink}, subject="self")
        logins[drink] = login
    return logins


@pytest.fixture(scope="module")
def running_bouncer(shared_office: Brokerage, bound: dict[str, str]) -> Iterator[Bouncer]:
    """One PgBouncer for this module."""
    logins = [shared_office.app, shared_office.broker, *bound.values()]
    with running(shared_office.world, logins) as bouncer:
        yield bouncer


@pytest.fixture
def bouncer(running_bouncer: Bouncer) -> Iterator[Bouncer]:
    """The same, without the clients of the test before."""
    yield running_bouncer
    running_bouncer.disconnect()


@pytest.fixture
def pair(shared_office: Brokerage, bouncer: Bouncer) -> tuple[Connection[DictRow], ...]:
    """Two clients of the shared login: A and B, on one server connection."""
    clients = tuple(bouncer.connect(shared_office.app) for _ in "AB")
    assert len({pid(client) for client in clients}) == 1
    return clients
