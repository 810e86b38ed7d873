"""A claim in the present holds from when the words were said that bear it out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import recall
from write.evidence.conftest import DOCS, TEA, Office, cite, item

if TYPE_CHECKING:
    from conftest import World

TURN = "2022-05-03T14:30:00+00:00"
SAID = datetime.fromisoformat(TURN)


@pytest.fixture
def office(office: Office) -> Office:
    """An office whose chat says what stays true for long."""
    options = {"issuer": office.broker_name, "half_life": "36500 days"}
    office.source("minutes:*", "human_input", **options)
    return office


def record(office: Office, said: str = TURN, excerpt: str = TEA) -> str:
    """Words that the broker heard then."""
    return office.record(excerpt, f"minutes:{said}", accessed_at=said)


def begins(office: Office, answer: DictRow) -> datetime:
    """From when a committed write is true, as its writer reads it."""
    assert answer["outcome"] == "COMMITTED", (answer["reason"], answer["detail"])
    row = office.writer.execute(
        "SELECT valid_from FROM memwarden.get(%s)", (answer["item_id"],)
    ).fetchone()
    assert row is not None
    at = row["valid_from"]
    assert isinstance(at, datetime)
    return at


def is_now(at: datetime) -> bool:
    """Whether it is when the test runs."""
    return abs(datetime.now(UTC) - at) < timedelta(hours=1)


def test_a_claim_that_cites_older_words_holds_from_when_they_were_said(office: Office) -> None:
    """Recall and contexts tell that day, with the layers as they are shipped.

    Proves: T4
    """
    heard = record(office)
    written = office.write(TEA, cite(heard))
    assert begins(office, written) == SAID
    (found,) = recall(office.writer, query="tea")
    assert (found["valid_from"], found["valid_to"]) == (SAID, None)
    row = office.writer.execute("SELECT line FROM memwarden.compile_context('tea')").fetchone()
    assert row is not None
    assert json.loads(row["line"])["since"] == "2022-05-03"


@pytest.mark.parametrize("claimed", ["2020-01-01T00:00:00Z", "2024-01-01T00:00:00Z"])
def test_the_time_that_a_writer_gives_its_evidence_counts_for_nothing(
    office: Office, claimed: str
) -> None:
    """Neither of a quote that it alone has seen, nor of words that the store holds.

    Proves: T4
    """
    office.source(f"{DOCS}old/*", half_life="36500 days")
    quoted = office.write(TEA, cite(f"{DOCS}old/1", TEA, accessed_at=claimed))
    assert is_now(begins(office, quoted))
    heard = record(office)
    held = office.write(TEA, cite(heard, accessed_at=claimed), layer="procedural")
    assert begins(office, held) == SAID


def test_what_the_writer_says_goes_before(office: Office) -> None:
    """Its valid_from stands; what it says of the end changes no beginning.

    Proves: T4
    """
    heard = record(office)
    dated = office.write(TEA, cite(heard), valid_from="2021-01-01T00:00:00Z")
    assert begins(office, dated) == datetime(2021, 1, 1, tzinfo=UTC)
    ended = office.write(TEA, cite(heard), valid_to="2100-01-01T00:00:00Z", layer="procedural")
    assert begins(office, ended) == SAID


def test_of_several_words_the_latest_count(office: Office) -> None:
    """They say that it held then; whether it held all along the first do not know.

    Proves: T4
    """
    first = record(office)
    last = record(office, "2024-02-01T00:00:00Z", f"Well, {TEA}")
    written = office.write(TEA, cite(first), cite(last))
    grounds = office.grounds(written)
    borne_out = [each["accessed_at"] for each in grounds if each["support"] >= 0.8]
    assert begins(office, written) == max(map(datetime.fromisoformat, borne_out))


def test_words_of_a_memory_are_as_old_as_the_memory(office: Office) -> None:
    """Not as old as its import.

    Proves: T4
    """
    heard = record(office, "2024-02-01T00:00:00Z")
    memory = office.write(TEA, cite(heard), valid_from=TURN, layer="episodic")
    written = office.write(TEA, item(memory), cite(f"{DOCS}1", TEA))
    assert begins(office, written) == SAID


def test_a_correction_begins_no_earlier_than_what_it_corrects(office: Office) -> None:
    """Older words do not say what held before the memory did.

    Proves: T4
    """
    heard = record(office)
    since = datetime(2023, 1, 1, tzinfo=UTC)
    wrong = office.write("Ana prefers tea.", cite(f"{DOCS}1", "Ana prefers tea."), valid_from=since)
    assert begins(office, wrong) == since
    right = office.write(TEA, cite(heard), corrects=wrong["item_id"])
    assert right["item_id"] == wrong["item_id"]
    assert begins(office, right) == since


HELD: dict[str, Any] = {"held": True, "support": 1, "accessed_at": TURN}


@pytest.mark.parametrize(
    ("grounds", "said"),
    [
        (None, None),
        ([], None),
        ([HELD], SAID),
        ([HELD | {"support": 0.8}], SAID),
        ([HELD | {"support": 0.79}], None),
        ([HELD | {"held": False}], None),
        ([HELD | {"contradicts": True, "support": 0}], None),
        ([HELD | {"believed": False}], None),
        ([{"support": 1, "accessed_at": TURN}], None),
        ([HELD, HELD | {"accessed_at": "2021-01-01T00:00:00Z"}], SAID),
        ([HELD, {"support": 1, "accessed_at": "2025-01-01T00:00:00Z"}], SAID),
    ],
)
def test_words_count_that_the_store_holds_and_that_bear_it_out(
    shared_world: World, grounds: list[Any] | None, said: datetime | None
) -> None:
    """All others are silent.

    Proves: T4
    """
    given = None if grounds is None else Jsonb(grounds)
    asked = "SELECT memwarden_internal.words_said_at(0, %s, NULL)"
    assert shared_world.value(asked, given) == said
