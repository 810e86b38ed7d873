"""Takes one notice after the other: claims it, sends it outside any transaction, says how it went.

At least once: a courier that is killed between sending and saying so leaves the notice to another,
which sends it again under the same id.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from memwarden.telemetry import say
from memwarden.worker.channel import Channel
from memwarden.worker.loop import Loop, Pace
from memwarden.worker.outbox import Notice, Outbox
from memwarden.worker.plugin import PluginError

log = logging.getLogger("memwarden.worker")


class Courier(Loop[Notice]):
    """Sends the notices of the channels that it knows."""

    def __init__(
        self, outbox: Outbox, channels: Mapping[str, Channel], stop: threading.Event, pace: Pace
    ) -> None:
        super().__init__(outbox, stop, pace)
        self._outbox = outbox
        self._channels = channels

    def _take(self) -> Notice | None:
        usable = self._usable(self._channels)
        return self._outbox.claim(usable, self._pace.lease) if usable else None

    def _span(self, notice: Notice, /) -> tuple[str, Mapping[str, str | int]]:
        return "notice", {
            "memwarden.notice_id": str(notice.notice_id),
            "memwarden.channel": notice.kind,
            "memwarden.attempt": notice.attempt,
        }

    def _do(self, notice: Notice, /) -> None:
        try:
            told, channel = notice.notice, self._channels[notice.kind]
            if told is None:
                raise PluginError("what it tells of is gone", permanent=True)
            self._attempt(
                lambda: channel.send(told, notice.target, notice.settings),
                notice.kind,
                self._pace.lease,  # after it another courier sends
            )
        except PluginError as error:
            state = self._outbox.settle(notice, str(error), permanent=error.permanent)
            say("failed", failed=True)
            log.warning(
                "notice %s to %s, attempt %s: %s (%s)",
                notice.notice_id,
                notice.channel,
                notice.attempt,
                error,
                state,
            )
        except Exception as error:
            log.debug("channel %s", notice.channel, exc_info=True)
            self._outbox.settle(notice, f"the channel raised {type(error).__name__}")
            say("failed", failed=True)
        else:
            state = self._outbox.settle(notice)
            say("sent")
            log.info("notice %s to %s: %s", notice.notice_id, notice.channel, state or "too late")
