"""Items, their history and proposals as resources, which a host can attach to a conversation."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from memwarden.errors import MemwardenError
from memwarden.mcp.agent import shown
from memwarden.mcp.answers import brief
from memwarden.mcp.principals import Principals

_JSON = "application/json"


def add_items(server: MCPServer, who: Principals) -> None:
    """Add `memwarden://item/{item_id}` and its history, for who may read the item."""

    @server.resource(
        "memwarden://item/{item_id}",
        name="item",
        description="A memory as it stands now, with its provenance.",
        mime_type=_JSON,
    )
    async def item(item_id: str) -> str:
        return _text(shown(await _read(who.caller().memory.get, item_id)))

    @server.resource(
        "memwarden://item/{item_id}/history",
        name="history",
        description="Every version of a memory, newest first.",
        mime_type=_JSON,
    )
    async def history(item_id: str) -> str:
        return _text(await _read(who.caller().memory.history, item_id))


def add_proposals(server: MCPServer, who: Principals) -> None:
    """Add `memwarden://proposal/{proposal_id}`, for who may decide about it."""

    @server.resource(
        "memwarden://proposal/{proposal_id}",
        name="proposal",
        description="A write that waits for a person, with what it takes to decide.",
        mime_type=_JSON,
    )
    async def proposal(proposal_id: str) -> str:
        return _text(await _read(who.caller().memory.proposal, proposal_id))


async def _read(read: Any, number: str) -> Any:
    try:
        found = await read(UUID(number))
    except ValueError:
        raise ResourceNotFoundError("the id is no UUID") from None
    except MemwardenError as error:
        raise ResourceError(f"{error} {error.hint or ''}".strip()) from None
    if not found:
        raise ResourceNotFoundError("there is none of that id that this principal may see")
    return found


def _text(value: Any) -> str:
    return json.dumps(brief(value), ensure_ascii=False, indent=1)
