"""What a source needs of this machine: only what its owner has set aside for retrievers.

Settings come from the database. Whoever administers it must not thereby read the environment or
the files of those who connect to it.
"""

from __future__ import annotations

import os
from pathlib import Path

from memwarden.retrievers.retriever import RetrieverError

PREFIX = "MEMWARDEN_RETRIEVER_"
ROOT = f"{PREFIX}ROOT"


def value(name: str) -> str:
    """Return the environment variable of that name, which begins with PREFIX."""
    if not name.startswith(PREFIX) or name == ROOT:
        raise RetrieverError(f"a header's variable begins with {PREFIX}")
    found = os.environ.get(name)
    if not found:
        raise RetrieverError(f"the environment has no {name}")
    return found


def directory(path: str) -> Path:
    """Return the directory of that path below the one that MEMWARDEN_RETRIEVER_ROOT names."""
    root = os.environ.get(ROOT)
    if not root:
        raise RetrieverError(f"the environment has no {ROOT}")
    base = Path(root).resolve()
    found = (base / path).resolve()
    if not found.is_relative_to(base) or not found.is_dir():
        raise RetrieverError(f"path: no directory below {ROOT}")
    return found
