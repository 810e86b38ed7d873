"""What the tests of sealing do: seal, look, and tamper as only a superuser could."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import write

Agent = Connection[DictRow]

UNSEALED = """
SELECT l.log_seq FROM memwarden_data.log AS l
 WHERE NOT EXISTS (SELECT FROM memwarden_data.log_segment AS s
                    WHERE s.system_identifier = l.system_identifier
                      AND l.transaction_id >= s.from_transaction
                      AND l.transaction_id < s.below_transaction)
 ORDER BY l.log_seq"""

KEY_FILE = """
CREATE OR REPLACE FUNCTION pg_temp.key_file(path text) RETURNS void LANGUAGE plpython3u AS $$
import os
os.environ.pop("MEMWARDEN_MASTER_KEY_FILE", None)
if path is not None:
    os.environ["MEMWARDEN_MASTER_KEY_FILE"] = path
$$"""


def seal(world: World) -> None:
    """Call the job."""
    world.admin.execute("CALL memwarden.seal_log()")


def unsealed(world: World) -> list[int]:
    """The numbers of the entries that no segment takes."""
    return [row["log_seq"] for row in world.rows(UNSEALED)]


def segments(world: World) -> list[list[int]]:
    """The numbers of the entries of each segment, in the order of segments."""
    rows = world.rows("SELECT log_seqs FROM memwarden_data.log_segment ORDER BY segment_no")
    return [row["log_seqs"] for row in rows]


def log_seqs(world: World) -> list[int]:
    """The numbers of all entries."""
    return [
        row["log_seq"]
        for row in world.rows("SELECT log_seq FROM memwarden_data.log ORDER BY log_seq")
    ]


def verify(world: World, since: int | None = None, head: Any = None) -> list[DictRow]:
    """What verify_log() finds."""
    return world.rows(
        "SELECT * FROM memwarden.verify_log(%s, %s)", since, None if head is None else Jsonb(head)
    )


def findings(world: World, since: int | None = None, head: Any = None) -> set[tuple[Any, ...]]:
    """Each finding with what it names: the entry, or else the segment, or else the item."""
    return {
        (row["finding"], row["log_seq"] or row["segment_no"] or row["item_id"])
        for row in verify(world, since, head)
    }


def head_of(world: World) -> Any:
    """The head to export."""
    return world.value("SELECT memwarden.log_head()")


def remember(agent: Agent, what: Any, **arguments: Any) -> DictRow:
    """Write something that is committed."""
    row = write(agent, arguments.pop("layer", "episodic"), what, **arguments)
    assert row["outcome"] == "COMMITTED", row
    return row


@contextmanager
def tampering(world: World) -> Iterator[None]:
    """As a superuser for whom no trigger fires; afterwards nothing has happened."""
    with world.admin.transaction(force_rollback=True):
        world.admin.execute("SET LOCAL session_replication_role = replica")
        yield
