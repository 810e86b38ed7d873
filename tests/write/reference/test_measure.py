"""How much of a record a text repeats: the measure, and how well it tells copies from reasoning."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core import copies
from memwarden_core.copies import closest, likeness, probes, spoken, words
from write.reference.canon import labelled, records

THRESHOLD = 0.5


def shares(name: str) -> list[float]:
    """Of each labelled text, the most that it repeats of any record."""
    every = list(records().values())
    return [closest(text.text, every).share for text in labelled(name)]


def test_the_threshold_lies_in_a_gap() -> None:
    """No miss and no false refusal, with room on both sides; so for either half of the set.

    Proves: N9 (measured)
    """
    copied, cited = shares("copies"), shares("reasoning")
    assert len(copied) >= 100
    assert len(cited) >= 80
    assert min(copied) > THRESHOLD + 0.05
    assert max(cited) < THRESHOLD - 0.05
    for half in (0, 1):
        middle = (min(copied[half::2]) + max(cited[half::2])) / 2
        other = 1 - half
        assert min(copied[other::2]) > middle > max(cited[other::2])


def found(pattern: str, text: str) -> bool:
    """Whether ILIKE would match."""
    parts = re.split(r"(?<!\\)%", pattern)
    escaped = (re.escape(re.sub(r"\\(.)", r"\1", part)) for part in parts)
    return re.fullmatch(".*".join(escaped), text, re.IGNORECASE | re.DOTALL) is not None


def test_some_probe_of_every_copy_finds_its_record() -> None:
    """What is not found is not compared."""
    every = records()
    lost = [
        copy
        for copy in labelled("copies")
        if not any(found(probe, every[copy.record]) for probe in probes(copy.text))
    ]
    assert lost == []


@given(st.text(max_size=3000))
def test_probes_are_few_and_no_pattern_of_the_writers_own(text: str) -> None:
    """Percent signs and underscores of the text are letters like others."""
    made = probes(text)
    assert len(made) <= copies.MAX_PROBES
    for probe in made:
        assert probe.startswith("%")
        assert "_" not in re.sub(r"\\.", "", probe)
        assert found(probe, text)


@given(st.lists(st.sampled_from(["alpha", "beta", "gamma"]), max_size=30), st.integers(0, 9))
def test_a_share_is_a_share(memory: list[str], cut: int) -> None:
    """From 0 to 1, 1 for the text itself, and no run is longer than the text."""
    record = memory[cut:]
    one = likeness(memory, record)
    assert 0 <= one.share <= 1
    assert one.run <= min(len(memory), len(record))
    assert likeness(memory, memory).share == (1.0 if len(memory) >= copies.LEAST else 0.0)


def test_a_long_quotation_is_a_copy_whatever_surrounds_it() -> None:
    """Twenty-five words in a row of a long record within a longer text; fewer are a quotation."""
    record = " ".join(f"word{n}" for n in range(400))
    own = " ".join(f"mine{n}" for n in range(300))
    for length, share in ((24, False), (25, True)):
        quoted = " ".join(record.split()[100 : 100 + length])
        assert (closest(f"{own} {quoted} {own}", [record]).share == 1.0) is share


@pytest.mark.parametrize(
    ("memory", "record"),
    [
        ("\u6240\u6709\u75ab\u82d7\u5fc5\u987b\u4fdd\u5b58\u5728\u4e8c\u81f3\u516b\u5ea6", ""),
        ("\uff36\uff21\uff23\uff23\uff29\uff2e\uff25\uff33 must be kept cold and dry", ""),
        ("Le vaccin doit \u00eatre conserv\u00e9 au froid, toujours", ""),
    ],
)
def test_other_scripts_and_other_dress_are_read(memory: str, record: str) -> None:
    """Scripts without spaces count characters; full width and case are folded."""
    del record
    assert closest(f"So: {memory}.", [memory.casefold()]).share > THRESHOLD


def test_all_words_of_a_content_are_spoken_and_no_more_than_are_compared() -> None:
    """Values first, in their order, then the key, then property names of several words."""
    content = json.dumps({"b": ["one", {"in_a name": 2}], "a": True})
    assert spoken(content, "s", None) == "one 2 s in_a name"
    assert len(spoken(json.dumps("x" * 10_000), None, None)) == copies.MAX_CHARACTERS
    assert words("Don't STOP \u2013 3.5%") == ["don't", "stop", "3", "5"]


def test_more_of_a_record_is_never_less_alike() -> None:
    """The share grows with what is quoted."""
    rule = records()["cold-chain"].split()
    grown = [closest(" ".join(rule[:n]), [" ".join(rule)]).share for n in range(10, len(rule))]
    assert all(before <= after for before, after in pairwise(grown))
