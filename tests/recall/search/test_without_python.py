"""A recall that is given its vector starts no interpreter, and what it records stays keyed."""

from __future__ import annotations

import hmac
import random
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
VECTOR = [random.Random(1).gauss(0, 1) for _ in range(384)]
HASH = "SELECT memwarden_internal.{}(%s, %s::bytea) AS hash"
KEY_FILE = "SELECT pg_read_file('postmaster.pid') AS pid"


def has_python(connection: Connection[DictRow]) -> bool:
    """Whether the process behind a connection has loaded the interpreter."""
    return "libpython" in Path(f"/proc/{connection.info.backend_pid}/maps").read_text()


@pytest.fixture
def login(world: World) -> str:
    """Who remembers that parcels are sent on Mondays."""
    name = world.register(HOME)
    write(world.connect(name), "semantic", "parcels are sent on Mondays", embedding=VECTOR)
    return name


@pytest.mark.every_version
def test_a_recall_with_its_vector_loads_no_python(world: World, login: str) -> None:
    """The first of a connection. Without a vector the words are embedded, in Python."""
    reader = world.connect(login, application_name="fresh")
    assert not has_python(reader)
    for asked in ({"k": 3}, {"scope": HOME}, {"threshold": 0.99}, {"query": None}):
        found = recall(reader, **({"query": "parcels", "embedding": VECTOR} | asked))
        assert [row["text"] for row in found] == ["parcels are sent on Mondays"]
    assert world.value("SELECT count(*) FROM memwarden_data.recall_log") == 4
    assert not has_python(reader)
    recall(reader, query="parcels")
    assert has_python(reader)


def test_the_recorded_hash_of_a_query_is_that_of_the_master_key(world: World, login: str) -> None:
    """Whoever has the log and not the key learns nothing from it.

    Proves: Z4 (the query is kept as a keyed hash)
    """
    recall(world.connect(login), query="parcels", embedding=VECTOR)
    logged = world.value("SELECT query_digest FROM memwarden_data.recall_log")
    org = world.value("SELECT org_id FROM memwarden_data.recall_log")
    row = world.admin.execute(
        HASH.format("keyed_hash"), ("recall query", f"{org} parcels".encode())
    ).fetchone()
    assert row is not None
    assert logged is not None
    assert logged == row["hash"]


@pytest.mark.parametrize("data", [b"", b"x", b"x" * 64, bytes(range(256)) * 9])
def test_both_ways_hash_alike(world: World, data: bytes) -> None:
    """In SQL as in Python, for any purpose."""
    for purpose in ("recall query", "", "grüße"):
        made = {
            world.rows(HASH.format(name), purpose, data)[0]["hash"]
            for name in ("keyed_hash", "keyed_hash_in_sql")
        }
        assert len(made) == 1
        assert len(made.pop()) == 32


@pytest.mark.parametrize("length", [0, 1, 9, 31, 32, 64])
def test_the_hash_is_an_hmac(world: World, length: int) -> None:
    """As the standard library has it."""
    key = bytes(random.Random(length).randbytes(length))
    for data in (b"", b"data", b"x" * 200):
        made = world.value("SELECT memwarden_internal.hmac_sha256(%s::bytea, %s::bytea)", key, data)
        assert made == hmac.digest(key, data, "sha256")


def test_nobody_but_the_owner_calls_it(world: World, login: str) -> None:
    """Nor reads a file by it: it takes no path."""
    for role in (login, world.role("memwarden_admin"), world.role("memwarden_jobs")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            world.connect(role).execute(HASH.format("keyed_hash_in_sql"), ("status", b""))


def printed(key: bytes) -> set[str]:
    """A key as texts and plans show bytes: in hexadecimal, and as signed numbers."""
    signed = " ".join(str(byte - 256 if byte > 127 else byte) for byte in key[:12])
    return {key.hex()[:24], signed}


@pytest.mark.every_version
def test_no_setting_of_a_session_prints_the_key(world: World, login: str) -> None:
    """Not where plans, parse trees and everything else are told to the client."""
    pid = world.value(KEY_FILE).split()[0]
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    (path,) = [
        e.partition(b"=")[2] for e in environment if e.startswith(b"MEMWARDEN_MASTER_KEY_FILE=")
    ]
    master = bytes.fromhex(world.value("SELECT trim(E'\\n' FROM pg_read_file(%s))", path.decode()))
    extracted = hmac.digest(b"memwarden", master, "sha256")
    key = hmac.digest(extracted, b"recall query\x01", "sha256")
    reader = world.connect(login, application_name="curious")
    told: list[str] = []
    reader.add_notice_handler(
        lambda d: told.append(f"{d.message_primary} {d.message_detail} {d.context}")
    )
    for setting in ("debug_print_plan", "debug_print_parse", "debug_print_rewritten"):
        reader.execute(f"SET {setting} = on")
    reader.execute("SET client_min_messages = 'debug5'")
    for _ in range(7):
        recall(reader, query="parcels", embedding=VECTOR)
    everything = "\n".join(told)
    assert "PLANNEDSTMT" in everything
    secrets = set().union(*(printed(each) for each in (master, extracted, key)))
    assert [secret for secret in secrets if secret in everything] == []
