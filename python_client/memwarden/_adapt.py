"""How a connection of this package reads what PostgreSQL sends, and what times it sends."""

from __future__ import annotations

from datetime import UTC, datetime

from psycopg.abc import AdaptContext, Buffer
from psycopg.types.datetime import TimestamptzLoader


class _TimestamptzLoader(TimestamptzLoader):
    """Reads `infinity`, which a fact's valid time may hold and a Python datetime cannot."""

    def load(self, data: Buffer) -> datetime:
        if bytes(data) == b"infinity":
            return datetime.max.replace(tzinfo=UTC)
        if bytes(data) == b"-infinity":
            return datetime.min.replace(tzinfo=UTC)
        return super().load(data)


def prepare(context: AdaptContext) -> None:
    """Register what differs from psycopg's defaults on one connection."""
    context.adapters.register_loader("timestamptz", _TimestamptzLoader)


def zoned(value: datetime) -> datetime:
    """Return a time without a zone as local time, as Python means it; the server would not."""
    return value.astimezone() if value.tzinfo is None else value
