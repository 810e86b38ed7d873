"""The disk is gone, or the memory is spoilt: what docs/operate.md says under "Back up and restore".

Real clusters with every promise of durability kept, the script that the page names, and its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from subprocess import CalledProcessError
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from clusters import DATABASE, OWN, Cluster, place_of, run, wait_until
from conftest import deploy_server
from helpers import recall, write, write_many
from replay import check_store
from row_digests import row_digests

SCRIPT = "/usr/lib/memwarden/backup"
AGENT = "restore_test_agent"
SCOPE = "/org/acme/user/ana"
KEY = {"subject": "Ana", "predicate": "drinks"}

Digests = dict[str, tuple[int, str | None]]


@dataclass
class Lost:
    """What is left of a cluster that is no more."""

    directory: str
    key: str
    dump: str
    roles: str
    pg_wal: str
    tablespace: str
    base: str
    system_identifier: int
    moment: datetime
    at_the_moment: Digests
    at_the_last_segment: Digests
    head: Any
    spoilt_head: Any
    kept: DictRow
    poison: list[DictRow]
    late: DictRow

    def backup(self, *arguments: str) -> str:
        """Run the backup script on its directory."""
        return run(SCRIPT, self.directory, *arguments)

    def move_away(self) -> None:
        """What is left of a tablespace."""
        run("rm", "-rf", self.tablespace)

    def restore(self, cluster: Cluster, *settings: str) -> None:
        """Put the base backup in place of a cluster, and the key beside it."""
        cluster.make_home(self.key)
        self.move_away()
        key = f"MEMWARDEN_MASTER_KEY_FILE={cluster.home}/master.key"
        data = f"{cluster.home}/data"
        run("env", key, SCRIPT, self.directory, "restore", self.base, data, *settings)


def digests(admin: Connection[DictRow]) -> Digests:
    """All rows, but where the copy of the store knows itself to be."""
    return {name: rows for name, rows in row_digests(admin).items() if name != "store_origin"}


def prepare(cluster: Cluster, directory: str) -> None:
    """Configure archiving as the page says, but for seconds instead of minutes; then the memory.

    What is old lies on a tablespace, and everything is old at once.
    """
    with cluster.connect("postgres") as server:
        command = f"{SCRIPT} {directory} archive %p %f"
        server.execute(f"ALTER SYSTEM SET archive_command = '{command}'")
        server.execute("ALTER SYSTEM SET archive_timeout = '1s'")
        server.execute("SELECT pg_reload_conf()")
    with cluster.connect() as admin:
        # What is written here is about something else than evidence and pace.
        admin.execute(
            "UPDATE memwarden_data.layer SET rate_limit = NULL, fact_threshold = 0,"
            " min_authority = 0, min_external = 0, self_reference = 'allow',"
            " duplicate_similarity = NULL, conflict = 'accumulate'"
        )
        admin.execute("UPDATE memwarden_data.approval_policy SET approval = 'never'")
        run("mkdir", f"{directory}-cold")
        admin.execute(f"CREATE TABLESPACE slow LOCATION '{directory}-cold'")
        admin.execute("SELECT memwarden.place_tier('cold', 'slow')")
        old = Jsonb({"warm_after": "0 s", "cold_after": "0 s"})
        admin.execute("SELECT memwarden.configure_layer('semantic', %s)", (old,))
        admin.execute(f"CREATE ROLE {AGENT} LOGIN IN ROLE memwarden_agent")
        admin.execute("SELECT memwarden.create_scope(%s)", (SCOPE,))
        admin.execute(
            "SELECT memwarden.register_agent('a', %s, %s, role => 'curator')", (SCOPE, AGENT)
        )


def work(cluster: Cluster, what: str) -> DictRow:
    """Write as an agent: a value of a key, a batch, a refusal, a retraction. The first answer."""
    with cluster.connect(user=AGENT) as agent:
        first = write(agent, "semantic", {"drink": what}, **KEY)
        assert first["outcome"] == "COMMITTED"
        rows = [{"layer": "semantic", "content": {"note": f"{what} {n}"}} for n in range(20)]
        batch = write_many(agent, rows)
        assert {row["outcome"] for row in batch} == {"COMMITTED"}
        assert write(agent, "semantic", {"drink": what}, **KEY)["outcome"] != "COMMITTED"
        agent.execute("SELECT memwarden.retract(%s, 'not so')", (batch[0]["item_id"],))
    return first


def poison(cluster: Cluster) -> list[DictRow]:
    """A run that spoils what it finds: new values of old keys, made-up facts, retractions."""
    with cluster.connect(user=AGENT) as agent:
        answers = [write(agent, "semantic", {"drink": f"poison {n}"}, **KEY) for n in range(3)]
        answers += write_many(agent, [{"layer": "semantic", "content": {"note": "poison"}}])
        assert {row["outcome"] for row in answers} == {"COMMITTED"}
        for item in recall(agent, query="note after the backup", k=5):
            agent.execute("SELECT memwarden.retract(%s, 'poison')", (item["item_id"],))
    return answers


def archived(cluster: Cluster) -> None:
    """Return once everything that is written so far has been archived; nobody switches segments.

    A record of one's own, since a segment without any is not archived.
    """
    with cluster.connect("postgres") as admin:
        (mark,) = admin.execute(
            "SELECT pg_walfile_name(pg_create_restore_point('so far')) AS segment"
        ).fetchall()
        wait_until(
            admin,
            "SELECT last_archived_wal >= %s AS done FROM pg_stat_archiver",
            mark["segment"],
        )


def seal(admin: Connection[DictRow]) -> Any:
    """Seal what is complete; return the head, which a careful administrator keeps elsewhere."""
    admin.execute("CALL memwarden.seal_log()")
    return admin.execute("SELECT memwarden.log_head() AS head").fetchall()[0]["head"]


def findings(admin: Connection[DictRow], head: Any) -> list[DictRow]:
    """Whatever does not fit in the log, given a head that was kept elsewhere."""
    return admin.execute(
        "SELECT * FROM memwarden.verify_log(head => %s)", (Jsonb(head),)
    ).fetchall()


def suffer(cluster: Cluster, directory: str) -> Lost:
    """Live, be backed up, live on, be poisoned; then the archive fails, and then the disk."""
    prepare(cluster, directory)
    work(cluster, "before the backup")
    with cluster.connect() as admin:
        seal(admin)
        admin.execute("CALL memwarden.compact_history()")
        (cold,) = admin.execute("SELECT count(*) AS n FROM memwarden_data.version_cold").fetchall()
        assert cold["n"] > 0
    base = cluster.base(directory)
    archived(cluster)
    kept = work(cluster, "after the backup")
    with cluster.connect() as admin:
        head = seal(admin)
    work(cluster, "after the seal")
    with cluster.connect() as admin:
        at_the_moment = digests(admin)
        (told,) = admin.execute(
            "SELECT clock_timestamp() AS moment, system_identifier FROM pg_control_system()"
        ).fetchall()
    run("cp", f"{cluster.home}/master.key", f"{directory}/key")
    dump, roles = f"{directory}/memory.dump", f"{directory}/roles.sql"
    run("pg_dump", "--format=custom", f"--file={dump}", cluster.dsn())
    run("pg_dumpall", "--roles-only", f"--file={roles}", f"--dbname={cluster.dsn()}")

    spoilt = poison(cluster)
    with cluster.connect() as admin:
        spoilt_head = seal(admin)
    archived(cluster)
    with cluster.connect() as admin:
        at_the_last_segment = digests(admin)
        admin.execute("ALTER SYSTEM SET archive_command = 'false'")
        admin.execute("SELECT pg_reload_conf()")
        wait_until(admin, "SELECT current_setting('archive_command') = 'false' AS done")
    late = work(cluster, "too late")
    with cluster.connect("postgres") as admin:
        wait_until(admin, "SELECT failed_count > 0 AS done FROM pg_stat_archiver")
    with cluster.connect() as admin:
        admin.execute("CALL memwarden.compact_history()")
    cluster.kill()
    run("cp", "-a", f"{cluster.home}/data/pg_wal", f"{directory}/pg_wal")
    cluster.drop()
    return Lost(
        directory=directory,
        key=f"{directory}/key",
        dump=dump,
        roles=roles,
        pg_wal=f"{directory}/pg_wal",
        tablespace=f"{directory}-cold",
        base=base,
        system_identifier=told["system_identifier"],
        moment=told["moment"],
        at_the_moment=at_the_moment,
        at_the_last_segment=at_the_last_segment,
        head=head,
        spoilt_head=spoilt_head,
        kept=kept,
        poison=spoilt,
        late=late,
    )


@pytest.fixture(scope="module")
def lost() -> Iterator[Lost]:
    """A cluster's backups, once it is gone."""
    cluster = Cluster("lost")
    directory = place_of(f"backup-{OWN}")
    run("mkdir", "-p", f"{directory}/wal", f"{directory}/base")
    try:
        cluster.make_memory()
        cluster.up("archive_mode=on")
        yield suffer(cluster, directory)
    finally:
        cluster.drop()
        run("sh", "-c", f"rm -rf {directory}*")


