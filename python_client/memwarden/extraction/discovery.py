"""Which extractors there are: those that come along, and those that are installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from memwarden.errors import InvalidArgument
from memwarden.extraction import Extractor

GROUP = "memwarden.extractors"

# As in pyproject.toml; named here too, so that a checkout that is not installed has them.
BUILT_IN = {"llm": "memwarden.extraction.llm:LlmExtractor"}


def available() -> dict[str, EntryPoint]:
    """Return the extractors by name, without importing any; none takes a built-in's name."""
    found = {each.name: each for each in entry_points(group=GROUP)}
    found |= {name: EntryPoint(name, value, GROUP) for name, value in BUILT_IN.items()}
    return dict(sorted(found.items()))


def load(name: str) -> Extractor:
    """Import an extractor.

    Raises:
        InvalidArgument: there is none of that name, or what bears the name is none.
    """
    there = available()
    if name not in there:
        raise InvalidArgument(
            f"there is no extractor {name}", hint=f"There are {', '.join(there)}."
        )
    try:
        made = there[name].load()
        found = made() if isinstance(made, type) else made
    except Exception as error:
        raise InvalidArgument(f"the extractor {name} cannot be loaded: {error!r}") from error
    if not isinstance(found, Extractor) or found.name != name:
        raise InvalidArgument(f"the extractor {name} has no name and extract(), or another name")
    return found
