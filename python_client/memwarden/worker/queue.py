"""The queue as the worker sees it: five calls, each a transaction of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from memwarden.worker.line import Line

_CLAIM: LiteralString = """
SELECT job_id, request_id, purpose, plugin, part, quorum, payload, settings, attempt, deadline,
       trace_id
  FROM memwarden.claim_jobs(%(worker)s, %(plugins)s, 1, make_interval(secs => %(lease)s))
"""


@dataclass(frozen=True, slots=True)
class Job:
    """One question to one plug-in."""

    job_id: UUID
    request_id: UUID
    purpose: str
    plugin: str
    part: int
    quorum: int
    payload: Mapping[str, Any]
    settings: Mapping[str, Any]
    attempt: int
    deadline: datetime
    trace_id: str | None = None


class Queue(Line):
    """The jobs."""

    listen = "LISTEN memwarden_job"

    def claim(self, plugins: Sequence[str], lease: float) -> Job | None:
        """Take the job that is longest due, for `lease` seconds; None when none is."""

        def take(connection: psycopg.Connection[Any]) -> Job | None:
            arguments = {"worker": self.worker, "plugins": list(plugins), "lease": lease}
            with connection.cursor(row_factory=class_row(Job)) as cursor:
                return cursor.execute(_CLAIM, arguments).fetchone()

        return self.again_until_done(take)

    def extend(self, job: Job, lease: float) -> bool:
        """Hold the job for `lease` seconds from now on; False when it is ours no longer."""
        call: LiteralString = "SELECT memwarden.extend_job(%s, %s, make_interval(secs => %s))"
        return bool(self.value(call, (job.job_id, self.worker, lease)))

    def complete(self, job: Job, verdict: Mapping[str, Any]) -> bool:
        """Give the verdict; False when the job is ours no longer.

        Raises:
            InvalidArgument: the server does not take it for a verdict.
        """
        call: LiteralString = "SELECT memwarden.complete_job(%s, %s, %s)"
        return bool(self.value(call, (job.job_id, self.worker, Jsonb(dict(verdict)))))

    def fail(self, job: Job, error: str, *, permanent: bool) -> str | None:
        """Say that there is no verdict; return the state of the job, None when it is not ours."""
        call: LiteralString = "SELECT memwarden.fail_job(%s, %s, %s, %s)"
        state = self.value(call, (job.job_id, self.worker, error.replace("\0", ""), permanent))
        return None if state is None else str(state)
