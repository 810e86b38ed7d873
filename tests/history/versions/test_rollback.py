"""rollback(): the last change of an item is undone, and what stood before comes back."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from access import call, refusal, state
from conftest import World
from helpers import recall, write
from history.versions.past import (
    KEY,
    Agent,
    as_of,
    check_timeline,
    cites,
    contents,
    head,
    history,
    now,
    rollback,
    rolled_back,
    say,
    year,
)
from history.versions.past import state as stands
from scope_calls import (
    close_scope,
    create_scope,
    get,
    organisation_of,
    refused,
    remember,
    retract,
)

LOOKS = (
    "content",
    "confidence",
    "importance",
    "evidence",
    "principal_id",
    "expires_at",
    "label_id",
)


def looks(world: World, item: UUID) -> dict[str, Any]:
    """What an item says, and what hangs on it."""
    version = world.rows(
        "SELECT v.* FROM memwarden_data.version AS v JOIN memwarden_data.item AS i"
        " USING (org_id, version_id) WHERE i.item_id = %s",
        item,
    )[0]
    vectors = world.rows(
        "SELECT model_id, embedding::text FROM memwarden_data.embedding WHERE item_id = %s", item
    )
    return {name: version[name] for name in LOOKS} | {"vectors": vectors}


def test_a_bad_version_goes_and_what_it_replaced_comes_back(
    shared_world: World, author: Agent, curator: Agent
) -> None:
    """As a new version that says the same, by the author it had; history keeps all three.

    Proves: T5
    """
    more = {"confidence": 0.9, "importance": 0.2, "evidence": cites(uuid4()), "ttl": "1 year"}
    item = say(author, {"city": "Lund"}, **more)["item_id"]
    before = looks(shared_world, item)
    bad = say(curator, {"city": "Atlantis"}, confidence=0.1)
    row = rolled_back(curator, item, version_id=bad["version_id"], reason="no such city")
    versions = {each["version"]: each for each in history(author, item) if each["changes"] != 0}
    assert row["action"] == "RESTORE"
    assert row["retracted_version"] == bad["version_id"]
    assert row["restored_version"] == versions[1]["version_id"]
    assert row["version_id"] == versions[3]["version_id"] == head(shared_world, item)["version_id"]
    assert row["dependents"] == []
    assert looks(shared_world, item) == before
    told = [(e["version"], e["operation"], e["status"], e["reason"]) for e in history(author, item)]
    assert told == [
        (3, "RESTORE", "ACTIVE", "no such city"),
        (2, "RETRACT", "RETRACTED", "no such city"),
        (2, "UPDATE", "RETRACTED", "new value for the same subject and predicate"),
        (1, "INSERT", "SUPERSEDED", "new item"),
    ]
    assert history(author, item)[0]["actor"] == curator.info.user
    assert get(author, item)["provenance"]["agent"] == author.info.user
    assert [r["content"] for r in recall(author, query="Lund Atlantis")] == [{"city": "Lund"}]
    check_timeline(shared_world)


def test_there_is_no_moment_without_a_value(curator: Agent) -> None:
    """The bad one ends at the very moment at which the other begins.

    Proves: T5, T3
    """
    item = say(curator, "Lund")["item_id"]
    say(curator, "Oslo")
    rolled_back(curator, item)
    restored, retracted, bad, first = history(curator, item)
    assert restored["recorded_at"] == retracted["recorded_at"] == bad["superseded_at"]
    assert bad["recorded_at"] == first["superseded_at"]
    assert [r["content"] for r in as_of(curator, restored["recorded_at"])] == ["Lund"]


def test_the_first_version_has_nothing_before_it(shared_world: World, curator: Agent) -> None:
    """It is retracted: action RETRACT. Undone, it is there again.

    Proves: T5
    """
    made = say(curator, "Lund")
    row = rolled_back(curator, made["item_id"])
    assert (row["action"], row["retracted_version"]) == ("RETRACT", made["version_id"])
    assert row["restored_version"] is row["version_id"] is None
    assert stands(shared_world, made["item_id"]) == ("RETRACTED", "Lund")
    assert recall(curator) == []
    again = rolled_back(curator, made["item_id"])
    assert (again["action"], again["restored_version"]) == ("RESTORE", made["version_id"])
    assert again["retracted_version"] is None
    assert [r["content"] for r in recall(curator)] == ["Lund"]


def test_step_by_step_and_back(shared_world: World, curator: Agent) -> None:
    """Each rollback undoes the last change, so a second one redoes it, and a third undoes it again.

    Proves: T5
    """
    item = say(curator, 1)["item_id"]
    say(curator, 2)
    say(curator, 3)
    said = []
    for _ in range(5):
        rolled_back(curator, item)
        said.append(stands(shared_world, item))
    assert said == [("ACTIVE", n) for n in (2, 3, 2, 3, 2)]
    assert head(shared_world, item)["version"] == 8
    check_timeline(shared_world)


def test_back_to_a_version(shared_world: World, curator: Agent) -> None:
    """Over as many as one likes, also of what was retracted; 42704 for one that is not before.

    Proves: T5
    """
    *_, item = (say(curator, n)["item_id"] for n in range(1, 6))
    row = rolled_back(curator, item, to_version=2)
    assert (row["action"], stands(shared_world, item)) == ("RESTORE", ("ACTIVE", 2))
    assert history(curator, item)[0]["restores_version"] == 2
    rolled_back(curator, item)
    assert stands(shared_world, item) == ("ACTIVE", 5)
    for number in (0, 7, 99):
        assert state(curator, "rollback", item_id=item, reason="no", to_version=number) == "42704"
    retract(curator, item)
    rolled_back(curator, item, to_version=3)
    assert stands(shared_world, item) == ("ACTIVE", 3)
    retract(curator, item)
    rolled_back(curator, item, to_version=8)
    assert stands(shared_world, item) == ("ACTIVE", 3)
    check_timeline(shared_world)


def test_the_bad_version_can_be_named(shared_world: World, curator: Agent) -> None:
    """40001 when another has come since, and nothing happens.

    Proves: T5
    """
    item = say(curator, "Lund")["item_id"]
    bad = say(curator, "Oslo")["version_id"]
    say(curator, "Rome")
    for other in (bad, uuid4()):
        raised = refusal(curator, "rollback", item_id=item, reason="no", version_id=other)
        assert raised.sqlstate == "40001"
    assert stands(shared_world, item) == ("ACTIVE", "Rome")
    rolled_back(curator, item, version_id=head(shared_world, item)["version_id"])
    assert stands(shared_world, item) == ("ACTIVE", "Oslo")


def test_restoring_nothing(shared_world: World, curator: Agent) -> None:
    """The bad version goes and nothing comes in its place; that can be undone, too.

    Proves: T5
    """
    item = say(curator, "Lund")["item_id"]
    bad = say(curator, "Oslo")["version_id"]
    row = rolled_back(curator, item, restore=[])
    assert (row["action"], row["retracted_version"]) == ("RETRACT", bad)
    assert row["version_id"] is row["restored_version"] is None
    assert stands(shared_world, item) == ("RETRACTED", "Oslo")
    # Nothing stands that could go.
    assert rolled_back(curator, item, restore=[])["action"] == "NOTHING"
    rolled_back(curator, item)
    assert stands(shared_world, item) == ("ACTIVE", "Oslo")
    raised = refusal(curator, "rollback", item_id=item, reason="no", restore=[uuid4()])
    assert raised.sqlstate == "22023"


def test_a_retraction_is_undone(shared_world: World, curator: Agent) -> None:
    """And done again.

    Proves: T5
    """
    item = say(curator, "Lund")["item_id"]
    retract(curator, item)
    row = rolled_back(curator, item)
    assert (row["action"], stands(shared_world, item)) == ("RESTORE", ("ACTIVE", "Lund"))
    row = rolled_back(curator, item)
    assert (row["action"], row["retracted_version"]) == ("END", None)
    assert stands(shared_world, item) == ("RETRACTED", "Lund")
    assert history(curator, item)[0]["operation"] == "RETRACT"


def two(curator: Agent, home: str) -> tuple[UUID, UUID]:
    """Two memories that say the same, made one."""
    one, other = (
        remember(curator, home, f"the sun is {how}", evidence=cites(uuid4()), confidence=trust)
        for how, trust in (("a star", 0.4), ("a fixed star", 0.8))
    )
    call(curator, "merge", item_id=one, absorbed=other, reason="the same")
    return one, other


@pytest.mark.parametrize("through", [0, 1])
def test_of_a_merge_both_come_back(
    shared_world: World, home: str, curator: Agent, through: int
) -> None:
    """From whichever of the two; rolled back once more they are one again, and so on.

    Proves: T5, D4
    """
    items = two(curator, home)
    merged, expected = looks(shared_world, items[0]), []
    for turn in range(4):
        rows = rollback(curator, items[through if turn % 2 else 1 - through])
        assert {row["item_id"] for row in rows} == set(items)
        assert len({row["change_id"] for row in rows}) == 1
        status = [stands(shared_world, item)[0] for item in items]
        expected = ["ACTIVE", "ACTIVE"] if turn % 2 == 0 else ["ACTIVE", "SUPERSEDED"]
        assert status == expected, turn
        shown = looks(shared_world, items[0])
        assert (shown == merged) == (turn % 2 == 1)
        absorbed = head(shared_world, items[0])["absorbed_version_id"]
        last = head(shared_world, items[1])["version_id"]
        assert absorbed == (last if turn % 2 else None)
    assert {row["item_id"] for row in recall(curator)} == {items[0]}


@pytest.mark.parametrize("which", [0, 1])
def test_of_a_merge_the_one_that_is_named_comes_back(
    shared_world: World, home: str, curator: Agent, which: int
) -> None:
    """Or none.

    Proves: T5, D4
    """
    items = two(curator, home)
    rows = rollback(curator, items[0], restore=[items[which]])
    actions = {row["item_id"]: row["action"] for row in rows}
    assert actions[items[which]] == "RESTORE"
    ended = ["RETRACTED", "SUPERSEDED"]
    status = [stands(shared_world, item)[0] for item in items]
    assert status == ["ACTIVE" if number == which else ended[number] for number in range(2)]


def test_of_a_merge_none_comes_back(shared_world: World, home: str, curator: Agent) -> None:
    """Where both were wrong.

    Proves: T5, D4
    """
    items = two(curator, home)
    rows = rollback(curator, items[1], restore=[])
    assert {row["item_id"]: row["action"] for row in rows} == {
        items[0]: "RETRACT",
        items[1]: "NOTHING",
    }
    assert [stands(shared_world, item)[0] for item in items] == ["RETRACTED", "SUPERSEDED"]


def test_a_merge_after_which_the_item_went_on(
    shared_world: World, home: str, curator: Agent
) -> None:
    """Its later change is undone first; the merge after that.

    Proves: T5, D4
    """
    one = say(curator, "a")["item_id"]
    other = remember(curator, home, "b", subject="Ana too", predicate="lives in")
    call(curator, "merge", item_id=one, absorbed=other, reason="the same")
    say(curator, "c")
    assert rolled_back(curator, one)["action"] == "RESTORE"
    assert stands(shared_world, other)[0] == "SUPERSEDED"
    # Redo, then back to before the merge: the other one has a way of its own.
    rolled_back(curator, one, to_version=1)
    assert stands(shared_world, one) == ("ACTIVE", "a")
    rolled_back(curator, other, to_version=1)
    assert stands(shared_world, other) == ("ACTIVE", "b")
    check_timeline(shared_world)


@pytest.mark.parametrize("through", ["new", "old"])
def test_a_move_to_another_layer_is_undone(
    shared_world: World, home: str, curator: Agent, through: str
) -> None:
    """From either item, again and again.

    Proves: T5, G4
    """
    old = remember(curator, home, "a fact", **KEY)
    new = call(curator, "reclassify", item_id=old, layer="durable", reason="it stays")[0]["item_id"]
    named = {"new": new, "old": old}[through]
    for turn in range(5):
        rows = rollback(curator, named)
        assert {row["item_id"] for row in rows} == {old, new}, turn
        status = {row["item_id"]: stands(shared_world, row["item_id"])[0] for row in rows}
        undone = turn % 2 == 0
        assert status[old] == ("ACTIVE" if undone else "SUPERSEDED"), turn
        assert status[new] == ("RETRACTED" if undone else "ACTIVE"), turn
        assert [row["layer"] for row in recall(curator)] == ["semantic" if undone else "durable"]
    check_timeline(shared_world)


def test_periods_come_back_as_they_were(shared_world: World, curator: Agent) -> None:
    """What was held of other times, too: a correction of the past is undone.

    Proves: T5, T4
    """
    item = say(curator, "Lund", valid_from=year(2015))["item_id"]
    say(curator, "Oslo", valid_from=year(2017), valid_to=year(2019))
    before = now(shared_world)
    say(curator, "Rome", valid_from=year(2016), valid_to=year(2018))
    rolled_back(curator, item)
    for number in range(2014, 2022):
        asked = {"valid_time": year(number)}
        assert contents(curator, **asked) == contents(curator, before, **asked), number
    rolled_back(curator, item)
    assert contents(curator, valid_time=year(2017)) == ["Rome"]
    check_timeline(shared_world)


def test_a_key_that_another_item_bears(shared_world: World, home: str, curator: Agent) -> None:
    """42710, and nothing happens, whichever way back was asked for; free again, it works.

    Proves: T5
    """
    item = say(curator, "Lund")["item_id"]
    say(curator, "Oslo")
    retract(curator, item)
    other = say(curator, "Rome")["item_id"]
    for more in ({}, {"to_version": 1}):
        raised = refusal(curator, "rollback", item_id=item, reason="no", **more)
        assert raised.sqlstate == "42710"
    assert (stands(shared_world, item)[0], stands(shared_world, other)[0]) == (
        "RETRACTED",
        "ACTIVE",
    )
    retract(curator, other)
    rolled_back(curator, item)
    assert stands(shared_world, item) == ("ACTIVE", "Oslo")
    merged = remember(curator, home, "x", subject="Bo", predicate="p")
    call(curator, "merge", item_id=item, absorbed=merged, reason="the same")
    taken = remember(curator, home, "y", subject="Bo", predicate="p")
    assert state(curator, "rollback", item_id=item, reason="no") == "42710"
    # Only one of them is asked back.
    rollback(curator, item, restore=[item])
    assert stands(shared_world, merged)[0] == "SUPERSEDED"
    assert stands(shared_world, taken)[0] == "ACTIVE"


def test_a_holder_that_the_caller_does_not_see(shared_world: World, home: str) -> None:
    """It comes back beside it, as a write would: being refused would tell of the other.

    Proves: T5, A3
    """
    shared_world.scope(home)
    chief = shared_world.agent(home, role="curator", clearance="confidential")
    low = shared_world.agent(home, role="curator")
    item = say(low, "Lund")["item_id"]
    retract(low, item)
    secret = say(chief, "Oslo", classification="confidential")["item_id"]
    rolled_back(low, item)
    assert [row["content"] for row in recall(low)] == ["Lund"]
    assert {row["item_id"] for row in recall(chief)} == {item, secret}
    # Who sees both undoes a change of either, though they bear one key.
    for mine in (item, secret):
        bad = write(chief, "semantic", f"bad {mine}", **KEY) if mine == item else None
        if bad:
            assert bad["item_id"] == item
        rolled_back(chief, mine)
    assert stands(shared_world, item) == ("ACTIVE", "Lund")
    assert stands(shared_world, secret)[0] == "RETRACTED"
    rolled_back(chief, secret)
    assert stands(shared_world, secret) == ("ACTIVE", "Oslo")
    check_timeline(shared_world)


def test_who_may(shared_world: World, home: str, curator: Agent) -> None:
    """DELETE and WRITE, in a scope that is open and the caller's to write: 42501 or 55000.

    Proves: T5, A1, A4
    """
    organisation = organisation_of(home)
    shared_world.scope(home)
    for name, operations in (("deletes", ["READ", "DELETE"]), ("writes", ["READ", "WRITE"])):
        permissions = [{"operation": operation} for operation in operations]
        arguments = {"name": name, "permissions": permissions, "org": organisation.split("/")[2]}
        call(shared_world.admin, "define_role", **arguments)
    item = say(curator, "Lund")["item_id"]
    say(curator, "Oslo")
    reader = shared_world.agent(organisation, role="curator", writes=False, descendants=True)
    callers = {"contributor": "ROLE_FORBIDS", "writes": "ROLE_FORBIDS", "deletes": "ROLE_FORBIDS"}
    asked = [(shared_world.agent(home, role=role), why) for role, why in callers.items()]
    for caller, why in [*asked, (reader, "SCOPE_READ_ONLY")]:
        for more in ({}, {"to_version": 1}):
            raised = refusal(caller, "rollback", item_id=item, reason="no", **more)
            assert raised.sqlstate == "42501"
            assert str(raised.diag.message_detail).endswith(f"item {item}: {why}")
    assert stands(shared_world, item) == ("ACTIVE", "Oslo")


def test_a_closed_scope_stays_as_it_is(shared_world: World, home: str) -> None:
    """55000: nothing is written there any more.

    Proves: T5, A10
    """
    agent = shared_world.agent(home, role="curator", descendants=True)
    task = f"{home}/task/t"
    create_scope(agent, task)
    kept, gone = remember(agent, task, "a"), remember(agent, task, "b")
    retract(agent, gone)
    close_scope(agent, task)
    for function, item in (("rollback", gone), ("rollback", kept), ("recover", kept)):
        assert state(agent, function, item_id=item, reason="no") == "55000"


@pytest.mark.parametrize("how", ["expire", "time"])
def test_what_expired_is_recovered_not_rolled_back(
    shared_world: World, curator: Agent, how: str
) -> None:
    """42704, which says so.

    Proves: T5, G5
    """
    say(curator, "Lund")
    item = say(curator, "Oslo", ttl="1 microsecond" if how == "time" else "1 day")["item_id"]
    if how == "expire":
        call(curator, "expire", item_id=item, reason="over")
    raised = refusal(curator, "rollback", item_id=item, reason="no")
    assert raised.sqlstate == "42704"
    assert "recover()" in str(raised.diag.message_detail)
    call(curator, "recover", item_id=item, reason="after all")
    rolled_back(curator, item)
    assert stands(shared_world, item)[1] == "Oslo"


@pytest.mark.parametrize("reason", [None, "", " \n", "r" * 1001])
def test_a_reason_is_given(curator: Agent, reason: str | None) -> None:
    """22023 without one.

    Proves: T5
    """
    item = say(curator, "Lund")["item_id"]
    assert state(curator, "rollback", item_id=item, reason=reason) == "22023"
    rolled_back(curator, item, reason="r" * 1000)


def test_an_item_that_the_caller_does_not_see_is_unknown(shared_world: World, home: str) -> None:
    """Hidden, foreign or absent: the same answer to every function that undoes or changes.

    Proves: T5, A3
    """
    shared_world.scope(home)
    chief = shared_world.agent(home, clearance="confidential", role="curator")
    low = shared_world.agent(home, role="curator")
    bob = f"{organisation_of(home)}/user/bob"
    mine = remember(low, home, "mine")
    secret = remember(chief, home, "b", classification="confidential")
    ended = remember(chief, home, "c", classification="confidential")
    call(chief, "expire", item_id=ended, reason="over")
    hidden = [secret, ended, remember(shared_world.agent(bob), bob, "his")]
    calls = [
        "rollback(%s, 'no')",
        "rollback(%s, 'no', to_version => 1)",
        "rollback(%s, 'no', restore => '{}')",
        "recover(%s, 'no')",
        "expire(%s, 'no')",
        "reclassify(%s, 'durable', 'no')",
        f"merge(%s, '{mine}', 'no')",
        f"merge('{mine}', %s, 'no')",
    ]
    for query in calls:
        told = [
            refused(partial(low.execute, f"SELECT * FROM memwarden.{query}", (item,)), item)
            for item in (uuid4(), *hidden)
        ]
        assert told[0][0] == "42704", query
        assert told[1:] == told[:1] * 3, query
    assert [stands(shared_world, item)[0] for item in hidden] == ["ACTIVE", "EXPIRED", "ACTIVE"]


def own_reader(world: World, home: str) -> Agent:
    """Somebody who sees and changes its own memories only."""
    world.scope(home)
    permissions = [
        {"operation": "READ", "reach": "own"},
        {"operation": "WRITE"},
        {"operation": "DELETE"},
    ]
    call(world.admin, "define_role", name="own", permissions=permissions, org=home.split("/")[2])
    return world.agent(home, role="own")


@pytest.mark.parametrize("mine", [0, 1])
def test_a_partner_that_the_caller_does_not_see(shared_world: World, home: str, mine: int) -> None:
    """Of a merge with it only one's own comes back, and nothing is told of the other, who stays.

    Proves: T5, A3, D4
    """
    own = own_reader(shared_world, home)
    curator = shared_world.agent(home, role="curator")
    writers = (own, curator) if mine == 0 else (curator, own)
    items = [remember(writer, home, {"n": n}) for n, writer in enumerate(writers)]
    call(curator, "merge", item_id=items[0], absorbed=items[1], reason="the same")
    other = items[1 - mine]
    told = [
        refused(partial(rollback, own, items[mine], restore=[each]), each)
        for each in (other, uuid4())
    ]
    assert told[0] == told[1]
    before = looks(shared_world, other), stands(shared_world, other)
    (row,) = rollback(own, items[mine])
    assert (row["item_id"], row["action"]) == (items[mine], "RESTORE")
    assert str(other) not in str(row)
    assert (looks(shared_world, other), stands(shared_world, other)) == before
    if mine == 0:
        # Who sees it brings the rest back.
        rows = rollback(curator, other)
        assert {r["item_id"]: r["action"] for r in rows}[other] == "RESTORE"
        assert stands(shared_world, other)[0] == "ACTIVE"


def test_what_another_united_is_not_ones_own_to_take_apart(shared_world: World, home: str) -> None:
    """42501 for who may change its own alone: neither both, nor the half that it wrote.

    Proves: T5, A1, D4
    """
    shared_world.scope(home)
    permissions = [
        {"operation": "READ"},
        {"operation": "WRITE"},
        {"operation": "DELETE", "reach": "own"},
    ]
    organisation = home.split("/")[2]
    call(shared_world.admin, "define_role", name="tidy", permissions=permissions, org=organisation)
    tidy, curator = shared_world.agent(home, role="tidy"), shared_world.agent(home, role="curator")
    mine, other = remember(tidy, home, {"n": 1}), remember(curator, home, {"n": 2})
    call(curator, "merge", item_id=mine, absorbed=other, reason="the same")
    before = stands(shared_world, mine)
    for restore in (None, [mine], []):
        raised = refusal(tidy, "rollback", item_id=mine, reason="no", restore=restore)
        assert raised.sqlstate == "42501"
        assert "ROLE_FORBIDS" in str(raised.diag.message_detail)
    assert stands(shared_world, mine) == before
    assert stands(shared_world, other)[0] == "SUPERSEDED"
    rollback(curator, mine, restore=[mine, other])
    assert [stands(shared_world, each)[0] for each in (mine, other)] == ["ACTIVE", "ACTIVE"]


def test_a_vector_from_outside_comes_back(shared_world: World, home: str, curator: Agent) -> None:
    """The words cannot give it back: it was kept with the version, and recall finds by it.

    Proves: T5
    """
    name = f"m{home.split('/')[2]}"
    call(shared_world.admin, "register_embedding_model", name=name, dimension=3)
    ways = {"east": [1.0, 0.0, 0.0], "north": [0.0, 1.0, 0.0]}

    def found() -> list[tuple[str, float]]:
        rows = recall(curator, embedding=ways["east"], embedding_model=name)
        return [(row["content"], round(row["similarity"], 3)) for row in rows]

    for word, vector in ways.items():
        item = say(curator, word, embedding=vector, embedding_model=name)["item_id"]
    assert found() == [("north", 0.0)]
    rolled_back(curator, item)
    assert found() == [("east", 1.0)]
    rolled_back(curator, item)
    assert found() == [("north", 0.0)]
    retract(curator, item)
    assert found() == []
    rolled_back(curator, item)
    assert found() == [("north", 0.0)]
    other = remember(curator, home, "more", embedding=ways["east"], embedding_model=name)
    call(curator, "merge", item_id=item, absorbed=other, reason="the same")
    assert found() == [("north", 0.0)]
    rollback(curator, item)
    assert found() == [("more", 1.0), ("north", 0.0)]


def test_the_same_write_again_after_a_rollback(shared_world: World, curator: Agent) -> None:
    """By its content it is a new statement; by a key of one's own, the request that was undone.

    A queue that delivers once more must not bring back what somebody took away.

    Proves: W4, T5
    """
    say(curator, "Lund")
    bad = say(curator, "Oslo", idempotency_key="job 1")
    rolled_back(curator, bad["item_id"])
    again = write(curator, "semantic", "Oslo", **KEY, idempotency_key="job 1")
    assert (again["outcome"], again["version_id"]) == ("ALREADY_COMMITTED", bad["version_id"])
    assert stands(shared_world, bad["item_id"]) == ("ACTIVE", "Lund")
    same = write(curator, "semantic", "Lund", **KEY)
    assert (same["outcome"], same["reason"]) == ("REJECTED", "EXACT_DUPLICATE")
    assert same["version_id"] == head(shared_world, bad["item_id"])["version_id"]
    anew = write(curator, "semantic", "Oslo", **KEY)
    assert (anew["outcome"], anew["item_id"]) == ("COMMITTED", bad["item_id"])
    assert anew["version_id"] != bad["version_id"]
    rolled_back(curator, bad["item_id"])
    third = write(curator, "semantic", "Oslo", **KEY)
    assert third["outcome"] == "COMMITTED"
    assert stands(shared_world, bad["item_id"]) == ("ACTIVE", "Oslo")


def test_what_is_secret_stays_so(shared_world: World, home: str) -> None:
    """A version from before the item was made a secret comes back as one.

    Proves: T5, A3
    """
    shared_world.scope(home)
    chief = shared_world.agent(home, role="curator", clearance="confidential")
    low = shared_world.agent(home)
    item = say(low, "Lund")["item_id"]
    say(chief, "Oslo", classification="confidential")
    rolled_back(chief, item)
    assert stands(shared_world, item) == ("ACTIVE", "Lund")
    assert recall(low) == []
    assert [row["classification"] for row in recall(chief)] == ["confidential"]


def test_it_needs_read_committed_and_an_identity(shared_world: World, curator: Agent) -> None:
    """25001, 28000, and 42501 for groups that do not write.

    Proves: T5
    """
    item = say(curator, "Lund")["item_id"]
    curator.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert state(curator, "rollback", item_id=item, reason="no") == "25001"
    curator.execute("ROLLBACK")
    stranger = shared_world.connect(shared_world.role("memwarden_agent"))
    assert state(stranger, "rollback", item_id=item, reason="no") == "28000"
