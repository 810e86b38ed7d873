"""How far the excerpt of a turn bears out a note about it: right pairs and wrong ones.

Right is a note with the turns that it was taken from. Wrong is the note with another turn of the
same speaker, or with its own turn but a number changed, the name swapped, or a denial or a part
added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, mean, median

from memwarden.demo.conversation import Conversation, NotAConversation, Observation, Turn
from memwarden_core.language.words import word_set
from memwarden_core.support.gist import CONTRADICTED
from memwarden_core.support.judge import supports

THRESHOLDS = (0.8, 0.6)
MOST_WRONG = 0.05
_OTHERS = 3
_NUMBERS = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "twenty",
    "thirty",
]
_NUMBER = re.compile(rf"\d+|\b(?:{'|'.join(_NUMBERS)})\b")
_PARTS = [
    "is a vegetarian",
    "works as a nurse",
    "owns a boat",
    "has two cats",
    "was born in Lisbon",
    "plays chess",
    "left the country",
    "speaks fluent Greek",
]
_AUXILIARY = word_set("is are was were has have had will would can could should does did")


@dataclass(frozen=True)
class Row:
    """What becomes of the pairs of one kind, as counts, by the thresholds of the layers."""

    conversation: str
    pairs: str
    total: int
    passed: dict[float, int]
    waiting: int
    """Neither borne out at 0.8 nor denied: a person decides."""
    denied: int
    median: float


@dataclass(frozen=True)
class LeftOut:
    """A conversation judged by a threshold that was chosen on the others.

    ``threshold`` is the least support that at most MOST_WRONG of the others' wrong pairs reach. The
    one called ``all`` is the mean of the others, weighed by their pairs.
    """

    conversation: str
    threshold: float
    right: float
    wrong: float
    auc: float


@dataclass(frozen=True)
class Report:
    """What an evaluation comes to."""

    rows: list[Row]
    left_out: list[LeftOut]

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        return {
            "rows": [
                vars(row) | {"passed": {f"{t:g}": n for t, n in row.passed.items()}}
                for row in self.rows
            ],
            "left_out": [vars(each) for each in self.left_out],
        }

    def as_markdown(self) -> str:
        """Return it as tables."""
        head = (
            "conversation",
            "pairs",
            "number",
            "pass at 0.8",
            "pass at 0.6",
            "wait for a person",
        )
        lines = _table((*head, "denied", "median"), (_cells(row) for row in self.rows))
        lines += [
            "",
            *_table(
                ("left out", "threshold of the others", "right pass", "other turns pass", "AUC"),
                (
                    (
                        each.conversation,
                        f"{each.threshold:.2f}",
                        f"{100 * each.right:.1f} %",
                        f"{100 * each.wrong:.1f} %",
                        f"{each.auc:.3f}",
                    )
                    for each in self.left_out
                ),
            ),
        ]
        return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    def share(count: int) -> str:
        return f"{100 * count / row.total:.1f} % ({count})"

    passed = (share(row.passed[t]) for t in THRESHOLDS)
    counts = (share(row.waiting), share(row.denied))
    return (row.conversation, row.pairs, str(row.total), *passed, *counts, f"{row.median:.2f}")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def change_number(note: str) -> str:
    """Return a note with its first number changed; unchanged where it has none."""

    def other(found: re.Match[str]) -> str:
        if found[0].isdigit():
            return str(int(found[0]) + 3)
        return _NUMBERS[(_NUMBERS.index(found[0]) + 3) % len(_NUMBERS)]

    return _NUMBER.sub(other, note, count=1)


def swap_name(note: str, name: str, other: str) -> str:
    """Return a note with one name in the place of another."""
    return re.sub(rf"\b{re.escape(name)}\b", other, note)


def deny(note: str) -> str:
    """Return a note that says it is not so."""
    words = note.split()
    for place, word in enumerate(words[:8]):
        if word in _AUXILIARY:
            return " ".join((*words[: place + 1], "not", *words[place + 1 :]))
    verb = 1
    while verb < len(words) - 1 and (words[verb][0].isupper() or words[verb - 1].endswith("'s")):
        verb += 1
    if len(words) > verb and words[verb].endswith("s"):
        bare = words[verb].removesuffix("s")
        return " ".join((*words[:verb], "does", "not", bare, *words[verb + 1 :]))
    return f"It is not true that {note}"


def add_part(note: str, place: int) -> str:
    """Return a note that says one thing more, which nobody said."""
    return f"{note.rstrip('. ')} and {_PARTS[place % len(_PARTS)]}."


def support(note: str, turns: Sequence[Turn]) -> float:
    """How far turns bear out a note, as the server finds it where the speaker is told."""
    excerpts = [f"{turn.speaker}: {turn.text}" for turn in turns]
    found = supports(
        None,
        None,
        json.dumps({"text": note}),
        ["\n".join(excerpts)],
        ["human_input"],
        ["chat:1"],
    )
    return found[0]


def evaluate(conversations: Sequence[Conversation]) -> Report:
    """Judge every note of the conversations.

    Raises: NotAConversation, where they hold no notes with turns.
    """
    scores = {each.name: _scores(each) for each in conversations}
    scores = {name: kinds for name, kinds in scores.items() if kinds["right"]}
    if not scores:
        raise NotAConversation("it holds no observations that name the turns they rest on")
    rows: list[Row] = []
    for name, kinds in scores.items():
        rows += [_row(name, kind, found) for kind, found in kinds.items() if found]
    if len(scores) > 1:
        for kind in next(iter(scores.values())):
            together = [s for kinds in scores.values() for s in kinds[kind]]
            if together:
                rows.append(_row("all", kind, together))
    return Report(rows, _each_left_out(scores) if len(scores) > 1 else [])


def _scores(conversation: Conversation) -> dict[str, list[float]]:
    turns = {turn.dia_id: turn for turn in conversation.turns}
    speakers = list(dict.fromkeys(turn.speaker for turn in conversation.turns))
    kinds: dict[str, list[float]] = {
        "right": [],
        "another turn": [],
        "number changed": [],
        "name swapped": [],
        "denial added": [],
        "part added": [],
    }
    for place, note in enumerate(conversation.observations):
        cited = [turns[each] for each in note.dia_ids if each in turns]
        if not cited:
            continue
        kinds["right"].append(support(note.text, cited))
        for turn in _others(conversation, note, cited[0].speaker, place):
            kinds["another turn"].append(support(note.text, [turn]))
        for kind, changed in _changed(note, speakers, place).items():
            if changed != note.text:
                kinds[kind].append(support(changed, cited))
    return kinds


def _changed(note: Observation, speakers: Sequence[str], place: int) -> dict[str, str]:
    other = next((name for name in speakers if name != note.speaker), "Quentin")
    return {
        "number changed": change_number(note.text),
        "name swapped": swap_name(note.text, note.speaker, other),
        "denial added": deny(note.text),
        "part added": add_part(note.text, place),
    }


def _others(
    conversation: Conversation, note: Observation, speaker: str, place: int
) -> Iterable[Turn]:
    """Some turns of a speaker that a note does not rest on, from all over the conversation."""
    pool = [t for t in conversation.turns if t.speaker == speaker and t.dia_id not in note.dia_ids]
    if not pool:
        return []
    step = max(1, len(pool) // _OTHERS)
    chosen = {(place * 7 + n * step) % len(pool) for n in range(_OTHERS)}
    return [pool[n] for n in sorted(chosen)]


def _row(conversation: str, pairs: str, found: Sequence[float]) -> Row:
    passed = {t: sum(s >= t for s in found) for t in THRESHOLDS}
    denied = sum(s == CONTRADICTED for s in found)
    waiting = len(found) - passed[THRESHOLDS[0]] - denied
    return Row(conversation, pairs, len(found), passed, waiting, denied, median(found))


def _each_left_out(scores: dict[str, dict[str, list[float]]]) -> list[LeftOut]:
    """Every conversation by the threshold of the others, and all of them as one."""
    each = [_left_out(name, scores) for name in scores]
    rights = [len(kinds["right"]) for kinds in scores.values()]
    wrongs = [len(kinds["another turn"]) for kinds in scores.values()]
    together = LeftOut(
        "all",
        mean(one.threshold for one in each),
        fmean((one.right for one in each), rights),
        fmean((one.wrong for one in each), wrongs),
        fmean((one.auc for one in each), rights),
    )
    return [*each, together]


def _left_out(name: str, scores: dict[str, dict[str, list[float]]]) -> LeftOut:
    wrong = sorted(
        (s for other, kinds in scores.items() if other != name for s in kinds["another turn"]),
        reverse=True,
    )
    allowed = int(MOST_WRONG * len(wrong))
    above = wrong[allowed] if wrong else 0.0
    threshold = min((s for s in wrong if s > above), default=1.0)
    ours, others = scores[name]["right"], scores[name]["another turn"]

    def share(found: Sequence[float], test: Callable[[float], bool]) -> float:
        return sum(map(test, found)) / len(found) if found else 0.0

    def passes(score: float) -> bool:
        return score >= threshold

    return LeftOut(name, threshold, share(ours, passes), share(others, passes), auc(ours, others))


def auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The share of pairs of a right and a wrong score in which the right one is the greater."""
    if not right or not wrong:
        return 0.0
    greater = sum((r > w) + 0.5 * (r == w) for r in right for w in wrong)
    return greater / (len(right) * len(wrong))
