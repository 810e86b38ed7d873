"""The same for asyncio: each call runs in a thread, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.mem0.given import not_here
from memwarden.mem0.memory import Memory

T = TypeVar("T")


class AsyncMemory:
    """As `Memory`; its methods are awaited, but for `from_config` and `close`, as mem0's."""

    def __init__(self, client: Client | None = None, **settings: Any) -> None:
        self._serve(Memory(client, **settings))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Do as `Memory.from_config` does."""
        made = cls.__new__(cls)
        made._serve(Memory.from_config(config_dict))
        return made

    def _serve(self, memory: Memory) -> None:
        self._memory = memory
        self.profile = memory.profile
        self._turn = asyncio.Lock()

    async def _run(self, call: Callable[..., T], *given: Any, **arguments: Any) -> T:
        async with self._turn:
            return await asyncio.to_thread(call, *given, **arguments)

    def close(self) -> None:
        """Do as `Memory.close` does."""
        self._memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def add(self, messages: Any, *, llm: None = None, **arguments: Any) -> dict[str, Any]:
        """Do as `Memory.add` does."""
        not_here(llm=llm)
        return await self._run(self._memory.add, messages, **arguments)

    async def search(self, query: str, **arguments: Any) -> dict[str, Any]:
        """Do as `Memory.search` does."""
        return await self._run(self._memory.search, query, **arguments)

    async def get(self, memory_id: str | UUID) -> dict[str, Any] | None:
        """Do as `Memory.get` does."""
        return await self._run(self._memory.get, memory_id)

    async def get_all(self, **arguments: Any) -> dict[str, Any]:
        """Do as `Memory.get_all` does."""
        return await self._run(self._memory.get_all, **arguments)

    async def update(self, memory_id: str | UUID, *given: Any, **arguments: Any) -> dict[str, Any]:
        """Do as `Memory.update` does."""
        return await self._run(self._memory.update, memory_id, *given, **arguments)

    async def delete(self, memory_id: str | UUID) -> dict[str, Any]:
        """Do as `Memory.delete` does."""
        return await self._run(self._memory.delete, memory_id)

    async def delete_all(self, *given: str | None, **ids: str | None) -> dict[str, Any]:
        """Do as `Memory.delete_all` does."""
        return await self._run(self._memory.delete_all, *given, **ids)

    async def history(self, memory_id: str | UUID) -> list[dict[str, Any]]:
        """Do as `Memory.history` does."""
        return await self._run(self._memory.history, memory_id)

    async def reset(self) -> dict[str, Any]:
        """Do as `Memory.reset` does."""
        return await self._run(self._memory.reset)
