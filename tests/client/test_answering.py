"""The client's answer: what is known, or that nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import memwarden
from access import call, curator

if TYPE_CHECKING:
    from conftest import World


def test_nothing_is_known_is_an_answer(world: World) -> None:
    """With what is amiss; recall() has no row for it, and a context says it in words.

    Proves: N7
    """
    call(curator(world, "/org/acme"), "define_surface", name="chat", language="de", floor=0.6)
    with memwarden.Client(world.agent()) as memory:
        memory.write("semantic", {"text": "the parcel was sent on Monday"}, subject="parcel")
        answer = memory.answer("volcanoes of Iceland", surface="chat")
        assert answer.items == []
        assert answer.unknown is not None
        assert (answer.unknown.phrase, answer.unknown.threshold) == ("das weiß ich nicht", 0.6)
        assert (answer.unknown.near, answer.unknown.coverage) == (1, "below")
        assert memory.recall("volcanoes of Iceland", surface="chat") == []
        context = memory.context("volcanoes of Iceland", surface="chat")
        assert context.items == []
        assert "das wei" in context.text
        known = memory.answer("the parcel was sent on Monday", surface="chat")
        assert known.unknown is None
        assert [item.standing for item in known.items] == ["inferred"]
        assert known.items[0].scope is None
        assert memory.context("the parcel was sent on Monday").items[0].standing == "inferred"
