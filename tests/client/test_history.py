"""What was known when, and taking it back, through the client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from psycopg.conninfo import make_conninfo

from memwarden import (
    AlreadyExists,
    ChangedSince,
    Client,
    InvalidArgument,
    NotAllowed,
    NotFound,
    NotReady,
)

if TYPE_CHECKING:
    from conftest import World

TEA = {"drink": "tea"}
COFFEE = {"drink": "coffee"}


@pytest.fixture
def curator(shared_world: World, home: str) -> Iterator[Client]:
    """Yield the client of an agent that may retract and roll back."""
    dsn = make_conninfo(shared_world.dsn, user=shared_world.register(home, role="curator"))
    with Client.connect(dsn) as client:
        yield client


def write(memory: Client, content: Any, **arguments: Any) -> UUID:
    """Write something that must be committed, and return its item."""
    result = memory.write("semantic", content, **arguments)
    assert result.committed, result
    assert result.item_id is not None
    return result.item_id


def prefers(memory: Client, content: Any, **arguments: Any) -> UUID:
    """Write what Ana prefers: one item, whose versions follow one another."""
    return write(memory, content, subject="Ana", predicate="prefers", **arguments)


def clock(world: World) -> datetime:
    """Return the server's time."""
    now = world.value("SELECT clock_timestamp()")
    assert isinstance(now, datetime)
    return now


def test_the_past_is_read_by_both_clocks(curator: Client, shared_world: World) -> None:
    """When it was known, and when it is true.

    Proves: T3, T4
    """
    lives: dict[str, Any] = {"subject": "Ana", "predicate": "lives in"}
    item_id = write(curator, {"city": "Rome"}, valid_from=datetime(2020, 1, 1, tzinfo=UTC), **lives)
    then = clock(shared_world)
    write(curator, {"city": "Oslo"}, valid_from=datetime(2024, 1, 1, tzinfo=UTC), **lives)
    assert [item.content for item in curator.as_of()] == [{"city": "Oslo"}]
    [known] = curator.as_of(then)
    assert (known.item_id, known.version, known.content) == (item_id, 1, {"city": "Rome"})
    assert known.recorded_at < then
    assert known.superseded_at is not None
    assert known.superseded_at > then
    [lived] = curator.as_of(valid_time=datetime(2022, 1, 1, tzinfo=UTC))
    assert (lived.content, lived.valid_to) == ({"city": "Rome"}, datetime(2024, 1, 1, tzinfo=UTC))
    assert curator.as_of(valid_time=datetime(2019, 1, 1, tzinfo=UTC)) == []
    assert curator.as_of(then - timedelta(days=1)) == []


