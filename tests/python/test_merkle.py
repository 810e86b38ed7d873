"""Hash trees: the shape of RFC 6962, by its recursive definition, and paths that hold or do not."""

from __future__ import annotations

import hashlib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwarden_core import merkle

ROOT = Path(__file__).resolve().parents[2]


def load_checker() -> Any:
    """The stand-alone script, which knows nothing of the package."""
    loader = SourceFileLoader("check_inclusion", str(ROOT / "tools/check_inclusion"))
    spec = spec_from_loader("check_inclusion", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


CHECKER = load_checker()


def defined(data: list[bytes]) -> bytes:
    """The Merkle tree hash as RFC 6962, section 2.1, defines it."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = 1
    while 2 * k < len(data):
        k *= 2
    return hashlib.sha256(b"\x01" + defined(data[:k]) + defined(data[k:])).digest()


def leaves_of(data: list[bytes]) -> bytes:
    """The hashes of leaves, one after the other."""
    return b"".join(map(merkle.hash_leaf, data))


def hex_path(path: bytes) -> list[str]:
    """A path as the script reads it."""
    return [path[i : i + 32].hex() for i in range(0, len(path), 32)]


def root_by_script(leaf: bytes, index: int, size: int, path: bytes) -> str | None:
    """The root that the script works out, None where it refuses."""
    try:
        return str(CHECKER.root(leaf, index, size, hex_path(path)))
    except CHECKER.DoesNotFit:
        return None


@given(st.lists(st.binary(max_size=8), max_size=40))
def test_the_root_is_that_of_the_definition(data: list[bytes]) -> None:
    """Proves: T6 (the tree)."""
    assert merkle.root(leaves_of(data)) == defined(data)


@pytest.mark.parametrize("size", range(1, 35))
def test_every_leaf_of_every_tree_proves_itself(size: int) -> None:
    """And no leaf proves itself in the place of another.

    Proves: T6 (the tree)
    """
    leaves = leaves_of([bytes([n]) for n in range(size)])
    root = merkle.root(leaves).hex()
    for index in range(size):
        path = merkle.path(leaves, index)
        for place in range(size):
            found = root_by_script(leaves[32 * index : 32 * index + 32], place, size, path)
            assert (found == root) == (place == index)


@given(st.integers(1, 200), st.data())
def test_one_flipped_bit_proves_nothing(size: int, data: st.DataObject) -> None:
    """In the leaf, in its path, or a path that is longer or shorter.

    Proves: T6 (the tree)
    """
    leaves = leaves_of([n.to_bytes(2) for n in range(size)])
    index = data.draw(st.integers(0, size - 1))
    leaf, path = leaves[32 * index : 32 * index + 32], merkle.path(leaves, index)
    root = merkle.root(leaves).hex()
    assert root_by_script(leaf, index, size, path) == root
    both = bytearray(leaf + path)
    bit = data.draw(st.integers(0, 8 * len(both) - 1))
    both[bit // 8] ^= 1 << bit % 8
    assert root_by_script(bytes(both[:32]), index, size, bytes(both[32:])) != root
    assert root_by_script(leaf, index, size, path + leaf) is None
    if path:
        assert root_by_script(leaf, index, size, path[:-32]) is None
        assert root_by_script(leaf, index, size, path[32:]) is None


class Growing:
    """A tree that grows, kept as the nodes that each leaf completed."""

    def __init__(self) -> None:
        self.stored: list[bytes] = []

    def node(self, level: int, position: int) -> bytes:
        """The perfect subtree of a level at a position."""
        node = self.stored[((position + 1) << level) - 1][32 * level : 32 * level + 32]
        assert len(node) == 32
        return node

    def append(self, data: bytes) -> None:
        """Add a leaf."""
        leaf = merkle.hash_leaf(data)
        self.stored.append(merkle.completed(len(self.stored), leaf, self.node))


@given(st.lists(st.binary(max_size=4), min_size=1, max_size=70))
def test_a_growing_tree_has_every_root_and_every_path(data: list[bytes]) -> None:
    """After each leaf, and to each head that it ever had.

    Proves: T6 (the chain)
    """
    tree = Growing()
    for n, one in enumerate(data, start=1):
        tree.append(one)
        assert merkle.tree_root(n, tree.node) == defined(data[:n])
    size = len(data)
    for index in range(size):
        for head in {index + 1, (index + size) // 2 + 1, size}:
            path = merkle.tree_path(index, head, tree.node)
            found = root_by_script(merkle.hash_leaf(data[index]), index, head, path)
            assert found == defined(data[:head]).hex()
    # Two hashes a leaf, on the average.
    assert sum(map(len, tree.stored)) < 64 * size


def test_a_leaf_that_is_not_there_has_no_path() -> None:
    """Neither before the first nor after the last."""
    for index in (-1, 2):
        with pytest.raises(ValueError, match="of 2"):
            merkle.path(leaves_of([b"a", b"b"]), index)


def chain(count: int) -> list[merkle.Segment]:
    """Segments that follow from each other."""
    tree, segments, head = Growing(), list[merkle.Segment](), hashlib.sha256().digest()
    for n in range(1, count + 1):
        leaves = leaves_of([bytes([n, m]) for m in range(n)])
        record = f"segment {n} after {head.hex()}"
        tree.append(record.encode())
        now = merkle.tree_root(n, tree.node)
        segments.append(
            merkle.Segment(n, record, head, n, n, leaves, merkle.root(leaves), tree.stored[-1], now)
        )
        head = now
    return segments


def faults(segments: list[merkle.Segment], since: int = 1) -> list[tuple[str, int]]:
    """Findings and segments of a chain, from a segment on."""
    whole = chain(max(since, 12))
    tree = Growing()
    tree.stored = [segment.nodes for segment in whole]
    before = {place: tree.node(*place) for place in merkle.perfect_subtrees(since - 1)}
    head = whole[since - 2].head_hash if since > 1 else hashlib.sha256().digest()
    found = merkle.check_chain(iter(segments), since, before, head)
    return [(finding, number) for finding, number, _ in found]


@pytest.mark.parametrize("since", range(1, 13))
def test_an_intact_chain_has_no_fault(since: int) -> None:
    """From whichever segment on it is looked at."""
    assert faults(chain(12)[since - 1 :], since) == []


@pytest.mark.parametrize("number", range(1, 13))
@pytest.mark.parametrize(
    "change",
    [
        {"record": "another"},
        {"entries_listed": 99},
        {"leaves": bytes(32)},
        {"merkle_root": bytes(32)},
        {"nodes": bytes(32)},
        {"head_hash": bytes(32)},
        {"previous_head": bytes(32)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_changed_segment_is_named(number: int, change: dict[str, Any]) -> None:
    """And those that follow are not blamed, except that nodes are also what they are built on.

    Proves: T6 (the chain)
    """
    segments = chain(12)
    segments[number - 1] = segments[number - 1]._replace(**change)
    found = faults(segments)
    assert found[0] == ("SEGMENT_CHANGED", number)
    if "nodes" not in change:
        assert {n for _, n in found} == {number}


@pytest.mark.parametrize("gone", [[1], [5], [8], [3, 4, 5], [4, 9]])
def test_missing_segments_are_named(gone: list[int]) -> None:
    """A gap, with the first number that is missing, and nothing else.

    Proves: T6 (the chain)
    """
    found = faults([segment for segment in chain(12) if segment.segment_no not in gone])
    starts = [n for n in gone if n - 1 not in gone]
    assert found == [("SEGMENT_REMOVED", n) for n in starts]


def test_what_follows_a_gap_is_still_looked_at() -> None:
    """As far as one can without the segments that are missing."""
    segments = [segment for segment in chain(12) if segment.segment_no != 4]
    segments[7] = segments[7]._replace(record="another")
    assert faults(segments) == [("SEGMENT_REMOVED", 4), ("SEGMENT_CHANGED", 9)]
