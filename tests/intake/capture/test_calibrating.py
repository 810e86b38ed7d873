"""What a stated confidence is worth is what reviewers made of it."""

from __future__ import annotations

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import World
from intake.capture.conftest import capture, extract, function

CURVE = "SELECT memwarden_internal.calibration_curve(%s::int[], %s::int[])"


@given(bins=st.lists(st.tuples(st.integers(0, 500), st.floats(0, 1)), min_size=10, max_size=10))
def test_a_curve_never_falls_and_stays_a_share(
    shared_world: World, bins: list[tuple[int, float]]
) -> None:
    """Whatever was decided: ten values from 0 to 1, none less than the one before.

    Proves: F2 (calibrated)
    """
    decided = [n for n, _ in bins]
    approved = [round(n * share) for n, share in bins]
    curve = shared_world.value(CURVE, decided, approved)
    assert len(curve) == 10
    assert curve == sorted(curve)
    assert all(0 <= each <= 1 for each in curve)


def test_with_no_decision_it_is_the_middle_of_its_tenth(shared_world: World) -> None:
    """The prior says what the extractor says.

    Proves: F2 (calibrated)
    """
    none = [0] * 10
    curve = shared_world.value(CURVE, none, none)
    assert curve == pytest.approx([n / 10 + 0.05 for n in range(10)])
    many = shared_world.value(CURVE, [*[0] * 8, 990, 0], [*[0] * 8, 99, 0])
    assert many[8] < 0.15 < 0.9 < many[9]


@pytest.mark.every_version
def test_what_reviewers_refuse_is_worth_less_and_is_dropped(world: World) -> None:
    """Twenty candidates of 0.9, all refused: the next falls under the floor, and is counted.

    Proves: F2 (calibrated per source)
    """
    agent = world.agent()
    made = function(
        world,
        "eager",
        "BEGIN RETURN NEXT jsonb_build_object("
        " 'content', capture -> 'content', 'confidence', 0.9); END",
    )
    world.admin.execute("SELECT memwarden.enable_extractor('rules', false)")
    world.admin.execute(
        "SELECT memwarden.define_extractor("
        "    'eager', function => %s, layer => 'episodic', floor => 0.45)",
        (made,),
    )
    for n in range(100):
        capture(agent, f"guess {n}")
    assert len(extract(agent)) == 100
    world.admin.execute(
        "INSERT INTO memwarden_data.review_event"
        "       (org_id, event_id, request_id, event, principal_id, at)"
        " SELECT c.org_id, memwarden_internal.uuid7(), c.request_id, 'rejected', 1, now()"
        "   FROM memwarden_data.candidate AS c"
    )
    call = "SELECT * FROM memwarden.calibrate('eager', 'chat', org => 'acme', dry_run => %s)"
    told = world.rows(call, True)
    assert [row["decided"] for row in told] == [*[0] * 9, 100]
    assert told[9]["confidence"] < 0.45
    assert told[9]["version"] is None
    assert world.value("SELECT count(*) FROM memwarden_data.calibration") == 0
    assert world.rows(call, False)[9]["version"] == 1
    capture(agent, "another guess")
    (row,) = extract(agent)
    assert (row["candidates"], row["dropped"], row["request_id"]) == (0, 1, None)
    capture(agent, "a guess from elsewhere", source="mail")
    assert [row["outcome"] for row in extract(agent)] == ["COMMITTED"]


def test_only_who_administers_calibrates(world: World) -> None:
    """An agent does not decide what its word is worth.

    Proves: F2
    """
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.agent().execute("SELECT memwarden.calibrate('rules', 'chat')")
    with pytest.raises(psycopg.errors.UndefinedObject):
        world.admin.execute("SELECT memwarden.calibrate('nobody', 'chat', org => 'global')")
