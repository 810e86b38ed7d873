"""`memwarden evaluate gates --writes`: what becomes of labelled pairs, by real writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from client.test_command_line import run
from memwarden.evaluation.gates.corpus import read_folder
from memwarden.evaluation.gates.templates import corrections, other_things

# Written for this test, in the formats of others.
PAIRS = [
    ("The wall of the mill is red.", "The wall of the mill is green.", "contradiction"),
    ("A wall of the mill is red.", "A wall of the mill is green.", "contradiction"),
    (
        "The small boat is in the old harbour.",
        "The little boat is in the old harbour.",
        "entailment",
    ),
    ("The miller sells flour.", "The baker burns wood.", "neutral"),
]
TALE = [
    {
        "observation": {
            "session_1": {
                "Mira": [["Mira has no pets.", "D1:1"], ["Mira likes the pets of Omar.", "D1:2"]],
                "Omar": [["Omar has three pets.", "D1:3"]],
            }
        }
    }
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a few pairs and notes."""
    names = ("sentence1", "sentence2", "gold_label")
    lines = [json.dumps(dict(zip(names, pair, strict=True))) for pair in PAIRS]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    (tmp_path / "tale.json").write_text(json.dumps(TALE))
    (tmp_path / "other.json").write_text('{"turns": []}')
    return tmp_path


def test_pairs_and_notes_are_written_as_the_gates_are_shipped(
    server_dsn: str, folder: Path
) -> None:
    """Nothing that is news is refused or takes the place of something else.

    Proves: Z8, V4, V5, V10, D6
    """
    command = ("evaluate", "gates", "--data", str(folder), "--writes", "--only", "60")
    ran = run(*command, "--json", dsn=server_dsn)
    assert (ran.returncode, ran.stderr) == (0, "")
    rows = {(row["set"], row["label"]): row for row in json.loads(ran.stdout)}
    fates = {key: row["fates"] for key, row in rows.items()}
    assert fates["Breaking_NLI", "contradiction"] == {"replaced": 1, "marked": 1}
    assert fates["Breaking_NLI", "neutral"] == {"stored": 1}
    assert fates["LoCoMo", "note"] == {"stored": 3}
    things, newer = rows["our own", "other thing"], rows["our own", "correction"]
    assert things["lost"] == newer["lost"] == 0
    assert things["fates"]["stored"] > 0.9 * things["pairs"]
    assert set(newer["fates"]) <= {"replaced", "marked", "stored"}
    assert newer["right"] > 0.8 * newer["pairs"]

    shown = run(*command, dsn=server_dsn)
    assert "| our own | other thing |" in shown.stdout


def test_our_own_pairs_are_many_and_the_same_every_time() -> None:
    """Proves: V10, V4 (no false alarms)."""
    for pairs, least in ((other_things(), 600), (corrections(), 60)):
        assert len(set(pairs)) == len(pairs) >= least
        assert all(pair.new != pair.old for pair in pairs)
    assert other_things() == other_things()


@pytest.mark.parametrize("document", [[], {"observation": 1}, "{", [{"observation": {"s": []}}]])
def test_a_file_without_notes_has_none(folder: Path, document: Any) -> None:
    """Proves: Z8."""
    (folder / "tale.json").write_text(document if document == "{" else json.dumps(document))
    assert read_folder(folder).notes == []
