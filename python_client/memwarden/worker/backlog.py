"""Memories that lack a vector, as the worker sees them: taken, embedded, given back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import class_row

from memwarden.worker.line import Line

_CLAIM: LiteralString = """
SELECT model, dimension, embedder, settings, item_id, content_text
  FROM memwarden.claim_embeddings(
           %(worker)s, %(embedders)s, %(count)s, make_interval(secs => %(lease)s))
"""
_GIVE: LiteralString = "SELECT memwarden.give_embeddings(%s, %s, %s, %s::real[], %s)"
_FAIL: LiteralString = "SELECT memwarden.fail_embeddings(%s, %s, %s, %s, %s)"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A memory that lacks a vector of a model, and what it says."""

    model: str
    dimension: int
    embedder: str
    settings: Mapping[str, Any]
    item_id: UUID
    content_text: str


class Backlog(Line):
    """The memories."""

    listen = "LISTEN memwarden_embedding"

    def claim(self, embedders: Sequence[str], count: int, lease: float) -> list[Wanted]:
        """Take up to `count` memories that lack a vector of one model, for `lease` seconds."""

        def take(connection: psycopg.Connection[Any]) -> list[Wanted]:
            arguments = {
                "worker": self.worker,
                "embedders": list(embedders),
                "count": count,
                "lease": lease,
            }
            with connection.cursor(row_factory=class_row(Wanted)) as cursor:
                return cursor.execute(_CLAIM, arguments).fetchall()

        return self.again_until_done(take)

    def give(
        self, model: str, vectors: Mapping[UUID, Sequence[float]], without: Sequence[UUID]
    ) -> int:
        """Store vectors, and say which memories have none; return how many were stored.

        Raises:
            InvalidArgument: the server does not take them for vectors of the model.
        """
        # As text: twelve thousand numbers one by one would take psycopg longer than the server.
        numbers = ",".join(repr(float(each)) for vector in vectors.values() for each in vector)
        arguments = (self.worker, model, list(vectors), f"{{{numbers}}}", list(without))
        return int(str(self.value(_GIVE, arguments)))

    def fail(self, model: str, items: Sequence[UUID], error: str, *, permanent: bool) -> None:
        """Say that there are no vectors: `permanent`, because of these texts."""
        said = error.replace("\0", "")
        self.value(_FAIL, (self.worker, model, list(items), said, permanent))
