"""After an update whose functions tell memories in other words, a job makes their texts anew."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import stored
from helpers import recall, write

if TYPE_CHECKING:
    from conftest import World

ROOM = "/org/acme/user/ana"
FACTS = {
    f"Lia plays the {thing} on Sundays": {"statement": f"Lia plays the {thing} on Sundays"}
    for thing in ("oboe", "flute", "organ", "viola", "harp", "drum", "lute", "horn", "bell")
}
OLD_TEXTS = (
    "UPDATE memwarden_data.version SET search_text = 'Lia statement ' || search_text",
    "UPDATE memwarden_data.item AS i SET search_vector = memwarden_internal.words_of("
    "    l.text_search_config, v.search_text)"
    "  FROM memwarden_data.version AS v, memwarden_data.layer AS l"
    " WHERE v.org_id = i.org_id AND v.version_id = i.version_id AND l.layer = i.layer",
    "UPDATE memwarden_data.embedding AS e"
    "   SET embedding = memwarden.lexical_embedding(v.search_text)::halfvec"
    "  FROM memwarden_data.item AS i, memwarden_data.version AS v"
    " WHERE i.item_id = e.item_id AND v.org_id = i.org_id AND v.version_id = i.version_id",
    "UPDATE memwarden_data.sweep SET finished_at = NULL WHERE sweep = 'texts'",
)


def remember(world: World) -> Any:
    """A store with the facts, and one value after another of a key."""
    agent = world.agent(ROOM)
    for content in FACTS.values():
        assert write(agent, "semantic", content, subject="Lia")["outcome"] == "COMMITTED"
    for city in ("Rome", "Oslo"):
        done = write(agent, "semantic", {"city": city}, subject="Bo", predicate="lives in")
        assert done["outcome"] == "COMMITTED", done
    return agent


def as_before_an_update(world: World) -> None:
    """As functions left it that told the names of fields."""
    world.admin.execute("SET session_replication_role = replica")
    for statement in OLD_TEXTS:
        world.admin.execute(statement)
    world.admin.execute("SET session_replication_role = DEFAULT")


def sweep(world: World, batch: int = 1000, batches: int = 100) -> None:
    """One run of the job."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(f"CALL memwarden.sweep({batch}, {batches})")


def texts(world: World) -> set[str]:
    """Every text that is stored, of past versions too."""
    rows = world.rows("SELECT search_text FROM memwarden_data.version")
    return {row["search_text"] for row in rows}


def status(world: World) -> list[dict[str, Any]]:
    """Return the row of texts in the status."""
    return world.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'texts'")


def test_a_job_makes_them_anew_and_goes_on_where_it_stopped(world: World) -> None:
    """Also past versions, words and vectors; hashes, log and content stay. Proves: T1."""
    agent = remember(world)
    written = texts(world)
    assert written == {*FACTS, "Bo lives in Rome", "Bo lives in Oslo"}
    log = world.rows("SELECT * FROM memwarden_data.log ORDER BY log_seq")
    as_before_an_update(world)
    assert {text for text in texts(world) if not text.startswith("Lia statement ")} == set()
    assert status(world)[0]["state"] == "outdated"
    with world.connect("memwarden_jobs", autocommit=False) as killed:
        killed.execute("SELECT memwarden_internal.sweep_next('texts', 7)")
        killed.rollback()
    sweep(world, 4, 1)
    assert len(texts(world) & written) == 4
    assert status(world)[0]["detail"].startswith("4 versions of about ")
    sweep(world)
    assert texts(world) == written
    assert status(world) == []
    assert world.rows("SELECT * FROM memwarden_data.log ORDER BY log_seq") == log
    assert world.rows("SELECT * FROM memwarden.verify_provenance()") == []
    stored.check(world.admin)
    assert recall(agent, query="who plays the oboe?", k=1)[0]["text"] in FACTS
    sweep(world)
    (row,) = world.rows("SELECT looked, faults FROM memwarden.sweeps WHERE sweep = 'texts'")
    assert row == {"looked": 11, "faults": 11}


def test_two_at_once_beside_writers_lose_nothing(world: World) -> None:
    """Proves: T1."""
    agent = remember(world)
    as_before_an_update(world)
    barrier = threading.Barrier(4)

    def run() -> None:
        barrier.wait()
        sweep(world, 2, 100)

    def write_on() -> None:
        barrier.wait()
        for number in range(10):
            write(agent, "episodic", {"statement": f"note {number} of a day"}, subject="Lia")

    threads = [threading.Thread(target=each) for each in (run, run, write_on)]
    for thread in threads:
        thread.start()
    barrier.wait()
    for thread in threads:
        thread.join()
    sweep(world)
    assert not [text for text in texts(world) if "statement" in text]
    stored.check(world.admin)


@pytest.mark.parametrize("shape", [{"text": "{}"}, {"statement": "{}"}, {"fact": "{}"}])
def test_duplicates_are_found_by_both_texts_until_then(world: World, shape: dict[str, str]) -> None:
    """Under the key too. Proves: D1."""
    setting = '{"duplicate_similarity": 0.8}'
    world.admin.execute("SELECT memwarden.configure_layer('semantic', %s)", (setting,))
    agent = remember(world)

    def answers() -> list[tuple[str, str | None]]:
        again = [
            write(agent, "semantic", {name: text.format(fact)}, subject="Lia")
            for fact in list(FACTS)[:4]
            for name, text in shape.items()
        ]
        again.append(write(agent, "semantic", {"city": "Oslo"}, subject="bo", predicate="lives-in"))
        return [(row["outcome"], row["reason"]) for row in again]

    before = answers()
    assert "COMMITTED" not in {outcome for outcome, _ in before}
    as_before_an_update(world)
    assert answers() == before
    sweep(world)
    assert answers() == before


def test_a_text_becomes_what_its_content_says_and_nothing_else(world: World) -> None:
    """Not even by a superuser. Proves: T1."""
    remember(world)
    set_text = "UPDATE memwarden_data.version SET search_text = %s"
    for statement, argument in (
        (set_text, "Lia owes 5,000"),
        (set_text + ", confidence = 0", "Lia owes"),
        ("UPDATE memwarden_data.version SET sealed = %s", b"x"),
    ):
        with pytest.raises(psycopg.Error, match=r"append"):
            world.admin.execute(statement, (argument,))
