"""True statements, and twins of each: wrong ones that must not pass, and right ones that must.

Each twin is a claim and an excerpt. The statements are made up, so that no rule can know them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

_NAMES = [
    "Petra",
    "Klaus",
    "Ana",
    "Omar",
    "Mira",
    "Lena",
    "Tom",
    "Wei",
    "Aylin",
    "Igor",
    "Noor",
    "Paulo",
]
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_UNITS = ["km", "kg", "litres", "hours", "weeks", "GB"]
_COINS = ["euros", "dollars", "pounds"]
_PLACES = ["Rome", "Oslo", "Leeds", "Lima", "Kyoto", "Porto"]
# Each with the slots whose change makes it another statement.
_FACTS = [
    "{name} has a peanut allergy.",
    "{name} moved to {place} on {number} {month}.",
    "{name} was born in {place} in {month}.",
    "{name} meets the doctor every {day}.",
    "{name} ordered part B{number}/C{digit}.",
    "{name} owes the bakery {number} {coin}.",
    "{name} carries {number} {unit} of sand.",
    "{name} owns {number} cats.",
    "{name} ships release 2024-{number} in {month}.",
    "{name} likes green tea.",
    "{name} leaves {place} on {day} with flight LH{number}.",
]
_OTHERS = {
    "name": _NAMES,
    "place": _PLACES,
    "month": _MONTHS,
    "day": _DAYS,
    "unit": _UNITS,
    "coin": _COINS,
}
_KINDS = {
    "name": "name",
    "place": "name",
    "month": "month",
    "day": "weekday",
    "unit": "unit",
    "coin": "unit",
}
ROUND = {
    "question": ["{it}?", "Is it true that {it}?", "{it}, right?", "Do you know whether {it}?"],
    "condition": ["If {it}, call me.", "Call me if {it}.", "{it} if it rains.", "Unless {it}, go."],
    "wish": ["I wish {it}.", "I hope that {it}.", "If only {it}.", "It would be nice if {it}."],
    "plan": ["The plan is that {it}.", "Maybe {it}.", "Perhaps {it}.", "{it}, probably."],
    "report": [
        "Klaus says that {it}.",
        "According to Klaus, {it}.",
        "Klaus said: {it}.",
        "{it}, says Klaus.",
        "I heard that {it}.",
        "{it}. That is what Klaus claims.",
        "Klaus told me something. {it}.",
    ],
    "dream": [
        "I dreamed that {it}.",
        "In my dream, {it}.",
        "I had a dream. {it}.",
        "{it}. It was only a dream.",
    ],
    "denial": [
        "It is not true that {it}.",
        "{it}. That is not true.",
        "It is false that {it}.",
        "{it}? No.",
        "Myth: {it}.",
        "Nobody believes that {it}.",
        "{it} - not.",
    ],
    "quotation": [
        'Klaus wrote: "{it}."',
        "\u201c{it}\u201d stands in the novel.",
        "The letter reads \u00ab{it}\u00bb.",
        'The play begins: "{it}."',
        "> {it}.",
    ],
}
"""What may stand round a statement, so that it is not said to be so."""
# A statement and its denial, with a slot for a name.
DENIED = [
    ("{name} eats fish.", "{name} does not eat fish."),
    ("{name} is a nurse.", "{name} is not a nurse."),
    ("{name} isst Fisch.", "{name} isst nicht Fisch."),
    ("{name} hat eine Katze.", "{name} hat keine Katze."),
    ("{name} eet vis.", "{name} eet niet vis."),
    ("{name} heeft een kat.", "{name} heeft geen kat."),
    ("{name} mangia il pesce.", "{name} non mangia il pesce."),
    ("{name} mange du poisson.", "{name} ne mange pas de poisson."),
    ("{name} come pescado.", "{name} no come pescado."),
    ("{name} come peixe.", "{name} n\u00e3o come peixe."),
    ("{name} je ryby.", "{name} nie je ryb."),
    (
        "{name} \u0435\u0441\u0442 \u0440\u044b\u0431\u0443.",
        "{name} \u043d\u0435 \u0435\u0441\u0442 \u0440\u044b\u0431\u0443.",
    ),
    ("{name} bal\u0131k yer.", "{name} bal\u0131k yemez."),
    ("{name} \u00e4ter fisk.", "{name} \u00e4ter inte fisk."),
]
_RIGHT = {
    "the same": "{it}.",
    "layout": "Hello,\n\n{split}.\n\nThanks!",
    "punctuation": "{it} !",
    "lower case": "{lower}.",
    "a greeting before": "Hi Zoe, {it}.",
    "a sentence before and behind": "The soup is ready. {it}. The bread is on the table.",
    "a main clause behind": "{it}, and I like the rain.",
    "a main clause before": "The soup is ready; {it}.",
}


class Twin(NamedTuple):
    """A claim with an excerpt, the kind of it, and whether the excerpt bears the claim out."""

    kind: str
    claim: str
    excerpt: str
    right: bool


def twins(number: int, seed: int = 1) -> Iterator[Twin]:
    """Twins of so many statements, the same for a seed."""
    lot = random.Random(seed)
    for place in range(number):
        values = {slot: lot.choice(others) for slot, others in _OTHERS.items()}
        values |= {"number": str(lot.randrange(2, 90)), "digit": str(lot.randrange(2, 9))}
        fact = _FACTS[place % len(_FACTS)]
        yield from _changed(fact, values, lot)
        claim = fact.format(**values)
        it = claim.rstrip(".")
        for kind, forms in ROUND.items():
            yield Twin(kind, claim, lot.choice(forms).format(it=it), right=False)
        other = lot.choice(["is a vegetarian", "plays chess", "left the country"])
        yield Twin("a part added", f"{it} and {other}.", claim, right=False)
        for kind, form in _RIGHT.items():
            text = form.format(it=it, split=it.replace(" ", "\n", 1), lower=it.lower())
            yield Twin(kind, claim, text, right=True)
        said, denied = (text.format(**values) for text in DENIED[place % len(DENIED)])
        yield Twin("a denial", said, denied, right=False)
        yield Twin("a denial", denied, said, right=False)
        yield from _spoken(values, lot)


def _changed(fact: str, values: dict[str, str], lot: random.Random) -> Iterator[Twin]:
    """The claim, and the same with one thing changed, alone and in a turn."""
    claim = fact.format(**values)
    for slot, value in values.items():
        if f"{{{slot}}}" not in fact:
            continue
        if slot in _OTHERS:
            other = lot.choice([each for each in _OTHERS[slot] if each != value])
        else:
            other = str(int(value) + lot.randrange(1, 9))
        kind = _KINDS.get(slot, "code" if f"LH{{{slot}" in fact or "B{" in fact else "number")
        changed = fact.format(**values | {slot: other})
        yield Twin(kind, claim, changed, right=False)
        yield Twin(kind, claim, f"Good morning! {changed} How are you?", right=False)


def _spoken(values: dict[str, str], lot: random.Random) -> Iterator[Twin]:
    """What a speaker says of himself, and what another or his sister does."""
    name = values["name"]
    other = lot.choice([each for each in _NAMES if each != name])
    verb, rest = lot.choice(
        [
            ("own", "{number} cats"),
            ("live", "in {place}"),
            ("work", "on {day}s"),
            ("carry", "{number} {unit} of sand"),
        ]
    )
    rest = rest.format(**values)
    does = {"carry": "carries"}.get(verb, f"{verb}s")
    claim = f"{name} {does} {rest}."
    yield Twin("said of oneself", claim, f"{name}: Well, I {verb} {rest}!", right=True)
    yield Twin("speaker", claim, f"{other}: I {verb} {rest}.", right=False)
    yield Twin("speaker", claim, f"{name}: My sister {does} {rest}.", right=False)
    yield Twin("wish", claim, f"{name}: I want to {verb} {rest}.", right=False)
    yield Twin("plan", claim, f"{name}: I am going to {verb} {rest}.", right=False)
    yield Twin("a denial", claim, f"{name}: I don't {verb} {rest}.", right=False)
    yield Twin("question", claim, f"{name}: Do I {verb} {rest}?", right=False)


def shapes(speaker: str, text: str) -> Iterator[tuple[str, object, str | None]]:
    """A turn as a content and its subject, in each shape that adapters and chat formats give it."""
    yield "text alone", text, None
    yield "text and subject", {"text": text}, speaker
    yield "speaker and text", {"speaker": speaker, "text": text}, None
    yield "mem0", {"text": text, "user_id": speaker.lower(), "role": "user", "metadata": {}}, None
    yield "OpenAI", {"role": "user", "content": text}, None
    yield "OpenAI parts", {"role": "user", "content": [{"type": "text", "text": text}]}, None
    yield "Gemini", {"role": "user", "parts": [{"text": text}]}, None
    yield "ShareGPT", {"from": "human", "value": text}, None
    yield "LangChain", {"type": "human", "data": {"content": text, "type": "human"}}, None
    yield "LoCoMo", {"speaker": speaker, "dia_id": "D1:3", "text": text}, None
    slack = {"type": "message", "user": "U02ABC", "text": text, "ts": "1716400000.000200"}
    yield "Slack", slack, None
    author = {"id": "12", "username": speaker}
    yield "Discord", {"id": "1100", "content": text, "author": author}, None
    yield "labelled", f"{speaker}: {text}", None