@pytest.fixture
def mine(lost: Lost) -> Iterator[Lost]:
    """The same with a backup directory of one's own, so that tests do not meet in it."""
    directory = f"{lost.directory}-mine"
    run("cp", "-a", lost.directory, directory)
    yield Lost(**(vars(lost) | {"directory": directory}))
    run("rm", "-rf", directory)


@pytest.fixture
def another() -> Iterator[Callable[[str], Cluster]]:
    """Makes clusters to restore into."""
    made: list[Cluster] = []

    def make(name: str) -> Cluster:
        made.append(Cluster(name))
        return made[-1]

    yield make
    for cluster in made:
        cluster.drop()


def versions_of(admin: Connection[DictRow], answers: list[DictRow]) -> list[UUID]:
    """Those of the versions that some writers were told of which are in the store."""
    rows = admin.execute(
        "SELECT version_id FROM memwarden_data.version WHERE version_id = ANY (%s)",
        ([answer["version_id"] for answer in answers],),
    )
    return [row["version_id"] for row in rows]


def check_it_goes_on(cluster: Cluster, lost: Lost) -> None:
    """The restored memory is whole, is written and recalled, and is sealed on its old chain."""
    with cluster.connect() as admin:
        check_store(admin)
        assert findings(admin, lost.head) == []
        unwell = admin.execute(
            "SELECT component, state, detail FROM memwarden.status() WHERE state <> 'ok'"
            " AND component <> 'jobs'"
        ).fetchall()
        assert unwell == []
        with cluster.connect(user=AGENT) as agent:
            found = [row["content"] for row in recall(agent, query="drink after the seal", k=5)]
            assert {"drink": "after the seal"} in found
            again = write(agent, "semantic", {"drink": "after the seal"}, **KEY)
            assert again["outcome"] != "COMMITTED"
            fresh = write(agent, "semantic", {"drink": "after the restore"}, **KEY)
            assert fresh["outcome"] == "COMMITTED"
            assert fresh["item_id"] == lost.kept["item_id"]
            found = [row["content"] for row in recall(agent, query="drink restore", k=1)]
            assert found == [{"drink": "after the restore"}]
        head = seal(admin)
        assert head["segment"] > lost.head["segment"]
        sealed = admin.execute(
            "SELECT count(*) = (SELECT sum(entry_count) FROM memwarden_data.log_segment) AS all"
            "  FROM memwarden_data.log"
        ).fetchall()
        assert sealed == [{"all": True}]
        assert findings(admin, lost.head) == findings(admin, head) == []
        check_store(admin)


