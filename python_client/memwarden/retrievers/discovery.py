"""Which retrievers there are: those that come along, and those that are installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from memwarden.retrievers.retriever import Retriever, RetrieverError

GROUP = "memwarden.retrievers"

# As in pyproject.toml; named here too, so that a checkout that is not installed has them.
BUILT_IN = {
    "directory": "memwarden.retrievers.directory:Directory",
    "http_json": "memwarden.retrievers.http_json:HttpJson",
}


def load(kind: str) -> Retriever:
    """Import the retriever of a kind. No installed package takes the name of one of ours.

    Raises:
        RetrieverError: there is none, or what bears the name is none.
    """
    found = {each.name: each for each in entry_points(group=GROUP)}
    found |= {name: EntryPoint(name, where, GROUP) for name, where in BUILT_IN.items()}
    if kind not in found:
        raise RetrieverError(f"there is no retriever {kind}")
    try:
        made = found[kind].load()
        retriever = made() if isinstance(made, type) else made
    except Exception as error:
        raise RetrieverError(f"the retriever {kind} cannot be loaded: {error!r}") from error
    if not isinstance(retriever, Retriever):
        raise RetrieverError(f"the retriever {kind} has no name and search()")
    return retriever
