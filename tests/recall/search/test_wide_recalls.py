"""Many small scopes asked at once answer by an index over copies, and nothing is lost by it."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import Filled, filled
from helpers import recall, write, write_many
from races import PATIENCE, wait_until_blocked
from recall.search.test_grown_scopes import WORDS, age, memories, vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import World

Agent = Connection[DictRow]

ORG = "/org/acme"
SCOPES = [f"{ORG}/user/u{n}" for n in range(20)]
FEW = 200
"""From so many memories on a scope of these tests has a shelf; twice as many are an index's."""
WIDE = "SELECT * FROM memwarden_data.wide_shelf"
ASKED: list[dict[str, Any]] = [
    {},
    {"k": 1},
    {"k": 50},
    {"k": 100},
    {"layers": ["episodic"]},
    {"layers": ["semantic"]},
    {"scope": SCOPES[0]},
    {"scopes": SCOPES[:2]},
    {"scopes": SCOPES[3:15]},
    {"subject": "Ana"},
    {"filter": {"even": True}},
    {"filter": {"n": 7}},
    {"min_confidence": 0.9},
    {"fusion": "rrf"},
    {"weights": {"vector": 1}},
    {"weights": {"keyword": 1}},
    {"weights": {"vector": 1, "importance": 1}},
    {"threshold": 0.4},
]


def questions(seed: int = 5) -> list[dict[str, Any]]:
    """Of every kind, with a model's vectors and with words alone."""
    chance = random.Random(seed)
    return [
        {"query": " ".join(chance.sample(WORDS, 3)), **how, **arguments}
        for arguments in ASKED
        for how in ({"embedding": vector(chance, chance.randrange(10))}, {})
    ]


def answers(agent: Agent, of: int = 3) -> list[list[tuple[Any, ...]]]:
    """Items, order and scores, of every so many a question."""
    return [
        [
            (row["item_id"], round(row["score"], 5))
            for row in recall(agent, **{"threshold": 0, **asked})
        ]
        for asked in questions()[::of]
    ]