def test_a_poisoned_run_never_happened(
    lost: Lost, mine: Lost, another: Callable[[str], Cluster]
) -> None:
    """Restored to the moment before it: all that was committed by then, and nothing after.

    What the server lost is unknown to it: who asks again is served anew. The archive goes on where
    it was, in a new timeline, and the next backup takes the place of the first.

    Proves: T8 (point in time), T6 (sealing goes on)
    """
    cluster = another("moment")
    mine.restore(
        cluster,
        f"recovery_target_time={lost.moment.isoformat()}",
        "archive_mode=on",
        f"archive_command={SCRIPT} {mine.directory} archive %p %f",
    )
    cluster.up("archive_mode=on")
    with cluster.connect() as admin:
        assert digests(admin) == lost.at_the_moment
        assert versions_of(admin, lost.poison) == []
        assert versions_of(admin, [lost.kept]) == [lost.kept["version_id"]]
        (here,) = admin.execute("SELECT system_identifier FROM pg_control_system()").fetchall()
        assert here["system_identifier"] == lost.system_identifier
    check_it_goes_on(cluster, lost)
    with cluster.connect() as admin:
        forked = findings(admin, lost.spoilt_head)
        assert {row["finding"] for row in forked} == {"HEAD_MISMATCH"}
    with cluster.connect(user=AGENT) as agent:
        request = lost.poison[-1]["request_id"]
        again = write(agent, "semantic", {"note": "better"}, request_id=str(request))
        assert (again["request_id"], again["outcome"]) == (request, "COMMITTED")

    # Its checkpoint wakes the process that minds archive_timeout, which recovery sent to sleep.
    newer = cluster.base(mine.directory)
    archived(cluster)
    mine.backup("verify")
    with cluster.connect() as admin:
        expected = digests(admin)
    archived(cluster)
    assert mine.backup("list").split() == [lost.base, newer]
    before = run("ls", f"{mine.directory}/wal").split()
    mine.backup("expire", "1")
    assert mine.backup("list").split() == [newer]
    assert before[0] not in run("ls", f"{mine.directory}/wal").split()
    mine.backup("verify")
    cluster.kill()
    cluster.drop()
    mine.base = newer
    mine.restore(cluster, "archive_mode=off")
    cluster.up()
    with cluster.connect() as admin:
        assert digests(admin) == expected


