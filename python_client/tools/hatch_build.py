"""Packs what the core does not: the rest of the same two folders, into the same two packages."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PACKAGES = ("memwarden", "memwarden_core")


class Rest(BuildHookInterface):  # type: ignore[type-arg]
    """Finds the files: in an sdist they lie here, and in the repository beside the core's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name them to hatchling; an editable installation reads them where they lie."""
        if version == "editable":
            return
        here = Path(self.root)
        if (here / PACKAGES[0]).is_dir():
            found = [(each, each.relative_to(here)) for each in _files(here)]
        else:
            found = list(_beside(here))
        for file, name in found:
            build_data["force_include"][str(file)] = name.as_posix()


class Core(MetadataHookInterface):
    """Locks the version to that of the core."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Depend on the core, which brings what all parts need."""
        metadata["dependencies"] = [f"memwarden=={metadata['version']}"]


def _beside(here: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each file that the core leaves, with its name in the wheel."""
    root = here.resolve().parent
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    build = settings["tool"]["hatch"]["build"]
    core = {Path(each) for each in build["only-include"]}
    core |= {Path(PACKAGES[1], each) for each in build["hooks"]["custom"]["shared"]}
    for parent in (root, root.parent / "plpython"):
        for file in _files(parent):
            name = file.relative_to(parent)
            if not core & {name, *name.parents}:
                yield file, name


def _files(parent: Path) -> Iterator[Path]:
    for package in PACKAGES:
        for file in sorted((parent / package).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file
