"""A consent counts for a subject however it is spelt, as one subject is one key to a write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from access import call
from helpers import recall, write
from races import overlap
from shipped import SCOPE

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped

# As a write has it, as a person says it, and what is another subject.
KINDS = [
    ("Ana Silva", "ana  SILVA", "Ana Silvan"),
    ("José Weiß", "'Jose\u0301\u00a0WEISS'.", "Josef Weiß"),
    ("Ana <U0A1>", "U0A1", "Ana <U0A2>"),
    ("Ana <U0A1>", "id:U0A1", "id U0A1"),
    ("%550%411", "id:U0A1", "%550%412"),
    ("Елена  Иванова", "елена иванова", "Елена Иванов"),
    ("ana@example.org", "Ana <ana@example.org>", "bo@example.org"),
]
SET = "SELECT memwarden.set_synonyms('acme', %s)"


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as `memwarden init` leaves it."""
    return shipped.world


def consent(world: World, decision: str, subject: str, connection: Any = None) -> None:
    """Record what somebody says to being remembered for what they like."""
    call(
        connection or world.admin,
        "record_consent",
        subject=subject,
        purpose="personalisation",
        decision=decision,
        org="acme",
    )


def likes(agent: Any, subject: str, what: str = "green tea") -> Any:
    """Remember what somebody likes."""
    named = {"subject": subject, "predicate": f"likes {what}", "class": "preference"}
    return write(agent, "semantic", what, **named)


def enforce(world: World) -> None:
    """Run the job as its own role."""
    world.connect(world.role("memwarden_jobs")).execute("CALL memwarden.enforce_consent()")


def left(world: World) -> set[str]:
    """Of whom something is remembered."""
    rows = world.rows(
        "SELECT subject FROM memwarden_data.item WHERE status = 'ACTIVE' AND class = 'preference'"
    )
    return {row["subject"] for row in rows}


def seen(agent: Any, item: Any, subject: str) -> list[bool]:
    """Whether recall(), find_items(), get() and the view show a memory of a subject."""
    view = agent.execute("SELECT item_id FROM memwarden.items WHERE item_id = %s", (item,))
    named = {"subject": subject}
    return [
        item in {row["item_id"] for row in recall(agent, query="green tea", threshold=0)},
        item in {row["item_id"] for row in call(agent, "find_items", **named)},
        call(agent, "get", item_id=item) != [],
        view.fetchall() != [],
    ]


@pytest.mark.every_version
@pytest.mark.parametrize(("written", "said", "other"), KINDS)
def test_a_consent_reaches_every_spelling_of_its_subject(
    world: World, written: str, said: str, other: str
) -> None:
    """It permits a write, and its withdrawal hides, refuses and ends; another subject stays.

    Proves: R7 (withdrawal acts)
    """
    agent = world.agent(SCOPE)
    assert likes(agent, written)["reason"] == "CONSENT_MISSING"
    consent(world, "granted", said)
    consent(world, "granted", other)
    item, kept = likes(agent, written)["item_id"], likes(agent, other)["item_id"]
    consent(world, "withdrawn", said)
    assert seen(agent, item, written) == [False] * 4
    assert seen(agent, kept, other) == [True] * 4
    assert likes(agent, written, "mate")["reason"] == "CONSENT_WITHDRAWN"
    enforce(world)
    enforce(world)
    assert left(world) == {other}
    assert (
        world.rows(
            "SELECT FROM memwarden.consents WHERE decision = 'withdrawn' AND enforced_at IS NULL"
        )
        == []
    )
    call(world.admin, "erase_subject", subject=said, reason="asked", org="acme")
    assert world.rows("SELECT subject FROM memwarden_data.consent") == [{"subject": other}]
    assert len(world.rows("SELECT FROM memwarden_data.consent_state WHERE state <> 'unknown'")) == 1


