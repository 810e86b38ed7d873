"""What the words of a grown scope weigh is counted by a job; what comes among the best is found."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import Filled, filled
from helpers import recall, write_many
from server_checkout import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import World

Agent = Connection[DictRow]

HOME = "/org/acme/user/ana"
MANY = 1500
# A few words are nearly everywhere, most in one of a hundred; two stand together always.
# A third is asked for with accents and without: a question of eight is one of more than eight.
WORDS = [f"wörd{n}" if n % 3 == 0 else f"word{n}" for n in range(120)]
CHANCES = [1 / (n + 1) for n in range(120)]
COUNTS = "SELECT word, holders FROM memwarden_data.shelf_word ORDER BY word"
COUNTED = "SELECT counted_at FROM memwarden_data.shelf WHERE shelf = 1"
COUNT = """
SELECT memwarden_internal.count_shelf(s.org_id, 1) AS counted
  FROM memwarden_data.shelf AS s WHERE s.shelf = 1"""
EXACTLY: dict[str, Any] = {"vector": 0.5, "keyword": 0.5, "importance": 1e-9}


def vector(chance: random.Random, centre: int) -> list[float]:
    """A vector near one of fifty."""
    towards = random.Random(centre)
    return [round(towards.gauss(0, 1) + chance.gauss(0, 1), 3) for _ in range(384)]


def text(chance: random.Random, count: int) -> str:
    """So many words, and with the fifth its companion."""
    words = chance.choices(WORDS, CHANCES, k=count)
    return " ".join([*words, *(["companion"] if "word5" in words else [])])


def remember(agent: Agent, chance: random.Random, count: int, **more: Any) -> None:
    """Write so many episodes."""
    for start in range(0, count, 500):
        requests = [
            {
                "layer": "episodic",
                "content": f"{text(chance, 12)} at {start + n}",
                "embedding": vector(chance, chance.randrange(50)),
                **more,
            }
            for n in range(min(500, count - start))
        ]
        assert {row["outcome"] for row in write_many(agent, requests)} == {"COMMITTED"}


def job_of(world: World) -> Agent:
    """A connection as the owner, whom jobs act as."""
    connection = world.connect()
    connection.execute("SET ROLE memwarden_owner")
    return connection


def arrange(world: World) -> None:
    """Run the job that gives the scope a shelf, and counts."""
    world.admin.execute("UPDATE memwarden_data.layer SET own_shelf_from = 1000")
    world.connect("memwarden_jobs").execute("CALL memwarden.arrange_shelves()")


@pytest.fixture(scope="module")
def full(server: Any) -> Iterator[Filled]:
    """An agent with many episodes on a shelf of their own."""
    with filled(server) as made:
        agent = made.world.agent(HOME, role="curator", clearance="restricted")
        chance = random.Random(1)
        remember(agent, chance, MANY)
        arrange(made.world)
        made.leave(agent)
        yield made


@pytest.fixture
def world(full: Filled) -> Iterator[World]:
    """A database in which the agent has memories."""
    with full.copied() as made:
        yield made


@pytest.fixture
def agent(full: Filled, world: World) -> Agent:
    """The agent that has them, and reads every label."""
    return world.connect(full.role)


def best(agent: Agent, query: str, near: list[float], **more: Any) -> list[Any]:
    """Items and scores of an answer."""
    rows = recall(agent, query=query, embedding=near, **more)
    return [(row["item_id"], round(row["score"], 6)) for row in rows]


def test_what_is_found_is_what_a_look_at_all_finds(world: World, agent: Agent) -> None:
    """Of sixty questions of rare and common words, some of which always stand together.

    Proves: L6 (a scope that has grown finds what is best by words and vector together)
    """
    chance = random.Random(7)
    found, equal = 0, 0
    for n in range(60):
        query = "word5 companion word1" if n % 10 == 0 else text(chance, chance.randint(1, 8))
        near = vector(chance, chance.randrange(50))
        some = best(agent, query, near, weights={"vector": 0.5, "keyword": 0.5})
        every = best(agent, query, near, weights=EXACTLY)
        found += len({item for item, _ in some} & {item for item, _ in every})
        equal += some == every
    assert found >= 594
    # What weighs little more or less is nearly always the same, too.
    assert equal >= 48
    # By words alone there is no nearest to begin with.
    for n in range(20):
        query = text(chance, 1 + n % 4)
        words = [
            [row["score"] for row in recall(agent, query=query, weights=weights)]
            for weights in ({"keyword": 1}, {"keyword": 1, "importance": 1e-9})
        ]
        assert words[0] == pytest.approx(words[1], abs=1e-6)
    assert world.rows(COUNTS)


def test_groups_of_words_find_as_many_as_are_wanted(world: World) -> None:
    """Any group that weighs enough; none holds another; all words where that is too many."""
    chance = random.Random(3)
    for _ in range(60):
        words = {
            f"word{n}": (chance.randint(1, 900), chance.random() * 5)
            for n in range(chance.randint(1, 6))
        }
        wanted = chance.choice((0, 10, 100, 1000))
        (row,) = world.rows(
            "SELECT words::text, is_part FROM memwarden_internal.most_of("
            "ARRAY(SELECT ROW (l, 1, l::tsquery, h, w, true)"
            "::memwarden_internal.asked_word FROM unnest(%s::text[], %s::float8[], %s::float8[])"
            " AS u (l, h, w)), 1000, %s)",
            *(
                list(words),
                [holders for holders, _ in words.values()],
                [weight for _, weight in words.values()],
                wanted,
            ),
        )
        groups = [
            frozenset(word.strip("' ") for word in group.strip("() ").split("&"))
            for group in row["words"].split("|")
        ]
        assert not any(a < b for a, b in itertools.permutations(groups, 2))
        expected = 0.0
        lightest, missed = float("inf"), 0.0
        for count in range(1, len(words) + 1):
            for some in itertools.combinations(words, count):
                weight = sum(words[word][1] for word in some)
                if any(group <= set(some) for group in groups):
                    lightest = min(lightest, weight)
                    share = 1000.0
                    for word, (holders, _) in words.items():
                        share *= holders / 1000 if word in some else 1 - holders / 1000
                    expected += share
                else:
                    missed = max(missed, weight)
        assert row["is_part"] == (expected > wanted)
        assert not row["is_part"] or groups == [frozenset(words)]
        assert lightest >= missed


def test_counts_are_for_whoever_reads_all(world: World, agent: Agent) -> None:
    """Who reads a part is told nothing of the rest: a sample of that says what words weigh.

    Proves: A3 (what words weigh in a scope that has grown)
    """
    low = world.agent(HOME, clearance="internal")
    remember(agent, random.Random(4), 60, classification="restricted")
    world.admin.execute("UPDATE memwarden_data.shelf SET counted_at = NULL")
    arrange(world)
    chance = random.Random(5)
    near = vector(chance, 3)
    query = "word1 word4 word40"
    before = best(agent, query, near), best(low, query, near)
    world.admin.execute("UPDATE memwarden_data.shelf_word SET holders = 1 + abs(word % 1500)")
    assert best(agent, query, near) != before[0]
    assert best(low, query, near) == before[1]


def test_words_are_counted_anew_when_much_has_changed(world: World, agent: Agent) -> None:
    """A fifth more after five minutes, a fiftieth after an hour; else the job leaves them."""
    age = "UPDATE memwarden_data.shelf SET counted_at = now() - %s::interval RETURNING counted_at"
    old = world.value(age, "10 minutes")
    remember(agent, random.Random(6), 40)
    arrange(world)
    assert world.value(COUNTED) == old
    world.value(age, "2 hours")
    arrange(world)
    second = world.value(COUNTED)
    assert second > old
    remember(agent, random.Random(8), 350)
    arrange(world)
    assert world.value(COUNTED) == second
    old = world.value(age, "10 minutes")
    arrange(world)
    assert world.value(COUNTED) > old
    real = world.rows(
        "SELECT hashtextextended(l.lexeme, 0) AS word, count(*) AS holders"
        "  FROM memwarden_data.item AS i, unnest(i.search_vector) AS l WHERE i.layer = 'episodic'"
        " GROUP BY 1 HAVING count(*) >= 50 ORDER BY 1"
    )
    assert world.rows(COUNTS) == real


def test_two_jobs_count_once(world: World) -> None:
    """The second leaves it to the first, and a job that is killed leaves what was there."""
    before = world.rows(COUNTS)
    one, other = job_of(world), job_of(world)
    with one.transaction(force_rollback=True):
        assert one.execute(COUNT).fetchall() == [{"counted": True}]
        assert other.execute(COUNT).fetchall() == [{"counted": False}]
    assert world.rows(COUNTS) == before


def test_another_language_is_not_weighed_by_old_counts(world: World, agent: Agent) -> None:
    """Until the job has counted again a sample says what words weigh."""
    chance = random.Random(9)
    near = vector(chance, 3)
    world.admin.execute(
        "SELECT memwarden.configure_layer('episodic', %s)",
        (Jsonb({"text_search_config": "simple"}),),
    )
    before = best(agent, "word1 word4", near)
    world.admin.execute("UPDATE memwarden_data.shelf_word SET holders = 1")
    assert best(agent, "word1 word4", near) == before
    arrange(world)
    assert {row["holders"] for row in world.rows(COUNTS)} != {1}


def test_words_of_a_shelf_are_made_anew_after_an_update(world: World, agent: Agent) -> None:
    """And counted when all are, by their parts too; meanwhile old ones are found as they were.

    Proves: L6
    """
    companions = {"query": "companion", "weights": {"keyword": 1}, "k": 20}

    def found() -> set[str]:
        return {row["text"].split(" at ")[0].split()[-1] for row in recall(agent, **companions)}

    admin = world.admin
    admin.execute(
        "UPDATE memwarden_data.item AS i SET search_vector = to_tsvector('english', v.search_text)"
        "  FROM memwarden_data.version AS v WHERE v.version_id = i.version_id"
    )
    old = "UPDATE memwarden_data.embedding AS e SET words = i.search_vector"
    admin.execute(f"{old} FROM memwarden_data.item AS i WHERE i.item_id = e.item_id AND shelf = 1")
    admin.execute((REPOSITORY / "migrations/0049_parts_of_words.sql").read_text())
    admin.execute("SELECT memwarden_internal.reindex_next(100)")
    arrange(world)
    assert (world.rows(COUNTS), world.value(COUNTED)) == ([], None)
    assert found() == {"companion"}
    world.connect("memwarden_jobs").execute("CALL memwarden.reindex_words()")
    arrange(world)
    assert found() == {"companion"}
    shelved = "memwarden_data.embedding AS e JOIN memwarden_data.item AS i USING (org_id, item_id)"
    assert world.value(
        f"SELECT count(*) FROM {shelved} WHERE shelf = 1 AND words = search_vector"
    ) == world.value("SELECT count(*) FROM memwarden_data.embedding WHERE shelf = 1")
    part = "SELECT holders FROM memwarden_data.shelf_word WHERE word = hashtextextended('word', 0)"
    assert world.value(part) == MANY
