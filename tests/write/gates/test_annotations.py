"""annotate(): a verifier says of a memory whether it holds, and writes nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection
from psycopg.errors import InsufficientPrivilege, UndefinedObject
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many
from replay import check_store
from scope_calls import annotate, get, organisation_of, promote, refused, remember, retract

Agent = Connection[DictRow]


@pytest.fixture
def author(shared_world: World, home: str) -> Agent:
    """Who wrote what is verified."""
    return shared_world.agent(home)


@pytest.fixture
def verifier(shared_world: World, home: str) -> Agent:
    """Who reads everything in the home and annotates it."""
    return shared_world.agent(home, role="verifier")


@pytest.mark.parametrize("verdict", ["confirmed", "doubted", "refuted"])
@pytest.mark.parametrize("note", [None, "seen it myself", "n" * 2000])
def test_a_verifier_says_what_it_thinks(
    author: Agent, verifier: Agent, home: str, verdict: str, note: str | None
) -> None:
    """An episodic memory of kind annotation beside the item, about the version that it read.

    Proves: A1
    """
    item = remember(author, home, "tea", subject="Ana", predicate="drinks")
    answer = annotate(verifier, item, verdict, note)
    assert answer["outcome"] == "COMMITTED"
    shown = get(author, answer["item_id"])
    expected = {"layer": "episodic", "kind": "annotation", "scope": home}
    assert {name: shown[name] for name in expected} == expected
    said = {"item_id": str(item), "version_id": str(get(author, item)["version_id"])}
    said |= {"verdict": verdict} | ({} if note is None else {"note": note})
    assert shown["content"] == said
    assert shown["text"] == f"{verdict} {note or ''}".strip()
    link = {"type": "memory_item", "uri": f"memwarden:item/{item}"}
    assert shown["provenance"]["evidence"] == [link]
    assert shown["provenance"]["agent"] == verifier.info.user
    assert get(author, item)["version"] == 1


def test_annotations_are_found_by_what_they_are_about(
    author: Agent, verifier: Agent, home: str
) -> None:
    """Their subject is the item; their kind tells them from what happened.

    Proves: A1
    """
    items = [remember(author, home, {"fact": n}) for n in range(2)]
    made = {item: annotate(verifier, item, "doubted")["item_id"] for item in items}
    for item in items:
        (found,) = recall(author, subject=f"memwarden:item/{item}")
        assert found["item_id"] == made[item]
    assert {row["item_id"] for row in recall(author, kind="annotation")} == set(made.values())


def test_two_verifiers_may_agree(world: World) -> None:
    """Each says it once: the second is no duplicate of the first, and the same again says nothing.

    Proves: A1
    """
    home = "/org/acme/user/ana"
    author = world.agent(home)
    verifiers = [world.agent(home, role="verifier") for _ in range(3)]
    item = remember(author, home, "tea", subject="Ana", predicate="drinks")
    for verifier in verifiers:
        assert annotate(verifier, item, "confirmed")["outcome"] == "COMMITTED"
        assert annotate(verifier, item, "confirmed")["outcome"] == "ALREADY_COMMITTED"
    assert len(recall(author, kind="annotation")) == 3
    # One may change its mind, and speak of what the memory says now.
    assert annotate(verifiers[0], item, "refuted")["outcome"] == "COMMITTED"
    write(author, "semantic", "coffee", subject="Ana", predicate="drinks")
    assert annotate(verifiers[0], item, "refuted")["outcome"] == "COMMITTED"
    assert len(recall(author, kind="annotation")) == 5
    check_store(world.admin)


@pytest.mark.parametrize("layer", ["working", "session", "episodic", "semantic", "durable"])
def test_a_verifier_writes_nothing_else(
    author: Agent, verifier: Agent, home: str, layer: str
) -> None:
    """No memory of its own, no other kind, no promotion; what others wrote it does not take back.

    Proves: A1
    """
    key = {"subject": "Ana", "predicate": "drinks"}
    item = remember(author, home, {"in": layer}, layer=layer, **key)
    # A session is its agent's own.
    seen = layer not in ("working", "session")
    assert len(recall(verifier)) == int(seen)
    assert write(verifier, layer, {"own": layer})["reason"] == "ROLE_FORBIDS"
    assert write(verifier, layer, {"changed": layer}, **key)["reason"] == "ROLE_FORBIDS"
    assert write(verifier, layer, {"a": 1}, kind="annotations")["reason"] == "ROLE_FORBIDS"
    batch = [{"layer": layer, "content": n} for n in range(2)]
    assert {row["reason"] for row in write_many(verifier, batch)} == {"ROLE_FORBIDS"}
    with pytest.raises(InsufficientPrivilege if seen else UndefinedObject):
        retract(verifier, item)
    assert get(author, item)["version"] == 1


def test_a_verifier_promotes_nothing(shared_world: World, home: str) -> None:
    """Not even where it may write; its annotations it may copy.

    Proves: A1, A5
    """
    organisation = organisation_of(home)
    author = shared_world.agent(home)
    verifier = shared_world.agent(organisation, role="verifier", descendants=True)
    item = remember(author, home, {"fact": 1})
    assert promote(verifier, item)["reason"] == "ROLE_FORBIDS"
    annotation = annotate(verifier, item, "confirmed")["item_id"]
    assert promote(verifier, annotation)["outcome"] == "COMMITTED"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"verdict": "confirmed"}, "SCHEMA_VIOLATION"),
        ({"item_id": str(uuid4())}, "SCHEMA_VIOLATION"),
        ({"item_id": "x", "verdict": "confirmed"}, "SCHEMA_VIOLATION"),
        ({"item_id": str(uuid4()), "verdict": "maybe"}, "SCHEMA_VIOLATION"),
        ({"item_id": str(uuid4()), "verdict": "confirmed", "more": 1}, "SCHEMA_VIOLATION"),
        ({"item_id": str(uuid4()), "verdict": "confirmed", "note": ""}, "SCHEMA_VIOLATION"),
        ({"item_id": str(uuid4()), "verdict": "confirmed", "note": 1}, "SCHEMA_VIOLATION"),
        ({"item_id": str(uuid4()), "verdict": "confirmed", "note": "n" * 2001}, "SCHEMA_VIOLATION"),
        ("confirmed", "SCHEMA_VIOLATION"),
        ({"item_id": str(uuid4()), "verdict": "confirmed", "note": "n"}, None),
    ],
)
def test_an_annotation_has_a_schema(
    shared_world: World, home: str, content: Any, reason: str | None
) -> None:
    """Written by hand it is held to it as well.

    Proves: A1, V1
    """
    verifier = shared_world.agent(home, role="verifier")
    assert write(verifier, "episodic", content, kind="annotation")["reason"] == reason


@pytest.mark.parametrize(
    ("verdict", "note"),
    [(None, None), ("", None), ("maybe", None), ("confirmed", ""), ("confirmed", "n" * 2001)],
)
def test_a_malformed_annotation_is_a_refused_write(
    author: Agent, verifier: Agent, home: str, verdict: str | None, note: str | None
) -> None:
    """SCHEMA_VIOLATION, a result and no exception.

    Proves: A1, V1
    """
    answer = annotate(verifier, remember(author, home, {"a": 1}), verdict, note)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "SCHEMA_VIOLATION")


def test_an_annotation_is_as_secret_as_what_it_is_about(shared_world: World, home: str) -> None:
    """Classification, domains and attributes of the item; whoever sees one sees both.

    Proves: A3, A1
    """
    shared_world.admin.execute("SELECT memwarden.define_attribute('item', 'case', 'boolean')")
    held: dict[str, Any] = {"clearance": "restricted", "domains": ["law", "medicine"]}
    author = shared_world.agent(home, **held)
    verifier = shared_world.agent(home, role="verifier", **held)
    readers = [
        shared_world.agent(home, **rights)
        for rights in (
            held,
            held | {"clearance": "confidential"},
            held | {"clearance": "internal"},
            held | {"domains": ["law"]},
            held | {"domains": []},
        )
    ]
    for classification in ("public", "internal", "confidential", "restricted"):
        for domains in ([], ["law"], ["law", "medicine"]):
            item = remember(
                author,
                home,
                {"secret": classification, "of": domains},
                classification=classification,
                domains=domains,
                attributes={"case": True},
            )
            made = annotate(verifier, item, "confirmed", f"{classification} {domains}")["item_id"]
            shown = get(author, made)
            assert shown["classification"] == classification
            assert shown["domains"] == domains
            assert shown["attributes"] == {"case": True}
            for reader in readers:
                seen = {row["item_id"] for row in recall(reader, k=1000)}
                assert (item in seen) == (made in seen)
    assert [len(recall(reader, k=1000)) for reader in readers] == [24, 18, 12, 16, 8]


@pytest.mark.parametrize("what", ["hidden", "secret", "foreign", "absent", "past", "null"])
def test_an_item_that_the_verifier_does_not_see_is_unknown(
    shared_world: World, home: str, verifier: Agent, what: str
) -> None:
    """42704, the same for all, and nothing is written.

    Proves: A3, A4
    """
    bob, other = f"{organisation_of(home)}/user/bob", f"{organisation_of(home)}x"
    chief = shared_world.agent(home, clearance="restricted")
    made: dict[str, Callable[[], Any]] = {
        "hidden": lambda: remember(shared_world.agent(bob), bob, {"a": 1}),
        "secret": lambda: remember(chief, home, {"a": 1}, classification="restricted"),
        "foreign": lambda: remember(shared_world.agent(other), other, {"a": 1}),
        "absent": uuid4,
        "past": lambda: remember(chief, home, {"a": 1}, ttl="1 microsecond"),
        "null": lambda: None,
    }
    item = made[what]()
    absent = uuid4()
    answer = refused(lambda: annotate(verifier, item, "confirmed"), item)
    assert answer[0] == "42704"
    if item is not None:
        assert answer == refused(lambda: annotate(verifier, absent, "confirmed"), absent)
    assert recall(chief, kind="annotation") == []


def test_an_annotation_lies_where_the_item_does(shared_world: World, home: str) -> None:
    """So the verifier must write that scope: SCOPE_READ_ONLY otherwise; and be vouched for.

    Proves: A4, A1
    """
    organisation = organisation_of(home)
    author = shared_world.agent(organisation, descendants=True)
    shared_world.scope(home)
    above, below = remember(author, organisation, {"a": 1}), remember(author, home, {"a": 2})
    inside = shared_world.agent(home, role="verifier")
    over = shared_world.agent(organisation, role="verifier", descendants=True)
    reader = shared_world.agent(home, role="verifier", writes=False)
    unproven = shared_world.agent(home, role="verifier", validated=False)
    assert annotate(inside, above, "confirmed")["reason"] == "SCOPE_READ_ONLY"
    assert annotate(reader, below, "confirmed")["reason"] == "SCOPE_READ_ONLY"
    assert annotate(unproven, below, "confirmed")["reason"] == "AGENT_NOT_VALIDATED"
    for item, scope in ((above, organisation), (below, home)):
        made = annotate(over, item, "confirmed")["item_id"]
        assert get(author, made)["scope"] == scope


@pytest.mark.parametrize("role", ["contributor", "orchestrator", "curator", "executor"])
def test_who_else_annotates(shared_world: World, home: str, role: str) -> None:
    """Whoever may write what happened; an executor may not.

    Proves: A1
    """
    item = remember(shared_world.agent(home), home, {"a": 1}, layer="episodic")
    agent = shared_world.agent(home, role=role)
    answer = annotate(agent, item, "doubted")
    assert answer["reason"] == ("ROLE_FORBIDS" if role == "executor" else None)


def test_a_verifier_takes_back_its_own_annotation(
    author: Agent, verifier: Agent, home: str
) -> None:
    """Proves: A1, G4."""
    item = remember(author, home, {"in": "semantic"}, layer="semantic")
    annotation = annotate(verifier, item, "confirmed")["item_id"]
    retract(verifier, UUID(str(annotation)))
    assert get(author, item)["version"] == 1
