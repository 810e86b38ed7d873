"""After an update that believes no old support, a job weighs the evidence of memories again."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

import stored
from access import call, join
from helpers import write
from recall.surfaces.test_standings import cite, recorder
from write.judgement.test_lowering import HOME, other

if TYPE_CHECKING:
    from conftest import World

MIGRATION = Path(__file__).parents[3] / "migrations/0029_standing.sql"
NEW_KEYS = [
    "held",
    "recorder",
    "independent",
    "declared",
    "about_self",
    "words_of",
    "standing",
    "speaker",
]
THINGS = ("oboe", "flute", "organ", "viola", "harp", "drum")


def words(thing: str) -> str:
    """What a memory and its evidence say."""
    return f"The {thing} weighs nine kilos."


def remember(world: World) -> dict[str, Any]:
    """Memories of each standing, by name."""
    agent = world.agent(HOME)
    manual = recorder(world, "manual", "document", 0.95)
    wire = recorder(world, "wire", "document", 0.7)
    made: dict[str, Any] = {}

    def said(name: str, text: str, *evidence: dict[str, Any]) -> None:
        done = write(agent, "semantic", {"text": text}, evidence=list(evidence))
        assert done["outcome"] == "COMMITTED", done["reason"]
        made[name] = done["item_id"]

    for place, thing in enumerate(THINGS):
        said(thing, words(thing), cite(wire, f"wire:{place}", words(thing)))
    said("sofa", words("sofa"), cite(manual, "manual:1", words("sofa")))
    said("desk", words("desk"), cite(manual, "manual:2", words("chair")))
    said("lamp", words("lamp"), {"type": "document", "uri": "wire:9", "excerpt": words("lamp")})
    said("rug", words("rug"))
    reader = other(world)
    done = write(reader, "episodic", words("harp"), evidence=[item(made["harp"])])
    assert done["outcome"] == "COMMITTED", done["reason"]
    made["harp again"] = done["item_id"]
    return made


def item(item_id: Any) -> dict[str, Any]:
    """A reference to a memory."""
    return {"type": "memory_item", "uri": f"memwarden:item/{item_id}"}


def as_an_update_leaves_it(world: World) -> None:
    """Signed records that do not say who recorded the words; heads as the migration sets them."""
    world.admin.execute("SET session_replication_role = replica")
    for row in world.rows(
        "SELECT * FROM memwarden_data.whole_provenance WHERE event <> 'STANDING'"
    ):
        record = row["record"]
        record["evidence"] = [
            {key: value for key, value in ground.items() if key not in NEW_KEYS}
            for ground in record["evidence"]
        ]
        for verdict in record.get("verified_by", []):
            verdict.pop("looked", None)
        world.admin.execute(
            "SELECT memwarden_internal.record_provenance(%s, %s, %s, %s, %s, %s, %s, %s)",
            (
                *(row[key] for key in ("org_id", "scope_id", "item_id", "version_id")),
                record["supersedes"],
                row["event"],
                Jsonb(record),
                row["recorded_at"],
            ),
        )
        world.admin.execute(
            "DELETE FROM memwarden_data.provenance WHERE provenance_id = %s",
            (row["provenance_id"],),
        )
    world.admin.execute("UPDATE memwarden_data.item SET standing = 'inferred'")
    lowered = re.search(r"UPDATE memwarden_data\.item .*?;", MIGRATION.read_text(), re.DOTALL)
    assert lowered is not None
    world.admin.execute(lowered[0].encode())
    world.admin.execute(
        "UPDATE memwarden_data.sweep SET finished_at = NULL WHERE sweep = 'standings'"
    )
    world.admin.execute("SET session_replication_role = DEFAULT")


def sweep(world: World, batch: int = 1000, batches: int = 100) -> None:
    """One run of the job."""
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute(f"CALL memwarden.sweep({batch}, {batches})")


def standings(world: World, made: dict[str, Any]) -> dict[str, str]:
    """The standing of each memory in its head."""
    rows = world.rows("SELECT item_id, standing FROM memwarden_data.item")
    heads = {row["item_id"]: row["standing"] for row in rows}
    return {name: heads[item_id] for name, item_id in made.items()}


def waiting(world: World) -> str | None:
    """What the status says of memories that wait."""
    rows = world.rows("SELECT state, detail FROM memwarden.status() WHERE component = 'standings'")
    assert all(row["state"] == "outdated" for row in rows)
    return rows[0]["detail"] if rows else None


def records(world: World) -> int:
    """How many records say what was learnt later of a standing."""
    count = world.value("SELECT count(*) FROM memwarden_data.provenance WHERE event = 'STANDING'")
    assert isinstance(count, int)
    return count


def test_after_an_update_a_job_weighs_every_memory_once(world: World) -> None:
    """What the store holds counts again; what only the writer has seen stays reported.

    Proves: N7
    """
    made = remember(world)
    before = standings(world, made)
    assert before == dict.fromkeys(THINGS, "supported") | {
        "sofa": "verified",
        "desk": "reported",
        "lamp": "reported",
        "rug": "inferred",
        "harp again": "supported",
    }
    as_an_update_leaves_it(world)
    lowered = standings(world, made)
    assert lowered == dict.fromkeys(made, "reported") | {"rug": "inferred"}
    assert str(waiting(world)).startswith("10 memories that cite something wait")
    with world.connect("memwarden_jobs", autocommit=False) as killed:
        killed.execute("SELECT memwarden_internal.sweep_next('standings', 100)")
        killed.rollback()
    assert standings(world, made) == lowered
    sweep(world, 4, 1)
    assert str(waiting(world)).startswith("6 memories")
    sweep(world, 4, 100)
    assert waiting(world) is None
    assert standings(world, made) == before
    assert records(world) == 8
    assert call(world.admin, "verify_provenance") == []
    stored.check(world.admin)
    call(world.admin, "rebuild_heads", replace=True)
    assert standings(world, made) == before
    sweep(world)
    assert records(world) == 8
    (row,) = world.rows("SELECT looked, faults FROM memwarden.sweeps WHERE sweep = 'standings'")
    assert row == {"looked": 11, "faults": 8}


def test_two_jobs_at_once_weigh_nothing_twice(world: World) -> None:
    """One of them waits for nothing and does something else.

    Proves: N7
    """
    made = remember(world)
    before = standings(world, made)
    as_an_update_leaves_it(world)
    barrier = threading.Barrier(2)

    def run() -> None:
        barrier.wait()
        sweep(world, 1, 100)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sweep(world)
    assert (standings(world, made), records(world)) == (before, 8)


def test_what_was_said_against_a_memory_meanwhile_counts_as_for_any(world: World) -> None:
    """One refutation lowers what is reported until it is weighed; then it is a doubt.

    Proves: N7
    """
    made = remember(world)
    as_an_update_leaves_it(world)
    call(other(world), "annotate", item_id=made["oboe"], note="No.", verdict="refuted")
    assert standings(world, made)["oboe"] == "disputed"
    sweep(world)
    assert standings(world, made)["oboe"] == "supported"
    record = world.value(
        "SELECT record FROM memwarden_data.provenance WHERE item_id = %s"
        " ORDER BY provenance_id DESC LIMIT 1",
        made["oboe"],
    )
    assert (record["doubted_by"], "lowered" in record) == (1, False)


def test_what_a_verifier_scored_stays_as_it_scored_it(world: World) -> None:
    """A verifier that looked at the source itself, and one that read words on record.

    Proves: N7
    """
    agent = world.agent(HOME)
    wire = recorder(world, "wire", "document", 0.7)
    quote = {"type": "document", "uri": "wire:1", "excerpt": "It rains."}
    made: dict[str, Any] = {}
    for plugin, cited in (
        ("retrieval", quote),
        ("judges", quote),
        ("judges", cite(wire, "wire:2", "The rope has a length of about nine metres.")),
    ):
        text = f"The rope {len(made)} is long"
        done = write(agent, "semantic", {"text": text}, evidence=[cited])
        made[f"{plugin} {len(made)}"] = done["item_id"]
        world.admin.execute("SET session_replication_role = replica")
        world.admin.execute(
            "UPDATE memwarden_data.provenance SET record = jsonb_set(jsonb_set(jsonb_set(record,"
            " '{evidence,0,support}', '0.95'), '{evidence,0,by_rules}', '0'), '{verified_by}', %s)"
            " WHERE item_id = %s",
            (Jsonb([{"verifier": plugin, "version": "1", "score": 0.95}]), done["item_id"]),
        )
        world.admin.execute("SET session_replication_role = DEFAULT")
    as_an_update_leaves_it(world)
    sweep(world)
    assert standings(world, made) == {
        "retrieval 0": "verified",
        "judges 1": "reported",
        "judges 2": "supported",
    }


@pytest.mark.parametrize("how", ["dropped", "hidden"])
def test_words_that_are_not_there_for_the_writer_support_nothing(world: World, how: str) -> None:
    """The source has lost its registration, or the writer may not read the record any more.

    Proves: N7
    """
    agent = world.agent(HOME)
    wire = recorder(world, "wire", "document", 0.7)
    done = write(agent, "semantic", words("oboe"), evidence=[cite(wire, "wire:1", words("oboe"))])
    as_an_update_leaves_it(world)
    if how == "dropped":
        call(world.admin, "drop_source", uri_pattern="wire:*", org="acme")
    else:
        world.admin.execute("SET session_replication_role = replica")
        world.admin.execute(
            "UPDATE memwarden_data.evidence SET scope_id = (SELECT home_scope_id FROM"
            " memwarden_data.principal WHERE name = %s)",
            (join(world, "/org/acme/user/zoe").info.user,),
        )
        world.admin.execute("SET session_replication_role = DEFAULT")
    sweep(world)
    assert standings(world, {"oboe": done["item_id"]}) == {"oboe": "reported"}
