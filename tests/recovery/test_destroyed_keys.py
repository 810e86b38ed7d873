"""A destroyed key reaches what an erasure cannot: base backups, archived WAL, dumps, replicas.

A unique word is written, encrypted, in every way that a write can take. No file holds it, and once
the generation that wrapped its key is forgotten, no restored copy can say it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from clusters import OWN, Cluster, place_of, run
from conftest import World
from helpers import ask_for_little, recall, write
from operations.erasure.conftest import holding
from recovery.test_point_in_time_restore import AGENT, SCOPE, SCRIPT, archived
from recovery.test_standby import stand_by

CANARY, OPEN = "qxcanary", "qxplain"
KEYS = "/usr/lib/memwarden/subject-keys"


@dataclass
class Places:
    """Copies of a store in which somebody was remembered, and erased since."""

    primary: Cluster
    directory: str
    standby: str
    base: str
    dump: str
    erasure: DictRow

    def files_with(self, word: str) -> set[str]:
        """The places of which a file holds a word."""
        homes = {"primary": f"{self.primary.home}/data", "replica": f"{self.standby}/data"}
        homes |= {"base": f"{self.directory}/base", "archive": f"{self.directory}/wal"}
        homes |= {"dump": self.dump}
        return {
            name
            for name, home in homes.items()
            if run("sh", "-c", f"grep -rliaF {word} {home} || true").strip()
        }


def say(agent: Connection[DictRow], what: str, **arguments: Any) -> DictRow:
    """Write the word about Petra, in the content and in the words of the evidence."""
    evidence = [{"type": "document", "uri": "doc:1", "excerpt": f"{CANARY} {what}"}]
    about = {"subject": "Petra", "predicate": "suffers from", "class": "personal"}
    return write(
        agent,
        "semantic",
        {"illness": f"{CANARY} {what}"},
        **({"evidence": evidence} | about | arguments),
    )


def remember(cluster: Cluster) -> None:
    """Write the word in every way; and another word in clear."""
    with cluster.connect() as admin:
        admin.execute(
            "SELECT memwarden.define_write_class('personal', encrypted => true, org => 'acme')"
        )
    with cluster.connect(user=AGENT) as agent:
        assert say(agent, "gout")["outcome"] == "COMMITTED"
        assert say(agent, "asthma")["outcome"] == "COMMITTED"
        assert say(agent, "asthma")["outcome"] != "COMMITTED"
        with cluster.connect() as holder, holder.transaction():
            holder.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
            agent.execute("SET lock_timeout = '1ms'")
            row = say(agent, "waits", predicate="fears", justification=f"{CANARY} because")
            assert row["outcome"] == "DEFERRED"
        agent.execute("SET lock_timeout = 0")
        assert say(agent, "of Bo", subject="Bo")["outcome"] == "COMMITTED"
        write(agent, "semantic", {"open": OPEN}, subject="Ana")
        found = recall(agent, query=f"{CANARY} asthma", k=1)
        assert found[0]["content"] == {"illness": f"{CANARY} asthma"}
        assert len(agent.execute("SELECT FROM memwarden.requests").fetchall()) >= 4
    with cluster.connect() as admin:
        assert holding(World(admin), CANARY) == set()
        assert holding(World(admin), OPEN) != set()


def begin(cluster: Cluster, directory: str) -> None:
    """Archive at once; a memory with an agent in it, and all in the store of today."""
    with cluster.connect("postgres") as server:
        command = f"{SCRIPT} {directory} archive %p %f"
        server.execute(f"ALTER SYSTEM SET archive_command = '{command}'")
        server.execute("ALTER SYSTEM SET archive_timeout = '1s'")
        server.execute("SELECT pg_reload_conf()")
    with cluster.connect() as admin:
        ask_for_little(admin)
        admin.execute(f"CREATE ROLE {AGENT} LOGIN IN ROLE memwarden_agent")
        admin.execute("SELECT memwarden.create_scope(%s)", (SCOPE,))
        admin.execute(
            "SELECT memwarden.register_agent('a', %s, %s, role => 'curator')", (SCOPE, AGENT)
        )


def forget(places: Places) -> None:
    """What docs/erase.md says: a new generation everywhere, keys wrapped anew, the old one gone."""
    files = [f"{home}/master.key.subjects" for home in (places.primary.home, places.standby)]
    run(KEYS, "add", files[0])
    run("sh", "-c", f"{KEYS} show {files[0]} >> {files[1]}")
    with places.primary.connect() as admin:
        assert admin.execute("SELECT * FROM memwarden.finalise_erasures()").fetchall() == []
        (done,) = admin.execute("SELECT * FROM memwarden.rewrap_subject_keys()").fetchall()
        assert done == {"rewrapped": 1, "generation": 2}
        for file in files:
            run(KEYS, "drop", file)
        (final,) = admin.execute("SELECT * FROM memwarden.finalise_erasures()").fetchall()
        assert (final["erasure_id"], final["final_by"]) == (places.erasure["erasure_id"], "KEYS")


@pytest.fixture(scope="module")
def places() -> Iterator[Places]:
    """Copies are made, then Petra is erased, keys are wrapped anew, and the old generation goes."""
    primary, standby = Cluster("keys"), Cluster("keys-standby")
    directory = place_of(f"keys-backup-{OWN}")
    run("mkdir", "-p", f"{directory}/wal", f"{directory}/base")
    try:
        primary.make_memory()
        primary.up("archive_mode=on")
        begin(primary, directory)
        remember(primary)
        base = primary.base(directory)
        run("pg_dump", f"--file={directory}/memory.sql", primary.dsn())
        stand_by(primary, standby)
        with standby.connect(user=AGENT) as agent:
            (row,) = agent.execute(
                "SELECT content FROM memwarden.items WHERE subject = 'Bo'"
            ).fetchall()
            assert row["content"] == {"illness": f"{CANARY} of Bo"}
        with primary.connect() as admin:
            (erasure,) = admin.execute(
                "SELECT * FROM memwarden.erase_subject('petra', 'asked for', org => 'acme')"
            ).fetchall()
        assert (erasure["places"]["subject_key"], erasure["final_at"]) == (1, None)
        made = Places(primary, directory, standby.home, base, f"{directory}/memory.sql", erasure)
        forget(made)
        archived(primary)
        yield made
    finally:
        standby.drop()
        primary.drop()
        run("sh", "-c", f"rm -rf {directory}*")


def test_no_copy_holds_the_word(places: Places) -> None:
    """Not in a heap, an index, WAL or a dump, before or after; the open word is in all.

    Proves: R3
    """
    assert places.files_with(OPEN) == {"primary", "replica", "base", "archive", "dump"}
    assert places.files_with(CANARY) == set()


def test_a_restored_backup_brings_no_key_back(places: Places) -> None:
    """Without the list of erasures it has rows that say nothing. The newest keys open the others.

    Proves: R3
    """
    again = Cluster("keys-again")
    try:
        again.make_home(f"{places.primary.home}/master.key")
        run("cp", "--preserve=mode", f"{places.primary.home}/master.key.subjects", again.home)
        run("cp", "-a", f"{places.directory}/base/{places.base}/data", f"{again.home}/data")
        again.up("archive_mode=off", "recovery_target=immediate", "recovery_target_action=promote")
        with again.connect(user=AGENT) as agent:
            lost = agent.execute(
                "SELECT content FROM memwarden.items WHERE subject IN ('Petra', 'Bo')"
            ).fetchall()
            assert {str(row["content"]) for row in lost} == {
                "{'erased': 'SUBJECT_KEY_UNAVAILABLE'}"
            }
            found = recall(agent, query=f"{CANARY} asthma", threshold=0)
            assert {row["keyword_score"] for row in found} == {0}
        with places.primary.connect() as admin:
            (newest,) = admin.execute(
                "SELECT memwarden.export_subject_keys() AS keys,"
                "       memwarden.export_erasures() AS list"
            ).fetchall()
        with again.connect() as admin:
            assert holding(World(admin), CANARY) == set()
            state = "SELECT state FROM memwarden.status() WHERE component = 'subject keys'"
            assert admin.execute(state).fetchall() == [{"state": "missing"}]
            (done,) = admin.execute(
                "SELECT memwarden.import_subject_keys(%s) AS count", (Jsonb(newest["keys"]),)
            ).fetchall()
            assert done == {"count": 1}
            admin.execute("SELECT * FROM memwarden.apply_erasures(%s)", (Jsonb(newest["list"]),))
            assert admin.execute(state).fetchall() == [{"state": "ok"}]
        with again.connect(user=AGENT) as agent:
            (row,) = recall(agent, query=f"{CANARY} of Bo", k=1)
            assert row["content"] == {"illness": f"{CANARY} of Bo"}
    finally:
        again.drop()
