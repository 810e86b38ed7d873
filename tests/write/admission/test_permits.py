"""The permits themselves, at times of the test's choosing: never too many in any window."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from races import together

if TYPE_CHECKING:
    from conftest import World

START = datetime(2030, 1, 1, tzinfo=UTC)
WINDOW = timedelta(seconds=10)
TAKE = """
SELECT array_agg(memwarden_internal.take_permit(0, 0, 0, %s, %s, %s, t.at) ORDER BY t.n)
  FROM unnest(%s::timestamptz[]) WITH ORDINALITY AS t (at, n)"""

# Milliseconds between one write and the next; some at the same moment, some a whole window apart.
GAPS = st.lists(st.sampled_from([0, 0, 0, 1, 50, 400, 5000, 9999, 10000, 10001]), max_size=60)
STEPS = [0, 1, 500, 3000, 9999, 10000]


@pytest.fixture(scope="module")
def owner(shared_world: World) -> Connection[DictRow]:
    """The store's owner, whom alone the function is for."""
    shared_world.admin.execute("SET ROLE memwarden_owner")
    return shared_world.admin


@contextmanager
def unused(owner: Connection[DictRow]) -> Iterator[str]:
    """A layer of which nothing was used yet: its name need mean nothing here."""
    with owner.transaction(force_rollback=True):
        yield uuid.uuid4().hex


def take(
    owner: Connection[DictRow], layer: str, allowed: int, times: list[datetime]
) -> list[datetime]:
    """Ask for a permit at each of these times; return when there was one."""
    row = owner.execute(TAKE, (layer, allowed, WINDOW, times)).fetchone()
    assert row is not None
    got = row["array_agg"] or []
    return [at for at, admitted in zip(times, got, strict=True) if admitted]


def most(admitted: list[datetime], window: timedelta = WINDOW) -> int:
    """The most that there are in any window."""
    return max((sum(at - window < other <= at for other in admitted) for at in admitted), default=0)


@settings(deadline=None, max_examples=60)
@given(allowed=st.integers(1, 12), gaps=GAPS)
@example(allowed=3, gaps=[0, 0, 0, 0, 9999, 1, 0, 0, 0])
def test_an_agent_gets_what_the_window_leaves_and_no_more(
    owner: Connection[DictRow], allowed: int, gaps: list[int]
) -> None:
    """Compared with a list of times: admitted exactly while fewer than the limit are in the window.

    Proves: W6
    """
    times = [START + timedelta(milliseconds=ms) for ms in accumulate(gaps)]
    expected: list[datetime] = []
    for at in times:
        if sum(other > at - WINDOW for other in expected) < allowed:
            expected.append(at)
    with unused(owner) as layer:
        admitted = take(owner, layer, allowed, times)
    assert admitted == expected
    assert most(admitted) <= allowed


@settings(deadline=None, max_examples=40)
@given(allowed=st.integers(1, 12), offsets=st.lists(st.integers(0, 25000), max_size=60))
def test_clocks_that_disagree_admit_no_more(
    owner: Connection[DictRow], allowed: int, offsets: list[int]
) -> None:
    """Times in any order, as of writers that were held up, or after a clock was set back.

    Proves: W6
    """
    times = [START + timedelta(milliseconds=ms) for ms in offsets]
    with unused(owner) as layer:
        assert most(take(owner, layer, allowed, times)) <= allowed


@pytest.mark.parametrize("allowed", [1, 63, 64, 65, 100, 2048, 2049, 3001])
def test_all_of_the_limit_can_be_used_at_once(owner: Connection[DictRow], allowed: int) -> None:
    """However it is cut, the shares add up; and all of it is there again a window later.

    Proves: W6
    """
    with unused(owner) as layer:
        for start in (START, START + WINDOW):
            assert len(take(owner, layer, allowed, [start] * (allowed + 3))) == allowed


def test_a_long_ring_is_late_rather_than_early(owner: Connection[DictRow]) -> None:
    """An entry stands for several permits: a flow is never above the limit, and little below.

    Proves: W6
    """
    allowed = 2560
    times = [START + n * timedelta(milliseconds=3) for n in range(6000)]
    with unused(owner) as layer:
        admitted = take(owner, layer, allowed, times)
    per_window = [sum(at - WINDOW < other <= at for other in admitted) for at in admitted[::97]]
    assert max(per_window) <= allowed
    assert len(admitted) >= 1.8 * allowed * 0.95


@settings(deadline=None, max_examples=40)
@given(first=st.integers(1, 150), second=st.integers(1, 150), used=st.integers(0, 160))
def test_a_new_limit_counts_what_was_used_of_the_old_one(
    owner: Connection[DictRow], first: int, second: int, used: int
) -> None:
    """Raised, it gives the difference; lowered, nothing until few enough are in the window.

    Proves: W6
    """
    later = START + timedelta(seconds=3)
    with unused(owner) as layer:
        spent = len(take(owner, layer, first, [START] * used))
        assert spent == min(first, used)
        assert len(take(owner, layer, second, [later] * 200)) == max(second - spent, 0)
        again = take(owner, layer, second, [START + WINDOW] * 200)
        assert len(again) == min(spent, second)


