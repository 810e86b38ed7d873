"""The time to live of memories, which a read prolongs where a store says so."""

from __future__ import annotations

import time
from collections import OrderedDict
from datetime import timedelta
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.errors import ConnectionFailed, MemwardenError
from memwarden.results import DatedItem, RecalledItem
from memwarden.results import Item as MemoryItem

_READ = "read through the LangGraph store"
_PUT_AGAIN = "put again through the LangGraph store"
# Each renewal is a version. A memory that is read all the time gets ten of them in its life.
_RARELY = 0.1
_KEPT = 10_000


class Lives:
    """Lets the time to live of memories begin anew."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._renewed: OrderedDict[UUID, float] = OrderedDict()

    def read(self, item: MemoryItem | DatedItem | RecalledItem) -> None:
        """Prolong the life of a memory that was read, as long as it was put for.

        Not again within a tenth of that time. Who may not write the memory reads it all the same.
        """
        whole = self._client.get(item.item_id) if isinstance(item, RecalledItem) else item
        if whole is None or whole.expires_at is None:
            return
        since = whole.recorded_at if isinstance(whole, DatedItem) else whole.updated_at
        ttl = whole.expires_at - since
        now = time.monotonic()
        before = self._renewed.get(item.item_id)
        if before is not None and now - before < ttl.total_seconds() * _RARELY:
            return
        if not self._renew(item.item_id, _READ, ttl):
            return
        self._renewed[item.item_id] = now
        self._renewed.move_to_end(item.item_id)
        if len(self._renewed) > _KEPT:
            self._renewed.popitem(last=False)

    def put_again(self, item_id: UUID, minutes: float) -> bool:
        """Let the life of a memory begin anew whose value was put once more; whether it did."""
        return self._renew(item_id, _PUT_AGAIN, timedelta(minutes=minutes))

    def _renew(self, item_id: UUID, reason: str, ttl: timedelta) -> bool:
        try:
            return self._client.renew(item_id, reason, ttl).stored
        except ConnectionFailed:
            raise
        except MemwardenError:
            return False
