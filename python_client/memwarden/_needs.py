"""What the core leaves to `memwarden-tools`, and what to install where something is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from memwarden.errors import NotInstalled

# Which extra brings a package of ours, for those who import it.
EXTRA: Final = {
    "memwarden.cli": "cli",
    "memwarden.compliance": "cli",
    "memwarden.console": "console",
    "memwarden.consolidation": "worker",
    "memwarden.contract": "cli",
    "memwarden.demo": "demo",
    "memwarden.embedders.bert": "local",
    "memwarden.embedders.bge": "local",
    "memwarden.embedders.local": "local",
    "memwarden.embedders.minilm": "local",
    "memwarden.evaluation": "evaluation",
    "memwarden.extraction": "worker",
    "memwarden.judges": "worker",
    "memwarden.langgraph": "langgraph",
    "memwarden.mcp": "mcp",
    "memwarden.mem0": "mem0",
    "memwarden.model_use": "cli",
    "memwarden.reporting": "cli",
    "memwarden.rerankers.llm": "worker",
    "memwarden.retrievers.directory": "worker",
    "memwarden.retrievers.environment": "worker",
    "memwarden.retrievers.http_json": "worker",
    "memwarden.settling": "worker",
    "memwarden.starting": "cli",
    "memwarden.transfer": "cli",
    "memwarden.worker": "worker",
}


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Say which extra brings a package of others, where an import in the block misses one."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0].startswith("memwarden"):
            raise
        raise NotInstalled(error.name.partition(".")[0], extra) from None


class _Missing:
    """Is asked last for a module: for one of ours, an installation without it has brought it."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        """Name the extra that brings a module which nobody has found."""
        if name in EXTRA:
            raise NotInstalled(name, EXTRA[name])


def watch_imports() -> None:
    """Have imports of what is not installed say how to install it."""
    if _Missing not in sys.meta_path:
        sys.meta_path.append(_Missing)
