"""A service with a pool: many threads, and a write that a broken connection cannot double.

python docs/examples/service.py "dbname=memwarden user=assistant"
In the profile strict, which asks for evidence, it would keep nothing: docs/profiles.md.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID

from memwarden import Client, ConnectionFailed, RecalledItem, WriteResult
from memwarden.pooling import memory_pool

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool


class Service:
    """Answers the requests of many people at once."""

    def __init__(self, pool: ConnectionPool[Any]) -> None:
        self._pool = pool

    def remember(self, text: str) -> WriteResult:
        """Write once, however often the connection breaks: the request id stays the same."""
        request_id: UUID | None = None
        for _ in range(3):
            try:
                with self._pool.connection() as connection:
                    memory = Client(connection)
                    return memory.write("semantic", {"text": text}, request_id=request_id)
            except ConnectionFailed as error:
                request_id = error.request_ids[0]
        raise ConnectionFailed("the server is away", request_ids=[request_id] if request_id else [])

    def answer(self, question: str) -> list[str]:
        """Return what is remembered."""
        with self._pool.connection() as connection:
            found: list[RecalledItem] = Client(connection).recall(question, k=3)
        return [item.text for item in found if item.text]


def run(dsn: str) -> list[str]:
    """Remember four facts at once; return what is known of one."""
    facts = [f"Ana has {animal}" for animal in ("a cat", "two dogs", "a horse", "nine bees")]
    with memory_pool(dsn, max_size=4) as pool, ThreadPoolExecutor(4) as threads:
        service = Service(pool)
        outcomes = {each.outcome for each in threads.map(service.remember, facts)}
        return [*sorted(outcomes), *service.answer("bees")[:1]]


if __name__ == "__main__":
    print("\n".join(run(sys.argv[1])))
