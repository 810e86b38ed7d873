"""Takes one job after the other: claims it, has it judged outside any transaction, answers."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Mapping
from contextvars import copy_context
from datetime import UTC, datetime
from typing import Any

from memwarden.errors import InvalidArgument, MemwardenError
from memwarden.telemetry import say
from memwarden.worker.loop import Loop, Pace
from memwarden.worker.plugin import PluginError, Verdict, Verifier
from memwarden.worker.queue import Job, Queue

log = logging.getLogger("memwarden.worker")

_DEFAULT_TIMEOUT = 60.0
_LONGEST_TIMEOUT = 3600.0
_MOST_ABANDONED = 16


class Runner(Loop[Job]):
    """Has jobs judged by the plug-ins that it knows."""

    def __init__(
        self, queue: Queue, plugins: Mapping[str, Verifier], stop: threading.Event, pace: Pace
    ) -> None:
        super().__init__(queue, stop, pace)
        self._queue = queue
        self._plugins = plugins
        self._abandoned: list[_Attempt] = []

    def _take(self) -> Job | None:
        return self._queue.claim(list(self._plugins), self._pace.lease)

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
        attempt = _Attempt(plugin, job)
        limit = began + _timeout(job)
        held = began + self._pace.lease / 3
        attempt.start()
        while not attempt.wait(max(0.0, min(limit, held) - time.monotonic())):
            if time.monotonic() >= limit:
                # The thread cannot be ended; what it returns one day is not heeded.
                self._fail(job, f"no verdict within {limit - began:g} seconds", permanent=False)
                self._abandon(attempt)
                return
            if not self._queue.extend(job, self._pace.lease):
                log.warning("job %s of %s was taken away", job.job_id, job.plugin)
                self._abandon(attempt)
                return
            held = time.monotonic() + self._pace.lease / 3
        if isinstance(attempt.result, PluginError):
            self._fail(job, str(attempt.result), permanent=attempt.result.permanent)
            return
        verdict = attempt.result
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

    def _abandon(self, attempt: _Attempt) -> None:
        """Note a judgement that does not end; too many of them end the process instead."""
        self._abandoned = [each for each in self._abandoned if not each.wait(0)] + [attempt]
        if len(self._abandoned) > _MOST_ABANDONED:
            raise MemwardenError(
                f"{len(self._abandoned)} judgements did not end in time and still run",
                hint="The plug-in needs a timeout of its own. Start the worker again.",
            )

    def _fail(self, job: Job, error: str, *, permanent: bool) -> None:
        state = self._queue.fail(job, error, permanent=permanent)
        say("failed", failed=True)
        log.warning(
            "job %s of %s, attempt %s: %s (%s)", job.job_id, job.plugin, job.attempt, error, state
        )


class _Attempt:
    """A plug-in at work in a thread of its own, so that it can be waited for with a limit."""

    def __init__(self, plugin: Verifier, job: Job) -> None:
        self._plugin = plugin
        self._job = job
        self._done = threading.Event()
        self.result: Verdict | PluginError = PluginError("it has not ended")

    def start(self) -> None:
        # With the context of the job: what the plug-in calls belongs to the same trace.
        run = copy_context().run
        threading.Thread(
            target=run, args=(self._run,), name=f"{self._job.plugin}", daemon=True
        ).start()

    def wait(self, seconds: float) -> bool:
        return self._done.wait(seconds)

    def _run(self) -> None:
        settings = dict(self._job.settings) | {"part": self._job.part, "quorum": self._job.quorum}
        try:
            result = self._plugin.judge(self._job.payload, settings)
            if not isinstance(result, Verdict):
                raise PluginError("what it returned is no Verdict")
            self.result = result
        except PluginError as error:
            self.result = error
        except Exception as error:
            # The message of an error that nobody meant to be read may repeat content.
            log.debug("plug-in %s", self._job.plugin, exc_info=True)
            self.result = PluginError(f"the plug-in raised {type(error).__name__}")
        finally:
            self._done.set()


def _timeout(job: Job) -> float:
    """Seconds that a job may take: as set, and not longer than anybody waits for it."""
    wanted = job.settings.get("timeout", _DEFAULT_TIMEOUT)
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not wanted > 0:
        wanted = _DEFAULT_TIMEOUT
    left = (job.deadline - datetime.now(UTC)).total_seconds()
    return max(0.1, min(float(wanted), _LONGEST_TIMEOUT, left))


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
