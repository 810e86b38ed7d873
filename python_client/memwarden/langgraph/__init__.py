"""LangGraph over memwarden: a store whose every put passes the gates, and a checkpointer beside it.

Needs `pip install 'memwarden[langgraph]'`.
"""

from __future__ import annotations

from memwarden._needs import needs

with needs("langgraph"):
    from memwarden.langgraph.aio import AsyncMemwardenStore
    from memwarden.langgraph.checkpoints import (
        async_checkpointer,
        checkpointer,
        forget_old,
        forget_person,
    )
    from memwarden.langgraph.index import MemwardenIndexConfig
    from memwarden.langgraph.namespaces import NamespaceScopes
    from memwarden.langgraph.outcomes import PutDeferred, PutRefused
    from memwarden.langgraph.store import MemwardenStore

__all__ = [
    "AsyncMemwardenStore",
    "MemwardenIndexConfig",
    "MemwardenStore",
    "NamespaceScopes",
    "PutDeferred",
    "PutRefused",
    "async_checkpointer",
    "checkpointer",
    "forget_old",
    "forget_person",
]
