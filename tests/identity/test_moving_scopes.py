"""A scope moves with all that is below it; who reads what follows the tree at once."""

from __future__ import annotations

import random

import pytest
from psycopg import IsolationLevel
from psycopg.errors import (
    ActiveSqlTransaction,
    DuplicateObject,
    InsufficientPrivilege,
    InvalidParameterValue,
    ObjectNotInPrerequisiteState,
    UndefinedObject,
)

from conftest import World
from helpers import recall, write
from replay import check_store
from scope_calls import (
    CURATOR,
    check_tree,
    close_scope,
    create_scope,
    get,
    move_scope,
    one,
    organisation_of,
    remember,
    scope_row,
)
from write.gates.obedient import run_retries, status


def test_everything_below_moves_along(shared_world: World, home: str) -> None:
    """Paths and lineages; numbers, kinds, memories and grants stay what and where they were.

    Proves: A4
    """
    organisation = organisation_of(home)
    project, team = f"{organisation}/domain/project", f"{organisation}/domain/team"
    paths = [project, f"{project}/task/a", f"{project}/task/a/task/b", f"{project}/user/u"]
    for path in [*paths, team, f"{project}2", f"{organisation}/user/x/domain/project"]:
        shared_world.scope(path)
    agent = shared_world.agent(project, descendants=True)
    single = shared_world.agent(paths[2])
    items = {remember(agent, path, {"said in": path}): path for path in paths}
    before = check_tree(shared_world.admin)
    assert move_scope(shared_world.admin, project, team) == f"{team}/domain/project"
    after = check_tree(shared_world.admin)
    moved = {path: path.replace(project, f"{team}/domain/project", 1) for path in paths}
    assert after.keys() == {moved.get(path, path) for path in before}
    for old, new in moved.items():
        changed = ("path", "lineage", "parent_id")
        kept = {name: value for name, value in before[old].items() if name not in changed}
        assert {name: after[new][name] for name in kept} == kept
    for item, path in items.items():
        assert get(agent, item)["scope"] == moved[path]
    assert write(agent, "semantic", "still", scope=moved[paths[1]])["outcome"] == "COMMITTED"
    assert write(single, "semantic", "home")["outcome"] == "COMMITTED"
    for path in paths:
        assert write(agent, "semantic", "gone", scope=path)["reason"] == "UNKNOWN_SCOPE"
        with pytest.raises(UndefinedObject):
            recall(agent, scopes=[path])


def test_readers_gain_and_lose_with_the_place(shared_world: World, home: str) -> None:
    """From above by a grant with descendants, from below by inheritance; siblings change, too.

    Proves: A4
    """
    organisation = organisation_of(home)
    old, new, moved = (f"{organisation}/domain/{name}" for name in ("old", "new", "moved"))
    start, end = f"{old}/domain/moved", f"{new}/domain/moved"
    for path in (old, new, f"{start}/task/t"):
        shared_world.scope(path)
    above_old = shared_world.agent(old, descendants=True)
    above_new = shared_world.agent(new, descendants=True)
    inside = shared_world.agent(f"{start}/task/t")
    remember(above_old, old, {"of": "old"})
    remember(above_new, new, {"of": "new"})
    remember(above_old, start, {"of": "moved"})
    remember(inside, f"{start}/task/t", {"of": "task"})

    def seen() -> list[set[str]]:
        return [
            {row["content"]["of"] for row in recall(agent, k=1000)}
            for agent in (above_old, above_new, inside)
        ]

    assert seen() == [{"old", "moved", "task"}, {"new"}, {"old", "moved", "task"}]
    assert move_scope(shared_world.admin, start, new) == end
    assert seen() == [{"old"}, {"new", "moved", "task"}, {"new", "moved", "task"}]
    assert write(above_old, "semantic", {"of": "x"}, scope=end)["reason"] == "UNKNOWN_SCOPE"
    assert write(above_new, "semantic", {"of": "x"}, scope=end)["outcome"] == "COMMITTED"
    rows = inside.execute("SELECT scope FROM memwarden.scopes ORDER BY scope").fetchall()
    assert [row["scope"] for row in rows] == ["/global", organisation, new, end, f"{end}/task/t"]
    assert move_scope(shared_world.admin, end, organisation) == moved
    assert seen() == [{"old"}, {"new"}, {"moved", "task", "x"}]
    check_tree(shared_world.admin)


