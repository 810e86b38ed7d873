"""Which consolidators there are: those that come along, and those that are installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from memwarden.consolidation import Consolidator
from memwarden.errors import InvalidArgument

GROUP = "memwarden.consolidators"

# As in pyproject.toml; named here too, so that a checkout that is not installed has them.
BUILT_IN = {
    "llm": "memwarden.consolidation.llm:LlmConsolidator",
    "rules": "memwarden.consolidation.rules:Rules",
}


def available() -> dict[str, EntryPoint]:
    """Return the consolidators by name, without importing any; none takes a built-in's name."""
    found = {each.name: each for each in entry_points(group=GROUP)}
    found |= {name: EntryPoint(name, value, GROUP) for name, value in BUILT_IN.items()}
    return dict(sorted(found.items()))


def load(name: str) -> Consolidator:
    """Import a consolidator.

    Raises:
        InvalidArgument: there is none of that name, or what bears the name is none.
    """
    there = available()
    if name not in there:
        raise InvalidArgument(
            f"there is no consolidator {name}", hint=f"There are {', '.join(there)}."
        )
    try:
        made = there[name].load()
        found = made() if isinstance(made, type) else made
    except Exception as error:
        raise InvalidArgument(f"the consolidator {name} cannot be loaded: {error!r}") from error
    if not isinstance(found, Consolidator) or found.name != name:
        raise InvalidArgument(
            f"the consolidator {name} has no name, version and decide(), or another name"
        )
    return found
