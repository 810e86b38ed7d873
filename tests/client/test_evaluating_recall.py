"""`memwarden evaluate recall`: conversations in, how much of the evidence is found out."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from client.test_command_line import run
from memwarden.demo.conversation import NotAConversation
from memwarden.evaluation.recall.corpus import read_talks
from memwarden.evaluation.recall.plot import draw
from memwarden.evaluation.recall.rates import Figures, Report, Row, held_out, measured
from memwarden.evaluation.recall.unknown import parts, threshold

# Written for these tests, in the formats of others.
SAID = [
    ("Ana", "My sister Rosa keeps bees on her roof."),
    ("Bo", "How lovely! I have never seen a hive from near."),
    ("Ana", "The dentist moved my appointment to Friday."),
    ("Bo", "Then let us go swimming on Thursday."),
]
NESTED: list[dict[str, Any]] = [
    {
        "sample_id": "bees",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": speaker, "dia_id": f"D1:{number}", "text": text}
                for number, (speaker, text) in enumerate(SAID[:2], start=1)
            ],
            "session_2_date_time": "3:10 pm on 9 May, 2023",
            "session_2": [
                {"speaker": speaker, "dia_id": f"D2:{number}", "text": text}
                for number, (speaker, text) in enumerate(SAID[2:], start=1)
            ],
        },
        "qa": [
            {"question": "Who keeps bees?", "answer": "Rosa", "evidence": ["D1:1"], "category": 4},
            {"question": "When is the dentist?", "evidence": ["D2:1; D9:9"], "category": 2},
            {"question": "What is the weather?", "evidence": [], "category": 5},
        ],
    }
]
FLAT = {
    "turns": [
        {
            "sid": "bees",
            "dia": f"D{1 + n // 2}:{1 + n % 2}",
            "date": NESTED[0]["conversation"][f"session_{1 + n // 2}_date_time"],
            "text": f"{who}: {text}",
        }
        for n, (who, text) in enumerate(SAID)
    ],
    "questions": [
        {"sid": "bees", "n": n, "q": q["question"], "cat": q["category"], "ev": ev}
        for n, (q, ev) in enumerate(zip(NESTED[0]["qa"], (["D1:1"], ["D2:1"], []), strict=True))
    ],
}
LONG = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Who keeps bees?",
        "answer": "Rosa",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": [
            [
                {"role": "user", "content": SAID[0][1], "has_answer": True},
                {"role": "assistant", "content": "Bees are fine animals.", "has_answer": False},
            ],
            [{"role": "user", "content": SAID[2][1]}],
        ],
        "answer_session_ids": ["s1"],
    }
]


def put(folder: Path, document: Any) -> Path:
    """Write it to a file."""
    path = folder / "data.json"
    path.write_text(json.dumps(document))
    return path


def test_nested_and_flattened_are_one_conversation(tmp_path: Path) -> None:
    """Turns bear their speakers; evidence that names no turn is left out."""
    nested = read_talks(put(tmp_path, NESTED))
    assert nested == read_talks(put(tmp_path, FLAT))
    [talk] = nested
    assert [turn.name for turn in talk.turns] == ["D1:1", "D1:2", "D2:1", "D2:2"]
    assert talk.turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert talk.turns[0].text == "Ana: My sister Rosa keeps bees on her roof."
    assert [question.kind for question in talk.questions] == ["one turn", "time", "adversarial"]
    assert [set(question.turns) for question in talk.questions] == [{"D1:1"}, {"D2:1"}, set()]


def test_longmemeval_tells_evidence_by_turn_and_by_session(tmp_path: Path) -> None:
    """Each question has a haystack of its own."""
    [talk] = read_talks(put(tmp_path, LONG))
    assert [turn.name for turn in talk.turns] == ["s1:1", "s1:2", "s2:1"]
    assert talk.turns[2].at == datetime(2023, 5, 21, 2, 21, tzinfo=UTC)
    [question] = talk.questions
    assert question.kind == "single-session-user"
    assert (set(question.turns), set(question.sessions)) == ({"s1:1"}, {"s1"})


@pytest.mark.parametrize("document", [{}, [], [{"conversation": {}}], {"turns": []}, "text", 1])
def test_other_files_are_refused(tmp_path: Path, document: Any) -> None:
    """With words, not with a trace."""
    with pytest.raises(NotAConversation):
        read_talks(put(tmp_path, document))
    ran = run("evaluate", "recall", "--data", str(put(tmp_path, document)))
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


def test_figures_of_a_question() -> None:
    """Two pieces of evidence, one found second, one missing."""
    wanted = frozenset({"a", "b"})
    found = [frozenset({"x"}), frozenset({"a"}), frozenset({"a", "y"})]
    figures = measured(wanted, found)
    assert figures[:3] == (0.0, 0.5, 0.5)
    assert figures.reciprocal_rank == 0.5
    assert figures.ndcg_10 == pytest.approx(0.6309 / (1 + 0.6309), abs=1e-4)
    assert measured(wanted, [wanted]) == Figures(1, 1, 1, 1, 1)
    assert measured(wanted, []) == Figures(0, 0, 0, 0, 0)


def test_a_weight_is_chosen_on_the_others() -> None:
    """What is best for a conversation does not count where it is measured on that one."""

    def row(mode: str, **talks: float) -> Row:
        by_talk = {talk: Figures(0, 0, share, 0, 0) for talk, share in talks.items()}
        return Row(mode, 1, Figures(0, 0, 0, 0, 0), {}, by_talk)

    rows = [row("low", a=0.9, b=0.2, c=0.2), row("high", a=0.1, b=0.8, c=0.8)]
    chosen = held_out(rows)
    assert chosen is not None
    assert chosen.recall_10 == pytest.approx((0.1 + 0.2 + 0.2) / 3)
    assert held_out([row("low", a=0.9)]) is None


def test_the_database_is_asked(server_dsn: str, tmp_path: Path) -> None:
    """The whole command, into a database of its own, twice. Proves: Q2."""
    picture = tmp_path / "recall.svg"
    path = put(tmp_path, NESTED)
    command = ("evaluate", "recall", "--data", str(path), "--plot", str(picture))
    ran = run(*command, "--json", dsn=server_dsn)
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads(ran.stdout)
    assert (report["talks"], report["turns"], report["refused"]) == (1, 4, 0)
    default = {row["mode"]: row for row in report["by_turn"]}["default, without embeddings"]
    assert default["questions"] == 2
    assert default["all"]["recall@1"] == 1.0
    assert set(default["by_kind"]) == {"one turn", "time"}
    assert picture.read_text().startswith("<svg")

    put(tmp_path, LONG)
    shown = run(*command, dsn=server_dsn)
    assert shown.returncode == 0
    assert "| by turn, 1 questions |" in shown.stdout
    assert "| by session, 1 questions |" in shown.stdout
    assert "| keyword alone | 1.000 |" in shown.stdout


def test_a_conversation_is_cut_into_stores(tmp_path: Path) -> None:
    """Each has the questions that it answers; those that mislead are in none."""
    [talk] = read_talks(put(tmp_path, NESTED))
    stores = parts(talk, 2)
    assert [[turn.name for turn in store.turns] for store in stores] == [
        ["D1:1", "D1:2"],
        ["D2:1", "D2:2"],
    ]
    assert [[q.text for q in store.questions] for store in stores] == [
        ["Who keeps bees?"],
        ["When is the dentist?"],
    ]
    assert [len(store.turns) for store in parts(talk, None)] == [4]
    assert threshold(n / 100 for n in range(100)) == 0.02


def test_what_is_not_known_is_counted(server_dsn: str, tmp_path: Path) -> None:
    """Questions of one conversation are answered there, and unknown in the other. Proves: Q2."""
    talk = NESTED[0]["conversation"]
    said = ("The ferry to Bergen sails at noon.", "Take a warm coat along.")
    turns = [
        {"speaker": "Kim", "dia_id": f"D1:{n}", "text": text}
        for n, text in enumerate(said, start=1)
    ]
    asked = {"question": "When does the ferry sail?", "evidence": ["D1:1"], "category": 4}
    ferry = {"sample_id": "ferry", "conversation": talk | {"session_1": turns}, "qa": [asked]}
    del ferry["conversation"]["session_2"]
    path = put(tmp_path, [*NESTED, ferry])
    ran = run("evaluate", "unknown", "--data", str(path), "--json", dsn=server_dsn)
    assert (ran.returncode, ran.stderr) == (0, "")
    rows = json.loads(ran.stdout)["rows"]
    assert [(row["size"], row["questions"]) for row in rows] == [
        (5, 3),
        (50, 3),
        (500, 3),
        (None, 3),
    ]
    assert all(row["shipped"] == {"lost": 0, "silent": 1} for row in rows)


def test_the_picture_has_a_bar_for_each_way() -> None:
    """It is SVG."""
    figures = Figures(0.25, 0.5, 0.75, 0.5, 0.5)
    row = Row("words & vectors", 1, figures, {}, {})
    picture = draw(Report(1, 1, 0, [row], []))
    assert "words &amp; vectors" in picture
    assert "0.250" in picture
    assert "0.750" in picture
