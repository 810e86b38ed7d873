"""What is pushed crosses a boundary as what is recalled does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

import access
from access import join, name_of, state
from helpers import recall, write
from recall.injection.conftest import (
    GOAL,
    call,
    given,
    named,
    prompt,
    push,
    remember,
    set_policy,
    start,
    unknown,
)
from recall.surfaces.conftest import ORG, SHOP, house, visitor

if TYPE_CHECKING:
    from conftest import World

SECRETS = ("ana@example.org", "https", "crm.example", "Globex")


def shelf(world: World) -> tuple[Any, Any, dict[str, Any]]:
    """A house whose clerk wrote something for customers, and something not for them."""
    boss, clerk = house(world)
    access.call(world.admin, "set_sensitivity_action", kind="pii", action="allow")
    access.call(boss, "define_entity_type", type="customer")
    access.call(boss, "register_entity", entity="customer:77", type="customer", scope=SHOP)
    access.call(boss, "add_alias", entity="customer:77", alias="Globex Holding")
    access.call(
        boss,
        "set_entity_attribute",
        entity="customer:77",
        name="contract",
        value='"KX-99817"',
        classification="confidential",
        sensitive=True,
    )
    words = "the database of the user service is moved by ana@example.org for Globex Holding"
    made = {
        "open": remember(
            clerk,
            words,
            subject="ana@example.org",
            predicate="moves",
            evidence=[{"type": "document", "uri": "https://crm.example.org/7"}],
        ),
        "closed": remember(
            clerk, "the database of the user service costs a lot", classification="confidential"
        ),
    }
    return boss, clerk, made


def test_what_is_pushed_is_stripped_capped_and_hedged(world: World) -> None:
    """Row and line of it, and of what is left out the row.

    Proves: N7, F9
    """
    _, clerk, made = shelf(world)
    assert set(given(push(clerk, task=GOAL))) == set(made.values())
    (row,) = push(clerk, task=GOAL, surface="customer_chat")
    (told,) = recall(clerk, query=GOAL, surface="customer_chat")
    assert row["item_id"] == told["item_id"] == made["open"]
    for name in ("content", "subject", "predicate", "standing", "hedge", "suspicious", "scope"):
        assert row[name] == told[name], name
    assert row["hedge"] == "reportedly"
    assert (row["provenance"], row["origin"], row["scope"]) == ({}, {}, None)
    shown = str({key: row[key] for key in row if key not in ("item_id", "version_id")})
    for secret in (*SECRETS, SHOP, name_of(clerk)):
        assert secret not in shown, secret
    assert '"standing": "reported"' in row["line"]
    (_, left) = push(clerk, task=GOAL, surface="customer_chat", threshold=1)
    assert (left["left_out"], left["subject"]) == ("THRESHOLD", "[pii.email]")
    assert state(clerk, "push", task=GOAL, surface="nowhere") == "42704"
    logged = world.rows("SELECT surface FROM memwarden_data.recall_log WHERE purpose = 'push'")
    assert {each["surface"] for each in logged} == {None, "customer_chat"}


def test_nothing_below_the_floor_is_given_or_named(world: World) -> None:
    """Whatever the blocks say.

    Proves: N7
    """
    boss, clerk, _ = shelf(world)
    access.call(boss, "define_surface", name="customer_chat", floor=0.99)
    assert named(push(clerk, task=GOAL, surface="customer_chat")) == []
    set_policy(world.admin, {"blocks": [{"block": "all", "layers": ["semantic"]}]})
    assert len(given(push(clerk, task=GOAL, threshold=0))) == 2
    for arguments in ({}, {"threshold": 0}):
        rows = push(clerk, task=GOAL, surface="customer_chat", **arguments)
        assert named(rows) == []
        assert unknown(rows) == rows


def test_who_reads_through_a_surface_alone_is_pushed_what_that_tells(world: World) -> None:
    """With a session of its own too; by another surface, or by none, nothing.

    Proves: N7
    """
    boss, _, made = shelf(world)
    access.call(boss, "define_surface", name="desk", max_classification="restricted", strip=[])
    guest = visitor(world, boss, "customer_chat")
    assert given(push(guest, task=GOAL, surface="customer_chat")) == [made["open"]]
    assert named(push(guest, task=GOAL)) == named(push(guest, task=GOAL, surface="desk")) == []
    bot = join(world, f"{ORG}/user/bot")
    access.call(boss, "grant_scope", agent=name_of(bot), scope=SHOP, surfaces=["customer_chat"])
    begun = start(bot, goal=GOAL, surface="customer_chat")
    assert begun["item_ids"] == [made["open"]]
    assert "user service is moved by [pii.email]" in begun["prompt"]
    session = begun["session_id"]
    # What crossed one boundary is chosen anew for another, and for none.
    for surface in (None, "desk"):
        shown = prompt(bot, session, surface=surface)
        assert (shown["refreshed"], shown["item_ids"]) == (True, [])
        assert "Globex" not in shown["prompt"]
    again = prompt(bot, session, surface="customer_chat")
    assert (again["refreshed"], again["item_ids"]) == (True, [made["open"]])
    still = prompt(bot, session, surface="customer_chat")
    assert (still["refreshed"], still["item_ids"]) == (False, [made["open"]])
    for secret in SECRETS:
        assert secret not in begun["prompt"] + again["prompt"] + still["prompt"]
    access.call(boss, "revoke_scope", agent=name_of(bot), scope=SHOP)
    assert prompt(bot, session, surface="customer_chat")["item_ids"] == []


def test_a_session_is_pushed_what_its_scope_has_and_not_what_its_owner_reads_elsewhere(
    world: World,
) -> None:
    """A surface widens a session by what is read through it alone.

    Proves: N7
    """
    boss, clerk, made = shelf(world)
    world.scope(f"{ORG}/user/bo")
    access.call(boss, "grant_scope", agent=name_of(clerk), scope=f"{ORG}/user/bo", writes=True)
    elsewhere = remember(clerk, "the user service of Bo has a database", scope=f"{ORG}/user/bo")
    begun = start(clerk, goal=GOAL, scope=SHOP, surface="customer_chat")
    assert begun["item_ids"] == [made["open"]]
    assert elsewhere in given(push(clerk, task=GOAL, surface="customer_chat"))


def test_the_whole_prompt_crosses(world: World) -> None:
    """Goal, observations, notes and earlier findings too; findings that are capped do not come.

    Proves: N7, L1
    """
    boss, clerk = house(world)
    access.call(world.admin, "set_sensitivity_action", kind="pii", action="allow")
    goal = "write to ana@example.org about the move"
    begun = start(
        clerk, goal=goal, plan=["ask ben@example.org"], constraints=["not eve@example.org"]
    )
    told = "dan@example.org says the move is on Monday"
    call(
        clerk,
        "observe",
        session_id=begun["session_id"],
        tool="mail",
        result=told,
        importance="high",
    )
    call(clerk, "note", session_id=begun["session_id"], text="fay@example.org was not asked")
    plain = prompt(clerk, begun["session_id"])["prompt"]
    stripped = prompt(clerk, begun["session_id"], surface="customer_chat")
    for name in ("ana@", "ben@", "dan@", "fay@"):
        assert name in plain
    assert "@" not in stripped["prompt"]
    assert "[pii.email] says the move is on Monday" in stripped["prompt"]
    (found,) = call(
        clerk,
        "search_session",
        session_id=begun["session_id"],
        query="move on Monday",
        k=1,
        surface="customer_chat",
    )
    assert "@" not in str(found["content"])
    call(clerk, "close_session", session_id=begun["session_id"], promote="none")
    again = start(clerk)
    assert "dan@" in str(again["resumed"]["findings"])
    assert "[EARLIER_FINDING]" in again["prompt"]
    call(clerk, "close_session", session_id=again["session_id"], promote="none")
    across = start(clerk, surface="customer_chat")
    assert "@" not in str(across["resumed"]) + across["prompt"]
    assert across["resumed"]["goal"] == "write to [pii.email] about the move"
    call(clerk, "close_session", session_id=across["session_id"], promote="none")
    access.call(boss, "define_surface", name="customer_chat", layers=["semantic"])
    capped = start(clerk, surface="customer_chat")
    assert capped["resumed"]["findings"] == []
    assert "[EARLIER_FINDING]" not in capped["prompt"]


def test_without_a_surface_what_is_pushed_is_screened_by_the_rules_of_today(world: World) -> None:
    """What a rule that came later redacts is redacted, and what it blocks is withheld.

    Proves: Z3
    """
    agent = world.agent()
    words = "the user service has its database behind badge AB-12345"
    write(agent, "semantic", {"text": words}, subject="user service")
    begun = start(agent, goal=GOAL)
    assert "AB-12345" in begun["prompt"]
    for action, shown in (("redact", "[pii.badge]"), ("block", None)):
        access.call(
            world.admin,
            "define_sensitivity_rule",
            rule="badge",
            kind="pii.badge",
            definition=Jsonb({"pattern": r"\bAB-[0-9]{5}\b"}),
            tests=Jsonb({"positive": ["AB-12345"], "negative": ["AB-1"]}),
            level="suspicious",
            action=action,
        )
        (row,) = push(agent, task=GOAL)
        assert row["suspicious"] == ["pii.badge"]
        assert (row["content"] is None) == (shown is None)
        assert shown is None or shown in row["content"]["text"]
        again = prompt(agent, begun["session_id"])
        assert "AB-12345" not in row["line"] + again["prompt"]
        assert not again["refreshed"]
