"""Ana's agent and a task of hers, which nobody has written to yet."""

from __future__ import annotations

import pytest

from concurrency.tasks import HOME, TASK, Agent
from conftest import World
from scope_calls import create_scope


@pytest.fixture
def agent(world: World) -> Agent:
    """An agent with a task that nobody has written to yet."""
    made = world.agent(HOME, descendants=True, role="curator")
    create_scope(made, TASK)
    return made


@pytest.fixture
def closer(world: World, agent: Agent) -> Agent:
    """The same agent, connected once more."""
    return world.connect(str(agent.info.user))
