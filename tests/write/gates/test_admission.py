"""What a layer asks of its writers, and how long it keeps what they write, is data of the layer."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import DictRow

from helpers import write

if TYPE_CHECKING:
    from conftest import World

TEA = {"text": "Ana prefers green tea"}
KEY = {"subject": "Ana", "predicate": "prefers"}
FULL = ["episodic", "semantic", "procedural", "durable"]


def lifetime(agent: psycopg.Connection[DictRow], answer: DictRow) -> timedelta | None:
    """How long the item is kept; None for ever."""
    row = agent.execute(
        "SELECT expires_at - updated_at AS kept FROM memwarden.get(%s)", (answer["item_id"],)
    ).fetchone()
    assert row is not None
    kept: timedelta | None = row["kept"]
    return kept


@pytest.mark.parametrize("layer", FULL)
def test_durable_layers_take_writes_of_validated_agents_only(
    shared_world: World, home: str, layer: str
) -> None:
    """An agent nobody vouches for is refused; it is admitted once an administrator does.

    Proves: W3
    """
    role = shared_world.register(home, validated=False)
    agent = shared_world.connect(role)
    answer = write(agent, layer, TEA)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "AGENT_NOT_VALIDATED")
    shared_world.admin.execute(
        "UPDATE memwarden_data.principal SET validated = true WHERE name = %s", (role,)
    )
    assert write(agent, layer, TEA)["outcome"] == "COMMITTED"


@pytest.mark.parametrize("layer", ["working", "session"])
def test_the_layers_of_the_moment_take_writes_of_any_agent(
    shared_world: World, home: str, layer: str
) -> None:
    """Nobody has to vouch for an agent's own notes.

    Proves: W3
    """
    agent = shared_world.agent(home, validated=False)
    assert write(agent, layer, TEA)["outcome"] == "COMMITTED"


def test_working_memory_is_free(shared_world: World, home: str) -> None:
    """No schema is applied and no duplicate is sought: every thought is an item of its own.

    Proves: W3
    """
    shared_world.admin.execute(
        """SELECT memwarden.define_schema('working', 'default', '{"required": ["goal"]}')"""
    )
    first, second = shared_world.agent(home), shared_world.agent(home)
    answers = [write(agent, "working", TEA, **KEY) for agent in (first, second)]
    answers.append(write(first, "working", TEA, **KEY, idempotency_key="again"))
    assert [answer["outcome"] for answer in answers] == ["COMMITTED"] * 3
    assert len({answer["item_id"] for answer in answers}) == 3


def test_session_memory_is_checked_against_its_schema_only(shared_world: World, home: str) -> None:
    """A kind's schema holds, but what another agent has noted already may be noted again.

    Proves: W3
    """
    shared_world.admin.execute(
        """SELECT memwarden.define_schema('session', 'goal', '{"required": ["goal"]}')"""
    )
    agent = shared_world.agent(home)
    assert write(agent, "session", TEA, kind="goal")["reason"] == "SCHEMA_VIOLATION"
    answers = [write(a, "session", TEA) for a in (agent, shared_world.agent(home))]
    assert [answer["outcome"] for answer in answers] == ["COMMITTED"] * 2


def test_a_session_key_belongs_to_who_wrote_it_first(shared_world: World, home: str) -> None:
    """Its owner writes new versions; who sees it and is another is refused until it has expired.

    Who does not see it, as agents do not see each other's sessions, has an entry of its own.

    Proves: W3
    """
    owner, colleague = shared_world.agent(home), shared_world.agent(home, role="orchestrator")
    first = write(owner, "session", TEA, **KEY)
    other = write(shared_world.agent(home), "session", {"text": "milk"}, **KEY)
    assert (other["outcome"], other["item_id"] != first["item_id"]) == ("COMMITTED", True)
    assert write(owner, "session", {"text": "coffee"}, **KEY)["item_id"] == first["item_id"]
    refused = write(colleague, "session", {"text": "water"}, subject="ANA", predicate=" prefers ")
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "NOT_OWNER")
    free = write(colleague, "session", {"text": "water"}, subject="Ana", predicate="avoids")
    assert free["outcome"] == "COMMITTED"
    shared_world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() WHERE item_id = ANY (%s)",
        ([first["item_id"], other["item_id"]],),
    )
    assert write(colleague, "session", {"text": "water"}, **KEY)["outcome"] == "COMMITTED"


def test_a_layer_fed_by_promotion_takes_no_direct_write(world: World) -> None:
    """Switching direct writes off concerns every agent, at once.

    Proves: W3
    """
    agent = world.agent()
    assert write(agent, "durable", TEA)["outcome"] == "COMMITTED"
    world.admin.execute(
        "UPDATE memwarden_data.layer SET direct_writes = false WHERE layer = 'durable'"
    )
    answer = write(agent, "durable", {"text": "more"})
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "DIRECT_WRITE_OFF")


@pytest.mark.parametrize(
    ("layer", "kept"),
    [
        ("working", timedelta(minutes=15)),
        ("session", timedelta(hours=1)),
        ("episodic", timedelta(days=365)),
        ("semantic", None),
        ("procedural", None),
        ("durable", None),
    ],
)
def test_each_layer_keeps_what_names_no_ttl_for_its_default(
    shared_world: World, home: str, layer: str, kept: timedelta | None
) -> None:
    """Minutes of working memory, an hour of a session, a year of episodes, facts for ever.

    Proves: W3, L3 (lifetimes)
    """
    agent = shared_world.agent(home)
    assert lifetime(agent, write(agent, layer, TEA)) == kept


@pytest.mark.parametrize(
    ("layer", "longest", "too_long"),
    [
        ("working", "1 hour", "1 hour 1 microsecond"),
        ("session", "24 hours", "24 hours 1 microsecond"),
        ("semantic", "1000 years", "1000 years 1 day"),
    ],
)
def test_a_ttl_counts_up_to_the_longest_of_its_layer(
    shared_world: World, home: str, layer: str, longest: str, too_long: str
) -> None:
    """The limit itself is admitted, a microsecond more is refused with the limit in the detail.

    Proves: W3
    """
    agent = shared_world.agent(home)
    answer = write(agent, layer, TEA, ttl=longest)
    assert answer["outcome"] == "COMMITTED"
    kept: Any = agent.execute(
        "SELECT expires_at = updated_at + %s::interval AS kept FROM memwarden.get(%s)",
        (longest, answer["item_id"]),
    ).fetchone()
    assert kept == {"kept": True}
    refused = write(agent, layer, {"text": "more"}, ttl=too_long)
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "TTL_OUT_OF_RANGE")
    assert refused["detail"]["errors"][0]["path"] == "ttl"
    assert refused["detail"]["errors"][0]["message"].endswith(
        "1000 years" if layer == "semantic" else "01:00:00" if layer == "working" else "24:00:00"
    )


@pytest.mark.parametrize(
    "ttl",
    ["0", "-1 second", "1 month -31 days", "infinity", "-infinity", "-200000 years", "178000000 y"],
)
def test_a_ttl_that_makes_no_sense_is_refused(shared_world: World, home: str, ttl: str) -> None:
    """Nothing, less than nothing, and more than a thousand years.

    Proves: W3
    """
    answer = write(shared_world.agent(home), "semantic", TEA, ttl=ttl)
    assert (answer["outcome"], answer["reason"]) == ("REJECTED", "TTL_OUT_OF_RANGE")


def test_an_expired_item_is_gone_for_readers_and_writers(shared_world: World, home: str) -> None:
    """It is neither shown nor a duplicate of what is written next.

    Proves: W3, D1, G2 (a hard lifetime), G9 (expiry at read time)
    """
    agent = shared_world.agent(home)
    first = write(agent, "episodic", TEA, ttl="1 day")
    shared_world.admin.execute(
        "UPDATE memwarden_data.item SET expires_at = now() WHERE item_id = %s", (first["item_id"],)
    )
    assert agent.execute("SELECT FROM memwarden.get(%s)", (first["item_id"],)).fetchall() == []
    second = write(agent, "episodic", TEA)
    assert second["outcome"] == "COMMITTED"
    assert second["item_id"] != first["item_id"]
