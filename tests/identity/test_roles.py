"""What a role permits, per layer: the table of chapter 12.8.2, done by real logins."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, join, name_of, refusal, state
from conftest import World
from helpers import recall, write

LAYERS = ["working", "session", "episodic", "semantic", "procedural", "durable"]

# own: what the agent wrote last. all: everybody's. notes: annotations only. Working and session
# memory is its agent's own, and read by roles that administer the layer. Where it holds for
# every layer, the chapter says so in one word, and so does DELETE and ADMIN here.
TABLE = """
role          right   working session episodic semantic procedural durable
executor      READ    own     own     all      -        -          -
executor      WRITE   own     own     -        -        -          -
executor      DELETE  own     own     -        -        -          -
executor      ADMIN   -       -       -        -        -          -
verifier      READ    own     own     all      all      all        all
verifier      WRITE   -       -       notes    -        -          -
verifier      DELETE  -       -       -        -        -          -
verifier      ADMIN   -       -       -        -        -          -
orchestrator  READ    all     all     all      all      all        all
orchestrator  WRITE   all     all     all      -        -          -
orchestrator  DELETE  soft    soft    soft     soft     soft       soft
orchestrator  ADMIN   layer   layer   layer    layer    layer      layer
curator       READ    all     all     all      all      all        all
curator       WRITE   all     all     all      all      all        all
curator       DELETE  hard    hard    hard     hard     hard       hard
curator       ADMIN   full    full    full     full     full       full
reviewer      READ    own     own     all      all      all        all
reviewer      WRITE   -       -       notes    -        -          -
reviewer      DELETE  -       -       -        -        -          -
reviewer      ADMIN   -       -       -        -        -          -
correction_writer READ    own     own     all      all      all        all
correction_writer WRITE   own     own     all      all      all        all
correction_writer DELETE  own     own     own      own      own        own
correction_writer ADMIN   -       -       -        -        -          -
contributor   READ    own     own     all      all      all        all
contributor   WRITE   own     own     all      all      all        all
contributor   DELETE  own     own     own      own      own        own
contributor   ADMIN   -       -       -        -        -          -
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()[1:]]


