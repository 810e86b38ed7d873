"""Makes the vectors that memories lack: takes some, embeds them, gives the vectors back.

No transaction is open meanwhile. A worker that is killed leaves what it took to another when its
lease is over.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
from collections.abc import Mapping, Sequence

from memwarden.errors import NotFound
from memwarden.telemetry import say
from memwarden.worker.backlog import Backlog, Wanted
from memwarden.worker.embedder import EmbedderPlugin
from memwarden.worker.loop import LONGEST, Loop, Pace
from memwarden.worker.plugin import PluginError

log = logging.getLogger("memwarden.worker")

_BATCH = 32
_LARGEST = 65504.0  # of half precision
_LEAST = 1e-7
_LEAST_PAUSE = 1.0
_MAX_PAUSE = 60.0

Vectors = Sequence[Sequence[float] | None]


class Embedding(Loop[Sequence[Wanted]]):
    """Makes vectors with the embedders that it knows, a batch at a time."""

    def __init__(
        self,
        backlog: Backlog,
        embedders: Mapping[str, EmbedderPlugin],
        stop: threading.Event,
        pace: Pace,
    ) -> None:
        super().__init__(backlog, stop, pace)
        self._backlog = backlog
        self._embedders = embedders
        self._pause = _LEAST_PAUSE

    def _take(self) -> Sequence[Wanted] | None:
        usable = self._usable(self._embedders)
        return (usable and self._backlog.claim(usable, _BATCH, self._pace.lease)) or None

    def _span(self, wanted: Sequence[Wanted], /) -> tuple[str, Mapping[str, str | int]]:
        return "embed", {
            "memwarden.model": wanted[0].model,
            "memwarden.plugin": wanted[0].embedder,
            "memwarden.batch_size": len(wanted),
        }

    def _do(self, wanted: Sequence[Wanted], /) -> None:
        if self._embed(wanted):
            self._pause = _LEAST_PAUSE
            return
        say("failed", failed=True)
        if not self._once:
            # Who cannot be asked now is not asked for the next batch at once.
            self._stop.wait(self._pause)
            self._pause = min(2 * self._pause, _MAX_PAUSE)

    def _embed(self, wanted: Sequence[Wanted]) -> bool:
        """Embed a batch of one model; return whether the embedder could be asked."""
        model = wanted[0].model
        try:
            vectors = self._asked(wanted)
        except PluginError as error:
            if error.permanent and len(wanted) > 1:
                # One text is to blame, and not the others.
                asked = [self._embed([each]) for each in wanted]
                return all(asked)
            items = [each.item_id for each in wanted]
            try:
                self._backlog.fail(model, items, str(error), permanent=error.permanent)
            except NotFound:
                return True  # the model was dropped meanwhile
            log.warning("%s memories have no vector of %s: %s", len(items), model, error)
            return error.permanent
        with contextlib.suppress(NotFound):  # the model was dropped meanwhile
            self._store(model, wanted, vectors)
        return True

    def _asked(self, wanted: Sequence[Wanted]) -> Vectors:
        first = wanted[0]
        settings = {"model": first.model} | dict(first.settings) | {"dimension": first.dimension}
        texts = [each.content_text for each in wanted]
        try:
            vectors = self._attempt(
                lambda: self._embedders[first.embedder].embed(texts, settings),
                first.embedder,
                LONGEST,
            )
        except PluginError:
            raise
        except Exception as error:
            # The message of an error that nobody meant to be read may repeat content.
            log.debug("embedder %s", first.embedder, exc_info=True)
            raise PluginError(f"the embedder raised {type(error).__name__}") from None
        if len(vectors) != len(texts):
            raise PluginError(f"{len(vectors)} vectors for {len(texts)} texts")
        lengths = {len(each) for each in vectors if each is not None} - {first.dimension}
        if lengths:
            raise PluginError(f"vectors of {min(lengths)} numbers; the model has {first.dimension}")
        return vectors

    def _store(self, model: str, wanted: Sequence[Wanted], vectors: Vectors) -> None:
        pairs = list(zip(wanted, vectors, strict=True))
        unusable = [w.item_id for w, v in pairs if v is not None and not _is_usable(v)]
        if unusable:
            error = "its numbers are not finite, too large, or all zero"
            self._backlog.fail(model, unusable, error, permanent=True)
        stored = self._backlog.give(
            model,
            {w.item_id: v for w, v in pairs if v is not None and _is_usable(v)},
            [w.item_id for w, v in pairs if v is None],
        )
        log.info("%s of %s vectors of %s stored", stored, len(wanted), model)


def _is_usable(vector: Sequence[float]) -> bool:
    """Whether the server takes it: finite and not zero at half precision."""
    return all(math.isfinite(x) and abs(x) <= _LARGEST for x in vector) and any(
        abs(x) > _LEAST for x in vector
    )
