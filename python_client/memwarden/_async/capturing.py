"""Capturing what happened, and having candidates made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._json import strict_json, strict_list
from memwarden._lists import listed, several
from memwarden._request_id import new_request_id
from memwarden._statements import intake as sql
from memwarden.citing import captured
from memwarden.errors import InvalidArgument
from memwarden.requests import capture_object
from memwarden.results import CandidateResult, CaptureResult, ClaimedCapture, Extracted
from memwarden.telemetry import current_trace_id


class AsyncCapturing:
    """Appends to the capture log. `memwarden.extraction` has the extractors that run outside."""

    _session: AsyncSession

    async def heard(
        self,
        speaker: str,
        text: str,
        *,
        source: str = "chat",
        role: str = "user",
        scope: str | None = None,
        external_id: str | None = None,
        session_id: str | None = None,
        captured_at: datetime | None = None,
    ) -> dict[str, str]:
        """Record a turn of a conversation; what `source=` of `remember` and `evidence` take.

        The words are then in the store, where an agent that cites them cannot change them. By
        default they belong to the one place below the caller's home that it writes: where there
        are several, `scope` says whose words they are. `source` is that of `memwarden init`.

        Raises:
            InvalidArgument: nobody spoke or nothing was said, there are several places, or an
                argument is out of range.
            NotFound: no such scope that the caller writes.
        """
        for name, given in (("speaker", speaker), ("text", text)):
            if not isinstance(given, str) or not given.strip():
                raise InvalidArgument(f"{name}: a text that is not blank")
        capture_id = await self.capture(
            source,
            {"role": role, "speaker": speaker, "text": text},
            # With a name of its own the call may be sent again when the connection breaks.
            external_id=str(new_request_id()) if external_id is None else external_id,
            session_id=session_id,
            scope=await self._only_place() if scope is None else scope,
            captured_at=captured_at,
        )
        return captured(capture_id)

    async def _only_place(self) -> str | None:
        rows = await self._session.fetch(sql.PLACES, {}, dict[str, str])
        if len(rows) > 1:
            raise InvalidArgument(
                "scope: there is more than one place that these words may belong to",
                hint=f"Name one, such as scope={rows[0]['scope']!r}.",
            )
        return rows[0]["scope"] if rows else None

    async def capture(
        self,
        source: str,
        content: Any,
        *,
        external_id: str | None = None,
        session_id: str | None = None,
        trace_id: str | None = None,
        scope: str | None = None,
        captured_at: datetime | None = None,
        classification: str | None = None,
        domains: Sequence[str] | None = None,
        captured_for: Sequence[str] | None = None,
        subject: str | None = None,
        write_class: str | None = None,
    ) -> UUID:
        """Append what happened; its id. It is not memory until something is extracted from it.

        The agents in `captured_for` may cite it, see `memwarden.captured()`. Where `write_class` is
        encrypted, the content is kept under the key of the `subject`. With an `external_id`
        the same again returns the first id, so that a call whose answer was lost can be repeated.

        Raises:
            InvalidArgument: an argument is out of range.
            NotFound: no such scope that the caller writes, no such agent or class.
            InvalidContent: the content is not JSON; nothing was sent.
        """
        arguments = {
            "source": source,
            "content": strict_json(content),
            "external_id": external_id,
            "session_id": session_id,
            "trace_id": current_trace_id() if trace_id is None else trace_id,
            "scope": scope,
            "captured_at": captured_at,
            "classification": classification,
            "domains": listed("domains", domains),
            "captured_for": listed("captured_for", captured_for),
            "subject": subject,
            "class": write_class,
        }
        # Without a name of its own a capture that was sent twice would be there twice.
        rows = await self._session.fetch(
            sql.CAPTURE, arguments, dict[str, UUID], repeatable=external_id is not None
        )
        return rows[0]["capture_id"]

    async def capture_many(self, captures: Iterable[Mapping[str, Any]]) -> list[CaptureResult]:
        """Append many: objects whose names are the arguments of `capture`.

        Each has its own result, at its place; one that cannot be kept, or is not JSON, harms no
        other. An object may carry `content_text`, the content as JSON text, instead of `content`.

        Raises:
            InvalidArgument: there are more than 10,000.
        """
        given = list(several("captures", captures))
        return await self._session.fetch(
            sql.CAPTURE_MANY,
            {"captures": f"[{','.join(map(capture_object, given))}]"},
            CaptureResult,
            repeatable=all(isinstance(each, Mapping) and each.get("external_id") for each in given),
        )

    async def extract(
        self,
        source: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        extractor: str | None = None,
        extractor_version: int | None = None,
        k: int = 100,
    ) -> list[Extracted]:
        """Have extractors in the database read up to `k` captures; nothing is left when it is [].

        What they find is written in the caller's name, through every gate. Each version of an
        extractor reads a capture once: a call that was cut off is just repeated.

        Raises:
            InvalidArgument: an argument is out of range.
        """
        arguments = {
            "source": source,
            "since": since,
            "until": until,
            "extractor": extractor,
            "extractor_version": extractor_version,
            "k": k,
        }
        return await self._session.fetch(sql.EXTRACT, arguments, Extracted)

    async def claim_captures(
        self,
        plugin: str,
        source: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        extractor: str | None = None,
        version: int | None = None,
        k: int = 10,
    ) -> list[ClaimedCapture]:
        """Return captures that an extractor of that plug-in has still to read."""
        arguments = {
            "plugin": plugin,
            "source": source,
            "since": since,
            "until": until,
            "extractor": extractor,
            "version": version,
            "k": k,
        }
        return await self._session.fetch(sql.CLAIM_CAPTURES, arguments, ClaimedCapture)

    async def submit_candidates(
        self,
        capture_id: UUID,
        extractor: str,
        version: int,
        candidates: Sequence[Mapping[str, Any]],
    ) -> list[CandidateResult]:
        """Write what a plug-in found in a capture, once: the second time the answer is [].

        A candidate that is malformed, or not JSON, harms no other: the store counts it as dropped.

        Raises:
            NotFound: no such capture of the caller's own that this extractor reads.
        """
        arguments = {
            "capture_id": capture_id,
            "extractor": extractor,
            "version": version,
            "candidates": strict_list(several("candidates", candidates)),
        }
        return await self._session.fetch(sql.SUBMIT_CANDIDATES, arguments, CandidateResult)
