"""The evaluation of the judge counts what labelled pairs and verdicts agree on."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memwarden.evaluation.gates.categories import Asked
from memwarden.evaluation.gates.corpus import NotLabelled, Pair, Scene, read_folder
from memwarden.evaluation.gates.plot import contradictions, draw, merges
from memwarden.evaluation.gates.rates import BUILT_IN, SIMILARITY, Rate, Report, Row, evaluate
from memwarden_core.language.wordnet import Dictionary

NLI = [
    ("The wall is red.", "The wall is green.", "contradiction"),
    ("The wall is zesty.", "The wall is bold.", "contradiction"),
    ("The sofa is red.", "The couch is red.", "entailment"),
    ("The wall is red.", "A bus is late.", "neutral"),
]
SICK = (
    "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    "1\tA dog is not asleep\tA dog is asleep\t3\tCONTRADICTION\n"
    "2\tA black dog is asleep\tA dog is asleep\t4\tENTAILMENT\n"
)
MRPC = (
    "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\tAna sings.\tana sings\n0\t1\t2\tA\tB\n"
)
LETTA = {
    "facts": ["Ana Lee was born in Rome.", "Bo Kay plays chess."],
    "contradicting_facts": ["Ana Lee was born in Oslo.", "Zed runs."],
    "supporting_fact_indices": [[0], [1]],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file in each format, and others."""
    lines = [
        json.dumps({"sentence1": one, "sentence2": two, "gold_label": label})
        for one, two, label in NLI
    ]
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs/nli.jsonl").write_text("\n".join(lines))
    (tmp_path / "pairs/sick.txt").write_text(SICK)
    (tmp_path / "pairs/mrpc.tsv").write_text("\ufeff" + MRPC, encoding="utf-8")
    (tmp_path / "letta.jsonl").write_text(json.dumps(LETTA))
    (tmp_path / "notes.txt").write_text("nothing\tlabelled")
    (tmp_path / "other.json").write_text("{")
    return tmp_path


def row(report: Report, data: str, judge: str, threshold: float) -> Row:
    """One of the rows of a report."""
    return next(
        r for r in report.rows if (r.data, r.judge, r.threshold) == (data, judge, threshold)
    )


def test_four_formats_are_read_and_other_files_passed_over(folder: Path) -> None:
    """Proves: Z8."""
    corpus = read_folder(folder)
    assert {name: len(pairs) for name, pairs in corpus.pairs.items()} == {
        "Breaking_NLI": 4,
        "SICK": 2,
        "MRPC": 2,
    }
    assert corpus.pairs["MRPC"] == [
        Pair("Ana sings.", "ana sings", "duplicate"),
        Pair("A", "B", "other"),
    ]
    assert corpus.scenes == [
        Scene(
            ("Ana Lee was born in Rome.", "Bo Kay plays chess."),
            (("Ana Lee was born in Oslo.", frozenset({0})), ("Zed runs.", frozenset({1}))),
        )
    ]


def test_errors_of_both_kinds_are_counted(folder: Path) -> None:
    """Proves: Z8."""
    report = evaluate(read_folder(folder))
    nli = row(report, "Breaking_NLI", BUILT_IN, 0.85)
    assert nli.false_same == nli.false_merge == Rate(0, 3)
    assert nli.missed_merge == Rate(0, 1)
    assert nli.false_contradiction == Rate(0, 1)
    assert nli.contradicted_same == Rate(0, 1)
    assert nli.missed_contradiction == Rate(1, 2)
    sick = row(report, "SICK", BUILT_IN, 0.85)
    assert (sick.missed_merge, sick.missed_contradiction) == (Rate(0, 1), Rate(0, 1))
    near = row(report, "SICK", SIMILARITY, 0.7)
    assert near.false_merge == Rate(1, 1)
    assert near.missed_contradiction is None
    scene = report.scenes[0]
    assert (scene.detected, scene.right_target) == (Rate(1, 2), Rate(1, 1))
    assert scene.alarms == Rate(0, 2)
    assert report.copies.count == 0
    # One of Breaking_NLI and one of MRPC.
    neutral = report.neutral[0]
    assert (neutral.threshold, neutral.flagged, neutral.refused) == (0.85, Rate(0, 2), Rate(0, 2))


