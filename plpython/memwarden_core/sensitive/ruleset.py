"""Rules are data: read, checked and compiled once, with a gate that tells which of them to run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ..light import Any, NamedTuple, Protocol, cast, overload
from ..patterns import PatternRefused, compile_pattern
from .context import Words, near
from .decoding.decode import DECODERS, Decoder
from .detectors import DETECTORS, Detector
from .findings import ACTIONS, LEVELS, Hit
from .gate import Gate, GateRefused
from .validators import Validator, validator

MAX_RULES = 1000
_MAX_PATTERN = 2000
_MAX_TESTS = 100
_MAX_TEST = 10_000
_MAX_WITHIN = 200

_ID = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_KIND = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+){1,3}")
_MEMBERS = frozenset(
    [
        "id",
        "version",
        "kind",
        "level",
        "action",
        "description",
        "score",
        "detector",
        "pattern",
        "validator",
        "context",
        "not_context",
        "within",
        "prefilter",
        "prefilter_pattern",
        "tests",
    ]
)


class RuleRefused(ValueError):
    """A rule that cannot serve; the message names the rule and what is wrong with it."""


class _Match(Protocol):
    def span(self, group: int = 0) -> tuple[int, int]: ...


class _Pattern(Protocol):
    groups: int

    def finditer(self, text: str) -> Iterator[_Match]: ...


class _Late:
    """Stands for a pattern that was accepted before: compiled when a text first asks for it."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        value = getattr(compile_pattern(self._source), name)
        setattr(self, name, value)
        return value


class Rule(NamedTuple):
    """One rule, compiled."""

    id: str
    kind: str
    level: str
    action: str
    score: float
    detector: Detector | None
    pattern: _Pattern | None
    check: Validator | None
    context: Words | None
    not_context: Words | None
    within: int
    positive: tuple[str, ...]
    negative: tuple[str, ...]

    def hits(self, text: str, lower: str) -> Iterable[Hit]:
        """Return the places that the rule finds in a text and the same in lower case."""
        candidates = self._candidates(text, lower)
        if self.context or self.not_context or self.check is not None:
            return self._kept(candidates, text, lower)
        return candidates

    def _kept(self, candidates: Iterable[Hit], text: str, lower: str) -> Iterator[Hit]:
        for hit in candidates:
            if self.context and not near(
                self.context, lower, hit.start, hit.end, self.within, self.within // 2
            ):
                continue
            if self.not_context and near(self.not_context, lower, hit.start, hit.end, self.within):
                continue
            if self.check is not None and not self.check(text[hit.start : hit.end]):
                continue
            yield hit

    def _candidates(self, text: str, lower: str) -> Iterable[Hit]:
        if self.detector is not None:
            return self.detector(text, lower)
        assert self.pattern is not None
        group = 1 if self.pattern.groups else 0
        spans = (match.span(group) for match in self.pattern.finditer(text))
        return (Hit(start, end, self.score) for start, end in spans if end > start)


class RuleSet(NamedTuple):
    """Rules ready to scan with. Made by ``prepare``.

    Rules have numbers from 0, decoders below 0. ``alone`` has, for each pattern of the gate, those
    that it opens by itself. Of the others ``bits`` has what the pattern is, and ``joint`` which
    bits must be there together, under one of the patterns.
    """

    rules: Sequence[Rule]
    gate: Gate
    alone: tuple[tuple[int, ...], ...]
    bits: tuple[int, ...]
    joint: tuple[tuple[tuple[int, int], ...], ...]

    def open(self, text: str) -> tuple[list[Rule], list[Decoder]]:
        """Return the rules and the decoders that have something to look at in the text."""
        passed = self.gate.passed(text)
        if not passed:
            return [], []
        opened: set[int] = set()
        seen = 0
        for pattern in passed:
            opened.update(self.alone[pattern])
            seen |= self.bits[pattern]
        if seen:
            for pattern in passed:
                for bits, number in self.joint[pattern]:
                    if seen & bits == bits:
                        opened.add(number)
        numbers = sorted(opened)
        rules = [self.rules[n] for n in numbers if n >= 0]
        return rules, [DECODERS[-1 - n][1] for n in reversed(numbers) if n < 0]


