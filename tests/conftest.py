"""A real server for every test: one template database with memwarden, one clone a test."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.rows import DictRow, dict_row
from pytest_postgresql import factories

import part
from helpers import ask_for_little
from part import pytest_collection_modifyitems, pytest_sessionfinish
from shipped import Shipped, connected, drop_template, make_template
from stock import Stock
from traces import LOG_SIZE
from warm import Pool

__all__ = ["pytest_collection_modifyitems", "pytest_sessionfinish"]

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("MEMWARDEN_DATA", ROOT.parent / "shared/data"))
CLUSTER = "test"
# A slow machine is no fault of what is tested.
hypothesis.settings.register_profile("without a clock", deadline=None)
hypothesis.settings.load_profile("without a clock")
# Two runs at once have databases of their own; the workers of one run inherit its name.
RUN = os.environ.setdefault("MEMWARDEN_TEST_RUN", uuid.uuid4().hex[:6])
# The cluster that clusters.py copies has this name, and is there when this file says so.
READY = Path(tempfile.gettempdir(), f"ready-{RUN}")
# The same of the store that `memwarden init` made, which stands in the cluster of the tests.
SHIPPED = Path(tempfile.gettempdir(), f"shipped-{RUN}")


def deploy_server(*arguments: str, check: bool = True) -> str:
    """Run ``deploy/server`` and return what it prints."""
    done = subprocess.run(
        [ROOT / "deploy/server", *arguments], check=check, text=True, stdout=subprocess.PIPE
    )
    return done.stdout.strip()


def pytest_configure(config: pytest.Config) -> None:
    """Start the test cluster once, in the process that starts the workers."""
    part.register(config)
    if not hasattr(config, "workerinput") and "MEMWARDEN_TEST_DSN" not in os.environ:
        # Durability is tested on clusters of its own. Here most of the time would go into the files
        # of new databases.
        settings = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "max_connections=300"]
        # Every new database is a checkpoint, after which whole pages would be logged again.
        settings += ["-c", "full_page_writes=off", "-c", "wal_init_zero=off"]
        # A test gathers the statistics that it needs: others would come or not by the clock.
        settings += ["-c", "autovacuum=off"]
        # Plans without one kind of scan or join cost so much on paper that they would be compiled.
        settings += ["-c", "jit=off"]
        settings += part.settings()
        deploy_server("up", CLUSTER, "--in-memory", *settings)
        deploy_server("install")
        os.environ["MEMWARDEN_TEST_DSN"] = deploy_server("dsn", CLUSTER)
    parameters = psycopg.conninfo.conninfo_to_dict(os.environ["MEMWARDEN_TEST_DSN"])
    config.option.postgresql_host = parameters["host"]
    config.option.postgresql_port = parameters["port"]
    config.option.postgresql_user = parameters["user"]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Delete what the workers have made for all."""
    if hasattr(config, "workerinput"):
        return
    if READY.exists():
        deploy_server("drop", READY.name)
        READY.unlink()
    if SHIPPED.exists():
        drop_template(os.environ["MEMWARDEN_TEST_DSN"])
        SHIPPED.unlink()


def pytest_report_header() -> str:
    """Name the server the tests run on."""
    return f"PostgreSQL {os.environ.get('PG', '17')}: {os.environ.get('MEMWARDEN_TEST_DSN')}"


def install_memwarden(**parameters: Any) -> None:
    """Create the extension and its storage in the template database."""
    with psycopg.connect(**(parameters | {"autocommit": True})) as connection:
        connection.execute("CREATE EXTENSION memwarden CASCADE")
        connection.execute("SELECT * FROM memwarden.setup()")
        # Most tests are about something else: their layers ask for no evidence and set no pace.
        connection.execute("CREATE SCHEMA shipped")
        for table in ("layer", "approval_policy"):
            connection.execute(f"CREATE TABLE shipped.{table} AS TABLE memwarden_data.{table}")
        ask_for_little(connection)
        part.count_calls(connection)


