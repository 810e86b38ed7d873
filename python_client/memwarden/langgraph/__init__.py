"""LangGraph over memwarden: a store whose every put passes the gates, and a checkpointer beside it.

Needs `pip install 'memwarden[langgraph]'`.
"""

from __future__ import annotations

from memwarden.langgraph.checkpoints import (
    async_checkpointer,
    checkpointer,
    forget_old,
    forget_person,
)
from memwarden.langgraph.index import MemwardenIndexConfig
from memwarden.langgraph.namespaces import NamespaceScopes
from memwarden.langgraph.store import MemwardenStore, PutRefused

__all__ = [
    "MemwardenIndexConfig",
    "MemwardenStore",
    "NamespaceScopes",
    "PutRefused",
    "async_checkpointer",
    "checkpointer",
    "forget_old",
    "forget_person",
]