class _Reader:
    """Reads the members of one rule; every fault names the rule."""

    def __init__(self, index: int, source: object, *, accepted: bool) -> None:
        self.name = f"rule {index}"
        self.accepted = accepted
        if not isinstance(source, dict):
            raise self.refused("is no JSON object")
        self.source: dict[str, Any] = source
        name = source.get("id")
        if not isinstance(name, str) or not _ID.fullmatch(name):
            raise self.refused("id is 1 to 64 of a-z, 0-9, '.', '_' and '-'")
        self.name = f"rule {name}"
        unknown = sorted(set(source) - _MEMBERS)
        if unknown:
            raise self.refused(f"has a member that rules do not have: {unknown[0]}")

    def refused(self, fault: str) -> RuleRefused:
        return RuleRefused(f"{self.name}: {fault}")

    def one_of(self, member: str, choices: Iterable[str]) -> str:
        value = self.source.get(member)
        if value not in tuple(choices):
            raise self.refused(f"{member} is one of {', '.join(choices)}")
        return cast("str", value)

    def text(self, member: str, most: int) -> str | None:
        value = self.source.get(member)
        if value is None:
            return None
        if not isinstance(value, str) or not 1 <= len(value) <= most:
            raise self.refused(f"{member} is a string of 1 to {most} characters")
        return value

    def texts(self, member: str, source: dict[str, Any], count: int, most: int) -> tuple[str, ...]:
        value = source.get(member, [])
        if (
            not isinstance(value, list)
            or len(value) > count
            or not all(isinstance(v, str) and len(v) <= most for v in value)
        ):
            raise self.refused(
                f"{member} is a list of at most {count} strings of at most {most} characters"
            )
        return tuple(value)

    def number(self, member: str, least: float, most: float, default: float) -> float:
        value = self.source.get(member, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.refused(f"{member} is a number")
        if not least <= value <= most:
            raise self.refused(f"{member} is from {least:g} to {most:g}")
        return value

    def words(self, member: str) -> Words | None:
        words = self.texts(member, self.source, 200, 60)
        if not all(word.strip("* ") for word in words):
            raise self.refused(f"{member} has an empty word")
        return Words(word.lower() for word in words) if words else None

    def pattern(self, member: str) -> _Pattern | None:
        source = self.text(member, _MAX_PATTERN)
        return None if source is None else self.compiled(member, source)

    def compiled(self, member: str, source: str) -> _Pattern:
        if self.accepted:
            return cast("_Pattern", _Late(source))
        try:
            return cast("_Pattern", compile_pattern(source))
        except PatternRefused as error:
            raise self.refused(f"{member}: {error}") from None

    def detector(self) -> Detector | None:
        name = self.text("detector", 64)
        if name is None:
            return None
        if name not in DETECTORS:
            raise self.refused("there is no such detector")
        return DETECTORS[name]

    def check(self) -> Validator | None:
        name = self.text("validator", 64)
        try:
            return None if name is None else validator(name)
        except ValueError as error:
            raise self.refused(f"validator: {error}") from None

    def check_prefilters(self) -> None:
        if "" in self.texts("prefilter", self.source, 200, 100):
            raise self.refused("prefilter has an empty string")
        given = self.source.get("prefilter_pattern")
        patterns = self.texts(
            "prefilter_pattern",
            {"prefilter_pattern": [given] if isinstance(given, str) else given or []},
            4,
            _MAX_PATTERN,
        )
        for pattern in patterns:
            self.compiled("prefilter_pattern", pattern)

    def rule(self) -> Rule:
        kind = self.text("kind", 64)
        if kind is None or not _KIND.fullmatch(kind):
            raise self.refused("kind is two to four names with a dot between")
        version = self.source.get("version")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise self.refused("version is a whole number from 1")
        detector, pattern = self.detector(), self.pattern("pattern")
        if (detector is None) == (pattern is None):
            raise self.refused("has either a detector or a pattern")
        self.text("description", 1000)
        self.check_prefilters()
        tests = self.source.get("tests", {})
        if not isinstance(tests, dict) or set(tests) - {"positive", "negative"}:
            raise self.refused("tests are an object with the lists positive and negative")
        return Rule(
            id=self.source["id"],
            kind=kind,
            level=self.one_of("level", LEVELS),
            action=self.one_of("action", ACTIONS),
            score=float(self.number("score", 0, 1, 0.8)),
            detector=detector,
            pattern=pattern,
            check=self.check(),
            context=self.words("context"),
            not_context=self.words("not_context"),
            within=int(self.number("within", 1, _MAX_WITHIN, 40)),
            positive=self.texts("positive", tests, _MAX_TESTS, _MAX_TEST),
            negative=self.texts("negative", tests, _MAX_TESTS, _MAX_TEST),
        )


class _Accepted(Sequence[Rule]):
    """Rules that were accepted before: each is read when a text first opens it."""

    def __init__(self, sources: list[dict[str, Any]]) -> None:
        self._sources = sources
        self._read: dict[int, Rule] = {}

    def __len__(self) -> int:
        return len(self._sources)

    @overload
    def __getitem__(self, number: int) -> Rule: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Rule]: ...
    def __getitem__(self, number: int | slice) -> Rule | Sequence[Rule]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        if number not in self._read:
            self._read[number] = _Reader(number, self._sources[number], accepted=True).rule()
        return self._read[number]


