"""What crosses a boundary is less than what is read, and who has the boundary alone has no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.types.json import Jsonb

from access import call, curator, name_of, state
from helpers import recall, write
from recall.surfaces.conftest import SHOP, house, visitor

if TYPE_CHECKING:
    from conftest import World


def test_identifiers_are_stripped_from_every_word_that_crosses(world: World) -> None:
    """Content, text, subject: mail, phone, uri, names of agents and of classified entities.

    Proves: N7
    """
    boss, clerk = house(world)
    call(world.admin, "set_sensitivity_action", kind="pii", action="allow")
    call(boss, "define_entity_type", type="customer")
    call(boss, "register_entity", entity="customer:cus_77", type="customer", scope=SHOP)
    call(boss, "add_alias", entity="customer:cus_77", alias="Globex Holding")
    call(
        boss,
        "set_entity_attribute",
        entity="customer:cus_77",
        name="contract",
        value='"KX-99817"',
        classification="confidential",
        sensitive=True,
    )
    done = write(
        clerk,
        "semantic",
        {
            "text": "Globex Holding wants the blue parcel sent to ana@example.org, see"
            f" https://crm.example.org/77?id=3, says {name_of(clerk)}",
            "ana@example.org": ["call +49 30 901820 about the parcel"],
        },
        subject="ana@example.org",
        predicate="wants",
        evidence=[{"type": "document", "uri": "https://crm.example.org/77"}],
        classification="internal",
    )
    assert done["outcome"] == "COMMITTED", done
    (open_row,) = recall(clerk, query="blue parcel")
    (told,) = recall(clerk, query="blue parcel", surface="customer_chat")
    assert told["item_id"] == open_row["item_id"]
    shown = str({k: v for k, v in told.items() if k not in ("item_id", "version_id", "recall_id")})
    for secret in ("ana@", "901820", "https", "Globex", name_of(clerk), "crm.example", SHOP):
        assert secret in str(open_row)
        assert secret not in shown
    assert "blue parcel" in told["text"]
    assert told["subject"] == "[pii.email]"
    assert (told["provenance"], told["origin"], told["scope"]) == ({}, {}, None)
    (item,) = call(clerk, "compile_context", query="blue parcel", surface="customer_chat")
    for secret in ("ana@", "901820", "https", "Globex", name_of(clerk), SHOP):
        assert secret not in item["line"] + str(item["content"]) + str(item["provenance"])
    # Internals cross where that is wanted, and are stripped too.
    call(boss, "define_surface", name="customer_chat", internals=True)
    (told,) = recall(clerk, query="blue parcel", surface="customer_chat")
    assert told["provenance"]["agent"] == "[masked]"
    assert told["scope"] == SHOP
    assert "crm.example" not in str(told["provenance"])


def test_classification_and_layers_are_capped_before_the_search(world: World) -> None:
    """What lies above a surface neither crosses nor scores nor counts.

    Proves: N7, F8
    """
    boss, clerk = house(world)
    write(clerk, "semantic", {"text": "parcel rate is two euros"}, classification="public")
    write(clerk, "semantic", {"text": "parcel margin is one euro"}, classification="confidential")
    write(clerk, "episodic", {"text": "parcel talk on Monday"}, classification="public")
    assert len(recall(clerk, query="parcel")) == 3
    call(boss, "define_surface", name="customer_chat", layers=["semantic"], floor=0.9)
    call(boss, "define_surface", name="desk", max_classification="confidential")
    assert len(recall(clerk, query="parcel", surface="desk")) == 3
    (unknown,) = recall(clerk, query="parcel margin", surface="customer_chat")
    assert unknown["standing"] == "unknown"
    assert unknown["provenance"]["unknown"]["near"] == 1
    call(boss, "define_surface", name="customer_chat", layers=["semantic"])
    (row,) = recall(clerk, query="parcel margin", surface="customer_chat")
    assert row["content"] == {"text": "parcel rate is two euros"}
    lines = call(clerk, "compile_context", query="parcel", surface="customer_chat")
    assert [line["content"] for line in lines] == [{"text": "parcel rate is two euros"}]
    assert recall(clerk, query="parcel", classification="public", surface="desk", k=9) != []


def test_a_login_bound_to_a_surface_reads_by_no_other_way(world: World) -> None:
    """Without it, by another, by id, by view, in the past or after SET ROLE: there is nothing.

    Proves: N7
    """
    boss, clerk = house(world)
    call(boss, "define_surface", name="desk", max_classification="restricted", strip=[])
    made = write(clerk, "semantic", {"text": "parcel rate"}, subject="rate", predicate="is")
    guest = visitor(world, boss, "customer_chat")
    (row,) = recall(guest, query="parcel", surface="customer_chat")
    assert row["content"] == {"text": "parcel rate"}
    (row,) = recall(guest, query="parcel", scope=SHOP, surface="customer_chat")
    assert len(call(guest, "compile_context", query="parcel", surface="customer_chat")) == 1
    item_id = made["item_id"]
    for surface in (None, "desk"):
        assert recall(guest, query="parcel", surface=surface) == []
        assert call(guest, "compile_context", query="parcel", surface=surface) == []
        assert state(guest, "recall", query="parcel", scope=SHOP, surface=surface) == "42704"
    assert state(guest, "recall", query="parcel", surface="nowhere") == "42704"
    for function, arguments in {
        "get": {"item_id": item_id},
        "history": {"item_id": item_id},
        "provenance": {"item_id": item_id},
        "as_of": {"item_id": item_id},
    }.items():
        assert call(guest, function, **arguments) == []
    assert state(guest, "lineage", item_id=item_id) == "42704"
    for view in ("items", "scopes", "surfaces", "layer"):
        with psycopg.connect(guest.info.dsn, user=guest.info.user, autocommit=True) as plain:
            try:
                seen = str(plain.execute(f"SELECT * FROM memwarden.{view}").fetchall())
            except psycopg.errors.UndefinedTable:
                continue
            assert "parcel rate" not in seen
            assert SHOP not in seen
    for role in ("memwarden_owner", "memwarden_curator", "memwarden_admin", name_of(clerk)):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            guest.execute(f'SET ROLE "{role}"')
    world.grant_tables(name_of(guest))
    for table in ("item", "version", "log", "provenance", "embedding"):
        rows = guest.execute(f"SELECT * FROM memwarden_data.{table}").fetchall()
        assert rows == [], table
    # What it writes anywhere is refused, and a grant to read through a surface is none to write.
    assert write(guest, "semantic", {"text": "x"}, scope=SHOP)["outcome"] == "REJECTED"
    call(boss, "revoke_scope", agent=name_of(guest), scope=SHOP)
    assert recall(guest, query="parcel", surface="customer_chat") == []


@pytest.mark.every_version
@pytest.mark.every_version
def test_surfaces_are_defined_by_administrators_of_their_organisation(world: World) -> None:
    """Others are refused; kinds, layers and classifications must exist; another's is unknown.

    Proves: N7
    """
    boss, clerk = house(world)
    stranger = curator(world, "/org/umbrella")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        call(clerk, "define_surface", name="x")
    assert state(stranger, "drop_surface", name="customer_chat") == "42704"
    assert state(stranger, "recall", query="x", surface="customer_chat") == "42704"
    assert state(world.admin, "define_surface", name="x") == "22023"
    for arguments in (
        {"strip": ["pii.nonsense"]},
        {"strip": [None]},
        {"floor": 2},
        {"hedges": Jsonb({"sure": "yes"})},
        {"hedges": Jsonb({"unknown": 1})},
        {"language": "English please"},
        {"internals": None},
    ):
        assert state(boss, "define_surface", name="x", **arguments) == "22023"
    assert state(boss, "define_surface", name="x", max_classification="cosmic") == "42704"
    assert state(boss, "define_surface", name="x", layers=["cellar"]) == "42704"
    agent = name_of(clerk)
    for surfaces, writes in ((["nowhere"], False), ([], False), (["customer_chat"], True)):
        wrong = {"surfaces": surfaces, "writes": writes}
        assert state(boss, "grant_scope", agent=agent, scope=SHOP, **wrong) == "22023"
    listed = clerk.execute("SELECT surface, hedges FROM memwarden.surfaces").fetchall()
    assert [row["surface"] for row in listed] == ["customer_chat"]
    call(boss, "drop_surface", name="customer_chat")
    assert state(clerk, "recall", query="x", surface="customer_chat") == "42704"


def test_what_a_later_rule_finds_is_stripped_too(world: World) -> None:
    """A surface has the rules of today: those of the organisation itself among them.

    Proves: N7, Z3
    """
    boss, clerk = house(world)
    write(clerk, "semantic", {"text": "parcel for badge AB-12345"})
    call(
        boss,
        "define_sensitivity_rule",
        rule="badge",
        kind="pii.badge",
        definition=Jsonb({"pattern": r"\bAB-[0-9]{5}\b"}),
        tests=Jsonb({"positive": ["AB-12345"], "negative": ["AB-1"]}),
        level="none",
        action="allow",
    )
    (row,) = recall(clerk, query="parcel", surface="customer_chat")
    assert row["content"] == {"text": "parcel for badge [pii.badge]"}
    assert recall(clerk, query="parcel")[0]["content"] == {"text": "parcel for badge AB-12345"}
