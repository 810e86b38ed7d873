"""What is read is a projection of what was recorded: rebuild_heads() makes it anew from the log."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo
from psycopg.errors import (
    DataCorrupted,
    InsufficientPrivilege,
    LockNotAvailable,
    ObjectNotInPrerequisiteState,
)
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World, deploy_server
from helpers import recall, write
from row_digests import row_digests

HOME = "/org/acme/domain/desk"
PROJECTIONS = ("item", "timeline", "embedding")
CHANGES = 250


class Author:
    """Somebody who changes memories at random, in every way that there is."""

    def __init__(self, session: Connection[DictRow], world: World) -> None:
        self.session = session
        self.world = world
        self.random = random.Random(12)

    def items(self, status: str) -> list[DictRow]:
        """The items of a status, in the order in which they came."""
        return self.world.rows(
            "SELECT item_id, layer FROM memwarden_data.item WHERE status = %s ORDER BY item_id",
            status,
        )

    def call(self, function: str, status: str, *arguments: Any) -> None:
        """Call a function about some item of a status; what it may not do is not done."""
        items = self.items(status)
        marks = "".join(", %s" for _ in arguments)
        if items:
            item = self.random.choice(items)["item_id"]
            with suppress(psycopg.Error):
                self.session.execute(f"SELECT memwarden.{function}(%s{marks})", (item, *arguments))

    def tell(self, n: int) -> None:
        """Write a value for a key, of the present, the past or the future; or just something."""
        key: dict[str, Any] = {}
        if self.random.random() < 0.8:
            key = {"subject": self.random.choice(["Ana", "Bo"]), "predicate": "drinks"}
        if self.random.random() < 0.4:
            start = datetime.fromisoformat("2020-01-01T00:00:00Z")
            start += timedelta(days=self.random.randrange(3000))
            key["valid_from"] = start
            key["valid_to"] = start + timedelta(days=self.random.randrange(1, 1000))
        if self.random.random() < 0.3:
            key["embedding"] = [n / CHANGES] * 384
        if self.random.random() < 0.2:
            key["classification"] = "confidential"
        write(self.session, "semantic", {"drink": f"number {n}"}, **key)

    def change(self, n: int) -> None:
        """Do one thing."""
        what = self.random.randrange(20)
        if what < 9:
            self.tell(n)
        elif what < 12:
            self.call("rollback", self.random.choice(["ACTIVE", "RETRACTED"]), "was wrong")
        elif what < 13:
            self.call("rollback", "SUPERSEDED", "not one after all")
        elif what < 14:
            self.call("retract", "ACTIVE", "wrong")
        elif what < 15:
            self.call("expire", "ACTIVE", "no longer")
        elif what < 16:
            self.call("recover", "EXPIRED", "again")
        elif what < 17:
            self.call("reclassify", "ACTIVE", "episodic", "moved")
        else:
            active = [row["item_id"] for row in self.items("ACTIVE") if row["layer"] == "semantic"]
            self.call("merge", "ACTIVE", self.random.choice(active or [None]), "the same")


@pytest.fixture(scope="module")
def lived(shared_world: World) -> World:
    """A memory with a history: every kind of entry, values of other times, vectors of its own."""
    session = shared_world.agent(HOME, role="curator", clearance="restricted")
    author = Author(session, shared_world)
    shared_world.admin.execute(
        "SELECT memwarden.set_synonyms('acme', %s)", (Jsonb({"number": "no"}),)
    )
    for n in range(3):
        write(session, "semantic", {"drink": f"at first {n}"})
    for n in range(CHANGES):
        author.change(n)
    met = shared_world.rows(
        "SELECT operation, count(v.absorbed_version_id) AS merged,"
        "       count(*) FILTER (WHERE v.exclusive) AS keyed"
        "  FROM memwarden_data.log AS g JOIN memwarden_data.version AS v USING (org_id, version_id)"
        " GROUP BY operation"
    )
    assert {row["operation"] for row in met} == {
        "INSERT",
        "UPDATE",
        "SUPERSEDE",
        "RETRACT",
        "EXPIRE",
        "RESTORE",
    }
    assert min(sum(row[kind] for row in met) for kind in ("merged", "keyed")) > 3
    return shared_world


def projections(connection: Connection[Any]) -> dict[str, set[str]]:
    """Every row of heads, timeline and vectors, as text."""
    found = {}
    for table in PROJECTIONS:
        query = sql.SQL("SELECT t::text AS row FROM memwarden_data.{} AS t")
        rows = connection.execute(query.format(sql.Identifier(table))).fetchall()
        found[table] = {row["row"] if isinstance(row, dict) else row[0] for row in rows}
        assert len(found[table]) == len(rows)
    return found


def rebuild(connection: Connection[DictRow], **arguments: Any) -> dict[str, tuple[int, int]]:
    """Rebuild; return for each projection how many rows the log calls for, and how many came."""
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    rows = connection.execute(f"SELECT * FROM memwarden.rebuild_heads({named})", arguments)
    return {row["projection"]: (row["expected"], row["written"]) for row in rows}


@contextmanager
def damage(world: World, *statements: str) -> Iterator[Connection[DictRow]]:
    """Do to the tables what no guard lets happen, until the end of the block."""
    with world.connect(autocommit=False) as session:
        session.execute("SET session_replication_role = replica")
        for statement in statements:
            session.execute(statement)
        session.execute("SET session_replication_role = origin")
        yield session
        session.rollback()


LOSE = [f"DELETE FROM memwarden_data.{table}" for table in PROJECTIONS]


def sizes(rows: dict[str, set[str]]) -> dict[str, int]:
    """How many there are of each."""
    return {table: len(found) for table, found in rows.items()}


def test_what_is_as_the_log_says_stays_as_it_is(lived: World) -> None:
    """A second opinion on every head, period and vector: nothing is to be written.

    Proves: T1, T8 (a check)
    """
    before = projections(lived.admin)
    assert rebuild(lived.admin) == {table: (n, 0) for table, n in sizes(before).items()}
    assert projections(lived.admin) == before


def test_lost_heads_come_back_row_by_row(lived: World) -> None:
    """With the vectors at hand everything is equal, to the microsecond.

    Proves: T1, T8 (the heads, from the log)
    """
    before = projections(lived.admin)
    with damage(lived, *LOSE[:2], "DELETE FROM memwarden_data.write_lock") as session:
        expected = {table: (n, n) for table, n in sizes(before).items()}
        assert rebuild(session) == expected | {"embedding": (len(before["embedding"]), 0)}
        assert projections(session) == before
        session.execute("DELETE FROM memwarden_data.write_lock")
        locks = "SELECT count(*) AS n FROM memwarden_data.write_lock"
        rebuild(session)
        assert session.execute(locks).fetchall() == [
            {"n": lived.value("SELECT count(DISTINCT (scope_id, layer)) FROM memwarden_data.item")}
        ]


def test_lost_vectors_are_computed_or_taken_from_what_was_set_aside(lived: World) -> None:
    """Lexical ones are the same; what a caller had made of the current words is not in the log.

    Proves: T8 (vectors)
    """
    before = projections(lived.admin)
    with damage(lived, *LOSE) as session:
        assert rebuild(session) == {table: (n, n) for table, n in sizes(before).items()}
        after = projections(session)
        assert {table: after[table] for table in ("item", "timeline")} == {
            table: before[table] for table in ("item", "timeline")
        }
        others = session.execute(
            "SELECT count(*) FILTER (WHERE m.name <> 'lexical') AS kept"
            "  FROM memwarden_data.embedding"
            "  JOIN memwarden_data.embedding_model AS m USING (model_id)"
        ).fetchall()
    lexical = lived.value(
        "SELECT count(*) FROM memwarden_data.embedding JOIN memwarden_data.embedding_model AS m"
        " USING (model_id) WHERE m.name = 'lexical'"
    )
    assert len(after["embedding"] & before["embedding"]) == lexical + others[0]["kept"]
    assert others[0]["kept"] > 0
    assert len(before["embedding"]) > lexical + others[0]["kept"]


def test_heads_are_compared_by_the_synonyms_of_today(lived: World) -> None:
    """Facts that have become one stay two: the older bears the key, and a write meets it.

    Proves: T8 (what is worked out from settings)
    """
    keyed = (
        "SELECT count(DISTINCT key_hash) AS keys, count(DISTINCT subject) AS subjects"
        "  FROM memwarden_data.item WHERE status = 'ACTIVE' AND exclusive AND instance = 0"
    )
    with damage(lived) as session:
        session.execute(
            "SELECT memwarden.set_synonyms('acme', %s)", (Jsonb({"number": "no", "bo": "ana"}),)
        )
        fingerprints = (
            "SELECT item_id, fingerprint FROM memwarden_data.item WHERE status = 'ACTIVE'"
        )
        before = {tuple(row.values()) for row in session.execute(fingerprints)}
        rebuild(session, replace=True)
        assert {tuple(row.values()) for row in session.execute(fingerprints)} == before
        assert session.execute(keyed).fetchall() == [{"keys": 2, "subjects": 2}]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("UPDATE memwarden_data.item SET confidence = 0.123 WHERE status = 'ACTIVE'", "item: of "),
        ("UPDATE memwarden_data.item SET status = 'RETRACTED'", "item: of "),
        ("DELETE FROM memwarden_data.item WHERE status = 'ACTIVE'", "are missing"),
        (
            "UPDATE memwarden_data.timeline SET recorded_during ="
            " tstzrange(lower(recorded_during), NULL)"
            " WHERE ctid = (SELECT min(ctid) FROM memwarden_data.timeline"
            " WHERE NOT upper_inf(recorded_during))",
            "timeline: it has ",
        ),
        (
            "INSERT INTO memwarden_data.embedding SELECT i.org_id, i.scope_id, 1, i.item_id,"
            " array_fill(1, ARRAY[384])::real[]::halfvec FROM memwarden_data.item AS i"
            " WHERE i.status = 'RETRACTED'",
            "embedding: ",
        ),
    ],
    ids=["value", "status", "missing", "timeline", "vector"],
)
def test_heads_that_differ_are_replaced_only_when_that_is_asked_for(
    lived: World, wrong: str, said: str
) -> None:
    """Told how many first; then made anew.

    Proves: T8 (nothing is overwritten unasked)
    """
    before = projections(lived.admin)
    if "timeline" in wrong:
        wrong = "ALTER TABLE memwarden_data.timeline DROP CONSTRAINT timeline_one_value; " + wrong
    with damage(lived, wrong) as session:
        damaged = projections(session)
        with pytest.raises(ObjectNotInPrerequisiteState) as refused, session.transaction():
            rebuild(session)
        assert said in (refused.value.diag.message_detail or "")
        assert "verify_log" in (refused.value.diag.message_hint or "")
        assert projections(session) == damaged
        counts = rebuild(session, replace=True)
        assert {table: expected for table, (expected, _) in counts.items()} == sizes(before)
        assert projections(session) == before


def test_a_log_that_does_not_fit_its_versions_is_refused(lived: World) -> None:
    """Better no heads than heads of half a story.

    Proves: T8 (a damaged log)
    """
    first = "(SELECT min(lower(recorded_during)) FROM memwarden_data.version)"
    for lost in (
        f"DELETE FROM memwarden_data.version WHERE lower(recorded_during) = {first}",
        f"DELETE FROM memwarden_data.log WHERE recorded_at = {first}",
    ):
        with damage(lived, lost) as session, pytest.raises(DataCorrupted):
            rebuild(session, replace=True)


def test_only_a_superuser_rebuilds(lived: World) -> None:
    """Nobody else could write what it writes."""
    for role in ("memwarden_admin", "memwarden_jobs"):
        session = lived.connect(lived.role(role))
        with pytest.raises(InsufficientPrivilege):
            rebuild(session)


def test_readers_read_on_while_writers_wait(lived: World) -> None:
    """Until it is done the one see what was there, and the others do not write beside it."""
    agent = lived.agent(HOME)
    write(agent, "semantic", {"drink": "sage"}, confidence=0.9)
    with lived.connect(autocommit=False) as session:
        rebuild(session, replace=True)
        assert recall(agent, query="sage", k=1)[0]["content"] == {"drink": "sage"}
        agent.execute("SET lock_timeout = '50ms'")
        with pytest.raises(LockNotAvailable):
            write(agent, "semantic", {"drink": "mint"})
    assert write(agent, "semantic", {"drink": "mint"})["outcome"] == "COMMITTED"


CARRIED_NOT = (*PROJECTIONS, "embedding_shared", "write_request*", "write_lock", "idempotency")


def test_log_versions_and_settings_alone_bring_back_the_memory(lived: World) -> None:
    """Restored without heads, requests and locks; rebuilt; read, written and undone as before.

    Proves: T1, T8 (the log is enough)
    """
    before = projections(lived.admin)
    login = lived.register(HOME)
    name = f"rebuilt_{uuid4().hex[:12]}"
    file = str(Path(deploy_server("shared"), f"{name}.dump"))
    without = [f"--exclude-table-data=memwarden_data.{table}" for table in CARRIED_NOT]
    deploy_server("exec", "pg_dump", "--format=custom", *without, "--file", file, lived.dsn)
    lived.admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        dsn = make_conninfo(lived.dsn, dbname=name)
        deploy_server("exec", "pg_restore", "--exit-on-error", "--dbname", dsn, file)
        with psycopg.connect(dsn, autocommit=True) as admin:
            empty = World(admin)
            assert sizes(projections(empty.admin)) == dict.fromkeys(PROJECTIONS, 0)
            counts = rebuild(empty.admin)
            assert counts == {table: (n, n) for table, n in sizes(before).items()}
            after = projections(empty.admin)
            assert (after["item"], after["timeline"]) == (before["item"], before["timeline"])
            assert rebuild(empty.admin) == {table: (n, 0) for table, (n, _) in counts.items()}
            carried = row_digests(lived.admin)
            assert {
                table: digest
                for table, digest in row_digests(empty.admin).items()
                if carried[table] != digest and not table.startswith("write_request")
            }.keys() <= {"embedding", "embedding_shared", "idempotency"}
            agent = empty.connect(login)
            fresh = write(agent, "semantic", {"drink": "rebuilt"})
            assert fresh["outcome"] == "COMMITTED"
            assert recall(agent, query="rebuilt", k=1)[0]["item_id"] == fresh["item_id"]
            empty.disconnect()
    finally:
        lived.admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        deploy_server("exec", "rm", "-f", file)