def test_a_scope_stays_where_it_is_put_again(shared_world: World, home: str) -> None:
    """Under the parent it has: nothing changes, and the path is the same.

    Proves: A4
    """
    create_scope(shared_world.admin, f"{home}/task/t")
    before = check_tree(shared_world.admin)
    assert move_scope(shared_world.admin, home, organisation_of(home)) == home
    assert check_tree(shared_world.admin) == before


@pytest.mark.parametrize(
    ("path", "new_parent", "error"),
    [
        ("{home}", "{home}", InvalidParameterValue),
        ("{home}", "{home}/task/t", InvalidParameterValue),
        ("{home}", "{home}/task/t/task/sub", InvalidParameterValue),
        ("{org}", "{home}", InvalidParameterValue),
        ("{org}", "{other}", InvalidParameterValue),
        ("{org}", "/global", InvalidParameterValue),
        ("/global", "{org}", InvalidParameterValue),
        ("/global", "/global", InvalidParameterValue),
        ("{home}", "/global", InvalidParameterValue),
        ("{home}", "{other}", InvalidParameterValue),
        ("{home}", "{other}/user/ana", InvalidParameterValue),
        ("{home}/task/t", "{org}/domain/taken", DuplicateObject),
        ("{home}/task/t", "{org}/domain/closed", ObjectNotInPrerequisiteState),
        ("{home}/task/t", "{org}/domain/closed/task/inside", ObjectNotInPrerequisiteState),
        ("{home}/task/t", "{long}", InvalidParameterValue),
        ("{home}", "{long}", InvalidParameterValue),
        ("{home}/task/none", "{org}", UndefinedObject),
        ("{home}/task/t", "{org}/domain/none", UndefinedObject),
        (None, "{org}", UndefinedObject),
        ("{home}", None, UndefinedObject),
        ("", "", UndefinedObject),
    ],
)
def test_what_cannot_be_moved_there_stays(
    shared_world: World, home: str, path: str, new_parent: str, error: type[Exception]
) -> None:
    """Into itself, across organisations, the roots, a taken or a closed or too deep a place.

    Proves: A4
    """
    organisation = organisation_of(home)
    names = {"home": home, "org": organisation, "other": f"{organisation}x"}
    names["long"] = organisation + "/domain/" + "/domain/".join(["d" * 155] * 6)
    for made in (
        f"{home}/task/t/task/sub",
        f"{names['other']}/user/ana",
        f"{organisation}/domain/taken/task/t",
        f"{organisation}/domain/closed/task/inside",
        names["long"],
    ):
        shared_world.scope(made)
    close_scope(shared_world.admin, f"{organisation}/domain/closed")
    before = check_tree(shared_world.admin)
    with pytest.raises(error) as raised:
        move_scope(
            shared_world.admin,
            path and path.format(**names),
            new_parent and new_parent.format(**names),
        )
    assert getattr(raised.value, "diag").message_detail is not None  # noqa: B009
    assert check_tree(shared_world.admin) == before


def test_what_a_path_has_room_for_may_go_deep(shared_world: World, home: str) -> None:
    """A thousand characters for the deepest path that moves along, and not one more.

    Proves: A4
    """
    organisation = organisation_of(home)
    exact = f"{organisation}/domain/" + "/domain/".join(["d" * 185] * 4 + ["d" * 187])
    assert len(f"{exact}/user/ana/task/t") == 1000
    shared_world.scope(f"{home}/task/t")
    shared_world.scope(exact)
    number = scope_row(shared_world, f"{home}/task/t")["scope_id"]
    moved = move_scope(shared_world.admin, home, exact)
    assert create_scope(shared_world.admin, f"{moved}/task/t") == number
    check_tree(shared_world.admin)


