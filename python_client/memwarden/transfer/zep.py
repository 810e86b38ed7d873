"""Zep: the facts (edges) of a graph, as its API answers them, with when they were true.

A list of edges, or an object with `edges` and, for the names of what they connect, `nodes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from memwarden.transfer.records import Record, Target, Unreadable, is_gone, time_of
from memwarden_core.written import with_id

_NODE = {"uuid", "name"}


def read(document: Any, target: Target) -> Iterator[Record | Unreadable]:
    """Yield a request for each fact; the node that it begins at is its subject."""
    edges = document.get("edges") if isinstance(document, dict) else document
    nodes = document.get("nodes") if isinstance(document, dict) else None
    names = _names(nodes)
    for number, edge in enumerate(edges if isinstance(edges, list) else [edges], 1):
        place = f"zep edge {number}"
        fact = edge.get("fact") if isinstance(edge, dict) else None
        if not isinstance(edge, dict) or not isinstance(fact, str) or not edge.get("uuid"):
            yield Unreadable(place, "it has no fact or no uuid")
            continue
        if is_gone(edge):
            yield Unreadable(place, "it was deleted", "DELETED")
            continue
        whose = {name: edge.get(name) for name in ("graph_id", "user_id", "graph_uuid")}
        try:
            begins, ends = time_of(edge.get("valid_at")), time_of(edge.get("invalid_at"))
            made = time_of(edge.get("created_at"))
            request = target.request("zep", str(edge["uuid"]), whose)
        except ValueError as error:
            yield Unreadable(place, str(error))
            continue
        if edge.get("expired_at") and ends is None:
            yield Unreadable(place, "it was superseded, and nothing says until when it was true")
            continue
        request["content"] = {"statement": fact} | {
            name: edge[name] for name in ("name", "attributes") if edge.get(name)
        }
        for end, name in (("source_node_uuid", "subject"), ("target_node_uuid", "object")):
            if edge.get(end) in names and name == "subject":
                request["subject"] = names[edge[end]]
            elif edge.get(end) in names:
                request["content"]["object"] = names[edge[end]]
        if begins is None and (
            ends is None
            or made is None
            or datetime.fromisoformat(made) < datetime.fromisoformat(ends)
        ):
            # Nothing says since when it was true: since it was noted, at the latest.
            begins = made
        request |= {"valid_from": begins} if begins else {}
        request |= {"valid_to": ends} if ends else {}
        yield target.record("zep", place, request)


def _names(nodes: Any) -> dict[str, str]:
    """What each node is called; several that bear one name are compared by their numbers."""
    known = [each for each in nodes or [] if isinstance(each, dict) and each.keys() >= _NODE]
    times = Counter(each["name"] for each in known)
    return {
        each["uuid"]: each["name"]
        if times[each["name"]] == 1
        else with_id(each["name"], str(each["uuid"]))
        for each in known
    }
