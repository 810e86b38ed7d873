"""Request ids are UUIDs of version 7, which carry the time they were made."""

from __future__ import annotations

import time

from memwarden._request_id import new_request_id


def test_a_request_id_is_a_uuid_of_version_7_with_the_present_time() -> None:
    """The server partitions by that time."""
    before = time.time_ns() // 1_000_000
    made = new_request_id()
    after = time.time_ns() // 1_000_000
    assert made.version == 7
    assert made.variant == "specified in RFC 4122"
    assert before <= made.int >> 80 <= after


def test_request_ids_differ_and_grow_with_time() -> None:
    """Later ids sort behind earlier ones."""
    first = [new_request_id() for _ in range(1000)]
    assert len(set(first)) == len(first)
    time.sleep(0.002)
    assert new_request_id() > max(first)
