"""Puts memwarden_core into sdist and wheel: it lies beside this folder, or in the sdist itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Shared(BuildHookInterface):  # type: ignore[type-arg]
    """Finds the code that runs in the server and in the client from one source."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folder to hatchling; an editable installation reads it where it lies."""
        if version == "editable":
            return
        places = (Path(self.root, "memwarden_core"), Path(self.root, "../plpython/memwarden_core"))
        found = next(place for place in places if place.is_dir())
        build_data["force_include"][str(found.resolve())] = "memwarden_core"
