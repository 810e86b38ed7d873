"""Whom the facts of a conversation are about: each speaker, and nobody where none is known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memwarden_core.extraction.candidates import candidates, found_in
from memwarden_core.fingerprint import key_hash
from memwarden_core.server import speaker_in
from memwarden_core.support.judge import supports
from memwarden_core.text import content_text
from python.chat_formats import formats

TEXT = "I live in Ghent."


def lives(content: object) -> list[tuple[str, object]]:
    """Who lives where, by what was captured."""
    return [(c["subject"], c["content"]) for c in candidates(content) if "subject" in c]


SLACK = {"type": "message", "ts": "1355517523.000005", "text": TEXT}
TELEGRAM = {"id": 7, "type": "message", "date": "2024-05-12T10:00:00", "text": TEXT}
BOT_API: dict[str, Any] = {"message_id": 7, "date": 1716400000, "text": TEXT}
DISCORD: dict[str, Any] = {"id": "9", "type": 0, "content": TEXT}
LINE = {"type": "group", "groupId": "C1", "userId": "U4af"}
TEXTED = {"text": TEXT}
MATRIX = {"type": "m.room.message", "sender": "@ana:example.org"}


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        (SLACK | {"user": "U0A1"}, "U0A1"),
        (SLACK | {"user": "U0A1", "user_profile": {"real_name": "Ana"}}, "Ana <U0A1>"),
        (TELEGRAM | {"from": "Анна Петрова", "from_id": "user5"}, "Анна Петрова <user5>"),
        (TELEGRAM | {"from": "Ai", "from_id": "user6"}, "Ai <user6>"),
        (BOT_API | {"from": {"id": 5, "first_name": "Ana", "last_name": "Gil"}}, "Ana Gil <5>"),
        (BOT_API | {"from": {"id": 5, "is_bot": False, "first_name": "Bot"}}, "Bot <5>"),
        ({"update_id": 1, "edited_message": BOT_API | {"from": {"id": 5}}}, "5"),
        (DISCORD | {"author": {"id": "53", "username": "ana"}}, "ana <53>"),
        (DISCORD | {"type": 19, "author": {"id": "53", "username": "ana"}}, "ana <53>"),
        (MATRIX | {"content": {"msgtype": "m.text", "body": TEXT}}, "@ana:example.org"),
        ({"from": "Ana <ana@example.org>", "to": "Ben", "text": TEXT}, "Ana <ana@example.org>"),
        ({"from": "+447700900123", "to": "447700900124", "text": TEXT}, "+447700900123"),
        ({"source": LINE, "message": {"type": "text", "id": "1", "text": TEXT}}, "U4af"),
        (
            {"events": [{"type": "message", "source": LINE, "message": {"type": "text"} | TEXTED}]},
            "U4af",
        ),
        ({"sender": {"id": "61"}, "recipient": {"id": "62"}, "message": TEXTED}, "61"),
        ({"sender": {"name": "users/1", "displayName": "王芳"}, "text": TEXT}, "王芳 <users/1>"),
        ({"speaker": "Ana", "user_id": "u1", "text": TEXT}, "Ana <u1>"),
        ({"role": "user", "text": TEXT, "user_id": "u1"}, "u1"),
        ({"role": "user", "name": "María José", "content": TEXT}, "María José"),
        ({"role": "user", "speaker": "Ai", "text": TEXT}, "Ai"),
        ({"speaker": "user", "text": TEXT}, "user"),
        ({"role": "user", "content": TEXT}, "user"),
        ({"role": "Ana", "role_type": "user", "content": TEXT}, "Ana"),
    ],
)
def test_whoever_speaks_is_whom_it_is_about(message: dict[str, Any], subject: str) -> None:
    """By id where there is one, so that two people of one name are two.

    Proves: F2
    """
    assert lives(message) == [(subject, "Ghent")]


@pytest.mark.parametrize(
    "message",
    [
        TEXT,
        {"text": TEXT},
        {"role": "moderator", "text": TEXT},
        {"speaker": "SPEAKER_00", "text": TEXT},
        {"role": "user", "speaker": "Speaker 1", "text": TEXT},
        {"speaker": "A", "text": TEXT},
        {"speaker": 0, "text": TEXT},
        {"role": "assistant", "speaker": "Ana", "content": TEXT},
        {"role": "model", "content": TEXT},
        {"role": "user", "name": "assistant", "content": TEXT},
        {"speaker": "Assistant", "text": TEXT},
        {"sender": "assistant", "text": TEXT},
        {"source": "wiki.pdf", "text": TEXT},
        {"from": "Rome", "to": "Oslo", "text": TEXT},
        {"from": "20240101", "to": "20240201", "text": TEXT},
        {"from": "2024-01-01", "to": "2024-02-01", "text": TEXT},
        SLACK | {"user": "U0A1", "bot_id": "B1"},
        SLACK | {"user": "USLACKBOT"},
        {"subtype": "message_deleted", "previous_message": SLACK | {"user": "U0A1"}},
        {"event": {"subtype": "message_deleted", "previous_message": SLACK | {"user": "U0A1"}}},
        {"conversations": [{"from": "bard", "value": TEXT}]},
        SLACK | {"user": "U0A1", "subtype": "channel_topic"},
        TELEGRAM | {"type": "service", "from": "Ana", "from_id": "user5"},
        TELEGRAM | {"from": "Ana", "from_id": "user5", "forwarded_from": "Ben"},
        BOT_API | {"from": {"id": 5, "is_bot": True, "first_name": "Ana"}},
        BOT_API | {"from": {"id": 5, "first_name": "Ana"}, "forward_origin": {"type": "user"}},
        DISCORD | {"author": {"id": "53", "username": "ana", "bot": True}},
        DISCORD | {"type": 7, "author": {"id": "53", "username": "ana"}},
        DISCORD | {"webhook_id": "4", "author": {"id": "53", "username": "ana"}},
        MATRIX | {"content": {"msgtype": "m.notice", "body": TEXT}},
        {"messageType": "systemEventMessage", "from": {"user": {"id": "1"}}, "text": TEXT},
    ],
)
def test_what_nobody_known_says_is_of_nobody(message: object) -> None:
    """No speaker, one that only this recording knows, a machine, an event, another's words.

    Proves: F2
    """
    assert lives(message) == []


def test_a_reply_quotes_and_an_edit_replaces() -> None:
    """Words of another and words of before are not what somebody says now. Proves: F2."""
    quoted = "> <@ben:example.org> I live in Rome\n\nI live in Ghent"
    assert lives(MATRIX | {"content": {"msgtype": "m.text", "body": quoted}}) == [
        ("@ana:example.org", "Ghent")
    ]
    for before in (
        "&gt; I live in Rome\nI live in Ghent",
        "I live in Ghent\n\nOn 3 May 2024, 10:15, Ben <ben@example.org> wrote:\nI live in Rome",
        "I live in Ghent\n----- Ursprüngliche Nachricht -----\nI live in Rome",
        "I live in Ghent\n\nBen: Hi! I live in Rome.",
        "Ben: Hi! I live in Rome.\nAna: I live in Ghent.\nCy: I live in Oslo.",
    ):
        assert lives({"speaker": "Ana", "text": before}) == [("Ana", "Ghent")], before
    new = {"msgtype": "m.text", "body": TEXT}
    edit = MATRIX | {"content": {"body": "* I live in Rome", "m.new_content": new}}
    assert lives(edit) == [("@ana:example.org", "Ghent")]
    slack = {"type": "message", "subtype": "message_changed", "ts": "1.2"}
    parts = {"message": SLACK | {"user": "U0A1"}, "previous_message": SLACK | {"user": "U0B2"}}
    assert lives(slack | parts) == [("U0A1", "Ghent")]


TWO = [("Ana", "Ghent"), ("Ben", "Malmo")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ana: I live in Ghent\nBen: I live in Malmo", TWO),
        ("**Ana:** I live in Ghent\n\n**Ben:** Hi!\nI live in Malmo", TWO),
        ("- Ana (she/her): I live in Ghent\n- Ben: I live in Malmo", TWO),
        ("<Ana> I live in Ghent\n<Ben> I live in Malmo", TWO),
        ("[12/05/2023, 14:32] Ana: I live in Ghent\n[12/05/2023, 14:33] Ben: I live in Malmo", TWO),
        ("12.05.23, 14:32 - Ana: I live in Ghent\n12.05.23, 14:33 - Ben: I live in Malmo", TWO),
        ("Ana  10:32 AM\nI live in Ghent\nBen  10:33 AM\nI live in Malmo", TWO),
        ("WEBVTT\n\n00:01.0 --> 00:04.0\n<v Ana>I live in Ghent</v>\n<v Ben>I live in Malmo", TWO),
        (
            "Ana (U0A1): I live in Ghent\nAna (U0B2): I live in Malmo",
            [("Ana <U0A1>", "Ghent"), ("Ana <U0B2>", "Malmo")],
        ),
        (
            "Иван Петров: I live in Ghent\n王芳\uff1aI live in Malmo\n"
            "Juan de la Cruz: I live in Oslo",
            [("Иван Петров", "Ghent"), ("王芳", "Malmo"), ("Juan de la Cruz", "Oslo")],
        ),
        ("ana: Hi! I live in Ghent.\nben: Ok! I live in Malmo.", [(n.lower(), p) for n, p in TWO]),
        ("User: I live in Ghent\nAssistant: Hi! I live in the cloud.", [("user", "Ghent")]),
        ("Ana: I live in Ghent\nAI: Hi! I live in the cloud.", [("Ana", "Ghent")]),
        ("SPEAKER_00: I live in Ghent\nSPEAKER_01: I live in Malmo", []),
        ("A: I live in Ghent\nB: I live in Malmo", []),
        ("Name: Ana\nCity: Ghent\nBio: I live in Ghent", []),
        ("From: Ben\nSent: Monday\nTo: Ana\n\nI live in Ghent", []),
        ("00:01 --> 00:04\nI live in Ghent\n\n00:05 --> 00:06\nI live in Malmo", []),
        ("1.2.23, 9:32 - Ana: Hi\n1.2.23, 9:33 - +44 7700 900123: Hi! I live in Oslo", []),
    ],
)
def test_the_names_before_its_lines_speak_in_a_transcript(
    text: str, said: list[tuple[str, str]]
) -> None:
    """As it is, or as the text of a turn whose speaker has no name, where names come back.

    Proves: F2
    """
    assert lives(text) == lives({"role": "user", "content": f"{text}\n{text}"}) == said


@pytest.mark.parametrize("names", ["Update Reason", "Ana Ben", "Grund Neues", "王芳 理由", "Q1 Q2"])
def test_headings_of_a_message_are_no_speakers_and_are_told(names: str) -> None:
    """Words before colons speak where they take turns; what is lost without is counted.

    Proves: F2
    """
    one, two = names.split()
    text = f"{one}: I live in Ghent\n{two}: I like tea"
    for content in (
        {"role": "user", "content": text},
        {"speaker": "Cy", "content": text},
        {"messages": [{"speaker": "Cy", "text": "Hi"}, {"role": "user", "text": text}]},
    ):
        assert found_in(content) == ([], 2)
    for alone in (f"{one}: I live in Ghent", {"role": "user", "text": f"{two}: I live in Ghent"}):
        assert found_in(alone) == ([], 1)
    assert found_in(f"{one}: Hello!") == ([], 0)


@pytest.mark.parametrize(
    "text",
    [
        "Note: I live in Ghent",
        "FYI: I live in Ghent.",
        "I live in Ghent :)",
        "Ben: hello!\nI live in Ghent",
        "At 10:15 then. I live in Ghent.",
        "Please read https://example.org/a: it is good.\nI live in Ghent",
    ],
)
def test_a_colon_makes_no_transcript(text: str) -> None:
    """Words that begin a sentence, a smile, a time, an address. Proves: F2."""
    assert lives({"speaker": "Ana", "text": text}) == [("Ana", "Ghent")]


def test_among_named_people_who_has_no_name_is_not_the_user() -> None:
    """Proves: F2."""
    turns = [{"role": "user", "content": TEXT}, {"role": "user", "name": "Bo", "content": "Hi"}]
    assert lives({"messages": turns}) == []
    assert lives({"messages": turns[:1]}) == [("user", "Ghent")]


def test_every_known_format_tells_who_speaks_or_nobody() -> None:
    """Evidence reads the speaker as extraction does, and none of another format."""
    first = {"mem0": "ana", "OpenAI": "ana", "Slack": "U012AB3CDE"}
    for program, content in formats(TEXT).items():
        found = speaker_in(json.dumps(content))
        assert found is None or found == first.get(program) or found.startswith("Ana Silva")
    assert speaker_in('{"name": "Ana", "plan": "pro"}') is None


def test_an_id_is_compared_and_a_name_is_told() -> None:
    """Of Ana <U0A1>; what has no id in angle brackets is a name of its own. Proves: F2."""
    assert key_hash("Ana <U0A1>", "lives in") == key_hash("U0A1", "lives in")
    assert key_hash("Ana <U0A1>", "lives in") != key_hash("Ana <U0B2>", "lives in")
    assert key_hash("list <int>", "is") != key_hash("map <int>", "is")
    assert content_text("Ghent", None, "Ana <U0A1>", "lives in") == "Ana lives in Ghent"
    assert content_text("short", None, "list <int>", "is") == "list <int> is short"


@pytest.mark.parametrize(
    ("subject", "speaker", "borne_out"),
    [
        ("Ana <U0A1>", "Ana <U0A1>", 1.0),
        ("U0A1", "Ana <U0A1>", 1.0),
        ("U0A1", "U0A1", 1.0),
        ("@ana:example.org", "@ana:example.org", 1.0),
        ("Ana <U0A1>", "Ana <U0B2>", 0.0),
        ("U0A1", "U0B2", 0.0),
        ("Speaker 1", "Speaker 2", 0.0),
        ("Ana", "Ana <U0A1>", 1.0),
    ],
)
def test_words_bear_out_what_their_own_speaker_is_said_to_be(
    subject: str, speaker: str, borne_out: float
) -> None:
    """Two people of one name are two. Proves: F2."""
    claim = (subject, "lives in", '"Ghent"')
    assert supports(*claim, [TEXT], ["human_input"], [""], [speaker]) == [borne_out]
