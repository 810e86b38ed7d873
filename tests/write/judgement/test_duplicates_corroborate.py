"""A refused duplicate leaves its trace at the memory that is there, and its head alone."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, join
from helpers import write
from operations.erasure.conftest import Desk
from races import together

if TYPE_CHECKING:
    from conftest import World

FACT = "The archive of the town is in the old mill"
HEAD = """
SELECT ctid::text, xmin::text, version, updated_at, confidence, adjusted_confidence
  FROM memwarden_data.item WHERE item_id = %s"""
SEEN = """
SELECT last_seen_at > created_at AS seen_again, times_seen, witnesses, corroborated_confidence
  FROM memwarden.get(%s)"""


def seen(reader: Connection[DictRow], item_id: Any) -> DictRow:
    """What a reader is told of who else has said a memory."""
    row = reader.execute(SEEN, (item_id,)).fetchone()
    assert row is not None
    return row


def cite(uri: str, excerpt: str = FACT) -> list[dict[str, str]]:
    """Evidence that says so."""
    return [{"uri": uri, "excerpt": excerpt}]


def register_source(world: World, pattern: str, **arguments: Any) -> None:
    """Have an administrator say that a source is a document from outside."""
    named = "".join(f", {name} => %({name})s" for name in arguments)
    world.admin.execute(
        f"SELECT memwarden.define_source(%(pattern)s, 'document'{named})",
        {"pattern": pattern} | arguments,
    )


def test_sixteen_writers_of_one_fact_make_one_memory(world: World, home: str) -> None:
    """One commits; the others say so too, and the row of the head is the one that was inserted.

    Proves: D1, D3
    """
    patient = Jsonb({"lock_wait": "2 minutes"})
    call(world.admin, "configure_layer", layer="semantic", settings=patient)
    writers = [world.agent(home) for _ in range(16)]
    answers = together([partial(write, writer, "semantic", FACT) for writer in writers])
    assert sorted(answer["outcome"] for answer in answers) == ["COMMITTED"] + ["REJECTED"] * 15
    (item_id,) = {answer["item_id"] for answer in answers}
    told = seen(writers[0], item_id)
    assert (told["times_seen"], told["witnesses"], told["seen_again"]) == (15, 15, True)
    (row,) = world.rows(
        "SELECT i.version, i.xmin::text = v.xmin::text AS untouched, i.xmax::text AS xmax"
        "  FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.version AS v USING (org_id, version_id)"
        " WHERE i.item_id = %s",
        item_id,
    )
    assert row == {"version": 1, "untouched": True, "xmax": "0"}


def test_the_head_is_not_touched(world: World, home: str) -> None:
    """Neither its place nor its transaction changes, whichever tier finds the duplicate.

    Proves: D3 (without rewriting what searches read)
    """
    world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', '{\"duplicate_similarity\": 0.95}')"
    )
    vector = [1.0] + [0.0] * 383
    first = write(world.agent(home), "semantic", "Ana owns a large dog", embedding=vector)
    before = world.rows(HEAD, first["item_id"])
    reasons = [
        write(world.agent(home), "semantic", text, embedding=vector)["reason"]
        for text in ("Ana owns a large dog", "ana owns a LARGE dog.", "Ana does own a large dog")
    ]
    assert reasons == ["EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE", "SEMANTIC_DUPLICATE"]
    assert world.rows(HEAD, first["item_id"]) == before
    told = seen(world.agent(home), first["item_id"])
    assert (told["times_seen"], told["witnesses"]) == (3, 3)


def test_an_agent_that_repeats_itself_corroborates_nothing(world: World, home: str) -> None:
    """Whether it wrote the memory or another did.

    Proves: D3
    """
    author, other = world.agent(home), world.agent(home)
    first = write(author, "semantic", FACT, idempotency_key=str(uuid.uuid4()))
    for _ in range(3):
        write(author, "semantic", FACT, idempotency_key=str(uuid.uuid4()), evidence=cite("x:1"))
    assert (
        seen(author, first["item_id"])["times_seen"],
        seen(author, first["item_id"])["witnesses"],
    ) == (3, 0)
    for number in range(5):
        write(other, "semantic", FACT, evidence=cite(f"y:{number}"))
    told = seen(author, first["item_id"])
    assert (told["times_seen"], told["witnesses"]) == (8, 1)


def test_the_same_source_counts_once(world: World, home: str) -> None:
    """What the memory rests on already vouches for it no second time, nor does the memory itself.

    Proves: D3
    """
    author = world.agent(home)
    first = write(author, "semantic", FACT, evidence=cite("doc:guide#3"))
    item = f"memwarden:item/{first['item_id']}"
    for uri in ("doc:guide#9", item, "doc:map", "doc:map#2", "doc:map"):
        assert (
            write(world.agent(home), "semantic", FACT, evidence=cite(uri))["outcome"] == "REJECTED"
        )
    told = seen(author, first["item_id"])
    assert (told["times_seen"], told["witnesses"]) == (5, 1)


def test_words_alone_raise_no_belief_and_sources_raise_it_to_what_the_best_is_worth(
    world: World, home: str
) -> None:
    """Where the layer asks for evidence only what it takes for evidence counts.

    Proves: D3 (confidence)
    """
    world.ship_layers()
    asks = Jsonb({"fact_threshold": 0.5})
    call(world.admin, "configure_layer", layer="semantic", settings=asks)
    for place in "abc":
        register_source(world, f"doc:{place}*", authority=0.6)
    first = write(world.agent(home), "semantic", FACT, evidence=cite("doc:a"))
    assert first["outcome"] == "COMMITTED"
    reader = world.agent(home)
    own = seen(reader, first["item_id"])["corroborated_confidence"]
    # Nothing cited, nobody's source, and a source that does not say so.
    write(world.agent(home), "semantic", FACT)
    write(world.agent(home), "semantic", FACT, evidence=cite("http://any.example"))
    write(world.agent(home), "semantic", FACT, evidence=cite("doc:b", "the harbour is deep"))
    told = seen(reader, first["item_id"])
    assert (told["times_seen"], told["witnesses"]) == (3, 0)
    assert told["corroborated_confidence"] == own
    believed = [own]
    for place in ("b", "c", *(f"c/{n}" for n in range(6))):
        write(world.agent(home), "semantic", FACT, evidence=cite(f"doc:{place}"))
        believed.append(seen(reader, first["item_id"])["corroborated_confidence"])
    assert believed == sorted(believed)
    assert own < believed[1] < believed[2] <= 0.6
    assert believed[-1] == pytest.approx(0.6)
    stored = "SELECT adjusted_confidence FROM memwarden_data.item WHERE item_id = %s"
    assert world.value(stored, first["item_id"]) == own


def test_a_disabled_agent_vouches_for_nothing(world: World, home: str) -> None:
    """What it has said is known, and counts no more.

    Proves: D3 (agents that turn out to be hostile)
    """
    author, other = world.agent(home), world.agent(home)
    first = write(author, "semantic", FACT)
    write(other, "semantic", FACT)
    assert seen(author, first["item_id"])["witnesses"] == 1
    call(world.admin, "change_agent", agent=other.info.user, enabled=False)
    told = seen(author, first["item_id"])
    assert (told["times_seen"], told["witnesses"]) == (1, 0)


def test_other_words_have_witnesses_of_their_own(world: World, home: str) -> None:
    """Who repeated the first value says nothing of the second; when the first is back, so are they.

    Proves: D3
    """
    author, other = world.agent(home, role="curator"), world.agent(home)
    key = {"subject": "archive", "predicate": "is in"}
    first = write(author, "semantic", "the old mill", **key)
    write(other, "semantic", "the old mill", **key)
    write(author, "semantic", "the town hall", **key)
    assert seen(author, first["item_id"])["witnesses"] == 0
    call(author, "rollback", item_id=first["item_id"], reason="it is in the mill after all")
    assert seen(author, first["item_id"])["witnesses"] == 1


def test_what_the_writer_does_not_read_is_not_corroborated(world: World, home: str) -> None:
    """It makes a memory of its own, and nobody is told of the other.

    Proves: A4 (corroboration)
    """
    high = join(world, home, clearance="restricted")
    secret = write(high, "semantic", FACT, classification="restricted")
    low = world.agent(home)
    own = write(low, "semantic", FACT)
    assert own["outcome"] == "COMMITTED"
    assert world.rows("SELECT * FROM memwarden_data.sighting") == []
    assert low.execute(SEEN, (secret["item_id"],)).fetchall() == []
    listed = low.execute("SELECT item_id, times_seen, witnesses FROM memwarden.items").fetchall()
    assert listed == [{"item_id": own["item_id"], "times_seen": 0, "witnesses": 0}]


def test_what_is_said_in_confidence_leaves_no_trace_below(world: World, home: str) -> None:
    """Who reads the memory must not learn that somebody wrote it where he does not read.

    Proves: A4 (corroboration)
    """
    low, high = world.agent(home), join(world, home, clearance="restricted")
    first = write(low, "semantic", FACT)
    again = write(high, "semantic", FACT, classification="restricted")
    assert again["reason"] == "EXACT_DUPLICATE"
    told = seen(low, first["item_id"])
    assert (told["times_seen"], told["witnesses"], told["seen_again"]) == (0, 0, False)


def test_no_role_reads_or_writes_the_traces(world: World, home: str) -> None:
    """Proves: Z1 (traces)."""
    write(world.agent(home), "semantic", FACT)
    for group in ("agent", "reviewer", "curator", "auditor", "admin"):
        role = world.connect(world.role(f"memwarden_{group}"))
        for statement in ("SELECT * FROM {}", "DELETE FROM {}", "UPDATE {} SET times = 99"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                role.execute(statement.format("memwarden_data.sighting"))


def test_erasing_takes_the_traces_along(world: World) -> None:
    """Those of a memory that goes, and those of a write that named who is erased.

    Proves: R1 (traces)
    """
    desk = Desk(world)
    agent, other = desk.agent(), desk.agent()
    gone = write(agent, "semantic", "green", subject="Ana Example", predicate="likes")
    write(other, "semantic", "green", subject="Ana Example", predicate="likes")
    stays = write(agent, "semantic", FACT)
    write(other, "semantic", FACT, trace_id="for zqw")
    assert world.value("SELECT count(*) FROM memwarden_data.sighting") == 2
    desk.erase("Ana Example", "zqw")
    assert world.value("SELECT count(*) FROM memwarden_data.sighting") == 0
    assert seen(agent, stays["item_id"])["witnesses"] == 0
    assert agent.execute(SEEN, (gone["item_id"],)).fetchall() == []


COUNTS = """
SELECT coalesce(sum(times), 0) AS traces,
       (SELECT count(*) FROM memwarden_data.write_request WHERE reason ~ '_DUPLICATE$') AS refusals
  FROM memwarden_data.sighting"""


def test_a_write_that_dies_leaves_neither_trace_nor_refusal(world: World, home: str) -> None:
    """The trace and the answer are of one transaction, and a repetition counts once.

    Proves: D3, W4
    """
    author, victim = world.agent(home), world.agent(home)
    first = write(author, "semantic", FACT)
    victim.execute("BEGIN")
    write(victim, "semantic", FACT)
    world.admin.execute("SELECT pg_terminate_backend(%s, 10000)", (victim.info.backend_pid,))
    assert world.rows(COUNTS) == [{"traces": 0, "refusals": 0}]
    other, request = world.agent(home), str(uuid.uuid4())
    for _ in range(3):
        write(other, "semantic", FACT, trace_id=request)
    assert world.rows(COUNTS) == [{"traces": 3, "refusals": 3}]
    assert seen(author, first["item_id"])["witnesses"] == 1


@settings(max_examples=8, deadline=None)
@given(
    writes=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 1), st.sampled_from([None, "s:1", "s:2"])),
        min_size=1,
        max_size=12,
    )
)
def test_the_traces_are_the_refusals(shared_world: World, writes: list[Any]) -> None:
    """However they come, in batches of agents at once: none is lost, none is counted twice.

    Proves: D3
    """
    home = f"/org/{uuid.uuid4().hex[:12]}/user/ana"
    agents = [shared_world.agent(home) for _ in range(4)]
    facts = [f"{FACT} {n}" for n in range(2)]
    items = [write(agents[0], "semantic", fact)["item_id"] for fact in facts]

    def ask(number: int) -> None:
        for agent, fact, uri in writes:
            if agent == number:
                more: dict[str, Any] = {} if uri is None else {"evidence": cite(uri)}
                write(
                    agents[agent],
                    "semantic",
                    facts[fact],
                    **more,
                    idempotency_key=str(uuid.uuid4()),
                )

    together([partial(ask, number) for number in range(4)])
    for place, item_id in enumerate(items):
        told = seen(agents[0], item_id)
        said = [(agent, uri) for agent, fact, uri in writes if fact == place]
        assert told["times_seen"] == len(said)
        # No agent counts twice, and no source: each vouches by one of those that it named.
        others = {agent for agent, _ in said if agent}
        named = {uri or agent for agent, uri in said if agent}
        assert told["witnesses"] <= min(len(others), len(named))
        assert (told["witnesses"] > 0) == bool(others)
    shared_world.disconnect()
