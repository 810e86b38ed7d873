"""Keeping memories: pins, legal holds, and the actions that rest on them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._lists import listed
from memwarden._statements import lifecycle as sql
from memwarden.results import HeldVersion, Hold, LinkedAction, WriteResult


class AsyncKeeping:
    """Keeps memories from collection, and what is held from erasure."""

    _session: AsyncSession

    async def pin(self, item_id: UUID, reason: str) -> None:
        """Keep a memory from decay and collection until `unpin`.

        Raises:
            NotFound: there is no item of that id that the caller may see.
            NotAllowed: the caller may not pin it.
        """
        arguments = {"item_id": item_id, "reason": reason}
        await self._session.fetch(sql.PIN, arguments, dict[str, Any])

    async def unpin(self, item_id: UUID, reason: str = "unpinned") -> None:
        """Let a pinned memory age again.

        Raises:
            NotFound: there is no item of that id that the caller may see.
            NotAllowed: the caller may not unpin it.
            ConnectionFailed: the connection broke; the items of `find_items` say `pinned`.
        """
        arguments = {"item_id": item_id, "reason": reason}
        await self._session.fetch(sql.UNPIN, arguments, dict[str, Any], repeatable=False)

    async def hold(
        self,
        reason: str,
        *,
        item_id: UUID | None = None,
        subject: str | None = None,
        scope: str | None = None,
        texts: Sequence[str] | None = None,
        layers: Sequence[str] | None = None,
        written_during: tuple[datetime | None, datetime | None] | None = None,
        four_eyes: bool | None = None,
        org: str | None = None,
    ) -> Hold:
        """Set a legal hold on every memory that meets all the arguments, now and later.

        Collection, retention and erasure leave held memories alone until `lift_hold`.
        `written_during` is a time from, inclusive, to, exclusive; None is open.

        Raises:
            NotAllowed: the caller's role does not permit HOLD.
            NotFound: there is no such item, scope, layer or organisation.
            InvalidArgument: nothing says what to hold, or an argument is out of range.
            ConnectionFailed: the connection broke; the view `memwarden.holds` tells.
        """
        since, until = written_during or (None, None)
        arguments = {
            "reason": reason,
            "item_id": item_id,
            "subject": subject,
            "scope": scope,
            "texts": listed("texts", texts),
            "layers": listed("layers", layers),
            "limited": written_during is not None,
            "since": since,
            "until": until,
            "four_eyes": four_eyes,
            "org": org,
        }
        return (await self._session.fetch(sql.HOLD, arguments, Hold, repeatable=False))[0]

    async def lift_hold(self, hold_id: UUID, reason: str) -> WriteResult:
        """End a legal hold; erasures that it blocked are carried out.

        Look at the outcome: a hold of four eyes waits for a second person.

        Raises:
            NotFound: there is no hold of that id in force that the caller may know of.
            NotAllowed: the caller may not lift it.
        """
        arguments = {"hold_id": hold_id, "reason": reason}
        rows = await self._session.fetch(sql.LIFT_HOLD, arguments, WriteResult, repeatable=False)
        return rows[0]

    async def held_items(self, hold_id: UUID) -> list[HeldVersion]:
        """Return every version of the memories that a legal hold keeps.

        Raises:
            NotFound: there is no hold of that id in force that the caller may know of.
        """
        return await self._session.fetch(sql.HELD_ITEMS, {"hold_id": hold_id}, HeldVersion)

    async def link_action(
        self, action_id: str, versions: Sequence[UUID], recall_id: UUID | None = None
    ) -> int:
        """Record that an action of the caller rests on these versions; return how many were new.

        Nothing beneath an action is collected. The same call again adds nothing.

        Raises:
            NotFound: there is no such version or recall that the caller may see.
            InvalidArgument: `action_id` or `versions` is empty or too long.
        """
        arguments = {
            "action_id": action_id,
            "versions": listed("versions", versions),
            "recall_id": recall_id,
        }
        rows = await self._session.fetch(sql.LINK_ACTION, arguments, LinkedAction)
        return rows[0].linked
