"""Labelled pairs of texts, in the formats of others, as the gates of a write would meet them.

Read are Breaking_NLI (JSON lines, `sentence1`, `sentence2`, `gold_label`), SICK (tabs,
`sentence_A`, `sentence_B`, `entailment_judgment`), MRPC (tabs, `Quality`, two strings), the
questions of the Letta leaderboard (JSON lines, `facts`, `contradicting_facts`) and the notes that
people took of LoCoMo's conversations (JSON, `observation`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class NotLabelled(ValueError):
    """A folder without a file in one of the formats, or a file that breaks off in one."""


class Pair(NamedTuple):
    """Two texts and what they are to each other.

    ``label`` is `duplicate`, `entailment` (the first says all that the second says), `neutral`,
    `contradiction` or `other` (not the same, and nobody said whether it contradicts).
    """

    new: str
    old: str
    label: str
    category: str = ""
    """Of what kind the words are in which they differ, where the set says so."""


class Scene(NamedTuple):
    """Facts that agree, and others that each contradict some of them, by their places."""

    facts: tuple[str, ...]
    against: tuple[tuple[str, frozenset[int]], ...]


@dataclass(frozen=True)
class Corpus:
    """What the files of a folder hold: pairs by the name of their set, scenes, and notes.

    ``notes``: for each conversation what was noted of it, in order; all of it is true.
    """

    pairs: dict[str, list[Pair]] = field(default_factory=dict)
    scenes: list[Scene] = field(default_factory=list)
    notes: list[list[str]] = field(default_factory=list)


def read_folder(folder: Path) -> Corpus:
    """Return what the files in a folder and below it hold; other files are passed over.

    Raises: NotLabelled.
    """
    corpus = Corpus()
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".json" and path.is_file():
            corpus.notes.extend(_notes(path))
            continue
        reader = {".jsonl": _json_lines, ".tsv": _tabs, ".txt": _tabs}.get(path.suffix)
        if reader is None or not path.is_file():
            continue
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
            for name, found in reader(lines):
                if isinstance(found, Scene):
                    corpus.scenes.append(found)
                else:
                    corpus.pairs.setdefault(name, []).append(found)
        except (OSError, KeyError, IndexError, TypeError, ValueError):
            raise NotLabelled(f"{path.name}: a line in none of the formats") from None
    if not (corpus.pairs or corpus.scenes):
        raise NotLabelled("there are no labelled pairs in the folder")
    return corpus


def _notes(path: Path) -> list[list[str]]:
    """The notes of the conversations in a file; none where it is something else."""
    try:
        talks = json.loads(path.read_text(encoding="utf-8"))
        return [
            [
                note[0]
                for session in talk["observation"].values()
                for said in session.values()
                for note in said
            ]
            for talk in talks
        ]
    except (OSError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return []


def _json_lines(lines: list[str]) -> Iterator[tuple[str, Pair | Scene]]:
    for line in filter(str.strip, lines):
        entry = json.loads(line)
        if "gold_label" in entry:
            label = entry["gold_label"]
            # One word is changed for another that means the same: a duplicate.
            label = "duplicate" if label == "entailment" else label
            category = str(entry.get("category", ""))
            yield "Breaking_NLI", Pair(entry["sentence1"], entry["sentence2"], label, category)
        elif "contradicting_facts" in entry:
            yield "Letta", _scene(entry)
        else:
            raise NotLabelled("a line in none of the formats")


def _scene(entry: dict[str, Any]) -> Scene:
    against = zip(entry["contradicting_facts"], entry["supporting_fact_indices"], strict=True)
    return Scene(
        tuple(entry["facts"]), tuple((text, frozenset(places)) for text, places in against)
    )


def _tabs(lines: list[str]) -> Iterator[tuple[str, Pair]]:
    header = lines[0].split("\t") if lines else []
    if "entailment_judgment" in header:
        one, other = header.index("sentence_A"), header.index("sentence_B")
        label = header.index("entailment_judgment")
        for line in filter(str.strip, lines[1:]):
            cells = line.split("\t")
            yield "SICK", Pair(cells[one], cells[other], cells[label].lower())
    elif header[:1] == ["Quality"]:
        for line in filter(str.strip, lines[1:]):
            cells = line.split("\t")
            yield "MRPC", Pair(cells[3], cells[4], "duplicate" if cells[0] == "1" else "other")
