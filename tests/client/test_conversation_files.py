"""Conversation files are read as they are, and what is not one is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memwarden.demo.conversation import NotAConversation, load
from memwarden.demo.writes import captures_of, requests_of, scope_of


def _conversation(**changes: Any) -> dict[str, Any]:
    return {
        "sample_id": "Test 1/ä",
        "conversation": {
            "speaker_a": "A",
            "speaker_b": "B",
            "session_10_date_time": "11:05 am on 3 May, 2024",
            "session_10": [{"speaker": "B", "dia_id": "D10:1", "text": "later"}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [{"speaker": "A", "dia_id": "D2:1", "text": "first", "img_url": []}],
        },
        "observation": {"session_2_observation": {"A": [["fact", ["D2:1", "D10:1"]]]}},
        "qa": [
            {"question": "?", "answer": 2022, "evidence": ["D2:1; D10:1"], "category": 1},
            {"question": "?", "adversarial_answer": "x", "evidence": [], "category": 5},
        ],
    } | changes


def _load(tmp_path: Path, document: object) -> Any:
    path = tmp_path / "conversation.json"
    path.write_text(json.dumps(document))
    return load(path)


def test_the_sample_has_turns_changing_facts_repeats_and_questions() -> None:
    """And all evidence it cites exists."""
    [sample] = load(None)
    known = {turn.dia_id for turn in sample.turns}
    assert 80 <= len(sample.turns) <= 100
    assert len(sample.observations) >= 40
    assert len(sample.questions) >= 12
    cited = [each.dia_ids for each in sample.observations]
    cited += [each.dia_ids for each in sample.questions]
    assert all(ids and known.issuperset(ids) for ids in cited)
    predicates = [each.predicate for each in sample.observations if each.predicate]
    assert len(predicates) > len(set(predicates)) > 2


def test_sessions_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """Not in that of the file, nor of their names."""
    [found] = _load(tmp_path, [_conversation()])
    assert [turn.text for turn in found.turns] == ["first", "later"]
    assert found.turns[0].said_at.isoformat() == "2023-05-08T13:56:00+00:00"


def test_evidence_may_be_one_id_a_list_or_text_with_several(tmp_path: Path) -> None:
    """LoCoMo files have all three."""
    [found] = _load(tmp_path, _conversation())
    assert found.observations[0].dia_ids == ("D2:1", "D10:1")
    assert [each.dia_ids for each in found.questions] == [("D2:1", "D10:1"), ()]
    assert [each.answer for each in found.questions] == ["2022", "x"]


def test_turns_become_episodes_and_observations_facts_with_their_turns_as_evidence(
    tmp_path: Path,
) -> None:
    """Names become paths that every server takes."""
    [found] = _load(tmp_path, _conversation())
    heard = {turn.dia_id: uuid4() for turn in found.turns}
    first, _, fact = requests_of(found, heard)
    assert (first.layer, first.subject, fact.layer, fact.subject) == (
        "episodic",
        "A",
        "semantic",
        "A",
    )
    assert fact.evidence[0] == {"uri": f"memwarden:capture/{heard['D2:1']}"}
    said = next(captures_of(found))
    assert (said["external_id"], said["content"]["speaker"]) == ("Test 1/ä/D2:1", "A")
    assert scope_of(found) == "/org/demo/domain/test-1"


@pytest.mark.parametrize(
    "document",
    [
        [],
        "text",
        [1],
        {},
        {"conversation": {}},
        _conversation(conversation={"session_1": [{}], "session_1_date_time": "yesterday"}),
        _conversation(qa=[{}]),
        _conversation(observation={"session_2_observation": {"A": [["fact"]]}}),
    ],
    ids=str,
)
def test_a_file_of_another_format_is_named_as_the_problem(tmp_path: Path, document: object) -> None:
    """With the place where it differs."""
    with pytest.raises(NotAConversation, match=r"conversation\.json"):
        _load(tmp_path, document)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", None], ids=repr)
def test_a_file_that_cannot_be_read_is_named_as_the_problem(
    tmp_path: Path, content: bytes | None
) -> None:
    """Absent, empty, cut off, or no text."""
    path = tmp_path / "conversation.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NotAConversation, match=r"conversation\.json"):
        load(path)
