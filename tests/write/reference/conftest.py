"""A world with rules and audit entries that memory may refer to."""

from __future__ import annotations

import pytest

from conftest import World
from write.reference.canon import make_table, records, register


@pytest.fixture(scope="module")
def ruled(shared_world: World) -> World:
    """Rules registered as canonical content, audit entries as records; one world a module."""
    every = records()
    audits = {key: text for key, text in every.items() if key.startswith("audit-")}
    make_table(shared_world, "rules", {key: every[key] for key in every.keys() - audits.keys()})
    make_table(shared_world, "audit", audits)
    register(shared_world, "rules", category="rules of the organisation")
    register(shared_world, "audit", kind="record")
    return shared_world
