"""How a connection of this package reads what PostgreSQL sends, and what times it sends."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from psycopg.abc import AdaptContext, Buffer
from psycopg.types.datetime import TimestamptzLoader

_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_BEYOND = re.compile(rb"infinity|\d{5,}-")


class _TimestamptzLoader(TimestamptzLoader):
    """Reads what a fact's valid time may hold and a Python datetime cannot.

    `infinity` and years from 10000 on are the last datetime, `-infinity` and years before Christ
    the first.
    """

    def load(self, data: Buffer) -> datetime:
        text = bytes(data)
        if text == b"-infinity" or text.endswith(b"BC"):
            return _FIRST
        if _BEYOND.match(text):
            return _LAST
        return super().load(data)


def prepare(context: AdaptContext) -> None:
    """Register what differs from psycopg's defaults on one connection."""
    context.adapters.register_loader("timestamptz", _TimestamptzLoader)


def zoned(value: datetime) -> datetime:
    """Return a time without a zone as local time, as Python means it; the server would not."""
    return value.astimezone() if value.tzinfo is None else value
