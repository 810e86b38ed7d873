"""What the examples of the isolation property share."""

from __future__ import annotations

import itertools

import pytest

from access import call
from conftest import World
from identity.paths import ANSWERS, READERS, grant_tables
from identity.plans import DOMAINS, TIERS, Draft
from identity.rules import Scope
from identity.universe import Ground, memory_of, sow


@pytest.fixture(scope="module")
def ground(shared_world: World) -> Ground:
    """A custom kind of scope, attributes, and memories in /global of every classification."""
    admin = shared_world.admin
    call(admin, "define_scope_kind", kind="team", description="people who work together")
    call(admin, "define_attribute", bearer="agent", name="team")
    call(admin, "define_attribute", bearer="item", name="tier", allowed=TIERS[1:])
    role = shared_world.role("memwarden_agent")
    standing = {"clearance": "restricted", "domains": DOMAINS, "login_role": role}
    call(admin, "register_agent", name=role, scope="/global", **standing)
    author, root = shared_world.connect(role), Scope("global", "global", None)
    memories = []
    for level, domains in itertools.product(range(4), ([], DOMAINS[:1])):
        draft = Draft("semantic", level, frozenset(domains), TIERS[level % 3], annotation=False)
        memories.append(sow(author, draft, memory_of(draft, root, role, 3)))
    author.close()
    admin.execute(ANSWERS)
    tables = {}
    for reader in READERS:
        group = reader.removeprefix("memwarden_")
        tables[group] = shared_world.role()
        grant_tables(admin, tables[group], reader)
    return Ground(root, memories, tables)
