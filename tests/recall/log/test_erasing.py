"""An erasure empties what recalls say of a person, and leaves who was given what, by number."""

from __future__ import annotations

from operations.erasure.conftest import holding

from .conftest import Office, given, report


def test_task_digest_and_detail_go_with_the_person(office: Office) -> None:
    """Of recalls that gave a memory of hers, and of those that name her.

    Proves: R1 (recalls), Z4
    """
    items = office.remember("Petra likes tea", subject="Petra")
    kept = office.remember("Bo likes coffee", subject="Bo")
    first, _ = given(office.ana, "tea", k=1, task="what to cook")
    second, _ = given(office.ana, "coffee", k=1, task="ask petra")
    third, _ = given(office.ana, "coffee", k=1, task="breakfast")
    report(office.ana, first, items, detail={"said": "for dinner"})
    report(office.ana, second, kept, detail={"said": "so said Petra"})
    report(office.ana, third, kept, detail={"said": "at eight"})
    office.count()
    office.world.admin.execute(
        "SELECT * FROM memwarden.erase_subject('Petra', 'asked for', '{petra}', 'acme')"
    )
    assert holding(office.world, "petra") == set()
    log = {row["recall_id"]: row for row in office.log()}
    assert [log[n]["task"] for n in (first, second, third)] == [None, None, "breakfast"]
    assert [log[n]["query_digest"] is None for n in (first, second, third)] == [True, True, False]
    # Who was given it can still be told that it is gone.
    assert log[first]["item_ids"] == items
    details = {
        row["recall_id"]: row["detail"]
        for row in office.world.rows("SELECT * FROM memwarden_data.recall_outcome")
    }
    assert details == {first: None, second: None, third: {"said": "at eight"}}
    rest = office.world.rows("SELECT item_id FROM memwarden_data.recall_use")
    assert [row["item_id"] for row in rest] == kept
    shown = office.ana.execute("SELECT * FROM memwarden.find_recalls()").fetchall()
    assert [row["item_ids"] for row in shown] == [kept, kept, []]


def test_what_was_erased_before_it_was_counted_is_counted_nowhere(office: Office) -> None:
    """Proves: R1 (recalls), Q2."""
    office.remember("Petra likes tea", subject="Petra")
    given(office.ana, "tea")
    office.world.admin.execute(
        "SELECT * FROM memwarden.erase_subject('Petra', 'asked for', '{}', 'acme')"
    )
    office.count()
    assert office.world.rows("SELECT FROM memwarden_data.recall_use") == []
    assert office.world.value("SELECT sum(recalls) FROM memwarden_data.recall_day") == 7
