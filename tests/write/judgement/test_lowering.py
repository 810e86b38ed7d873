"""Nothing is lowered by something weaker: refutations, faults and contradictions."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, curator, join, name_of
from helpers import recall, write

if TYPE_CHECKING:
    from conftest import World

ORG = "/org/acme"
HOME = "/org/acme/user/ana"
Agent = Connection[DictRow]


@pytest.fixture
def library(world: World) -> Agent:
    """Connect as the application that records what a document says, for all to cite."""
    application = join(world, ORG, kind="service", role="contributor")
    call(
        curator(world, ORG),
        "define_source",
        uri_pattern="library:*",
        type="document",
        authority=0.8,
        issuer=name_of(application),
    )
    return application


def other(world: World, **standing: Any) -> Agent:
    """Connect as somebody else who reads and writes the same scope."""
    return world.connect(world.register(HOME, **standing))


def on_record(library: Agent, words: str) -> dict[str, str]:
    """Have the application record words; return the reference to cite."""
    [row] = call(library, "record_evidence", uri="library:1", excerpt=words, scope=ORG)
    return {"type": "document", "uri": row["record_evidence"]}


def stored(agent: Agent, text: str, *evidence: dict[str, str]) -> UUID:
    """Write a memory, return its item."""
    done = write(agent, "episodic", {"text": text}, evidence=list(evidence))
    assert done["outcome"] == "COMMITTED", done
    item: UUID = done["item_id"]
    return item


def standing(agent: Agent, item: UUID) -> tuple[str, int | None]:
    """How firmly recall says a memory, and how many doubt it."""
    for row in recall(agent, query="lamp", k=100):
        if row["item_id"] == item:
            return row["standing"], row["provenance"].get("doubted_by")
    raise AssertionError(item)


def approve(world: World, item: UUID) -> None:
    """Make a memory one that a person approved."""
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute(
        "UPDATE memwarden_data.provenance SET signature = NULL, key_id = NULL,"
        """ record = record || '{"approval_state": "APPROVED"}' WHERE item_id = %s""",
        (item,),
    )
    world.admin.execute("RESET session_replication_role")
    world.admin.execute(
        "UPDATE memwarden_data.item SET standing = 'verified' WHERE item_id = %s", (item,)
    )


def refute(agent: Agent, item: UUID) -> UUID:
    """Refute a memory, return the annotation."""
    [done] = call(agent, "annotate", item_id=item, verdict="refuted")
    assert done["outcome"] in ("COMMITTED", "ALREADY_COMMITTED"), done
    annotation: UUID = done["item_id"]
    return annotation


def test_what_is_reported_falls_by_one_voice_and_rises_when_it_is_taken_back(world: World) -> None:
    """The standing, the score and the relevance fall; retracting the annotation undoes it.

    Proves: N7, Z15
    """
    agent, doubter = world.agent(HOME), other(world)
    quote = {"type": "document", "uri": "library:1", "excerpt": "The lamp is green."}
    item = stored(agent, "The lamp is green.", quote)
    [before] = recall(agent, query="lamp green", weights={"relevance": 1})
    assert (before["standing"], before["hedge"]) == ("reported", "reportedly")
    annotation = refute(doubter, item)
    found = {row["item_id"]: row for row in recall(agent, query="lamp green", k=100)}
    assert found[item]["standing"] == "disputed"
    half = world.rows(
        "SELECT fresh_until <= clock_timestamp() AS half FROM memwarden_data.item"
        f" WHERE item_id = '{item}'"
    )
    assert half == [{"half": True}]
    assert call(world.admin, "verify_provenance") == []
    world.admin.execute("SELECT memwarden.rebuild_heads()")
    call(doubter, "retract", item_id=annotation, reason="I was wrong")
    assert standing(agent, item) == ("reported", None)
    events = world.rows(
        "SELECT event FROM memwarden_data.provenance"
        f" WHERE item_id = '{item}' ORDER BY provenance_id"
    )
    assert [row["event"] for row in events] == ["WRITE", "STANDING", "STANDING"]


def test_the_writer_does_not_renew_a_refutation_away(world: World) -> None:
    """The same words in a new version are refuted still.

    Proves: N7, Z15
    """
    agent = world.agent(HOME)
    item = stored(agent, "The lamp is green.")
    refute(other(world), item)
    call(agent, "renew", item_id=item, reason="still so")
    assert standing(agent, item) == ("disputed", None)
    annotation = refute(other(world), item)
    assert standing(agent, item) == ("disputed", None)
    assert annotation


def test_the_writer_alone_refutes_nothing(world: World) -> None:
    """It has had its say, and corrects or retracts what it wrote.

    Proves: N7, Z15
    """
    agent = world.agent(HOME)
    item = stored(agent, "The lamp is green.")
    refute(agent, item)
    assert standing(agent, item) == ("inferred", None)


def test_what_is_supported_needs_two_owners_or_words_on_record(
    world: World, library: Agent
) -> None:
    """Two agents of one person are one voice; until then doubted_by tells how many there are.

    Proves: N7, Z15
    """
    agent = world.agent(HOME)
    words = "The lamp of the hall is green."
    item = stored(agent, words, on_record(library, words))
    person = other(world, kind="human", role="contributor")
    one, two = (other(world) for _ in range(2))
    world.admin.execute(
        "UPDATE memwarden_data.principal SET owner_id ="
        " (SELECT principal_id FROM memwarden_data.principal WHERE name = %s)"
        " WHERE name = ANY (%s)",
        (name_of(person), [name_of(one), name_of(two)]),
    )
    assert standing(agent, item) == ("supported", None)
    refute(one, item)
    refute(two, item)
    refute(two, item)
    assert standing(agent, item) == ("supported", 2)
    refute(other(world), item)
    assert standing(agent, item) == ("disputed", None)

    second = "The lamp of the porch is green."
    item = stored(agent, second, on_record(library, second))
    doubter = other(world)
    version = world.value("SELECT version_id FROM memwarden_data.item WHERE item_id = %s", item)
    denied = "The lamp of the porch is not green."
    mine = {"type": "document", "uri": "library:1", "excerpt": denied}
    denial = on_record(library, denied)
    for cited, expected in ((mine, ("supported", 1)), (denial, ("disputed", None))):
        done = write(
            doubter,
            "episodic",
            {"item_id": str(item), "version_id": str(version), "verdict": "refuted"},
            kind="annotation",
            subject=f"memwarden:item/{item}",
            evidence=[{"type": "memory_item", "uri": f"memwarden:item/{item}"}, cited],
            predicate=f"annotated with {cited['uri']}",
        )
        assert done["outcome"] == "COMMITTED", done
        assert standing(agent, item) == expected


@pytest.mark.parametrize("who", ["human", "verifier", "curator"])
def test_what_is_verified_falls_by_a_person_a_curator_or_a_verifier_alone(
    world: World, who: str
) -> None:
    """Any number of agents leave it verified.

    Proves: N7, Z15
    """
    agent = world.agent(HOME)
    item = stored(agent, "The lamp is green.")
    approve(world, item)
    for _ in range(3):
        refute(other(world), item)
    assert standing(agent, item) == ("verified", 3)
    firm = (
        other(world, kind="human", role="contributor")
        if who == "human"
        else other(world, role=who, kind="human" if who == "curator" else "agent")
    )
    refute(firm, item)
    assert standing(agent, item) == ("disputed", None)


def test_a_fault_counts_once_a_task_from_three_tasks_on(world: World) -> None:
    """The same task again adds nothing, and relevance falls with the faults.

    Proves: N7, Z15
    """
    agent = world.agent(HOME)
    item = stored(agent, "The lamp is green.")

    def fail(task: str) -> None:
        [row] = [r for r in recall(agent, query="lamp green", task=task) if r["item_id"] == item]
        call(
            agent,
            "report_outcome",
            recall_id=row["recall_id"],
            used=[item],
            outcome="failure",
            at_fault=[item],
        )

    def relevance() -> float:
        with world.connect("memwarden_jobs") as jobs:
            jobs.execute("CALL memwarden.count_recalls()")
        found = {
            row["part"]: row["value"] for row in call(agent, "explain_relevance", item_id=item)
        }
        return float(found["impact"])

    for task in ("one", "one", "one", "two"):
        fail(task)
    assert relevance() == pytest.approx(1 / 5)
    assert standing(agent, item)[0] == "inferred"
    fail("three")
    # Five failures it was used in, and three tasks that it is at fault in.
    assert relevance() == pytest.approx(1 / (1 + 5 + 2 * 3))
    assert standing(agent, item)[0] == "disputed"


def test_the_less_firm_of_two_is_disputed_alone(world: World, library: Agent) -> None:
    """The firmer one lists it and stays before it; of equal standing both are disputed.

    Proves: N7, Z15
    """
    agent, rival = world.agent(HOME), other(world)
    words = "The lamp of the hall is green."
    firm = stored(agent, words, on_record(library, words))
    weak = stored(rival, "A lamp in the hall has a red shade.")
    equal = stored(agent, "The lamp in the attic has no shade.")
    world.admin.execute(
        "SELECT memwarden_internal.record_disputes(i.org_id, i.scope_id, i.item_id, %s)"
        "  FROM memwarden_data.item AS i WHERE i.item_id = %s",
        ([firm, equal], weak),
    )
    found = {row["item_id"]: row for row in recall(agent, query="lamp", k=100)}
    assert {item: found[item]["standing"] for item in (firm, weak, equal)} == {
        firm: "supported",
        weak: "disputed",
        equal: "disputed",
    }
    assert found[firm]["contradicts"] == [weak]
    order = [row["item_id"] for row in recall(agent, query="the lamp of the hall", k=100)]
    assert order.index(firm) < order.index(weak)
    told = {row["item_id"]: row for row in call(agent, "compile_context", query="lamp")}
    assert told[firm]["standing"] == "supported"
    assert told[weak]["standing"] == "disputed"


def test_a_hostile_agent_moves_nobody_and_rises_nowhere(world: World, library: Agent) -> None:
    """A thousand calls with all rights of a contributor: what others verified or support stands.

    Proves: N7, Z15
    """
    agent, hostile = world.agent(HOME), other(world)
    world.admin.execute("UPDATE memwarden_data.layer SET rate_limit = NULL")
    held: dict[UUID, str] = {}
    citable = []
    for n, place in enumerate(("hall", "porch", "attic", "cellar", "yard", "barn")):
        words = f"The lamp of the {place} is green."
        citable.append(on_record(library, words))
        held[stored(agent, words, citable[-1])] = "supported"
        if n % 2:
            item = list(held)[-1]
            approve(world, item)
            held[item] = "verified"
    chance = random.Random(7)
    items = list(held)
    own: list[UUID] = []
    refused: set[str | None] = set()
    for n in range(1000):
        item, place = chance.choice(items), chance.choice(("hall", "porch", "attic", "cellar"))
        lie = f"The lamp of the {place} is {chance.choice(('red', 'not green', 'blue'))} {n}."
        quote = {"type": "human_input", "uri": f"library:{n}", "excerpt": lie}
        memories = [
            {"type": "memory_item", "uri": f"memwarden:item/{i}"} for i in (item, *own[-1:])
        ]
        cited = chance.choice([quote, chance.choice(citable), *memories])
        try:
            match chance.randrange(7):
                case 0:
                    call(hostile, "annotate", item_id=item, verdict="refuted")
                case 1:
                    rows = recall(hostile, query="lamp", k=20, task=f"t{n}")
                    call(
                        hostile,
                        "report_outcome",
                        recall_id=rows[0]["recall_id"],
                        outcome="failure",
                        at_fault=[r["item_id"] for r in rows if r["item_id"] in held],
                    )
                case 2:
                    call(hostile, "retract", item_id=item, reason="no")
                case 3:
                    write(
                        hostile,
                        "episodic",
                        {"item_id": str(item), "verdict": "refuted"},
                        kind="annotation",
                        subject=f"memwarden:item/{item}",
                        evidence=[{"uri": f"memwarden:item/{item}"}, cited],
                    )
                case 4:
                    call(hostile, "record_evidence", uri=f"library:{n}", excerpt=lie, scope=HOME)
                case _:
                    done = write(
                        hostile,
                        chance.choice(("episodic", "semantic", "durable")),
                        {"text": lie},
                        evidence=[cited],
                        **chance.choice(({}, {"subject": "lamp", "predicate": "is"})),
                    )
                    own += [done["item_id"]] if done["outcome"] == "COMMITTED" else []
        except psycopg.Error as error:
            refused.add(error.sqlstate)
    assert refused <= {"42501", "22023", "42704", "55P03"}
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("CALL memwarden.count_recalls()")
        jobs.execute("CALL memwarden.revalidate()")
        jobs.execute("CALL memwarden.sweep()")
    found = {row["item_id"]: row["standing"] for row in recall(agent, query="lamp green", k=1000)}
    assert {item: found.get(item) for item in held} == held
    claims = world.rows(
        "SELECT DISTINCT i.standing FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.principal AS p ON p.principal_id = i.principal_id"
        f" WHERE p.name = '{name_of(hostile)}'"
    )
    assert len(own) > 100
    assert {row["standing"] for row in claims} <= {"reported", "inferred", "disputed"}
