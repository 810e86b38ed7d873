"""Two structured contents of one thing, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..bookkeeping import BARE, bookkeeping, is_message, names_whose
from ..normalise import fold
from .reading import read
from .sentences import Finding, compare

MAX_LEAVES = 64
_MAX_DEPTH = 8
MAX_VALUE = 2_000
_SHORT = 6
"""A value of so many words names something; a longer one tells something."""
_SURE = 0.92
_KEPT = ""
"""Ends the path of bookkeeping: two memories that differ in it are two, and do not contradict."""

Leaves = dict[tuple[str, ...], object]


class _TooLarge(Exception):
    """A content with more, deeper or longer values than are compared."""


def leaves(content: object) -> Leaves | None:
    """The values of a content by their path; texts folded. None for one that is too large."""
    try:
        walk = _walk(content, (), _MAX_DEPTH, [MAX_LEAVES], beside=False)
        return dict(islice(walk, MAX_LEAVES))
    except _TooLarge:
        return None


def _walk(
    value: object, path: tuple[str, ...], depth: int, left: list[int], *, beside: bool
) -> Iterator[tuple[tuple[str, ...], object]]:
    left[0] -= 1
    if depth < 0 or left[0] < 0:
        raise _TooLarge
    if isinstance(value, dict):
        kept = bookkeeping(value, beside=beside)
        beside = beside or is_message(value)
        for name, child in value.items():
            end = (_KEPT,) if name in kept or names_whose(name) else ()
            yield from _walk(child, (*path, name, *end), depth - 1, left, beside=beside)
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield from _walk(child, (*path, f"[{place}]"), depth - 1, left, beside=beside)
    elif isinstance(value, str):
        if len(value) > MAX_VALUE:
            raise _TooLarge
        # Bookkeeping is of identifiers, which are compared to the letter.
        yield path, value if path[-1:] == (_KEPT,) else " ".join(fold(value).split())
    elif value is not None:
        yield path, str(value).lower() if isinstance(value, bool) else value


def untold(fields: Leaves, text: str) -> frozenset[tuple[tuple[str, ...], object]]:
    """What of a content its folded text does not show: a template may leave out what matters."""
    return frozenset(
        (path, value)
        for path, value in fields.items()
        if path[-1:] == (_KEPT,)
        or str(value).lower() not in text
        or not all(
            name in BARE or name.startswith("[") or " ".join(fold(name).split()) in text
            for name in path
        )
    )


def compare_fields(ours: Leaves | None, theirs: Leaves | None, *, one_key: bool) -> Finding | None:
    """How two contents of one subject stand to each other; None where their words must tell.

    With one key (subject and predicate) another short value is another claim. Without, the
    contents must be objects that share a field.
    """
    if not ours or not theirs:
        return None
    shared = ours.keys() & theirs.keys()
    if not shared or (not one_key and () in shared):
        return None
    covered = len(shared) / max(len(ours), len(theirs))
    changed = [path for path in shared if path[-1:] != (_KEPT,) and ours[path] != theirs[path]]
    if not one_key and len(changed) > 1 and any(_is_code(ours[p], theirs[p]) for p in changed):
        # Hall 0 at 3 rpm, hall 4 at 31 rpm: one of the two may say which thing it is.
        return Finding("unrelated", 0.0, "another_subject", covered)
    relations = set()
    for path in shared:
        if path[-1:] == (_KEPT,):
            if ours[path] != theirs[path]:
                return None
            continue
        found = _values(ours[path], theirs[path])
        if found is None:
            return None
        if found.relation == "contradicts":
            return found._replace(covered=covered)
        relations.add(found.relation)
    if len(ours) > len(shared):
        relations.add("narrower")
    if len(theirs) > len(shared):
        relations.add("wider")
    relations.discard("same")
    if not relations:
        return Finding("same", 0.99, "attribute", covered)
    if len(relations) == 1 and relations <= {"narrower", "wider"}:
        return Finding(relations.pop(), 0.95, "attribute", covered)
    return Finding("unrelated", 0.0, "attribute", covered)


def _is_code(*values: object) -> bool:
    """Whether values may tell things of one kind apart: figures, letters, words with a figure."""
    return all(
        not isinstance(each, str)
        or len(each) == 1
        or (any(map(str.isdigit, each)) and len(each.split()) == 1)
        for each in values
    )


def _values(new: object, old: object) -> Finding | None:
    """How two values of one field stand to each other; None where only the whole text can tell."""
    if new == old:
        return Finding("same", 1.0, "attribute", 1.0)
    if not isinstance(new, str) or not isinstance(old, str):
        method = "attribute" if isinstance(new, str) or isinstance(old, str) else "number"
        return Finding("contradicts", _SURE, method, 1.0)
    ours, theirs = read(new), read(old)
    if len(ours) != 1 or len(theirs) != 1:
        return None
    found = compare(ours[0], theirs[0])
    if found.relation != "unrelated":
        return found
    if max(len(ours[0].words), len(theirs[0].words)) > _SHORT:
        return None
    method = found.method if found.method in ("number", "date", "antonym", "group") else "attribute"
    if found.method in ("order", "hedge", "time"):
        return None
    return Finding("contradicts", _SURE, method, found.covered, ours[0].marks)
