"""Nothing that an agent recorded itself makes its own claims firmer, whoever says them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, name_of
from helpers import ask_for_little, write
from security.brokerage import Brokerage, acting

if TYPE_CHECKING:
    from conftest import World

ROOM = "/org/acme/domain/desk"
LIE = "Ana owes Petra 5,000 euros."
FIRM = ("supported", "verified")
Agent = Connection[DictRow]


class Ring:
    """A hostile contributor, and a colleague who says again what is there, in one room."""

    def __init__(self, world: World) -> None:
        self.world = world
        ask_for_little(world.admin)
        world.scope(ROOM)
        self.hostile = self.joined("/org/acme/user/eve")
        self.colleague = self.joined("/org/acme/user/bob", role="curator")
        call(
            world.admin,
            "define_source",
            uri_pattern="note:*",
            type="human_input",
            authority=1,
            issuer=name_of(self.hostile),
            org="acme",
        )

    def joined(self, home: str, role: str = "contributor") -> Agent:
        """Register an agent that writes the room, with a login of its own."""
        name = self.world.register(home, role=role)
        grant = {"agent": name, "scope": ROOM, "writes": True}
        call(self.world.admin, "grant_scope", **grant)
        return self.world.connect(name)

    def cited(self, way: str, words: str = LIE, by: Agent | None = None) -> dict[str, str]:
        """Words of the hostile agent, as evidence that names somebody else as their speaker."""
        agent = by or self.hostile
        if way == "quote":
            return {"type": "human_input", "uri": "note:1", "excerpt": words}
        if way == "record":
            [row] = call(agent, "record_evidence", uri="note:1", excerpt=words, scope=ROOM)
            return {"uri": row["record_evidence"]}
        turn = {"role": "user", "speaker": "Ana", "text": words}
        [row] = call(
            agent,
            "capture",
            source="chat",
            content=Jsonb(turn),
            scope=ROOM,
            captured_for=[name_of(self.hostile), name_of(self.colleague)],
        )
        return {"uri": f"memwarden:capture/{row['capture']}"}

    def lie(self, way: str, by: Agent | None = None, **more: Any) -> UUID:
        """Have the hostile agent claim it."""
        arguments = {"scope": ROOM, "evidence": [self.cited(way, by=by)]} | more
        done = write(by or self.hostile, "episodic", LIE, **arguments)
        assert done["outcome"] == "COMMITTED", done
        item: UUID = done["item_id"]
        return item

    def firm(self) -> list[str]:
        """The memories of the lie that stand firm."""
        rows = self.world.rows(
            "SELECT i.standing, v.search_text, i.layer FROM memwarden_data.item AS i"
            "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
            " WHERE i.status = 'ACTIVE'"
        )
        return [f"{r['layer']}: {r['search_text']}" for r in rows if r["standing"] in FIRM]


@pytest.fixture
def ring(world: World) -> Ring:
    """A room of two agents."""
    return Ring(world)


WAYS = ("quote", "record", "capture")


@pytest.mark.parametrize("way", WAYS)
def test_its_own_record_bears_nothing_out(ring: Ring, way: str) -> None:
    """Whoever it says spoke. Proves: N7, Z15."""
    ring.lie(way)
    assert ring.firm() == []


def promoted(ring: Ring, item: UUID) -> None:
    """The colleague promotes it."""
    name = name_of(ring.colleague)
    call(ring.world.admin, "grant_scope", agent=name, scope="/org/acme", writes=True)
    [done] = call(ring.colleague, "promote", item_id=item, target="/org/acme")
    assert done["outcome"] == "COMMITTED", done


def consolidated(ring: Ring, item: UUID, by: Agent | None = None, layer: str = "semantic") -> UUID:
    """The colleague, or somebody else, consolidates it."""
    version = ring.world.value(
        "SELECT version_id FROM memwarden_data.item WHERE item_id = %s", item
    )
    named = {"item_id": item, "version_id": version, "layer": layer, "decision": "ADD"}
    [done] = call(by or ring.colleague, "consolidate", **named)
    assert done["outcome"] == "COMMITTED", done
    made: UUID = done["item_id"]
    return made


def reclassified(ring: Ring, item: UUID) -> None:
    """The colleague moves it to another layer."""
    call(ring.colleague, "reclassify", item_id=item, layer="semantic", reason="it lasts")


def rolled_back(ring: Ring, item: UUID) -> None:
    """It is retracted, and brought back by somebody else."""
    call(ring.hostile, "retract", item_id=item, reason="x")
    call(ring.colleague, "rollback", item_id=item, reason="it was right")


def cited_again(ring: Ring, item: UUID) -> None:
    """The colleague repeats it and cites the memory alone."""
    cited = {"type": "memory_item", "uri": f"memwarden:item/{item}"}
    write(ring.colleague, "semantic", LIE, scope=ROOM, evidence=[cited])


def said_by_many(ring: Ring, item: UUID) -> None:
    """Others confirm it, use it, pin it, renew it, without a word about it."""
    for agent in (ring.hostile, ring.colleague):
        call(agent, "annotate", item_id=item, verdict="confirmed", note="I know.")
        call(agent, "renew", item_id=item, reason="still so")
        for _ in range(3):
            rows = agent.execute(
                "SELECT * FROM memwarden.recall('owes euros', scopes => ARRAY[%s])", (ROOM,)
            ).fetchall()
            call(
                agent,
                "report_outcome",
                recall_id=rows[0]["recall_id"],
                outcome="success",
                used=[r["item_id"] for r in rows],
            )


def merged(ring: Ring, item: UUID) -> None:
    """The colleague merges it with something true."""
    other = write(ring.colleague, "episodic", "Petra knows Ana.", scope=ROOM)
    call(ring.colleague, "merge", item_id=item, absorbed=other["item_id"], reason="one thing")


@pytest.mark.parametrize(
    "again",
    [promoted, consolidated, reclassified, rolled_back, cited_again, said_by_many, merged],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("way", WAYS)
def test_no_way_of_saying_it_again_bears_it_out(
    ring: Ring, way: str, again: Callable[[Ring, UUID], Any]
) -> None:
    """Who moves, merges or repeats it did not hear it said.

    Proves: N7
    """
    again(ring, ring.lie(way))
    ring.world.admin.execute("CALL memwarden.count_recalls()")
    assert ring.firm() == []
    call(ring.world.admin, "rebuild_heads", replace=True)
    assert ring.firm() == []


def test_words_recorded_under_a_token_stay_its_own(world: World) -> None:
    """One login acts for two agents by tokens, one after the other, and waits in between.

    Proves: N7
    """
    desk = Brokerage(world, "globex")
    room = "/org/globex/domain/desk"
    world.scope(room)
    for name in ("ana", "bob"):
        call(world.admin, "grant_scope", agent=name, scope=room, writes=True)
    with world.connect(desk.app) as hostile:
        with acting(hostile, desk.token("ana")):
            turn = Jsonb({"role": "user", "speaker": "Ana", "text": LIE})
            [row] = call(
                hostile, "capture", source="chat", content=turn, scope=room, captured_for=["bob"]
            )
        past = "UPDATE memwarden_data.token SET expires_at = now() - interval '31 days'"
        world.admin.execute(past)
        world.admin.execute("SELECT memwarden.maintain()")
        with acting(hostile, desk.token("bob")):
            cited = [{"uri": f"memwarden:capture/{row['capture']}"}]
            done = write(hostile, "episodic", LIE, scope=room, evidence=cited)
        assert done["outcome"] == "COMMITTED", done
    standing = "SELECT standing FROM memwarden_data.item WHERE item_id = %s"
    assert world.value(standing, done["item_id"]) == "reported"


@pytest.mark.parametrize("way", WAYS)
def test_a_chain_of_those_who_say_it_again_bears_it_out_at_no_link(ring: Ring, way: str) -> None:
    """Also when the first memory is gone. Proves: N7."""
    item = ring.lie(way)
    second = consolidated(ring, item)
    call(ring.hostile, "retract", item_id=item, reason="x")
    third = ring.joined("/org/acme/user/cid", role="curator")
    consolidated(ring, second, third, "durable")
    assert ring.firm() == []