def test_of_neutral_pairs_it_counts_what_is_flagged_and_what_would_be_refused(
    tmp_path: Path,
) -> None:
    """Over all sets together: two beds may be two beds, the one door is open or closed.

    Proves: Z8
    """
    pairs = [
        ("A man buys a red bed.", "A man buys a blue bed."),
        ("The door is open.", "The door is closed."),
        ("A bus is late.", "The wall is red."),
    ]
    lines = [
        json.dumps({"sentence1": one, "sentence2": two, "gold_label": "neutral"})
        for one, two in pairs
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    report = evaluate(read_folder(tmp_path))
    assert (report.neutral[0].flagged, report.neutral[0].refused) == (Rate(2, 3), Rate(1, 3))
    assert "| 0.85 | 66.7 % (2 of 3) | 33.3 % (1 of 3) |" in report.as_markdown()
    plain = json.loads(json.dumps(report.as_json()))
    assert plain["neutral"][0]["refused"] == {"count": 1, "total": 3, "share": 1 / 3}


def test_a_report_is_json_tables_and_a_picture(folder: Path) -> None:
    """Proves: Z8."""
    report = evaluate(read_folder(folder))
    plain = json.loads(json.dumps(report.as_json()))
    first = next(row for row in plain["rows"] if row["data"] == "Breaking_NLI")
    assert first["missed_contradiction"] == {"count": 1, "total": 2, "share": 0.5}
    table = report.as_markdown()
    assert "| Breaking_NLI | built-in | 0.85 | 0.0 % (0 of 3)" in table
    assert "| 0.85 | 50.0 % (1 of 2) | 100.0 % (1 of 1) | 0.0 % (0 of 2) |" in table
    picture = ElementTree.fromstring(draw(report))
    circles = picture.iter("{http://www.w3.org/2000/svg}circle")
    points = [p for c in merges(report) + contradictions(report) for p in c.points]
    assert len(list(circles)) == len(points) > 0


@pytest.mark.parametrize("text", ["{", "[]", '{"gold_label": "neutral"}', '{"other": 1}'])
def test_other_json_lines_are_refused(tmp_path: Path, text: str) -> None:
    """Proves: Z8."""
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(NotLabelled):
        read_folder(tmp_path)


def test_a_folder_without_pairs_is_refused(tmp_path: Path) -> None:
    """Proves: Z8."""
    (tmp_path / "a.txt").write_text("nothing")
    with pytest.raises(NotLabelled):
        read_folder(tmp_path)


# Tens of thousands of pairs: beside other work a slow machine takes minutes.
@pytest.mark.timeout(1200)
def test_the_judge_does_well_on_data_of_others(data: Path, wordnet: Dictionary) -> None:
    """Proves: Z8, V4 (false alarms), D1 (no contradiction is merged, copies are found)."""
    report = evaluate(read_folder(data), Asked(wordnet))
    for name in ("Breaking_NLI", "SICK"):
        pairs = row(report, name, BUILT_IN, 0.85)
        assert pairs.false_same.count <= 0.01 * pairs.false_same.total
        assert pairs.missed_contradiction is not None
        assert pairs.missed_contradiction.count <= 0.2 * pairs.missed_contradiction.total
    assert row(report, "MRPC", BUILT_IN, 0.85).false_same.count == 0
    neutral = row(report, "SICK", BUILT_IN, 0.85).false_contradiction
    assert neutral is not None
    assert neutral.count <= 0.05 * neutral.total
    assert report.neutral[0].flagged.count <= 0.05 * report.neutral[0].flagged.total
    assert report.neutral[0].refused.count == 0
    assert report.copies.count == 0
    scene = report.scenes[0]
    assert scene.detected.count >= 0.35 * scene.detected.total
    assert scene.right_target.count >= 0.95 * scene.right_target.total
    assert scene.alarms.count <= 0.01 * scene.alarms.total
