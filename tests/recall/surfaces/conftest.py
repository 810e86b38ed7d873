"""A house with a counter: who writes there, and who reads through the counter alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import Connection
from psycopg.rows import DictRow

from access import call, curator, join, name_of

if TYPE_CHECKING:
    from conftest import World

ORG = "/org/acme"
SHOP = "/org/acme/user/ana"


def house(world: World) -> tuple[Connection[DictRow], Connection[DictRow]]:
    """A curator with a surface for customers, and an agent that wrote what must not cross."""
    boss = curator(world, ORG)
    clerk = join(world, SHOP, clearance="confidential")
    call(boss, "define_surface", name="customer_chat")
    return boss, clerk


def visitor(world: World, boss: Connection[DictRow], *surfaces: str) -> Connection[DictRow]:
    """An agent that reads the shop through surfaces alone."""
    guest = join(world, f"{ORG}/user/guest")
    call(boss, "revoke_scope", agent=name_of(guest), scope=f"{ORG}/user/guest")
    call(boss, "grant_scope", agent=name_of(guest), scope=SHOP, surfaces=list(surfaces))
    return guest
