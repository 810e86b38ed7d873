"""Letta: an agent file (.af) with its memory blocks, or an export of archival memories.

An agent file is an object with `agents` and `blocks`, or an older one that is the agent itself,
with `core_memory`. The documented export of archival memories is a list of passages, each with `id`
and `text`. Numbers such as agent-0 and block-0 count within a file, and names are no identifiers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memwarden.transfer.records import Record, Target, Unreadable, digest, is_gone, time_of

# A number that counts within a file.
_LOCAL = re.compile(r"[a-z]+-\d{1,6}")


def read(document: Any, target: Target) -> Iterator[Record | Unreadable]:
    """Yield a request for each block and passage; a block's label is its predicate."""
    blocks: list[Any] = []
    if isinstance(document, list):
        passages = document
    elif isinstance(document, dict):
        blocks = list(document.get("blocks") or document.get("core_memory") or [])
        passages = list(document.get("passages") or [])
    else:
        passages = [document]
    agents = _agents(document)
    made = [
        _record(block, "value", f"letta block {number}", target, _owner(block, agents))
        for number, block in enumerate(blocks, 1)
    ]
    beside: dict[str | None, dict[str, Any]] = {}
    for each in made:
        if isinstance(each, Record) and each.apart is not None:
            about = beside.setdefault(each.apart, {})
            about[each.request["predicate"]] = each.request["content"]
    for each in made:
        yield replace(each, beside=beside.get(each.apart)) if isinstance(each, Record) else each
    for number, passage in enumerate(passages, 1):
        yield _record(passage, "text", f"letta passage {number}", target, _owner(passage, agents))


def _record(
    value: Any, words: str, place: str, target: Target, agent: dict[str, Any]
) -> Record | Unreadable:
    text = value.get(words) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(text, str) or not text.strip():
        return Unreadable(place, f"it has no {words}")
    if is_gone(value) or is_gone(agent):
        return Unreadable(place, "it was deleted", "DELETED")
    label = value.get("label")
    whose = value.get("agent_id") or agent.get("id")
    number = value.get("id") or (f"{whose or ''}/{label}" if label else None)
    if not number:
        return Unreadable(place, "it has no id")
    if label or _LOCAL.fullmatch(str(number)):
        target = replace(target, source=_source(agent, target))
    else:
        target = replace(target, source="")
    try:
        request = target.request("letta", str(number), {"agent_id": whose})
        made = time_of(value.get("updated_at") or value.get("created_at"))
    except ValueError as error:
        return Unreadable(place, str(error))
    more = {name: value[name] for name in ("metadata", "tags", "description") if value.get(name)}
    request["content"] = {"statement": text} | more
    name = str(agent.get("name") or whose or "agent")
    if label:
        request |= {"subject": name, "predicate": str(label)}
    if made is not None:
        request["valid_from"] = made
    apart = f"{name} ({digest(target.source, 6)})" if label else None
    return target.record("letta", place, request, apart)


def _agents(document: Any) -> list[dict[str, Any]]:
    """The agents of a file; one of several that bear a name has its number behind it."""
    if not isinstance(document, dict):
        return []
    listed = document.get("agents") if "agents" in document else [document]
    agents = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    times = Counter(each.get("name") for each in agents)
    return [
        each
        if times[each.get("name")] == 1
        else each | {"name": f"{each.get('name')} ({each.get('id')})"}
        for each in agents
    ]


def _owner(value: Any, agents: list[dict[str, Any]]) -> dict[str, Any]:
    """The agent that a block or passage belongs to; the first of several."""
    if len(agents) == 1:
        return agents[0]
    if not isinstance(value, dict):
        return {}
    for agent in agents:
        if value.get("agent_id") and value["agent_id"] == agent.get("id"):
            return agent
        blocks = agent.get("block_ids")
        if isinstance(blocks, list) and value.get("id") in blocks:
            return agent
    return {}


def _source(agent: dict[str, Any], target: Target) -> str:
    """What tells an agent from others of its name: its number, when it was made, or its file."""
    number = agent.get("id")
    if isinstance(number, str) and not _LOCAL.fullmatch(number):
        return number
    messages = agent.get("messages")
    born = [agent.get("created_at")] if agent.get("created_at") else []
    born += [
        each["created_at"]
        for each in (messages if isinstance(messages, list) else [])
        if isinstance(each, dict) and each.get("created_at")
    ]
    return f"{agent.get('name')} {born[0]}" if born else f"{target.source} {number or ''}"
