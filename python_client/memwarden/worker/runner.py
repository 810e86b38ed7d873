"""Takes one job after the other: claims it, has it judged outside any transaction, answers."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memwarden.errors import InvalidArgument
from memwarden.telemetry import say
from memwarden.worker.loop import LONGEST, Loop, Pace, TakenAway
from memwarden.worker.plugin import PluginError, Verdict, Verifier
from memwarden.worker.queue import Job, Queue

log = logging.getLogger("memwarden.worker")

_DEFAULT_TIMEOUT = 60.0


class Runner(Loop[Job]):
    """Has jobs judged by the plug-ins that it knows."""

    def __init__(
        self, queue: Queue, plugins: Mapping[str, Verifier], stop: threading.Event, pace: Pace
    ) -> None:
        super().__init__(queue, stop, pace)
        self._queue = queue
        self._plugins = plugins

    def _take(self) -> Job | None:
        usable = self._usable(self._plugins)
        return self._queue.claim(usable, self._pace.lease) if usable else None

    def _span(self, job: Job, /) -> tuple[str, Mapping[str, str | int]]:
        return "job", {
            "memwarden.request_id": str(job.request_id),
            "memwarden.job_id": str(job.job_id),
            "memwarden.plugin": job.plugin,
            "memwarden.purpose": job.purpose,
            "memwarden.attempt": job.attempt,
        }

    def _trace_id(self, job: Job, /) -> str | None:
        return job.trace_id

    def _do(self, job: Job, /) -> None:
        began = time.monotonic()
        plugin = self._plugins[job.plugin]
        settings = dict(job.settings) | {"part": job.part, "quorum": job.quorum}
        try:
            verdict = self._attempt(
                lambda: plugin.judge(job.payload, settings),
                job.plugin,
                _timeout(job),
                lambda: self._queue.extend(job, self._pace.lease),
            )
            if not isinstance(verdict, Verdict):
                raise PluginError("what it returned is no Verdict")
        except TakenAway:
            log.warning("job %s of %s was taken away", job.job_id, job.plugin)
            return
        except PluginError as error:
            self._fail(job, str(error), permanent=error.permanent)
            return
        except Exception as error:
            # The message of an error that nobody meant to be read may repeat content.
            log.debug("plug-in %s", job.plugin, exc_info=True)
            self._fail(job, f"the plug-in raised {type(error).__name__}", permanent=False)
            return
        try:
            held_still = self._queue.complete(job, _as_json(verdict, plugin))
        except InvalidArgument as error:
            self._fail(job, f"not taken for a verdict: {error.detail}", permanent=False)
            return
        say(verdict.decision)
        log.info(
            "job %s of %s: %s%s in %.0f ms",
            job.job_id,
            job.plugin,
            verdict.decision,
            "" if held_still else ", too late",
            (time.monotonic() - began) * 1000,
        )

    def _fail(self, job: Job, error: str, *, permanent: bool) -> None:
        state = self._queue.fail(job, error, permanent=permanent)
        say("failed", failed=True)
        log.warning(
            "job %s of %s, attempt %s: %s (%s)", job.job_id, job.plugin, job.attempt, error, state
        )


def _timeout(job: Job) -> float:
    """Seconds that a job may take: as set, and not longer than anybody waits for it."""
    wanted = job.settings.get("timeout", _DEFAULT_TIMEOUT)
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not wanted > 0:
        wanted = _DEFAULT_TIMEOUT
    left = (job.deadline - datetime.now(UTC)).total_seconds()
    return max(0.1, min(float(wanted), LONGEST, left))


def _as_json(verdict: Verdict, plugin: Verifier) -> dict[str, Any]:
    known: dict[str, Any] = {
        "decision": verdict.decision,
        "version": str(verdict.version or plugin.version)[:100],
        "detail": dict(verdict.detail),
    }
    if verdict.score is not None:
        known["score"] = verdict.score
    if verdict.retry_after is not None and math.isfinite(verdict.retry_after):
        known["retry_after"] = min(max(verdict.retry_after, 1.0), 86400.0)
    return known
