"""mem0's `Memory` over memwarden: the same calls and shapes, and an outcome for each memory.

It does not import mem0 and needs nothing but the client.
"""

from __future__ import annotations

from memwarden.mem0.asynchronous import AsyncMemory
from memwarden.mem0.memory import Memory

__all__ = ["AsyncMemory", "Memory"]
