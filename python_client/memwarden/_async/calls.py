"""The calls that are one statement and need no embedding."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from memwarden._async.session import AsyncSession
from memwarden._lists import listed
from memwarden._statements import calls as sql
from memwarden.results import (
    AccessRule,
    ClosedItem,
    ComponentStatus,
    Identity,
    IssuedToken,
    Item,
    Reason,
    RequestStatus,
    WriteResult,
)


class AsyncCalls:
    """Reads items, changes what they are, opens and closes scopes, and tells who may what."""

    _session: AsyncSession

    async def get(self, item_id: UUID) -> Item | None:
        """Return an item as it stands, or None where there is none that the caller may see."""
        rows = await self._session.fetch(sql.GET, {"item_id": item_id}, Item)
        return rows[0] if rows else None

    async def find_items(
        self,
        subject: str,
        predicate: str | None = None,
        *,
        layer: str | None = None,
        scope: str | None = None,
        kind: str | None = None,
        max_rows: int = 100,
    ) -> list[Item]:
        """Return the current items about a subject that the caller may see, the newest first.

        An index finds them. `recall` searches by words and likeness.
        """
        arguments = {
            "subject": subject,
            "predicate": predicate,
            "layer": layer,
            "scope": scope,
            "kind": kind,
            "max_rows": max_rows,
        }
        return await self._session.fetch(sql.FIND_ITEMS, arguments, Item)

    async def request_status(self, request_id: UUID) -> RequestStatus | None:
        """Return what became of a write request of the caller's, or None."""
        arguments = {"request_id": request_id}
        rows = await self._session.fetch(sql.REQUEST_STATUS, arguments, RequestStatus)
        return rows[0] if rows else None

    async def status(self) -> list[ComponentStatus]:
        """Return the state of the extension, its storage, partitions and jobs."""
        return await self._session.fetch(sql.STATUS, {}, ComponentStatus)

    async def reasons(self) -> list[Reason]:
        """Return every reason code with its meaning and what the writer can do."""
        return await self._session.fetch(sql.REASONS, {}, Reason)

    async def promote(
        self, item_id: UUID, target: str | None = None, layer: str | None = None
    ) -> WriteResult:
        """Write a copy of an item into a scope above its own; the original stays.

        `target` is the nearest scope above that is no task, `layer` the item's, where left out.

        Raises:
            NotFound: there is no active item of that id that the caller may see.
            InvalidArgument: the target is not above the item.
            ConnectionFailed: the connection broke, and whether there is a copy is not known.
        """
        arguments = {"item_id": item_id, "target": target, "layer": layer}
        rows = await self._session.fetch(sql.PROMOTE, arguments, WriteResult, repeatable=False)
        return rows[0]

    async def retract(self, item_id: UUID, reason: str) -> WriteResult:
        """Take an item back: recall no longer returns it, `history` keeps it with the reason.

        Look at the outcome: where people decided about it, the call waits for them.

        Raises:
            NotFound: there is no active item of that id that the caller may see.
            NotAllowed: the caller may not delete it.
            ConnectionFailed: the connection broke; `get` tells whether the item is retracted.
        """
        arguments = {"item_id": item_id, "reason": reason}
        rows = await self._session.fetch(sql.RETRACT, arguments, WriteResult, repeatable=False)
        return rows[0]

    async def annotate(self, item_id: UUID, verdict: str, note: str | None = None) -> WriteResult:
        """Say of an item that it is confirmed, doubted or refuted (`verdict`).

        Raises:
            NotFound: there is no item of that id that the caller may see.
            ConnectionFailed: the connection broke, and whether it is said is not known.
        """
        arguments = {"item_id": item_id, "verdict": verdict, "note": note}
        rows = await self._session.fetch(sql.ANNOTATE, arguments, WriteResult, repeatable=False)
        return rows[0]

    async def create_scope(
        self,
        path: str,
        lifetime: timedelta | None = None,
        *,
        promote_to: str | None = None,
        promote_from: float | None = None,
    ) -> int:
        """Create a scope, for instance a task below one that the caller writes.

        Returns its number, also when it is there already. `lifetime` is for scopes that close by
        themselves, 30 days where left out. When the scope closes, memories of at least
        `promote_from` importance (0.8 where left out) are promoted into the layer `promote_to`.

        Raises:
            NotAllowed: the caller may not create that one.
            NotFound: there is no such layer.
        """
        arguments = {
            "path": path,
            "lifetime": lifetime,
            "promote_to": promote_to,
            "promote_from": promote_from,
        }
        rows = await self._session.fetch(sql.CREATE_SCOPE, arguments, dict[str, int])
        return rows[0]["scope_id"]

    async def close_scope(
        self,
        path: str,
        promote: Sequence[UUID] = (),
        target: str | None = None,
        *,
        promote_to: str | None = None,
        promote_from: float | None = None,
    ) -> list[ClosedItem]:
        """End a scope and all below it: its items are promoted or released.

        `promote` names the items to write into `target`, by default the nearest scope above that
        is no task. With `promote_to`, a layer, they go into that layer, and so do all of at least
        `promote_from` importance, 0.8 where left out. By default the scope does what
        `create_scope` was told. Look at their `outcome`: one that is refused there is released all
        the same.

        Raises:
            NotFound, NotAllowed: nothing was closed.
            ConnectionFailed: the connection broke, and whether the scope is closed is not known.
        """
        arguments = {
            "path": path,
            "promote": listed("promote", promote),
            "target": target,
            "promote_to": promote_to,
            "promote_from": promote_from,
        }
        return await self._session.fetch(sql.CLOSE_SCOPE, arguments, ClosedItem, repeatable=False)

    async def whoami(self) -> Identity:
        """Return what the caller is and may.

        Raises:
            NotIdentified: the login is bound to nobody and there is no token, or it was refused.
        """
        return (await self._session.fetch(sql.WHOAMI, {}, Identity))[0]

    async def explain_access(
        self, agent: str, item_id: UUID, operation: str = "READ", org: str | None = None
    ) -> list[AccessRule]:
        """Return, rule by rule, whether an agent may READ, WRITE, DELETE or ADMIN an item.

        Raises:
            NotFound: there is no such item or agent that the caller may ask about.
        """
        arguments = {"agent": agent, "item_id": item_id, "operation": operation, "org": org}
        return await self._session.fetch(sql.EXPLAIN_ACCESS, arguments, AccessRule)

    async def issue_token(
        self,
        agent: str,
        audience: str,
        ttl: timedelta = timedelta(minutes=5),
        org: str | None = None,
    ) -> IssuedToken:
        """Issue a token by which the login `audience` acts for an agent. For brokers.

        Raises:
            NotAllowed: the caller is no member of memwarden_broker.
            NotFound: there is no such login, or no such agent that the broker speaks for.
            InvalidArgument: `ttl` is not between a second and five minutes.
        """
        arguments = {"agent": agent, "audience": audience, "ttl": ttl, "org": org}
        return (await self._session.fetch(sql.ISSUE_TOKEN, arguments, IssuedToken))[0]