def arrange(world: World) -> None:
    """Run the job as if its last run were a while ago."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (FEW,))
    world.admin.execute("UPDATE memwarden_data.wide_shelf SET refreshed_at = '-infinity'")
    world.connect("memwarden_jobs").execute("CALL memwarden.arrange_shelves()")


def forget(world: World) -> None:
    """Let every recall compare one by one."""
    world.admin.execute("DELETE FROM memwarden_data.wide_shelf")
    world.admin.execute("UPDATE memwarden_data.shelf SET vacated_at = now() WHERE shelf < 0")


@pytest.fixture(scope="module")
def full(server: Any) -> Iterator[Filled]:
    """Twenty scopes of some two dozen memories each; an agent reads them and writes in them."""
    with filled(server) as made:
        agent = made.world.agent(ORG, role="curator", clearance="restricted")
        for path in SCOPES:
            made.world.scope(path)
        granted = (agent.info.user, ORG)
        made.world.admin.execute("SELECT memwarden.grant_scope(%s, %s, true, true)", granted)
        chance = random.Random(1)
        requests = [
            {**request, "scope": chance.choice(SCOPES), "origin": None}
            for layer, count in (("episodic", 400), ("semantic", 80))
            for request in memories(chance, count, layer)
        ]
        rows = write_many(agent, requests)
        assert {row["outcome"] for row in rows} == {"COMMITTED"}
        made.leave(agent)
        yield made


@pytest.fixture
def world(full: Filled) -> Iterator[World]:
    """A database with these scopes and memories."""
    with full.copied() as made:
        yield made


@pytest.fixture
def reader(full: Filled, world: World) -> Agent:
    """The agent that reads them all."""
    return world.connect(full.role)


def test_answers_are_the_same_with_the_index_and_without(world: World, reader: Agent) -> None:
    """Of every kind of recall: items, order and scores.

    Proves: L6 (who asks many scopes at once)
    """
    before = answers(reader, of=1)
    arrange(world)
    assert len(world.rows(WIDE)) == 1
    assert answers(reader, of=1) == before
    world.admin.execute("ANALYZE")
    reader.prepare_threshold = 0
    assert answers(reader, of=1) == before


def test_what_is_fresh_is_found_among_what_counts_half(world: World, reader: Agent) -> None:
    """Where the soft lifetime of nearly all is over, the best of the rest are found.

    Proves: L6
    """
    age(world, 250)
    before = answers(reader, of=1)
    arrange(world)
    assert answers(reader, of=1) == before


def test_scopes_whose_words_are_of_before_are_read_beside_it(world: World, reader: Agent) -> None:
    """Their copies lack words that the memories have by now.

    Proves: L6
    """
    before = answers(reader)
    arrange(world)
    paths = f"'{ORG}/user/u[0-4]'"
    some = f"(SELECT scope_id FROM memwarden_data.scope WHERE path SIMILAR TO {paths})"
    for change in (
        f"UPDATE memwarden_data.item SET search_vector = '' WHERE scope_id IN {some}",
        f"UPDATE memwarden_data.embedding SET words = '' WHERE shelf <> 0 AND scope_id IN {some}",
    ):
        world.admin.execute(change)
    assert answers(reader) != before
    world.admin.execute(
        "UPDATE memwarden_data.scope SET reindexed_to = '00000000-0000-0000-0000-000000000000'"
        f" WHERE scope_id IN {some}"
    )
    assert answers(reader) == before


def test_the_index_answers(world: World, reader: Agent) -> None:
    """Of the vectors, of the words, and the one that memories are drawn by."""
    arrange(world)
    state = world.value("SELECT detail FROM memwarden.status() WHERE component = 'shelves'")
    assert state == f"of their own: {ORG}/* * (embedding_copy_1)"
    recall(reader, query="word1 word2", embedding=vector(random.Random(2), 3))
    reader.close()
    used: set[str] = set()
    # What a session has done is counted some moment after it ends.
    for _ in range(100):
        rows = world.rows(
            "SELECT substring(indexrelname FROM '_(nearest_2|words|lot)$') AS name"
            "  FROM pg_stat_user_indexes WHERE relname LIKE 'embedding_copy_%%' AND idx_scan > 0"
        )
        used = {row["name"] for row in rows}
        if {"nearest_2", "words", "lot"} <= used:
            break
        time.sleep(0.1)
    assert {"nearest_2", "words", "lot"} <= used


def change(agent: Agent, chance: random.Random) -> None:
    """Write, say otherwise, take back, in old scopes."""
    rows = write_many(
        agent, [{**new, "scope": chance.choice(SCOPES)} for new in memories(chance, 30)]
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    found = recall(agent, query="word3 word4 word5", k=40)
    for row in found[:10]:
        agent.execute("SELECT memwarden.retract(%s, 'no longer')", (row["item_id"],))
    for n in range(5):
        key = {"subject": "Bob", "predicate": f"has {n}", "scope": SCOPES[n]}
        for value in ("word1 word2 word3", "word4 word5 word6"):
            row = write(agent, "semantic", value, embedding=vector(chance, n), **key)
            assert row["outcome"] in {"COMMITTED", "MERGED"}


def test_what_has_changed_since_is_found_and_what_is_gone_is_not(
    world: World, reader: Agent
) -> None:
    """Before the next run of the job, after it, and as without the index.

    Proves: L6 (as of now, whatever the job has seen)
    """
    chance = random.Random(8)
    arrange(world)
    change(reader, chance)
    stale = answers(reader)
    seen = world.value("SELECT seen::text FROM memwarden_data.wide_shelf")
    arrange(world)
    assert world.value("SELECT seen::text FROM memwarden_data.wide_shelf") != seen
    refreshed = answers(reader)
    assert stale == refreshed
    change(reader, chance)
    later = answers(reader)
    assert later != refreshed
    forget(world)
    assert answers(reader) == later


COPIES = "SELECT DISTINCT item_id FROM memwarden_data.embedding WHERE shelf < 0"
SEEN = "SELECT seen::text FROM memwarden_data.wide_shelf"


def copied(world: World) -> set[Any]:
    """The items that have copies."""
    return {row["item_id"] for row in world.rows(COPIES)}


def hold_copies(world: World, items: list[Any]) -> Connection[DictRow]:
    """Lock the copies of some items, as the job does while it takes them away."""
    holder = world.connect()
    holder.autocommit = False
    holder.execute(
        "SELECT FROM memwarden_data.embedding WHERE shelf < 0 AND item_id = ANY (%s) FOR UPDATE",
        (items,),
    )
    return holder


def test_what_ends_or_is_replaced_loses_its_copy_at_once(world: World, reader: Agent) -> None:
    """With the retraction, the new value or the rollback, and not by the next run of the job.

    Proves: L6 (copies hold nothing that has ended)
    """
    key = {"subject": "Bob", "predicate": "wears", "scope": SCOPES[2]}
    hat = write(reader, "semantic", {"text": "word1 word2 hat"}, **key)
    cap = write(reader, "semantic", {"text": "word3 word4 cap"}, scope=SCOPES[3], subject="cap")
    arrange(world)
    gone = [row["item_id"] for row in recall(reader, query="word5 word6", k=20)]
    assert {*gone, hat["item_id"], cap["item_id"]} <= copied(world)
    with reader.transaction(force_rollback=True):
        reader.execute("SELECT memwarden.retract(%s, 'no longer')", (gone[0],))
    assert gone[0] in copied(world)
    for item in gone:
        reader.execute("SELECT memwarden.retract(%s, 'no longer')", (item,))
    assert not {*gone} & copied(world)
    new = write(reader, "semantic", {"text": "word1 word2 scarf"}, corrects=hat["item_id"], **key)
    assert new["outcome"] == "COMMITTED", new
    assert hat["item_id"] not in copied(world)
    reader.execute("SELECT memwarden.expire(%s, 'over')", (cap["item_id"],))
    assert cap["item_id"] not in copied(world)


def test_retracted_copies_take_no_place_from_others(world: World, reader: Agent) -> None:
    """Though they were nearer than all that is left, and also where the job still holds them.

    Proves: L6 (as of now, whatever the job has seen)
    """
    chance = random.Random(11)
    asked = {"query": "word1 word2", "embedding": vector(chance, 3), "k": 10, "threshold": 0}
    arrange(world)
    for held in (False, True):
        nearest = [row["item_id"] for row in recall(reader, **{**asked, "k": 60})]
        holder = hold_copies(world, nearest if held else [])
        for item in nearest:
            reader.execute("SELECT memwarden.retract(%s, 'no longer')", (item,))
        assert bool({*nearest} & copied(world)) is held
        found = recall(reader, **asked)
        assert len(found) == 10
        assert not {*nearest} & {row["item_id"] for row in found}
        holder.rollback()
    now = answers(reader)
    forget(world)
    assert answers(reader) == now


def test_neither_the_job_nor_a_writer_waits_for_the_other(world: World, reader: Agent) -> None:
    """What one holds the other leaves; the next run takes it away, and until then nobody finds it.

    Proves: L6 (as of now, whatever the job has seen)
    """
    arrange(world)
    found = [row["item_id"] for row in recall(reader, query="word1 word2", k=4)]
    holder = hold_copies(world, found[:2])
    reader.execute("SET statement_timeout = '5s'")
    for item in found[:2]:
        reader.execute("SELECT memwarden.retract(%s, 'no longer')", (item,))
    writer = world.connect(reader.info.user, application_name="writer")
    writer.autocommit = False
    writer.execute("SELECT memwarden.retract(%s, 'no longer')", (found[2],))
    seen, now = world.value(SEEN), answers(reader)
    arrange(world)
    # What it could not bring up to date is compared as before.
    assert world.value(SEEN) == seen
    assert {*found} <= copied(world)
    assert answers(reader) == now
    holder.rollback()
    writer.rollback()
    arrange(world)
    assert world.value(SEEN) != seen
    assert {*found} & copied(world) == {*found[2:]}
    assert answers(reader) == now


@pytest.mark.usefixtures("reader")
def test_who_sees_some_of_the_scopes_is_answered_from_those(world: World) -> None:
    """And other organisations not at all, whatever they hold.

    Proves: A3 (who asks many scopes at once)
    """
    some = world.agent(SCOPES[0], clearance="restricted")
    for path in SCOPES[:15]:
        world.admin.execute("SELECT memwarden.grant_scope(%s, %s)", (some.info.user, path))
    other = world.agent("/org/other/user/eve", clearance="restricted")
    write(other, "episodic", "word1 word2 word3 of another organisation")
    before = answers(some)
    arrange(world)
    assert answers(some) == before
    assert len(recall(other, query="word1 word2", k=100)) == 1
    allowed = world.rows(
        "SELECT i.item_id FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s"
        " USING (scope_id) WHERE s.path = ANY (%s)",
        SCOPES[:15],
    )
    given = {item for answer in answers(some) for item, _ in answer}
    assert given <= {row["item_id"] for row in allowed}


def test_labels_and_time_hide_as_without_the_index(world: World, reader: Agent) -> None:
    """What is above a clearance, and what has expired since it was copied.

    Proves: A3 (who asks many scopes at once)
    """
    chance = random.Random(3)
    secret = {"classification": "restricted", "scope": SCOPES[1]}
    for _ in range(20):
        write(reader, "episodic", {"text": " ".join(chance.sample(WORDS, 5))}, **secret)
    low = world.agent(ORG, clearance="internal")
    world.admin.execute("SELECT memwarden.grant_scope(%s, %s, false, true)", (low.info.user, ORG))
    before = answers(low)
    arrange(world)
    assert answers(low) == before
    world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() WHERE item_id IN"
        " (SELECT item_id FROM memwarden_data.item ORDER BY fingerprint LIMIT 60)"
    )
    expired = answers(low), answers(reader)
    forget(world)
    assert (answers(low), answers(reader)) == expired


def test_scopes_come_and_go(world: World, reader: Agent) -> None:
    """A new one, one that grows, one with a language of its own: as without the index."""
    arrange(world)
    world.scope(f"{ORG}/user/new")
    chance = random.Random(4)
    write_many(reader, [{**new, "scope": f"{ORG}/user/new"} for new in memories(chance, 20)])
    write_many(
        reader,
        [
            {
                "layer": "episodic",
                "content": f"word{n % 60} in a place that grows {n}",
                "scope": SCOPES[0],
            }
            for n in range(FEW)
        ],
    )
    world.admin.execute("SELECT memwarden.set_scope_language(%s, 'german')", (SCOPES[1],))
    world.admin.execute("CALL memwarden.reindex_words()")
    for _ in range(2):
        found = answers(reader)
        arrange(world)
        assert answers(reader) == found
    covered = world.rows(
        "SELECT s.path FROM memwarden_data.wide_shelf AS w, unnest(w.scope_ids) AS u (scope_id)"
        "  JOIN memwarden_data.scope AS s USING (scope_id)"
    )
    assert {row["path"] for row in covered} == {*SCOPES[2:], f"{ORG}/user/new"}
    forget(world)
    assert answers(reader) == found


@pytest.mark.usefixtures("reader")
def test_what_is_erased_is_gone_from_the_copies(world: World) -> None:
    """And an erasure during the copying leaves none either: it waits, or is waited for.

    Proves: R1 (vectors that are kept twice)
    """
    arrange(world)
    subject = "Ana"
    erased = {
        row["item_id"]
        for row in world.rows("SELECT item_id FROM memwarden_data.item WHERE subject = %s", subject)
    }
    copies = "SELECT item_id FROM memwarden_data.embedding WHERE shelf < 0"
    assert erased <= {row["item_id"] for row in world.rows(copies)}
    mover = world.connect()
    mover.autocommit = False
    mover.execute("UPDATE memwarden_data.wide_shelf SET refreshed_at = '-infinity'")
    mover.execute("SET LOCAL ROLE memwarden_owner")
    mover.execute("SELECT memwarden_internal.tend_wide_shelves()")
    with ThreadPoolExecutor() as pool:
        eraser = world.connect()
        erasing = pool.submit(
            eraser.execute,
            "SELECT * FROM memwarden.erase_subject(%s, 'asked for', org => 'acme')",
            (subject,),
        )
        wait_until_blocked(world.admin, eraser)
        mover.commit()
        erasing.result(timeout=PATIENCE)
    assert not erased & {row["item_id"] for row in world.rows(copies)}


def test_no_login_reads_a_copy(world: World, reader: Agent) -> None:
    """Not even through the table that they are partitions of: there each vector is once."""
    arrange(world)
    copy = world.value("SELECT 'embedding_copy_' || -shelf FROM memwarden_data.wide_shelf")
    for name in (copy, "wide_shelf"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(f"SELECT FROM memwarden_data.{name}")
    # Even where an administrator has granted all that there is.
    world.grant_tables(reader.info.user)
    for name in (copy, "wide_shelf"):
        assert reader.execute(f"SELECT FROM memwarden_data.{name}").fetchall() == []
    assert reader.execute("SELECT FROM memwarden_data.embedding WHERE shelf < 0").fetchall() == []
    assert len(reader.execute("SELECT FROM memwarden_data.embedding").fetchall()) > 0


def test_a_killed_run_leaves_nothing_and_the_next_makes_it(world: World, reader: Agent) -> None:
    """In the middle of the copying."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (FEW,))
    mover = world.connect()
    mover.autocommit = False
    mover.execute("SET ROLE memwarden_owner")
    mover.execute("SELECT memwarden_internal.tend_wide_shelves()")
    world.admin.execute("SELECT pg_terminate_backend(%s)", (mover.info.backend_pid,))
    assert world.rows(WIDE) == []
    before = answers(reader)
    arrange(world)
    assert len(world.rows(WIDE)) == 1
    assert answers(reader) == before


