"""How well a scanner finds what is sensitive: labelled texts in, precision and recall out.

Two file formats are read: texts with the spans of their entities (as DataFog labels them: `input`,
`expected_entities`), and values of an agent's memory that a guard must stop or let pass (as OWASP
Agent Memory Guard labels them: `value`, `should_detect`, `category`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

# What the labels of others are called here. Labels that are not named are not looked for.
KINDS = {
    "EMAIL": "pii.email",
    "PHONE": "pii.phone",
    "CREDIT_CARD": "pii.card",
    "SSN": "pii.ssn",
    "IP_ADDRESS": "pii.ip",
    "IBAN": "pii.iban",
    "DE_IBAN": "pii.iban",
    "VAT_ID": "pii.vat",
    "DE_VAT_ID": "pii.vat",
}
_SAME_KIND = {"pii.special_ip": "pii.ip"}
_INSTRUCTIONS = frozenset(["prompt_injection", "memory_persistence"])


class NotLabelled(ValueError):
    """A file in neither format, or a folder without one."""


class Found(NamedTuple):
    """A place that the scanner reports; `start` counts characters from 0."""

    kind: str
    level: str
    start: int
    length: int


Scan = Callable[[str], Sequence[Found]]


class LabelledText(NamedTuple):
    """A text and the (label, start, end) of each entity in it."""

    text: str
    entities: tuple[tuple[str, int, int], ...]


class JudgedValue(NamedTuple):
    """A memory value, whether it must be found, and what it stands for."""

    text: str
    is_bad: bool
    category: str


@dataclass(frozen=True)
class Corpus:
    """What the files of a folder hold."""

    texts: list[LabelledText] = field(default_factory=list)
    values: list[JudgedValue] = field(default_factory=list)


@dataclass(frozen=True)
class KindScore:
    """One kind of entity: how many are labelled, how many found, how many of both in one place."""

    kind: str
    labelled: int
    found: int
    right: int

    @property
    def precision(self) -> float | None:
        """The share of what was found that is labelled; None when nothing was found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """The share of what is labelled that was found; None when nothing is."""
        return self.right / self.labelled if self.labelled else None


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    what: str
    count: int
    total: int

    @property
    def share(self) -> float | None:
        """From 0 to 1, None of nothing."""
        return self.count / self.total if self.total else None


@dataclass(frozen=True)
class Report:
    """What an evaluation comes to."""

    kinds: list[KindScore]
    shares: list[Share]
    not_looked_for: dict[str, int]

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        return {
            "kinds": [
                vars(kind) | {"precision": kind.precision, "recall": kind.recall}
                for kind in self.kinds
            ],
            "shares": [vars(share) | {"share": share.share} for share in self.shares],
            "not_looked_for": self.not_looked_for,
        }


def read_folder(folder: Path) -> Corpus:
    """Return what the folder's JSON files hold. Raises: NotLabelled."""
    corpus = Corpus()
    for path in sorted(folder.glob("*.json")):
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise NotLabelled(f"{path.name} is no JSON file") from None
        if not isinstance(entries, list):
            raise NotLabelled(f"{path.name} holds no list")
        for entry in entries:
            try:
                _add(corpus, entry)
            except (KeyError, TypeError, ValueError):
                raise NotLabelled(f"{path.name}: an entry in neither format") from None
    if not (corpus.texts or corpus.values):
        raise NotLabelled("there is no labelled text in the folder")
    return corpus


def _add(corpus: Corpus, entry: dict[str, Any]) -> None:
    if "input" in entry:
        spans = tuple(
            (str(e["type"]), int(e["start"]), int(e["end"])) for e in entry["expected_entities"]
        )
        corpus.texts.append(LabelledText(entry["input"], spans))
        return
    value = entry["value"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    corpus.values.append(JudgedValue(text, bool(entry["should_detect"]), str(entry["category"])))


def evaluate(corpus: Corpus, scan: Scan) -> Report:
    """Scan the corpus and compare.

    An entity is found when a finding of its kind covers exactly its characters. Findings of level
    `none` count for entities and never as a false alarm.
    """
    labelled: Counter[str] = Counter()
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    others: Counter[str] = Counter()
    clean = alarms = 0
    for text in corpus.texts:
        findings = scan(text.text)
        expected = {(KINDS[t], s, e) for t, s, e in text.entities if t in KINDS}
        others.update(t for t, _, _ in text.entities if t not in KINDS)
        places = {
            (_SAME_KIND.get(f.kind, f.kind), f.start, f.start + f.length)
            for f in findings
            if _SAME_KIND.get(f.kind, f.kind) in KINDS.values()
        }
        labelled.update(kind for kind, _, _ in expected)
        found.update(kind for kind, _, _ in places)
        right.update(kind for kind, _, _ in expected & places)
        if not text.entities:
            clean += 1
            alarms += _alarms(findings)
    kinds = [
        KindScore(kind, labelled[kind], found[kind], right[kind])
        for kind in sorted(set(KINDS.values()))
        if labelled[kind] or found[kind]
    ]
    shares = [Share("false alarms: texts without an entity", alarms, clean)] if clean else []
    return Report(kinds, shares + _judged(corpus.values, scan), dict(sorted(others.items())))


def _alarms(findings: Iterable[Found]) -> bool:
    return any(f.level != "none" for f in findings)


def _judged(values: Iterable[JudgedValue], scan: Scan) -> list[Share]:
    """Return how many values of each category were found, and how many good ones too."""
    total: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    for value in values:
        findings = scan(value.text)
        name = f"found: {value.category}" if value.is_bad else "false alarms: benign values"
        total[name] += 1
        if value.is_bad and value.category in _INSTRUCTIONS:
            findings = [f for f in findings if f.kind.startswith(("injection.", "invisible."))]
        caught[name] += _alarms(findings)
    return [Share(name, caught[name], total[name]) for name in sorted(total, reverse=True)]
