"""What a writer may not see never shows in what it is told: nothing answers as something hidden."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Json

from access import call
from conftest import World
from helpers import recall, write
from identity.paths import READERS, relations
from identity.twins import HIDINGS, Side, twins

# What a caller is told is the same to whoever takes on its role; test_isolation.py logs in.
WARM_LOGINS = True

KEY = {"subject": "Ana Lind", "predicate": "lives in"}
LOUD = {"subject": "ANA  LIND", "predicate": "Lives in"}
FACT = {"city": "Green street, Lund"}
SHOUTED = {"city": "GREEN STREET,  Lund"}
OTHER = {"city": "Red square"}

# The first write decides what it might meet: each on a key of its own.
FIRST: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "exact": (FACT, KEY),
    "structural": (SHOUTED, KEY),
    "another spelling of the key": (FACT, LOUD),
    "another value": (OTHER, KEY),
    "another value, loud": (OTHER, LOUD),
}

# The order in which things were made, so that their numbers are compared in that order.
ORDERS = {
    "memwarden.items": "created_at, item_id",
    "memwarden.requests": "submitted_at, decided_at",
    "memwarden.gate_statistics": "gate, decision, reason",
}


# What may be asked of the past of one item, or undone of it.
BY_NUMBER = (
    "as_of(item_id => %s)",
    "diff(%s, 1, 1)",
    "lineage(%s)",
    "lineage(%s, 'derived')",
    "log_proof(%s)",
    "expire(%s, 'no')",
    "recover(%s, 'no')",
    "rollback(%s, 'no')",
    "rollback(%s, 'no', to_version => 1)",
    "rollback(%s, 'no', restore => '{}')",
    "reclassify(%s, 'durable', 'no')",
)


def about(subject: dict[str, str], number: int) -> dict[str, str]:
    """A key of its own for each number."""
    return {"subject": f"{subject['subject']} {number}", "predicate": subject["predicate"]}


def story(side: Side, layer: str) -> list[Any]:
    """Write what may be hidden already, and again, and differently; ask about all of it."""
    told: list[Any] = []
    for number, (content, key) in enumerate(FIRST.values()):
        mine, quiet = about(key, number), about(KEY, number)
        hidden = side.hide(layer, FACT, **quiet, idempotency_key=f"key {number}")
        told += [side.write(layer, content, **mine), side.write(layer, content, **mine)]
        told += [
            side.write(layer, content, **mine, idempotency_key=f"key {number}"),
            side.write(layer, FACT, **mine, idempotency_key=f"key {number}"),
            side.write(layer, SHOUTED, **quiet),
            side.write(layer, {"city": f"Blue lane {number}"}, **quiet),
            side.write(layer, {"city": f"Blue lane {number}"}, **mine, idempotency_key="again"),
            side.write(layer, FACT),
            *probes(side, hidden),
        ]
        batch = [FACT, SHOUTED, {"city": "Black lane"}, FACT]
        asked = [{"layer": layer, "content": each, "scope": side.task} | quiet for each in batch]
        call_many = "SELECT * FROM memwarden.write_many(%s)"
        told.append(side.rows(call_many, Json(asked, dumps=json.dumps)))
    return told


def probes(side: Side, item_id: UUID) -> list[Any]:
    """Ask for one item by its number, in every way there is."""
    return [
        side.rows("SELECT * FROM memwarden.get(%s)", item_id),
        side.rows("SELECT * FROM memwarden.history(%s)", item_id),
        side.rows("SELECT * FROM memwarden.promote(%s)", item_id),
        side.rows("SELECT * FROM memwarden.promote(%s, %s)", item_id, side.home),
        side.rows("SELECT * FROM memwarden.annotate(%s, 'doubted', 'why?')", item_id),
        side.rows("SELECT * FROM memwarden.retract(%s, 'no')", item_id),
        *(side.rows(f"SELECT * FROM memwarden.{each}", item_id) for each in BY_NUMBER),
        side.rows("SELECT * FROM memwarden.explain_access(%s, %s)", side.writer_name, item_id),
        side.rows("SELECT * FROM memwarden.close_scope(%s, ARRAY[%s])", side.task, item_id),
    ]


@pytest.mark.parametrize("layer", ["session", "episodic", "semantic"])
@pytest.mark.parametrize("hiding", HIDINGS)
def test_something_hidden_answers_as_nothing(shared_world: World, hiding: str, layer: str) -> None:
    """Every answer, record, table and error is the one of a store that does not hold it.

    Duplicates in any spelling, a key that is taken, a session's key of another owner, idempotency
    keys: gates, reasons, numbers of versions and items, also what closing the scope releases.

    Proves: A3, A9
    """
    with twins(shared_world, hiding) as sides:
        here, there = (story(side, layer) for side in sides)
        for step, (present, absent) in enumerate(zip(here, there, strict=True)):
            assert present == absent, f"step {step}"
        seen = [each for each in relations(sides[0].world.admin, READERS[0]) if each["readable"]]
        assert ORDERS.keys() <= {each["name"] for each in seen}
        for name in (each["name"] for each in seen):
            query = f"SELECT t.* FROM {name} AS t ORDER BY {ORDERS.get(name, 1)}"
            present, absent = (side.rows(query) for side in sides)
            assert present == absent, name
            assert isinstance(present, list), present
        for query in (
            "SELECT * FROM memwarden.recall('green lane', k => 100) ORDER BY item_id",
            "SELECT * FROM memwarden.recall('green', k => 100, fusion => 'rrf') ORDER BY item_id",
            "SELECT * FROM memwarden.recall(subject => 'ana lind 1', k => 100) ORDER BY item_id",
        ):
            present, absent = (side.rows(query) for side in sides)
            assert present == absent, query
            assert present
        closed = "SELECT * FROM memwarden.close_scope('{}') ORDER BY item_id"
        present, absent = (side.rows(closed.format(side.task)) for side in sides)
        assert present == absent
        assert present


EXPLAIN = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)"


@pytest.mark.parametrize("hiding", HIDINGS)
def test_a_plan_does_not_count_what_is_hidden(shared_world: World, hiding: str) -> None:
    """EXPLAIN ANALYZE tells how many rows a filter removed: of what is hidden it meets none.

    Proves: A3, A9
    """
    with twins(shared_world, hiding) as sides:
        for side in sides:
            side.hide("semantic", FACT, **KEY)
            side.write("semantic", OTHER)
        seen = [each for each in relations(sides[0].world.admin, READERS[0]) if each["readable"]]
        for name in (each["name"] for each in seen):
            query = f"{EXPLAIN} SELECT FROM {name} AS t WHERE t::text ~ %s"
            present, absent = (side.rows(query, "Lund") for side in sides)
            assert present == absent, name
            assert isinstance(present, list), present


def both(side: Side, layer: str) -> tuple[UUID, UUID]:
    """The item of the author, which is hidden, and the one that the writer made of the same key."""
    hidden = side.hide(layer, FACT, **KEY)
    row = write(side.writer, layer, OTHER, scope=side.task, **LOUD)
    assert row["outcome"] == "COMMITTED"
    return hidden, row["item_id"]


def versions(shared_world: World, item_id: UUID) -> list[Any]:
    """What an item has said, oldest first."""
    rows = shared_world.rows(
        "SELECT content, version, status FROM memwarden_data.version WHERE item_id = %s"
        " ORDER BY version",
        item_id,
    )
    assert [row["version"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["status"] for row in rows[:-1]] == ["SUPERSEDED"] * (len(rows) - 1)
    return [row["content"] for row in rows]


@pytest.mark.parametrize("layer", ["session", "semantic"])
@pytest.mark.parametrize("hiding", HIDINGS)
def test_both_stay_and_who_sees_both_updates_the_one_of_its_label(
    shared_world: World, hiding: str, layer: str
) -> None:
    """Neither chain is touched by the other's writer; a cleared reader sees both.

    An update by who sees both goes to the item of its label; in a session, to its own.

    Proves: A3, D5
    """
    with twins(shared_world, hiding) as (side, _):
        hidden, open_ = both(side, layer)
        assert hidden != open_
        assert (versions(shared_world, hidden), versions(shared_world, open_)) == ([FACT], [OTHER])
        assert {row["item_id"] for row in recall(side.reader)} == {hidden, open_}
        assert {row["item_id"] for row in recall(side.writer)} == {open_}
        again = write(side.writer, layer, {"city": "2"}, scope=side.task, **KEY)
        assert again["item_id"] == open_
        mine = write(side.author, layer, {"city": "3"}, scope=side.task, **KEY, **side.secret)
        assert (mine["outcome"], mine["item_id"]) == ("COMMITTED", hidden), mine
        assert versions(shared_world, open_) == [OTHER, {"city": "2"}]
        assert versions(shared_world, hidden) == [FACT, {"city": "3"}]
        assert [row["content"] for row in recall(side.writer)] == [{"city": "2"}]
        plain = write(side.author, layer, {"city": "4"}, scope=side.task, **KEY)
        is_own = layer == "session" or not side.secret
        assert (plain["outcome"], plain["item_id"]) == ("COMMITTED", hidden if is_own else open_)


def test_an_update_never_makes_less_of_a_secret(shared_world: World) -> None:
    """Classification, domains and attributes of a key stay, whoever updates it without naming them.

    Proves: A3
    """
    with twins(shared_world, "clearance") as (side, _):
        secret: dict[str, Any] = {"classification": "confidential", "domains": ["medical"]}
        secret["attributes"] = {"tier": "gold"}
        first = write(side.author, "semantic", FACT, scope=side.task, **KEY, **secret)
        lowered: list[dict[str, Any]] = [{}, {"domains": []}]
        lowered += [{"classification": level} for level in ("public", "internal")]
        for number, lower in enumerate(lowered):
            content = {"city": str(number)}
            row = write(side.reader, "semantic", content, scope=side.task, **KEY, **lower)
            assert (row["outcome"], row["item_id"]) == ("COMMITTED", first["item_id"])
            (state,) = call(side.reader, "get", item_id=row["item_id"])
            assert state["classification"] == "confidential"
            assert state["domains"] == ["medical"]
            assert state["attributes"] == {"tier": "gold"}
            assert call(side.writer, "get", item_id=row["item_id"]) == []


def test_what_is_visible_is_still_refused(shared_world: World) -> None:
    """A session's key that another owns, duplicates: where the writer sees them, it is told.

    Proves: W3
    """
    with twins(shared_world, "clearance") as (side, _):
        for layer, content, reason in (
            ("session", OTHER, "NOT_OWNER"),
            ("semantic", FACT, "EXACT_DUPLICATE"),
            ("semantic", SHOUTED, "STRUCTURAL_DUPLICATE"),
        ):
            key = about(KEY, len(content["city"]))
            known = write(side.author, layer, FACT, scope=side.task, **key)
            assert known["outcome"] in ("COMMITTED", "ALREADY_COMMITTED")
            row = write(side.writer, layer, content, scope=side.task, **key)
            assert row["reason"] == reason


def test_scores_do_not_depend_on_what_is_hidden(shared_world: World) -> None:
    """Neither the rarity of words nor the scales: a hidden item is no part of the search.

    Proves: L7, A3
    """
    texts = ["green tea in Lund", "black tea", "coffee in Lund", "rain", "a green hill"]
    with twins(shared_world, "clearance") as sides:
        for side in sides:
            for text in texts:
                write(side.author, "episodic", {"text": text}, scope=side.task)
            for text in ["green tea", "tea tea tea", "Lund Lund green", "hill"]:
                side.hide("episodic", {"text": text}, importance=1.0)
        for arguments in ("", ", fusion => 'rrf'", """, weights => '{"keyword": 1}'"""):
            query = f"SELECT * FROM memwarden.recall('green tea in Lund'{arguments})"
            present, absent = (side.rows(query) for side in sides)
            assert present == absent
            assert len(present) == len(texts)


def test_counts_of_others_are_not_told(shared_world: World) -> None:
    """gate_statistics counts the caller's own requests, status() its own deferred ones.

    Proves: A9
    """
    with twins(shared_world, "clearance") as (side, _):
        first = side.write("semantic", OTHER)
        queries = ("SELECT * FROM memwarden.gate_statistics", "SELECT * FROM memwarden.status()")
        before = [side.rows(query) for query in queries]
        for number in range(3):
            side.hide("semantic", {"city": str(number)})
        shared_world.admin.execute(
            "BEGIN; SET LOCAL session_replication_role = replica;"
            " INSERT INTO memwarden_data.write_request"
            "  (request_id, org_id, principal_id, submitted_at, outcome, gates)"
            " SELECT memwarden_internal.uuid7(), org_id, principal_id, now(), 'DEFERRED', ''"
            "   FROM memwarden_data.principal WHERE name = %(author)s; COMMIT".replace(
                "%(author)s", f"'{side.author.info.user}'"
            )
        )
        assert [side.rows(query) for query in queries] == before
        assert first[0]["outcome"] == "COMMITTED"


def past(side: Side, item_id: UUID) -> list[Any]:
    """Everything that the writer can ask of the past of an item, and of the store's."""
    return [
        side.rows("SELECT * FROM memwarden.history(%s)", item_id),
        side.rows("SELECT * FROM memwarden.lineage(%s)", item_id),
        side.rows("SELECT * FROM memwarden.lineage(%s, 'derived')", item_id),
        side.rows("SELECT * FROM memwarden.get(%s)", item_id),
        side.rows("SELECT * FROM memwarden.as_of()"),
        side.rows("SELECT * FROM memwarden.as_of(valid_time => now() + interval '1 year')"),
        side.rows("SELECT * FROM memwarden.diff_store(now() - interval '1 hour')"),
        side.rows(
            "SELECT * FROM memwarden.diff_store(now() - interval '1 hour', scope => %s)", side.task
        ),
    ]


