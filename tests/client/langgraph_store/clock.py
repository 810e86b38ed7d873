"""Time that passes in the store of one agent and not in the test."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, LiteralString

from psycopg import Connection
from psycopg.rows import DictRow

from memwarden.transfer.identifiers import predicate_of, subject_of

if TYPE_CHECKING:
    from memwarden.transfer.identifiers import Namespace

PASSED: tuple[LiteralString, ...] = (
    """
    UPDATE memwarden_data.item AS i
       SET expires_at = i.expires_at - %(ago)s * interval '1 s',
           created_at = i.created_at - %(ago)s * interval '1 s',
           updated_at = i.updated_at - %(ago)s * interval '1 s'
      FROM memwarden_data.scope AS s
     WHERE s.scope_id = i.scope_id AND s.path = %(home)s""",
    """
    UPDATE memwarden_data.version AS v
       SET expires_at = v.expires_at - %(ago)s * interval '1 s',
           recorded_during = tstzrange(lower(v.recorded_during) - %(ago)s * interval '1 s',
                                       upper(v.recorded_during) - %(ago)s * interval '1 s')
      FROM memwarden_data.scope AS s
     WHERE s.scope_id = v.scope_id AND s.path = %(home)s""",
)
EXPIRED: tuple[LiteralString, ...] = (
    """
    UPDATE memwarden_data.item AS i SET expires_at = now() - interval '1 minute'
      FROM memwarden_data.scope AS s
     WHERE s.scope_id = i.scope_id AND s.path = %(home)s
       AND i.subject = %(subject)s AND i.predicate = %(predicate)s""",
    """
    UPDATE memwarden_data.version AS v SET expires_at = now() - interval '1 minute'
      FROM memwarden_data.scope AS s
     WHERE s.scope_id = v.scope_id AND s.path = %(home)s
       AND v.subject = %(subject)s AND v.predicate = %(predicate)s""",
)
KNOWN: LiteralString = """
    SELECT i.expires_at
      FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s USING (scope_id)
     WHERE s.path = %(home)s AND i.subject = %(subject)s AND i.predicate = %(predicate)s
     ORDER BY i.updated_at DESC LIMIT 1"""


class Clock:
    """Takes the place of `time`: what was written becomes older, and nobody waits."""

    def __init__(self, admin: Connection[DictRow], home: str) -> None:
        self._admin = admin
        self._home = home
        self._passed = 0.0

    def monotonic(self) -> float:
        """Seconds, with those that have passed here."""
        return time.monotonic() + self._passed

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._passed += seconds
        self._change(PASSED, {"ago": seconds})

    def expire(self, namespace: Namespace, key: str) -> None:
        """Let the life of one memory be over since a minute."""
        self._change(EXPIRED, _names(namespace, key))

    def ends(self, namespace: Namespace, key: str) -> datetime | None:
        """When the life of a memory is over; it must be there, over or not."""
        row = self._admin.execute(KNOWN, _names(namespace, key) | {"home": self._home}).fetchone()
        assert row is not None
        ends: datetime | None = row["expires_at"]
        return ends

    def _change(self, statements: tuple[LiteralString, ...], arguments: dict[str, Any]) -> None:
        # History is append-only, and time does not run backwards: the triggers would say so.
        with self._admin.transaction():
            self._admin.execute("SET LOCAL session_replication_role = replica")
            for statement in statements:
                self._admin.execute(statement, arguments | {"home": self._home})


def _names(namespace: Namespace, key: str) -> dict[str, str]:
    return {"subject": subject_of(namespace), "predicate": predicate_of(key)}