def test_administrators_move_and_nobody_else(shared_world: World, home: str) -> None:
    """The organisation's own, in it alone; not who writes both places.

    Proves: A4, A1
    """
    organisation = organisation_of(home)
    task, place = f"{home}/task/t", f"{organisation}/domain/d"
    for path in (task, place, f"{organisation}x/domain/d"):
        shared_world.scope(path)
    for agent in (
        shared_world.agent(organisation, descendants=True),
        shared_world.agent(organisation, descendants=True, groups=("memwarden_curator",)),
        shared_world.agent(home, descendants=True, **CURATOR),
    ):
        with pytest.raises(InsufficientPrivilege):
            move_scope(agent, task, home)
    stranger = shared_world.agent(f"{organisation}x", **CURATOR)
    for path in (task, f"{home}/task/none"):
        with pytest.raises(UndefinedObject) as raised:
            move_scope(stranger, path, f"{organisation}x/domain/d")
        assert raised.value.diag.message_detail == f"scope '{path}'"
    curator = shared_world.agent(organisation, **CURATOR)
    assert move_scope(curator, task, place) == f"{place}/task/t"
    change = one(
        shared_world.admin,
        "SELECT * FROM memwarden.access_changes WHERE action = 'move_scope'   AND agent = %s",
        curator.info.user,
    )
    assert change["detail"]["from"] == task
    assert change["detail"]["to"] == f"{place}/task/t"


@pytest.mark.parametrize("level", [IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE])
def test_moving_needs_read_committed(shared_world: World, home: str, level: IsolationLevel) -> None:
    """25001: elsewhere it would not see a scope that was created below meanwhile.

    Proves: A4
    """
    create_scope(shared_world.admin, f"{home}/task/t")
    mover = shared_world.connect()
    mover.isolation_level = level
    with pytest.raises(ActiveSqlTransaction), mover.transaction():
        move_scope(mover, f"{home}/task/t", organisation_of(home))
    check_tree(shared_world.admin)


def test_a_closed_scope_may_be_moved_and_stays_closed(shared_world: World, home: str) -> None:
    """Its history goes where it belongs.

    Proves: A4, A10
    """
    agent, task = shared_world.agent(home), f"{home}/task/t"
    create_scope(agent, task)
    item = remember(agent, task, {"step": 1})
    close_scope(agent, task)
    moved = move_scope(shared_world.admin, task, organisation_of(home))
    assert scope_row(shared_world, moved)["closed_at"] is not None
    assert get(agent, item)["scope"] == moved
    assert write(agent, "semantic", "x", scope=moved)["reason"] == "SCOPE_CLOSED"


def test_a_deferred_write_to_the_home_follows_it(world: World) -> None:
    """It named no path: the agent's home is meant, wherever that is.

    Proves: A4, W2
    """
    home = "/org/acme/user/ana"
    agent, blocker = world.agent(home), world.connect()
    remember(agent, home, {"n": 0})
    world.scope("/org/acme/domain/d")
    agent.execute("SET lock_timeout = '1ms'")
    with blocker.transaction():
        blocker.execute("SELECT FROM memwarden_data.write_lock FOR UPDATE")
        waits = write(agent, "semantic", {"n": 1})
    assert waits["outcome"] == "DEFERRED"
    moved = move_scope(world.admin, home, "/org/acme/domain/d")
    run_retries(world)
    assert status(world, waits)["outcome"] == "COMMITTED"
    assert get(agent, status(world, waits)["item_id"])["scope"] == moved
    check_store(world.admin)


def test_any_number_of_moves_leaves_a_tree(world: World) -> None:
    """Fifty scopes, put elsewhere two hundred times: lineage and path are those of the parents.

    Proves: A4
    """
    chance = random.Random(7)
    names = [f"n{n}" for n in range(50)]
    for name in names:
        paths = [path for path in check_tree(world.admin) if path != "/global"] or ["/org/acme"]
        world.scope(f"{chance.choice(paths)}/domain/{name}")
    author = world.agent("/org/acme", descendants=True)
    for path in check_tree(world.admin):
        if path != "/global":
            remember(author, path, {"in": path.rpartition("/")[2]})
    refused = 0
    for _ in range(200):
        paths = sorted(check_tree(world.admin))
        moved, parent = chance.choice(paths), chance.choice(paths)
        try:
            expected = f"{parent}/domain/{moved.rpartition('/')[2]}"
            assert move_scope(world.admin, moved, parent) == expected
        except InvalidParameterValue:
            assert (
                moved in ("/global", "/org/acme") or parent == "/global" or parent.startswith(moved)
            )
            refused += 1
    assert 0 < refused < 100
    tree = check_tree(world.admin)
    found = {row["scope"]: row["content"]["in"] for row in recall(author, k=1000)}
    assert found == {path: path.rpartition("/")[2] for path in tree if path != "/global"}
