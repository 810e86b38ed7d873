"""Nothing rests on itself: circles are refused when they would close, and found where they are."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from access import join
from helpers import write
from memwarden_core.circles import circles
from races import together
from write.evidence.conftest import Office, item

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def open_office(shared_world: World) -> Office:
    """An organisation whose layers ask for no evidence: circles are refused all the same."""
    return Office(shared_world)


def fact(
    office: Office, name: str, value: int, *evidence: dict[str, Any], **arguments: Any
) -> DictRow:
    """Write a value of a fact: the second makes a new version."""
    return office.write({"value": value}, *evidence, subject=name, predicate="is", **arguments)


def chain(office: Office, length: int, **arguments: Any) -> list[DictRow]:
    """Facts each of which rests on the one before."""
    made: list[DictRow] = []
    for place in range(length):
        made.append(
            fact(office, f"fact {place}", 0, *([item(made[-1])] if made else []), **arguments)
        )
        assert made[-1]["outcome"] == "COMMITTED"
    return made


@pytest.mark.parametrize("length", range(1, 7))
def test_a_circle_is_refused_when_it_would_close(open_office: Office, length: int) -> None:
    """Of any length, from a fact that cites its own earlier version on.

    Proves: X3
    """
    made = chain(open_office, length)
    refused = fact(open_office, "fact 0", 1, item(made[-1]))
    assert (refused["outcome"], refused["gate"], refused["reason"]) == (
        "REJECTED",
        "40_evidence",
        "PROVENANCE_CYCLE",
    )
    assert refused["detail"] is None
    assert (
        open_office.world.rows(
            "SELECT * FROM memwarden.find_provenance_cycles() WHERE org = %s", open_office.org
        )
        == []
    )
    beside = fact(open_office, "another", 1, item(made[-1]))
    assert beside["outcome"] == "COMMITTED"


def test_across_layers_scopes_and_agents(open_office: Office) -> None:
    """The circle of the documents: A writes, B derives, A takes that for confirmation.

    Proves: X3
    """
    colleague = join(open_office.world, open_office.home)
    claim = fact(open_office, "claim", 0)
    derived = fact(open_office, "derived", 0, item(claim), by=colleague, layer="episodic")
    assert fact(open_office, "claim", 1, item(derived))["reason"] == "PROVENANCE_CYCLE"
    assert (
        fact(open_office, "claim", 1, item(derived), layer="procedural")["outcome"] == "COMMITTED"
    )


def test_an_old_version_does_not_hide_the_circle(open_office: Office) -> None:
    """Whoever cites what an item was before, cites the item.

    Proves: X3
    """
    first, second = fact(open_office, "first", 0), fact(open_office, "second", 0)
    assert fact(open_office, "second", 1, item(first))["outcome"] == "COMMITTED"
    before = item(second) | {"version_id": str(second["version_id"])}
    assert fact(open_office, "first", 1, before)["reason"] == "PROVENANCE_CYCLE"


def test_what_no_longer_rests_on_it_may_be_cited(open_office: Office) -> None:
    """A later version that names other evidence has left the circle; the version before it has not.

    Proves: X3
    """
    first = fact(open_office, "first", 0)
    second = fact(open_office, "second", 0, item(first))
    fact(open_office, "second", 1)
    before = item(second) | {"version_id": str(second["version_id"])}
    assert fact(open_office, "first", 1, before)["reason"] == "PROVENANCE_CYCLE"
    assert fact(open_office, "first", 1, item(second))["outcome"] == "COMMITTED"


def test_a_diamond_is_no_circle(open_office: Office) -> None:
    """Two ways to one origin.

    Proves: X3
    """
    root = fact(open_office, "root", 0)
    sides = [fact(open_office, f"side {n}", 0, item(root)) for n in range(2)]
    assert fact(open_office, "top", 0, *map(item, sides))["outcome"] == "COMMITTED"


def test_too_much_to_look_through_is_refused_as_that(open_office: Office) -> None:
    """The search has a bound, and says so.

    Proves: X3
    """
    first, last = fact(open_office, "first", 0), fact(open_office, "last", 0)
    admin = open_office.world.admin
    admin.execute(
        "INSERT INTO memwarden_data.derivation SELECT i.org_id, i.scope_id, i.item_id, "
        "i.version_id, i.org_id, md5(n::text)::uuid, md5(n::text)::uuid"
        "  FROM memwarden_data.item AS i, generate_series(1, 10001) AS n WHERE i.item_id = %s",
        (last["item_id"],),
    )
    assert fact(open_office, "first", 1, item(last))["reason"] == "PROVENANCE_TOO_DEEP"
    assert fact(open_office, "new", 1, item(last))["outcome"] == "COMMITTED"
    assert first["outcome"] == "COMMITTED"


def test_two_that_close_a_circle_at_once_are_found(open_office: Office) -> None:
    """Each cites the other's fact before it commits. Either one is refused or the sweep names both.

    Proves: X3
    """
    office = open_office
    for _ in range(3):
        name = uuid.uuid4().hex
        scopes = [f"{office.home}/task/{name}{side}" for side in "ab"]
        for scope in scopes:
            office.world.scope(scope)
        agents = [join(office.world, office.home, descendants=True) for _ in scopes]
        facts = [
            write(
                agents[n], "semantic", {"value": 0}, subject=name, predicate="is", scope=scopes[n]
            )
            for n in (0, 1)
        ]

        def close(
            n: int,
            agents: Sequence[Connection[DictRow]] = agents,
            name: str = name,
            scopes: Sequence[str] = scopes,
            facts: Sequence[DictRow] = facts,
        ) -> str:
            answer = write(
                agents[n],
                "semantic",
                {"value": 1},
                subject=name,
                predicate="is",
                scope=scopes[n],
                evidence=[item(facts[1 - n])],
            )
            return str(answer["reason"] or answer["outcome"])

        answers = together([lambda: close(0), lambda: close(1)])
        found = office.world.rows(
            "SELECT cycle, item_id, cites FROM memwarden.find_provenance_cycles() WHERE "
            "scope = ANY (%s)",
            scopes,
        )
        ids = {fact["item_id"] for fact in facts}
        if answers == ["REPLACED", "REPLACED"]:
            assert {row["item_id"] for row in found} == {row["cites"] for row in found} == ids
            assert len({row["cycle"] for row in found}) == 1
        else:
            assert sorted(answers) == ["PROVENANCE_CYCLE", "REPLACED"]
            assert found == []


def test_the_sweep_finds_a_circle_and_shows_it_to_who_may_see_it(world: World) -> None:
    """However it came about; another organisation's auditor sees none, agents may not ask.

    Proves: X3
    """
    office, other = Office(world), Office(world)
    made = chain(office, 3)
    world.admin.execute(
        "INSERT INTO memwarden_data.derivation SELECT i.org_id, i.scope_id, i.item_id, "
        "i.version_id, i.org_id, s.item_id, s.version_id"
        "  FROM memwarden_data.item AS i, memwarden_data.item AS s WHERE i.item_id = %s AND "
        "s.item_id = %s",
        (made[0]["item_id"], made[2]["item_id"]),
    )
    edges = {(made[n]["item_id"], made[n - 1]["item_id"]) for n in range(3)}
    query = "SELECT * FROM memwarden.find_provenance_cycles()"
    for caller, expected in (
        (world.admin, edges),
        (join(world, office.home, "auditor"), edges),
        (join(world, f"/org/{office.org}", "auditor"), set()),
        (join(world, other.home, "auditor"), set()),
    ):
        rows = caller.execute(query).fetchall()
        assert {(row["item_id"], row["cites"]) for row in rows} == expected
    with pytest.raises(Exception, match="permission denied"):
        office.writer.execute(query)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30, unique=True))
@settings(deadline=None)
def test_circles_are_the_strongly_connected_components(edges: list[tuple[int, int]]) -> None:
    """Two ends of an edge are in one circle when each can be reached from the other.

    Proves: X3
    """
    found = circles([str(a) for a, _ in edges], [str(b) for _, b in edges])
    reached = {(a, b) for a, b in edges} | {(n, n) for n in range(10)}
    for via in range(10):
        reached |= {(a, b) for a in range(10) for b in range(10) if {(a, via), (via, b)} <= reached}
    component = {n: min(m for m in range(10) if {(n, m), (m, n)} <= reached) for n in range(10)}
    assert [number is not None for number in found] == [
        component[a] == component[b] for a, b in edges
    ]
    pairs = [(number, component[a]) for number, (a, _) in zip(found, edges, strict=True) if number]
    assert len(set(pairs)) == len({number for number, _ in pairs}) == len({c for _, c in pairs})


def test_a_long_chain_is_walked_without_recursion() -> None:
    """Longer than the stack of Python."""
    names = [str(n) for n in range(50_000)]
    assert set(circles(names[:-1], names[1:])) == {None}
    assert set(circles(names, [*names[1:], names[0]])) == {1}
