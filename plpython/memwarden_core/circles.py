"""Circles in a graph: its strongly connected components."""

from __future__ import annotations

from collections.abc import Sequence


def circles(sources: Sequence[str], targets: Sequence[str]) -> list[int | None]:
    """For each edge the number of the circle that it lies in, from 1; None for the others.

    Two nodes are in one circle when each can be reached from the other. The numbers follow the
    order of the edges.
    """
    edges: dict[str, list[str]] = {}
    for source, target in zip(sources, targets, strict=True):
        edges.setdefault(source, []).append(target)
    component = _components(edges)
    numbers: dict[int, int] = {}
    found: list[int | None] = []
    for source, target in zip(sources, targets, strict=True):
        same = component[source] == component[target]
        found.append(numbers.setdefault(component[source], len(numbers) + 1) if same else None)
    return found


def _components(edges: dict[str, list[str]]) -> dict[str, int]:
    """Tarjan's algorithm, without recursion: a chain may be longer than Python's stack."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    component: dict[str, int] = {}
    waiting: list[str] = []
    for start in edges:
        if start in index:
            continue
        index[start] = low[start] = len(index)
        waiting.append(start)
        path = [(start, iter(edges[start]))]
        while path:
            node, rest = path[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    waiting.append(target)
                    path.append((target, iter(edges.get(target, ()))))
                    break
                if target not in component:
                    low[node] = min(low[node], index[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    while True:
                        member = waiting.pop()
                        component[member] = index[node]
                        if member == node:
                            break
    return component
