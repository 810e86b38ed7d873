"""The time to live of memories, which a read prolongs where a store says so."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from datetime import timedelta
from uuid import UUID

from memwarden.errors import InvalidArgument
from memwarden.results import DatedItem
from memwarden.results import Item as MemoryItem

# Each renewal is a version. A memory that is read all the time gets ten of them in its life.
_RARELY = 0.1
_KEPT = 10_000


class Lives:
    """Knows which lives began anew a short while ago."""

    def __init__(self) -> None:
        self._renewed: OrderedDict[UUID, float] = OrderedDict()
        self._turn = threading.Lock()

    def due(self, item: MemoryItem | DatedItem) -> timedelta | None:
        """How long a memory that was read shall live from now on, as long as it was put for.

        None where it has no end, and again within a tenth of that time.
        """
        if item.expires_at is None:
            return None
        since = item.recorded_at if isinstance(item, DatedItem) else item.updated_at
        ttl = item.expires_at - since
        before = self._renewed.get(item.item_id)
        if before is not None and time.monotonic() - before < ttl.total_seconds() * _RARELY:
            return None
        return ttl

    def renewed(self, item_id: UUID) -> None:
        """Remember that the life of a memory began anew."""
        with self._turn:
            self._renewed[item_id] = time.monotonic()
            self._renewed.move_to_end(item_id)
            if len(self._renewed) > _KEPT:
                self._renewed.popitem(last=False)


def lifetime(minutes: float | None) -> timedelta | None:
    """How long a put lives; None for without end.

    Raises:
        InvalidArgument: it is no number of minutes.
    """
    try:
        return None if minutes is None else timedelta(minutes=minutes)
    except (OverflowError, TypeError, ValueError):
        raise InvalidArgument("ttl is no number of minutes") from None
