"""Request ids are UUIDv7 and made here, so that a repeated send carries the same one.

The server keeps requests partitioned by the time in the id, which is why it must be version 7.
"""

from __future__ import annotations

import secrets
import time
from uuid import UUID


def new_request_id() -> UUID:
    """Return a UUIDv7 (RFC 9562): 48 bits of milliseconds, 12 bits of their fraction, 62 random."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    fraction = (rest << 12) // 1_000_000
    return UUID(
        int=(milliseconds & (1 << 48) - 1) << 80
        | 0x7 << 76
        | fraction << 64
        | 0b10 << 62
        | secrets.randbits(62)
    )
