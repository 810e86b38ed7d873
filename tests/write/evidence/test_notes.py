"""Notes about what somebody said: a turn bears out what it says, and not what is changed in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memwarden.demo.conversation import load
from memwarden.evaluation.evidence import evaluate
from memwarden_core.support.judge import BORNE_OUT, UNCLEAR, supports

RIGHT = [
    ("Ana lives in Rome.", "Ana: I live in Rome."),
    ("Ana moved to Rome last year.", "Ana: I moved to Rome last year, and I like it."),
    ("Mira has started pottery classes.", "Mira: I've just started pottery classes."),
    ("Tom paid 920 euros for the stove.", "Tom: I paid \u20ac920 for the stove."),
    ("Mira gave up coffee and drinks tea.", "Mira: I gave up coffee. I drink tea now."),
    ("Omar's sister Lena teaches maths in Leeds.", "Omar: My sister Lena teaches maths in Leeds."),
    ("Ana loves her cat.", "Ana: I love my cat."),
]
IN_OTHER_WORDS = [
    ("Ana lives in Rome.", "Ana: I moved to Rome last year."),
    ("Ana's e-mail address is ana@mail.example.", "Ana: Sure, my e-mail is ana@mail.example."),
    ("Omar adopted a puppy from the shelter.", "Omar: We adopted a puppy from the shelter!"),
    ("Mira started pottery classes in May.", "Mira: I've started pottery classes in May, so fun."),
]
OTHER = [
    ("Ana lives in Rome.", "Ana: The soup needs more salt, don't you think?"),
    ("Omar adopted a puppy from the shelter.", "Omar: Thanks! How was your weekend?"),
    ("Mira started pottery classes in May.", "Mira: I love the sea in winter."),
    ("Tom paid 920 euros for the stove.", "Tom: The stove is warm, come in."),
    ("Omar's sister Lena teaches maths in Leeds.", "Omar: My sister is coming on Sunday."),
    ("Mira runs a bakery with her cousin.", "Mira: Yes, it was amazing!"),
]
NUMBER = [
    ("Tom paid 720 euros for the stove.", "Tom: I paid 920 euros for the stove."),
    ("Ana has three brothers.", "Ana: I have four brothers."),
    ("The ferry leaves at 9:40.", "Ana: The ferry leaves at 10:40."),
    ("Omar ran 12 miles on Sunday.", "Omar: I ran 10 miles on Sunday."),
    ("Mira was born in 1987.", "Mira: I was born in 1978."),
    ("Lena bought six chairs for the kitchen.", "Lena: I bought two chairs for the kitchen."),
]
NAME = [
    ("Omar lives in Rome.", "Ana: I moved to Rome last year."),
    ("Ana lives in Milan.", "Ana: I moved to Rome last year."),
    ("Omar's sister Clara teaches maths in Leeds.", "Omar: My sister Lena teaches maths in Leeds."),
    ("Mira met Paul at the fair.", "Mira: I met Pedro at the fair."),
    ("Tom works for Northwind.", "Tom: I work for Southgate."),
    ("Lena's dog is called Biscuit.", "Lena: My dog is called Pearl."),
]
DENIED = [
    ("Ana does not live in Rome.", "Ana: I live in Rome."),
    ("Omar did not adopt a puppy from the shelter.", "Omar: I adopted a puppy from the shelter!"),
    ("Mira has not started pottery classes.", "Mira: I started pottery classes in May."),
    ("Tom never paid for the stove.", "Tom: I paid for the stove."),
    ("Lena has no brothers.", "Lena: I have four brothers."),
    ("Omar cannot swim.", "Omar: I can swim well."),
]

NOT_SO = [
    ("Ana ran a marathon in spring.", "Ana: I want to run a marathon in spring."),
    ("Omar opened a bakery in Leeds.", "Omar: I'd love to open a bakery in Leeds."),
    ("Mira bought a boat.", "Mira: We're hoping to buy a boat."),
    ("Lena moved to Lisbon.", "Lena: I'm thinking of moving to Lisbon."),
    ("Tom painted the fence.", "Tom: I'm going to paint the fence."),
    ("Tom painted the fence.", "Tom: I'll paint the fence."),
]
OF_ANOTHER = [
    ("Ana ran a marathon in spring.", "Ana: My sister ran a marathon in spring."),
    ("Omar opened a bakery in Leeds.", "Omar: My best friend opened a bakery in Leeds."),
    ("Tom broke his arm.", "Tom: Not much, but my boss broke his arm."),
]
ADDED = [
    ("Ana ran a marathon in spring and is a vegetarian.", "Ana: I ran a marathon in spring."),
    ("Omar opened a bakery in Leeds and works as a nurse.", "Omar: I opened a bakery in Leeds!"),
    ("Mira, who owns a boat, started pottery in May.", "Mira: I've started pottery in May."),
]
LACKS_THE_VERB = [
    ("Ana lives in Rome.", "Ana: I visited Rome last year."),
    ("Lena sold the piano.", "Lena: The piano is out of tune."),
]
STILL_SO = [
    ("Ana wants to run a marathon in spring.", "Ana: I want to run a marathon in spring."),
    ("Tom is planning to paint the fence.", "Tom: I'm planning to paint the fence."),
    ("Ana's sister ran a marathon.", "Ana: My sister ran a marathon."),
    ("Ana ran a marathon and adopted a cat.", "Ana: I ran a marathon. And I adopted a cat!"),
]


def borne_out(note: str, turn: str) -> float:
    """How far a turn of a conversation bears out a note."""
    return supports(None, None, json.dumps({"text": note}), [turn], ["human_input"], ["chat:1"])[0]


@pytest.mark.parametrize(("note", "turn"), RIGHT)
def test_a_turn_bears_out_what_its_speaker_says_of_himself(note: str, turn: str) -> None:
    """The words I and my mean who speaks. Proves: V2, V3 (source cross-reference)."""
    assert borne_out(note, turn) == BORNE_OUT


@pytest.mark.parametrize(("note", "turn"), IN_OTHER_WORDS)
def test_what_a_turn_says_in_other_words_is_unclear(note: str, turn: str) -> None:
    """Nothing is guessed: a person or a model decides. Proves: V2, V3 (source cross-reference)."""
    assert borne_out(note, turn) == UNCLEAR


@pytest.mark.parametrize(("note", "turn"), STILL_SO)
def test_who_notes_a_wish_or_a_relative_finds_it_in_one(note: str, turn: str) -> None:
    """What the claim itself says so stays. Proves: V2, V3 (source cross-reference)."""
    assert borne_out(note, turn) == BORNE_OUT


@pytest.mark.parametrize(
    ("note", "turn"), [*NOT_SO, *OF_ANOTHER, *ADDED, *LACKS_THE_VERB], ids=lambda text: text[:40]
)
def test_what_is_wished_or_of_another_or_added_is_unclear(note: str, turn: str) -> None:
    """Nothing bears it out, and nothing denies it. Proves: V2, V3 (source cross-reference)."""
    assert borne_out(note, turn) == UNCLEAR


@pytest.mark.parametrize(("note", "turn"), [*OTHER, *NUMBER, *NAME, *DENIED])
def test_a_turn_about_something_else_or_with_a_part_changed_does_not(note: str, turn: str) -> None:
    """Another turn, another number, another name, a denial. Proves: V2, V3."""
    assert borne_out(note, turn) < BORNE_OUT


def test_notes_of_others_are_borne_out_by_nothing_else(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No note is denied by its own turn; of each kind of wrong ones at most 1 in 100 pass.

    Proves: V2, V3 (source cross-reference)
    """
    monkeypatch.setattr("memwarden.evaluation.evidence._STATEMENTS", 0)  # test_twins.py has them
    rows = {row.pairs: row for row in evaluate(load(data / "locomo/dev.json")).rows}
    right = rows.pop("note")
    assert (right.total, right.denied) == (677, 0)
    assert right.borne_out >= 10
    changed = {"another turn", "name swapped", "denial added", "part added"}
    for kind in changed:
        row = rows[f"note: {kind}"]
        assert row.total >= 400
        assert row.borne_out <= 0.01 * row.total, row
        assert (row.supported, row.verified) == (0, 0), row
