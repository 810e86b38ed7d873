"""What of a write request is sensitive, and the request without it.

A request is a mapping from the names of its arguments to JSON values. Findings name places by JSON
Pointer, the argument first: ``/content/notes/0``, ``/evidence/1/uri``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from .late import late
from .light import NamedTuple
from .sensitive.findings import LEVELS, capped
from .sensitive.scan import Finding, RuleSet, redact, scan, scan_value
from .sensitive.values import number_text

# Two subjects that were cut out would become one: a name gets a token of its own, or is refused.
_NAMES = frozenset(["subject", "predicate"])
# What is compared or looked up as it stands.
_FIXED = frozenset(["kind", "idempotency_key"])
# What stands where something was taken out.
_TOKEN = late(r"\[(?:encrypted:)?([a-z0-9_.]{3,64})(?::[a-p]{32})?\]")
_ROUNDS = 3
_LONGEST_NAME = 64

Seal = Callable[[str, str], str]


class Clean(NamedTuple):
    """A request without what was to be taken out, and what is still to be refused in it."""

    request: dict[str, object]
    refused: list[Finding]


def screen(request: Mapping[str, object], rules: RuleSet) -> list[Finding]:
    """Return what the rules find in a request, each with the action that can be taken there."""
    found: list[Finding] = []
    for name, value in request.items():
        here = scan(value, rules) if isinstance(value, str) else scan_value(value, rules)
        if here:
            found += [
                _judged(name, finding)
                for finding in here
                if finding.action != "allow" and not _is_token(value, finding, rules)
            ]
    return capped(found) if found else found


def _is_token(value: object, finding: Finding, rules: RuleSet) -> bool:
    """Whether the place is what was put where something was taken out: `password: [secret.pin]`."""
    if finding.part == "joined" or not finding.length:
        return False
    return any(
        match.start() <= finding.start and finding.end <= match.end() and match[1] in _kinds(rules)
        for match in _TOKEN.finditer(_text_at(value, finding))
    )


@lru_cache(maxsize=16)
def _kinds(rules: RuleSet) -> frozenset[str]:
    # A connection that meets no such token never loads the shipped rules.
    from .sensitive.rules.shipped import DEFAULT_RULES

    return frozenset(r.kind for r in rules.rules) | {r["kind"] for r in DEFAULT_RULES}


def _judged(name: str, finding: Finding) -> Finding:
    action = finding.action
    if (action == "redact" and name in _NAMES) or (
        action in ("redact", "encrypt") and name in _FIXED
    ):
        action = "block"
    return finding._replace(action=action, path=f"/{name}{finding.path}")


def sensitivity(findings: Iterable[Finding]) -> str:
    """Return the level of what stays in a request: none, suspicious or high."""
    levels = [LEVELS.index(f.level) for f in findings if f.action in ("flag", "review")]
    levels += [LEVELS.index("high") for f in findings if f.action == "block"]
    return LEVELS[max(levels, default=0)]


def report(findings: Iterable[Finding], rules: RuleSet) -> list[dict[str, object]]:
    """Return findings as they may be stored and shown: no sensitive name is in a path."""
    return [
        {
            "rule": f.rule,
            "kind": f.kind,
            "level": f.level,
            "action": f.action,
            "path": _shown(f.path, rules),
            "part": f.part,
            "start": f.start,
            "length": f.length,
            "score": f.score,
        }
        for f in findings
    ]


def _shown(path: str, rules: RuleSet) -> str:
    first, *names = path[1:].split("/")
    shown = [first]
    for name in names:
        plain = name.replace("~1", "/").replace("~0", "~")
        hidden = len(plain) > _LONGEST_NAME or scan(plain, rules)
        shown.append("*" if hidden else name)
    return "/" + "/".join(shown)


def cleaned(request: Mapping[str, object], rules: RuleSet, seal: Seal | None) -> Clean:
    """Return a request with places to redact replaced, and places to encrypt replaced by a token.

    ``seal`` takes kind and text of a place and returns its token; without one such places are
    refused. What is still there after a few rounds is refused too.
    """
    result = dict(request)
    for _ in range(_ROUNDS):
        waiting = [f for f in screen(result, rules) if f.action in ("redact", "encrypt")]
        if not waiting:
            return Clean(result, [])
        if seal is None and any(f.action == "encrypt" for f in waiting):
            break
        for name, value in result.items():
            own = [
                f._replace(path=f.path[len(name) + 1 :])
                for f in waiting
                if f.path == f"/{name}" or f.path.startswith(f"/{name}/")
            ]
            if own:
                result[name] = _replaced(value, own, seal)
    return Clean(
        result,
        [
            f._replace(action="block")
            for f in screen(result, rules)
            if f.action in ("redact", "encrypt")
        ],
    )


def _replaced(value: object, findings: list[Finding], seal: Seal | None) -> object:
    def replacement(finding: Finding) -> str:
        # What is split over the strings of an array is in no one place: it is not kept.
        if finding.action == "encrypt" and seal is not None and finding.part != "joined":
            text = _text_at(value, finding)
            return seal(finding.kind, text[finding.start : finding.end])
        return f"[{finding.kind}]"

    return redact(value, findings, replacement)


def _text_at(value: object, finding: Finding) -> str:
    names = [name.replace("~1", "/").replace("~0", "~") for name in finding.path.split("/")[1:]]
    if finding.part == "key":
        return names[-1]
    for name in names:
        if isinstance(value, dict):
            value = value[name]
        elif isinstance(value, list):
            value = value[int(name)]
    return value if isinstance(value, str) else (number_text(value) or "")
