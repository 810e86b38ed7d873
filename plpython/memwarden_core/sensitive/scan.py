"""Sensitive content: personal data, secrets, hidden instructions (design 6, gate 30).

``scan`` looks at one text, ``scan_value`` at every string of a JSON value, ``redact`` takes out
what they found. Findings say where something is and never what, so they can be stored and shown.
Everything takes time linear in the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..late import late
from .context import lowered
from .decoding.decode import MAX_DEPTH, SHRINKING, Decoder
from .findings import Finding, capped, settle, too_deep
from .redact import redact
from .ruleset import Rule, RuleRefused, RuleSet, only, prepare
from .validators import NumberCheck
from .values import Part, parts
from .views import Budget, Original, View

__all__ = [
    "Finding",
    "RuleRefused",
    "RuleSet",
    "check_rules",
    "prepare",
    "redact",
    "scan",
    "scan_value",
]

_SURROGATE = late("[\ud800-\udfff]")
_DECODED_SCORE = 0.95


def scan(text: str, rules: RuleSet) -> list[Finding]:
    """Return what the rules find in a text, in order of place.

    Encoded parts are decoded and scanned too; a finding in them is the place of the encoded part.
    Where findings of personal data and secrets overlap, the weightiest stays; hidden instructions
    and invisible characters are judged apart from them. At most MAX_FINDINGS, and one of rule
    `too_many` when there were more.
    """
    found = list(_raw(text, rules))
    return settle(found, len(text)) if found else found


def _raw(text: str, rules: RuleSet) -> Iterator[Finding]:
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    opened, decoders = rules.open(text)
    if not decoders:
        # Most texts have nothing to decode.
        if opened:
            yield from _in_view(Original(text), opened, 0)
        return
    budget = Budget(text)
    level: list[tuple[View, frozenset[Decoder]]] = [(Original(text), frozenset())]
    for depth in range(MAX_DEPTH + 1):
        deeper: list[tuple[View, frozenset[Decoder]]] = []
        for view, used in level:
            if depth:
                opened, decoders = rules.open(view.text)
            if opened:
                yield from _in_view(view, opened, depth)
            for decode in decoders:
                if depth == MAX_DEPTH or decode in used:
                    continue
                again = used if decode in SHRINKING else used | {decode}
                for child in decode(view):
                    if not budget.allows(child):
                        yield too_deep(len(text))
                        return
                    deeper.append((child, again))
        level = deeper


def _in_view(view: View, opened: list[Rule], depth: int) -> Iterator[Finding]:
    lower = lowered(view.text)
    for rule in opened:
        for hit in rule.hits(view.text, lower):
            start, end = view.place(hit.start, hit.end)
            score = round(hit.score * _DECODED_SCORE**depth, 3)
            yield Finding(rule.id, rule.kind, rule.level, rule.action, start, end - start, score)


def scan_value(value: object, rules: RuleSet) -> list[Finding]:
    """Return what the rules find in the strings, names and long numbers of a JSON value.

    A string is judged with the name that it stands under. The strings of an array are also read as
    one text, for what was split over them: a finding there counts characters of the strings run
    together, and only what is of level high, or an instruction, is one.
    """
    found: list[Finding] = []
    for part in parts(value):
        here = scan(part.text, rules)
        if not here:
            continue
        placed = _joined if part.part == "joined" else _named
        found += [place for finding in here if (place := placed(part, finding)) is not None]
    return capped(list(dict.fromkeys(found)))


def _named(part: Part, finding: Finding) -> Finding | None:
    """Place what was found in a name and its string in the one or the other."""
    if finding.end > part.named:
        start = max(finding.start, part.named)
        return finding._replace(
            path=part.path, part=part.part, start=start - part.named, length=finding.end - start
        )
    if part.owns_name:
        length = min(finding.end, part.named - 2) - finding.start
        return finding._replace(path=part.path, part="key", length=max(length, 0))
    return None


def _joined(part: Part, finding: Finding) -> Finding | None:
    """Place what was found in the strings of an array, without the gaps between them."""
    if finding.level != "high" and not finding.kind.startswith("injection."):
        return None
    if not part.crosses(finding.start, finding.end):
        return None
    start = finding.start - part.gap * part.piece(finding.start)
    end = finding.end - part.gap * part.piece(finding.end - 1)
    return finding._replace(path=part.path, part="joined", start=start, length=end - start)


def check_rules(rules_json: str) -> list[str]:
    """Return what is wrong with rules, the failures of their own tests among it.

    A rule must find something in each of its positive tests, and nothing in the negative ones.
    """
    try:
        together = prepare(rules_json)
    except RuleRefused as error:
        return [str(error)]
    faults = []
    for source, rule in zip(json.loads(rules_json), together.rules, strict=True):
        if isinstance(rule.check, NumberCheck):
            try:
                rule.check.load()
            except ValueError as error:
                faults.append(f"rule {rule.id}: validator: {error}")
                continue
        alone = together if len(together.rules) == 1 else only(source, rule)
        for number, text in enumerate(rule.positive, 1):
            if not scan(text, alone):
                faults.append(f"rule {rule.id}: does not find its positive test {number}")
        for number, text in enumerate(rule.negative, 1):
            if scan(text, alone):
                faults.append(f"rule {rule.id}: finds its negative test {number}")
    return faults
