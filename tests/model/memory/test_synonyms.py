"""Words an organisation holds equal are equal for duplicates and keys, in what is stored too."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write, write_many
from replay import check_store

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def org() -> str:
    """An organisation of the test's own."""
    return uuid.uuid4().hex[:12]


def set_synonyms(admin: Connection[DictRow], org: str, synonyms: Any) -> int:
    """Set an organisation's words; return how many items changed."""
    row = admin.execute(
        "SELECT memwarden.set_synonyms(%s, %s) AS changed", (org, Jsonb(synonyms))
    ).fetchone()
    assert row is not None
    return int(row["changed"])


def test_what_is_held_equal_is_a_duplicate(
    shared_world: World, admin: Connection[DictRow], org: str
) -> None:
    """Words and phrases, in any spelling, in content and in keys; whole words only.

    Proves: D2
    """
    agent = shared_world.agent(f"/org/{org}")
    set_synonyms(admin, org, {"said": "meant", "New York": "NYC", "favours": "prefers"})
    first = write(agent, "semantic", "He said New York.", subject="Ana", predicate="prefers")
    same = write(agent, "semantic", "he MEANT nyc", subject="ana", predicate="favours")
    assert (same["reason"], same["item_id"]) == ("STRUCTURAL_DUPLICATE", first["item_id"])
    moved = write(agent, "semantic", "Boston", subject="Ana", predicate="favours")
    assert (moved["outcome"], moved["item_id"]) == ("COMMITTED", first["item_id"])
    other = write(agent, "semantic", "He is unsaid.", subject="Ana", predicate="prefers")
    assert other["outcome"] == "COMMITTED"


def test_what_is_stored_already_is_compared_by_the_new_words_too(
    shared_world: World, admin: Connection[DictRow], org: str
) -> None:
    """The changed items are counted; setting the same again changes none; removing restores.

    Proves: D2
    """
    agent = shared_world.agent(f"/org/{org}")
    write(agent, "semantic", "The car is red", subject="car", predicate="colour")
    write(agent, "semantic", "The ship is red", subject="ship", predicate="colour")
    write(agent, "working", "A car")
    synonyms = {"automobile": "car", "colour": "color"}
    assert set_synonyms(admin, org, synonyms) == 2
    assert set_synonyms(admin, org, synonyms) == 0
    answer = write(
        agent, "semantic", "the automobile is red", subject="Automobile", predicate="Color"
    )
    assert answer["reason"] == "STRUCTURAL_DUPLICATE"
    assert set_synonyms(admin, org, {}) == 2
    answer = write(
        agent, "semantic", "the automobile is red", subject="Automobile", predicate="Color"
    )
    assert answer["outcome"] == "COMMITTED"


def test_two_facts_that_become_one_key_stay_two_items(
    shared_world: World, admin: Connection[DictRow], org: str
) -> None:
    """Nothing is lost; the next value goes to the one that bore the key's words first.

    Proves: D2, D5
    """
    agent = shared_world.agent(f"/org/{org}")
    older = write(agent, "semantic", "red", subject="car", predicate="colour")
    newer = write(agent, "semantic", "blue", subject="automobile", predicate="colour")
    set_synonyms(admin, org, {"automobile": "car"})
    items = agent.execute("SELECT content FROM memwarden.items ORDER BY content").fetchall()
    assert [row["content"] for row in items] == ["blue", "red"]
    answer = write(agent, "semantic", "green", subject="automobile", predicate="colour")
    assert answer["item_id"] == older["item_id"] != newer["item_id"]
    check_store(shared_world.admin)


def test_keys_may_change_hands(shared_world: World, admin: Connection[DictRow], org: str) -> None:
    """A key that one item gives up goes to the one whose words now mean it, in one step.

    Proves: D2, D5
    """
    agent = shared_world.agent(f"/org/{org}")
    set_synonyms(admin, org, {"a": "b"})
    names = ["gamma", "d", "c", "a"]
    items = {
        name: write(agent, "semantic", f"first {name}", subject=name, predicate="is")["item_id"]
        for name in names
    }
    assert len(set(items.values())) == 4
    # d takes b from a; a would be c, which c has already.
    set_synonyms(admin, org, {"d": "b", "a": "c"})
    for word, name in (("b", "d"), ("c", "c"), ("a", "c"), ("gamma", "gamma")):
        answer = write(agent, "semantic", f"second {word}", subject=word, predicate="is")
        assert answer["item_id"] == items[name]
    set_synonyms(admin, org, {})
    for name in ("a", "c"):
        answer = write(agent, "semantic", f"third {name}", subject=name, predicate="is")
        assert (answer["outcome"], answer["item_id"]) == ("COMMITTED", items[name])
    check_store(shared_world.admin)


