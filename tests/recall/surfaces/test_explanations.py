"""What is explained across a boundary is what crosses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from access import call, state
from helpers import recall, write
from recall.surfaces.conftest import SHOP, house, visitor

if TYPE_CHECKING:
    from conftest import World


def test_an_explanation_crosses_what_the_answer_crosses(world: World) -> None:
    """The same answers with their sums; no path, no word, and no count of what does not cross.

    Proves: N7
    """
    boss, clerk = house(world)
    write(clerk, "semantic", {"text": "parcel rate, ask ana@example.org"}, classification="public")
    write(clerk, "semantic", {"text": "parcel margin is one euro"}, classification="confidential")
    guest = visitor(world, boss, "customer_chat")
    asked = {"query": "parcel margin ana@example.org", "surface": "customer_chat"}
    for reader in (clerk, guest):
        (told,) = recall(reader, **asked)
        rows = call(reader, "explain_recall", **asked)
        steps = {row["step"]: row for row in rows}
        assert set(steps) == {"surface", "weights", "answer", "time"}
        answer = steps["answer"]["facts"]
        assert [answer[name] for name in ("item_id", "standing")] == [
            str(told["item_id"]),
            told["standing"],
        ]
        assert abs(answer["score"] - told["score"]) < 0.01
        for secret in ("ana", "rate", "margin", "confidential", SHOP):
            assert secret not in str(rows)
    assert state(guest, "explain_recall", query="parcel", scope=SHOP) == "42704"
    steps = {row["step"]: row for row in call(guest, "explain_recall", query="parcel")}
    assert steps["candidates"]["facts"]["count"] == 0
    assert state(clerk, "explain_recall", query="parcel", surface="nowhere") == "42704"


def test_below_the_floor_it_explains_that_nothing_is_known(world: World) -> None:
    """With the same figures as the answer has, and nothing of what fell below.

    Proves: N7
    """
    boss, clerk = house(world)
    write(clerk, "semantic", {"text": "parcel rate is two euros"}, classification="public")
    call(boss, "define_surface", name="customer_chat", floor=0.9)
    asked = {"query": "opening hours", "surface": "customer_chat"}
    (unknown,) = recall(clerk, **asked)
    rows = call(clerk, "explain_recall", **asked)
    (gap,) = [row["facts"] for row in rows if row["step"] == "unknown"]
    assert gap == unknown["provenance"]["unknown"]
    assert [row for row in rows if row["step"] == "answer"] == []
    (weights,) = [row["facts"] for row in rows if row["step"] == "weights"][:1]
    assert weights["threshold"] == 0.9