def test_synonyms_make_consents_one_and_two(world: World) -> None:
    """Of two that become one the withdrawal counts, also for each that it becomes later.

    Proves: R7 (withdrawal acts)
    """
    agent = world.agent(SCOPE)
    for name in ("Bob Smith", "Robert Smith", "Eve"):
        consent(world, "granted", name)
    bob = likes(agent, "Bob Smith")["item_id"]
    eve = likes(agent, "Eve")["item_id"]
    consent(world, "withdrawn", "Robert Smith")
    enforce(world)
    enforce(world)
    assert seen(agent, bob, "Bob Smith") == [True] * 4
    world.admin.execute(SET, (Jsonb({"bob": "robert"}),))
    assert seen(agent, bob, "Bob Smith") == [False] * 4
    assert likes(agent, "Bob Smith", "mate")["reason"] == "CONSENT_WITHDRAWN"
    world.admin.execute(SET, (Jsonb({}),))
    assert seen(agent, bob, "Bob Smith") == [False] * 4
    enforce(world)
    assert left(world) == {"Eve"}
    consent(world, "granted", "bob SMITH")
    assert likes(agent, "Bob Smith")["outcome"] == "COMMITTED"
    world.admin.execute(SET, (Jsonb({"tea": "chai"}),))
    assert likes(agent, "Bob Smith", "mate")["outcome"] == "COMMITTED"
    assert likes(agent, "Robert Smith")["reason"] == "CONSENT_WITHDRAWN"
    assert seen(agent, eve, "Eve")[1:] == [True] * 3


def test_encrypted_memories_and_what_waits_follow_a_withdrawal(world: World) -> None:
    """Of a class that is encrypted under the key of its subject, in another spelling.

    Proves: R7 (withdrawal acts, pending requests)
    """
    world.admin.execute(
        "SELECT memwarden.define_write_class('secret_taste', org => 'acme', encrypted => true,"
        " consent_purpose => 'personalisation')"
    )
    agent = world.agent(SCOPE)
    consent(world, "granted", "Ana Silva")
    named = {"subject": "Ana Silva", "predicate": "likes", "class": "secret_taste"}
    item = write(agent, "semantic", "green tea", **named)["item_id"]
    call(world.admin, "set_approval_policy", layer="semantic", approval="always", org="acme")
    waiting = write(agent, "semantic", "mate", **(named | {"predicate": "drinks"}))
    assert waiting["outcome"] == "DEFERRED"
    consent(world, "withdrawn", "ANA\u00a0 Silva")
    assert seen(agent, item, "Ana Silva") == [False] * 4
    enforce(world)
    assert world.value("SELECT status FROM memwarden_data.item WHERE item_id = %s", item) == (
        "RETRACTED"
    )
    assert world.value(
        "SELECT reason FROM memwarden_data.write_request WHERE request_id = %s",
        waiting["request_id"],
    ) == ("CONSENT_WITHDRAWN")


@pytest.mark.parametrize("first", ["withdrawal", "synonyms"])
def test_a_withdrawal_while_synonyms_change_counts_under_the_new_ones(
    world: World, first: str
) -> None:
    """Whichever is first, the other waits, and the memory of the other name is not read.

    Proves: R7 (concurrency)
    """
    agent, desk = world.agent(SCOPE), world.connect()
    consent(world, "granted", "Bob")
    bob = likes(agent, "Bob")["item_id"]
    steps = {
        "withdrawal": (desk, lambda: consent(world, "withdrawn", "Robert", desk)),
        "synonyms": (
            world.admin,
            lambda: world.admin.execute(SET, (Jsonb({"bob": "robert"}),)),
        ),
    }
    (second,) = steps.keys() - {first}
    overlap(world.connect(), *steps[first], *steps[second])
    assert seen(agent, bob, "Bob") == [False] * 4


def test_a_withdrawal_waits_for_a_write_in_another_spelling(world: World) -> None:
    """Nothing is left of it, also where nobody had ever been asked.

    Proves: R7 (concurrency)
    """
    agent, desk = world.agent(SCOPE), world.connect()
    consent(world, "granted", "Ana <U0A1>")
    overlap(
        world.connect(),
        agent,
        lambda: likes(agent, "ana silva <U0A1>"),
        desk,
        lambda: consent(world, "withdrawn", "id:U0A1", desk),
    )
    assert recall(agent, query="green tea") == []
    enforce(world)
    assert left(world) == set()


def test_who_is_nobody_cannot_agree(world: World) -> None:
    """Signs that nobody sees are one subject, so that one's consent would be another's.

    Proves: R7
    """
    with pytest.raises(Exception, match="names nobody"):
        consent(world, "granted", "\u200b")
    consent(world, "withdrawn", "\u200b")
