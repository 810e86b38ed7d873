"""Scopes form a tree of paths: above is read, beside is not there, below is by grant."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import psycopg
import pytest
from psycopg.errors import InvalidParameterValue, UndefinedObject

from conftest import World
from helpers import recall, write
from races import together

# What a caller is told is the same to whoever takes on its role; test_isolation.py logs in.
WARM_LOGINS = True

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


PLACES = [
    "/global",
    "/org/{o}",
    "/org/{o}/{k}/a",
    "/org/{o}/{k}/a/{k}/sub",
    "/org/{o}/{k}/b",
    "/org/{p}",
    "/org/{p}/{k}/a",
]
# Where an agent lives, its grant, and what it may in each of the places: write, read, nothing.
RULES: list[tuple[str, dict[str, bool], str]] = [
    ("/global", {}, "w------"),
    ("/global", {"writes": False}, "r------"),
    ("/org/{o}", {}, "rw-----"),
    ("/org/{o}", {"writes": False}, "rr-----"),
    ("/org/{o}", {"descendants": True}, "rwwww--"),
    ("/org/{o}", {"writes": False, "descendants": True}, "rrrrr--"),
    ("/org/{o}/{k}/a", {}, "rrw----"),
    ("/org/{o}/{k}/a", {"writes": False}, "rrr----"),
    ("/org/{o}/{k}/a", {"descendants": True}, "rrww---"),
    ("/org/{o}/{k}/a", {"writes": False, "descendants": True}, "rrrr---"),
    ("/org/{o}/{k}/a/{k}/sub", {}, "rrrw---"),
    ("/org/{o}/{k}/a/{k}/sub", {"descendants": True}, "rrrw---"),
    ("/org/{o}/{k}/b", {"descendants": True}, "rr--w--"),
]
ANSWERS = {
    "w": ("COMMITTED", None),
    "r": ("REJECTED", "SCOPE_READ_ONLY"),
    "-": ("REJECTED", "UNKNOWN_SCOPE"),
}


@pytest.mark.parametrize("kind", ["user", "domain", "task", "project"])
def test_who_reads_and_writes_what(shared_world: World, kind: str) -> None:
    """The table of the document, for every kind of scope, one that was defined here included.

    A child reads what is above it and never writes it. Siblings and organisations are not there
    for one another. What is below is read and written by a grant alone. /global is read by all,
    written by agents that an administrator registered there; an organisation by its own.

    Proves: A4, N10
    """
    shared_world.admin.execute("SELECT memwarden.define_scope_kind('project', 'made here')")
    names = {"o": uuid.uuid4().hex[:12], "p": uuid.uuid4().hex[:12], "k": kind}
    paths = [path.format(**names) for path in PLACES]
    for path in paths[1:]:
        shared_world.scope(path)
    by = [shared_world.agent("/global")]
    by += [shared_world.agent(paths[1], descendants=True)] * 4
    by += [shared_world.agent(paths[5], descendants=True)] * 2
    items = {}
    for path, author in zip(paths, by, strict=True):
        row = write(author, "semantic", {"said in": path, "of": names["o"]}, scope=path)
        assert row["outcome"] == "COMMITTED"
        items[path] = row["item_id"]
    for place, grant, expected in RULES:
        agent = shared_world.agent(place.format(**names), **grant)
        found = {row["item_id"] for row in recall(agent, k=1000)}
        for path, right in zip(paths, expected, strict=True):
            where = f"{place} {grant}: {path}"
            assert (items[path] in found) == (right != "-"), where
            answer = write(agent, "semantic", {"to": path, "by": agent.info.user}, scope=path)
            assert (answer["outcome"], answer["reason"]) == ANSWERS[right], where