class Trial:
    """An organisation with an agent and a colleague who have each written to every layer.

    The agent gets its role afterwards, so that it also has items where the role lets it write none.
    """

    def __init__(self, world: World, organisation: str, role: str) -> None:
        self.world = world
        self.place = f"/org/{organisation}"
        self.role = role
        self.agent = join(world, self.place, "agent", "curator")
        self.colleague = world.agent(self.place)
        org = {"org": organisation}
        # One fact per key in every layer, so that there is something of others' to write over.
        call(world.admin, "define_predicate", predicate="is", same_key="new_version", **org)
        self.own = {layer: self.put(self.agent, layer, "own") for layer in LAYERS}
        self.others = {layer: self.put(self.colleague, layer, "others") for layer in LAYERS}
        call(world.admin, "change_agent", agent=name_of(self.agent), role=role, **org)

    def put(self, who: Connection[DictRow], layer: str, subject: str) -> UUID:
        """Write a fact that must be committed."""
        row = write(who, layer, f"{subject} in {layer}", subject=subject, predicate="is")
        assert row["outcome"] == "COMMITTED", row
        item: UUID = row["item_id"]
        return item

    def read(self, layer: str) -> str:
        """Whose items it reads, by all ways to read."""
        seen = {row["item_id"] for row in recall(self.agent, layers=[layer], k=1000)}
        viewed = self.agent.execute("SELECT item_id FROM memwarden.items WHERE layer = %s", [layer])
        assert {row["item_id"] for row in viewed} == seen
        for item in (self.own[layer], self.others[layer]):
            assert bool(call(self.agent, "get", item_id=item)) == (item in seen)
            assert bool(call(self.agent, "history", item_id=item)) == (item in seen)
        return {(False, False): "-", (True, False): "own", (True, True): "all"}[
            self.own[layer] in seen, self.others[layer] in seen
        ]

    def write(self, layer: str) -> str:
        """Whether it writes there, and whether over others."""
        annotation = {"item_id": str(self.own[layer]), "verdict": "doubted"}
        noted = write(self.agent, layer, annotation, kind="annotation")
        plain = write(self.agent, layer, "new")
        over = write(self.agent, layer, "over others", subject="others", predicate="is")
        if plain["reason"] == "ROLE_FORBIDS":
            assert over["reason"] == "ROLE_FORBIDS"
            return "notes" if noted["outcome"] == "COMMITTED" else "-"
        assert plain["outcome"] == "COMMITTED"
        if over["reason"] == "NOT_OWNER":
            assert layer == "session"  # a rule of the layer, which binds whoever sees the owner
            return "all"
        assert over["outcome"] == "COMMITTED"
        return "all" if over["item_id"] == self.others[layer] else "own"

    def delete(self, layer: str) -> str:
        """Whether it takes back its own item and that of another, which it has not written over."""
        refused = set()
        others = self.put(self.colleague, layer, "others still")
        for item in (self.own[layer], others):
            try:
                call(self.agent, "retract", item_id=item, reason="wrong")
            except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedObject):
                refused.add(item)
            status = "SELECT status FROM memwarden_data.item WHERE item_id = %s"
            assert (self.world.value(status, item) == "RETRACTED") == (item not in refused)
        if refused:
            assert others in refused
            return "-" if self.own[layer] in refused else "own"
        return self.degree("DELETE")

    def administer(self, layer: str) -> str:
        """Whether it defines what the layer holds, and who may do what."""
        new = f"{name_of(self.agent)}_{layer}"
        layer_calls: list[tuple[str, dict[str, Any]]] = [
            ("define_schema", {"layer": layer, "kind": f"kind.{layer}", "schema": {}}),
            ("define_predicate", {"predicate": f"in {layer}", "same_key": "accumulate"}),
            ("set_synonyms", {"org": self.place[5:], "synonyms": {layer: "layer"}}),
        ]
        full_calls: list[tuple[str, dict[str, Any]]] = [
            ("create_scope", {"path": f"{self.place}/user/{layer}"}),
            ("register_agent", {"name": new, "scope": self.place}),
            ("grant_scope", {"agent": new, "scope": self.place}),
            ("change_agent", {"agent": new, "validated": False}),
            ("define_role", {"name": new, "permissions": []}),
            ("define_attribute", {"bearer": "agent", "name": f"of_{layer}"}),
            ("define_policy_set", {"name": new, "default_effect": "allow"}),
        ]
        permitted = [
            [self.is_permitted(function, arguments) for function, arguments in calls]
            for calls in (layer_calls, full_calls)
        ]
        assert all(len(set(answers)) == 1 for answers in permitted)
        if not permitted[0][0]:
            assert not permitted[1][0]
            return "-"
        degree = self.degree("ADMIN")
        assert (degree == "full") == permitted[1][0]
        return degree

    def is_permitted(self, function: str, arguments: dict[str, Any]) -> bool:
        """Call a function of administration; false when the right is missing."""
        try:
            call(self.agent, function, **arguments)
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedObject):
            return False
        return True

    def degree(self, operation: str) -> str:
        """What whoami() says of DELETE or ADMIN."""
        (me,) = call(self.agent, "whoami")
        (degree,) = {p["degree"] for p in me["permissions"] if p["operation"] == operation}
        return str(degree)


@pytest.mark.parametrize("role", dict.fromkeys(row[0] for row in ROWS))
def test_a_role_permits_what_the_table_says(shared_world: World, home: str, role: str) -> None:
    """Each right in each layer, asked for and granted or refused.

    Proves: A1
    """
    trial = Trial(shared_world, home.split("/")[2], role)
    # In this order: what is retracted can be read no more.
    done = {"READ": trial.read, "WRITE": trial.write, "ADMIN": trial.administer}
    done["DELETE"] = trial.delete
    found = [
        [role, operation, *(done[operation](layer) for layer in LAYERS)]
        for operation in ("READ", "WRITE", "ADMIN", "DELETE")
    ]
    assert sorted(found) == sorted(row for row in ROWS if row[0] == role)


def test_the_table_has_every_built_in_role_and_layer(shared_world: World) -> None:
    """Nothing that is shipped is left out above.

    Proves: A1
    """
    shipped = shared_world.rows("SELECT DISTINCT role FROM memwarden.roles WHERE org = 'global'")
    assert {row["role"] for row in shipped} == {row[0] for row in ROWS}
    layers = shared_world.rows("SELECT layer FROM memwarden_data.layer")
    assert {row["layer"] for row in layers} == set(LAYERS)


