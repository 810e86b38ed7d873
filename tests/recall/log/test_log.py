"""Every recall leaves one row: who was given which versions, when and for which task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from helpers import recall
from races import overlap, together

from .conftest import HOME, Office, given

if TYPE_CHECKING:
    from conftest import World

QUERY = "which tea does Ana like zqxquery"


def test_a_recall_says_what_it_gave_to_whom_and_for_what(office: Office) -> None:
    """Proves: Z4."""
    office.remember("Ana likes tea", "Ana owns a dog")
    rows = recall(office.ana, query=QUERY, k=2, scope=HOME, layers=["semantic"], task="trip 17")
    [entry] = office.log()
    assert {row["recall_id"] for row in rows} == {entry["recall_id"]}
    for mine, theirs in (("item_id", "item_ids"), ("version_id", "version_ids")):
        assert [row[mine] for row in rows] == entry[theirs]
    assert entry["scores"] == pytest.approx([row["score"] for row in rows])
    assert (entry["purpose"], entry["task"], entry["login"]) == (
        "recall",
        "trip 17",
        office.ana.info.user,
    )
    assert (entry["k"], entry["scopes"], entry["layers"]) == (2, [HOME], ["semantic"])


def test_no_word_of_the_query_is_kept(office: Office, world: World) -> None:
    """An HMAC is: who knows the query finds it again, in that organisation and in no other.

    Proves: Z4
    """
    office.remember("Ana likes tea")
    given(office.ana, QUERY)
    stranger = world.agent("/org/beta/user/ana")
    recall(stranger, query=QUERY)
    assert "zqxquery" not in str(office.log())
    assert len({bytes(row["query_digest"]) for row in office.log()}) == 2
    find = "SELECT recall_id FROM memwarden.find_recalls(query => %s)"
    assert len(office.ana.execute(find, (QUERY,)).fetchall()) == 1
    assert office.ana.execute(find, ("another",)).fetchall() == []


def test_a_context_is_logged_with_what_it_holds(office: Office) -> None:
    """Not with what it was chosen from.

    Proves: Z4, F9 (what was given)
    """
    office.remember("Ana likes tea", "Ana likes coffee", "a long story about tea " * 50)
    rows = office.ana.execute(
        "SELECT * FROM memwarden.compile_context('tea', token_budget => 200)"
    ).fetchall()
    [entry] = office.log()
    assert entry["purpose"] == "context"
    assert [row["item_id"] for row in rows] == entry["item_ids"]
    assert {row["recall_id"] for row in rows} == {entry["recall_id"]}


def test_one_that_finds_nothing_is_logged_too(office: Office) -> None:
    """Proves: Z4."""
    assert recall(office.ana, query="tea") == []
    [entry] = office.log()
    assert (entry["item_ids"], entry["version_ids"], entry["scores"]) == ([], [], [])


def test_a_read_only_transaction_answers_the_same_and_writes_nothing(office: Office) -> None:
    """As on a replica, where every transaction is one.

    Proves: Z4 (no write where none can be)
    """
    office.remember("Ana likes tea")
    with office.ana.transaction():
        office.ana.execute("SET TRANSACTION READ ONLY")
        read = recall(office.ana, query="tea")
        office.ana.execute("SELECT * FROM memwarden.compile_context('tea')")
        row = office.ana.execute("SELECT pg_current_xact_id_if_assigned() AS xid").fetchone()
        assert row is not None
        assert row["xid"] is None
    assert office.log() == []
    written = recall(office.ana, query="tea")
    assert read[0]["recall_id"] is None
    assert written[0]["recall_id"] is not None
    passing = {"recall_id": None, "recency_score": None, "freshness_score": None}
    assert [row | passing for row in read] == [row | passing for row in written]


def test_what_may_not_be_kept_is_not_kept_in_the_name_of_a_task(office: Office) -> None:
    """And a recall is not refused for it.

    Proves: Z4, L10
    """
    office.remember("Ana likes tea")
    given(office.ana, task="use sk-proj-4fK9dLq2XzT7vB1nM8sW3yR6aP0cE5hJ")
    given(office.ana, task="x" * 900)
    assert [row["task"] for row in office.log()] == ["[withheld]", "x" * 200]


@pytest.mark.parametrize("table", ["recall_log", "recall_outcome"])
def test_the_log_is_append_only_also_for_its_owner(office: Office, table: str) -> None:
    """Partitions included.

    Proves: Z4
    """
    office.remember("Ana likes tea")
    recall_id, items = given(office.ana)
    office.ana.execute("SELECT memwarden.report_outcome(%s, %s)", (recall_id, items))
    [partition] = office.world.rows(
        f"SELECT tableoid::regclass::text AS name FROM memwarden_data.{table}"
    )
    for where in (f"memwarden_data.{table}", partition["name"]):
        for change in (
            f"UPDATE {where} SET login = 'nobody'",
            f"DELETE FROM {where}",
            f"TRUNCATE {where}",
        ):
            with pytest.raises(psycopg.errors.ObjectInUse):
                office.world.admin.execute(change)


def test_recalls_do_not_wait_for_one_another(office: Office) -> None:
    """One that has not committed holds up nobody; neither does who reports or counts.

    Proves: Z4 (no lock)
    """
    office.remember("Ana likes tea")
    again = [office.world.connect(str(office.ana.info.user)) for _ in range(4)]
    for connection in again:
        connection.execute("SET lock_timeout = '20s'")
    with office.ana.transaction():
        recall_id, items = given(office.ana)
        others = together([lambda c=c: given(c) for c in again])  # type: ignore[misc]
        office.count()
    office.ana.execute("SELECT memwarden.report_outcome(%s, %s)", (recall_id, items))
    assert len({recall_id, *(each[0] for each in others)}) == 5
    office.count()
    assert use(office, items[0])["given"] == 5


def test_a_recall_runs_while_the_log_is_counted(office: Office) -> None:
    """The lock of who counts is none that a reader meets; another who counts waits for it.

    Proves: Z4 (no lock)
    """
    office.remember("Ana likes tea")
    first, second = (office.world.connect() for _ in range(2))

    def hold() -> None:
        given(office.ana)
        first.execute("SELECT memwarden_internal.count_next_recalls(10)")

    overlap(
        office.world.admin,
        first,
        hold,
        second,
        lambda: second.execute("CALL memwarden.count_recalls()"),
        meanwhile=lambda: given(office.ana),
    )
    office.count()
    [row] = office.world.rows("SELECT sum(given) AS given FROM memwarden_data.recall_use")
    assert row["given"] == 2


def use(office: Office, item: Any) -> dict[str, Any]:
    """What is counted of a memory."""
    [row] = office.world.rows("SELECT * FROM memwarden_data.recall_use WHERE item_id = %s", item)
    return row
