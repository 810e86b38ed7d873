"""How secret an item is and in which domains it lies: settled in writing, never loosened."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, join, state
from conftest import World
from helpers import beside_names, recall, write, write_many

LEVELS = ["public", "internal", "confidential", "restricted"]
DOMAINS = ["law", "tax"]
ALL = {"clearance": "restricted", "domains": DOMAINS}
KEY = {"subject": "Ana", "predicate": "owes"}


def seen(reader: Connection[DictRow]) -> set[UUID]:
    """Return the items a reader sees; every way to see them must agree."""
    found = {row["item_id"] for row in recall(reader, k=1000)}
    assert {
        row["item_id"] for row in reader.execute("SELECT item_id FROM memwarden.items")
    } == found
    return found


def bears(world: World, item: UUID) -> tuple[str, list[str], dict[str, Any]]:
    """Return the classification, domains and attributes of an item."""
    (row,) = world.rows(
        "SELECT c.name, l.domains, l.attributes FROM memwarden_data.item AS i"
        "  JOIN memwarden_data.label AS l USING (label_id)"
        "  JOIN memwarden_data.classification AS c ON c.level = l.classification"
        " WHERE i.item_id = %s",
        item,
    )
    return row["name"], row["domains"], row["attributes"]


def subsets(names: list[str]) -> list[list[str]]:
    """Return every selection of the names."""
    return [list(s) for s in chain.from_iterable(combinations(names, n) for n in range(3))]


def test_nobody_writes_or_reads_above_its_clearance(shared_world: World, home: str) -> None:
    """Every clearance against every classification, and the default, both ways.

    Proves: A3
    """
    written: dict[UUID, str] = {}
    for clearance in LEVELS:
        writer = join(shared_world, home, clearance=clearance)
        for classification in [None, *LEVELS]:
            text = f"{classification} of {clearance}"
            row = write(writer, "semantic", text, classification=classification)
            effective = classification or min("internal", clearance, key=LEVELS.index)
            if LEVELS.index(effective) > LEVELS.index(clearance):
                assert (row["gate"], row["reason"]) == ("06_access", "CLEARANCE_TOO_LOW")
                assert row["item_id"] is None
                continue
            assert row["outcome"] == "COMMITTED"
            written[row["item_id"]] = effective
            assert bears(shared_world, row["item_id"])[0] == effective
    assert len(written) == 14
    for clearance in LEVELS:
        reader = join(shared_world, home, clearance=clearance)
        cleared = LEVELS[: LEVELS.index(clearance) + 1]
        assert seen(reader) == {item for item, level in written.items() if level in cleared}
        for item, level in written.items():
            for function in ("get", "history"):
                assert bool(call(reader, function, item_id=item)) == (level in cleared)
            if level not in cleared:
                hidden = {"item_id": item}
                assert state(reader, "retract", **hidden, reason="no") == "42704"
                assert state(reader, "annotate", **hidden, verdict="doubted") == "42704"
                assert state(reader, "promote", **hidden) == "42704"


def test_nobody_writes_or_reads_a_domain_it_does_not_hold(shared_world: World, home: str) -> None:
    """An item is seen by who holds all of its domains.

    Proves: A3
    """
    written: dict[UUID, set[str]] = {}
    for held in subsets(DOMAINS):
        writer = join(shared_world, home, domains=held)
        for domains in subsets(DOMAINS):
            row = write(writer, "semantic", f"{domains} by {held}", domains=domains)
            if set(domains) <= set(held):
                assert row["outcome"] == "COMMITTED"
                written[row["item_id"]] = set(domains)
            else:
                assert (row["gate"], row["reason"]) == ("06_access", "DOMAIN_NOT_HELD")
    assert len(written) == 9
    for held in subsets(DOMAINS):
        reader = join(shared_world, home, domains=held)
        assert seen(reader) == {item for item, domains in written.items() if domains <= set(held)}


@pytest.mark.parametrize(
    ("domains", "kept"),
    [
        (None, []),
        ([], []),
        (["tax", "law", "tax"], ["law", "tax"]),
        ([["tax"], ["law"]], ["law", "tax"]),
        ([None], "DOMAIN_NOT_HELD"),
        (["law", None], "DOMAIN_NOT_HELD"),
        (["Law"], "DOMAIN_NOT_HELD"),
        ([""], "DOMAIN_NOT_HELD"),
        (["law", "medicine"], "DOMAIN_NOT_HELD"),
    ],
    ids=repr,
)
def test_domains_are_a_set_of_names(
    shared_world: World, home: str, domains: Any, kept: Any
) -> None:
    """Order, repetition and nesting do not matter; a name that is not held does.

    Proves: A3
    """
    writer = join(shared_world, home, **ALL)
    row = write(writer, "semantic", "something", domains=domains)
    assert (row["reason"] or bears(shared_world, row["item_id"])[1]) == kept


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ({"classification": "confidential"}, {}, "confidential"),
        ({"classification": "confidential"}, {"classification": "public"}, "confidential"),
        ({"classification": "confidential"}, {"classification": "restricted"}, "restricted"),
        ({"classification": "public"}, {}, "public"),
        ({"classification": "public"}, {"classification": "internal"}, "internal"),
        ({"domains": ["law"]}, {}, ["law"]),
        ({"domains": ["law"]}, {"domains": []}, ["law"]),
        ({"domains": ["law"]}, {"domains": ["tax"]}, ["law", "tax"]),
        ({"attributes": {"urgent": True}}, {}, {"urgent": True}),
        ({"attributes": {"urgent": True}}, {"attributes": {"urgent": False}}, {"urgent": False}),
        ({"attributes": {"urgent": True}}, {"attributes": {}}, {}),
    ],
    ids=repr,
)
def test_a_new_version_is_never_less_secret(
    shared_world: World, home: str, first: dict[str, Any], second: dict[str, Any], kept: Any
) -> None:
    """Its classification only rises, its domains only grow; attributes are as they are named last.

    Proves: A3
    """
    writer = join(shared_world, home, **ALL)
    org = home.split("/")[2]
    call(
        shared_world.admin,
        "define_attribute",
        bearer="item",
        name="urgent",
        type="boolean",
        org=org,
    )
    item = write(writer, "semantic", "10", **KEY, **first)["item_id"]
    again = write(writer, "semantic", "20", **KEY, **second)
    assert (again["outcome"], again["item_id"]) == ("COMMITTED", item)
    assert kept in bears(shared_world, item)


def test_an_item_that_becomes_secret_takes_its_history_along(
    shared_world: World, home: str
) -> None:
    """What everybody has read before is hidden with it: versions of one item are seen together.

    Proves: A3
    """
    writer, reader = join(shared_world, home, **ALL), shared_world.agent(home)
    item = write(writer, "semantic", "10", **KEY)["item_id"]
    assert seen(reader) == {item}
    write(writer, "semantic", "20", **KEY, classification="confidential")
    assert seen(reader) == set()
    assert call(reader, "history", item_id=item) == []
    assert len(call(writer, "history", item_id=item)) == 2


def test_a_key_held_by_a_hidden_item_is_free_to_who_cannot_see_it(
    shared_world: World, home: str
) -> None:
    """It gets an item of its own, by which it learns nothing; who sees both says which it means.

    Proves: A3
    """
    knows, ignorant = join(shared_world, home, **ALL), shared_world.agent(home)
    secret = {"classification": "restricted"}
    hidden = write(knows, "semantic", "a million", **KEY, **secret)["item_id"]
    # Not even the same words are a duplicate.
    own = write(ignorant, "semantic", "a million", **KEY)
    assert (own["outcome"], own["reason"]) == ("COMMITTED", None)
    assert own["item_id"] != hidden
    assert write(ignorant, "semantic", "nothing", **KEY)["item_id"] == own["item_id"]
    assert seen(ignorant) == {own["item_id"]}
    assert seen(knows) == {hidden, own["item_id"]}
    assert write(knows, "semantic", "two million", **KEY, **secret)["item_id"] == hidden
    assert (
        write(knows, "semantic", "ten", **KEY, classification="internal")["item_id"]
        == (own["item_id"])
    )


REFUSED: dict[str, dict[str, Any]] = {
    "UNKNOWN_CLASSIFICATION": {"classification": "swordfish"},
    "CLEARANCE_TOO_LOW": {"classification": "restricted"},
    "DOMAIN_NOT_HELD": {"domains": ["swordfish"]},
    "ATTRIBUTES_INVALID": {"attributes": {"swordfish": "swordfish"}},
}
TEXT = {"text": "swordfish"}
MORE = {"subject": "swordfish", "predicate": "swordfish", "idempotency_key": "swordfish"}


def kept_text(world: World) -> int:
    """Count the rows of every table of the storage that hold the caller's word."""
    tables = world.rows(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
        " WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p')"
    )
    assert len(tables) > 20
    return sum(
        world.value(f"SELECT count(*) FROM {row['name']} AS t WHERE t::text LIKE '%%swordfish%%'")
        for row in tables
    )