def test_copies_of_another_system_are_not_trusted(world: World, reader: Agent) -> None:
    """After a restore the log counts transactions anew: the job makes them anew."""
    arrange(world)
    world.admin.execute("UPDATE memwarden_data.wide_shelf SET seen_by = seen_by + 1")
    world.admin.execute("DELETE FROM memwarden_data.embedding WHERE shelf < 0")
    old = world.value("SELECT shelf FROM memwarden_data.wide_shelf")
    found = answers(reader)
    arrange(world)
    assert world.value("SELECT shelf FROM memwarden_data.wide_shelf") < old
    assert answers(reader) == found


@pytest.mark.usefixtures("reader")
def test_they_are_given_up_where_little_is_left(world: World) -> None:
    """And dropped an hour later, when nobody can be reading them."""
    arrange(world)
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = 5000")
    world.connect("memwarden_jobs").execute("CALL memwarden.arrange_shelves()")
    assert world.rows(WIDE) == []
    world.admin.execute(
        "UPDATE memwarden_data.shelf SET vacated_at = now() - interval '2 hours' WHERE shelf < 0"
    )
    world.connect("memwarden_jobs").execute("CALL memwarden.arrange_shelves()")
    left = "SELECT relname FROM pg_class WHERE relname LIKE 'embedding_copy_%%'"
    assert world.rows(left) == []


