"""A known share of memories is made false; what a sweep says is counted again in Python."""

from __future__ import annotations

import random
from math import sqrt
from uuid import UUID

import pytest

from access import call
from conftest import World
from helpers import write_many
from operations.revalidation.test_judging import Desk
from races import together

SITES = ("good", "lost", "poor")


@pytest.fixture
def planted(world: World) -> tuple[Desk, dict[UUID, str]]:
    """600 memories of three sites in two scopes, and from which site each is.

    One site is dropped, one counts for less; of some that are good, the signature is broken.
    """
    world.ship_layers()
    world.admin.execute(
        "UPDATE memwarden_data.layer SET duplicate_similarity = NULL, rate_limit = NULL,"
        " conflict = 'accumulate'"
    )
    desk = Desk(world)
    for site in SITES:
        desk.source(f"https://{site}.example.org/*")
    chance = random.Random(11)
    items: dict[UUID, str] = {}
    world.scope(f"/org/{desk.org}/user/bo")
    bo = world.connect(world.register(f"/org/{desk.org}/user/bo"))
    for agent, count in ((desk.writer, 450), (bo, 150)):
        chosen = chance.choices(SITES, weights=(8, 1, 1), k=count)
        requests = []
        for n, site in enumerate(chosen):
            words = f"Lamp {n} of room {chance.randrange(10**6)} is green."
            evidence = [{"uri": f"https://{site}.example.org/{n}", "excerpt": words}]
            requests.append({"layer": "semantic", "content": words, "evidence": evidence})
        for answer, site in zip(write_many(agent, requests), chosen, strict=True):
            assert answer["outcome"] == "COMMITTED", answer
            items[answer["item_id"]] = site
    call(world.admin, "drop_source", uri_pattern="https://lost.example.org/*", org=desk.org)
    desk.source("https://poor.example.org/*", authority=0.7)
    broken = chance.sample([item for item, site in items.items() if site == "good"], 30)
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute(
        "UPDATE memwarden_data.provenance SET signature = sha256('x') WHERE item_id = ANY (%s)",
        (broken,),
    )
    world.admin.execute("RESET session_replication_role")
    return desk, items | dict.fromkeys(broken, "broken")


def wilson(found: int, of: int) -> tuple[float, float]:
    """The interval of a share, by the formula."""
    z, share = 1.959963984540054, found / of
    middle = share + z * z / (2 * of)
    width = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return tuple((middle + sign * width) / (1 + z * z / of) for sign in (-1, 1))  # type: ignore[return-value]


def test_what_is_found_is_what_was_planted(planted: tuple[Desk, dict[UUID, str]]) -> None:
    """Each memory of the sample, the figures of the sweep, and the true share in its interval.

    Proves: Q3, Q8
    """
    desk, items = planted
    judged = desk.judged()
    expected = {
        "good": ("VERIFIED", None),
        "lost": ("FALSE", "EVIDENCE_FAILS"),
        "poor": ("FALSE", "EVIDENCE_FAILS"),
        "broken": ("FALSE", "PROVENANCE_BROKEN"),
    }
    assert judged == {item: expected[items[item]] for item in judged}
    false = sum(items[item] != "good" for item in judged)
    [row] = desk.world.rows("SELECT * FROM memwarden.revalidations WHERE layer = 'semantic'")
    # z^2 p (1 - p) / e^2, corrected for 600.
    many = 1.96**2 * 0.05 * 0.95 / 0.02**2
    assert row["population"] == len(items) == 600
    assert row["sampled"] == len(judged) == round(many / (1 + (many - 1) / 600) + 0.5)
    assert (row["found_false"], row["verified"]) == (false, len(judged) - false)
    assert row["rate"] == pytest.approx(false / len(judged))
    assert (row["low"], row["high"]) == pytest.approx(wilson(false, len(judged)), abs=1e-4)
    # Four deviations of a mean of so many: a sample that prefers some memories falls out of it.
    truth = sum(site != "good" for site in items.values()) / len(items)
    assert abs(row["rate"] - truth) < 4 * sqrt(truth * (1 - truth) / len(judged))


def test_runs_at_once_judge_each_memory_once(planted: tuple[Desk, dict[UUID, str]]) -> None:
    """Three runs of the job beside a writer, who waits for none of them.

    Proves: Q8
    """
    desk, items = planted
    workers = [desk.world.log_in("postgres") for _ in range(3)]
    writer = desk.world.log_in(desk.writer_name)
    writer.execute("SET lock_timeout = '5s'")
    words = "A lamp is new."
    uri = "https://good.example.org/new"

    def keep_writing() -> None:
        for n in range(20):
            said = f"{words} {n}"
            evidence = [{"uri": uri, "excerpt": said}]
            request = {"layer": "semantic", "content": said, "evidence": evidence}
            assert write_many(writer, [request])[0]["outcome"] == "COMMITTED"

    def run(place: int) -> None:
        workers[place].execute("CALL memwarden.revalidate()")

    together([keep_writing, *(lambda place=place: run(place) for place in range(3))])
    desk.world.admin.execute("CALL memwarden.revalidate()")
    rows = desk.world.rows(
        "SELECT sweep_id, population, sampled, verified + found_false + uncertain AS judged,"
        " finished_at FROM memwarden_data.revalidation WHERE layer = 'semantic'"
    )
    assert all(row["finished_at"] is not None for row in rows)
    for row in rows:
        drawn = desk.world.value(
            "SELECT count(*) FROM memwarden_data.revalidated"
            " WHERE sweep_id = %s AND verdict IS NOT NULL",
            row["sweep_id"],
        )
        assert row["judged"] == row["sampled"] == drawn
    false = {
        row["item_id"]
        for row in desk.world.rows("SELECT DISTINCT item_id FROM memwarden.leaked_memories")
    }
    assert {items[item] for item in false} == {"lost", "poor", "broken"}