@pytest.mark.parametrize("reason", REFUSED)
def test_a_refused_request_keeps_nothing_of_what_it_said(world: World, reason: str) -> None:
    """No table holds a word of it, and the answer repeats none but a name that led nowhere.

    Proves: A3, W1
    """
    agent = world.agent()
    evidence = [{"type": "document", "uri": "https://swordfish.example"}]
    row = write(agent, "semantic", TEXT, evidence=evidence, **MORE, **REFUSED[reason])
    assert (row["outcome"], row["gate"], row["reason"]) == ("REJECTED", "06_access", reason)
    assert "swordfish" not in str(beside_names(row))
    assert kept_text(world) == 0


def test_a_bad_request_of_a_batch_harms_no_other(world: World) -> None:
    """Each is answered for itself, in its place; what is no list or object is an argument's fault.

    Proves: A3, W8
    """
    agent = world.agent()
    expected: dict[str, Any] = {
        "INVALID_ARGUMENT": {"domains": "swordfish"},
        "UNKNOWN_CLASSIFICATION ": {"classification": 5},
        "ATTRIBUTES_INVALID ": {"attributes": ["swordfish"]},
        "ATTRIBUTES_INVALID  ": {"attributes": "swordfish"},
        "DOMAIN_NOT_HELD ": {"domains": [None]},
    }
    expected = REFUSED | expected
    requests: list[dict[str, Any]] = []
    for number, bad in enumerate(expected.values()):
        requests += [{"content": TEXT} | MORE | bad, {"content": {"text": f"good {number}"}}]
    answers = write_many(agent, [{"layer": "semantic"} | request for request in requests])
    assert [row["reason"] for row in answers[::2]] == [reason.strip() for reason in expected]
    assert {row["outcome"] for row in answers[1::2]} == {"COMMITTED"}
    assert "swordfish" not in str([beside_names(row) for row in answers])
    assert kept_text(world) == 0
    assert len(recall(agent, k=100)) == len(expected)


