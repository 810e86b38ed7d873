"""What an answer says when it is given: screened again, and without what must not cross.

A document is a JSON object of what is told of one memory: content, text, subject and so on.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from .late import late
from .light import Any, NamedTuple
from .masking import mask
from .mentions import _said, term
from .named import occurs
from .screening import screen
from .sensitive.scan import Finding, RuleSet, redact

_URI = late(r"\b[A-Za-z][A-Za-z0-9+.-]*:(?://)[^\s\"'<>()\[\]]+|\bmemwarden:[^\s\"'<>()\[\]]+")
_ROUNDS = 3
_WORDS = ("content", "text")


class Crossed(NamedTuple):
    """A document as it is told, and the kinds of what today's rules find in it as it is stored."""

    document: str
    suspicious: list[str]


def present(
    document: str,
    rules: RuleSet | None,
    strip: RuleSet | None,
    names: Sequence[str],
    without_uris: bool,
) -> Crossed:
    """Return a document (JSON object) as it may be told.

    ``rules`` are those of its layer, None where they have been asked since they are in force:
    what they would block is withheld, what they would redact or encrypt is redacted, and whatever
    they find is named. ``strip``: whose findings are taken out whatever their action; ``names``:
    what is masked.
    """
    told: dict[str, Any] = json.loads(document)
    suspicious: list[str] = []
    if rules is not None:
        told, suspicious = _screened(told, rules)
    if strip is not None:
        told = _taken_out(told, strip, None)
    if without_uris:
        told = {name: _without_uris(value) for name, value in told.items()}
    text = json.dumps(told, ensure_ascii=False)
    here = _said_here(text, names)
    return Crossed((mask(text, here) or text) if here else text, suspicious)


def _said_here(document: str, names: Sequence[str]) -> list[str]:
    """Those of many names that are anywhere in a document: looking for each is dear."""
    if not names:
        return []
    words = term(_said(document))
    return [name for name in names if (wanted := term(name)) and occurs(words, wanted)]


def _screened(told: dict[str, Any], rules: RuleSet) -> tuple[dict[str, Any], list[str]]:
    found = screen(told, rules)
    if not found:
        return told, []
    actions = {rule.id: rule.action for rule in rules.rules}
    kinds = sorted({f.kind for f in found})
    # A name that a write would be refused for is not refused here: it is redacted.
    acts = {actions.get(f.rule, f.action) for f in found}
    if "block" in acts:
        return told | dict.fromkeys(_WORDS), kinds
    if acts & {"redact", "encrypt"}:
        told = _taken_out(
            told, rules, {r for r, a in actions.items() if a in ("redact", "encrypt")}
        )
    return told, kinds


def _taken_out(
    told: dict[str, Any], rules: RuleSet, only: Collection[str] | None
) -> dict[str, Any]:
    """The document without what the rules find; a value that keeps yielding goes as a whole."""

    def waiting() -> list[Finding]:
        return [f for f in screen(told, rules) if only is None or f.rule in only or not f.length]

    for _ in range(_ROUNDS):
        found = waiting()
        if not found:
            return told
        told = {name: _redacted(name, value, found) for name, value in told.items()}
    left = {f.path.split("/")[1] for f in waiting()}
    return {name: None if name in left else value for name, value in told.items()}


def _redacted(name: str, value: object, found: list[Finding]) -> object:
    own = [
        f._replace(path=f.path[len(name) + 1 :])
        for f in found
        if f.path == f"/{name}" or f.path.startswith(f"/{name}/")
    ]
    return redact(value, own) if own else value


def _without_uris(value: Any) -> Any:
    if isinstance(value, str):
        return _URI.sub("[uri]", value)
    if isinstance(value, list):
        return [_without_uris(child) for child in value]
    if isinstance(value, dict):
        return {_without_uris(name): _without_uris(child) for name, child in value.items()}
    return value
