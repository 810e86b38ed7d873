#!/usr/bin/env python3
"""Facts that change and pairs about two things, for the figures of docs/judge.md.

The sentences are in change_templates.jsonl, by who wrote them. The rules were written with those of
"first" at hand. The others were written by somebody who had not seen the rules: those of "second",
"third" and the two "free" ones were looked at afterwards, those of "last" were only counted.

`changes()` gives pairs of statements: the second one says another value of the same attribute of
the same thing. `apart()` gives pairs that only look so: another thing, another attribute, a second
value beside the first, or events of two days. No statement has a key.

Run as a program, it writes them into a fresh store that demands no evidence, and counts what
the store marks and which statement recall gives first.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from measure import machine
from memwarden import Client
from memwarden.evaluation.recall.database import fresh

TEMPLATES = Path(__file__).with_name("change_templates.jsonl")


class Template(NamedTuple):
    """How an attribute is told before and after it changes, {a} the value before, {b} after."""

    attribute: str
    things: list[str]
    values: list[str]
    earlier: str
    later: str
    question: str


class Beside(NamedTuple):
    """How two values are told that stand beside each other."""

    kind: str
    things: list[str]
    values: list[str]
    first: str
    second: str


class Templates(NamedTuple):
    """What somebody wrote."""

    changes: list[Template]
    beside: list[Beside]


def templates() -> dict[str, Templates]:
    """Return the templates by their writers."""
    found: dict[str, Templates] = {}
    slots: dict[tuple[str, str], list[str]] = {}
    for line in TEMPLATES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        writer = row.pop("writer")
        own = found.setdefault(writer, Templates([], []))
        if "slot" in row:
            slots[writer, row["slot"]] = row["values"]
            continue
        things, values = slots[writer, row["things"]], slots[writer, row["filled"]]
        if "attribute" in row:
            own.changes.append(
                Template(
                    row["attribute"], things, values, row["earlier"], row["later"], row["question"]
                )
            )
        else:
            own.beside.append(Beside(row["apart"], things, values, row["first"], row["second"]))
    return found


class Change(NamedTuple):
    """Two statements about one attribute of one thing, the earlier first, and a question."""

    attribute: str
    earlier: str
    later: str
    question: str
    writer: str


class Apart(NamedTuple):
    """Two statements that both stay true."""

    kind: str
    first: str
    second: str


def changes(number: int, seed: int = 1, writers: Collection[str] = ()) -> list[Change]:
    """Return so many changes, all templates in turn, no pair twice; of all writers, or of some."""
    chance = random.Random(seed)
    makers = [
        _changes_of(template, name, chance)
        for name, each in templates().items()
        for template in each.changes
        if not writers or name in writers
    ]
    return [next(makers[i % len(makers)]) for i in range(number)]


def _changes_of(template: Template, writer: str, chance: random.Random) -> Iterator[Change]:
    filled = product(template.things, template.values, template.values)
    every = [(thing, a, b) for thing, a, b in filled if a != b]
    chance.shuffle(every)
    for thing, earlier, later in every:
        slots = {"thing": thing, "a": earlier, "b": later}
        yield Change(
            template.attribute,
            _sentence(template.earlier, slots),
            _sentence(template.later, slots),
            _sentence(template.question, slots),
            writer,
        )


def apart(number: int, seed: int = 1, writers: Collection[str] = ()) -> list[Apart]:
    """Return so many pairs that say no change, all kinds in turn."""
    chance = random.Random(seed)
    chosen = [each for name, each in templates().items() if not writers or name in writers]
    makers = []
    for each in chosen:
        makers += [_other_thing(each.changes, chance), _other_attribute(each.changes, chance)]
        if each.beside:
            makers.append(_both(each.beside, chance))
    return [next(makers[i % len(makers)]) for i in range(number)]


def _other_thing(changed: Sequence[Template], chance: random.Random) -> Iterator[Apart]:
    """Give the same attribute of two things."""
    while True:
        template = chance.choice(changed)
        first, second = chance.sample(template.things, 2)
        a, b = chance.sample(template.values, 2)
        says = chance.choice([template.earlier, template.later])
        yield Apart(
            "another thing",
            _sentence(template.earlier, {"thing": first, "a": a, "b": b}),
            _sentence(says, {"thing": second, "a": b, "b": a}),
        )


def _other_attribute(changed: Sequence[Template], chance: random.Random) -> Iterator[Apart]:
    """Give two attributes of one thing."""
    while True:
        one = chance.choice(changed)
        others = [t for t in changed if t.things is one.things and t.attribute != one.attribute]
        if not others:
            continue
        other = chance.choice(others)
        thing = chance.choice(one.things)
        value = chance.choice(one.values)
        a, b = chance.sample(other.values, 2)
        says = chance.choice([other.earlier, other.later])
        yield Apart(
            "another attribute",
            _sentence(one.earlier, {"thing": thing, "a": value, "b": value}),
            _sentence(says, {"thing": thing, "a": a, "b": b}),
        )


def _both(told: Sequence[Beside], chance: random.Random) -> Iterator[Apart]:
    """Give two values that stand beside each other."""
    while True:
        kind, things, values, first, second = chance.choice(told)
        a, b = chance.sample(values, 2)
        slots = {"thing": chance.choice(things), "a": a, "b": b}
        yield Apart(kind, _sentence(first, slots), _sentence(second, slots))


def _sentence(text: str, slots: dict[str, str]) -> str:
    said = text.format(**slots)
    return said[0].upper() + said[1:]


_LAYER = "semantic"
_SCOPE = "/org/evaluation/domain/pair-{}"
_NO_DEMANDS = """
SELECT memwarden.configure_layer('semantic',
       '{"fact_threshold": 0, "min_external": 0, "min_authority": 0, "self_reference": "allow"}')