@settings(deadline=None, max_examples=60)
@given(
    steps=st.lists(
        st.tuples(st.integers(1, 70), st.integers(0, 40), st.sampled_from(STEPS)), max_size=12
    )
)
@example(steps=[(20, 20, 0), (10, 5, 1000), (20, 20, 0)])
@example(steps=[(34, 34, 0), (3, 3, 10000), (1, 1, 0), (4, 1, 0)])
def test_limits_that_change_again_and_again_forget_nothing(
    owner: Connection[DictRow], steps: list[tuple[int, int, int]]
) -> None:
    """Up and down: admitted exactly while fewer than the limit of the moment are in the window.

    Proves: W6
    """
    at, admitted = START, list[datetime]()
    with unused(owner) as layer:
        for allowed, asked, pause in steps:
            at += timedelta(milliseconds=pause)
            free = allowed - sum(other > at - WINDOW for other in admitted)
            got = take(owner, layer, allowed, [at] * asked)
            assert len(got) == max(min(asked, free), 0)
            admitted += got


def test_connections_at_once_get_no_more_in_any_window(shared_world: World) -> None:
    """Eight of them for many windows, a third of what they take given back: by the server's clock.

    Proves: W6
    """
    allowed, window = 5, timedelta(milliseconds=50)
    layer = uuid.uuid4().hex
    query = (
        "SELECT t.at, memwarden_internal.take_permit(0, 0, 0, %s, %s, %s, t.at) AS taken"
        "  FROM (SELECT clock_timestamp() AS at OFFSET 0) AS t"
    )
    sessions = [shared_world.connect() for _ in range(8)]
    for session in sessions:
        session.execute("SET ROLE memwarden_owner")

    def work(session: Connection[DictRow]) -> list[datetime]:
        got = []
        for n in range(150):
            with session.transaction(force_rollback=n % 3 == 0):
                row = session.execute(query, (layer, allowed, window)).fetchone()
            assert row is not None
            if row["taken"] and n % 3:
                got.append(row["at"])
        return got

    every = together([partial(work, session) for session in sessions])
    admitted = sorted(at for got in every for at in got)
    assert most(admitted, window) <= allowed < len(admitted)


def test_a_limit_that_changes_meanwhile_is_kept(shared_world: World) -> None:
    """Connections that know of different limits, taking and giving back: the higher one holds.

    Proves: W6
    """
    layer = uuid.uuid4().hex
    query = "SELECT memwarden_internal.take_permit(0, 0, 0, %s, %s, '1 hour', clock_timestamp())"
    sessions = [shared_world.connect() for _ in range(8)]
    for session in sessions:
        session.execute("SET ROLE memwarden_owner")

    def work(session: Connection[DictRow], number: int) -> int:
        got = 0
        for n in range(60):
            allowed = (10, 20, 30)[(n + number) // 5 % 3]
            with session.transaction(force_rollback=n % 3 == 0):
                row = session.execute(query, (layer, allowed)).fetchone()
            assert row is not None
            got += row["take_permit"] and n % 3 > 0
        return got

    got = sum(together([partial(work, session, n) for n, session in enumerate(sessions)]))
    assert got <= 30
    for _ in range(40):
        row = sessions[0].execute(query, (layer, 30)).fetchone()
        assert row is not None
        got += row["take_permit"]
    assert got == 30


@pytest.mark.parametrize("undone", [False, True], ids=["committed", "rolled back"])
def test_what_is_under_way_while_the_limit_changes_is_counted(
    shared_world: World, undone: bool
) -> None:
    """A permit that nobody can see yet: no new limit is shared out before it is decided.

    Proves: W6
    """
    layer = uuid.uuid4().hex
    query = "SELECT memwarden_internal.take_permit(0, 0, 0, %s, %s, '1 hour', clock_timestamp())"
    first, second = (shared_world.connect() for _ in range(2))

    def taken(session: Connection[DictRow], allowed: int, times: int = 1) -> int:
        rows = [session.execute(query, (layer, allowed)).fetchone() for _ in range(times)]
        return sum(row["take_permit"] for row in rows if row is not None)

    for session in (first, second):
        session.execute("SET ROLE memwarden_owner")
    with first.transaction(force_rollback=undone):
        assert taken(first, 60) == 1
        got = taken(second, 50, 52)
        assert got in (49, 50)
        assert taken(second, 60, 3) == 0
    got += taken(second, 60, 20)
    assert got == (60 if undone else 59)


def test_a_longer_window_counts_what_the_shorter_one_had_let_go(
    owner: Connection[DictRow],
) -> None:
    """A permit knows when it was last used, not when it was free.

    Proves: W6
    """
    with unused(owner) as layer:
        query = "SELECT memwarden_internal.take_permit(0, 0, 0, %s, 1, %s, %s) AS taken"
        answers = []
        for window, seconds in (
            ("1 second", 0),
            ("1 second", 1),
            ("1 minute", 60),
            ("1 minute", 61),
        ):
            at = START + timedelta(seconds=seconds)
            row = owner.execute(query, (layer, window, at)).fetchone()
            assert row is not None
            answers.append(row["taken"])
    assert answers == [True, True, False, True]


def test_who_waits_is_told_the_time_of_its_turn(owner: Connection[DictRow]) -> None:
    """The first in the queue gets what comes back first; beyond the limit, a window later.

    Proves: W6
    """
    times = [START + timedelta(seconds=n) for n in range(3)]
    query = "SELECT memwarden_internal.permit_expected_at(0, 0, %s, %s, %s, %s, %s) AS at"
    with unused(owner) as layer:
        take(owner, layer, 3, times)
        told = []
        for waiting in range(5):
            row = owner.execute(query, (layer, 3, WINDOW, waiting, times[2])).fetchone()
            assert row is not None
            told.append(row["at"])
        assert told == [*(at + WINDOW for at in times), *(at + 2 * WINDOW for at in times[:2])]
        row = owner.execute(query, (layer, 4, WINDOW, 0, times[2])).fetchone()
        assert row is not None
        assert row["at"] == times[2]
