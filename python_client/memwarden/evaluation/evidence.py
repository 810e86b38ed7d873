"""Who is borne out by the rules of evidence: notes by their turns, turns by themselves, and twins.

A wrong pair must not be borne out. It is a note with another turn of the speaker, or with its own
turn after one change, or a made-up statement with a twin of it (see twins.py). Each pair is judged
twice: by a quote of the writer, and by captures that another login recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memwarden.demo.conversation import Conversation, NotAConversation, Observation, Turn
from memwarden.evaluation.twins import Twin, shapes, twins
from memwarden_core.evidence import Asked, weigh
from memwarden_core.language.words import word_set
from memwarden_core.support.judge import BORNE_OUT, DENIED, supports

MOST_WRONG = 0.01
"""At most so many of the wrong pairs of a kind may be borne out."""
_STATEMENTS = 1210
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


_ASKED = Asked(1, None, ("human_input",), 3e7, "2026-01-01T00:00:00Z", is_telling=False)
_SPEAKER = re.compile(r"([A-Z]\w+): (.*)", re.DOTALL)
Said = tuple[str | None, str]
"""Who speaks, where that is recorded, and what is said."""


@dataclass
class Row:
    """What becomes of the pairs of one kind, as counts; ``right`` says whether they are.

    ``supported`` and ``verified`` count memories that cite captures of another login, whose source
    is registered: how many stand so firmly, or firmer.
    """

    pairs: str
    right: bool
    total: int = 0
    borne_out: int = 0
    denied: int = 0
    supported: int = 0
    verified: int = 0

    @property
    def unclear(self) -> int:
        """Those that the rules cannot tell."""
        return self.total - self.borne_out - self.denied

    def add(self, pair: Pair) -> None:
        """Count one pair."""
        found, grounds = support(pair.claim, pair.quote, pair.subject), captured(pair)
        self.total += 1
        self.borne_out += found == BORNE_OUT
        self.denied += found == DENIED
        self.supported += bool(grounds)
        self.verified += any(ground.get("about_self") for ground in grounds)


@dataclass(frozen=True)
class Pair:
    """A claim, the quote that its writer gives for it, and the same words as captures."""

    claim: object
    quote: str
    captures: Sequence[Said]
    subject: str | None = None


@dataclass(frozen=True)
class Report:
    """What an evaluation comes to."""

    rows: list[Row]

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        return {"rows": [vars(row) | {"unclear": row.unclear} for row in self.rows]}

    def as_markdown(self) -> str:
        """Return it as a table."""
        head = (
            *("pairs", "right or wrong", "number", "borne out", "unclear", "denied"),
            *("supported by captures", "verified by captures"),
        )
        return "\n".join(_table(head, (_cells(row) for row in self.rows)))


def _cells(row: Row) -> tuple[str, ...]:
    def share(count: int) -> str:
        return f"{100 * count / row.total:.1f} % ({count})"

    found = (row.borne_out, row.unclear, row.denied, row.supported, row.verified)
    counts = (share(count) for count in found)
    return (row.pairs, "right" if row.right else "wrong", str(row.total), *counts)


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


def support(content: object, excerpt: str, subject: str | None = None) -> float:
    """Whether words of a person bear out a content, as the server finds it."""
    [found] = supports(subject, None, json.dumps(content), [excerpt], ["human_input"], ["chat:1"])
    return found


def captured(pair: Pair) -> list[dict[str, object]]:
    """Return the grounds that bear a pair out where an application captured what was said.

    They are what the server finds of captures that it looks up: a person's words, of a registered
    source. By the rules of standing each of them makes a memory supported, and one that is the
    speaker's about himself makes it verified.
    """
    known = [
        {
            "source_type": "human_input",
            "issuer_id": 2,
            "authority": 1,
            "weight": 1,
            "cited": {
                "kind": "capture",
                "capture_id": str(place),
                "uri": f"capture:chat/{place}",
                "excerpt": text,
                "issuer_id": 2,
                "recorder": 2,
                "speaker": speaker,
                "words_of": "person",
                "believed": True,
                "authority": 1,
                "independent": True,
            },
        }
        for place, (speaker, text) in enumerate(pair.captures)
    ]
    cited = json.dumps([{"uri": f"memwarden:capture/{each}"} for each in range(len(known))])
    found, *_ = weigh(pair.subject, None, json.dumps(pair.claim), cited, json.dumps(known), _ASKED)
    return [ground for ground in json.loads(found) if ground["support"] == BORNE_OUT]


def evaluate(conversations: Sequence[Conversation]) -> Report:
    """Judge every note and every turn of the conversations, and twins of made-up statements.

    Raises: NotAConversation, where they hold no notes with turns.
    """
    rows: dict[tuple[str, bool], Row] = {}

    def count(kind: str, pair: Pair, *, right: bool = False) -> None:
        rows.setdefault((kind, right), Row(kind, right)).add(pair)

    for conversation in conversations:
        for kind, right, pair in _notes(conversation):
            count(kind, pair, right=right)
    if not rows:
        raise NotAConversation("it holds no observations that name the turns they rest on")
    for conversation in conversations:
        for turn in conversation.turns:
            for shape, content, subject in shapes(turn.speaker, turn.text):
                said = [(turn.speaker, turn.text)]
                pair = Pair(content, turn.text, said, subject)
                count(f"a turn by itself: {shape}", pair, right=True)
    for twin in twins(_STATEMENTS):
        count(f"twin: {twin.kind}", twin_pair(twin), right=twin.right)
    return Report(list(rows.values()))


def twin_pair(twin: Twin) -> Pair:
    """Return a twin as a pair.

    Who is named before the words is the recorded speaker. Otherwise it is whom the claim is about:
    nobody's words come closer to it.
    """
    named = _SPEAKER.fullmatch(twin.excerpt)
    if named and named[1] != "Myth":
        return Pair(twin.claim, twin.excerpt, [(named[1], named[2])])
    return Pair(twin.claim, twin.excerpt, [(twin.claim.partition(" ")[0], twin.excerpt)])


def _notes(conversation: Conversation) -> Iterable[tuple[str, bool, Pair]]:
    turns = {turn.dia_id: turn for turn in conversation.turns}
    speakers = list(dict.fromkeys(turn.speaker for turn in conversation.turns))
    for place, note in enumerate(conversation.observations):
        cited = [turns[each] for each in note.dia_ids if each in turns]
        if not cited:
            continue
        yield "note", True, _told(note.text, cited)
        for turn in _others(conversation, note, cited[0].speaker, place):
            yield "note: another turn", False, _told(note.text, [turn])
        for kind, changed in _changed(note, speakers, place).items():
            if changed != note.text:
                # By its turn, and by the true note itself.
                yield f"note: {kind}", False, _told(changed, cited)
                true = [(note.speaker, note.text)]
                yield f"note: {kind}", False, Pair({"text": changed}, note.text, true)


def _told(note: str, turns: Sequence[Turn]) -> Pair:
    quote = "\n".join(f"{turn.speaker}: {turn.text}" for turn in turns)
    return Pair({"text": note}, quote, [(turn.speaker, turn.text) for turn in turns])


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