def test_a_lost_disk_costs_what_was_not_archived_yet(
    lost: Lost, mine: Lost, another: Callable[[str], Cluster]
) -> None:
    """Up to the last segment, which a quiet server archives by itself; with its pg_wal, everything.

    Nobody switched segments: archive_timeout did, long before 16 MB were full. So what is lost is
    what was written since the archiver last had its way, and the view that tells of its failures
    says since when.

    Proves: T8 (how much is lost)
    """
    drill = another("latest")
    mine.restore(drill, "archive_mode=off")
    drill.up()
    with drill.connect() as admin:
        assert digests(admin) == lost.at_the_last_segment
        assert len(versions_of(admin, lost.poison)) == len(lost.poison)
        assert versions_of(admin, [lost.late]) == []
        assert findings(admin, lost.spoilt_head) == []
        assert seal(admin)["segment"] > lost.head["segment"]
    drill.drop()

    for segment in run("ls", lost.pg_wal).split():
        if len(segment) == 24:
            mine.backup("archive", f"{lost.pg_wal}/{segment}", segment)
    mine.restore(drill, "archive_mode=off")
    drill.up()
    with drill.connect() as admin:
        check_store(admin)
        assert versions_of(admin, [lost.late]) == [lost.late["version_id"]]
        assert findings(admin, lost.head) == []


