"""What a proposal would change in the memory that it would replace."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from markupsafe import Markup

from memwarden.console.text import visible

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_COMPARED = 2000  # words: comparing takes their square
_GONE = Markup("<del>{}</del>")
_NEW = Markup("<ins>{}</ins>")


class Change(NamedTuple):
    """One field, before and after, as HTML; None where it is not there."""

    field: str
    kind: str
    before: Markup | None
    after: Markup | None


def changes(before: Any, after: Any) -> list[Change]:
    """Compare two contents field by field, and the words of those that differ."""
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        before, after = {"content": before}, {"content": after}
    return [_change(name, before, after) for name in _names(before, after)]


def _names(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    yield from after
    yield from (name for name in before if name not in after)


def _change(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Change:
    if name not in before:
        return Change(name, "added", None, _NEW.format(visible(_said(after[name]))))
    if name not in after:
        return Change(name, "removed", _GONE.format(visible(_said(before[name]))), None)
    old, new = _said(before[name]), _said(after[name])
    if old == new:
        return Change(name, "same", visible(old), visible(new))
    return Change(name, "changed", *_marked(old, new))


def _marked(old: str, new: str) -> tuple[Markup, Markup]:
    was, now = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(was), len(now)) > _COMPARED:
        return _GONE.format(visible(old)), _NEW.format(visible(new))
    left, right = [], []
    for kind, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        gone, came = visible("".join(was[a:b])), visible("".join(now[c:d]))
        left.append(gone if kind == "equal" or not gone else _GONE.format(gone))
        right.append(came if kind == "equal" or not came else _NEW.format(came))
    return Markup("").join(left), Markup("").join(right)


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