"""
_ENDED = {"outdated", "disputed"}


class Seen(NamedTuple):
    """What recall gives of a pair: the texts in their order, and those that are marked as over."""

    order: list[str]
    outdated: set[str]
    marked: set[str]


def _seen(memory: Client, scope: str, question: str) -> Seen:
    found = memory.recall(question, k=10, scope=scope, layers=[_LAYER])
    order = [item.text or "" for item in found]
    outdated = {item.text or "" for item in found if item.standing == "outdated"}
    return Seen(order, outdated, {i.text or "" for i in found if i.standing in _ENDED})


def measure(dsn: str, asked: Sequence[Change], different: Sequence[Apart]) -> None:
    """Write all pairs to a fresh store, each to a scope of its own, and print what happens."""
    scopes = [_SCOPE.format(n) for n in range(len(asked) + len(different))]
    with fresh(dsn, "changes", scopes, _NO_DEMANDS) as memory:
        pairs = [*((c.earlier, c.later) for c in asked), *((d.first, d.second) for d in different)]
        for side in (0, 1):
            for scope, pair in zip(scopes, pairs, strict=True):
                memory.write(_LAYER, pair[side], scope=scope)
        _tell_changes(
            [(c, _seen(memory, s, c.question)) for s, c in zip(scopes, asked, strict=False)]
        )
        rest = zip(scopes[len(asked) :], different, strict=True)
        _tell_apart([(d, _seen(memory, s, f"{d.first} {d.second}")) for s, d in rest])


def _tell_changes(rows: Sequence[tuple[Change, Seen]]) -> None:
    print("| written | changes | the new value first | the old one marked outdated | disputed |")
    print("|---|---|---|---|---|")
    for name in [*dict.fromkeys(change.writer for change, _ in rows), "all"]:
        those = [(c, s) for c, s in rows if name in (c.writer, "all")]
        first = sum(s.order[:1] == [c.later] for c, s in those)
        outdated = sum(c.earlier in s.outdated for c, s in those)
        disputed = sum(c.earlier in s.marked - s.outdated for c, s in those)
        print(f"| {name} | {len(those)} | {first} | {outdated} | {disputed} |")


def _tell_apart(rows: Sequence[tuple[Apart, Seen]]) -> None:
    print("\n| pairs about two things | pairs | marked outdated | marked disputed | lost |")
    print("|---|---|---|---|---|")
    for name in [*dict.fromkeys(pair.kind for pair, _ in rows), "all"]:
        those = [(p, s) for p, s in rows if name in (p.kind, "all")]
        outdated = sum(bool(s.outdated) for _, s in those)
        disputed = sum(bool(s.marked - s.outdated) for _, s in those)
        lost = sum(not {p.first, p.second} <= set(s.order) for p, s in those)
        print(f"| {name} | {len(those)} | {outdated} | {disputed} | {lost} |")


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--dsn", required=True, help="a superuser's connection string")
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--apart", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writers", nargs="*", default=[], choices=list(templates()))
    arguments = parser.parse_args()
    print(machine())
    measure(
        arguments.dsn,
        changes(arguments.changes, arguments.seed, arguments.writers),
        apart(arguments.apart, arguments.seed, arguments.writers),
    )


if __name__ == "__main__":
    main()
