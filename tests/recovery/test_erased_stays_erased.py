"""A subject that was erased after the backup stays erased after a restore.

Real clusters with every promise of durability kept, the script of docs/operate.md, and its steps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from subprocess import CalledProcessError
from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from clusters import DATABASE, OWN, Cluster, place_of, run
from conftest import World
from helpers import recall, write
from operations.erasure.conftest import holding
from recovery.test_point_in_time_restore import AGENT, SCRIPT, archived, prepare, seal


@dataclass
class Backups:
    """What is left of a cluster in which somebody was erased after the backups were made."""

    directory: str
    base: str
    dump: str
    roles: str
    before: datetime
    head: Any
    erasures: Any
    kept: DictRow


def say(cluster: Cluster, *contents: Any, **arguments: Any) -> DictRow:
    """Write as the agent; the last answer."""
    with cluster.connect(user=AGENT) as agent:
        rows = [write(agent, "semantic", content, **arguments) for content in contents]
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    return rows[-1]


def erase(cluster: Cluster, subject: str, *identifiers: str) -> DictRow:
    """Erase as superuser; the certificate."""
    with cluster.connect() as admin:
        (row,) = admin.execute(
            "SELECT * FROM memwarden.erase_subject(%s, 'asked for', %s, 'acme')",
            (subject, list(identifiers)),
        ).fetchall()
    return row


def check_gone(admin: Connection[DictRow], backups: Backups) -> None:
    """Nothing of the person is left in any table, the log is whole, the others are remembered."""
    assert holding(World(admin), "zzq") == set()
    assert (
        admin.execute(
            "SELECT * FROM memwarden.verify_log(head => %s)", (Jsonb(backups.head),)
        ).fetchall()
        == []
    )
    assert (
        admin.execute("SELECT written FROM memwarden.rebuild_heads()").fetchall()
        == [{"written": 0}] * 3
    )
    state = "SELECT state FROM memwarden.status() WHERE component = 'erasures'"
    assert admin.execute(state).fetchall() == [{"state": "ok"}]
    seal(admin)
    assert admin.execute("SELECT * FROM memwarden.verify_log()").fetchall() == []


@pytest.fixture(scope="module")
def backups() -> Iterator[Backups]:
    """Petra is in the base backup, in the dump and in the archive; then she is erased."""
    cluster = Cluster("erased")
    directory = place_of(f"erased-backup-{OWN}")
    run("mkdir", "-p", f"{directory}/wal", f"{directory}/base")
    try:
        cluster.make_memory()
        cluster.up("archive_mode=on")
        prepare(cluster, directory)
        say(
            cluster,
            {"at": "zzqtown"},
            {"at": "zzqville"},
            subject="Petra Zzq",
            predicate="lives in",
        )
        kept = say(cluster, {"drink": "tea"}, subject="Ana", predicate="drinks")
        with cluster.connect() as admin:
            head = seal(admin)
        base = cluster.base(directory)
        say(cluster, {"note": "petra zzq called"})
        archived(cluster)
        dump, roles = f"{directory}/memory.dump", f"{directory}/roles.sql"
        run("pg_dump", "--format=custom", f"--file={dump}", cluster.dsn())
        run("pg_dumpall", "--roles-only", f"--file={roles}", f"--dbname={cluster.dsn()}")
        run("cp", f"{cluster.home}/master.key", f"{directory}/key")
        with cluster.connect() as admin:
            (told,) = admin.execute("SELECT clock_timestamp() AS moment").fetchall()
        done = erase(cluster, "petra zzq", "zzq")
        assert (done["items"], done["versions"]) == (2, 3)
        say(cluster, {"note": "written after the erasure"})
        archived(cluster)
        with cluster.connect() as admin:
            listed = admin.execute("SELECT memwarden.export_erasures() AS list").fetchall()
        cluster.kill()
        cluster.drop()
        erasures = listed[0]["list"]
        yield Backups(directory, base, dump, roles, told["moment"], head, erasures, kept)
    finally:
        cluster.drop()
        run("sh", "-c", f"rm -rf {directory}*")


@pytest.fixture
def another() -> Iterator[Cluster]:
    """A cluster to restore into."""
    cluster = Cluster("again")
    yield cluster
    cluster.drop()


def test_the_archive_carries_the_list(backups: Backups) -> None:
    """With every segment, without a word of what was said; each erasure in a file of its own.

    Proves: T8 (a subject erased after the backup stays erased after a restore)
    """
    (entry,) = backups.erasures
    file = f"{backups.directory}/erasures/{DATABASE}/{entry['certificate']['erasure']}.json"
    text = run("cat", file)
    assert json.loads(text) == entry
    assert "zzq" not in text.lower()


def test_a_restore_to_a_moment_before_the_erasure_erases_again(
    backups: Backups, another: Cluster
) -> None:
    """By itself, before anybody can connect; what came later in the archive is not there.

    Proves: T8 (a subject erased after the backup stays erased after a restore), T6
    """
    another.make_home(f"{backups.directory}/key")
    run("rm", "-rf", f"{backups.directory}-cold")
    key = f"MEMWARDEN_MASTER_KEY_FILE={another.home}/master.key"
    call = ("env", key, SCRIPT, backups.directory, "restore", backups.base, f"{another.home}/data")
    run(*call, f"recovery_target_time={backups.before.isoformat()}", "archive_mode=off")
    another.up()
    with another.connect() as admin:
        check_gone(admin, backups)
        (certificate,) = admin.execute("SELECT * FROM memwarden.erasures").fetchall()
        assert (certificate["items"], certificate["signature"]) == (2, "GENUINE")
    with another.connect(user=AGENT) as agent:
        contents = [row["content"] for row in recall(agent, query="note", threshold=0)]
        assert contents == [{"drink": "tea"}]
        assert recall(agent, query="tea", k=1, threshold=0)[0]["item_id"] == backups.kept["item_id"]
        write(agent, "semantic", {"note": "something of his"}, subject="Bo")
    # Its own list goes on, and loses nothing.
    with another.connect() as admin:
        admin.execute("SELECT * FROM memwarden.erase_subject('Bo', 'asked for', org => 'acme')")
        assert len(admin.execute("SELECT FROM memwarden.erasures").fetchall()) == 2


def test_a_restore_to_the_end_has_it_erased(backups: Backups, another: Cluster) -> None:
    """The archive replays the erasure itself; the list changes nothing.

    Proves: T8 (a subject erased after the backup stays erased after a restore)
    """
    another.make_home(f"{backups.directory}/key")
    run("rm", "-rf", f"{backups.directory}-cold")
    key = f"MEMWARDEN_MASTER_KEY_FILE={another.home}/master.key"
    call = ("env", key, SCRIPT, backups.directory, "restore", backups.base, f"{another.home}/data")
    run(*call, "archive_mode=off")
    another.up()
    with another.connect() as admin:
        check_gone(admin, backups)
    with another.connect(user=AGENT) as agent:
        assert recall(agent, query="written after the erasure", k=1)


def test_without_a_list_nobody_is_told_that_all_is_well(backups: Backups, another: Cluster) -> None:
    """The restore fails loudly, and the server asks for the list until it has it.

    Proves: T8 (a subject erased after the backup stays erased after a restore)
    """
    directory = f"{backups.directory}-unlisted"
    run("cp", "-a", backups.directory, directory)
    run("rm", "-rf", f"{directory}/erasures")
    another.make_home(f"{backups.directory}/key")
    run("rm", "-rf", f"{backups.directory}-cold")
    key = f"MEMWARDEN_MASTER_KEY_FILE={another.home}/master.key"
    moment = f"recovery_target_time={backups.before.isoformat()}"
    data = f"{another.home}/data"
    call = (
        "env",
        key,
        SCRIPT,
        directory,
        "restore",
        backups.base,
        data,
        moment,
        "archive_mode=off",
    )
    with pytest.raises(CalledProcessError):
        run(*call)
    another.up()
    with another.connect() as admin:
        assert holding(World(admin), "zzq") != set()
        state = "SELECT state FROM memwarden.status() WHERE component = 'erasures'"
        assert admin.execute(state).fetchall() == [{"state": "warning"}]
        admin.execute("SELECT * FROM memwarden.apply_erasures(%s)", (Jsonb(backups.erasures),))
        check_gone(admin, backups)


def test_a_dump_in_another_cluster_is_erased_again(backups: Backups, another: Cluster) -> None:
    """The dump was taken before; another cluster asks for the list, and has it.

    Proves: T8 (a subject erased after the backup stays erased after a restore), T6
    """
    another.make_home(f"{backups.directory}/key")
    another.up()
    run("psql", "-Xq", "-d", another.dsn("postgres"), "-f", backups.roles)
    with another.connect("postgres") as server:
        server.execute(f"CREATE DATABASE {DATABASE}")
    restore = ("pg_restore", "--exit-on-error", "--no-tablespaces")
    run(*restore, f"--dbname={another.dsn()}", backups.dump)
    with another.connect() as admin:
        admin.execute("SELECT * FROM memwarden.setup()")
        assert holding(World(admin), "zzq") != set()
        (applied,) = admin.execute(
            "SELECT * FROM memwarden.apply_erasures(%s)", (Jsonb(backups.erasures),)
        ).fetchall()
        assert (applied["items"], applied["signature"]) == (2, "GENUINE")
        check_gone(admin, backups)
