"""Batches over the same scopes, in opposite orders and at once, all commit without a deadlock."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from helpers import write, write_many
from races import overlap, together
from replay import check_store

if TYPE_CHECKING:
    from conftest import World

BATCHES, ROWS, SCOPES = 16, 1_000, 50


@pytest.mark.one_version
def test_sixteen_batches_in_opposite_orders_all_commit(world: World) -> None:
    """Each fact that all of them bring is committed once; each of their own is there.

    Proves: W8, D1
    """
    world.admin.execute("SELECT memwarden.register_embedding_model('tiny', 2)")
    paths = [f"/org/acme/task/t{n}" for n in range(SCOPES)]
    for path in paths:
        world.scope(path)
    sessions = [world.agent("/org/acme", descendants=True) for _ in range(BATCHES)]

    def fact(batch: int, row: int) -> dict[str, Any]:
        """Nine facts of ten are brought by every batch."""
        owner = f"batch {batch}" if row % 10 == 0 else "all"
        return {
            "layer": "semantic",
            "scope": paths[row % SCOPES],
            "content": f"{owner} {row}",
            "embedding": [1.0, float(row)],
            "embedding_model": "tiny",
        }

    batches = [[fact(batch, row) for row in range(ROWS)] for batch in range(BATCHES)]
    for batch, requests in enumerate(batches):
        if batch % 3 == 1:
            requests.reverse()
        elif batch % 3 == 2:
            random.Random(batch).shuffle(requests)
    answers = together(
        [
            lambda session=session, requests=requests: write_many(session, requests)  # type: ignore[misc]
            for session, requests in zip(sessions, batches, strict=True)
        ]
    )
    for given in answers:
        assert [answer["ordinal"] for answer in given] == list(range(ROWS))
    outcomes = Counter(
        answer["reason"] or answer["outcome"] for given in answers for answer in given
    )
    shared, own = ROWS - ROWS // 10, ROWS // 10
    assert outcomes == {
        "COMMITTED": shared + own * BATCHES,
        "EXACT_DUPLICATE": shared * (BATCHES - 1),
    }
    assert len(check_store(world.admin)) == shared + own * BATCHES


def test_batches_and_single_writes_take_turns(world: World) -> None:
    """Writers of one row each between batches over all scopes: everything is decided, none fails.

    Proves: W8, W2
    """
    paths = [f"/org/acme/task/t{n}" for n in range(5)]
    for path in paths:
        world.scope(path)
    sessions = [world.agent("/org/acme", descendants=True) for _ in range(8)]

    def work(number: int) -> list[str]:
        session = sessions[number]
        order = paths if number % 2 else paths[::-1]
        requests = [{"layer": "semantic", "content": f"{number} {p}", "scope": p} for p in order]
        if number < 4:
            return [answer["outcome"] for answer in write_many(session, requests * 3)]
        return [write(session, **request)["outcome"] for request in requests * 3]

    outcomes = Counter(
        outcome
        for given in together([lambda n=n: work(n) for n in range(8)])  # type: ignore[misc]
        for outcome in given
    )
    assert outcomes == {"COMMITTED": 8 * 5, "ALREADY_COMMITTED": 8 * 5 * 2}
    check_store(world.admin)


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_a_batch_waits_for_its_scopes_in_the_order_of_their_numbers(
    world: World, names: str
) -> None:
    """Whatever their names: while it waits for the first, nobody has to wait for the second.

    Proves: W8
    """
    paths = [f"/org/acme/task/{name}" for name in names]
    numbers = [world.scope(path) for path in paths]
    assert numbers == sorted(numbers)
    role = world.register("/org/acme", descendants=True)
    holder, waiting = world.connect(role), world.connect(role)
    holder.execute("SET lock_timeout = '10 ms'")
    for path in paths:
        write(holder, "episodic", "It rained on Monday", scope=path)
    remember = partial(write, holder, "episodic", "It rained on Tuesday")
    batch = [
        {"layer": "episodic", "content": "It rained on Wednesday", "scope": path}
        for path in reversed(paths)
    ]
    held = []
    answers = overlap(
        world.admin,
        holder,
        lambda: held.append(remember(scope=paths[0])),
        waiting,
        partial(write_many, waiting, batch),
        meanwhile=lambda: held.append(remember(scope=paths[1])),
    )
    assert [answer["outcome"] for answer in [*held, *answers]] == ["COMMITTED"] * 4
