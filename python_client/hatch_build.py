"""Packs the core: memwarden_core lies beside this folder, and the extras in tools/."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Shared(BuildHookInterface):  # type: ignore[type-arg]
    """Takes from memwarden_core, which runs in the server too, what the client needs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to hatchling; an editable installation reads them where they lie."""
        if version == "editable":
            return
        places = (Path(self.root, "memwarden_core"), Path(self.root, "../plpython/memwarden_core"))
        found = next(place for place in places if place.is_dir())
        for name in self.config["shared"]:
            build_data["force_include"][str((found / name).resolve())] = f"memwarden_core/{name}"


class Extras(MetadataHookInterface):
    """Each extra of memwarden-tools is an extra of the core, at the same version."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to the extras of the core's own. In an sdist PKG-INFO has them all."""
        tools = tomllib.loads(Path(self.root, "tools/pyproject.toml").read_text(encoding="utf-8"))
        version = metadata["version"]
        metadata["optional-dependencies"] = self.config["own"] | {
            extra: [f"memwarden-tools[{extra}]=={version}"]
            for extra in tools["project"]["optional-dependencies"]
            if extra != "dev"
        }
