"""What a store was opened with, and what it remembers between its calls."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from memwarden._json import strict_json
from memwarden.errors import InvalidArgument
from memwarden.langgraph.index import FieldIndex, MemwardenIndexConfig
from memwarden.langgraph.lives import Lives, lifetime
from memwarden.langgraph.namespaces import NamespaceScopes
from memwarden.results import Identity
from memwarden.transfer.identifiers import Namespace

_log = logging.getLogger("memwarden")


@dataclass
class Plan:
    """The settings of a store; `scopes` and `profile` are known when the server was asked.

    `prolongs`: whether a read lets a life begin anew.
    """

    scopes: NamespaceScopes | None
    layer: str
    index: FieldIndex | None
    defaults: Mapping[str, Any]
    prolongs: bool
    profile: str | None = None
    lives: Lives = field(default_factory=Lives)

    def learn(self, me: Identity) -> None:
        """Take over what the server says of the caller."""
        _log.info("LangGraph: %s", me.asks)
        self.profile = me.profile
        self.scopes = self.scopes or NamespaceScopes({(): me.home})

    def scope(self, namespace: Iterable[str]) -> str:
        """The scope of a namespace.

        Raises:
            InvalidArgument: it belongs to no single one.
        """
        assert self.scopes is not None
        return self.scopes.scope(tuple(namespace))

    def check(self, op: Op) -> None:
        """Refuse what cannot be a namespace or a value, before any call.

        Raises:
            InvalidNamespaceError: a label is no text, empty or has a dot.
            InvalidArgument: the namespace belongs to no scope.
            InvalidContent: the value is not JSON.
        """
        validate_op_namespace(op)
        if isinstance(op, GetOp | PutOp) and not op.namespace:
            raise InvalidNamespaceError("a namespace has at least one label")
        if isinstance(op, PutOp) and op.value is not None:
            strict_json(dict(op.value))
            lifetime(op.ttl)
        if self.scopes is not None and not isinstance(op, ListNamespacesOp):
            self.scope(op.namespace_prefix if isinstance(op, SearchOp) else op.namespace)


def planned(
    scopes: Mapping[Namespace, str] | None,
    layer: str,
    index: Mapping[str, Any] | MemwardenIndexConfig | None,
    defaults: Mapping[str, Any] | None,
    ttl: TTLConfig | None,
    unused: Mapping[str, Any],
) -> Plan:
    """The plan of a store that is opened.

    Raises:
        InvalidArgument: an argument of PostgresStore is given that memwarden has no use for, or
            the index cannot be.
    """
    for name, value in unused.items():
        if value is not None:
            raise InvalidArgument(f"memwarden's store takes no {name}", hint="Leave it out.")
    return Plan(
        None if scopes is None else NamespaceScopes(scopes),
        layer,
        None if index is None else FieldIndex(index),  # type: ignore[arg-type]
        dict(defaults or {}),
        prolongs=ttl is not None,
    )