def test_a_dump_goes_on_in_another_cluster(lost: Lost, another: Callable[[str], Cluster]) -> None:
    """Transaction ids mean nothing there: the old cluster's entries are sealed as what is over.

    Under the same master key a head from the old cluster is genuine and its chain goes on; under
    another one the log says so, and is whole for all that.

    Proves: T8 (into another cluster), T6 (sealing goes on)
    """
    cluster = another("other")
    cluster.make_home(lost.key)
    cluster.up()
    run("psql", "-Xq", "-d", cluster.dsn("postgres"), "-f", lost.roles)
    with cluster.connect("postgres") as server:
        server.execute(f"CREATE DATABASE {DATABASE}")
    restore = ("pg_restore", "--exit-on-error", "--no-tablespaces")
    run(*restore, f"--dbname={cluster.dsn()}", lost.dump)
    with cluster.connect() as admin:
        admin.execute("SELECT * FROM memwarden.setup()")
        # It has found the logins of this cluster, and changed nothing else.
        changed = dict(digests(admin).items() ^ lost.at_the_moment.items())
        assert changed.keys() == {"principal_login"}
        (here,) = admin.execute("SELECT system_identifier FROM pg_control_system()").fetchall()
        assert here["system_identifier"] != lost.system_identifier
        unwell = admin.execute(
            "SELECT component FROM memwarden.status() WHERE state = 'warning'"
        ).fetchall()
        assert unwell == [{"component": "erasures"}]
        admin.execute("SELECT * FROM memwarden.apply_erasures('[]')")
    check_it_goes_on(cluster, lost)
    with cluster.connect() as admin:
        eras = admin.execute(
            "SELECT system_identifier = %s AS old, sealed_by = %s AS sealed_there,"
            "       sum(entry_count) > 0 AS some FROM memwarden_data.log_segment"
            " GROUP BY 1, 2 ORDER BY max(segment_no)",
            (lost.system_identifier, lost.system_identifier),
        ).fetchall()
        assert eras == [
            {"old": True, "sealed_there": True, "some": True},
            {"old": True, "sealed_there": False, "some": True},
            {"old": False, "sealed_there": False, "some": True},
        ]
        genuine = "SELECT memwarden.verify_head(%s) AS state"
        assert admin.execute(genuine, (Jsonb(lost.head),)).fetchall() == [{"state": "GENUINE"}]

    deploy_server("down", cluster.name)
    run("rm", "-f", f"{cluster.home}/master.key")
    cluster.up()
    with cluster.connect() as admin:
        assert admin.execute(genuine, (Jsonb(lost.head),)).fetchall() == [{"state": "OTHER_KEY"}]
        assert {row["finding"] for row in findings(admin, lost.head)} == {"OTHER_KEY"}
        work(cluster, "under another key")
        head = seal(admin)
        assert admin.execute(genuine, (Jsonb(head),)).fetchall() == [{"state": "GENUINE"}]


def test_a_backup_that_would_not_restore_is_noticed(mine: Lost) -> None:
    """A segment that is missing, a changed file, no list of erasures; and nothing is written over.

    Proves: T8 (verification of backups)
    """
    mine.backup("verify")
    segments = [n for n in run("ls", f"{mine.directory}/wal").split() if len(n) == 24]
    last = f"{mine.directory}/wal/{segments[-1]}"
    mine.backup("archive", last, segments[-1])
    run("cp", f"{mine.directory}/wal/{segments[0]}", f"{mine.directory}/other")
    with pytest.raises(CalledProcessError):
        mine.backup("archive", f"{mine.directory}/other", segments[-1])
    with pytest.raises(CalledProcessError):
        mine.backup("restore", mine.base, mine.directory)
    with pytest.raises(CalledProcessError):
        mine.backup("restore", "no-such-backup", f"{mine.directory}/data")
    mine.move_away()
    run("mkdir", "-p", f"{mine.tablespace}/something")
    with pytest.raises(CalledProcessError):
        mine.backup("restore", mine.base, f"{mine.directory}/data")
    mine.move_away()
    run("rm", "-rf", f"{mine.directory}/erasures")
    with pytest.raises(CalledProcessError):
        mine.backup("restore", mine.base, f"{mine.directory}/data", "archive_mode=off")
    run("rm", "-rf", f"{mine.directory}/data")
    mine.move_away()

    for lacking in segments[-3:-1]:
        run("mv", f"{mine.directory}/wal/{lacking}", f"{mine.directory}/lacking")
        with pytest.raises(CalledProcessError):
            mine.backup("verify")
        run("mv", f"{mine.directory}/lacking", f"{mine.directory}/wal/{lacking}")
    mine.backup("verify")
    copy = f"{mine.directory}/base/{mine.base}"
    for file in ("data/global/pg_filenode.map", "*/PG_*/*/*[0-9]"):
        run("sh", "-c", f"cp -a {copy} {copy}.whole; for f in {copy}/{file}; do echo >> $f; done")
        with pytest.raises(CalledProcessError):
            mine.backup("verify")
        run("sh", "-c", f"rm -rf {copy}; mv {copy}.whole {copy}")
    mine.backup("verify")
    run("mv", f"{mine.directory}/wal", f"{mine.directory}/not-mounted")
    with pytest.raises(CalledProcessError):
        mine.backup("archive", f"{mine.directory}/other", segments[-1])
