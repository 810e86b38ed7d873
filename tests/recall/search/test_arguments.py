"""An argument that recall cannot work with is refused by name, whatever else is given."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection
from psycopg.errors import Error as DatabaseError
from psycopg.rows import DictRow

from conftest import World
from helpers import recall

from .conftest import Remember

NAN, INFINITE = float("nan"), float("inf")
GOOD = [1.0] * 384

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"k": 0}, "22023", "k"),
    ({"k": -1}, "22023", "k"),
    ({"k": 1001}, "22023", "k"),
    ({"k": None}, "22023", "k"),
    ({"fusion": "sum"}, "22023", "fusion"),
    ({"fusion": ""}, "22023", "fusion"),
    ({"fusion": None}, "22023", "fusion"),
    ({"layers": ["nolayer"]}, "42704", "layers"),
    ({"layers": ["episodic", "Episodic"]}, "42704", "layers"),
    ({"layers": [None]}, "42704", "layers"),
    ({"weights": []}, "22023", "weights"),
    ({"weights": 1}, "22023", "weights"),
    ({"weights": {"vectors": 1}}, "22023", "weights"),
    ({"weights": {"vector": -0.1}}, "22023", "weights"),
    ({"weights": {"vector": 1000.1}}, "22023", "weights"),
    ({"weights": {"keyword": "1"}}, "22023", "weights"),
    ({"weights": {"keyword": None}}, "22023", "weights"),
    ({"weights": {"keyword": [1]}}, "22023", "weights"),
    ({"min_confidence": -0.1}, "22023", "min_confidence"),
    ({"min_confidence": 1.1}, "22023", "min_confidence"),
    ({"min_confidence": NAN}, "22023", "min_confidence"),
    ({"embedding": []}, "22023", "embedding"),
    ({"embedding": [1.0]}, "22023", "embedding"),
    ({"embedding": [1.0] * 385}, "22023", "embedding"),
    ({"embedding": [0.0] * 384}, "22023", "embedding"),
    ({"embedding": [*GOOD[1:], NAN]}, "22023", "embedding"),
    ({"embedding": [*GOOD[1:], INFINITE]}, "22023", "embedding"),
    ({"embedding": [*GOOD[1:], 70000.0]}, "22023", "embedding"),
    ({"embedding": [*GOOD[1:], None]}, "22023", "embedding"),
    ({"embedding": [GOOD]}, "22023", "embedding"),
    ({"embedding": GOOD, "embedding_model": "nomodel"}, "42704", "embedding model"),
    ({"embedding": GOOD, "embedding_model": ""}, "42704", "embedding model"),
    ({"scope": "/org/nowhere"}, "42704", "scope"),
    ({"scope": ""}, "42704", "scope"),
    ({"scopes": ["/org/nowhere"]}, "42704", "scope"),
    ({"scopes": [None]}, "42704", "scope"),
]


@pytest.mark.parametrize(("arguments", "state", "named"), REFUSED, ids=lambda case: repr(case)[:50])
def test_a_bad_argument_is_refused(
    reader: Connection[DictRow], arguments: dict[str, Any], state: str, named: str
) -> None:
    """22023 out of range, 42704 for what does not exist; the detail names it, the hint helps."""
    with pytest.raises(DatabaseError) as raised:
        recall(reader, **({"query": "tea"} | arguments))
    assert raised.value.sqlstate == state
    assert (raised.value.diag.message_detail or "").startswith(named)
    assert raised.value.diag.message_hint


@pytest.mark.parametrize("k", [1, 1000])
def test_the_bounds_themselves_are_accepted(
    reader: Connection[DictRow], remember: Remember, k: int
) -> None:
    """1 and 1,000; weights of 0 and 1,000; confidence of 0 and 1."""
    item = remember("green tea", confidence=1.0)
    for weights in ({"keyword": 0}, {"keyword": 1000}, {}):
        for confidence in (0, 1):
            found = recall(reader, query="tea", k=k, weights=weights, min_confidence=confidence)
            assert [row["item_id"] for row in found] == [item]


def test_no_arguments_return_the_latest(reader: Connection[DictRow], remember: Remember) -> None:
    """Ten of them, youngest first, with a score of nothing."""
    items = [remember(f"memory number {n}") for n in range(12)]
    found = recall(reader)
    assert [row["item_id"] for row in found] == items[:1:-1]
    assert {row["score"] for row in found} == {0}


def test_an_empty_store_returns_nothing(shared_world: World, home: str) -> None:
    """No division by the nothing that was found."""
    agent = shared_world.agent(home)
    for fusion in ("weighted", "rrf"):
        assert recall(agent, query="tea", embedding=GOOD, fusion=fusion) == []
