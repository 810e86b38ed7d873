"""write(corrects => ...): a writer puts right what it wrote, as the next version of that memory."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, join
from conftest import World
from helpers import recall, write, write_many
from replay import check_store
from reviewing import HOME, ask, decide, queue, reviewer
from scope_calls import get, one, remember, retract

Agent = Connection[DictRow]

WRONG = "Customer 1 moved to the Pro plan in March."
RIGHT = "Customer 1 moved to the Team plan in April."


@pytest.fixture
def writer(world: World) -> Agent:
    """Return an agent with the role that agents get, where likeness and contradiction count."""
    world.admin.execute(
        "UPDATE memwarden_data.layer SET duplicate_similarity = 0.95, conflict = 'auto_resolve'"
        " WHERE layer = 'semantic'"
    )
    return world.agent(HOME)


def correct(agent: Agent, item: Any, content: Any = RIGHT, **more: Any) -> DictRow:
    """Correct a memory of the layer semantic."""
    return write(agent, "semantic", content, corrects=item, **more)


def told(answer: DictRow) -> tuple[Any, Any, Any]:
    """Return what a refusal says."""
    return answer["outcome"], answer["gate"], answer["reason"]


def test_what_has_no_key_gets_its_next_version(world: World) -> None:
    """The same memory says the other; its history keeps both, and one rollback undoes it.

    Proves: T1, T5, A1
    """
    writer = world.agent(HOME)
    item = remember(writer, HOME, WRONG)
    done = correct(writer, item)
    assert (done["outcome"], done["item_id"]) == ("COMMITTED", item)
    assert [row["content"] for row in recall(writer, query="plan")] == [RIGHT]
    past = writer.execute("SELECT * FROM memwarden.history(%s)", (item,)).fetchall()
    assert [(row["version"], row["operation"], row["reason"]) for row in past] == [
        (2, "UPDATE", "corrected by its writer"),
        (1, "INSERT", "new item"),
    ]
    writer.execute("SELECT memwarden.rollback(%s, 'it was right')", (item,))
    assert get(writer, item)["content"] == WRONG
    # The same correction once more is news, and no replay of the first.
    assert correct(writer, item)["outcome"] == "COMMITTED"
    assert get(writer, item)["version"] == 4
    check_store(world.admin)


@pytest.mark.parametrize("content", [RIGHT, "Customer 1 moved to the Pro plan.", WRONG + " Yes."])
def test_it_is_no_duplicate_of_what_it_corrects(writer: Agent, content: str) -> None:
    """Nor its contrary: to say less, more or otherwise is what a correction is for.

    Proves: T1, D3
    """
    item = remember(writer, HOME, WRONG, confidence=0.9, evidence=[{"uri": "https://a.example/"}])
    done = correct(writer, item, content, confidence=0.2)
    assert (done["outcome"], done["item_id"]) == ("COMMITTED", item)
    shown = get(writer, item)
    assert (shown["content"], round(shown["confidence"], 3)) == (content, 0.2)
    # It stands for itself: nothing of what was wrong is taken over.
    assert shown["provenance"]["evidence"] == []


def test_the_gates_judge_it_as_any_write(writer: Agent, world: World) -> None:
    """What another memory says already is refused, and so is a secret.

    Proves: W2, D1
    """
    item = remember(writer, HOME, WRONG)
    other = remember(world.agent(HOME), HOME, RIGHT)
    known = correct(writer, item)
    assert told(known) == ("REJECTED", "38_known", "EXACT_DUPLICATE")
    assert known["item_id"] == other
    secret = correct(writer, item, "the key is AKIAIOSFODNN7EXAMPLA")
    assert told(secret) == ("REJECTED", "30_sensitivity", "SENSITIVE_CONTENT")
    assert get(writer, item)["content"] == WRONG


def test_what_it_leaves_out_stays_as_it_is(shared_world: World, home: str) -> None:
    """Scope, subject, predicate and kind; alone and in a batch.

    Proves: T1, D5, W8
    """
    organisation = "/".join(home.split("/")[:3])
    shared_world.scope(home)
    writer = shared_world.agent(home)
    call(shared_world.admin, "grant_scope", agent=writer.info.user, scope=organisation, writes=True)
    key = {"subject": "Customer 1", "predicate": "is on"}
    item = write(writer, "semantic", "Pro", scope=organisation, **key)["item_id"]
    assert correct(writer, item, "Team")["item_id"] == item
    asked = {"layer": "semantic", "content": "Free", "corrects": str(item)}
    (done,) = write_many(writer, [asked])
    assert (done["outcome"], done["item_id"]) == ("COMMITTED", item)
    shown = get(writer, item)
    assert (shown["scope"], shown["content"], shown["version"]) == (organisation, "Free", 3)
    assert {name: shown[name] for name in key} == key


def test_a_memory_of_several_values_is_corrected_and_the_others_stay(
    shared_world: World, home: str
) -> None:
    """A layer that accumulates keeps one memory for each value.

    Proves: T1, D5
    """
    writer = shared_world.agent(home)
    key = {"subject": "Ana", "predicate": "visited", "layer": "episodic"}
    first, second = (write(writer, content=city, **key)["item_id"] for city in ("Rom", "Bern"))
    done = write(writer, "episodic", "Rome", corrects=first)
    assert (done["outcome"], done["item_id"]) == ("COMMITTED", first)
    assert [get(writer, item)["content"] for item in (first, second)] == ["Rome", "Bern"]


def test_nobody_corrects_what_another_wrote(shared_world: World, home: str) -> None:
    """Curators neither: they retract, and write. Who wrote it last has it.

    Proves: A1
    """
    writer = shared_world.agent(home)
    item = remember(writer, home, WRONG)
    for role in ("contributor", "curator"):
        answer = correct(shared_world.agent(home, role=role), item)
        assert told(answer) == ("REJECTED", "48_correction", "NOT_AUTHOR")
    key = {"subject": "Customer 1", "predicate": "is on"}
    shared = remember(writer, home, "Pro", **key)
    write(shared_world.agent(home), "semantic", "Team", **key)
    assert correct(writer, shared, "Free", **key)["reason"] == "NOT_AUTHOR"
    assert get(writer, item)["content"] == WRONG


@pytest.mark.parametrize("what", ["hidden", "secret", "foreign", "ended", "elsewhere"])
def test_what_the_writer_does_not_see_is_answered_as_what_is_not_there(
    shared_world: World, home: str, what: str
) -> None:
    """Nothing of the answer tells of it, and nothing is written.

    Proves: A3, A4
    """
    writer = shared_world.agent(home)
    organisation = "/".join(home.split("/")[:3])
    chief = shared_world.agent(home, clearance="restricted")
    if what == "secret":
        item = remember(chief, home, WRONG, classification="confidential")
    elif what == "ended":
        item = remember(writer, home, WRONG)
        retract(writer, item)
    elif what == "elsewhere":
        item = remember(writer, home, WRONG, layer="episodic")
    else:
        place = f"{organisation}{'x' if what == 'foreign' else ''}/user/bob"
        item = remember(shared_world.agent(place), place, WRONG)
    seen, absent = (correct(writer, each) for each in (item, uuid4()))
    names = ("outcome", "gate", "reason", "detail", "item_id", "version_id")
    assert [seen[name] for name in names] == [absent[name] for name in names]
    assert told(seen) == ("REJECTED", "48_correction", "UNKNOWN_ITEM")
    assert [row["content"] for row in recall(writer)] in ([], [WRONG])


def test_it_keeps_the_classification(shared_world: World, home: str) -> None:
    """Proves: A3."""
    chief = shared_world.agent(home, clearance="restricted", domains=["law"])
    item = remember(chief, home, WRONG, classification="confidential", domains=["law"])
    assert correct(chief, item)["item_id"] == item
    shown = get(chief, item)
    assert (shown["classification"], shown["domains"]) == ("confidential", ["law"])


def test_it_does_not_rest_on_what_rests_on_it(writer: Agent) -> None:
    """Proves: X3."""
    item = remember(writer, HOME, WRONG)
    cited = [{"uri": f"memwarden:item/{item}"}]
    derived = remember(writer, HOME, "Customer 1 pays more since March.", evidence=cited)
    circle = [{"uri": f"memwarden:item/{derived}"}]
    assert told(correct(writer, item, evidence=circle)) == (
        "REJECTED",
        "48_correction",
        "PROVENANCE_CYCLE",
    )


def test_a_kind_that_merges_is_corrected_all_the_same(shared_world: World, home: str) -> None:
    """A merge policy unites what is added; a correction takes the place of what was wrong.

    Proves: D4, T1
    """
    shared_world.scope(home)
    call(
        shared_world.admin,
        "define_schema",
        layer="semantic",
        kind="tour",
        schema={"type": "object"},
        merge_policy={"*": "union"},
        org=home.split("/")[2],
    )
    writer = shared_world.agent(home)
    key = {"subject": "tour", "predicate": "stops at", "kind": "tour"}
    item = write(writer, "semantic", {"stops": ["Rom"]}, **key)["item_id"]
    write(writer, "semantic", {"stops": ["Bern"]}, **key)
    assert sorted(get(writer, item)["content"]["stops"]) == ["Bern", "Rom"]
    assert correct(writer, item, {"stops": ["Rome"]})["item_id"] == item
    assert get(writer, item)["content"] == {"stops": ["Rome"]}


def test_where_people_are_asked_a_correction_waits_for_them(world: World) -> None:
    """The queue names what it would take the place of, and a yes carries it out.

    Proves: H2, H6
    """
    agent = world.agent(HOME)
    item = remember(agent, HOME, WRONG)
    ask(world)
    waiting = correct(agent, item)
    assert waiting["outcome"] == "DEFERRED"
    person = reviewer(world)
    shown = queue(person)[0]
    assert (shown["current"]["item_id"], shown["current"]["content"]) == (str(item), WRONG)
    done = decide(person, "approve", str(waiting["request_id"]))
    assert (done["outcome"], done["item_id"]) == ("COMMITTED", item)
    assert get(agent, item)["content"] == RIGHT
    # What changed while it waited is put before a person again; what ended is refused.
    waiting = correct(agent, item, "Customer 1 moved to the Free plan in May.")
    curator = join(world, HOME, role="curator", kind="human")
    # People agreed to it, so they are asked before it goes.
    asked = one(curator, "SELECT * FROM memwarden.retract(%s, %s)", item, "not so")
    assert decide(person, "approve", str(asked["request_id"]))["outcome"] == "COMMITTED"
    done = decide(person, "approve", str(waiting["request_id"]))
    assert (done["outcome"], done["reason"]) == ("REJECTED", "UNKNOWN_ITEM")


def test_of_two_in_one_batch_each_corrects_its_own(shared_world: World, home: str) -> None:
    """And one that may not is refused by itself.

    Proves: W8
    """
    writer, other = shared_world.agent(home), shared_world.agent(home)
    items = [remember(writer, home, f"fact {n}") for n in range(2)]
    theirs = remember(other, home, "fact 3")
    asked = [
        {"layer": "semantic", "content": f"right {n}", "corrects": str(item)}
        for n, item in enumerate([*items, theirs])
    ]
    answers = write_many(writer, asked)
    assert [row["outcome"] for row in answers] == ["COMMITTED", "COMMITTED", "REJECTED"]
    assert [get(writer, item)["content"] for item in items] == ["right 0", "right 1"]
    assert one(other, "SELECT * FROM memwarden.get(%s)", theirs)["content"] == "fact 3"
