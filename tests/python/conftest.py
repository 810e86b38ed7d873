"""Tests of what runs in the server and in the client alike. They need no server of their own.

Alone: ``pytest tests/python --confcutdir=tests/python``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import settings

from memwarden_core.language.wordnet import Dictionary

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("MEMWARDEN_DATA", ROOT.parent / "shared/data"))

settings.register_profile("without a clock", deadline=None)
settings.load_profile("without a clock")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data from outside."""
    if not DATA.is_dir():
        pytest.skip(f"no data from outside: {DATA} is absent (MEMWARDEN_DATA names another place)")
    return DATA


@pytest.fixture(scope="session")
def wordnet() -> Iterable[Dictionary]:
    """The package, where it is installed here or in the root of a server."""
    folders = [Path("/usr/share/wordnet")]
    folders += sorted(Path.home().glob(".cache/memwarden/roots/*/usr/share/wordnet"))
    found = next((folder for folder in folders if (folder / "data.noun").exists()), None)
    if found is None:
        pytest.skip("the Debian package wordnet-base is not installed, and no server has it")
    with Dictionary(found) as dictionary:
        yield dictionary
