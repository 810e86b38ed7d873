"""Twin organisations: the same people and memories, but one thing that is hidden is in one only.

Whatever the writer is told must be the same in both, once numbers and names are replaced.
"""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.range import Range

from access import call, join
from conftest import World
from helpers import write

# How a memory is hidden from the writer: what its author writes it with.
HIDINGS: dict[str, dict[str, Any]] = {
    "clearance": {"classification": "confidential"},
    "domain": {"domains": ["medical"]},
    "own": {},
    "policy": {"attributes": {"tier": "gold"}},
    "unshared": {},
}
OWN_ONLY = [{"operation": "READ", "reach": "own"}, {"operation": "WRITE"}, {"operation": "DELETE"}]
ALL = [{"operation": "READ"}, {"operation": "WRITE"}, {"operation": "DELETE"}]
LAYERS = {"working": False, "session": False, "episodic": True, "semantic": True}
"""Whether a layer is shared, as shipped."""
ERROR = ("sqlstate", "message_primary", "message_detail", "message_hint", "context")

# Numbers of rows, whichever they are: they are compared by what has the same one.
NUMBERS = {
    *("org_id", "scope_id", "parent_id", "principal_id", "label_id", "schema_id", "log_seq"),
    *("transaction_id", "first_used_by", "create_scope"),
}
CLOCKS = {"us", "p50_us", "p95_us", "p99_us", "recency_score", "freshness_score"}
"""What differs from run to run."""

TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.:+]*")
UUIDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Side:
    """One of the twins, with its author, its writer and its reader, who is cleared for all."""

    def __init__(self, world: World, hiding: str, *, present: bool) -> None:
        self.world = world
        self.present = present
        self.secret = HIDINGS[hiding]
        self.org = f"o{uuid.uuid4().hex[:10]}"
        self.home = f"/org/{self.org}/user/ana"
        self.task = f"{self.home}/task/t"
        world.scope(self.task)
        tier = {"bearer": "item", "name": "tier", "allowed": ["gold"]}
        call(world.admin, "define_attribute", **tier, org=self.org)
        call(world.admin, "define_attribute", bearer="agent", name="team", org=self.org)
        for role, permissions in (
            ("cleared", [*ALL, {"operation": "ADMIN", "degree": "layer"}]),
            ("writer", OWN_ONLY if hiding == "own" else ALL),
        ):
            arguments = {"name": role, "permissions": permissions, "org": self.org}
            call(world.admin, "define_role", **arguments)
        if hiding == "policy":
            policy = {"policy_set": "tiers", "name": "gold", "effect": "deny", "org": self.org}
            operations = {"name": "tiers", "default_effect": "allow", "operations": ["READ"]}
            call(world.admin, "define_policy_set", **operations, org=self.org)
            condition = "item.tier = 'gold' AND agent.team IS NULL"
            call(world.admin, "set_policy", **policy, condition=condition)
        trusted: dict[str, Any] = {"clearance": "confidential", "domains": ["medical"]}
        trusted |= {"attributes": {"team": "care"}, "role": "cleared"}
        self.author = join(world, self.home, descendants=True, **trusted)
        self.reader = join(world, self.home, descendants=True, **trusted)
        self.writer = join(world, self.home, descendants=True, role="writer")
        self.names = {self.org: "ORG"}
        for name in ("author", "reader", "writer"):
            self.names[getattr(self, name).info.user] = name.upper()
        self.writer_name = self.writer.info.user
        self.seen: defaultdict[str, dict[Any, str]] = defaultdict(dict)

    def hide(self, layer: str, content: Any, **arguments: Any) -> UUID:
        """Let the author write what is hidden, on the side that has it; any number on the other."""
        if not self.present:
            return uuid.uuid4()
        row = write(self.author, layer, content, scope=self.task, **(self.secret | arguments))
        assert row["outcome"] == "COMMITTED", row
        item_id: UUID = row["item_id"]
        return item_id

    def masked(self, value: Any, key: str = "") -> Any:
        """A value with numbers, names and times replaced, the same on both sides."""
        if key in CLOCKS:
            return None
        if isinstance(value, Mapping):
            return {name: self.masked(each, name) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.masked(each) for each in value]
        if isinstance(value, Range):
            return ["range", self.masked(value.lower), self.masked(value.upper), value.bounds]
        if isinstance(value, datetime):
            return "a time"
        if key in NUMBERS and value is not None:
            return self.number(key, value)
        if isinstance(value, UUID | str):
            return self.text(str(value))
        return value

    def number(self, key: str, value: Any) -> str:
        """The name of a number: the how manieth it is that was seen under this key."""
        return self.seen[key].setdefault(value, f"{key} {len(self.seen[key]) + 1}")

    def text(self, value: str) -> str:
        """A text without what tells the sides apart."""
        for name, instead in self.names.items():
            value = value.replace(name, instead)
        value = TIMES.sub("a time", value)
        return UUIDS.sub(lambda found: self.number("uuid", found[0]), value)

    def rows(self, query: str, *parameters: Any, who: str = "writer") -> Any:
        """What the writer, or another, is answered, masked: rows, or all that an error says."""
        connection: Connection[DictRow] = getattr(self, who)
        try:
            return self.masked(connection.execute(query, parameters).fetchall())
        except psycopg.Error as error:
            return self.masked({part: getattr(error.diag, part) for part in ERROR})

    def write(self, layer: str, content: Any, **arguments: Any) -> Any:
        """What the writer is answered to a write, with the gates that it passed, masked."""
        row = write(self.writer, layer, content, scope=self.task, **arguments)
        status = "SELECT * FROM memwarden.request_status(%s)"
        return [self.masked(dict(row)), self.rows(status, row["request_id"])]


@contextmanager
def twins(world: World, hiding: str) -> Iterator[tuple[Side, Side]]:
    """A side that has what is hidden, and one that does not: hidden in that one way alone."""
    share(world, dict.fromkeys(LAYERS, hiding != "unshared"))
    sides = Side(world, hiding, present=True), Side(world, hiding, present=False)
    yield sides
    share(world, LAYERS)


def share(world: World, layers: Mapping[str, bool]) -> None:
    """Let others read layers, or not."""
    for layer, shared in layers.items():
        query = "SELECT memwarden.configure_layer(%s, jsonb_build_object('shared', %s::boolean))"
        world.admin.execute(query, (layer, shared))
