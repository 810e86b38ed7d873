"""Hash trees in the shape of RFC 6962, over SHA-256: what the log is sealed with.

A leaf is SHA-256(0x00 || data), an inner node SHA-256(0x01 || left || right); of n > 1 leaves the
largest power of two below n go left. Runs of hashes are ``bytes``, 32 each.

A tree that grows is kept as its *perfect* subtrees: the one of level h at position p covers the
leaves p * 2**h to (p + 1) * 2**h - 1 and never changes. Leaf number n (from 1) completes those of
level 0 to the number of times that 2 divides n.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator

from .light import NamedTuple

SIZE = 32
"""Bytes of a hash."""

Node = Callable[[int, int], bytes]
"""Gives the hash of the perfect subtree of a level at a position."""


def hash_leaf(data: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def hash_children(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def _nodes(leaves: bytes) -> Node:
    """The perfect subtrees over leaf hashes."""
    levels = [[leaves[i : i + SIZE] for i in range(0, len(leaves), SIZE)]]
    while len(levels[-1]) > 1:
        row = levels[-1]
        levels.append([hash_children(row[i], row[i + 1]) for i in range(0, len(row) - 1, 2)])
    return lambda level, position: levels[level][position]


def _left(size: int) -> int:
    """How many of so many leaves go left: the largest power of two below."""
    return 1 << (size - 1).bit_length() - 1


def _subtree(start: int, size: int, node: Node) -> bytes:
    """The hash over so many leaves from one on, as the tree has them together."""
    parts = []
    while size & (size - 1):
        left = _left(size)
        parts.append(node(left.bit_length() - 1, start // left))
        start, size = start + left, size - left
    level = size.bit_length() - 1
    found = node(level, start >> level)
    for part in reversed(parts):
        found = hash_children(part, found)
    return found


def tree_root(size: int, node: Node) -> bytes:
    """The root over the first ``size`` leaves of a growing tree."""
    return _subtree(0, size, node) if size else hashlib.sha256().digest()


def tree_path(index: int, size: int, node: Node) -> bytes:
    """The hashes that lead from a leaf (from 0) to the root over the first ``size``, lowest first.

    Raises: ValueError for a leaf that is not among them.
    """
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} of {size}")
    path, start = [], 0
    while size > 1:
        left = _left(size)
        if index < left:
            path.append(_subtree(start + left, size - left, node))
            size = left
        else:
            path.append(_subtree(start, left, node))
            start, index, size = start + left, index - left, size - left
    return b"".join(reversed(path))


def completed(index: int, leaf: bytes, node: Node) -> bytes:
    """The hashes of the perfect subtrees that a new leaf (from 0) completes, its own first."""
    nodes = [leaf]
    level = 0
    while index >> level & 1:
        nodes.append(hash_children(node(level, (index >> level) - 1), nodes[-1]))
        level += 1
    return b"".join(nodes)


def root(leaves: bytes) -> bytes:
    """The root over leaf hashes."""
    return tree_root(len(leaves) // SIZE, _nodes(leaves))


def path(leaves: bytes, index: int) -> bytes:
    """The hashes that lead from a leaf (from 0) to the root, lowest first."""
    return tree_path(index, len(leaves) // SIZE, _nodes(leaves))


class Segment(NamedTuple):
    """What is stored of a segment of the log, and the record that its columns make."""

    segment_no: int
    record: str
    previous_head: bytes
    entry_count: int
    entries_listed: int
    leaves: bytes
    merkle_root: bytes
    nodes: bytes
    head_hash: bytes


def _local_faults(segment: Segment) -> Iterator[str]:
    """What does not fit within a segment."""
    if (
        len(segment.leaves) != SIZE * segment.entry_count
        or segment.entries_listed != segment.entry_count
    ):
        yield "it does not list as many entries as it has"
    elif root(segment.leaves) != segment.merkle_root:
        yield "the hashes of its entries do not give its root"
    if segment.nodes[:SIZE] != hash_leaf(segment.record.encode()):
        yield "its record was changed"


def check_chain(
    segments: Iterable[Segment], since: int, before: dict[tuple[int, int], bytes], head: bytes
) -> Iterator[tuple[str, int, str]]:
    """Yield (finding, segment, detail) for whatever does not fit in segments from ``since`` on.

    ``before`` holds the perfect subtrees over the segments before them, and ``head`` their head.
    Each segment is compared with what is stored of those before it: what was changed in one does
    not show in all that follow. After a gap heads cannot be computed; the rest is still checked.
    """
    nodes, is_whole, expected = dict(before), True, since

    def node(level: int, position: int) -> bytes:
        return nodes[level, position]

    for segment in segments:
        number = segment.segment_no
        if number != expected:
            missing = str(expected) if number == expected + 1 else f"{expected} to {number - 1}"
            yield "SEGMENT_REMOVED", expected, f"missing: {missing}"
            is_whole = False
        elif segment.previous_head != head:
            yield "SEGMENT_CHANGED", number, "it does not follow from the one before"
        for fault in _local_faults(segment):
            yield "SEGMENT_CHANGED", number, fault
        head = segment.head_hash
        if is_whole:
            right = completed(number - 1, segment.nodes[:SIZE], node)
            # Of what was completed, only the last is ever looked at again.
            level = len(right) // SIZE - 1
            for lower in range(level):
                del nodes[lower, ((number - 1) >> lower) - 1]
            nodes[level, (number - 1) >> level] = right[level * SIZE :]
            head = tree_root(number, node)
            if segment.nodes != right or segment.head_hash != head:
                yield "SEGMENT_CHANGED", number, "its head is not that of the segments up to it"
        expected = number + 1


def perfect_subtrees(size: int) -> list[tuple[int, int]]:
    """Level and position of the largest perfect subtrees over the first ``size`` leaves."""
    found, start = [], 0
    for level in reversed(range(size.bit_length())):
        if size >> level & 1:
            found.append((level, start >> level))
            start += 1 << level
    return found