def test_a_time_without_a_zone_is_local_time(
    curator: Client, shared_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever zone the server or the session has."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        prefers(curator, TEA, valid_from=datetime(2020, 1, 1))
        now = clock(shared_world).astimezone().replace(tzinfo=None)
        assert len(curator.as_of(now)) == 1
        assert curator.as_of(now - timedelta(hours=1)) == []
        assert len(curator.as_of(valid_time=datetime(2020, 1, 1))) == 1
        assert curator.as_of(valid_time=datetime(2019, 12, 31, 23)) == []
        assert len(curator.recall("tea", valid_at=datetime(2020, 1, 1))) == 1
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_past_is_searched_by_filters(curator: Client, home: str) -> None:
    """Those of recall, and words."""
    item_id = prefers(curator, TEA, confidence=0.9)
    write(curator, COFFEE, kind=None, subject="Bo", predicate="prefers", confidence=0.4)
    filters: list[dict[str, Any]] = [
        {"item_id": item_id},
        {"subject": "ANA", "predicate": "prefers"},
        {"filter": TEA},
        {"min_confidence": 0.5},
        {"query": "tea -coffee"},
    ]
    for each in filters:
        assert [item.item_id for item in curator.as_of(**each)] == [item_id], each
    assert len(curator.as_of(scope=home, layers=["semantic"])) == 2
    assert curator.as_of(scopes=[home], layers=["episodic"]) == []
    with pytest.raises(NotFound):
        curator.as_of(scope="/org/elsewhere")


def test_what_changed_is_told_with_who_and_why(curator: Client, shared_world: World) -> None:
    """In the history of an item, between two versions, and of the whole store.

    Proves: T1
    """
    before = clock(shared_world)
    item_id = prefers(curator, TEA)
    between = clock(shared_world)
    prefers(curator, COFFEE)
    newest, oldest = curator.history(item_id)
    assert oldest.changes is None
    assert newest.changes is not None
    change = {"path": "/content/drink", "change": "changed", "before": "tea", "after": "coffee"}
    assert change in newest.changes
    assert newest.actor == curator.whoami().agent
    assert newest.reason
    told = {each.path: each for each in curator.diff(item_id, 1, 2)}
    drink = told["/content/drink"]
    assert (drink.change, drink.before, drink.after) == ("changed", "tea", "coffee")
    [changed] = curator.diff_store(between)
    assert (changed.item_id, changed.change) == (item_id, "changed")
    assert (changed.version_before, changed.version_after) == (1, 2)
    assert (changed.before, changed.after) == (TEA, COFFEE)
    [added] = curator.diff_store(before, between, layers=["semantic"])
    assert (added.change, added.before, added.actor) == ("added", None, newest.actor)
    with pytest.raises(NotFound):
        curator.diff(item_id, 1, 3)
    with pytest.raises(InvalidArgument):
        curator.diff_store(between, before)


def test_a_bad_version_is_taken_back_and_the_rollback_too(curator: Client) -> None:
    """Its predecessor comes back as a new version.

    Proves: T5
    """
    item_id = prefers(curator, TEA)
    prefers(curator, COFFEE)
    [undone] = curator.rollback(item_id, "a joke")
    assert (undone.item_id, undone.action, undone.dependents) == (item_id, "RESTORE", [])
    newest, *older = curator.history(item_id)
    assert (newest.operation, newest.reason, newest.content) == ("RESTORE", "a joke", TEA)
    assert (newest.restores_version, newest.version_id) == (1, undone.version_id)
    assert [each.status for each in older if each.operation != "RETRACT"] == [
        "RETRACTED",
        "SUPERSEDED",
    ]
    curator.rollback(item_id, "no joke")
    assert [item.content for item in curator.as_of(item_id=item_id)] == [COFFEE]
    curator.rollback(item_id, "as it began", to_version=1)
    assert [item.content for item in curator.as_of(item_id=item_id)] == [TEA]
    [gone] = curator.rollback(item_id, "neither", restore=())
    assert (gone.action, gone.version_id) == ("RETRACT", None)
    assert curator.as_of(item_id=item_id) == []


def test_a_rollback_of_what_has_moved_on_changes_nothing(curator: Client) -> None:
    """Whoever names the bad version is told that another has come."""
    item_id = prefers(curator, TEA)
    seen = curator.history(item_id)[0].version_id
    prefers(curator, COFFEE)
    with pytest.raises(ChangedSince) as caught:
        curator.rollback(item_id, "tea is wrong", version_id=seen)
    assert caught.value.sqlstate == "40001"
    assert caught.value.hint
    assert len(curator.history(item_id)) == 2
    with pytest.raises(NotFound):
        curator.rollback(uuid4(), "nothing there")
    with pytest.raises(InvalidArgument):
        curator.rollback(item_id, " ")


def test_a_contributor_takes_back_its_own_and_nothing_else(shared_world: World, home: str) -> None:
    """It may end and bring back what it wrote last; what another wrote it may not.

    Proves: A1, T5
    """
    dsns = [make_conninfo(shared_world.dsn, user=shared_world.register(home)) for _ in range(2)]
    with Client.connect(dsns[0]) as memory, Client.connect(dsns[1]) as other:
        item_id = prefers(memory, TEA)
        for call in (other.rollback, other.expire, other.retract):
            with pytest.raises(NotAllowed):
                call(item_id, "not mine")
        memory.retract(item_id, "mine")
        memory.rollback(item_id, "mine after all")
        assert memory.get(item_id) is not None


def test_a_poisoned_run_is_previewed_undone_and_brought_back(
    curator: Client, shared_world: World, home: str
) -> None:
    """Everything that an agent did, in one call.

    Proves: T5
    """
    item_id = prefers(curator, TEA)
    agent = shared_world.register(home)
    with Client.connect(make_conninfo(shared_world.dsn, user=agent)) as poisoned:
        prefers(poisoned, {"drink": "hemlock"})
        other = write(poisoned, {"statement": "hemlock is healthy"})
    plan = {each.item_id: each for each in curator.preview_rollback(agent=agent)}
    assert {each.action for each in plan.values()} == {"RESTORE", "RETRACT"}
    assert (plan[item_id].now_says, plan[item_id].would_say) == ({"drink": "hemlock"}, TEA)
    assert (plan[other].action, plan[other].would_say) == ("RETRACT", None)
    undone = curator.rollback_batch("poisoned", agent=agent)
    assert {each.item_id for each in undone} == set(plan)
    [change_id] = {each.change_id for each in undone}
    assert [item.content for item in curator.as_of()] == [TEA]
    curator.rollback_batch("it was right after all", requests=[change_id])
    assert len(curator.as_of(query="hemlock")) == 2
    with pytest.raises(InvalidArgument):
        curator.preview_rollback(since=datetime(2020, 1, 1, tzinfo=UTC))


def test_what_expired_comes_back_for_a_while(curator: Client, shared_world: World) -> None:
    """Unless another item has taken its place, or the time for it is over.

    Proves: G5 (an item comes back within the window, and not after it)
    """
    item_id = prefers(curator, TEA)
    curator.expire(item_id, "no longer of interest")
    assert curator.as_of() == []
    with pytest.raises(NotFound):
        curator.expire(item_id, "again")
    version_id = curator.recover(item_id, "of interest again", timedelta(hours=1)).version_id
    item = curator.get(item_id)
    assert item is not None
    assert (item.version_id, item.content) == (version_id, TEA)
    assert item.expires_at is not None

    curator.expire(item_id, "not again")
    usurper = prefers(curator, COFFEE)
    assert usurper != item_id
    with pytest.raises(AlreadyExists) as caught:
        curator.recover(item_id, "there is another")
    assert caught.value.sqlstate == "42710"

    late = write(curator, {"statement": "the tide is out"})
    curator.expire(late, "it comes in")
    configure = "SELECT memwarden.configure_layer('semantic', %s)"
    shared_world.value(configure, '{"recovery_window": "0 seconds"}')
    try:
        with pytest.raises(NotReady) as closed:
            curator.recover(late, "too late")
    finally:
        shared_world.value(configure, '{"recovery_window": "30 days"}')
    assert closed.value.sqlstate == "55000"
    assert "recover" in str(closed.value)


def test_two_items_become_one_and_two_again(curator: Client) -> None:
    """A merge has two predecessors, and undoing it brings both back.

    Proves: T5
    """
    kept = write(curator, {"statement": "the sky is blue"})
    absorbed = write(curator, {"statement": "the sky has the colour blue"})
    version_id = curator.merge(kept, absorbed, "the same").version_id
    newest = curator.history(kept)[0]
    assert (newest.version_id, newest.absorbed_item) == (version_id, absorbed)
    assert [item.item_id for item in curator.as_of()] == [kept]
    assert {each.item_id for each in curator.rollback(kept, "not the same")} == {kept, absorbed}
    assert len(curator.as_of()) == 2
    with pytest.raises(InvalidArgument):
        curator.merge(kept, kept, "with itself")


def test_an_item_moves_to_another_layer_through_its_gates(curator: Client) -> None:
    """Where they refuse it, the original stays.

    Proves: G4 (moving items to another layer through its gates)
    """
    item_id = write(curator, {"statement": "Ana asked for tea"})
    moved = curator.reclassify(item_id, "episodic", "it happened once")
    assert moved.committed, moved
    assert [item.layer for item in curator.as_of()] == ["episodic"]
    with pytest.raises(NotFound):
        curator.reclassify(item_id, "procedural", "gone from there")
    assert moved.item_id is not None
    with pytest.raises(InvalidArgument):
        curator.reclassify(moved.item_id, "episodic", "it is there")


def test_lineage_runs_both_ways_and_tells_what_went_stale(curator: Client) -> None:
    """A memory whose basis was taken back says so wherever it is read.

    Proves: P6
    """
    basis = write(curator, {"statement": "the river is high"})
    evidence = [
        {"type": "memory_item", "uri": f"memwarden:item/{basis}"},
        {"type": "document", "uri": "https://river.example/gauge"},
    ]
    derived = write(curator, {"statement": "the ford is closed"}, evidence=evidence)
    steps = {each.relation + str(each.related_item): each for each in curator.lineage(derived)}
    assert steps[f"evidence{basis}"].withdrawn is False
    assert steps["evidenceNone"].evidence["uri"] == "https://river.example/gauge"
    [resting] = curator.lineage(basis, "derived", depth=1)
    assert (resting.related_item, resting.distance) == (derived, 1)

    [undone] = curator.rollback(basis, "the gauge was broken")
    assert (undone.action, undone.dependents) == ("RETRACT", [derived])
    assert curator.lineage(derived)[0].withdrawn or curator.lineage(derived)[1].withdrawn
    item = curator.get(derived)
    assert item is not None
    assert item.stale
    assert [found.stale for found in curator.recall("ford")] == [True]
    with pytest.raises(InvalidArgument):
        curator.lineage(derived, "sideways")


def test_the_log_is_verified_and_an_entry_proved(curator: Client, shared_world: World) -> None:
    """For administrators the whole of it, for others what they see.

    Proves: T6
    """
    item_id = prefers(curator, TEA)
    shared_world.admin.execute("CALL memwarden.seal_log()")
    head = curator.log_head()
    assert head is not None
    proof = curator.log_proof(item_id)
    assert proof["head"] == head
    assert str(item_id) in proof["entry"]
    with pytest.raises(NotAllowed):
        curator.verify_log()
    prefers(curator, COFFEE)
    unsealed = curator.history(item_id)[0].log_seq
    with pytest.raises(NotReady):
        curator.log_proof(item_id, unsealed)
    with pytest.raises(NotFound):
        curator.log_proof(uuid4())
    with Client.connect(shared_world.dsn) as operator:
        assert operator.verify_log(head=head) == []
        forged = head | {"head": "0" * 64}
        findings = operator.verify_log(since=head["segment"], head=forged)
        assert {each.finding for each in findings} & {"HEAD_MISMATCH", "SIGNATURE"}
        with pytest.raises(InvalidArgument):
            operator.verify_log(head={"no": "head"})
