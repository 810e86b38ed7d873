"""A memory that is made of another memory stands on the words that that one kept of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from access import call, join
from intake.capture.conftest import extract, said
from intake.consolidation.conftest import decide, note
from intake.sessions.conftest import observe, open_session
from scope_calls import promote
from shipped import as_init_leaves_it
from write.evidence.conftest import TEA, WORDS, Heard, capture, cite, kept, turn

if TYPE_CHECKING:
    from conftest import World


def end_captures(heard: Heard) -> None:
    """Have all captures of the office end, as their retention does."""
    with heard.world.admin.transaction():
        heard.world.admin.execute("SET LOCAL session_replication_role = replica")
        heard.world.admin.execute(
            "DELETE FROM memwarden_data.capture WHERE org_id ="
            " (SELECT org_id FROM memwarden_data.principal WHERE name = %s)",
            (heard.broker_name,),
        )


def standing(heard: Heard, version_id: object) -> Any:
    """How firmly a version may be said."""
    return heard.world.value(
        "SELECT standing FROM memwarden_data.item WHERE version_id = %s", version_id
    )


@pytest.mark.parametrize("ended", [False, True])
def test_what_is_promoted_keeps_its_grounds(heard: Heard, ended: bool) -> None:
    """By somebody who may not cite the capture, and after the capture has ended.

    Proves: V9
    """
    above = join(heard.world, f"/org/{heard.org}", descendants=True)
    answer = heard.write(TEA, cite(heard.capture(turn(f"Morning! {WORDS}"))))
    assert standing(heard, answer["version_id"]) == "verified"
    if ended:
        end_captures(heard)
    copy = promote(above, answer["item_id"], target=f"/org/{heard.org}")
    assert copy["outcome"] == "COMMITTED", copy
    assert kept(heard, copy)[0] == kept(heard, answer)[0]
    # Who copies it did not record it, and may not cite the capture: the words that were kept count.
    (ground, _) = sorted(heard.grounds(copy), key=lambda each: each["type"])
    assert (ground["support"], ground["independent"], ground["declared"]) == (1, True, True)
    assert standing(heard, copy["version_id"]) == standing(heard, answer["version_id"])


def test_a_copy_may_not_say_more_than_the_words_that_were_kept(heard: Heard) -> None:
    """Consolidation in other words is weighed by the sentence that was kept.

    Proves: V9
    """
    uri = heard.capture(turn(f"Good morning! {WORDS} I live in Rome."))
    source = note(heard.writer, TEA, evidence=[cite(uri, WORDS)])
    other = note(heard.writer, {"text": TEA, "n": 2}, evidence=[cite(uri, WORDS)])
    end_captures(heard)
    made = decide(heard.writer, source, "ADD", content=TEA, layer="episodic")
    assert made["outcome"] == "COMMITTED", made
    assert standing(heard, made["version_id"]) == "verified"
    made = decide(heard.writer, other, "ADD", content="Ana lives in Rome.", layer="episodic")
    assert (made["outcome"], made["reason"]) == ("DEFERRED", "EVIDENCE_UNCLEAR")


def test_what_a_session_observed_is_promoted_with_its_grounds(heard: Heard) -> None:
    """Also where the capture has ended before the session does.

    Proves: V9
    """
    session = open_session(heard.writer, scope=heard.home)
    evidence = [cite(heard.capture(turn()))]
    observe(heard.writer, session, TEA, "critical", evidence=evidence)
    end_captures(heard)
    (promoted,) = call(heard.writer, "close_session", session_id=session)
    # Its subject is the task, so that a person is asked; but the words and their source are there.
    assert (promoted["outcome"], promoted["reason"]) == ("DEFERRED", "EVIDENCE_UNCLEAR")
    (ground,) = heard.world.value(
        "SELECT detail -> 'evidence' FROM memwarden_data.write_request WHERE request_id = %s",
        promoted["request_id"],
    )
    assert (ground["authority"], ground["registered"]) == (1, True)


def test_nobody_takes_over_what_a_memory_keeps_that_he_may_not_read(heard: Heard) -> None:
    """A memory that is cited beside a capture counts only for who reads it.

    Proves: V9 (no capture is found out by citing it), A3
    """
    secret: dict[str, Any] = {"clearance": "restricted"}
    writer = join(heard.world, heard.home, **secret)
    uri = heard.capture(turn(), captured_for=[writer.info.user])
    answer = heard.write(TEA, cite(uri), by=writer, classification="restricted")
    assert answer["outcome"] == "COMMITTED", answer
    memory = {"uri": f"memwarden:item/{answer['item_id']}"}
    stranger, friend = join(heard.world, heard.home), join(heard.world, heard.home, **secret)
    claim: dict[str, Any] = {"by": stranger, "layer": "episodic"}
    refused = heard.write(f"{TEA} ", cite(uri), memory, **claim)
    assert refused["outcome"] == "REJECTED"
    absent = {"uri": f"memwarden:item/{uuid4()}"}
    assert refused["reason"] == heard.write(f"{TEA}  ", cite(uri), absent, **claim)["reason"]
    taken = heard.write(f"{TEA} ", cite(uri), memory, by=friend, layer="episodic")
    assert standing(heard, taken["version_id"]) == "verified"


def test_what_is_extracted_cites_the_capture_as_its_application_recorded_it(world: World) -> None:
    """In a store as `memwarden init` leaves it: supported, and nobody waits.

    Proves: F2, V9
    """
    with as_init_leaves_it(world) as store:
        store.heard("Ana", "I live in Rome.")
        (made,) = extract(store.application)
        assert (made["outcome"], made["reason"]) == ("COMMITTED", None)
        (row,) = store.agent.execute("SELECT * FROM memwarden.recall('Rome')").fetchall()
        (reference,) = row["provenance"]["evidence"]
        assert (row["standing"], reference["excerpt"]) == ("supported", "I live in Rome.")


def test_what_an_agent_extracts_of_its_own_captures_is_reported(heard: Heard) -> None:
    """Nobody else has heard it; what an application recorded for others is supported.

    Proves: F2, V9
    """
    heard.source("capture:mail/*", "human_input", issuer=heard.writer_name)
    captures = (
        (heard.writer, "mail", "reported", "Rome"),
        (heard.broker, "chat", "supported", "Oslo"),
    )
    for by, source, firm, place in captures:
        capture(by, said(f"I live in {place}."), source, scope=heard.home)
        (made,) = extract(by, source=source)
        assert made["outcome"] == "COMMITTED", made
        assert (
            standing(
                heard,
                heard.world.value(
                    "SELECT version_id FROM memwarden_data.item WHERE item_id = %s", made["item_id"]
                ),
            )
            == firm
        )
