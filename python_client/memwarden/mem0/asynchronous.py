"""The same for asyncio: each call runs in a thread, one at a time."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.mem0.memory import Memory


class AsyncMemory:
    """As `Memory`; its methods are awaited."""

    def __init__(self, client: Client, **settings: Any) -> None:
        self._memory = Memory(client, **settings)
        self.profile = self._memory.profile
        self._turn = asyncio.Lock()

    async def add(self, messages: Any, **arguments: Any) -> dict[str, Any]:
        """Do as `Memory.add` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.add, messages, **arguments)

    async def search(self, query: str, **arguments: Any) -> dict[str, Any]:
        """Do as `Memory.search` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.search, query, **arguments)

    async def get(self, memory_id: str | UUID) -> dict[str, Any] | None:
        """Do as `Memory.get` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.get, memory_id)

    async def get_all(self, **arguments: Any) -> dict[str, Any]:
        """Do as `Memory.get_all` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.get_all, **arguments)

    async def update(self, memory_id: str | UUID, *given: Any, **arguments: Any) -> dict[str, Any]:
        """Do as `Memory.update` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.update, memory_id, *given, **arguments)

    async def delete(self, memory_id: str | UUID) -> dict[str, Any]:
        """Do as `Memory.delete` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.delete, memory_id)

    async def delete_all(self, **ids: str | None) -> dict[str, Any]:
        """Do as `Memory.delete_all` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.delete_all, **ids)

    async def history(self, memory_id: str | UUID) -> list[dict[str, Any]]:
        """Do as `Memory.history` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.history, memory_id)

    async def reset(self) -> dict[str, Any]:
        """Do as `Memory.reset` does."""
        async with self._turn:
            return await asyncio.to_thread(self._memory.reset)
