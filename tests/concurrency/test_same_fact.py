"""The same fact written by everybody at once is one fact; different values of it take turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from races import together
from replay import Head, check_projections, check_store, read
from warm import Pool

if TYPE_CHECKING:
    from conftest import World

WRITERS = 32
FEW = 8
FACT: dict[str, Any] = {
    "layer": "semantic",
    "content": {"drink": "green tea"},
    "subject": "Ana",
    "predicate": "prefers",
}


def at_once(sessions: list[Connection[DictRow]], requests: list[dict[str, Any]]) -> list[DictRow]:
    """Let every session make its request at the same moment."""
    return together(
        [
            lambda session=session, request=request: write(session, **request)  # type: ignore[misc]
            for session, request in zip(sessions, requests, strict=True)
        ]
    )


@pytest.fixture(scope="module")
def crowd(shared_world: World) -> Iterator[Pool]:
    """Connections for all of them: each test's writers are others."""
    pool = Pool(shared_world.dsn, WRITERS)
    yield pool
    pool.close()


@pytest.fixture(params=["one agent", "many agents"])
def sessions(
    shared_world: World, crowd: Pool, home: str, request: pytest.FixtureRequest
) -> Iterator[list[Connection[DictRow]]]:
    """Thirty-two sessions, of one agent or of as many."""
    role = shared_world.register(home)
    is_one = request.param == "one agent"
    roles = [role if is_one else shared_world.register(home) for _ in range(WRITERS)]
    made = [crowd.take(role, autocommit=True) for role in roles]
    for session in made:
        # However slow the machine is, nobody gives up waiting.
        session.execute("SET lock_timeout = '2min'")
    yield made
    for session in made:
        crowd.give_back(session)


@pytest.fixture
def scope_id(shared_world: World, home: str) -> int:
    """The number of the scope that they write to."""
    return shared_world.scope(home)


def heads_of(world: World, scope_id: int) -> list[Head]:
    """The heads in a scope, once the whole store was found to be what its log says."""
    check_store(world.admin)
    return list(check_projections(world.admin, read(world.admin, [scope_id]), [scope_id]).values())


def test_thirty_two_writers_of_one_fact_make_one_item(
    shared_world: World, scope_id: int, sessions: list[Connection[DictRow]]
) -> None:
    """One COMMITTED; the others learn that it is known, and which item it is.

    Proves: W4, D1
    """
    answers = at_once(sessions, [FACT] * WRITERS)
    outcomes = Counter(answer["outcome"] for answer in answers)
    known = {a["reason"] or a["outcome"] for a in answers if a["outcome"] != "COMMITTED"}
    assert outcomes["COMMITTED"] == 1
    assert known in ({"ALREADY_COMMITTED"}, {"EXACT_DUPLICATE"})
    assert len({(answer["item_id"], answer["version_id"]) for answer in answers}) == 1
    assert len(heads_of(shared_world, scope_id)) == 1
    requests = "SELECT count(*) FROM memwarden_data.write_request WHERE scope_id = %s"
    assert shared_world.value(requests, scope_id) == WRITERS


def test_thirty_two_values_of_one_key_are_thirty_two_versions(
    shared_world: World, scope_id: int, sessions: list[Connection[DictRow]]
) -> None:
    """One item, consecutive versions, each the successor of the one before; none is lost.

    Proves: D5, T1, T2
    """
    values = [FACT | {"content": {"drink": f"tea number {n}"}} for n in range(WRITERS)]
    answers = at_once(sessions, values)
    assert {answer["outcome"] for answer in answers} == {"COMMITTED"}
    assert len({answer["item_id"] for answer in answers}) == 1
    numbers = shared_world.rows(
        "SELECT version FROM memwarden_data.version WHERE scope_id = %s ORDER BY version", scope_id
    )
    assert [row["version"] for row in numbers] == list(range(1, WRITERS + 1))
    assert [head.version for head in heads_of(shared_world, scope_id)] == [WRITERS]


def test_a_key_for_many_values_at_once_is_kept_by_the_first(
    shared_world: World, scope_id: int, sessions: list[Connection[DictRow]]
) -> None:
    """One idempotency key, eight contents: an agent commits one, whoever comes first.

    Proves: W4
    """
    requests = [
        {"layer": "working", "content": {"n": n}, "idempotency_key": "k"} for n in range(FEW)
    ]
    answers = at_once(sessions[:FEW], requests)
    outcomes = Counter(answer["reason"] or answer["outcome"] for answer in answers)
    agents = shared_world.value(
        "SELECT count(DISTINCT principal_id) FROM memwarden_data.write_request WHERE scope_id = %s",
        scope_id,
    )
    expected = {"COMMITTED": agents, "IDEMPOTENCY_KEY_REUSED": FEW - agents}
    assert outcomes == Counter(expected)
    assert len(heads_of(shared_world, scope_id)) == agents


def test_an_update_against_its_duplicate_leaves_one_current_value(
    shared_world: World, scope_id: int, sessions: list[Connection[DictRow]]
) -> None:
    """Two values of one key, each written by half: the head is one of them and both are history.

    Proves: D1, D5, T1
    """
    write(sessions[0], **FACT)
    values = [FACT | {"content": {"drink": "coffee" if n % 2 else "water"}} for n in range(FEW)]
    answers = at_once(sessions[:FEW], values)
    assert {answer["outcome"] for answer in answers} <= {
        "COMMITTED",
        "ALREADY_COMMITTED",
        "REJECTED",
    }
    assert len(heads_of(shared_world, scope_id)) == 1
    history = shared_world.rows(
        "SELECT content ->> 'drink' AS drink FROM memwarden_data.version WHERE scope_id = %s"
        " ORDER BY version",
        scope_id,
    )
    drinks = [row["drink"] for row in history]
    assert set(drinks) == {"green tea", "coffee", "water"}
    assert all(one != other for one, other in pairwise(drinks))