server = factories.postgresql_noproc(dbname=f"memwarden_tests_{RUN}", load=[install_memwarden])


@contextmanager
def clone(server: Any, template: str | None = None) -> Iterator[Connection[Any]]:
    """A database of its own, made from the template, and a superuser's connection to it.

    Another template must have no connections. Its 1,500 small files are copied as files: their
    pages as a log would take half as long again.
    """
    where = {"host": server.host, "port": server.port, "user": server.user}
    name = f"{template or server.dbname}_{uuid.uuid4().hex[:8]}"

    def administer(statement: str) -> None:
        with psycopg.connect(**where, dbname="postgres", autocommit=True) as connection:
            names = [sql.Identifier(name), sql.Identifier(template or server.template_dbname)]
            connection.execute(sql.SQL(statement).format(*names))

    administer("CREATE DATABASE {0} TEMPLATE {1} STRATEGY file_copy")
    try:
        with psycopg.connect(**where, dbname=name) as connection:
            yield connection
    finally:
        administer("DROP DATABASE {0} WITH (FORCE)")


class World:
    """One test's database, and connections to it as the roles that a test is about."""

    def __init__(self, admin: Connection[Any], *, pool: Pool | None = None) -> None:
        admin.autocommit = True
        admin.row_factory = dict_row
        self.admin: Connection[DictRow] = admin
        self.dsn: str = admin.info.dsn
        self.roles: list[str] = []
        self.served = 1  # tests
        self.log_size = 0  # of the server, when the world was lent
        self.stocks: Stocks | None = None  # what lent it
        self._open: list[Connection[Any]] = []
        self._pool = pool

    @property
    def is_warm(self) -> bool:
        """Whether its connections may have served others."""
        return self._pool is not None

    def role(self, *groups: str) -> str:
        """Create a login role, unique in the cluster, member of some memwarden roles."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        self.admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        for group in groups:
            grant = sql.SQL("GRANT {} TO {}").format(sql.Identifier(group), sql.Identifier(name))
            self.admin.execute(grant)
        self.roles.append(name)
        return name

    def connect(self, role: str = "postgres", **options: Any) -> Connection[DictRow]:
        """Open a connection as that role, autocommit, rows as dicts."""
        options.setdefault("autocommit", True)
        if self._pool is None or options.keys() != {"autocommit"}:
            return self.log_in(role, **options)
        connection = self._pool.take(role, **options)
        self._open.append(connection)
        return connection

    def log_in(self, role: str, **options: Any) -> Connection[DictRow]:
        """Open a connection that has been nobody else's before, and that the role itself opened."""
        options.setdefault("autocommit", True)
        connection = psycopg.connect(self.dsn, user=role, row_factory=dict_row, **options)
        self._open.append(connection)
        return connection

    def scope(self, path: str) -> int:
        """Create a scope, return its number."""
        row = self.admin.execute("SELECT memwarden.create_scope(%s) AS id", (path,)).fetchone()
        assert row is not None
        return int(row["id"])

    def register(
        self,
        scope: str = "/org/acme/user/ana",
        *,
        groups: Sequence[str] = ("memwarden_agent",),
        **options: Any,
    ) -> str:
        """Register an agent with a login role of its own; return the role, which is its name.

        Options are further arguments of register_agent().
        """
        if scope != "/global":
            self.scope(scope)
        role = self.role(*groups)
        arguments = {"name": role, "scope": scope, "login_role": role} | options
        named = ", ".join(f"{name} => %({name})s" for name in arguments)
        self.admin.execute(f"SELECT memwarden.register_agent({named})", arguments)
        return role

    def ship_layers(self) -> None:
        """Have the layers ask of a write what they ask in a new store."""
        self.admin.execute(
            """
            UPDATE memwarden_data.layer AS l
               SET rate_limit = s.rate_limit, fact_threshold = s.fact_threshold,
                   min_authority = s.min_authority, min_external = s.min_external,
                   self_reference = s.self_reference,
                   duplicate_similarity = s.duplicate_similarity, conflict = s.conflict
              FROM shipped.layer AS s WHERE s.layer = l.layer
            """
        )

    def ship(self) -> None:
        """Have the store ask of a write what a new store asks."""
        self.ship_layers()
        self.admin.execute(
            "UPDATE memwarden_data.approval_policy AS a SET approval = s.approval"
            "  FROM shipped.approval_policy AS s"
            " WHERE (a.org_id, a.layer, a.class) = (s.org_id, s.layer, s.class)"
            "   AND a.agent IS NOT DISTINCT FROM s.agent"
        )

    def grant_tables(self, *roles: str) -> None:
        """Let login roles SELECT from the tables, as a DBA may: then policies alone hold."""
        for role in roles:
            self.admin.execute(
                sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA memwarden_data TO {}").format(
                    sql.Identifier(role)
                )
            )

    def agent(self, scope: str = "/org/acme/user/ana", **options: Any) -> Connection[DictRow]:
        """Register an agent and connect as it."""
        return self.connect(self.register(scope, **options))

    def rows(self, query: str, *parameters: Any) -> list[DictRow]:
        """Run a query as superuser."""
        return self.admin.execute(query, parameters).fetchall()

    def value(self, query: str, *parameters: Any) -> Any:
        """Run a query as superuser, return its one value."""
        row = self.admin.execute(query, parameters).fetchone()
        assert row is not None
        return next(iter(row.values()))

    def disconnect(self) -> None:
        """Close what was opened, or keep it for the next test."""
        for connection in self._open:
            if self._pool is None:
                connection.close()
            else:
                self._pool.give_back(connection)
        self._open.clear()

    def close(self) -> None:
        """Close what was opened and drop the roles that were made."""
        self.disconnect()
        for role in self.roles:
            self.admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
            self.admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


