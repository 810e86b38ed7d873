"""Taking out what a scan found."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from ..light import Any
from .findings import Finding
from .values import number_text, pointer

Replacement = Callable[[Finding], str]


def bracketed(finding: Finding) -> str:
    """Return `[pii.email]` for a finding of that kind."""
    return f"[{finding.kind}]"


def redact(
    value: object, findings: Iterable[Finding], replacement: Replacement = bracketed
) -> object:
    """Return a copy of a JSON value without what ``scan_value`` found in it.

    Each place gives way to its ``replacement``; an encoded one goes as a whole, and a number
    becomes a string. Findings of length 0 change nothing. What was split over the strings of an
    array is replaced in the first of them and taken out of the others.
    """
    places: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        places.setdefault((finding.part, finding.path), []).append(finding)
    return _redacted(value, "", places, replacement)


def redact_text(
    text: str, findings: Iterable[Finding], replacement: Replacement = bracketed
) -> str:
    """Return a text without what ``scan`` found in it."""
    return _cut(text, [(f.start, f.end, replacement(f)) for f in findings if f.length])


def _cut(text: str, places: list[tuple[int, int, str]]) -> str:
    kept = []
    done = 0
    for start, end, instead in sorted(places):
        if start >= done:
            kept += [text[done:start], instead]
        done = max(done, end)
    kept.append(text[done:])
    return "".join(kept)


def _redacted(
    value: object,
    path: str,
    places: dict[tuple[str, str], list[Finding]],
    replacement: Replacement,
) -> object:
    if isinstance(value, dict):
        result: dict[str, Any] = {}
        for name, child in value.items():
            here = pointer(path, name)
            new = redact_text(name, places.get(("key", here), ()), replacement)
            while new in result:  # two names that say the same once redacted
                new += "'"
            result[new] = _redacted(child, here, places, replacement)
        return result
    if isinstance(value, list):
        split = _split(value, places.get(("joined", path), []), replacement)
        return [
            _cut(child, own)
            if isinstance(child, str)
            and (own := split.get(i, []) + _own(pointer(path, i), places, replacement))
            else _redacted(child, pointer(path, i), places, replacement)
            for i, child in enumerate(value)
        ]
    text = value if isinstance(value, str) else number_text(value)
    own = _own(path, places, replacement)
    return _cut(text, own) if text is not None and own else value


def _own(
    path: str, places: dict[tuple[str, str], list[Finding]], replacement: Replacement
) -> list[tuple[int, int, str]]:
    findings = places.get(("value", path), ())
    return [(f.start, f.end, replacement(f)) for f in findings if f.length]


def _split(
    value: list[object], findings: list[Finding], replacement: Replacement
) -> dict[int, list[tuple[int, int, str]]]:
    """Return, by element, what to cut out of the strings of an array read as one."""
    numbers = [i for i, child in enumerate(value) if isinstance(child, str)]
    lengths = [len(child) for child in value if isinstance(child, str)]
    begins = [0, *accumulate(lengths)]
    cuts: dict[int, list[tuple[int, int, str]]] = {}
    for finding in findings:
        instead = replacement(finding)
        piece = max(bisect_right(begins, finding.start) - 1, 0)
        while piece < len(numbers) and begins[piece] < finding.end:
            start = max(finding.start - begins[piece], 0)
            end = min(finding.end - begins[piece], lengths[piece])
            if end > start:
                cuts.setdefault(numbers[piece], []).append((start, end, instead))
                instead = ""
            piece += 1
    return cuts
