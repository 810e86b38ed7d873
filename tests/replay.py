"""What the store must hold, worked out from its log alone, in Python.

An independent second opinion: it reads the log and the versions, replays them entry by entry, and
compares the result with the heads, the embeddings and the recorded requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import DictRow

COPIED = (
    "scope_id",
    "layer",
    "kind",
    "subject",
    "predicate",
    "confidence",
    "importance",
    "principal_id",
    "expires_at::text",
    "valid_during::text",
    "content_hash",
)
"""What a head takes over from the version it shows. Python has no times after the year 9999."""

SHOWN = ", ".join(COPIED)

ENDS = {"SUPERSEDE": "SUPERSEDED", "RETRACT": "RETRACTED", "EXPIRE": "EXPIRED"}


@dataclass(frozen=True)
class Head:
    """An item as it stands after a number of log entries."""

    version_id: UUID
    version: int
    status: str
    created_at: datetime
    updated_at: datetime
    values: tuple[Any, ...]


class Broken(AssertionError):
    """A log that tells no consistent story."""


def _require(condition: bool, entry: DictRow, what: str) -> None:
    if not condition:
        raise Broken(f"log entry {entry['log_seq']} of item {entry['item_id']}: {what}")


def _as_row(version: DictRow) -> tuple[Any, ...]:
    return tuple(version[name.partition("::")[0]] for name in COPIED)


def replay(log: list[DictRow], versions: dict[UUID, DictRow]) -> dict[UUID, Head]:
    """Every item's head after the log, given in the order of its numbers. Raises Broken."""
    heads: dict[UUID, Head] = {}
    for entry in log:
        head = heads.get(entry["item_id"])
        version = versions.get(entry["version_id"])
        if version is None:
            raise Broken(f"log entry {entry['log_seq']} names a version that is not there")
        _require(version["item_id"] == entry["item_id"], entry, "the version is another item's")
        if entry["operation"] in ENDS:
            _require(head is not None and head.status == "ACTIVE", entry, "nothing to end")
            assert head is not None
            _require(head.version_id == entry["version_id"], entry, "not the current version")
            _require(head.updated_at < entry["recorded_at"], entry, "time runs backwards")
            heads[entry["item_id"]] = Head(
                head.version_id,
                head.version,
                ENDS[entry["operation"]],
                head.created_at,
                entry["recorded_at"],
                head.values,
            )
            continue
        _require((head is None) == (entry["operation"] == "INSERT"), entry, entry["operation"])
        before = head.version_id if head else None
        number = head.version + 1 if head else 1
        _require(entry["previous_version_id"] == before, entry, "wrong predecessor in the log")
        _require(version["previous_version_id"] == before, entry, "wrong predecessor")
        _require(version["version"] == number, entry, "versions are not consecutive")
        _require(version["request_id"] == entry["request_id"], entry, "another request's version")
        
        _require(version["recorded_from"] == entry["recorded_at"], entry, "another time")
        if head is not None:
            _require(head.status == "ACTIVE", entry, "a version of what has ended")
            _require(head.updated_at < entry["recorded_at"], entry, "time runs backwards")
            old = versions[head.version_id]
            _require(old["status"] == "SUPERSEDED", entry, "the predecessor is still current")
            _require(old["recorded_to"] == entry["recorded_at"], entry, "a gap between versions")
        heads[entry["item_id"]] = Head(
            entry["version_id"],
            number,
            "ACTIVE",
            head.created_at if head else entry["recorded_at"],
            entry["recorded_at"],
            _as_row(version),
        )
    return heads


def check_store(connection: Connection[DictRow]) -> dict[UUID, Head]:
    """Compare the whole store with a replay of its log, as superuser; return the heads.

    Raises Broken when the log is inconsistent, AssertionError when heads, versions, embeddings or
    committed requests are not what it says.
    """
    versions = {
        row["version_id"]: row
        for row in connection.execute(
            "SELECT version_id, item_id, version, previous_version_id, status, request_id,"
            "       lower(recorded_during) AS recorded_from, upper(recorded_during) AS recorded_to,"
            f"      {SHOWN} FROM memwarden_data.version"
        )
    }
    log = connection.execute("SELECT * FROM memwarden_data.log ORDER BY log_seq").fetchall()
    expected = replay(log, versions)
    items = connection.execute(
        "SELECT item_id, version_id, version, status, created_at, updated_at,"
        f"      {SHOWN} FROM memwarden_data.item"
    ).fetchall()
    found = {
        row["item_id"]: Head(
            row["version_id"],
            row["version"],
            row["status"],
            row["created_at"],
            row["updated_at"],
            _as_row(row),
        )
        for row in items
    }
    assert found == expected, "the heads are not what the log says"
    logged = {entry["version_id"] for entry in log}
    assert set(versions) == logged, "versions and log do not match"
    for item_id, head in found.items():
        current = versions[head.version_id]
        assert current["status"] == head.status, f"item {item_id}: version and head disagree"
        ended = None if head.status == "ACTIVE" else head.updated_at
        assert current["recorded_to"] == ended, f"item {item_id}: its current version ended when?"
    _check_embeddings(connection)
    _check_requests(connection, versions)
    return found


def _check_embeddings(connection: Connection[DictRow]) -> None:
    """Every active item whose text has words has a vector in its scope; what has ended has none."""
    wrong = connection.execute(
        "SELECT i.item_id FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v"
        "    ON v.org_id = i.org_id AND v.version_id = i.version_id"
        "  LEFT JOIN memwarden_data.embedding AS e"
        "    ON e.org_id = i.org_id AND e.scope_id = i.scope_id AND e.item_id = i.item_id"
        " WHERE e.item_id IS NULL AND i.status = 'ACTIVE'"
        "   AND memwarden.lexical_embedding(v.search_text) IS NOT NULL"
        " UNION ALL "
        "SELECT e.item_id FROM memwarden_data.embedding AS e"
        "  LEFT JOIN memwarden_data.item AS i"
        "    ON i.org_id = e.org_id AND i.scope_id = e.scope_id AND i.item_id = e.item_id"
        " WHERE i.status IS DISTINCT FROM 'ACTIVE'"
    ).fetchall()
    assert wrong == [], "items without a vector, or vectors without an item"


def _check_requests(connection: Connection[DictRow], versions: dict[UUID, DictRow]) -> None:
    """Every version was asked for by a request that says COMMITTED, and the other way round."""
    committed = {
        row["request_id"]: row["version_id"]
        for row in connection.execute(
            "SELECT request_id, version_id FROM memwarden_data.write_request"
            " WHERE outcome = 'COMMITTED'"
        )
    }
    asked = {version["request_id"]: number for number, version in versions.items()}
    assert committed == asked, "committed requests and versions do not match"