# Where the tests are about what a caller can do, every login is real, unless a module says
# otherwise.
REAL_LOGINS = {"identity", "security"}


def has_warm_logins(request: pytest.FixtureRequest) -> bool:
    """Whether a test's connections may have served others, who took on other roles."""
    folder = request.path.parent.name
    return bool(getattr(request.module, "WARM_LOGINS", folder not in REAL_LOGINS))


def shipped_template() -> str:
    """The database that `memwarden init` has made, once in a run: the dictionary is large."""
    with SHIPPED.open("a+") as made:
        fcntl.flock(made, fcntl.LOCK_EX)
        made.seek(0)
        name = made.read()
        if not name:
            name = make_template(os.environ["MEMWARDEN_TEST_DSN"])
            made.write(name)
        return name


class Stocks:
    """The databases that the next tests of this process get."""

    def __init__(self, server: Any, template: str | None = None) -> None:
        self._server = server
        self._template = template
        self._made: dict[Stock, ExitStack] = {}
        self._free: list[Stock] = []

    def _take(self) -> Stock:
        """Return a database at hand, or a new one."""
        if self._free:
            return self._free.pop()
        made = ExitStack()
        stock = Stock(made.enter_context(clone(self._server, self._template)))
        self._made[stock] = made
        return stock

    def _drop(self, stock: Stock) -> None:
        stock.pool.close()
        # A test may have ended the connection of the keeper, too.
        stock.keeper.close()
        if part.PART:
            with psycopg.connect(stock.pool.dsn, autocommit=True) as connection:
                part.count_calls(connection)
        self._made.pop(stock).close()

    @cached_property
    def shipped(self) -> Stocks:
        """What lends stores as `memwarden init` leaves them."""
        return Stocks(self._server, shipped_template())

    def drop(self) -> None:
        """Drop the databases that nobody has."""
        if "shipped" in vars(self):
            self.shipped.drop()
        while self._free:
            self._drop(self._free.pop())

    @contextmanager
    def lend(self, *, is_warm: bool) -> Iterator[World]:
        """A world in a database that is put back afterwards."""
        stock = self._take()
        admin = stock.pool.take("postgres", autocommit=True)
        made = World(admin, pool=stock.pool if is_warm else None)
        made.log_size = made.value(LOG_SIZE)
        made.stocks = self
        yield made
        is_as_before = False
        with suppress(psycopg.Error):
            made.close()
            stock.pool.give_back(admin)
            is_as_before = stock.put_back(made.served)
            part.look_at_calls(stock.keeper)
        if admin not in stock.pool.free:
            admin.close()
        if is_as_before:
            self._free.append(stock)
        else:
            self._drop(stock)


