"""A memory cites what an application has captured: the store itself holds the words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from psycopg.types.json import Jsonb

from access import call
from memwarden.evaluation.evidence import twin_pair
from memwarden.evaluation.twins import twins
from write.evidence.conftest import TEA, WORDS, Heard, capture, cite, kept, turn

if TYPE_CHECKING:
    from collections.abc import Callable


def test_an_agent_cites_what_the_application_captured(heard: Heard) -> None:
    """The sentence, who said it and when are those of the record, whatever the writer says.

    Proves: V9, Z16 (captures)
    """
    uri = heard.capture(
        turn(f"Good morning! {WORDS} The weather is fine."),
        captured_at="2026-11-01T08:00:00Z",
    )
    answer = heard.write(
        TEA,
        cite(uri, recorded={"speaker": "Bo", "issuer_id": 0}, accessed_at="2026-01-01"),
    )
    (ground,) = heard.grounds(answer)
    assert ground["support"] == 1
    assert ground["issuer"] == heard.broker_name
    assert ground["accessed_at"].startswith("2026-11-01T08:00:00")
    assert ground["capture_id"] == uri.rpartition("/")[2]
    (reference,) = kept(heard, answer)
    assert reference["excerpt"] == WORDS
    assert reference["recorded"] | {"issuer_id": 0, "citer_id": 0} == {
        "speaker": "Ana",
        "role": "user",
        "at": "2026-11-01T08:00:00.000000Z",
        "source": "chat",
        "turn": 1,
        "issuer_id": 0,
        "citer_id": 0,
    }


def test_what_the_capture_does_not_say_is_not_borne_out(heard: Heard) -> None:
    """An excerpt that the writer made up is not believed: only the capture is read.

    Proves: V9, Z16 (captures)
    """
    uri = heard.capture(turn("I prefer black coffee."))
    answer = heard.write(TEA, cite(uri, excerpt=WORDS))
    assert answer["outcome"] != "COMMITTED"


def test_the_recorded_speaker_counts_and_not_a_name_in_the_words(heard: Heard) -> None:
    """A name in front of the words counts only where nobody is recorded as their speaker.

    Proves: V9, Z16 (captures)
    """
    cases: list[tuple[Callable[[str], Any], bool]] = [
        (lambda said: turn(said, "Ana"), True),
        (lambda said: turn(said, "Klaus"), False),
        (lambda said: turn(f"Ana: {said}", "Klaus"), False),
        (lambda said: turn(f"Good day.\nAna: {said}", "Klaus"), False),
        (lambda said: turn(f"Ana: {said}", None), True),
        (lambda said: [turn("Hello", "Ana"), turn(said, "Klaus")], False),
        (lambda said: {"messages": [turn("Hello", "Klaus"), turn(said, "Ana")]}, True),
        (lambda said: {"role": "user", "name": "Ana", "content": said}, True),
    ]
    drinks = ("green", "black", "white", "mint", "lemon", "ginger", "herbal", "iced")
    for (made, is_said), drink in zip(cases, drinks, strict=True):
        uri = heard.capture(made(f"I prefer {drink} tea."))
        answer = heard.write(
            {"text": f"Ana prefers {drink} tea."}, cite(uri), layer="episodic", subject="Ana"
        )
        bears = answer["outcome"] == "COMMITTED" and heard.grounds(answer)[0]["support"] >= 0.8
        assert bears == is_said, (made(drink), str(answer))


@pytest.mark.parametrize("external_id", ["turn-17", "Zug 17/ü?#%41", "a/b/../c"])
def test_a_capture_is_cited_by_the_id_of_its_source(heard: Heard, external_id: str) -> None:
    """Within source and recorder; the memory keeps the number of the capture.

    Proves: V9, Z16 (captures)
    """
    uri = heard.capture(turn(), external_id=external_id)
    heard.capture(turn("I prefer black coffee."), "mail", external_id=external_id)
    capture(heard.writer, turn("I prefer black coffee."), external_id=external_id)
    named = f"memwarden:capture/{heard.broker_name}/chat/{quote(external_id, safe='')}"
    answer = heard.write(TEA, cite(named))
    (reference,) = kept(heard, answer)
    assert reference["uri"] == uri
    assert heard.grounds(answer)[0]["support"] == 1


def test_whose_words_it_is_follows_from_role_and_source(heard: Heard) -> None:
    """Never from what the writer says of them.

    Proves: V9, Z16 (captures)
    """
    heard.source("capture:wiki/*", "document", issuer=heard.broker_name)
    heard.source("capture:shell/*", "code_execution", issuer=heard.broker_name)
    cases: list[tuple[Any, str, str | None]] = [
        (turn(), "chat", "person"),
        (WORDS, "chat", "person"),
        (turn(role="assistant"), "chat", "assistant"),
        (turn(role="system"), "chat", "model"),
        (turn(role="tool"), "chat", "tool"),
        (turn(role="oracle"), "chat", None),
        ({"tool": "search", "result": TEA}, "chat", "tool"),
        ({"url": "https://example.org", "text": TEA}, "chat", "page"),
        (TEA, "wiki", "document"),
        (turn(role="assistant"), "wiki", "assistant"),
        (TEA, "shell", "tool"),
        (turn(), "shell", "tool"),
        (TEA, "unknown", None),
        (turn(), "unknown", "person"),
    ]
    for content, source, whose in cases:
        uri = heard.capture(content, source)
        reference = heard.world.value(
            "SELECT (memwarden_internal.words_cited(p.principal_id, p.org_id, NULL, '[]', %s, NULL,"
            "   NULL, to_jsonb(%s::text)::text)).reference"
            "  FROM memwarden_data.principal AS p WHERE p.name = %s",
            Jsonb(cite(uri, type="document", role="user")),
            TEA,
            heard.writer_name,
        )
        known = heard.world.value(
            "SELECT memwarden_internal.evidence_sources(p.principal_id, p.org_id, %s, now())"
            "  FROM memwarden_data.principal AS p WHERE p.name = %s",
            Jsonb([reference]),
            heard.writer_name,
        )
        assert known[0]["cited"]["words_of"] == whose, (content, source)


def test_no_wrong_note_is_supported_by_what_an_application_captured(heard: Heard) -> None:
    """Through the door, as `memwarden evaluate evidence` counts it: the right ones are verified.

    Proves: V9, Z16 (captures)
    """
    heard.world.admin.execute(
        "UPDATE memwarden_data.layer SET unclear = 'store' WHERE layer = 'episodic'"
    )
    for twin in twins(11):
        (said,) = twin_pair(twin).captures
        cited = cite(heard.capture(turn(said[1], said[0])))
        answer = heard.write(twin.claim, cited, layer="episodic")
        if answer["outcome"] == "REJECTED":
            assert not twin.right, (twin, answer)
            continue
        standing = heard.world.value(
            "SELECT standing FROM memwarden_data.item WHERE version_id = %s", answer["version_id"]
        )
        assert standing == ("verified" if twin.right else "reported"), twin
        # The next twin may make the same claim.
        call(heard.writer, "retract", item_id=answer["item_id"], reason="tried")


def test_the_memory_stands_when_the_capture_has_ended(heard: Heard) -> None:
    """The sentence, its hash, speaker and time are kept with it; it is weighed again by them.

    Proves: V9, Z16 (captures)
    """
    uri = heard.capture(turn(f"Good morning! {WORDS}"))
    answer = heard.write(TEA, cite(uri))
    before = heard.grounds(answer)
    weighed = (
        "SELECT memwarden_internal.weigh_again(org_id, version_id, now()) AS found"
        "  FROM memwarden_data.version WHERE version_id = %s"
    )
    assert heard.world.value(weighed, answer["version_id"]) is None
    with heard.world.admin.transaction():
        heard.world.admin.execute("SET LOCAL session_replication_role = replica")
        heard.world.admin.execute(
            "DELETE FROM memwarden_data.capture WHERE org_id ="
            " (SELECT org_id FROM memwarden_data.principal WHERE name = %s)",
            (heard.broker_name,),
        )
    assert heard.world.value(weighed, answer["version_id"]) is None
    (reference,) = kept(heard, answer)
    assert (reference["excerpt"], reference["recorded"]["speaker"]) == (WORDS, "Ana")
    assert heard.grounds(answer) == before
    # Who cites it anew gets the answer for what does not exist.
    assert heard.write("Ana prefers green tea, she says.", cite(uri))["outcome"] == "REJECTED"


def test_a_long_turn_is_kept_as_one_sentence_of_at_most_a_kilobyte(heard: Heard) -> None:
    """What does not bear the claim out is not kept.

    Proves: V9, Z16 (captures)
    """
    filler = " ".join(f"Number {n} is a number that I like less." for n in range(200))
    uri = heard.capture(turn(f"{filler} {WORDS} {filler}"))
    (reference,) = kept(heard, heard.write(TEA, cite(uri)))
    assert reference["excerpt"] == WORDS
    long = "ä" * 3000
    uri = heard.capture(turn(f"{long}. {WORDS}"))
    (reference,) = kept(heard, heard.write({"text": TEA}, cite(uri), layer="episodic"))
    assert len(reference["excerpt"].encode()) <= 1024
