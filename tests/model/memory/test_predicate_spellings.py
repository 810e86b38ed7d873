"""What is declared of a predicate holds in every spelling that `write()` takes for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from helpers import write
from shipped import SCOPE

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped

# Case, blanks, separators, marks, width, composition, what is invisible, and a sharp s.
SPELT = [
    "Größer als",
    "größer_als",
    "GRÖSSER-ALS",
    " größer  als: ",
    "'größer als'",
    "gro\u0308ßer als.",
    "\uff47röß\u200ber als",
    "größer\u2013als",
]
SENTENCES = [
    "{} n'aime plus les noix.",
    "{} n\u2019aime plus les noix.",
    "{}  N'AIME  PLUS les noix",
    "{} n'aime\u00a0plus les\u00a0noix !",
    "{} \uff4e'aime plus les noix",
    "{} n'ai\u200bme plus les noix",
]


@pytest.fixture
def world(shipped: Shipped) -> World:
    """A store as `memwarden init` leaves it."""
    return shipped.world


def say(agent: Any, subject: str, predicate: str, content: str) -> Any:
    """Write a fact."""
    return write(agent, "semantic", content, subject=subject, predicate=predicate)


@pytest.mark.every_version
def test_a_declaration_holds_in_every_spelling(world: World) -> None:
    """Several values, disjoint ones, denials, rules and relations; and a declaration is one.

    Proves: D5
    """
    admin, agent = world.admin, world.agent(SCOPE)
    for spelt in SPELT:
        admin.execute(
            "SELECT memwarden.define_predicate(%s, 'accumulate', 'acme')",
            (spelt,),
        )
        admin.execute(
            "SELECT memwarden.define_predicate('nicht mehr ' || %s, 'accumulate', 'acme',"
            " ends => ARRAY[%s])",
            (spelt.strip("' "), spelt),
        )
        admin.execute(
            "SELECT memwarden.define_integrity_rule('dwarfs', %s, predicate => %s, org => 'acme')",
            ("memory.content <> 'Zwerg'", spelt),
        )
    own = "SELECT predicate FROM memwarden.predicates WHERE org = 'acme' ORDER BY 1"
    assert [row["predicate"] for row in world.rows(own)] == [
        "grösser als",
        "nicht mehr grösser als",
    ]
    for spelt in SPELT:
        who = f"Ana {uuid4().hex[:8]}"
        assert [say(agent, who, spelt, name)["reason"] for name in ("Bo", "Eve")] == [None] * 2
        denied = say(agent, who, f"nicht mehr {spelt.strip(chr(39))}", "Bo")
        assert [each["value"] for each in denied["detail"]["replaced"]] == ["Bo"], spelt
        assert say(agent, who, spelt, "Zwerg")["outcome"] != "COMMITTED", spelt
    preview = "SELECT FROM memwarden.preview_integrity_rule(%s, %s, org => 'acme')"
    found = [len(world.rows(preview, "memory.content <> 'Eve'", spelt)) for spelt in SPELT]
    assert found == [len(SPELT)] * len(SPELT)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_denies_in_every_spelling(world: World, sentence: str) -> None:
    """Whichever apostrophe, blank, width and case it is typed with. Proves: D5."""
    agent, who = world.agent(SCOPE), "Zora"
    for value in ("les noix", "les figues"):
        say(agent, who, "aime", value)
    answer = write(agent, "semantic", sentence.format(who))
    assert [each["value"] for each in answer["detail"]["replaced"]] == ["les noix"]
