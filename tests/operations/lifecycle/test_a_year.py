"""Four hundred days in a minute: the store and an independent model agree all the time.

After a change that is meant: MEMWARDEN_WRITE_SNAPSHOTS=1 pytest tests/operations/lifecycle draws
the picture of docs/lifecycle.md anew.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from conftest import World
from operations.lifecycle.model import Model
from operations.lifecycle.picture import Counts, draw
from operations.lifecycle.scenario import days
from operations.lifecycle.store import Store

PICTURE = Path(__file__).parents[3] / "docs/lifecycle.svg"


@pytest.mark.one_version
def test_the_store_ages_as_the_pages_say(world: World) -> None:
    """Every memory, whenever jobs ran: alive, stale, expired or gone, and for which reason.

    Proves: G1, G2, G3, G5, G6, G7, L3, N8, R5, Z5
    """
    store, model = Store(world), Model()
    counts: Counts = []
    reasons = set()
    for day in days():
        model.happen(day, store.happen(day))
        store.run_jobs(day)
        model.run_jobs(day)
        found, wanted = store.states(day), model.told(day)
        differ = {
            key: (wanted[key], found[key], model.states[key])
            for key in wanted
            if wanted[key] != found[key]
        }
        assert not differ, f"day {day.number}: {differ}"
        layers = {key: state.memory.layer for key, state in model.states.items()}
        counts.append((day.number, Counter((layers[key], wanted[key][0]) for key in wanted)))
        reasons |= {state.reason for state in model.states.values()}
    assert reasons - {None} == {
        *("TTL_OVER", "UNREAD", "IRRELEVANT", "STALE", "OVER_CAP"),
        *("GRACE_OVER", "RETENTION_OVER"),
    }
    assert store.findings() == []
    picture = draw(counts)
    if "MEMWARDEN_WRITE_SNAPSHOTS" in os.environ:
        PICTURE.write_text(picture, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == picture
