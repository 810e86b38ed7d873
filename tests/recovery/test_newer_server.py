"""From PostgreSQL 17 to 18, by dump and in place: what docs/operate.md says, on real servers.

Two root file systems of Debian, with pg_partman, pgvector and Python of different releases. Both
versions take part in each test, so a run on one of them is enough.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from catalog_snapshot import Snapshot, catalog_snapshot, differences
from clusters import place_of
from conftest import ROOT, World
from helpers import recall
from moving import (
    CRON_DATABASE,
    QUIET,
    Store,
    assert_all_is_there,
    assert_it_goes_on,
    job_list,
    make_store,
    troubles,
)
from row_digests import row_digests

OLD, NEW = "17", "18"
NO_POSTGRESQL_18 = 75
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "alone")
SOURCE, TARGET = f"older-{WORKER}", f"newer-{WORKER}"

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        os.environ.get("PG", OLD) != OLD, reason="done in the run on PostgreSQL 17, with both"
    ),
]


def server(version: str, *arguments: str, given: bytes | None = None) -> bytes:
    """Run ``deploy/server`` for a PostgreSQL version; return what it prints."""
    done = subprocess.run(
        [ROOT / "deploy/server", *arguments],
        env=os.environ | {"PG": version},
        input=given,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return done.stdout


def run(version: str, *command: str, given: bytes | None = None) -> bytes:
    """Run a command inside a root, as the server's user, where the shared files are."""
    return server(version, "exec", *command, given=given)


def up(version: str, name: str) -> None:
    """Start a cluster, where its files are or will be."""
    run(version, "mkdir", "--parents", "--mode=0700", place_of(name))
    server(version, "up", name, *QUIET)


def dsn(version: str, name: str, database: str) -> str:
    """A connection string of a cluster's database."""
    return server(version, "dsn", name, database).decode().strip()


@contextmanager
def opened(version: str, name: str, database: str) -> Iterator[World]:
    """A database of a cluster; its roles stay, since other tests restore them too."""
    with psycopg.connect(dsn(version, name, database), autocommit=True) as admin:
        world = World(admin)
        yield world
        world.disconnect()


@dataclass
class Carried(Store):
    """The store, and what is carried over to the newer server."""

    home: str
    key: bytes
    dump: bytes
    roles: bytes


