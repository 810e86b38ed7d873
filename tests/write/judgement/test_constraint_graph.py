"""Predicates that are declared: what a fact must look like, and what it leaves no place for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, join
from helpers import write
from races import together

if TYPE_CHECKING:
    from conftest import World

Agent = Connection[DictRow]
HOME = "/org/acme/user/ana"


def configure(world: World, layer: str = "semantic", **settings: Any) -> None:
    """Change settings of a layer."""
    world.admin.execute("SELECT memwarden.configure_layer(%s, %s)", (layer, Jsonb(settings)))


def define(world: World, predicate: str, **said: Any) -> None:
    """Declare something of a predicate."""
    for name in ("subject_schema", "object_schema"):
        if name in said:
            said[name] = Jsonb(said[name])
    call(world.admin, "define_predicate", predicate=predicate, **said)


def say(agent: Agent, subject: str, predicate: str, content: Any, **more: Any) -> DictRow:
    """Write a fact."""
    return write(agent, "semantic", content, subject=subject, predicate=predicate, **more)


def answer(row: DictRow) -> tuple[str, str | None]:
    """Outcome and reason."""
    return row["outcome"], row["reason"]


@pytest.fixture
def managed(world: World) -> World:
    """A store in which everybody has one manager, and a manager several people."""
    configure(world, conflict="review")
    define(world, "manager of", same_key="accumulate", inverse="managed by")
    define(world, "managed_by", same_key="new_version", inverse="manager-of")
    return world


@pytest.mark.parametrize("predicate", ["manager of", "manager_of", "Manager-Of"])
def test_two_managers_of_one_person_contradict(managed: World, predicate: str) -> None:
    """By an index, from the side of the one who is managed, however the predicate is spelled.

    Proves: V4, V5
    """
    carol = say(managed.agent(HOME), "carol", "manager of", "bob")
    said = say(managed.agent(HOME), "alice", predicate, "Bob")
    assert answer(said) == ("REJECTED", "CONTRADICTION")
    [found] = said["detail"]["contradicts"]
    assert (found["item_id"], found["method"]) == (str(carol["item_id"]), "constraint_graph")
    assert (found["rule"], found["score"]) == ("managed by holds one value", 1)
    assert found["similarity"] is None
    assert answer(say(managed.agent(HOME), "alice", "manager of", "dan")) == ("COMMITTED", None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("bob", "managed by", "carol"), ("alice", "manager of", "bob")),
        (("carol", "manager of", "bob"), ("bob", "managed by", "alice")),
    ],
)
def test_it_is_seen_whichever_side_was_told(
    managed: World, first: tuple[str, str, str], second: tuple[str, str, str]
) -> None:
    """Proves: V4."""
    there = say(managed.agent(HOME), *first)
    said = say(managed.agent(HOME), *second, confidence=0.9)
    assert answer(said) == ("DEFERRED", "CONTRADICTION_REVIEW")
    assert said["detail"]["proposal"]["items"] == [str(there["item_id"])]


def test_the_same_from_the_other_side_is_known(managed: World) -> None:
    """Proves: D1, V4."""
    first = say(managed.agent(HOME), "carol", "manager of", "bob")
    for agent in (managed.agent(HOME), managed.agent(HOME)):
        again = say(agent, "Bob", "managed by", "CAROL")
        assert answer(again) == ("REJECTED", "STRUCTURAL_DUPLICATE")
        assert again["item_id"] == first["item_id"]


def test_a_symmetric_predicate_is_its_own_inverse(world: World) -> None:
    """Who is married to one is married to nobody else, and the other way round.

    Proves: V4
    """
    configure(world, conflict="review")
    define(world, "married to", same_key="new_version", inverse="married to")
    first = say(world.agent(HOME), "ana", "married to", "bo")
    again = say(world.agent(HOME), "bo", "married to", "ana")
    assert (*answer(again), again["item_id"]) == (
        "REJECTED",
        "STRUCTURAL_DUPLICATE",
        first["item_id"],
    )
    for fact in [
        ("bo", "married to", "cy"),
        ("cy", "married to", "bo"),
        ("cy", "married to", "ana"),
    ]:
        assert answer(say(world.agent(HOME), *fact)) == ("REJECTED", "CONTRADICTION")
    assert answer(say(world.agent(HOME), "cy", "married to", "dan")) == ("COMMITTED", None)


def test_one_s_own_newer_value_takes_the_place_of_the_older(managed: World) -> None:
    """As a version would, were it told from the same side.

    Proves: V10, D5
    """
    agent = managed.agent(HOME)
    old = say(agent, "carol", "manager of", "bob")
    new = say(agent, "alice", "manager of", "bob")
    assert answer(new) == ("COMMITTED", "REPLACED")
    status = "SELECT status FROM memwarden_data.item WHERE item_id = %s"
    assert managed.value(status, old["item_id"]) == "SUPERSEDED"
    assert managed.value(status, new["item_id"]) == "ACTIVE"


def test_disjoint_predicates_exclude_each_other(world: World) -> None:
    """Of one subject and object, also where one of them is told from the other side.

    Proves: V4
    """
    configure(world, conflict="review")
    define(world, "reports to", same_key="accumulate", inverse="leads")
    define(world, "is independent of", same_key="accumulate", disjoint=["reports to"])
    there = say(world.agent(HOME), "cy", "leads", "bo")
    said = say(world.agent(HOME), "Bo", "is independent of", "cy")
    assert answer(said) == ("REJECTED", "CONTRADICTION")
    [found] = said["detail"]["contradicts"]
    assert (found["item_id"], found["rule"]) == (str(there["item_id"]), "reports to excludes it")
    say(world.agent(HOME), "dan", "is independent of", "eva")
    for fact in [("dan", "reports to", "eva"), ("eva", "leads", "dan")]:
        assert answer(say(world.agent(HOME), *fact)) == ("REJECTED", "CONTRADICTION")
    assert answer(say(world.agent(HOME), "eva", "reports to", "dan")) == ("COMMITTED", None)


def test_a_typed_relation_takes_what_it_asks_for(world: World) -> None:
    """All violations at once, and none quotes the content.

    Proves: V4
    """
    person = {"type": "string", "pattern": "^[a-z]+ [a-z]+$"}
    define(world, "weighs", subject_schema=person, object_schema={"type": "number", "minimum": 1})
    agent = world.agent(HOME)
    wrong = say(agent, "zzyzx", "weighs", "a lot of zzyzx")
    assert answer(wrong) == ("REJECTED", "RELATION_VIOLATION")
    assert [e["code"] for e in wrong["detail"]["errors"]] == ["RELATION_VIOLATION"] * 2
    assert "zzyzx" not in str(wrong["detail"])
    assert answer(say(agent, "ana lind", "weighs", 60)) == ("COMMITTED", None)


def test_what_has_an_inverse_is_about_names(managed: World) -> None:
    """An object that is none would be seen from one side only.

    Proves: V4
    """
    said = say(managed.agent(HOME), "carol", "manager of", {"who": "bob"})
    assert answer(said) == ("REJECTED", "RELATION_VIOLATION")


def test_what_was_there_before_the_definition_is_seen(world: World) -> None:
    """Proves: V4."""
    configure(world, conflict="review")
    define(world, "manager of", same_key="accumulate")
    there = say(world.agent(HOME), "carol", "manager of", "bob")
    define(world, "manager of", same_key="accumulate", inverse="managed by")
    said = say(world.agent(HOME), "alice", "manager of", "bob")
    assert said["detail"]["contradicts"][0]["item_id"] == str(there["item_id"])
    define(world, "manager of", same_key="accumulate")
    assert answer(say(world.agent(HOME), "alice", "manager of", "bob")) == ("COMMITTED", None)


def test_what_comes_back_is_seen(managed: World) -> None:
    """Proves: V4, T5."""
    agent = managed.agent(HOME, role="curator")
    old = say(agent, "carol", "manager of", "bob")
    call(agent, "retract", item_id=old["item_id"], reason="a mistake")
    new = say(agent, "alice", "manager of", "bob")
    call(agent, "retract", item_id=new["item_id"], reason="a mistake")
    call(agent, "rollback", item_id=old["item_id"], reason="no mistake")
    said = say(managed.agent(HOME), "dan", "manager of", "bob")
    assert said["detail"]["contradicts"][0]["item_id"] == str(old["item_id"])


def test_of_other_times_there_is_no_contradiction(managed: World) -> None:
    """Proves: V4, T4."""
    say(
        managed.agent(HOME),
        "carol",
        "manager of",
        "bob",
        valid_from="2020-01-01",
        valid_to="2022-01-01",
    )
    agent = managed.agent(HOME)
    later = say(agent, "alice", "manager of", "bob", valid_from="2022-01-01")
    assert answer(later) == ("COMMITTED", None)
    within = say(
        managed.agent(HOME),
        "bob",
        "managed by",
        "dan",
        valid_from="2021-05-01",
        valid_to="2021-06-01",
    )
    assert answer(within) == ("REJECTED", "CONTRADICTION")


def test_another_scope_or_layer_is_not_asked(managed: World) -> None:
    """Proves: V4."""
    say(managed.agent(HOME), "carol", "manager of", "bob")
    other = managed.agent("/org/acme/user/bo")
    assert answer(say(other, "alice", "manager of", "bob")) == ("COMMITTED", None)
    elsewhere = write(
        managed.agent(HOME), "durable", "bob", subject="alice", predicate="manager of"
    )
    assert answer(elsewhere) == ("COMMITTED", None)


@pytest.mark.parametrize("fact", [("alice", "manager of", "bob"), ("bob", "managed by", "carol")])
def test_what_the_writer_may_not_read_is_not_told(
    managed: World, fact: tuple[str, str, str]
) -> None:
    """Neither as a contradiction nor as the same.

    Proves: V5, A3
    """
    chief = managed.agent(HOME, clearance="restricted")
    clerk = managed.agent(HOME, clearance="internal")
    say(chief, "carol", "manager of", "bob", classification="restricted")
    said = say(clerk, *fact)
    assert answer(said) == ("COMMITTED", None)
    assert said["detail"] is None


def test_of_many_who_contradict_each_other_from_both_sides_one_wins(managed: World) -> None:
    """32 at once: one fact stands, and nobody waits for ever.

    Proves: V5
    """
    agents = [managed.agent(HOME) for _ in range(32)]
    for agent in agents:
        agent.execute("SET lock_timeout = '2min'")

    def tell(number: int) -> DictRow:
        boss = f"boss {number // 2}"
        fact = ("bob", "managed by", boss) if number % 2 else (boss, "manager of", "bob")
        return say(agents[number], *fact)

    answers = [answer(row) for row in together([partial(tell, n) for n in range(32)])]
    assert answers.count(("COMMITTED", None)) == 1
    refused = {a for a in answers if a[0] != "COMMITTED"}
    assert refused <= {("REJECTED", "CONTRADICTION"), ("REJECTED", "STRUCTURAL_DUPLICATE")}
    assert managed.value("SELECT count(*) FROM memwarden_data.item WHERE status = 'ACTIVE'") == 1


def test_a_definition_while_others_write_misses_nothing(world: World) -> None:
    """Whoever writes as the inverse is declared is found by it afterwards.

    Proves: V4
    """
    configure(world, conflict="review")
    define(world, "manager of", same_key="accumulate")
    agents = [world.agent(HOME) for _ in range(8)]
    admin = join(world, "/org/acme", "agent", "admin")
    actions: list[Callable[[], object]] = [
        partial(say, a, "carol", "manager of", f"p{n}") for n, a in enumerate(agents)
    ]
    definition = {"predicate": "manager of", "same_key": "accumulate", "inverse": "managed by"}
    actions.append(partial(call, admin, "define_predicate", **definition))
    together(actions)
    unseen = world.value(
        "SELECT count(*) FROM memwarden_data.item"
        " WHERE status = 'ACTIVE' AND inverse_key_hash IS NULL"
    )
    assert unseen == 0


def test_both_predicates_of_a_pair_say_so(world: World) -> None:
    """And when one of them says otherwise, so does the other.

    Proves: V4
    """
    define(world, "leads", inverse="reports to", disjoint=["follows", "obeys"])
    define(world, "serves", inverse="reports to")
    define(world, "follows", disjoint=["leads"])
    define(world, "leads", disjoint=["follows"])
    rows = world.rows(
        "SELECT predicate, inverse, disjoint FROM memwarden_data.predicate"
        " WHERE predicate IN ('leads', 'serves', 'reports to', 'follows', 'obeys')"
    )
    assert {r["predicate"]: (r["inverse"], r["disjoint"]) for r in rows} == {
        "leads": (None, ["follows"]),
        "serves": ("reports to", []),
        "reports to": ("serves", []),
        "follows": (None, ["leads"]),
        "obeys": (None, []),
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"inverse": " "},
        {"disjoint": ["leads"]},
        {"disjoint": ["x", None]},
        {"object_schema": {"type": "nothing"}},
        {"subject_schema": {"$ref": "https://example.org"}},
    ],
)
def test_what_is_no_definition_is_refused(world: World, wrong: dict[str, Any]) -> None:
    """With the state that the reference names."""
    with pytest.raises(psycopg.Error) as raised:
        define(world, "leads", **wrong)
    assert raised.value.sqlstate == "22023"


def test_different_scopes_do_not_wait_for_each_other(managed: World) -> None:
    """While a fact and its contrary are not yet committed in one scope, others are written into.

    Proves: V4
    """
    holder, same, other = (managed.agent(HOME, descendants=True) for _ in range(3))
    managed.scope(f"{HOME}/task/t")
    for connection in (same, other):
        connection.execute("SET lock_timeout = '1ms'")
    with holder.transaction():
        say(holder, "carol", "manager of", "bob")
        say(holder, "bob", "managed by", "alice", confidence=0.9)
        for agent, place in (
            (other, f"{HOME}/task/t"),
            (managed.agent("/org/acme/user/bo"), "/org/acme/user/bo"),
        ):
            for fact in [("dan", "manager of", "bob"), ("bob", "managed by", "dan")]:
                said = say(agent, *fact, scope=place)
                assert answer(said) in (
                    ("COMMITTED", None),
                    ("REJECTED", "STRUCTURAL_DUPLICATE"),
                )
        # Within the scope it is otherwise.
        assert answer(say(same, "eva", "manager of", "bob")) == ("DEFERRED", "SCOPE_BUSY")