def test_executors_each_have_a_session_of_their_own(shared_world: World, home: str) -> None:
    """In one scope, with one key: neither sees, changes or is told of the other's.

    Proves: A1
    """
    one, other = (join(shared_world, home, role="executor") for _ in range(2))
    items = {}
    for who, text in ((one, "tea"), (other, "coffee")):
        row = write(who, "session", {"text": text}, subject="goal", predicate="is")
        assert row["outcome"] == "COMMITTED"
        items[text] = row["item_id"]
    assert items["tea"] != items["coffee"]
    for who, text in ((one, "tea"), (other, "coffee")):
        assert {row["item_id"] for row in recall(who, k=100)} == {items[text]}
        again = write(who, "session", {"text": f"more {text}"}, subject="goal", predicate="is")
        assert (again["outcome"], again["item_id"]) == ("COMMITTED", items[text])
    same = write(one, "session", {"text": "more coffee"})
    assert same["outcome"] == "COMMITTED"  # the other's is no duplicate of it


def test_a_verifier_annotates_what_it_reads_and_as_secretly(shared_world: World, home: str) -> None:
    """Its annotation has the scope, classification and domains of the item.

    Proves: A1, A3
    """
    standing = {"clearance": "confidential", "domains": ["law"]}
    author = join(shared_world, home, **standing)
    verifier = join(shared_world, home, role="verifier", **standing)
    item = write(author, "semantic", "so it is", classification="confidential", domains=["law"])
    (note,) = call(
        verifier, "annotate", item_id=item["item_id"], verdict="refuted", note="It isn't"
    )
    assert note["outcome"] == "COMMITTED"
    (seen,) = call(author, "get", item_id=note["item_id"])
    assert (seen["scope"], seen["layer"], seen["kind"]) == (home, "episodic", "annotation")
    assert (seen["classification"], seen["domains"]) == ("confidential", ["law"])
    assert seen["content"]["item_id"] == str(item["item_id"])
    stranger = join(shared_world, home, role="verifier")
    missing = refusal(stranger, "annotate", item_id=item["item_id"], verdict="confirmed")
    assert missing.sqlstate == "42704"


def test_own_reach_stops_at_the_last_writer(shared_world: World, home: str) -> None:
    """A role may read all and write its own: a colleague's fact it cannot take over.

    Proves: A1
    """
    org = home.split("/")[2]
    permissions = [{"operation": "READ"}, {"operation": "WRITE", "reach": "own"}]
    colleague = shared_world.agent(home)
    call(shared_world.admin, "define_role", name="careful", permissions=permissions, org=org)
    careful = join(shared_world, home, role="careful")
    key = {"subject": "Ana", "predicate": "drinks"}
    item = write(careful, "semantic", "tea", **key)["item_id"]
    assert write(careful, "semantic", "green tea", **key)["item_id"] == item
    assert write(colleague, "semantic", "coffee", **key)["item_id"] == item
    refused = write(careful, "semantic", "tea again", **key)
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "ROLE_FORBIDS")
    assert [row["content"] for row in recall(careful)] == ["coffee"]


def test_a_role_for_one_kind_reaches_no_other(shared_world: World, home: str) -> None:
    """Reading, writing and deleting are each limited to the kind.

    Proves: A1
    """
    org = home.split("/")[2]
    author = shared_world.agent(home)
    call(shared_world.admin, "define_schema", layer="semantic", kind="trip", schema={}, org=org)
    permissions = [
        {"operation": operation, "layers": ["semantic"], "kind": "trip"}
        for operation in ("READ", "WRITE", "DELETE")
    ]
    call(shared_world.admin, "define_role", name="guide", permissions=permissions, org=org)
    guide = join(shared_world, home, role="guide")
    trip = write(author, "semantic", {"to": "Rome"}, kind="trip")["item_id"]
    fact = write(author, "semantic", {"is": "a fact"})["item_id"]
    assert {row["item_id"] for row in recall(guide)} == {trip}
    assert write(guide, "semantic", {"to": "Oslo"}, kind="trip")["outcome"] == "COMMITTED"
    for arguments in ({}, {"kind": "no.such.kind"}):
        refused = write(guide, "semantic", {"to": "Bern"}, **arguments)
        assert refused["reason"] == "ROLE_FORBIDS"
    call(guide, "retract", item_id=trip, reason="cancelled")
    assert state(guide, "retract", item_id=fact, reason="wrong") == "42704"
