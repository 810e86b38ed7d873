"""What docs/lifecycle.md and docs/erase.md say of aging, once more and without a database.

A memory is a small state, a day is a loop over all of them. Nothing here is fast, shared with the
SQL or read from its tables.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import exp, log

from operations.lifecycle.scenario import HELD, HELD_FROM, HELD_UNTIL, ROOM, Day, Memory

HOUR = 1 / 24
NOON = 0.5
GRACE = 30.0


@dataclass(frozen=True)
class Terms:
    """Of a layer: how relevance falls, when collection may take it, how long it lives; in days."""

    decay: str
    rate: float = 0
    threshold: float | None = None
    idle: float = 30
    soft: float | None = None
    hard: float | None = None
    deleted: str = "after_grace"


LAYERS = {
    "working": Terms("exempt", hard=HOUR / 4),
    "session": Terms("forcing", rate=12, threshold=0.1, idle=HOUR, hard=HOUR),
    "episodic": Terms("forcing", rate=0.01, threshold=0.2, soft=30, hard=365),
    "semantic": Terms("validity", rate=0.001, threshold=0.1, idle=180, deleted="retention"),
    "procedural": Terms("validity", rate=0.0005, threshold=0.1, idle=365, deleted="retention"),
    "durable": Terms("exempt", deleted="never"),
}
# Of a class: decay, soft and hard lifetime, where it says otherwise than the layer.
CLASSES = {
    "task_learning": (None, 30, 365),
    "entity_fact": ("exempt", 180, None),
}
# Of a rule of retention: at most, at least, and what follows.
SHIPPED = {"personal": (90, 0, "delete"), "business": (365, 0, "archive")}
OWN = {"clinic": {"personal": (60, 0, "delete"), "episodic": (None, 100, "archive")}}


@dataclass
class State:
    """A memory on some day."""

    memory: Memory
    initial: float
    created: float
    read: float | None = None
    reads: Counter[int] = field(default_factory=Counter)
    succeeded: int = 0
    failed: int = 0
    pinned: bool = False
    linked: bool = False
    held: bool = False
    rivals: list[State] = field(default_factory=list)
    status: str = "alive"
    reason: str | None = None
    ended: float = 0
    half: bool = False

    @property
    def terms(self) -> Terms:
        """Those of its layer."""
        return LAYERS[self.memory.layer]

    @property
    def decay(self) -> str:
        """How its relevance falls."""
        own = CLASSES.get(self.memory.write_class or "", (None, 0, 0))[0]
        return own or self.terms.decay

    @property
    def soft(self) -> float | None:
        """For how many days it counts fully."""
        chosen = self.memory.write_class
        return CLASSES[chosen][1] if chosen else self.terms.soft

    @property
    def hard(self) -> float | None:
        """For how many days recall gives it."""
        if self.memory.ttl is not None:
            return self.memory.ttl.days
        chosen = CLASSES[self.memory.write_class][2] if self.memory.write_class else None
        return chosen or self.terms.hard

    @property
    def used(self) -> float:
        """When somebody had it last."""
        return self.created if self.read is None else max(self.created, self.read)

    def relevance(self, now: float) -> float:
        """The product of the parts in the page."""
        days = now - self.created
        decayed = 1 if self.decay == "exempt" else exp(-self.terms.rate * days)
        recent = sum(n for day, n in self.reads.items() if day > int(now) - 30)
        impact = (self.succeeded + 1) / (self.succeeded + self.failed + 1)
        return self.initial * decayed * (1 + log(1 + recent)) * impact

    def staleness(self, now: float) -> float:
        """Age, idle time and contradiction; each has its share."""
        chosen = CLASSES.get(self.memory.write_class or "", (None, 0, None))[2]
        age = min((now - self.created) / (chosen or self.terms.hard or 365), 1)
        idle = min((now - self.used) / self.terms.idle, 1)
        disputed = any(rival.status == "alive" for rival in self.rivals)
        return 0.4 * age * (self.decay != "exempt") + 0.3 * idle + 0.3 * disputed

    def counts_half(self, now: float) -> bool:
        """Stale, or beyond its soft lifetime; what is kept counts fully."""
        if self.pinned or self.held:
            return False
        weak = self.memory.confidence < 0.3 and now - self.created > 60
        if self.staleness(now) > 0.7 or (self.decay != "exempt" and weak):
            return True
        return self.decay != "exempt" and self.soft is not None and now - self.created >= self.soft

    def rules(self) -> list[tuple[float | None, float, str]]:
        """The rules of retention that apply to it."""
        known = SHIPPED | OWN.get(self.memory.org, {})
        names = [self.memory.layer]
        names += ["personal"] * self.memory.personal + ["business"] * self.memory.confidential
        return [known[name] for name in names if name in known]

    def duty(self, now: float) -> bool:
        """Whether a rule wants it kept."""
        return any(least > now - self.created for _, least, _ in self.rules())

    def retention(self, now: float) -> str | None:
        """What a rule wants now: a deletion goes before an archive."""
        if self.duty(now):
            return None
        over = {then for most, _, then in self.rules() if most and now - self.created >= most}
        if self.status != "alive":
            over -= {"archive"}
        return "delete" if "delete" in over else next(iter(over), None)

    def due(self, now: float) -> str | None:
        """By which rule collection may expire it."""
        idle = now - self.used
        if self.hard is not None and now - self.created >= self.hard:
            return "TTL_OVER"
        if self.staleness(now) > 0.9:
            return "STALE"
        threshold = self.terms.threshold
        if threshold is not None and self.relevance(now) < threshold and idle > self.terms.idle:
            return "IRRELEVANT"
        over = self.soft is not None and now - self.created >= self.soft
        return "UNREAD" if self.decay != "exempt" and over and idle > 30 else None

    def shown(self, now: float) -> str:
        """Its state for who recalls: what is kept beyond its lifetime is given to nobody."""
        if self.status != "alive":
            return self.status
        if self.hard is not None and now - self.created >= self.hard:
            return "expired"
        if self.retention(now) is not None:
            return "expired"
        return "stale" if self.half else "alive"

    def end(self, now: float, status: str, reason: str) -> None:
        """It expires, or is gone."""
        self.status, self.reason, self.ended = status, reason, now


class Model:
    """All memories, and what the jobs of a day make of them."""

    def __init__(self) -> None:
        self.states: dict[int, State] = {}

    def happen(self, day: Day, initial: dict[int, float]) -> None:
        """What people and agents do; `initial` is what the gates gave each new memory."""
        for memory in day.written:
            born = memory.born + memory.key / 86400
            self.states[memory.key] = State(memory, initial[memory.key], born)
        for key, rival in day.disputed:
            one, other = self.states[key], self.states[rival]
            if other.status == "alive":
                one.rivals.append(other)
                other.rivals.append(one)
        for key, (given, succeeded, failed) in day.reads.items():
            state = self.states[key]
            if state.status == "alive":
                state.read = day.number + 0.25 + key / 86400
                state.reads[day.number] += given
                state.succeeded += succeeded
                state.failed += failed
        for key in day.pinned:
            self.states[key].pinned |= self.states[key].status != "gone"
        for key in day.unpinned:
            self.states[key].pinned = False
        for key in day.linked:
            self.states[key].linked |= self.states[key].status != "gone"
        for state in self.states.values():
            place = (state.memory.org, state.memory.place)
            state.held = place == HELD and HELD_FROM <= day.number < HELD_UNTIL

    def run_jobs(self, day: Day) -> None:
        """At noon: lifetimes, collection layer by layer, retention."""
        now = day.number + NOON
        for state in self.states.values():
            state.half = state.counts_half(now)
        for org in sorted({state.memory.org for state in self.states.values()}):
            for layer in LAYERS:
                of_layer = [
                    state
                    for state in self.states.values()
                    if (state.memory.org, state.memory.layer) == (org, layer)
                ]
                self.collect(of_layer, now)
        for state in self.states.values():
            wanted = None if state.status == "gone" or state.held else state.retention(now)
            if wanted == "delete":
                state.end(now, "gone", "RETENTION_OVER")
            elif wanted:
                state.end(now, "expired", "RETENTION_OVER")

    def collect(self, states: list[State], now: float) -> None:
        """One pass over a layer of an organisation: what is found, and then what is taken."""
        alive = [state for state in states if state.status == "alive"]
        found = {}
        for state in alive:
            reason = state.due(now)
            kept = state.pinned or state.held or (reason != "TTL_OVER" and state.duty(now))
            if reason and not kept:
                found[state.memory.key] = reason
        gone = []
        for state in states:
            rests = now - state.ended > GRACE and state.status == "expired"
            if not rests or state.pinned or state.held or state.linked or state.duty(now):
                continue
            deleted = state.terms.deleted
            if deleted == "after_grace" or (
                deleted == "retention" and state.retention(now) == "delete"
            ):
                gone.append(state)
        for place in {state.memory.place for state in alive}:
            there = [state for state in alive if state.memory.place == place]
            if there[0].memory.layer == "episodic" and len(there) > ROOM:
                free = [s for s in there if not (s.pinned or s.held or s.duty(now))]
                for state in sorted(free, key=lambda s: s.used)[: len(there) - ROOM]:
                    found.setdefault(state.memory.key, "OVER_CAP")
        unasked = [key for key, reason in found.items() if reason != "TTL_OVER"]
        if len(unasked) > 10 and len(unasked) > len(alive) / 2:
            found = {key: reason for key, reason in found.items() if reason == "TTL_OVER"}
        # Scope by scope it is asked once more: of two that contradict each other one may stay.
        for place in sorted({state.memory.place for state in alive}):
            taken = [
                (state, found[state.memory.key] if reason == "OVER_CAP" else state.due(now))
                for state in alive
                if state.memory.place == place and (reason := found.get(state.memory.key))
            ]
            for state, again in taken:
                if again:
                    state.end(now, "expired", again)
        for state in gone:
            state.end(
                now,
                "gone",
                "RETENTION_OVER" if state.terms.deleted == "retention" else "GRACE_OVER",
            )

    def told(self, day: Day) -> dict[int, tuple[str, str | None]]:
        """What is left of each memory at noon; and why it has ended, while somebody can ask."""
        return {
            key: (
                state.shown(day.number + NOON),
                state.reason if state.status == "expired" else None,
            )
            for key, state in self.states.items()
        }