_ANYTHING = (("(?s).|^$",),)


def _prefilters(source: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """The groups of patterns of each of which one must be in a text."""
    literals = source.get("prefilter")
    given = source.get("prefilter_pattern") or []
    groups = [tuple(re.escape(literal) for literal in literals)] if literals else []
    groups += [(pattern,) for pattern in ([given] if isinstance(given, str) else given)]
    if not groups and source.get("pattern"):
        groups.append((source["pattern"],))
    return tuple(groups) or _ANYTHING


def _rule_set(sources: list[dict[str, Any]], rules: Sequence[Rule]) -> RuleSet:
    alone: dict[str, list[int]] = {}
    bits: dict[str, int] = {}
    joint: dict[str, list[tuple[int, int]]] = {}
    everything = [(number, _prefilters(source)) for number, source in enumerate(sources)]
    everything += [(-1 - i, ((pattern,),)) for i, (pattern, _) in enumerate(DECODERS)]
    bit = 1
    for number, groups in everything:
        together = 0
        for patterns in groups:
            for pattern in patterns:
                opens = alone.setdefault(pattern, [])
                if len(groups) == 1:
                    opens.append(number)
                else:
                    bits[pattern] = bits.get(pattern, 0) | bit
            together |= bit
            bit <<= 1
        if len(groups) > 1:
            for pattern in groups[0]:
                joint.setdefault(pattern, []).append((together, number))
    try:
        gate = Gate(alone)
    except GateRefused as error:
        raise RuleRefused(str(error)) from None
    return RuleSet(
        rules,
        gate,
        tuple(tuple(numbers) for numbers in alone.values()),
        tuple(bits.get(pattern, 0) for pattern in alone),
        tuple(tuple(joint.get(pattern, ())) for pattern in alone),
    )


def only(source: dict[str, Any], rule: Rule) -> RuleSet:
    """Return a set with this rule alone."""
    return _rule_set([source], (rule,))


@lru_cache(maxsize=16)
def prepare(rules_json: str, *, accepted: bool = False) -> RuleSet:
    """Return the rules of a JSON array ready to scan with.

    A rule is an object: ``id``, ``version`` (from 1), ``kind`` (``pii.email``), ``level`` (none,
    suspicious, high), ``action`` (allow, flag, review, redact, encrypt, block), and what to look
    for: ``detector``, the name of a built-in one, or ``pattern``, a regular expression of RE2 whose
    first group, if it has one, is the place. Optional: ``score`` (0 to 1, of a pattern's findings),
    ``validator``, ``context`` and ``not_context`` (words of which one, or none, must stand within
    ``within`` characters before the place; the first also half as far behind it; `*` at a word's
    end stands for any ending), ``prefilter`` (literals, of which one must be in a text, whatever
    the case, for the rule to be tried), ``prefilter_pattern`` (or several, all of which must
    be), ``description``, and ``tests`` (``positive``, ``negative``: texts, for ``check_rules``).

    ``accepted`` says that this was done when the rules were defined: they are read and their
    patterns compiled one by one, when a text asks for them, and not all at once, which takes longer
    than many writes.

    Raises: RuleRefused, naming the rule and what is wrong.
    """
    try:
        sources = json.loads(rules_json)
    except (ValueError, RecursionError):
        raise RuleRefused("the rules are no JSON") from None
    if not isinstance(sources, list) or len(sources) > MAX_RULES:
        raise RuleRefused(f"the rules are a JSON array of at most {MAX_RULES}")
    if accepted:
        for source in sources:
            # Were looked at then, and would lie in the memory of every connection.
            source.pop("tests", None)
            source.pop("description", None)
        return _rule_set(sources, _Accepted(sources))
    rules = tuple(
        _Reader(index, source, accepted=False).rule() for index, source in enumerate(sources)
    )
    names = [rule.id for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise RuleRefused(f"rule {name}: is there twice")
    return _rule_set(sources, rules)
