"""What was recalled on a replica is appended afterwards, by whoever recalled, and marked so."""

from __future__ import annotations

import json
import time
import uuid
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from .conftest import HOME, Office, report


def new_id(ago: timedelta = timedelta()) -> str:
    """Make a UUID version 7 of a moment."""
    bits = int((time.time() - ago.total_seconds()) * 1000) << 80 | uuid.uuid4().int & (1 << 80) - 1
    return str(uuid.UUID(int=bits & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62))


def seen(office: Office, **more: Any) -> dict[str, Any]:
    """What Ana was given on a replica, as her client would say it."""
    with office.ana.transaction():
        office.ana.execute("SET TRANSACTION READ ONLY")
        rows = office.ana.execute("SELECT * FROM memwarden.recall('tea')").fetchall()
    return {
        "recall_id": new_id(),
        "purpose": "recall",
        "query": "tea",
        "item_ids": [str(row["item_id"]) for row in rows],
        "version_ids": [str(row["version_id"]) for row in rows],
        "scores": [row["score"] for row in rows],
    } | more


def record(who: Any, *recalls: Any) -> list[bool]:
    """Say what was recalled; whether each was new."""
    rows = who.execute("SELECT * FROM memwarden.record_recalls(%s)", (json.dumps(recalls),))
    return [row["recorded"] for row in rows.fetchall()]


def test_a_recall_of_a_replica_is_recorded_once_and_marked(office: Office) -> None:
    """It counts like others, and can be reported of.

    Proves: Z4 (replicas)
    """
    items = office.remember("Ana likes tea")
    said = seen(office, task="trip", scopes=[HOME, "/org/acme/user/bo", "no scope"], layers=["x"])
    assert record(office.ana, said) == [True]
    assert record(office.ana, said, said) == [False, False]
    [entry] = office.log()
    assert (entry["reported"], entry["item_ids"]) == (True, items)
    assert (entry["task"], entry["scopes"], entry["layers"]) == ("trip", [HOME], None)
    found = office.ana.execute("SELECT * FROM memwarden.find_recalls(query => 'tea')").fetchall()
    assert [row["reported"] for row in found] == [True]
    assert report(office.ana, uuid.UUID(said["recall_id"]), items) == 1


def test_nobody_claims_what_it_does_not_read_or_to_be_another(office: Office) -> None:
    """What others were given is not to be inflated, nor another's number taken.

    Proves: Z4 (attacks)
    """
    office.remember("Ana likes tea")
    said = seen(office)
    forged = said | {"principal_id": 1, "login": "ana", "org_id": 1, "reported": False}
    assert record(office.bo, forged) == [True]
    [entry] = office.log()
    assert (entry["login"], entry["item_ids"], entry["reported"]) == (
        office.bo.info.user,
        [],
        True,
    )
    assert record(office.ana, said) == [False]
    assert office.ana.execute("TABLE memwarden.recalls").fetchall() == []
    twice = seen(office)
    for part in ("item_ids", "version_ids", "scores"):
        twice[part] *= 2
    assert record(office.ana, twice) == [True]
    assert len(office.log()[-1]["item_ids"]) == 1
    mixed = seen(office, version_ids=[str(uuid.uuid4())])
    assert record(office.ana, mixed) == [True]
    assert office.log()[-1]["item_ids"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"recall_id": None},
        {"recall_id": str(uuid.uuid4())},
        {"recall_id": new_id(timedelta(days=2))},
        {"recall_id": new_id(timedelta(hours=-1))},
        {"purpose": "probe"},
        {"purpose": None},
        {"item_ids": []},
        {"scores": [1, 2]},
        {"item_ids": [None], "version_ids": [None], "scores": [1]},
    ],
)
def test_what_is_malformed_has_an_answer_of_its_own(office: Office, wrong: dict[str, Any]) -> None:
    """And the others are recorded, whatever it is.

    Proves: Z4 (replicas)
    """
    office.remember("Ana likes tea")
    recalls = json.dumps([seen(office), seen(office) | wrong, 5, "NUL", seen(office)])
    rows = office.ana.execute(
        "SELECT * FROM memwarden.record_recalls(%s)", (recalls.replace("NUL", "\\u0000"),)
    ).fetchall()
    assert [row["fault"] for row in rows] == [None, *["22023"] * 3, None]
    assert [row["recorded"] for row in rows] == [True, None, None, None, True]
    assert len(office.log()) == 2
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        office.ana.execute("SELECT * FROM memwarden.record_recalls('{}')")
