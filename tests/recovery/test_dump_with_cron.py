"""A memory beside pg_cron, which works in one database of a server, is dumped and restored."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from clusters import place_of, run
from conftest import World, deploy_server
from moving import (
    CRON_DATABASE,
    MANUAL,
    OWN_JOBS,
    QUIET,
    UNFIT,
    Store,
    assert_all_is_there,
    assert_it_goes_on,
    job_list,
    make_store,
    troubles,
)

CLUSTER = f"beside-cron-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
DUMP = ("pg_dump", "--format=custom")
RESTORE = ("pg_restore", "--exit-on-error", "--no-tablespaces")

SUPERFLUOUS = "GRANT EXECUTE ON ALL ROUTINES IN SCHEMA partman TO memwarden_owner"
RIGHTS = """
SELECT count(*) FROM pg_proc AS p, aclexplode(p.proacl) AS a
 WHERE p.pronamespace = 'partman'::regnamespace AND a.grantee = 'memwarden_owner'::regrole"""


def dsn(database: str) -> str:
    """A connection string of a database of the cluster."""
    return deploy_server("dsn", CLUSTER, database)


@contextmanager
def opened(database: str) -> Iterator[World]:
    """A database of the cluster; the roles are those of all."""
    with psycopg.connect(dsn(database), autocommit=True) as admin:
        world = World(admin)
        yield world
        world.disconnect()


def create(database: str) -> None:
    """An empty database, in place of one of that name."""
    with psycopg.connect(dsn("postgres"), autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {database}")


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    """Where the dumps are."""
    place = place_of(f"{CLUSTER}-dumps")
    run("mkdir", "--parents", place)
    yield place
    run("rm", "-rf", place)


@pytest.fixture(scope="module")
def store(folder: str) -> Iterator[Store]:
    """Dumped as the manual says, and then in one piece, with rights that nobody needs."""
    deploy_server("drop", CLUSTER)
    deploy_server("up", CLUSTER, "--in-memory", *QUIET)
    with opened(CRON_DATABASE) as world:
        made = make_store(world)
        file = f"--file={folder}/{CLUSTER}"
        where = dsn(CRON_DATABASE)
        run(*DUMP, "--exclude-extension=pg_cron", f"{file}-as-told", where)
        world.admin.execute(SUPERFLUOUS)
        run(*DUMP, f"{file}-untold", where)
    yield made
    deploy_server("drop", CLUSTER)


def test_the_manual_says_what_is_done_here() -> None:
    """Its commands are these, word for word."""
    text = re.sub(r"\s+", " ", MANUAL)
    for command in (
        " ".join([*DUMP, "--exclude-extension=pg_cron"]),
        " ".join(RESTORE),
        f"grep -vE '{UNFIT}'",
        re.sub(r"\s+", " ", OWN_JOBS).strip(),
    ):
        assert command in text


@pytest.mark.usefixtures("store")
def test_what_another_extension_owns_is_not_in_the_dump(folder: str) -> None:
    """Of pg_partman its schema, its settings and the right to them; of pg_cron nothing."""
    listed = run("pg_restore", "--list", f"{folder}/{CLUSTER}-as-told")
    assert not re.search(r"^[^;].* (pg_)?cron( |$)", listed, flags=re.MULTILINE)
    rights = re.findall(r"; 0 0 (ACL .*) \S+$", listed, flags=re.MULTILINE)
    ours = ("memwarden", "memwarden_data", "memwarden_internal")
    others = {
        right for right in rights if not {right.split()[1], right.split()[-1]}.intersection(ours)
    }
    assert others == {
        "ACL - SCHEMA partman",
        "ACL partman TABLE part_config",
        "ACL partman TABLE part_config_sub",
    }


def test_it_is_restored_where_pg_cron_is_not(store: Store, folder: str) -> None:
    """status() tells which jobs nobody calls there."""
    create("elsewhere")
    dump = f"{folder}/{CLUSTER}-as-told"
    assert not run(*RESTORE, f"--dbname={dsn('elsewhere')}", dump)
    with opened("elsewhere") as world:
        assert not troubles(world).keys() - {"log seal"}
        assert_all_is_there(world, store)
        # When they ended last came along: nobody calls them here, and soon that is told.
        world.admin.execute(
            "UPDATE memwarden_data.job_run SET finished_at = finished_at - interval '1 month'"
        )
        told = world.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'jobs'")
        assert {row["state"] for row in told} == {"warning"}
        assert any("CALL memwarden.seal_log()" in row["detail"] for row in told)
        assert_it_goes_on(world, store)


def test_a_dump_with_pg_cron_in_it_is_restored_by_a_list(store: Store, folder: str) -> None:
    """Rights that an earlier setup() gave are left out by it, too."""
    create("elsewhere")
    dump = f"{folder}/{CLUSTER}-untold"
    lines = f"pg_restore --list {dump} | grep -vE '{UNFIT}' > {dump}.list"
    run("sh", "-c", lines)
    where = f"--dbname={dsn('elsewhere')}"
    run(*RESTORE, f"--use-list={dump}.list", where, dump)
    with opened("elsewhere") as world:
        assert not world.value(RIGHTS)
        assert_all_is_there(world, store)


@pytest.mark.usefixtures("store")
def test_setup_takes_back_rights_on_functions_of_pg_partman() -> None:
    """What an earlier one gave would fail in a dump under another release of pg_partman."""
    with opened(CRON_DATABASE) as world:
        world.admin.execute(SUPERFLUOUS)
        assert world.value(RIGHTS)
        world.admin.execute("SELECT memwarden.setup()")
        assert not world.value(RIGHTS)


def test_it_is_restored_where_pg_cron_is(store: Store, folder: str) -> None:
    """setup() schedules the jobs; those of others come back by what was printed before.

    The last test of this module: the database that the dump was taken of is gone.
    """
    with opened(CRON_DATABASE) as world:
        own = [next(iter(row.values())) for row in world.admin.execute(OWN_JOBS)]
    create(CRON_DATABASE)
    with opened(CRON_DATABASE) as world:
        world.admin.execute("CREATE EXTENSION pg_cron")
        dump = f"{folder}/{CLUSTER}-as-told"
        run(*RESTORE, f"--dbname={dsn(CRON_DATABASE)}", dump)
        world.admin.execute("SELECT memwarden.setup()")
        scheduled, wanted = job_list(world)
        assert scheduled == wanted
        for statement in own:
            world.admin.execute(statement)
        assert world.rows("SELECT jobname, command FROM cron.job WHERE username = 'postgres'") == [
            {"jobname": "mine", "command": "SELECT 1"}
        ]
        assert_all_is_there(world, store)
        assert_it_goes_on(world, store)
