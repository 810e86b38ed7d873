"""Scopes form a tree of paths that only an administrator extends."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from psycopg.errors import InvalidParameterValue, UndefinedObject

from conftest import World
from helpers import write
from races import together

BAD_PATHS = [
    None,
    "",
    "/",
    "//",
    "/org",
    "/org/",
    "org/acme",
    "/org/acme/",
    "//org/acme",
    "/org//acme",
    "/org/acme/user",
    "/org/acme/user/",
    "/user/ana",
    "/global",
    "/global/x",
    "/global/x/user/ana",
    "/org/acme/global/x",
    "/org/acme/org/other",
    "/org/acme/user/ana/org/other",
    "/org/ac me",
    "/org/-acme",
    "/org/.",
    "/org/..",
    "/org/acme/user/..",
    "/org/acme/User/ana",
    "/org/acme/9/ana",
    "/org/acme/user/ana\n",
    "\n/org/acme",
    "/org/acme/user/añá",
    "/org/acme/user/a'b",
    "/org/acme/user/a/b",
    "/org/" + "a" * 201,
    "/org/acme/" + "k" * 64 + "/x",
    "/org/acme" + "/task/t" * 200,
]


@pytest.mark.parametrize("path", BAD_PATHS, ids=lambda path: repr(path)[:40])
def test_a_malformed_path_makes_nothing(shared_world: World, path: str | None) -> None:
    """22023, and neither an organisation nor a parent is left behind."""
    count = "SELECT (SELECT count(*) FROM memwarden_data.scope) AS n"
    organisations = "SELECT count(*) FROM memwarden_data.organisation"
    before = shared_world.value(count), shared_world.value(organisations)
    with pytest.raises(InvalidParameterValue, match="outside what this function accepts"):
        shared_world.admin.execute("SELECT memwarden.create_scope(%s)", (path,))
    assert (shared_world.value(count), shared_world.value(organisations)) == before


def test_an_unknown_kind_of_scope_makes_nothing(shared_world: World) -> None:
    """42704; kinds are rows, and the organisation of the path is not made either."""
    with pytest.raises(UndefinedObject, match="no such memwarden object") as raised:
        shared_world.scope("/org/nobody/galaxy/milky-way")
    assert raised.value.diag.message_detail == "scope kind 'galaxy'"
    assert shared_world.rows("SELECT FROM memwarden_data.scope WHERE path ~ '/nobody'") == []
    assert shared_world.rows("SELECT FROM memwarden_data.organisation WHERE name = 'nobody'") == []


def test_parents_are_made_and_an_existing_scope_is_returned(shared_world: World, home: str) -> None:
    """The lineage of each runs from /global down to itself."""
    task = f"{home}/task/t1"
    number = shared_world.scope(task)
    assert shared_world.scope(task) == number
    organisation = home.rsplit("/", 2)[0]
    rows = shared_world.rows(
        "SELECT s.path, s.kind, s.org_id, s.lineage, s.scope_id, p.path AS parent"
        "  FROM memwarden_data.scope AS s"
        "  LEFT JOIN memwarden_data.scope AS p ON p.scope_id = s.parent_id"
        " WHERE s.path = ANY (%s) ORDER BY length(s.path)",
        [organisation, home, task],
    )
    assert [(row["path"], row["kind"], row["parent"]) for row in rows] == [
        (organisation, "org", "/global"),
        (home, "user", organisation),
        (task, "task", home),
    ]
    ids = [row["scope_id"] for row in rows]
    assert [row["lineage"] for row in rows] == [[0, *ids[: i + 1]] for i in range(3)]
    assert len({row["org_id"] for row in rows}) == 1


def test_every_kind_may_stand_at_any_level(shared_world: World, home: str) -> None:
    """Isolation is the same for each: an agent can live in a domain."""
    organisation = home.rsplit("/", 2)[0]
    agent = shared_world.agent(f"{organisation}/domain/billing/user/ana/domain/taxes")
    row = write(agent, "semantic", {"rate": "25 percent"})
    assert row["outcome"] == "COMMITTED"


def test_the_same_scope_made_by_many_at_once_is_one(shared_world: World, home: str) -> None:
    """Eight connections, four paths of one new organisation: nobody fails, all agree."""
    paths = [f"{home}/task/t{i % 2}/domain/d{i % 4}" for i in range(8)]
    connections = [shared_world.connect() for _ in paths]

    def create(connection: psycopg.Connection[dict[str, int]], path: str) -> Callable[[], int]:
        def run() -> int:
            row = connection.execute("SELECT memwarden.create_scope(%s) AS id", (path,)).fetchone()
            assert row is not None
            return row["id"]

        return run

    numbers = together([create(c, path) for c, path in zip(connections, paths, strict=True)])
    assert numbers == [shared_world.scope(path) for path in paths]
    assert len(set(numbers)) == 4
    rows = shared_world.rows("SELECT * FROM memwarden_data.scope WHERE path LIKE %s", f"{home}%")
    assert len(rows) == 1 + 2 + 4
    by_id = {row["scope_id"]: row for row in rows}
    for row in rows:
        parent = by_id.get(row["parent_id"])
        assert row["lineage"][-1] == row["scope_id"]
        assert parent is None or row["lineage"][:-1] == parent["lineage"]


def test_a_closed_scope_is_read_and_not_written(shared_world: World, home: str) -> None:
    """A finished task's memories stay."""
    agent = shared_world.agent(home)
    written = write(agent, "semantic", {"fact": "the task is done"})
    shared_world.admin.execute(
        "UPDATE memwarden_data.scope SET closed_at = now() WHERE path = %s", (home,)
    )
    refused = write(agent, "semantic", {"fact": "one more"})
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "SCOPE_CLOSED")
    items = agent.execute("SELECT item_id FROM memwarden.items").fetchall()
    assert items == [{"item_id": written["item_id"]}]
