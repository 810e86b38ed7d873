"""Two ids become one and one becomes two, and back: no memory is rewritten, and none is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from access import call, state
from model.entities.conftest import HOME, ORG, Acme, about, register, say
from races import PATIENCE, together, wait_until_blocked

if TYPE_CHECKING:
    from conftest import World


def merge(who: Any, entity: str, into: str) -> None:
    """Merge one entity into another."""
    call(who, "merge_entities", entity=entity, into_entity=into)


def split(who: Any, entity: str, new: str, *aliases: str) -> int:
    """Give some names of an entity to a new one; how many memories went along."""
    rows = call(who, "split_entity", entity=entity, new_entity=new, aliases=list(aliases))
    return int(rows[0]["detail"]["moved"])


@pytest.fixture
def two(acme: Acme) -> Acme:
    """Two entities, each with a memory before anything happens."""
    register(acme.curator, "person:ana", "Ana")
    register(acme.curator, "person:anna", "Anna")
    return acme


def test_a_merge_finds_what_either_was_said_to_be_and_can_be_taken_back(two: Acme) -> None:
    """Of before and of after, from both sides; after the way back each has its own again.

    Proves: F10
    """
    ana = {say(two.agent, "Ana", "likes", 1)["item_id"]}
    anna = {say(two.agent, "Anna", "likes", 2)["item_id"]}
    merge(two.curator, "person:anna", "person:ana")
    merge(two.curator, "person:ana", "person:anna")
    anna.add(say(two.agent, "Anna", "hates", 3)["item_id"])
    for entity in ("person:ana", "person:anna"):
        assert about(two.agent, entity) == ana | anna
    call(two.curator, "unmerge_entity", entity="person:anna")
    assert about(two.agent, "person:ana") == ana
    assert about(two.agent, "person:anna") == anna
    assert state(two.curator, "unmerge_entity", entity="person:anna") == "42704"
    changes = two.curator.execute(
        "SELECT event, entity, other FROM memwarden.entity_changes ORDER BY at DESC LIMIT 2"
    ).fetchall()
    assert [c["event"] for c in changes] == ["unmerged", "merged"]
    assert {(c["entity"], c["other"]) for c in changes} == {("person:anna", "person:ana")}


@pytest.mark.every_version
def test_after_a_split_each_memory_goes_where_it_was_said(acme: Acme) -> None:
    """And back by merging the new one into the old.

    Proves: F10
    """
    register(acme.curator, "person:ana", "Ana", "Ana B")
    one = say(acme.agent, "Ana", "likes", 1)["item_id"]
    other = say(acme.agent, "ana b", "dreads", 2)["item_id"]
    assert about(acme.agent, "person:ana") == {one, other}
    assert split(acme.curator, "person:ana", "person:anab", "Ana B") == 1
    assert about(acme.agent, "person:ana") == {one}
    assert about(acme.agent, "person:anab") == {other}
    third = say(acme.agent, "Ana B", "hates", 3)["item_id"]
    assert about(acme.agent, "person:anab") == {other, third}
    merge(acme.curator, "person:anab", "person:ana")
    assert about(acme.agent, "person:ana") == {one, other, third}
    taken = {"entity": "person:ana", "new_entity": "person:anab", "aliases": ["Ana"]}
    assert state(acme.curator, "split_entity", **taken) == "42710"


def test_a_merge_with_what_one_does_not_see_changes_nothing_for_one(two: Acme) -> None:
    """Neither what is found nor what is shown; who sees both finds both.

    Proves: F10
    """
    register(two.curator, "person:spy", "Mata", classification="restricted")
    high = two.member(clearance="restricted")
    ana = say(two.agent, "Ana", "likes", 1)["item_id"]
    mata = say(high, "Mata", "likes", 2)["item_id"]
    merge(two.curator, "person:ana", "person:spy")
    assert about(two.agent, "person:ana") == {ana}
    assert about(high, "person:ana") == {ana, mata}
    shown = two.agent.execute("SELECT entity, merged_into FROM memwarden.entities").fetchall()
    assert {(s["entity"], s["merged_into"]) for s in shown} == {
        ("person:ana", None),
        ("person:anna", None),
    }
    merge(two.curator, "person:anna", "person:spy")
    assert about(two.agent, "person:anna") == set()


def test_a_memory_that_returns_to_its_words_returns_to_whom_they_mean(acme: Acme) -> None:
    """Proves: F10."""
    register(acme.curator, "person:ana", "Ana")
    register(acme.curator, "company:a", "ACME")
    register(acme.curator, "company:b", "Bolt")
    agent = acme.member(HOME, role="curator")
    item = say(agent, "Ana", "works for", "ACME")["item_id"]
    assert say(agent, "Ana", "works for", "Bolt")["item_id"] == item
    assert (about(agent, "company:a"), about(agent, "company:b")) == (set(), {item})
    call(agent, "rollback", item_id=item, reason="wrong")
    assert (about(agent, "company:a"), about(agent, "company:b")) == ({item}, set())


def test_relations_lead_to_neighbours_that_one_sees(acme: Acme) -> None:
    """As far as asked for, and not through what is hidden.

    Proves: F10
    """
    for entity, name in (("person:ana", "Ana"), ("company:a", "ACME"), ("person:bo", "Bo")):
        register(acme.curator, entity, name)
    register(acme.curator, "person:spy", "Mata", classification="restricted")
    high = acme.member(clearance="restricted")
    items = {
        "ana": say(acme.agent, "Ana", "works for", "ACME")["item_id"],
        "bo": say(acme.agent, "Bo", "owns", "ACME")["item_id"],
        "tea": say(acme.agent, "Bo", "likes", {"drink": "tea"})["item_id"],
        "mata": say(high, "Ana", "knows", "Mata")["item_id"],
    }
    say(high, "Mata", "lives in", "Paris")
    own = {items["ana"], items["mata"]}
    assert about(acme.agent, "person:ana", 0) == own
    assert about(acme.agent, "person:ana", 1) == own | {items["bo"]}
    assert about(acme.agent, "person:ana", 2) == own | {items["bo"], items["tea"]}
    assert len(about(high, "person:ana", 1)) == 4
    rows = call(acme.agent, "recall_entity", entity="person:ana", depth=3)
    assert [row["distance"] for row in rows] == [0, 0, 1, 2]
    assert {row["entity"] for row in rows} == {"person:ana", "company:a", "person:bo"}


def test_merges_that_cross_end_in_one(two: Acme) -> None:
    """Neither a circle nor a deadlock, however often; both find everything.

    Proves: F10
    """
    item = say(two.agent, "Ana", "likes", 1)["item_id"]
    curators = [two.world.connect(two.curator.info.user) for _ in range(2)]
    ways = [("person:ana", "person:anna"), ("person:anna", "person:ana")]
    for _ in range(5):
        together([partial(merge, who, *way) for who, way in zip(curators, ways, strict=True)])
        assert about(two.agent, "person:ana") == about(two.agent, "person:anna") == {item}
        merged = two.world.rows("SELECT 1 FROM memwarden_data.entity WHERE merged_into IS NOT NULL")
        assert len(merged) == 1
        for entity in ("person:ana", "person:anna"):
            try:
                call(two.curator, "unmerge_entity", entity=entity)
            except psycopg.errors.UndefinedObject:
                continue


@pytest.mark.every_version
def test_writes_of_both_names_and_a_merge_do_not_meet(two: Acme) -> None:
    """Proves: F10."""
    writers = [two.world.connect(two.agent.info.user) for _ in range(2)]
    curator = two.world.connect(two.curator.info.user)
    found: set[Any] = set()
    for number in range(5):
        actions: list[Callable[[], Any]] = [
            partial(say, writers[0], "Ana", f"likes {number}", 1),
            partial(merge, curator, "person:ana", "person:anna"),
            partial(say, writers[1], "Anna", f"hates {number}", 1),
        ]
        results = together(actions)
        found |= {row["item_id"] for row in results if row is not None}
        assert about(two.agent, "person:ana") == about(two.agent, "person:anna") == found
        call(two.curator, "unmerge_entity", entity="person:ana")
    assert len(about(two.agent, "person:ana")) == len(about(two.agent, "person:anna")) == 5


def test_a_write_under_way_is_not_left_behind_by_a_split(acme: Acme) -> None:
    """The split waits for it, and takes its memory along; the other way round it means the new one.

    Proves: F10
    """
    register(acme.curator, "person:ana", "Ana", "Ana B")
    curator = acme.world.connect(acme.curator.info.user)
    with ThreadPoolExecutor(1) as pool:
        acme.agent.execute("BEGIN")
        item = say(acme.agent, "Ana B", "likes", 1)["item_id"]
        done = pool.submit(split, curator, "person:ana", "person:anab", "Ana B")
        wait_until_blocked(acme.world.admin, curator)
        acme.agent.execute("COMMIT")
        assert done.result(PATIENCE) == 1
        assert about(acme.agent, "person:anab") == {item}
        curator.execute("BEGIN")
        split(curator, "person:anab", "person:anac", "Ana B")
        late = pool.submit(say, acme.agent, "Ana B", "hates", 2)
        wait_until_blocked(acme.world.admin, acme.agent)
        curator.execute("COMMIT")
        assert late.result(PATIENCE)["detail"]["entities"]["subject"] == {"entity": "person:anac"}


def test_one_value_holds_for_all_names_and_a_split_takes_its_own(acme: Acme) -> None:
    """A newer value by another name takes the place of the older one, as by the same name.

    Proves: F10
    """
    register(acme.curator, "person:ana", "Ana", "Ana B")
    say(acme.agent, "Ana", "lives in", "Lisbon")
    newer = say(acme.agent, "ana b", "lives in", "Porto")["item_id"]
    assert about(acme.agent, "person:ana") == {newer}


def test_erasing_somebody_takes_every_name(acme: Acme) -> None:
    """The entity, its names and attributes, what was said by any name, and what others have of it.

    Proves: F10, R1 (entities)
    """
    register(acme.curator, "person:77", "Ana García")
    register(acme.curator, "company:a", "ACME")
    call(acme.curator, "merge_entities", entity="person:77", into_entity="person:77")
    for entity, name, value in (
        ("person:77", "city", "Lisbon"),
        ("company:a", "contact", "Ana García"),
        ("company:a", "city", "Porto"),
    ):
        call(acme.world.admin, "set_entity_attribute", entity=entity, name=name, value=f'"{value}"')
    say(acme.agent, "person:77", "likes", {"drink": "tea"})
    stays = say(acme.agent, "ACME", "sells", {"what": "tea"})["item_id"]
    arguments = {"identifiers": ["Ana García"], "reason": "asked", "org": "acme"}
    [done] = call(acme.world.admin, "erase_subject", subject="Ana García", **arguments)
    assert (done["status"], done["items"]) == ("COMPLETED", 1)
    for table in ("entity", "entity_alias", "entity_attribute", "memory_key", "entity_event"):
        rows = acme.world.rows(f"SELECT t::text AS row FROM memwarden_data.{table} AS t")
        assert not [r for r in rows if "Ana" in r["row"] or "garcía" in r["row"]], table
    shown = acme.agent.execute("SELECT entity, attributes FROM memwarden.entities").fetchall()
    assert [(s["entity"], s["attributes"]) for s in shown] == [("company:a", {"city": "Porto"})]
    assert about(acme.agent, "company:a") == {stays}


TABLES = ("entity", "entity_alias", "entity_attribute", "memory_key", "entity_event")


def test_the_tables_themselves_tell_no_more(acme: Acme, world: World) -> None:
    """Policies hold where a DBA grants the tables to a login.

    Proves: F10
    """
    register(acme.curator, "person:ana", "Ana")
    register(acme.curator, "person:spy", "Mata", classification="restricted")
    call(
        acme.curator,
        "add_alias",
        entity="person:ana",
        alias="Nightingale",
        classification="restricted",
    )
    say(acme.agent, "Ana", "likes", 1)
    outsider = world.agent("/org/globex/user/eve")
    world.grant_tables(outsider.info.user, acme.agent.info.user)

    def seen(who: Any) -> dict[str, int]:
        return {t: len(who.execute(f"SELECT 1 FROM memwarden_data.{t}").fetchall()) for t in TABLES}

    assert set(seen(outsider).values()) == {0}
    low = seen(acme.agent)
    assert (low["entity"], low["entity_alias"], low["memory_key"], low["entity_event"]) == (
        1,
        2,
        1,
        0,
    )
    assert ORG in HOME