@pytest.mark.parametrize("number", ["1e25", "9007199254740993.0", "-1.7976931348623157e308"])
def test_numbers_that_jsonb_writes_out_are_no_obstacle(
    shared_world: World, admin: Connection[DictRow], org: str, number: str
) -> None:
    """Doubles beyond 2^53 are admitted where they are written as such, and stay comparable.

    Proves: D1, D2
    """
    agent = shared_world.agent(f"/org/{org}")
    contents = [f'{{"w": "car", "n": {number}}}', f'{{"w": "automobile", "n": {number}}}']
    requests = [{"layer": "semantic", "content_text": content} for content in contents]
    first = write_many(agent, requests[:1])[0]
    assert first["outcome"] == "COMMITTED"
    assert set_synonyms(admin, org, {"car": "automobile"}) == 1
    answers = write_many(agent, [r | {"idempotency_key": "k"} for r in requests])
    assert {answer["item_id"] for answer in answers} == {first["item_id"]}
    assert [a["reason"] for a in answers] == ["EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE"]


def test_words_of_one_organisation_mean_nothing_to_another(
    shared_world: World, admin: Connection[DictRow], org: str
) -> None:
    """Neither for what it writes nor for what it has written.

    Proves: D2, A4
    """
    other = shared_world.agent(f"/org/{org}b")
    write(other, "semantic", "a car")
    shared_world.scope(f"/org/{org}")
    assert set_synonyms(admin, org, {"car": "automobile"}) == 0
    assert write(other, "semantic", "an automobile")["outcome"] == "COMMITTED"


@pytest.mark.parametrize("layer", ["semantic", "working"])
@pytest.mark.parametrize("place", ["a scope in use", "a new scope"])
def test_nobody_writes_by_the_old_words_while_the_new_ones_are_set(
    shared_world: World, admin: Connection[DictRow], org: str, layer: str, place: str
) -> None:
    """A write that comes meanwhile waits, also where nothing was ever written.

    Proves: D2
    """
    home = f"/org/{org}/user/ana"
    agent = shared_world.agent(f"/org/{org}", descendants=True)
    shared_world.scope(home)
    if place == "a scope in use":
        write(agent, layer, "something", scope=home)
    agent.execute("SET lock_timeout = '10 ms'")
    with admin.transaction():
        set_synonyms(admin, org, {"car": "automobile"})
        waiting = write(agent, layer, "a car", scope=home)
        assert (waiting["outcome"], waiting["reason"]) == ("DEFERRED", "SCOPE_BUSY")
    assert write(agent, layer, "a car", scope=home)["outcome"] in ("COMMITTED", "REJECTED")


@pytest.mark.parametrize("synonyms", [[], "car", {"car": 1}, {"car": ["a"]}, None])
def test_what_is_no_table_of_words_is_refused(
    shared_world: World, admin: Connection[DictRow], org: str, synonyms: Any
) -> None:
    """22023, and the words before stay.

    Proves: D2
    """
    shared_world.scope(f"/org/{org}")
    set_synonyms(admin, org, {"a": "b"})
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        set_synonyms(admin, org, synonyms)
    kept = (
        "SELECT v.synonyms FROM memwarden_data.vocabulary AS v"
        "  JOIN memwarden_data.organisation AS o USING (org_id) WHERE o.name = %s"
    )
    assert shared_world.value(kept, org) == {"a": "b"}


def test_only_an_administrator_sets_words_and_only_for_an_organisation_that_is_there(
    shared_world: World, admin: Connection[DictRow], org: str
) -> None:
    """42501 for everybody else, 42704 for nobody's organisation.

    Proves: D2, Z1
    """
    with pytest.raises(psycopg.errors.UndefinedObject):
        set_synonyms(admin, org, {})
    for group in ("agent", "reviewer", "curator", "auditor"):
        other = shared_world.connect(shared_world.role(f"memwarden_{group}"))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            set_synonyms(other, "shared", {})
