"""Two organisations that are alike, and all that those who administer one may ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, curator
from conftest import World
from helpers import write

ACME, OTHER = "/org/acme", "/org/other"


class Two:
    """Two organisations that are alike: acme, whose curator tries, and other, which it is not."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.items: dict[str, UUID] = {}
        self.agents: dict[str, str] = {}
        self.curators: dict[str, Connection[DictRow]] = {}
        for place in (ACME, OTHER):
            self.curators[place] = owner = curator(world, place)
            call(owner, "create_scope", path=f"{place}/user/ana/task/t")
            self.agents[place] = world.register(f"{place}/user/ana")
            call(owner, "define_role", name="reader", permissions=[{"operation": "READ"}])
            call(owner, "define_attribute", bearer="agent", name="team")
            call(owner, "define_policy_set", name="a set", default_effect="allow")
            call(owner, "set_policy", policy_set="a set", name="a policy", effect="deny",
                 condition="agent.team = 'none'")  # fmt: skip
            self.items[place] = write(owner, "semantic", f"of {place}")["item_id"]

    @property
    def acme(self) -> Connection[DictRow]:
        """The curator of acme."""
        return self.curators[ACME]


def answer(who: Connection[DictRow], function: str, **arguments: Any) -> str | None:
    """Call a function; return the SQLSTATE it fails with, None when it does what it is asked."""
    try:
        call(who, function, **arguments)
    except psycopg.Error as error:
        return error.sqlstate
    return None


def full_calls(place: str, agent: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything that only who administers an organisation may do in it."""
    org = {"org": place.split("/")[2]}
    yield "create_scope", {"path": f"{place}/user/new"}
    yield "register_agent", {"name": "new", "scope": f"{place}/user/ana", "role": "reader"}
    yield "change_agent", {"agent": agent, "validated": False} | org
    yield "grant_scope", {"agent": agent, "scope": place, "writes": True}
    yield "revoke_scope", {"agent": agent, "scope": place}
    yield "define_role", {"name": "writer", "permissions": []} | org
    yield "define_attribute", {"bearer": "item", "name": "due", "type": "boolean"} | org
    yield "define_policy_set", {"name": "a set", "default_effect": "deny"} | org
    policy = {"policy_set": "a set", "name": "a policy"} | org
    yield "preview_policy", policy | {"effect": "allow", "condition": "TRUE"}
    yield "set_policy", policy | {"effect": "allow", "condition": "TRUE"}
    yield "drop_policy", policy
    yield "define_integrity_rule", {"name": "n", "condition": "memory.content.n > 0"} | org
    yield "order_predicates", {"earlier": "hired", "later": "left"} | org
    yield "preview_integrity_rule", {"condition": "memory.content.n > 0"} | org
    yield "drop_integrity_rule", {"name": "n"} | org
    yield "configure_layer", {"layer": "semantic", "settings": '{"max_attempts": 3}'} | org
    yield "reset_layer", {"layer": "semantic"} | org
    yield "use_profile", {"profile": "strict"} | org
    yield "observe_profile", {"profile": "open"} | org
    yield "move_scope", {"path": f"{place}/user/ana/task/t", "new_parent": place}
    yield "revoke_tokens", {"agent": agent} | org
    yield "close_scope", {"path": f"{place}/user/ana"}


def layer_calls(org: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What belongs to the content of the memory: the smaller half of administration."""
    yield "define_schema", {"layer": "semantic", "kind": "trip", "schema": {}, "org": org}
    yield "define_predicate", {"predicate": "likes", "same_key": "accumulate", "org": org}
    yield "set_synonyms", {"org": org, "synonyms": {"tea": "chai"}}
