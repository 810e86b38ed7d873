"""Who writes the past, and who may undo it."""

from __future__ import annotations

import pytest

from conftest import World
from history.versions.past import Agent


@pytest.fixture
def author(shared_world: World, home: str) -> Agent:
    """Who writes in the home and takes nothing back."""
    return shared_world.agent(home)


@pytest.fixture
def curator(shared_world: World, home: str) -> Agent:
    """Who may undo in the home."""
    return shared_world.agent(home, role="curator")
