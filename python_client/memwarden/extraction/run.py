"""One run: captures that were not read yet are read, and what is found is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memwarden._sync.client import Client
from memwarden.errors import NotFound
from memwarden.extraction import Candidate, Extractor, NothingSaid
from memwarden.extraction.discovery import available, load
from memwarden.results import ClaimedCapture, Extracted
from memwarden.worker.plugin import PluginError

NOT_READ = "NOT_READ"
_BATCH = 10


def extract(
    memory: Client,
    source: str | None = None,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    extractor: str | None = None,
    version: int | None = None,
    plugins: Mapping[str, Extractor] | None = None,
    most: int = 10_000,
) -> list[Extracted]:
    """Have every extractor read what it has still to read of the captures of `memory`'s agent.

    Those in the database first, then plug-ins: by default those that are installed. `most`: about
    how many captures are read at the most. A run that ended in the middle is just run again. What
    a plug-in cannot tell of is left for another run: `fault` is NOT_READ.

    Raises:
        ConnectionFailed: what was found so far is stored.
    """
    done: list[Extracted] = []
    while len({each.capture_id for each in done}) < most:
        page = memory.extract(
            source,
            since=since,
            until=until,
            extractor=extractor,
            extractor_version=version,
            k=_BATCH,
        )
        if not page:
            break
        done += page
    names = plugins if plugins is not None else available()
    for name in names:
        plugin = plugins[name] if plugins is not None else None
        left: set[tuple[UUID, str, int]] = set()
        while len({each.capture_id for each in done}) < most:
            claimed = [
                each
                for each in memory.claim_captures(
                    name,
                    source,
                    since=since,
                    until=until,
                    extractor=extractor,
                    version=version,
                    k=min(1000, _BATCH + len(left)),
                )
                if _key(each) not in left
            ]
            if not claimed:
                break
            plugin = plugin or load(name)
            done += _read(memory, plugin, claimed, left)
    return done


def _key(each: ClaimedCapture) -> tuple[UUID, str, int]:
    return UUID(each.capture["capture_id"]), each.extractor_name, each.extractor_version


def _read(
    memory: Client,
    plugin: Extractor,
    claimed: Sequence[ClaimedCapture],
    left: set[tuple[UUID, str, int]],
) -> list[Extracted]:
    """Those of one extractor are asked about together: they share its settings."""
    done: list[Extracted] = []
    for one in {(each.extractor_name, each.extractor_version) for each in claimed}:
        own = [e for e in claimed if (e.extractor_name, e.extractor_version) == one]
        found = _found(plugin, own, own[0].settings)
        for each, said in zip(own, found, strict=True):
            if isinstance(said, NothingSaid):
                left.add(_key(each))
                done.append(_result(each, 0, NOT_READ, said.why))
                continue
            done += _submitted(memory, each, said)
    return done


def _found(
    plugin: Extractor, own: Sequence[ClaimedCapture], settings: Mapping[str, Any]
) -> Sequence[Sequence[Candidate] | NothingSaid]:
    try:
        found = plugin.extract([each.capture for each in own], settings)
    except PluginError as error:
        return [NothingSaid(str(error))] * len(own)
    if len(found) != len(own):
        return [NothingSaid("the plug-in did not answer for each capture")] * len(own)
    return found


def _submitted(memory: Client, each: ClaimedCapture, said: Sequence[Candidate]) -> list[Extracted]:
    capture_id, extractor, version = _key(each)
    try:
        results = memory.submit_candidates(
            capture_id, extractor, version, [one.sent() for one in said]
        )
    except NotFound:
        # Its text went meanwhile.
        return [_result(each, 0, NOT_READ, None)]
    if not results:
        return [_result(each, len(said), None, None)]
    return [
        Extracted(
            capture_id=capture_id,
            extractor_name=extractor,
            version=version,
            candidates=len(results),
            dropped=len(said) - len(results),
            fault=None,
            request_id=one.request_id,
            outcome=one.outcome,
            item_id=one.item_id,
            gate=one.gate,
            reason=one.reason,
        )
        for one in results
    ]


def _result(each: ClaimedCapture, dropped: int, fault: str | None, why: str | None) -> Extracted:
    capture_id, extractor, version = _key(each)
    return Extracted(
        capture_id=capture_id,
        extractor_name=extractor,
        version=version,
        candidates=0,
        dropped=dropped,
        fault=fault,
        request_id=None,
        outcome=None,
        item_id=None,
        gate=None,
        reason=why,
    )
