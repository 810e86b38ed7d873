"""What came of a recall is said by whoever recalled, of what it was given, and kept."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from helpers import write
from races import together

from .conftest import Office, given, report


def outcomes(office: Office) -> list[tuple[Any, ...]]:
    """Every report, in the order of revisions."""
    rows = office.world.rows("SELECT * FROM memwarden_data.recall_outcome ORDER BY revision")
    return [(row["revision"], row["outcome"], row["used"]) for row in rows]


def test_a_report_is_kept_and_its_revisions_with_it(office: Office) -> None:
    """Proves: Z4, Q2 (feedback)."""
    office.remember("Ana likes tea", "Ana likes green tea")
    recall_id, items = given(office.ana)
    assert report(office.ana, recall_id, items[:1]) == 1
    assert report(office.ana, recall_id, items[:1]) == 1
    assert report(office.ana, recall_id, items, "failure", {"why": "it was coffee"}) == 2
    assert outcomes(office) == [(1, "success", items[:1]), (2, "failure", sorted(items))]
    [shown] = office.ana.execute("SELECT * FROM memwarden.recalls").fetchall()
    assert (shown["outcome"], shown["revision"], shown["detail"]) == (
        "failure",
        2,
        {"why": "it was coffee"},
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"used": "foreign"},
        {"outcome": "splendid"},
        {"outcome": None},
        {"detail": "[]"},
        {"detail": '{"key": "sk-proj-4fK9dLq2XzT7vB1nM8sW3yR6aP0cE5hJ"}'},
        {"detail": f'{{"much": "{"x" * 9000}"}}'},
    ],
)
def test_a_report_that_makes_no_sense_is_refused(office: Office, arguments: dict[str, Any]) -> None:
    """What was used is among what was given.

    Proves: Q2 (feedback), Z4
    """
    office.remember("Ana likes tea")
    recall_id, _ = given(office.ana, k=1)
    [foreign] = office.remember("it rains")
    said = {"recall_id": recall_id, "outcome": "success", "used": [], "detail": None} | arguments
    if said["used"] == "foreign":
        said["used"] = [foreign]
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        office.ana.execute(
            "SELECT memwarden.report_outcome(%(recall_id)s, %(used)s::uuid[], %(outcome)s,"
            " %(detail)s::jsonb)",
            said,
        )
    assert outcomes(office) == []


def test_nobody_reports_for_another(office: Office) -> None:
    """One who recalls something else, an overseer, or of a recall that is none: one answer.

    Proves: Z4 (attacks), A3
    """
    office.remember("Ana likes tea")
    recall_id, items = given(office.ana)
    told = set()
    for who, which in (
        (office.bo, recall_id),
        (office.curator, recall_id),
        (office.auditor, recall_id),
        (office.ana, uuid4()),
    ):
        with pytest.raises(psycopg.errors.UndefinedObject) as raised:
            report(who, which, items)
        told.add((raised.value.diag.message_primary, raised.value.diag.message_detail))
    assert len(told) == 1
    assert outcomes(office) == []


def test_reports_at_once_are_one_after_the_other(office: Office) -> None:
    """Sixteen connections, each another report of one recall: sixteen revisions, none lost.

    Proves: Z4, Q2 (feedback)
    """
    office.remember("Ana likes tea", "Ana likes green tea")
    recall_id, items = given(office.ana)
    again = [office.world.connect(str(office.ana.info.user)) for _ in range(16)]
    said = together(
        [
            lambda c=c, n=n: report(c, recall_id, items[: n % 2], detail={"n": n})  # type: ignore[misc]
            for n, c in enumerate(again)
        ]
    )
    assert sorted(said) == list(range(1, 17))
    office.count()
    [row] = office.world.rows("SELECT sum(judged) AS judged FROM memwarden_data.recall_use")
    assert row["judged"] == len(items)


def test_what_the_task_wrote_is_found(office: Office) -> None:
    """Requests of that agent, after that recall, with its task as their trace.

    Proves: Z4 (what the task then did)
    """
    write(office.ana, "semantic", "too early", trace_id="trip")
    office.remember("Ana likes tea")
    recall_id, _ = given(office.ana, task="trip")
    said = write(office.ana, "semantic", "she booked a room", trace_id="trip")
    write(office.ana, "semantic", "something else", trace_id="walk")
    write(office.bo, "semantic", "another's", trace_id="trip")
    query = "SELECT * FROM memwarden.writes_of_recall(%s)"
    for who in (office.ana, office.auditor):
        [row] = who.execute(query, (recall_id,)).fetchall()
        assert (row["request_id"], row["item_id"]) == (said["request_id"], said["item_id"])
    assert office.bo.execute(query, (recall_id,)).fetchall() == []