def test_labels_that_are_there_serve_when_an_agent_may_make_no_more(world: World) -> None:
    """The 257th combination is refused, also as a new version; the others go on, as do others.

    Proves: A3
    """
    domains = [f"d{n}" for n in range(9)]
    agent = join(world, "/org/acme", domains=domains)
    chosen = [[d for bit, d in enumerate(domains) if n >> bit & 1] for n in range(512)]
    answers = write_many(
        agent,
        [{"layer": "semantic", "content": f"{n}", "domains": chosen[n]} for n in range(300)],
    )
    assert [row["reason"] for row in answers] == [None] * 256 + ["TOO_MANY_LABELS"] * 44
    assert write(agent, "semantic", "more", domains=chosen[255])["outcome"] == "COMMITTED"
    item = write(agent, "semantic", "fact", domains=chosen[1], **KEY)["item_id"]
    other = join(world, "/org/acme", domains=domains)
    assert write(other, "semantic", "its own", domains=chosen[256])["outcome"] == "COMMITTED"
    assert write(agent, "semantic", "borrowed", domains=chosen[256])["outcome"] == "COMMITTED"
    # That label and the item's are there; the one of both together is not.
    refused = write(agent, "semantic", "fact 2", domains=chosen[256], **KEY)
    assert (refused["gate"], refused["reason"]) == ("90_commit", "TOO_MANY_LABELS")
    assert call(agent, "get", item_id=item)[0]["version"] == 1