def test_heads_made_anew_have_new_copies(world: World, reader: Agent) -> None:
    """What a rebuild changes no log tells."""
    arrange(world)
    found = answers(reader)
    world.admin.execute("SELECT * FROM memwarden.rebuild_heads()").fetchall()
    assert world.rows(WIDE) == []
    assert answers(reader) == found


def test_writers_go_on_while_copies_are_made(world: World, reader: Agent) -> None:
    """Nobody waits, and nothing that was written meanwhile is missing."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = %s", (FEW,))
    mover = world.connect()
    mover.autocommit = False
    mover.execute("SET ROLE memwarden_owner")
    mover.execute("SELECT memwarden_internal.tend_wide_shelves()")
    reader.execute("SET statement_timeout = '5s'")
    change(reader, random.Random(9))
    mover.commit()
    found = answers(reader)
    forget(world)
    assert answers(reader) == found


def test_what_is_above_all_organisations_is_searched_where_it_is_asked_for(
    world: World, reader: Agent
) -> None:
    """It has grown as well; who names scopes is not answered from it."""
    above = world.agent("/global", clearance="restricted")
    rows = write_many(
        above,
        [{"layer": "episodic", "content": f"word1 for everybody {n}"} for n in range(FEW)],
    )
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    before = answers(reader)
    arrange(world)
    assert world.value("SELECT count(*) FROM memwarden_data.shelf WHERE shelf > 0") == 1
    assert answers(reader) == before
    for scopes in (SCOPES, SCOPES[:1]):
        found = recall(reader, query="word1 for everybody", scopes=scopes, k=50)
        assert {row["scope"] for row in found} <= set(scopes)
