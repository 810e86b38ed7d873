"""retract(): what was wrong is no longer recalled, and stays on record with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import Connection
from psycopg.errors import (
    ActiveSqlTransaction,
    InsufficientPrivilege,
    InvalidParameterValue,
    LockNotAvailable,
    UndefinedObject,
)
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import recall, write
from replay import check_store
from scope_calls import annotate, get, one, organisation_of, refused, remember, retract

KEY = {"subject": "Ana", "predicate": "drinks"}

Agent = Connection[DictRow]


@pytest.fixture
def curator(shared_world: World, home: str) -> Agent:
    """Somebody who may retract in the home."""
    return shared_world.agent(home, role="curator")


def test_what_is_retracted_is_not_recalled_and_not_forgotten(world: World) -> None:
    """Out of recall and vectors; get() and history() keep it; the log says who, when and why.

    Proves: A1
    """
    home = "/org/acme/user/ana"
    author, curator = world.agent(home), world.agent(home, role="curator")
    item = remember(author, home, "tea", **KEY)
    write(author, "semantic", "coffee", **KEY)
    kept = remember(author, home, "water")
    retract(curator, item, "Ana says otherwise")
    for agent in (author, curator):
        assert [row["item_id"] for row in recall(agent, query="coffee tea water")] == [kept]
        shown = get(agent, item)
        assert (shown["status"], shown["content"]) == ("RETRACTED", "coffee")
        past = agent.execute("SELECT * FROM memwarden.history(%s)", (item,)).fetchall()
        assert [(row["operation"], row["status"]) for row in past] == [
            ("RETRACT", "RETRACTED"),
            ("UPDATE", "RETRACTED"),
            ("INSERT", "SUPERSEDED"),
        ]
        assert past[1]["superseded_at"] == past[0]["recorded_at"] == shown["updated_at"]
        assert (past[0]["reason"], past[0]["actor"]) == ("Ana says otherwise", curator.info.user)
        entry = one(
            world.admin,
            "SELECT l.* FROM memwarden_data.log AS l WHERE item_id = %s"
            " ORDER BY log_seq DESC LIMIT 1",
            item,
        )
        assert (entry["operation"], entry["reason"]) == ("RETRACT", "Ana says otherwise")
        assert entry["recorded_at"] == shown["updated_at"]
        assert entry["version_id"] == shown["version_id"]
    who = "SELECT name FROM memwarden_data.principal WHERE principal_id = %s"
    assert world.value(who, entry["principal_id"]) == curator.info.user
    statuses = {i: head.status for i, head in check_store(world.admin).items()}
    assert statuses == {item: "RETRACTED", kept: "ACTIVE"}


@pytest.mark.parametrize("layer", ["working", "session", "episodic", "semantic", "durable"])
@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("executor", False),
        ("verifier", False),
        ("contributor", False),
        ("orchestrator", True),
        ("curator", True),
    ],
)
def test_who_may_retract_is_the_roles_matter(
    shared_world: World, home: str, role: str, allowed: bool, layer: str
) -> None:
    """DELETE of the table: none for executor and verifier; orchestrators softly; curators.

    Proves: A1
    """
    author = shared_world.agent(home)
    item = remember(author, home, {"in": layer}, layer=layer)
    caller = shared_world.agent(home, role=role)
    # What others wrote in a session only who administers sees, and an executor in most layers.
    seen = caller.execute("SELECT * FROM memwarden.get(%s)", (item,)).rowcount == 1
    own = layer in ("working", "session") or (role == "executor" and layer != "episodic")
    assert seen == (allowed or not own)
    if allowed:
        retract(caller, item)
    else:
        with pytest.raises(InsufficientPrivilege if seen else UndefinedObject) as raised:
            retract(caller, item)
        told = raised.value.diag.message_detail
        assert told == (f"DELETE of item {item}: ROLE_FORBIDS" if seen else f"item {item}")
    assert get(author, item)["status"] == ("RETRACTED" if allowed else "ACTIVE")


@pytest.mark.parametrize(
    ("role", "layer"),
    [
        ("executor", "working"),
        ("executor", "session"),
        ("orchestrator", "episodic"),
        *(("contributor", each) for each in ("working", "session", "episodic", "semantic")),
        *(("contributor", each) for each in ("procedural", "durable")),
    ],
)
def test_who_writes_takes_back_what_it_wrote_itself(
    shared_world: World, home: str, role: str, layer: str
) -> None:
    """As shipped, and no further: a memory that another agent wrote stays.

    Proves: A1
    """
    writer, other = (shared_world.agent(home, role=each) for each in (role, "contributor"))
    own = remember(writer, home, {"in": layer}, layer=layer)
    theirs = remember(other, home, {"not": layer}, layer=layer)
    retract(writer, own, "I was wrong")
    assert get(writer, own)["status"] == "RETRACTED"
    writer.execute("SELECT memwarden.rollback(%s, 'I was not')", (own,))
    assert get(writer, own)["status"] == "ACTIVE"
    writer.execute("SELECT memwarden.expire(%s, 'no longer needed')", (own,))
    if role != "orchestrator":
        refusal = refused(lambda: retract(writer, theirs), theirs)
        assert refusal[0] in ("42501", "42704")
        assert get(other, theirs)["status"] == "ACTIVE"


@pytest.mark.parametrize("role", ["verifier", "reviewer"])
def test_who_annotates_takes_back_its_annotation(shared_world: World, home: str, role: str) -> None:
    """An annotation of another stays, and so does what was annotated.

    Proves: A1
    """
    author = shared_world.agent(home)
    item = remember(author, home, {"a": 1})
    one, two = (shared_world.agent(home, role=role) for _ in range(2))
    own = annotate(one, item, "doubted")["item_id"]
    retract(one, own, "it holds after all")
    theirs = annotate(two, item, "refuted")["item_id"]
    for kept in (item, theirs):
        with pytest.raises(InsufficientPrivilege):
            retract(one, kept)


def test_what_others_took_back_of_it_the_writer_does_not_bring_back(
    shared_world: World, home: str, curator: Agent
) -> None:
    """Neither what a person retracted, nor what a person undid, nor what replaced it.

    Proves: A1, T5
    """
    writer, other = shared_world.agent(home), shared_world.agent(home)
    retracted = remember(writer, home, {"a": 1})
    retract(curator, retracted)
    undone = remember(writer, home, "tea", **KEY)
    write(writer, "semantic", "coffee", **KEY)
    curator.execute("SELECT memwarden.rollback(%s, 'it is tea')", (undone,))
    more = {"subject": "Bo", "predicate": "drinks"}
    replaced = remember(writer, home, "water", **more)
    write(other, "semantic", "wine", **more)
    for item in (retracted, undone, replaced):
        for version in ("", ", to_version => 1"):
            with pytest.raises(InsufficientPrivilege):
                writer.execute(f"SELECT memwarden.rollback(%s, 'no'{version})", (item,))
    batch = writer.execute("SELECT * FROM memwarden.rollback_batch('no', scope => %s)", (home,))
    assert {row["action"] for row in batch} <= {"ROLE_FORBIDS", "CHANGED_SINCE"}
    told = [get(writer, item) for item in (retracted, undone, replaced)]
    assert [row["status"] for row in told] == ["RETRACTED", "ACTIVE", "ACTIVE"]
    assert [row["content"] for row in told[1:]] == ["tea", "wine"]


@pytest.mark.parametrize("degree", ["soft", "hard"])
def test_a_role_of_ones_own_may_retract_its_own(
    shared_world: World, home: str, degree: str
) -> None:
    """Reach own: what it wrote last, in the layers that are named.

    Proves: A1
    """
    permissions = [
        {"operation": "READ"},
        {"operation": "WRITE"},
        {"operation": "DELETE", "layers": ["semantic"], "reach": "own", "degree": degree},
    ]
    shared_world.scope(home)
    shared_world.admin.execute(
        "SELECT memwarden.define_role('tidy', %s, org => %s)",
        (Jsonb(permissions), home.split("/")[2]),
    )
    tidy, other = shared_world.agent(home, role="tidy"), shared_world.agent(home)
    own = remember(tidy, home, {"own": 1})
    episodic = remember(tidy, home, {"own": 2}, layer="episodic")
    shared = remember(tidy, home, "tea", **KEY)
    write(other, "semantic", "coffee", **KEY)
    retract(tidy, own)
    for item in (episodic, shared):
        with pytest.raises(InsufficientPrivilege):
            retract(tidy, item)
    write(tidy, "semantic", "cocoa", **KEY)
    retract(tidy, shared)


def test_a_policy_may_forbid_it(shared_world: World, home: str, curator: Agent) -> None:
    """POLICY_FORBIDS, as the condition says.

    Proves: A2
    """
    organisation = home.split("/")[2]
    kept = remember(curator, home, {"law": 1}, layer="durable")
    other = remember(curator, home, {"law": 2})
    shared_world.admin.execute(
        "SELECT memwarden.define_policy_set('keep', 'allow', '{DELETE}', org => %s)",
        (organisation,),
    )
    shared_world.admin.execute(
        "SELECT memwarden.set_policy('keep', 'durable', 'deny', 'item.layer = ''durable''', %s)",
        (organisation,),
    )
    with pytest.raises(InsufficientPrivilege) as raised:
        retract(curator, kept)
    assert raised.value.diag.message_detail == f"DELETE of item {kept}: POLICY_FORBIDS"
    retract(curator, other)


def test_who_reads_a_scope_and_does_not_write_it_retracts_nothing(
    shared_world: World, home: str
) -> None:
    """Inherited from above, seen from above, granted for reading.

    Proves: A4, A1
    """
    organisation = organisation_of(home)
    shared_world.scope(home)
    author = shared_world.agent(organisation, descendants=True)
    above, own = remember(author, organisation, {"a": 1}), remember(author, home, {"a": 2})
    inside = shared_world.agent(home, role="curator")
    reader = shared_world.agent(organisation, role="curator", writes=False, descendants=True)
    for caller, item in ((inside, above), (reader, above), (reader, own)):
        with pytest.raises(InsufficientPrivilege) as raised:
            retract(caller, item)
        assert raised.value.diag.message_detail == f"DELETE of item {item}: SCOPE_READ_ONLY"
    retract(inside, own)


@pytest.mark.parametrize(
    "what", ["hidden", "secret", "domain", "foreign", "absent", "past", "null"]
)
def test_an_item_that_the_caller_does_not_see_is_unknown(
    shared_world: World, home: str, curator: Agent, what: str
) -> None:
    """The same answer for all, and nothing is retracted.

    Proves: A3, A4
    """
    bob, other = f"{organisation_of(home)}/user/bob", f"{organisation_of(home)}x"
    chief = shared_world.agent(home, clearance="restricted", domains=["law"])
    made: dict[str, Callable[[], Any]] = {
        "hidden": lambda: remember(shared_world.agent(bob), bob, {"a": 1}),
        "secret": lambda: remember(chief, home, {"a": 1}, classification="confidential"),
        "domain": lambda: remember(chief, home, {"a": 1}, domains=["law"]),
        "foreign": lambda: remember(shared_world.agent(other), other, {"a": 1}),
        "absent": uuid4,
        "past": lambda: remember(chief, home, {"a": 1}, ttl="1 microsecond"),
        "null": lambda: None,
    }
    item = made[what]()
    absent = uuid4()
    answer = refused(lambda: retract(curator, item), item)
    assert answer[0] == "42704"
    if item is not None:
        assert answer == refused(lambda: retract(curator, absent), absent)
    assert shared_world.rows(
        "SELECT FROM memwarden_data.item WHERE item_id = %s AND status <> 'ACTIVE'", item
    ) == []  # fmt: skip


@pytest.mark.parametrize("reason", [None, "", " \n\t", "r" * 1001])
def test_a_reason_is_given(home: str, curator: Agent, reason: str | None) -> None:
    """22023 without one, and for one of more than a thousand characters.

    Proves: A1
    """
    item = remember(curator, home, {"a": 1})
    with pytest.raises(InvalidParameterValue):
        curator.execute("SELECT memwarden.retract(%s, %s)", (item, reason))
    assert get(curator, item)["status"] == "ACTIVE"
    retract(curator, item, "r" * 1000)


def test_it_is_retracted_once(world: World) -> None:
    """42704 afterwards, also for what was written into the key since.

    Proves: A1, Z10 (nothing there)
    """
    home = "/org/acme/user/ana"
    curator = world.agent(home, role="curator")
    item = remember(curator, home, "tea", **KEY)
    retract(curator, item)
    anew = remember(curator, home, "tea", **KEY)
    assert anew != item
    with pytest.raises(UndefinedObject) as raised:
        retract(curator, item)
    assert raised.value.diag.message_detail == f"active item {item}"
    assert [row["item_id"] for row in recall(curator)] == [anew]
    check_store(world.admin)


@pytest.mark.parametrize("value", ["tea", "coffee"])
@pytest.mark.parametrize("writer", ["the same", "another"])
def test_a_retracted_key_can_be_written_anew(
    shared_world: World, home: str, curator: Agent, value: str, writer: str
) -> None:
    """The same value or another is an item of its own, with versions of its own.

    Proves: A1, W4
    """
    author = curator if writer == "the same" else shared_world.agent(home)
    item = remember(curator, home, "tea", **KEY)
    retract(curator, item)
    anew = remember(author, home, value, **KEY)
    assert anew != item
    assert (get(author, anew)["version"], get(author, item)["status"]) == (1, "RETRACTED")
    write(author, "semantic", "cocoa", **KEY)
    assert get(author, anew)["version"] == 2


def test_it_can_be_annotated_still(home: str, curator: Agent) -> None:
    """What was taken back is evidence, too.

    Proves: A1
    """
    item = remember(curator, home, {"a": 1})
    retract(curator, item)
    assert annotate(curator, item, "refuted")["outcome"] == "COMMITTED"


def test_it_needs_read_committed(home: str, curator: Agent) -> None:
    """25001, as a write.

    Proves: A1
    """
    item = remember(curator, home, {"a": 1})
    curator.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    with pytest.raises(ActiveSqlTransaction), curator.transaction():
        retract(curator, item)


def test_a_busy_scope_is_told(shared_world: World, home: str, curator: Agent) -> None:
    """55P03 after lock_timeout; nothing is deferred.

    Proves: A1
    """
    author = shared_world.agent(home)
    item = remember(author, home, {"a": 1})
    curator.execute("SET lock_timeout = '1ms'")
    with author.transaction():
        write(author, "semantic", {"a": 2})
        with pytest.raises(LockNotAvailable) as raised:
            retract(curator, item)
    assert raised.value.diag.message_detail == f"item {item}"
    retract(curator, item)
