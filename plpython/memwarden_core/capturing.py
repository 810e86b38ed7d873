"""A capture without what is sensitive in it: what a write would be refused for is masked."""

from __future__ import annotations

import json
from functools import lru_cache

from . import canonical, screening
from .light import NamedTuple
from .sensitive import scan as sensitive
from .sensitive.findings import Finding

_TAKEN_OUT = ("block", "encrypt")


class Masked(NamedTuple):
    """Content and arguments as they may be kept, and where something was taken out of them."""

    content: object
    arguments: dict[str, object]
    found: list[Finding]


@lru_cache(maxsize=16)
def masking(rules: str) -> str:
    """Rules (a JSON array) of which each that lets nothing stay takes it out."""
    changed = [
        rule | {"action": "redact"} if rule["action"] in _TAKEN_OUT else rule
        for rule in json.loads(rules)
    ]
    return json.dumps(changed)


def masked(content: object, arguments: dict[str, object], rules: sensitive.RuleSet) -> Masked:
    """Return them masked by rules that ``masking`` made.

    Where a finding cannot be cut out of its text, nothing of the argument is kept but its kind.
    """
    request = {"content": content} | arguments
    found = [f for f in screening.screen(request, rules) if f.action == "redact"]
    if not found:
        return Masked(content, arguments, [])
    done = screening.cleaned(request, rules, None)
    kept = done.request
    for finding in done.refused:
        name = finding.path.split("/")[1]
        kept[name] = f"[{finding.kind}]"
    clean = kept.pop("content")
    return Masked(clean, kept, found)


def mask(content: str, arguments: str, rules: str) -> tuple[str | None, ...]:
    """Return (canonical content, arguments, findings, None), or (None, None, None, the fault).

    All are JSON texts; findings are None where there are none.
    """
    prepared = sensitive.prepare(masking(rules))
    try:
        done = masked(canonical.parse(content), json.loads(arguments), prepared)
        text = canonical.serialise(done.content).decode()
    except canonical.NotCanonical as error:
        return None, None, None, error.message
    found = json.dumps(screening.report(done.found, prepared)) if done.found else None
    return text, json.dumps(done.arguments, ensure_ascii=False), found, None
