"""Notices for reviewers as the worker sees them: taken, sent outside any transaction, settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import class_row

from memwarden.worker.line import Line

_CLAIM: LiteralString = """
SELECT notice_id, kind, channel, target, settings, notice, attempt
  FROM memwarden.claim_notices(%(worker)s, %(kinds)s, 1, make_interval(secs => %(lease)s))
"""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to be told, and where."""

    notice_id: UUID
    kind: str
    channel: str
    target: str
    settings: Mapping[str, Any]
    notice: Mapping[str, Any] | None
    attempt: int


class Outbox(Line):
    """The notices."""

    listen = "LISTEN memwarden_notice"

    def claim(self, kinds: Sequence[str], lease: float) -> Notice | None:
        """Take the notice that is longest due, for `lease` seconds; None when none is."""

        def take(connection: psycopg.Connection[Any]) -> Notice | None:
            arguments = {"worker": self.worker, "kinds": list(kinds), "lease": lease}
            with connection.cursor(row_factory=class_row(Notice)) as cursor:
                return cursor.execute(_CLAIM, arguments).fetchone()

        return self.again_until_done(take)

    def settle(
        self, notice: Notice, error: str | None = None, *, permanent: bool = False
    ) -> str | None:
        """Say that it was sent, or why not; return its state, None when it is ours no longer."""
        call: LiteralString = "SELECT memwarden.settle_notice(%s, %s, %s, %s)"
        said = None if error is None else error.replace("\0", "")
        state = self.value(call, (notice.notice_id, self.worker, said, permanent))
        return None if state is None else str(state)
