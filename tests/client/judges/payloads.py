"""What jobs carry, and settings of the plug-in `judges`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memwarden.worker import Verdict, Verifier
from memwarden.worker.discovery import load

DEEP = "the lake is deep"
NOT_DEEP = "the lake is not deep"


def neighbour(text: str | None, number: int = 0, **more: Any) -> dict[str, Any]:
    """A memory to compare with."""
    return {
        "item_id": f"01890a5d-ac96-774b-bcce-b302099a{number:04}",
        "version_id": f"01890a5d-ac96-774b-bcce-b302099b{number:04}",
        "subject": "lake",
        "predicate": "is",
        "content": {"text": text},
        "text": text,
        "similarity": 0.91239,
    } | more


def gate(text: str, *neighbours: Any) -> dict[str, Any]:
    """What the gate asks about a write that says so."""
    return {"subject": "lake", "content": {"text": text}, "neighbours": list(neighbours)}


def inference(folder: Path) -> dict[str, Any]:
    """Settings with the small model."""
    return {"judges": [{"judge": "nli", "folder": str(folder), "threads": 1}]}


def endpoint(url: str, name: str = "toy") -> dict[str, Any]:
    """The setting of a language model."""
    return {"judge": "llm", "url": url, "model": name}


def asked_of(payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
    """What the plug-in makes of it."""
    plugin = load(["judges"])["judges"]
    assert isinstance(plugin, Verifier)
    return plugin.judge(payload, settings)