def undone(side: Side, layer: str) -> list[Any]:
    """Beside a hidden item of the same key: change one's own, undo it, look at the past."""
    told: list[Any] = []
    hidden = side.hide(layer, FACT, **KEY)
    side.hide(layer, {"city": "hidden, too"}, **KEY)
    more = side.hide(layer, {"city": "of another key"}, subject="Bo Lind", predicate="lives in")
    evidence = [{"type": "memory_item", "uri": f"memwarden:item/{each}"} for each in (hidden, more)]
    own = write(side.writer, layer, OTHER, scope=side.task, evidence=evidence, **KEY)["item_id"]
    other = write(side.writer, layer, {"city": "a town"}, scope=side.task)["item_id"]
    steps = [
        ("rollback(%s, 'bad')", own),
        ("rollback(%s, 'not bad')", own),
        ("expire(%s, 'over')", own),
        ("recover(%s, 'not over')", own),
        (f"merge('{own}', %s, 'one')", other),
        ("rollback(%s, 'two')", own),
        (f"merge(%s, '{more}', 'one')", own),
        (f"merge('{more}', %s, 'one')", own),
        (f"rollback(%s, 'bad', restore => ARRAY['{more}']::uuid[])", own),
        ("retract(%s, 'bad')", own),
        ("rollback(%s, 'not bad', to_version => 1)", own),
        ("reclassify(%s, 'durable', 'it stays')", own),
        ("rollback(%s, 'it does not')", own),
    ]
    for query, item_id in steps:
        told.append(side.rows(f"SELECT * FROM memwarden.{query}", item_id))
        told += past(side, own)
    if side.present:
        call(side.author, "retract", item_id=more, reason="wrong")
        write(side.author, layer, {"city": "once more"}, scope=side.task, **KEY, **side.secret)
    # Also something that all but who reads only its own may see.
    write(side.author, layer, {"city": "an open one"}, scope=side.task)
    author, unknown = side.author.info.user, "00000000-0000-7000-8000-000000000000"
    for arguments in (
        f"agent => '{author}'",
        f"scope => '{side.home}', agent => '{author}'",
        f"requests => ARRAY['{unknown}', '{hidden}']::uuid[]",
        f"scope => '{side.task}'",
    ):
        told.append(side.rows(f"SELECT * FROM memwarden.preview_rollback({arguments})"))
        told.append(side.rows(f"SELECT * FROM memwarden.rollback_batch('bad', {arguments})"))
    return told + past(side, own) + past(side, other)


@pytest.mark.parametrize("layer", ["session", "semantic"])
@pytest.mark.parametrize("hiding", HIDINGS)
def test_the_past_and_its_undoing_tell_nothing(
    shared_world: World, hiding: str, layer: str
) -> None:
    """Numbers of versions, keys, evidence that names it, what turned stale, what a batch undid.

    Proves: A3, A9
    """
    with twins(shared_world, hiding) as sides:
        here, there = (undone(side, layer) for side in sides)
        for step, (present, absent) in enumerate(zip(here, there, strict=True)):
            assert present == absent, f"step {step}"
