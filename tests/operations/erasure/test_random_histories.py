"""Whatever happened before: an erasure leaves a log and heads that belong together."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import write
from operations.erasure.conftest import Desk, cites, holding

# A name so long stands in no signature by chance: three letters do, once in some hundred memories.
SUBJECTS = ["Ana Zzqovna", "Bo", "Cy"]
LAYERS = ["semantic", "session", "episodic"]

# What cannot be done to an item any more, or by now.
REFUSED = (
    psycopg.errors.UndefinedObject,
    psycopg.errors.ObjectNotInPrerequisiteState,
    psycopg.errors.DuplicateObject,
    psycopg.errors.InvalidParameterValue,
)

Step = tuple[str, int, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "write",
                "write",
                "write",
                "derive",
                "retract",
                "expire",
                "rollback",
                "merge",
                "past",
                "recover",
                "seal",
                "erase",
            ]
        ),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 9),
    ),
    min_size=4,
    max_size=14,
)


def take(desk: Desk, agent: Connection[DictRow], made: list[UUID], step: Step) -> None:
    """One step; what cannot be is refused."""
    kind, one, two, n = step
    subject, layer = SUBJECTS[one], LAYERS[two]
    item = made[n % len(made)] if made else None
    if kind == "seal":
        desk.seal()
    elif kind == "erase":
        with suppress(psycopg.errors.UndefinedObject):
            desk.erase(subject, subject.split()[-1])
    elif kind in ("write", "past"):
        period = {"valid_from": "2020-01-01", "valid_to": "2021-01-01"} if kind == "past" else {}
        row = write(
            agent, layer, {"n": n, "of": subject}, subject=subject, predicate="has", **period
        )
        if row["outcome"] == "COMMITTED":
            made.append(row["item_id"])
    elif item is None:
        return
    elif kind == "derive":
        row = write(agent, layer, {"from": n, "step": len(made)}, evidence=cites(item))
        if row["outcome"] == "COMMITTED":
            made.append(row["item_id"])
    elif kind == "merge":
        agent.execute("SELECT memwarden.merge(%s, %s, 'the same')", (item, made[0]))
    else:
        agent.execute(f"SELECT memwarden.{kind}(%s, %s)", (item, f"of {subject}"))


@pytest.mark.one_version
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=STEPS, after=STEPS)
def test_any_history_with_an_erasure(
    shared_world: World, steps: list[Step], after: list[Step]
) -> None:
    """verify_log() finds nothing, rebuild_heads() writes nothing, nothing of the person is left.

    Proves: T6 (legal erasure does not break the chain), R1
    """
    desk = Desk(shared_world)
    agent = desk.agent()
    made: list[UUID] = []
    try:
        for each in (*steps, ("erase", 0, 0, 0)):
            with suppress(*REFUSED):
                take(desk, agent, made, each)
        assert holding(shared_world, "zzqovna") == set()
        for each in after:
            with suppress(*REFUSED):
                take(desk, agent, made, each)
        assert desk.findings() == []
        assert desk.rebuild() == {"item": 0, "timeline": 0, "embedding": 0}
        agent.execute("SELECT * FROM memwarden.as_of()").fetchall()
        agent.execute("SELECT * FROM memwarden.diff_store('2020-01-01')").fetchall()
        for item in made:
            with suppress(psycopg.errors.UndefinedObject):
                agent.execute("SELECT * FROM memwarden.history(%s)", (item,)).fetchall()
                agent.execute("SELECT * FROM memwarden.lineage(%s)", (item,)).fetchall()
    finally:
        with suppress(psycopg.errors.UndefinedObject):
            desk.erase("Ana Zzqovna", "zzqovna")
        agent.close()