@pytest.fixture(scope="module")
def newer() -> Iterator[str]:
    """The root of the newer PostgreSQL, with this extension; without it nothing can be tested."""
    made = subprocess.run(
        [ROOT / "deploy/server", "root"],
        env=os.environ | {"PG": NEW},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if made.returncode == NO_POSTGRESQL_18:
        pytest.skip("*** NOT TESTED: Debian testing gives no PostgreSQL 18 today")
    server(NEW, "install")
    yield made.stdout.strip()
    server(OLD, "drop", SOURCE)
    server(NEW, "drop", SOURCE)
    server(NEW, "drop", TARGET)


@pytest.fixture(scope="module")
def store(newer: str) -> Carried:
    """The older server is stopped at the end, as before pg_upgrade."""
    server(OLD, "drop", SOURCE)
    up(OLD, SOURCE)
    home = place_of(SOURCE)
    with opened(OLD, SOURCE, CRON_DATABASE) as world:
        where = dsn(OLD, SOURCE, CRON_DATABASE)
        carried = Carried(
            **vars(make_store(world)),
            home=home,
            key=run(OLD, "cat", f"{home}/master.key"),
            dump=run(OLD, "pg_dump", "--format=custom", "--exclude-extension=pg_cron", where),
            roles=run(OLD, "pg_dumpall", "--roles-only", f"--dbname={where}"),
        )
        drop_column_versions(world, newer)
    server(OLD, "down", SOURCE)
    return carried


def drop_column_versions(world: World, newer: str) -> None:
    """Take away what 17.12 notes at every column, where this release of 18 cannot read it.

    18.6 does not know that option, and its pg_upgrade fails at any table: the manual says so.
    """
    if b"pg_attver" in Path(newer, f"usr/lib/postgresql/{NEW}/bin/pg_dump").read_bytes():
        return
    world.admin.execute(
        "UPDATE pg_attribute SET attoptions ="
        " (SELECT array_agg(o) FROM unnest(attoptions) AS o WHERE o !~ '^pg_attver=')"
        " WHERE attoptions::text ~ 'pg_attver='"
    )


@pytest.fixture(scope="module")
def target(store: Carried) -> str:
    """A cluster of the newer server, with the key and the roles of the older."""
    server(NEW, "drop", TARGET)
    take_key(TARGET, store)
    up(NEW, TARGET)
    # What it says of roles that are there is no harm.
    run(NEW, "psql", "-X", "--quiet", dsn(NEW, TARGET, "postgres"), given=store.roles)
    return TARGET


@pytest.fixture(scope="module")
def fresh(target: str) -> Snapshot:
    """What an installation on the newer server looks like."""
    run(NEW, "createdb", f"--maintenance-db={dsn(NEW, target, 'postgres')}", "fresh")
    with opened(NEW, target, "fresh") as world:
        world.admin.execute("CREATE EXTENSION memwarden CASCADE")
        world.admin.execute("SELECT memwarden.setup()")
        return comparable(world)


def comparable(world: World) -> Snapshot:
    """Without the names of NOT NULL constraints, which 17 does not have; columns tell the rest."""
    return {
        key: text
        for key, text in catalog_snapshot(world.admin).items()
        if key != "extension pg_cron" and not text.startswith("NOT NULL ")
    }


def take_key(name: str, store: Carried) -> None:
    """Put the master key where a cluster of the newer server is going to look for it."""
    home = place_of(name)
    command = f"mkdir --parents --mode=0700 {home} && umask 0377 && cat > {home}/master.key"
    run(NEW, "sh", "-c", command, given=store.key)


@pytest.mark.parametrize("with_cron", [False, True])
def test_a_dump_is_restored_on_a_newer_server(
    store: Carried, target: str, fresh: Snapshot, with_cron: bool
) -> None:
    """No right of ours on a function of pg_partman, and nothing of pg_cron, is in its way.

    Proves: T8 (into a newer server)
    """
    database = CRON_DATABASE if with_cron else "app"
    where = dsn(NEW, target, database)
    if with_cron:
        run(NEW, "psql", "-X", "--quiet", "--command=CREATE EXTENSION pg_cron", where)
    else:
        run(NEW, "createdb", f"--maintenance-db={dsn(NEW, target, 'postgres')}", database)
    restore = ("pg_restore", "--exit-on-error", "--no-tablespaces", f"--dbname={where}")
    run(NEW, *restore, given=store.dump)
    with opened(NEW, target, database) as world:
        found = troubles(world)
        assert found.pop("erasures") == "warning"
        assert found.keys() <= {"log seal"}
        world.admin.execute("SELECT memwarden.setup()")
        if with_cron:
            scheduled, wanted = job_list(world)
            assert scheduled == wanted
        assert differences(fresh, comparable(world)) == {}
        assert_all_is_there(world, store)
        assert_it_goes_on(world, store)


@pytest.fixture(scope="module")
def old_home(store: Carried, newer: str) -> str:
    """The older server's data and programs where the newer server's pg_upgrade can run them."""
    server(NEW, "drop", SOURCE)
    words = run(OLD, "ldd", f"/usr/lib/postgresql/{OLD}/bin/postgres").decode().split()
    # What the newer system has itself is its own: its C library above all.
    libraries = [word for word in words if word[0] == "/" and not os.path.lexists(newer + word)]
    programs = [f"/usr/{place}/postgresql/{OLD}" for place in ("lib", "share")]
    for files in (
        [f"--directory={store.home}", "data"],
        ["--absolute-names", "--exclude=bitcode", "--transform=s,^/,,", *programs],
        ["--absolute-names", "--transform=s,.*/,libraries/,", *libraries],
    ):
        archive = run(OLD, "tar", "--create", "--dereference", *files)
        unpack = (
            f"mkdir --parents --mode=0700 {store.home} && tar --extract --directory={store.home}"
        )
        run(NEW, "sh", "-c", unpack, given=archive)
    return store.home


def upgrade(old_home: str, home: str, mode: str) -> None:
    """Make an empty cluster of the newer server, and bring the older one's data into it."""
    run(NEW, "/usr/lib/memwarden/init-cluster", f"{home}/data", CRON_DATABASE, "--auth-local=trust")
    # Such a cluster has pg_cron's database, which pg_upgrade wants to make.
    single = f"postgres --single -D {home}/data -c shared_preload_libraries= postgres"
    run(NEW, "sh", "-c", f"echo 'DROP DATABASE {CRON_DATABASE}' | {single}")
    command = (
        "pg_upgrade",
        f"--old-bindir={old_home}/usr/lib/postgresql/{OLD}/bin",
        f"--new-bindir=/usr/lib/postgresql/{NEW}/bin",
        f"--old-datadir={old_home}/data",
        f"--new-datadir={home}/data",
        # The older server's compiler stays where it is: the check is dear enough to be compiled.
        "--old-options=-c jit=off",
        "--username=postgres",
        # Of its own: the other mode may run at the same time, with the same port.
        f"--socketdir={home}",
        f"--{mode}",
    )
    logs = f"{home}/data/pg_upgrade_output.d/*/log"
    tell = f"grep -h -A12 error: {logs}/*.log >&2; tail {logs}/pg_upgrade_server.log >&2; exit 1"
    told = ("sh", "-c", f'"$@" || {{ {tell}; }}', "sh")
    # On a loaded machine a server takes its time to start; pg_ctl waits for a minute by itself.
    settings = (f"LD_LIBRARY_PATH={old_home}/libraries", "PGCTLTIMEOUT=300")
    run(NEW, "env", *settings, *told, *command)


@pytest.mark.parametrize("mode", ["copy", "link"])
def test_a_server_is_upgraded_in_place(
    store: Carried, fresh: Snapshot, old_home: str, mode: str
) -> None:
    """Python and pg_partman are of the older server until setup() and ALTER EXTENSION UPDATE.

    Proves: T8 (pg_upgrade)
    """
    name = f"{mode}-{WORKER}"
    server(NEW, "drop", name)
    take_key(name, store)
    try:
        upgrade(old_home, place_of(name), mode)
        up(NEW, name)
        with opened(NEW, name, CRON_DATABASE) as world:
            assert row_digests(world.admin) == store.rows
            found = troubles(world)
            assert (found.pop("python"), found.pop("erasures")) == ("outdated", "warning")
            assert found.keys() <= {"log seal"}
            reader = world.connect(store.ana, options="-c default_transaction_read_only=on")
            assert recall(reader, query="Täßchen", k=1)
            run(
                NEW,
                *("psql", "-X", "--quiet", "--set=ON_ERROR_STOP=1"),
                "--file=update_extensions.sql",
                dsn(NEW, name, "postgres"),
            )
            world.admin.execute("SELECT memwarden.setup()")
            assert "python" not in troubles(world)
            scheduled, wanted = job_list(world)
            assert scheduled == wanted
            assert world.value("SELECT count(*) FROM cron.job WHERE jobname = 'mine'") == 1
            assert differences(fresh, comparable(world)) == {}
            assert_all_is_there(world, store)
            world.admin.execute("SELECT memwarden.apply_erasures(memwarden.export_erasures())")
            assert "erasures" not in troubles(world)
            assert_it_goes_on(world, store)
    finally:
        server(NEW, "drop", name)
