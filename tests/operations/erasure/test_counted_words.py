"""What was counted of the words of a grown scope goes with whoever is erased from it."""

from __future__ import annotations

from helpers import recall, write_many
from operations.erasure.conftest import Desk
from races import overlap

COUNTS = "SELECT word FROM memwarden_data.shelf_word"
COUNT = """
SELECT memwarden_internal.count_shelf(s.org_id, s.shelf)
  FROM memwarden_data.shelf AS s WHERE s.shelf > 0"""


def arrange(desk: Desk) -> None:
    """Run the job that gives scopes shelves, and counts."""
    desk.world.admin.execute(
        "UPDATE memwarden_data.layer SET own_shelf_from = 100 WHERE layer = 'episodic'"
    )
    desk.world.connect("memwarden_jobs").execute("CALL memwarden.arrange_shelves()")


def test_an_erasure_takes_the_counts(desk: Desk) -> None:
    """At once, also those that a job is about to leave; the next run counts what is left.

    Proves: R1 (what words weigh tells nothing of who is gone)
    """
    agent = desk.agent()
    requests = [
        {"layer": "episodic", "content": f"{name} came at {n}", "subject": name}
        for n in range(60)
        for name in ("Zebedee", "Yolanda")
    ]
    assert {row["outcome"] for row in write_many(agent, requests)} == {"COMMITTED"}
    arrange(desk)
    word = desk.world.value("SELECT hashtextextended('zebede', 0)")
    assert word in {row["word"] for row in desk.world.rows(COUNTS)}
    job, eraser = desk.world.connect(), desk.world.connect()
    job.execute("SET ROLE memwarden_owner")
    erase = "SELECT items FROM memwarden.erase_subject('Zebedee', 'asked for', org => %s)"
    (row,) = overlap(
        desk.world.admin,
        job,
        lambda: job.execute(COUNT),
        eraser,
        lambda: eraser.execute(erase, (desk.org,)).fetchall(),
    )
    assert row["items"] == 60
    assert desk.world.rows(COUNTS) == []
    assert recall(agent, query="came", k=3)
    arrange(desk)
    assert {row["word"] for row in desk.world.rows(COUNTS)}
    assert word not in {row["word"] for row in desk.world.rows(COUNTS)}