@pytest.fixture(scope="session")
def stocks(server: Any) -> Iterator[Stocks]:
    """What lends databases to the tests of this process."""
    made = Stocks(server)
    yield made
    made.drop()


@pytest.fixture
def world(request: pytest.FixtureRequest, stocks: Stocks) -> Iterator[World]:
    """A database with memwarden, its superuser, and a way to connect as others."""
    with stocks.lend(is_warm=has_warm_logins(request)) as made:
        yield made


@pytest.fixture
def shipped(request: pytest.FixtureRequest, stocks: Stocks) -> Iterator[Shipped]:
    """A store as `memwarden init` leaves it, nothing changed, and connections of its logins."""
    with stocks.shipped.lend(is_warm=has_warm_logins(request)) as made:
        yield connected(made)


@pytest.fixture
def fresh_world(server: Any) -> Iterator[World]:
    """A world of which nobody has had anything before: no plan, no statistics, no connection."""
    with clone(server) as connection:
        made = World(connection)
        yield made
        part.count_calls(made.admin)
        made.close()


class Filled:
    """A database that an agent has filled; each test of a module gets a copy of it."""

    def __init__(self, server: Any, connection: Connection[Any]) -> None:
        self.server = server
        self.world = World(connection)
        self.role = ""

    def leave(self, agent: Connection[Any]) -> None:
        """Close all connections; nobody but this agent is met in the copies."""
        self.role = agent.info.user
        self.world.disconnect()
        self.world.admin.close()

    @contextmanager
    def copied(self) -> Iterator[World]:
        """A copy of its own."""
        template = psycopg.conninfo.conninfo_to_dict(self.world.dsn)["dbname"]
        with clone(self.server, str(template)) as connection:
            made = World(connection)
            yield made
            part.count_calls(made.admin)
            made.close()

    def close(self) -> None:
        """Drop the roles."""
        with psycopg.connect(self.world.dsn) as connection:
            last = World(connection)
            last.roles = self.world.roles
            last.close()


@contextmanager
def filled(server: Any) -> Iterator[Filled]:
    """A database to be filled and left."""
    with clone(server) as connection:
        made = Filled(server, connection)
        yield made
        made.close()


@pytest.fixture(scope="module")
def shared_world(request: pytest.FixtureRequest, stocks: Stocks) -> Iterator[World]:
    """A database that the tests of one module share: each takes scopes of its own."""
    with stocks.lend(is_warm=has_warm_logins(request)) as made:
        yield made


@pytest.fixture(autouse=True)
def _disconnect(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close what a test has opened in a world that it shares: connections are few."""
    made = (
        request.getfixturevalue("shared_world") if "shared_world" in request.fixturenames else None
    )
    yield
    if made is not None:
        made.served += 1
        made.disconnect()


@pytest.fixture(scope="session", autouse=True)
def _services_on_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Name this machine in the operator's file: services of the tests run here."""
    file = tmp_path_factory.mktemp("operator") / "hosts"
    file.write_text("# what the tests serve\n127.0.0.1\nlocalhost\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMWARDEN_HOSTS_FILE", str(file))
        yield


@pytest.fixture
def home() -> str:
    """The path of a user's scope in an organisation that no other test uses."""
    return f"/org/{uuid.uuid4().hex[:12]}/user/ana"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data from outside."""
    if not DATA.is_dir():
        pytest.skip(f"no data from outside: {DATA} is absent (MEMWARDEN_DATA names another place)")
    return DATA
