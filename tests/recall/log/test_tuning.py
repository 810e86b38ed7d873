"""Relevance thresholds follow from use: one step at a time, within bounds, noted."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from helpers import recall
from races import together

from .conftest import Office, given, report


def tune(office: Office, dry_run: bool = False) -> dict[str, Any]:
    """Tune the semantic layer; what was seen and done."""
    [row] = office.world.rows("SELECT * FROM memwarden.tune_threshold('semantic', %s)", dry_run)
    return row


def threshold(office: Office) -> float | None:
    """Where the threshold of the semantic layer stands."""
    found: float | None = office.world.value(
        "SELECT relevance_threshold FROM memwarden_data.layer WHERE layer = 'semantic'"
    )
    return found


@pytest.fixture
def tuned(office: Office) -> Office:
    """Two memories, a threshold of 0.7, and a rule that is content with four recalls."""
    office.remember("Ana likes tea", "Ana likes green tea")
    setting = "SELECT memwarden.configure_layer('semantic', '{\"relevance_threshold\": 0.7}')"
    office.world.admin.execute(setting)
    office.world.admin.execute("SELECT memwarden.set_threshold_tuning('semantic', sample => 4)")
    return office


def ask_in_vain(office: Office, times: int) -> None:
    """Recall what is not there."""
    for _ in range(times):
        (row,) = recall(office.ana, query="zebra crossing", layers=["semantic"])
        assert row["standing"] == "unknown"


def ask_and_ignore(office: Office, times: int, used: int) -> None:
    """Recall what is there, under the threshold of the layer, and use so many of what is given."""
    for _ in range(times):
        recall_id, items = given(office.ana, "Ana likes tea", layers=["semantic"])
        report(office.ana, recall_id, items[:used])


def test_where_recalls_give_too_little_it_is_lowered(tuned: Office) -> None:
    """By a step, and no further than the bound.

    Proves: L8
    """
    ask_in_vain(tuned, 4)
    seen = tune(tuned, dry_run=True)
    assert (seen["verdict"], seen["hit_rate"], seen["applied"]) == ("lower", 0.0, False)
    assert seen["proposed"] == pytest.approx(0.65)
    assert threshold(tuned) == 0.7
    assert tune(tuned)["applied"]
    assert threshold(tuned) == pytest.approx(0.65)
    # What was seen under the former threshold says nothing of this one.
    assert tune(tuned)["verdict"] == "too_few"
    for expected in (0.60, 0.55, 0.5, 0.5):
        ask_in_vain(tuned, 4)
        tune(tuned)
        assert threshold(tuned) == pytest.approx(expected)


def test_where_much_is_ignored_it_is_raised(tuned: Office) -> None:
    """Only where somebody said what was of use.

    Proves: L8 (fed by real usage)
    """
    setting = "SELECT memwarden.configure_layer('semantic', %s)"
    tuned.world.admin.execute(setting, ('{"relevance_threshold": 0.1}',))
    tuned.world.admin.execute("SELECT memwarden.set_threshold_tuning('semantic', lowest => 0.05)")
    for _ in range(4):
        given(tuned.ana, "Ana likes tea", layers=["semantic"])
    assert tune(tuned)["verdict"] == "keep"
    ask_and_ignore(tuned, 4, used=0)
    seen = tune(tuned)
    assert (seen["verdict"], seen["false_positive_rate"], seen["judged"]) == ("raise", 1.0, 8)
    assert threshold(tuned) == pytest.approx(0.15)
    ask_and_ignore(tuned, 4, used=2)
    assert tune(tuned)["verdict"] == "keep"


def test_a_layer_without_a_threshold_gets_the_least_one(tuned: Office) -> None:
    """Proves: L8."""
    tuned.world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', '{\"relevance_threshold\": null}')"
    )
    ask_in_vain_is_never_empty = recall(tuned.ana, query="zebra", layers=["semantic"])
    assert ask_in_vain_is_never_empty
    ask_and_ignore(tuned, 4, used=0)
    assert tune(tuned)["proposed"] == 0.5
    assert threshold(tuned) == 0.5


def test_it_goes_no_further_than_the_upper_bound(tuned: Office) -> None:
    """Nor is one that stands beyond a bound moved towards it.

    Proves: L8
    """
    setting = "SELECT memwarden.configure_layer('semantic', %s)"
    for start, expected in ((0.93, 0.95), (0.97, 0.97)):
        tuned.world.admin.execute(setting, ('{"relevance_threshold": null}',))
        ask_and_ignore(tuned, 4, used=0)
        tuned.world.admin.execute(setting, (f'{{"relevance_threshold": {start}}}',))
        tune(tuned)
        assert threshold(tuned) == pytest.approx(expected)


def test_what_the_caller_chose_says_nothing_of_the_layer(tuned: Office) -> None:
    """Proves: L8."""
    for _ in range(8):
        recall(tuned.ana, query="zebra", layers=["semantic"], threshold=1.0)
        recall(tuned.ana, query="zebra", layers=["episodic"])
    assert tune(tuned)["recalls"] == 0


def test_the_job_moves_only_what_somebody_enabled_and_notes_it(tuned: Office) -> None:
    """Twice at once it is one step.

    Proves: L8
    """
    ask_in_vain(tuned, 4)
    jobs = [tuned.world.connect(tuned.world.role("memwarden_jobs")) for _ in range(4)]
    call = "SELECT * FROM memwarden.tune_thresholds()"
    assert jobs[0].execute(call).fetchall() == []
    tuned.world.admin.execute("SELECT memwarden.set_threshold_tuning('semantic', enabled => true)")
    ran = together([lambda c=c: c.execute(call).fetchall() for c in jobs])  # type: ignore[misc]
    assert sorted(rows[0]["applied"] for rows in ran) == [False, False, False, True]
    assert threshold(tuned) == pytest.approx(0.65)
    noted = tuned.world.rows(
        "SELECT detail FROM memwarden_data.access_log WHERE action = 'tune_threshold'"
    )
    assert [row["detail"]["proposed"] for row in noted] == [pytest.approx(0.65)]


def test_only_administrators_tune(tuned: Office) -> None:
    """And only what there is.

    Proves: L8, A1
    """
    for who in (tuned.ana, tuned.curator, tuned.auditor):
        for call in ("tune_threshold('semantic')", "set_threshold_tuning('semantic')"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                who.execute(f"SELECT memwarden.{call}")
    for call in ("tune_threshold('nothing')", "set_threshold_tuning('nothing')"):
        with pytest.raises(psycopg.errors.UndefinedObject):
            tuned.world.admin.execute(f"SELECT memwarden.{call}")
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        tuned.world.admin.execute("SELECT memwarden.set_threshold_tuning('semantic', step => 2)")
