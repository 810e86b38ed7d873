"""The ontology says what relations between entities may be, in the version that is in force."""

from __future__ import annotations

from functools import partial
from typing import Any

import psycopg
import pytest

from access import call, state
from model.entities.conftest import Acme, register, say
from races import together
from write.judgement.test_constraint_graph import answer, configure


def relation(who: Any, name: str, **said: Any) -> int:
    """Define a relation type, return the version of the ontology."""
    [row] = call(who, "define_relation_type", relation=name, **said)
    return int(row["define_relation_type"])


@pytest.fixture
def firm(acme: Acme) -> Acme:
    """Two people and a company."""
    for entity, name in (("person:ana", "Ana"), ("person:bo", "Bo"), ("company:a", "ACME")):
        register(acme.curator, entity, name, "the boss" if name == "Bo" else name)
    return acme


def test_entities_of_other_types_are_refused(firm: Acme) -> None:
    """On either side, all faults at once; of a name that nobody bears nothing is known.

    Proves: F10
    """
    relation(firm.curator, "works for", domain=["person"], range=["company"])
    assert say(firm.agent, "Ana", "works_for", "acme")["outcome"] == "COMMITTED"
    said = say(firm.agent, "ACME", "Works For", "Ana")
    assert answer(said) == ("REJECTED", "ONTOLOGY_VIOLATION")
    assert [error["path"] for error in said["detail"]["errors"]] == ["subject", "content"]
    assert said["gate"] == "28_entity"
    assert say(firm.agent, "Cy", "works for", "Deli")["outcome"] == "COMMITTED"


def test_nobody_is_above_himself(firm: Acme) -> None:
    """By whatever name, and also when both are written at once.

    Proves: F10
    """
    relation(firm.curator, "reports to", acyclic=True)
    first = say(firm.agent, "Ana", "reports to", "the boss")
    assert first["outcome"] == "COMMITTED"
    assert answer(say(firm.agent, "Bo", "reports to", "Ana")) == ("REJECTED", "ONTOLOGY_VIOLATION")
    assert answer(say(firm.agent, "Bo", "reports to", "Bo")) == ("REJECTED", "ONTOLOGY_VIOLATION")
    for number in range(4):
        register(firm.curator, f"person:x{number}")
        register(firm.curator, f"person:y{number}")
        agents = [firm.world.connect(firm.agent.info.user) for _ in range(2)]
        ends = [f"person:x{number}", f"person:y{number}"]
        said = together(
            [
                partial(say, agents[0], ends[0], "reports to", ends[1]),
                partial(say, agents[1], ends[1], "reports to", ends[0]),
            ]
        )
        assert sorted(row["outcome"] for row in said) == ["COMMITTED", "REJECTED"]


def test_one_value_at_a_time_holds_for_all_names_of_an_entity(firm: Acme) -> None:
    """What was said of it by another name contradicts, and is found by a key.

    Proves: F10, V4
    """
    configure(firm.world, conflict="review")
    relation(firm.curator, "lives in", functional=True)
    first = say(firm.agent, "Bo", "lives in", "Lisbon", confidence=0.9)
    other = firm.member()
    said = say(other, "the boss", "lives in", "Porto", confidence=0.5)
    assert answer(said) == ("REJECTED", "CONTRADICTION")
    [found] = said["detail"]["contradicts"]
    assert (found["item_id"], found["method"]) == (str(first["item_id"]), "entity")


def test_an_inverse_is_that_of_the_predicate(firm: Acme) -> None:
    """The constraint graph finds what stands against it from the other side.

    Proves: F10
    """
    configure(firm.world, conflict="review")
    relation(firm.curator, "managed by", functional=True, inverse="manager of")
    relation(firm.curator, "manager of", inverse="managed by")
    say(firm.agent, "Ana", "manager of", "Bo")
    said = say(firm.member(), "Cy", "manager of", "Bo")
    assert answer(said) == ("REJECTED", "CONTRADICTION")


def test_a_version_never_changes_and_can_be_pinned(firm: Acme) -> None:
    """What is defined later waits; what is pinned counts for predicates as well.

    Proves: F10, F11 (pinned ontology versions)
    """
    first = relation(firm.curator, "works for", domain=["person"])
    call(firm.curator, "pin_ontology", version=first)
    second = relation(firm.curator, "works for", domain=["company"], functional=True)
    assert second == first + 1
    assert relation(firm.curator, "works for", domain=["company"], functional=True) == second
    assert say(firm.agent, "Ana", "works for", "ACME")["outcome"] == "COMMITTED"
    kept = firm.world.value(
        "SELECT same_key FROM memwarden_data.predicate WHERE org_id > 0 AND predicate = 'works for'"
    )
    assert kept == "accumulate"
    call(firm.curator, "pin_ontology", version=None)
    assert say(firm.agent, "Ana", "works for", "Bolt")["reason"] == "ONTOLOGY_VIOLATION"
    kept = firm.world.value(
        "SELECT same_key FROM memwarden_data.predicate WHERE org_id > 0 AND predicate = 'works for'"
    )
    assert kept == "new_version"
    assert state(firm.curator, "pin_ontology", version=99) == "42704"
    with pytest.raises(psycopg.Error) as raised:
        firm.world.admin.execute("UPDATE memwarden_data.ontology SET document = '{}'")
    assert raised.value.sqlstate == "55006"
    shown = firm.agent.execute(
        "SELECT version, in_force FROM memwarden.ontologies WHERE org = 'acme' ORDER BY version"
    ).fetchall()
    assert [(row["version"], row["in_force"]) for row in shown][-2:] == [
        (first, False),
        (second, True),
    ]


@pytest.mark.parametrize(
    "said",
    [{"relation": " "}, {"acyclic": True, "inverse": "r"}, {"domain": None}, {"functional": None}],
    ids=str,
)
def test_malformed_relations_are_not_defined(acme: Acme, said: dict[str, Any]) -> None:
    """Proves: F10."""
    assert state(acme.curator, "define_relation_type", **({"relation": "r"} | said)) == "22023"


def test_types_that_nobody_defined_are_unknown(acme: Acme) -> None:
    """Proves: F10."""
    wanted = {"relation": "r", "domain": ["ghost"]}
    assert state(acme.curator, "define_relation_type", **wanted) == "42704"
    assert state(acme.curator, "define_entity_type", type="Bad Name") == "22023"
