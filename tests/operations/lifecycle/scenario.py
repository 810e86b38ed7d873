"""What happens in four hundred days to the memories of three organisations: the same every time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

DAYS, MEMORIES, READS = 400, 2400, 1000
# Days from one run of the jobs to the next. Memories are written on any day: so they are of every
# age then.
FEWEST, MOST = 6, 26
# The clinic has rules of its own, and a legal hold keeps a scope of the mill for eight months.
ORGS = ("harbour", "clinic", "mill")
HELD, HELD_FROM, HELD_UNTIL = ("mill", "user/u1"), 64, 304
# The agents of the mill write most of their notes in one place. A scope has room for so many.
BUSY, ROOM = ("mill", "user/u0"), 25
LAYERS = {
    "working": 4,
    "session": 8,
    "episodic": 48,
    "semantic": 22,
    "procedural": 12,
    "durable": 6,
}
CLASSES = {"episodic": ["task_learning"], "semantic": ["entity_fact", "task_learning"]}
SYLLABLES = [a + b for a in "bdfgklmnprstv" for b in "aeiou"]


@dataclass(frozen=True)
class Memory:
    """A memory as it is written."""

    key: int
    org: str
    place: str
    layer: str
    born: int
    words: str
    confidence: float
    write_class: str | None = None
    ttl: timedelta | None = None
    personal: bool = False
    confidential: bool = False


@dataclass
class Day:
    """What happens on a day before its jobs run; all but new memories by key."""

    number: int
    written: list[Memory] = field(default_factory=list)
    disputed: list[tuple[int, int]] = field(default_factory=list)
    # Of a memory: how often it was given, and how many of the uses succeeded and failed.
    reads: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    pinned: list[int] = field(default_factory=list)
    unpinned: list[int] = field(default_factory=list)
    linked: list[int] = field(default_factory=list)


def memory(key: int, chance: random.Random) -> Memory:
    """One of the memories, with words that no other has."""
    org = chance.choice(ORGS)
    (layer,) = chance.choices(list(LAYERS), list(LAYERS.values()))
    chosen = chance.choice(CLASSES[layer]) if layer in CLASSES and chance.random() < 0.3 else None
    lasts = layer not in ("working", "session")
    busy = org == BUSY[0] and layer == "episodic" and chance.random() < 0.7
    words = " ".join("".join(chance.choices(SYLLABLES, k=4)) for _ in range(6))
    personal = org != "harbour" and lasts and chance.random() < 0.15
    return Memory(
        key=key,
        org=org,
        place=BUSY[1] if busy else f"user/u{chance.randrange(1, 4)}",
        layer=layer,
        born=key * DAYS // MEMORIES,
        words=f"{words} at {words[:8]}{key}@example.org" if personal else words,
        confidence=chance.choice((0.2, 0.5, 0.7, 0.9)),
        write_class=chosen,
        ttl=timedelta(days=chance.choice((3, 47, 198)))
        if lasts and chance.random() < 0.1
        else None,
        personal=personal,
        confidential=org == "clinic" and lasts and chance.random() < 0.2,
    )


def numbers(chance: random.Random) -> list[int]:
    """The days on which the jobs run."""
    chosen = {HELD_FROM, HELD_UNTIL, DAYS}
    number = 0
    while (number := number + chance.randint(FEWEST, MOST)) < DAYS:
        chosen.add(number)
    return sorted(chosen)


def days(seed: int = 24) -> Iterator[Day]:
    """Day after day. A few memories are read every day, and most never (Zipf's law)."""
    chance = random.Random(seed)
    memories = [memory(key, chance) for key in range(MEMORIES)]
    shares = [1 / rank**1.2 for rank in range(1, MEMORIES + 1)]
    chance.shuffle(shares)
    last = 0
    for number in numbers(chance):
        written = [each for each in memories if last <= each.born < number]
        last = number
        alive = [each.key for each in memories if each.born < number and each.layer != "working"]
        reads: dict[int, tuple[int, int, int]] = {}
        for key in chance.choices(alive, [shares[key] for key in alive], k=READS):
            given, succeeded, failed = reads.get(key, (0, 0, 0))
            works = chance.random() < 0.3 + 0.6 * (key % 2)
            reads[key] = (given + 1, succeeded + works, failed + (not works and given % 3 == 0))
        day = Day(number, written, reads=reads)
        # Some contradict what the same organisation has known for longer.
        for each in written:
            rivals = [
                m.key for m in memories[: each.key] if (m.org, m.layer) == (each.org, each.layer)
            ]
            if each.layer in ("episodic", "semantic") and rivals and chance.random() < 0.15:
                day.disputed.append((each.key, chance.choice(rivals[-40:])))
        recent = [key for key in alive if memories[key].born >= number - 60]
        day.pinned = chance.sample(recent, 1)
        day.unpinned = chance.sample(alive, 20)
        day.linked = chance.sample(recent, 1)
        yield day
