"""Two contents of one thing become one, field by field, by the merge policy of their schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial

from .canonical import parse_stored, serialise
from .examine import prepared_synonyms
from .fingerprint import normalised_value
from .light import Any, NamedTuple
from .normalise import normalise

MOST_CHARACTERS = 8000
"""What texts that are put together may have; beyond, they are in conflict."""

OTHERS = "*"
"""The name under which a policy has the rule for every field that it does not name."""

_UNSETTLED = object()
_Value = Callable[[object], bytes]


class Merged(NamedTuple):
    """What ``merge`` made of two contents.

    ``content`` has all their fields. ``told``: by field what was done with two different values
    (the rule), or ``added`` for a field that only the newer has. ``conflicts``: the fields whose
    rule settles nothing; the older value stands in them.
    """

    content: dict[str, object]
    told: dict[str, str]
    conflicts: list[str]


def _union(old: Any, new: Any, form: _Value) -> object:
    if not isinstance(old, list) or not isinstance(new, list):
        return _UNSETTLED
    kept = {form(value): value for value in reversed(old + new)}
    return [value for value in old + new if kept.pop(form(value), _UNSETTLED) is not _UNSETTLED]


def _extreme(pick: Callable[[Any, Any], Any], old: Any, new: Any, _form: _Value) -> object:
    texts = isinstance(old, str) and isinstance(new, str)
    # True is an int to Python.
    numbers = {type(old), type(new)} <= {int, float}
    return pick(old, new) if texts or numbers else _UNSETTLED


def _concatenate(old: Any, new: Any, _form: _Value) -> object:
    if not isinstance(old, str) or not isinstance(new, str):
        return _UNSETTLED
    if new in old or old in new:
        return max(old, new, key=len)
    text = f"{old}\n{new}"
    return text if len(text) <= MOST_CHARACTERS else _UNSETTLED


RULES: Mapping[str, Callable[[Any, Any, _Value], object]] = {
    "keep": lambda old, _new, _form: old,
    "replace": lambda _old, new, _form: new,
    "union": _union,
    "max": partial(_extreme, max),
    "min": partial(_extreme, min),
    "concatenate": _concatenate,
    "conflict": lambda _old, _new, _form: _UNSETTLED,
}


class PolicyRefused(ValueError):
    """A merge policy that cannot be used; the message says why."""


def check_merge_policy(policy: str) -> None:
    """Raises: PolicyRefused unless it is a JSON object from field to rule."""
    rules = json.loads(policy)
    if not isinstance(rules, dict) or not rules:
        raise PolicyRefused("merge_policy: an object from field, or *, to rule")
    wrong = [rule for rule in rules.values() if not isinstance(rule, str) or rule not in RULES]
    if wrong:
        raise PolicyRefused(f"merge_policy: a rule is one of {', '.join(RULES)}")


def merge(
    old: Mapping[str, object],
    new: Mapping[str, object],
    policy: Mapping[str, str],
    synonyms: str | None = None,
    *,
    newer_wins: bool = False,
) -> Merged:
    """Merge two contents by a policy that ``check_merge_policy`` accepts.

    Values that are the same but for spelling keep the older spelling. ``newer_wins`` settles what
    would be a conflict for the newer content.
    """
    table = prepared_synonyms(synonyms) if synonyms is not None else None

    def form(value: object) -> bytes:
        return serialise(normalised_value(value, lambda text: normalise(text, table)))

    content, told, conflicts = dict(old), {}, []
    for name, value in new.items():
        if name not in old:
            content[name], told[name] = value, "added"
        elif form(old[name]) != form(value):
            rule = policy.get(name, policy.get(OTHERS, "conflict"))
            settled = RULES[rule](old[name], value, form)
            if settled is _UNSETTLED and newer_wins:
                rule, settled = "replace", value
            if settled is _UNSETTLED:
                conflicts.append(name)
            else:
                content[name] = settled
                # To Python false is 0.
                if serialise(settled) != serialise(old[name]):
                    told[name] = rule
    return Merged(content, told, conflicts)


def merge_contents(
    old: str, new: str, policy: str, synonyms: str | None, *, newer_wins: bool
) -> tuple[str | None, str | None, list[str] | None]:
    """Return (content, told (JSON object), conflicts); three times None for what has no fields.

    ``old`` and ``new`` are stored or canonical contents.
    """
    older, newer = parse_stored(old), parse_stored(new)
    if not isinstance(older, dict) or not isinstance(newer, dict):
        return None, None, None
    done = merge(older, newer, json.loads(policy), synonyms, newer_wins=newer_wins)
    return serialise(done.content).decode(), json.dumps(done.told), done.conflicts
