"""`heard` and `remember`: a turn is recorded and remembered, and nothing else has to be named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo

import memwarden
from memwarden import AsyncClient, Client, InvalidArgument
from shipped import SCOPE, Shipped


def dsn_of(shipped: Shipped, login: Connection[Any]) -> str:
    """How a login of the store connects."""
    return make_conninfo(shipped.world.dsn, user=login.info.user, dbname=login.info.dbname)


@pytest.fixture
def app(shipped: Shipped) -> Iterator[Client]:
    """Yield the client of the application."""
    with memwarden.connect(dsn_of(shipped, shipped.application)) as client:
        yield client


@pytest.fixture
def memory(shipped: Shipped) -> Iterator[Client]:
    """Yield the client of the agent."""
    with memwarden.connect(dsn_of(shipped, shipped.agent)) as client:
        yield client


def test_what_somebody_said_is_remembered_and_recalled_as_verified(
    app: Client, memory: Client
) -> None:
    """The application records the turn, the agent cites it. A denial of it is a refusal, no error.

    Proves: Z12
    """
    turn = app.heard("Ana", "I prefer green tea.")
    written = memory.remember("Ana prefers green tea", source=turn)
    assert (written.outcome, written.reason) == ("COMMITTED", None)
    [found] = memory.recall("what does Ana drink?")
    assert (found.text, found.standing) == ("Ana prefers green tea", "verified")
    assert found.provenance["evidence"][0]["excerpt"] == "I prefer green tea."
    denied = memory.remember("Ana does not prefer green tea.", source=turn)
    assert (denied.outcome, denied.reason) == ("REJECTED", "INSUFFICIENT_EVIDENCE")
    untold = memory.remember("To make green tea, let the water cool.", layer="procedural")
    assert untold.deferred
    guessed = memory.remember("Bo keeps seven bees", about="Bo")
    assert guessed.committed
    [bees] = memory.find_items("Bo")
    assert (bees.content, bees.layer, bees.scope) == ("Bo keeps seven bees", "semantic", SCOPE)


def test_a_source_is_a_turn_a_uri_a_memory_or_several(app: Client, memory: Client) -> None:
    """Anything else is an error before anything is sent."""
    turns = [
        app.heard("Ana", "My sister Zoe lives in Porto."),
        app.heard("Ana", "My brother Max paints ships."),
        app.heard("Ana", "I bought a red canoe."),
    ]
    first = memory.remember("Ana's sister Zoe lives in Porto", source=turns[0]["uri"])
    both = memory.remember("Ana's brother Max paints ships", source=turns[:2])
    quoted = turns[2] | {"excerpt": "I bought a red canoe."}
    third = memory.remember("Ana bought a red canoe", source=quoted)
    assert [each.outcome for each in (first, both, third)] == ["COMMITTED"] * 3
    found = {item.text: item for item in memory.recall("Ana", k=9)}
    assert {item.standing for item in found.values()} == {"verified"}
    recalled = found["Ana bought a red canoe"]
    for number, known in enumerate((recalled, memory.get(recalled.item_id), third)):
        derived = memory.remember(f"Canoe number {number} of Ana is red", source=known)
        assert derived.committed
        assert derived.item_id is not None
        related = {step.related_item for step in memory.lineage(derived.item_id)}
        assert recalled.item_id in related
    nobody: Any
    for nobody in (7, uuid4(), memory.whoami(), [turns[0], None, 7]):
        with pytest.raises(InvalidArgument, match="source"):
            memory.remember("Ana sings", source=nobody)


def test_words_belong_to_the_one_place_there_is(
    shipped: Shipped, app: Client, memory: Client
) -> None:
    """A task is none. Where there are two, the application says whose words they are."""
    shipped.world.scope(f"{SCOPE}/task/one")
    assert memory.remember("Ana skis", source=app.heard("Ana", "I ski.")).committed
    own = memory.heard("Ana", "I sing.")
    assert memory.remember("Ana sings", source=own).outcome == "COMMITTED"
    shipped.world.scope("/org/acme/user/bo")
    with pytest.raises(InvalidArgument, match="more than one place") as several:
        app.heard("Bo", "I cook.")
    assert "scope='/org/acme/user/ana'" in str(several.value.hint)
    turn = app.heard("Bo", "I cook.", scope="/org/acme/user/bo", external_id="1")
    assert app.heard("Bo", "I cook.", scope="/org/acme/user/bo", external_id="1") == turn
    # The assistant of Ana does not know what Bo said: its guess bears no witness of his.
    assert memory.remember("Bo cooks", source=turn).committed
    standings = {item.text: item.standing for item in memory.recall("skis sings cooks")}
    assert standings == {"Ana skis": "verified", "Ana sings": "reported", "Bo cooks": "reported"}
    rows = shipped.world.admin.execute(
        "SELECT s.path FROM memwarden_data.capture AS c"
        "  JOIN memwarden_data.scope AS s USING (scope_id) ORDER BY c.recorded_at"
    ).fetchall()
    assert [row["path"] for row in rows] == [SCOPE, SCOPE, "/org/acme/user/bo"]


def test_a_turn_has_a_speaker_and_words(app: Client) -> None:
    """What nobody said is recorded for nobody.

    Proves: Z12
    """
    wrong: list[tuple[Any, Any]] = [
        ("Ana", ""),
        ("Ana", None),
        ("Ana", 42),
        (None, "Hi"),
        (" ", "Hi"),
    ]
    for speaker, text in wrong:
        with pytest.raises(InvalidArgument, match="a text that is not blank"):
            app.heard(speaker, text)


def test_the_application_may_remember_too(shipped: Shipped) -> None:
    """Asynchronously as well. It records and writes alone, so nothing of it is verified."""

    async def live() -> list[tuple[str, str | None]]:
        async with await AsyncClient.connect(dsn_of(shipped, shipped.application)) as client:
            turn = await client.heard("Ana", "I prefer green tea.")
            written = await client.remember("Ana prefers green tea", source=turn)
            assert written.committed
            return [(item.text or "", item.standing) for item in await client.recall("tea?")]

    assert asyncio.run(live()) == [("Ana prefers green tea", "supported")]
