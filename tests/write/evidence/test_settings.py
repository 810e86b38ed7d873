"""A layer says what becomes of a write whose evidence does not tell, and of one without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from helpers import write, write_many
from memwarden.demo.conversation import load
from write.evidence.conftest import DOCS, TEA, Office, cite

if TYPE_CHECKING:
    from conftest import World

CLAIM = "Mira runs the bakery at the harbour with her cousin."
UNCLEAR = "The bakery opens at six, says Mira."
DENIAL = "Mira does not run the bakery at the harbour with her cousin."
LACKING = {
    "none": [],
    "nothing to read": [cite(f"{DOCS}1")],
    "its own word": [cite("thought:1", CLAIM)],
    "too little authority": [cite("weak:1", CLAIM)],
}
ANSWERS = {
    "store": ("COMMITTED", None),
    "ask": ("DEFERRED", "EVIDENCE_UNCLEAR"),
}


@pytest.fixture
def settled(office: Office) -> Iterator[Office]:
    """The office; the settings of its layer are as shipped again afterwards."""
    office.source("weak:*", authority=0.2)
    yield office
    settle(office.world, unclear="ask", no_evidence="refuse")


def settle(world: World, **settings: str) -> None:
    """Change settings of layer semantic."""
    world.admin.execute("SELECT memwarden.configure_layer('semantic', %s)", (Jsonb(settings),))


def outcome(answer: Any) -> tuple[str, str | None]:
    """What became of a write, and why."""
    return answer["outcome"], answer["reason"]


def both_ways(office: Office, evidence: list[Any]) -> list[tuple[str, str | None]]:
    """What becomes of a claim, by itself and in a set."""
    alone = office.write(CLAIM, *evidence)
    request = {"layer": "semantic", "content": f"{CLAIM} It is.", "evidence": evidence}
    [in_a_set] = write_many(office.writer, [request])
    return [outcome(alone), outcome(in_a_set)]


@pytest.mark.parametrize("setting", ["store", "ask", "refuse"])
def test_what_is_unclear_is_stored_asked_about_or_refused(settled: Office, setting: str) -> None:
    """Alone and in a set; what has no evidence is refused as before. Proves: V2."""
    settle(settled.world, unclear=setting)
    expected = ANSWERS.get(setting, ("REJECTED", "INSUFFICIENT_EVIDENCE"))
    assert both_ways(settled, [cite(f"{DOCS}bakery", UNCLEAR)]) == [expected] * 2
    assert settled.write(TEA)["reason"] == "INSUFFICIENT_EVIDENCE"


@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize("setting", ["store", "ask", "refuse"])
def test_what_lacks_evidence_is_stored_asked_about_or_refused(
    settled: Office, setting: str, lacking: str
) -> None:
    """No evidence, none that can be read, and none that counts in the layer. Proves: V2."""
    settle(settled.world, no_evidence=setting)
    found = both_ways(settled, LACKING[lacking])
    if setting == "refuse":
        assert {each[0] for each in found} == {"REJECTED"}
    else:
        assert found == [ANSWERS[setting]] * 2


def test_what_is_denied_is_refused_in_any_case(settled: Office) -> None:
    """Also where the layer stores everything else. Proves: V2."""
    settle(settled.world, unclear="store", no_evidence="store")
    for evidence in (cite(f"{DOCS}bakery", DENIAL), cite("thought:1", DENIAL)):
        answer = settled.write(CLAIM, evidence)
        assert outcome(answer) == ("REJECTED", "INSUFFICIENT_EVIDENCE")
        assert answer["detail"]["evidence"][0]["contradicts"] is True


def test_what_is_stored_unclear_has_the_score_that_the_rules_found(settled: Office) -> None:
    """Alone, in a set, and without evidence: 0. Proves: V2."""
    settle(settled.world, unclear="store", no_evidence="store")
    evidence = [cite(f"{DOCS}bakery", UNCLEAR)]
    assert settled.score(settled.write(CLAIM, *evidence)) == 0
    assert settled.score(settled.write(f"{CLAIM} It is.")) == 0
    requests = [
        {"layer": "semantic", "content": f"{CLAIM} It was.", "evidence": evidence},
        {"layer": "semantic", "content": f"{CLAIM} It will be."},
    ]
    for answer in write_many(settled.writer, requests):
        assert settled.score(answer) == 0


def test_the_trail_says_what_was_stored_unclear(settled: Office) -> None:
    """Alike alone, in a set and gate by gate; what is borne out says nothing. Proves: V2."""
    settle(settled.world, unclear="store", no_evidence="store")
    unclear, clear = [cite(f"{DOCS}bakery", UNCLEAR)], [cite(f"{DOCS}1", CLAIM)]

    def told(answer: Any) -> tuple[str, str | None]:
        row = settled.writer.execute(
            "SELECT gates FROM memwarden.request_status(%s)", (answer["request_id"],)
        ).fetchone()
        assert row is not None, answer
        (entry,) = (each for each in row["gates"] if each["gate"] == "40_evidence")
        return entry["decision"], entry["reason"]

    # The first write of an agent finds out on what terms.
    settled.write("The mill stands still.")
    alone = [settled.write("Otto keeps bees.", *unclear), settled.write("Rome has seven hills.")]
    requests = [
        {"layer": "semantic", "content": "Bob plays rugby.", "evidence": unclear},
        {"layer": "semantic", "content": "Lamps hang in room 7."},
        {"layer": "semantic", "content": CLAIM, "evidence": clear},
    ]
    *in_a_set, borne_out = write_many(settled.writer, requests)
    for answer in (*alone, *in_a_set):
        assert told(answer) == ("DECIDED_AS_SET", "EVIDENCE_UNCLEAR")
    assert told(borne_out) == ("DECIDED_AS_SET", None)
    gated = settled.write("The door is green.", *unclear, subject="door")
    assert told(gated) == ("ACCEPT", "EVIDENCE_UNCLEAR")


def test_other_values_are_no_setting(settled: Office) -> None:
    """Each takes one of three words. Proves: V2."""
    for name in ("unclear", "no_evidence"):
        with pytest.raises(Exception, match="it must hold that"):
            settle(settled.world, **{name: "guess"})


@pytest.mark.parametrize("layer", ["episodic", "semantic"])
def test_the_notes_of_the_demo_are_stored_where_unclear_is(world: World, layer: str) -> None:
    """Each with its turn word for word; none waits, and only what is there already is refused.

    Proves: V2
    """
    world.ship_layers()
    office = Office(world)
    office.source("chat:*", "human_input")
    settings = Jsonb({"unclear": "store", "no_evidence": "store"})
    world.admin.execute("SELECT memwarden.configure_layer(%s, %s)", (layer, settings))
    [conversation] = load(None)
    turns = {turn.dia_id: turn for turn in conversation.turns}
    found: Counter[tuple[str, str | None]] = Counter()
    for note in conversation.observations:
        said = [turns[each] for each in note.dia_ids]
        evidence = [cite(f"chat:{turn.dia_id}", f"{turn.speaker}: {turn.text}") for turn in said]
        answer = write(office.writer, layer, {"text": note.text}, evidence=evidence)
        found[outcome(answer)] += 1
    assert found.total() == 49
    # Six say again what is there, in other letters, or with other signs.
    assert found.pop(("COMMITTED", None)) == 43
    assert found == {("REJECTED", "STRUCTURAL_DUPLICATE"): 5, ("ALREADY_COMMITTED", None): 1}
