"""What a scan reports: where something sensitive stands, never what it is."""

from __future__ import annotations

from collections.abc import Iterable

from ..light import NamedTuple

LEVELS = ("none", "suspicious", "high")
ACTIONS = ("allow", "flag", "review", "redact", "encrypt", "block")
MAX_FINDINGS = 100


class Hit(NamedTuple):
    """A place that a detector points at, in the text that it was given."""

    start: int
    end: int
    score: float


class Finding(NamedTuple):
    """One sensitive place.

    ``start`` and ``length`` count characters of the string that was scanned. In a value that string
    is named by ``path`` (a JSON Pointer) and ``part``: ``value``, ``key`` (the member's name), or
    ``joined`` (the strings of the array at ``path``, one after the other).
    """

    rule: str
    kind: str
    level: str
    action: str
    start: int
    length: int
    score: float
    path: str = ""
    part: str = "value"

    @property
    def end(self) -> int:
        """The first character after it."""
        return self.start + self.length

    @property
    def weight(self) -> tuple[int, int, float, int]:
        """What decides between two findings in one place: action, level, score, length.

        The strictest stays, so that no rule can hide what another one blocks.
        """
        return ACTIONS.index(self.action), LEVELS.index(self.level), self.score, self.length


def too_deep(length: int) -> Finding:
    """What stands for decoded text that was not looked at any more."""
    return Finding("too_deep", "limit.decoding", "suspicious", "flag", 0, length, 1.0)


def too_many(start: int) -> Finding:
    """What stands for the findings beyond the limit."""
    return Finding("too_many", "limit.findings", "suspicious", "flag", start, 0, 1.0)


def _layer(kind: str) -> str:
    """Findings of one layer exclude each other where they overlap."""
    family = kind.partition(".")[0]
    return "data" if family in ("pii", "secret") else family


def settle(findings: Iterable[Finding], length: int) -> list[Finding]:
    """Return the weightiest findings that do not overlap within a layer, by their place.

    ``length`` is that of the scanned text. Takes time linear in what the findings cover.
    """
    taken: dict[str, bytearray] = {}
    kept = []
    for finding in sorted(findings, key=lambda f: f.weight, reverse=True):
        mask = taken.setdefault(_layer(finding.kind), bytearray(length))
        place = slice(finding.start, finding.end)
        if 1 in mask[place]:
            continue
        mask[place] = b"\x01" * finding.length
        kept.append(finding)
    return capped(kept)


def capped(findings: list[Finding]) -> list[Finding]:
    """Return at most MAX_FINDINGS, the weightiest, in order, and whether there were more."""
    if len(findings) > MAX_FINDINGS:
        findings = sorted(findings, key=lambda f: f.weight, reverse=True)
        first_left = min(findings[MAX_FINDINGS:], key=lambda f: (f.path, f.start))
        mark = too_many(first_left.start)._replace(path=first_left.path, part=first_left.part)
        findings = [*findings[:MAX_FINDINGS], mark]
    return sorted(findings, key=lambda f: (f.path, f.part, f.start, f.rule))
