"""Letta: an agent file (.af) with its memory blocks, or an export of archival memories.

An agent file is an object with `agents` and `blocks`; the documented export of archival memories is
a list of passages, each with `id` and `text`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memwarden.transfer.records import Record, Target, Unreadable, time_of


def read(document: Any, target: Target) -> Iterator[Record | Unreadable]:
    """Yield a request for each block and passage; a block's label is its predicate."""
    if isinstance(document, list):
        blocks, passages = [], document
    elif isinstance(document, dict):
        blocks = list(document.get("blocks") or document.get("core_memory") or [])
        passages = list(document.get("passages") or [])
    else:
        blocks, passages = [], [document]
    owner = _only_agent(document)
    for number, block in enumerate(blocks, 1):
        yield _record(block, "value", f"letta block {number}", target, owner)
    for number, passage in enumerate(passages, 1):
        yield _record(passage, "text", f"letta passage {number}", target, owner)


def _record(
    value: Any, words: str, place: str, target: Target, owner: dict[str, str]
) -> Record | Unreadable:
    text = value.get(words) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(text, str) or not text.strip():
        return Unreadable(place, f"it has no {words}")
    label = value.get("label")
    number = value.get("id") or (f"{owner.get('agent', '')}/{label}" if label else None)
    if not number:
        return Unreadable(place, "it has no id")
    whose = {"agent_id": value.get("agent_id") or owner.get("agent")}
    try:
        request = target.request("letta", str(number), text, whose)
        made = time_of(value.get("updated_at") or value.get("created_at"))
    except ValueError as error:
        return Unreadable(place, str(error))
    more = {name: value[name] for name in ("metadata", "tags", "description") if value.get(name)}
    request["content"] = {"statement": text} | more
    if label:
        request |= {"subject": owner.get("name") or owner.get("agent") or "agent"}
        request["predicate"] = str(label)
    if made is not None:
        request["valid_from"] = made
    return Record(place, request)


def _only_agent(document: Any) -> dict[str, str]:
    agents = document.get("agents") if isinstance(document, dict) else None
    if not isinstance(agents, list) or len(agents) != 1 or not isinstance(agents[0], dict):
        return {}
    agent = agents[0]
    told = {"agent": agent.get("id"), "name": agent.get("name")}
    return {name: str(each) for name, each in told.items() if each}
