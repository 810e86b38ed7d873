"""Which contradictions are certainly about one thing: those in what is said, not of what.

The words of the templates are drawn from the lists of language that the judge has, and the frames
are none of the labelled sets'.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memwarden_core.verdict.judge import Memory, Verdict, judge

THINGS = ["door", "bridge", "kitchen", "invoice", "printer", "lake", "engine", "garden", "tower"]
NAMES = ["Alice", "Quentin", "Zofia", "Ravi", "Ingrid"]
OPPOSITES = [("open", "closed"), ("tall", "short"), ("full", "empty"), ("hot", "cold")]
COLOURS = ["red", "blue", "green", "yellow", "white", "black"]
DAYS = ["Monday", "Tuesday", "Thursday", "Friday", "Sunday"]
NUMBERS = ["two", "three", "five", "12", "40"]
STATES = ["free", "locked", "in the cellar", "near the station", "being repaired", "expensive"]
SUBJECTS = st.one_of(
    st.sampled_from(THINGS).map(lambda thing: f"The {thing}"),
    st.sampled_from(THINGS).map(lambda thing: f"Our {thing}"),
    st.sampled_from(NAMES),
    st.tuples(st.sampled_from(NAMES), st.sampled_from(THINGS)).map(lambda p: f"{p[0]}'s {p[1]}"),
    st.integers(1, 99).map(lambda number: f"Room {number}"),
)


def memory(text: str, subject: str | None = None) -> Memory:
    """A text as it is remembered."""
    return Memory(subject, None, text, text)


def verdict(new: str, old: str) -> Verdict:
    """What one text is to another."""
    return judge(memory(new), memory(old))


def is_decisive(new: str, old: str) -> bool:
    """Whether that is so, from either side."""
    one, other = (verdict(*pair).why.get("decisive", False) for pair in ((new, old), (old, new)))
    assert one == other
    return bool(one)


@given(subject=SUBJECTS, pair=st.sampled_from(OPPOSITES), turned=st.booleans())
def test_opposites_said_of_one_thing_are(subject: str, pair: tuple[str, str], turned: bool) -> None:
    """Proves: V4 (between texts without a key)."""
    one, other = pair[::-1] if turned else pair
    assert is_decisive(f"{subject} is {one}", f"{subject} is {other}")


@given(thing=st.sampled_from(THINGS), colours=st.permutations(COLOURS))
def test_colours_of_one_thing_are(thing: str, colours: list[str]) -> None:
    """Proves: V4 (between texts without a key)."""
    assert is_decisive(f"The {thing} is {colours[0]}", f"The {thing} is {colours[1]}")


@given(days=st.permutations(DAYS), on=st.sampled_from(["", "on ", "set for "]))
def test_values_of_what_there_is_one_of_are(days: list[str], on: str) -> None:
    """Proves: V4 (between texts without a key)."""
    assert is_decisive(f"The deadline is {on}{days[0]}", f"The deadline is {on}{days[1]}")


@given(name=st.sampled_from(NAMES), numbers=st.permutations(NUMBERS))
def test_how_many_there_are_is(name: str, numbers: list[str]) -> None:
    """Proves: V4 (between texts without a key)."""
    assert is_decisive(f"{name} has {numbers[0]} keys", f"{name} has {numbers[1]} keys")


@given(
    thing=st.sampled_from(THINGS),
    state=st.sampled_from(STATES),
    words=st.one_of(
        st.sampled_from(OPPOSITES),
        st.permutations(COLOURS).map(lambda order: (order[0], order[1])),
        st.sampled_from([("north", "south"), ("first", "second"), ("older", "younger")]),
    ),
    opening=st.sampled_from(["The", "My", "Our"]),
)
def test_what_tells_two_things_apart_is_not(
    thing: str, state: str, words: tuple[str, str], opening: str
) -> None:
    """A word before the verb names the one or the other.

    Proves: V4 (between texts without a key)
    """
    one, other = (f"{opening} {word} {thing} is {state}" for word in words)
    assert not is_decisive(one, other)


@given(numbers=st.lists(st.integers(1, 5000), min_size=2, max_size=2, unique=True))
def test_a_number_in_a_name_is_not(numbers: list[int]) -> None:
    """Proves: V4 (between texts without a key)."""
    for frame in (
        "Room {} is free",
        "Invoice {} is open",
        "The bus {} is late",
        "Gate {} has two doors",
    ):
        assert not is_decisive(*(frame.format(number) for number in numbers))


@given(
    name=st.sampled_from(NAMES),
    frame=st.sampled_from(
        [
            "{name} met Bo on {day}",
            "The shop is open on {day}",
            "The meeting is on {day}",
            "{name} is in the office on {day}",
            "A door is {colour}",
            "The man is {state}",
            "Tea is {state}",
            "Some doors are {state}",
            "The bridge was {state}",
            "Sometimes the bridge is {state}",
            "The bridge is {state} today",
            "The bridge might be {state}",
            "Is the bridge {state}?",
            "The bridge beside a {colour} house is long",
            "{name} is in the {colour} house",
            "{name} is fond of {colour} doors",
            "{name} likes {colour} doors",
            "The meeting is at {number}",
            "If the bridge is {state}, {name} swims",
        ]
    ),
    days=st.permutations(DAYS),
    colours=st.permutations(COLOURS),
    numbers=st.permutations(NUMBERS),
    states=st.sampled_from(OPPOSITES),
)
def test_what_can_be_so_twice_is_not(
    name: str,
    frame: str,
    days: list[str],
    colours: list[str],
    numbers: list[str],
    states: tuple[str, str],
) -> None:
    """Another day, another man, a part, a guess, something beside it: both can be so.

    Proves: V4 (between texts without a key)
    """
    one, other = (
        frame.format(name=name, day=days[n], colour=colours[n], number=numbers[n], state=states[n])
        for n in range(2)
    )
    assume(one != other)
    assert not is_decisive(one, other)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The door is open. Ana left.", "The door is closed. Ana left."),
        ("The door is open and red", "The door is closed and red"),
        ("The door is open", "The doors are closed"),
        ("The doors are open", "The door is open"),
    ],
)
def test_only_one_plain_statement_is(new: str, old: str) -> None:
    """Proves: V4 (between texts without a key)."""
    assert not is_decisive(new, old)


def test_of_two_subjects_nothing_is() -> None:
    """The same words under two headings are about two things.

    Proves: V4 (between texts without a key)
    """
    new, old = memory("The door is open", "hall"), memory("The door is closed")
    assert "decisive" not in judge(new, old).why
