"""An organisation whose layers ask what is shipped: a broker records, an agent cites."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call
from helpers import write

if TYPE_CHECKING:
    from conftest import World

DOCS = "https://docs.example.org/"
TEA = "Ana prefers green tea."
WORDS = "I prefer green tea."


class Office:
    """An organisation of its own in a database that others share."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.org = uuid.uuid4().hex[:12]
        self.home = f"/org/{self.org}/user/ana"
        self.writer_name = world.register(self.home)
        self.broker_name = world.register(self.home, kind="service")
        self.writer = world.connect(self.writer_name)
        self.broker = world.connect(self.broker_name)

    def source(self, uri_pattern: str, type: str = "document", **options: Any) -> None:
        """Register a source of this organisation."""
        options.setdefault("org", self.org)
        call(self.world.admin, "define_source", uri_pattern=uri_pattern, type=type, **options)

    def record(self, excerpt: str, uri: str = "chat:ana/1", **options: Any) -> str:
        """Record evidence as the broker; return its uri."""
        rows = call(self.broker, "record_evidence", uri=uri, excerpt=excerpt, **options)
        return str(rows[0]["record_evidence"])

    def write(
        self,
        content: Any,
        *evidence: dict[str, Any],
        by: Connection[DictRow] | None = None,
        **arguments: Any,
    ) -> DictRow:
        """Write as the agent, into the semantic layer where none is named."""
        layer = arguments.pop("layer", "semantic")
        return write(by or self.writer, layer, content, evidence=list(evidence), **arguments)

    def grounds(self, answer: DictRow) -> list[dict[str, Any]]:
        """What the provenance of a committed write says of its evidence."""
        assert answer["outcome"] == "COMMITTED", str(answer)
        found = self.world.value(
            "SELECT record -> 'evidence' FROM memwarden_data.whole_provenance"
            " WHERE version_id = %s",
            answer["version_id"],
        )
        assert isinstance(found, list)
        return found

    def score(self, answer: DictRow) -> float:
        """The factual score on the record of a committed write."""
        assert answer["outcome"] == "COMMITTED", str(answer)
        query = (
            "SELECT record ->> 'fact_score' FROM memwarden_data.whole_provenance"
            " WHERE version_id = %s"
        )
        return float(self.world.value(query, answer["version_id"]))


def cite(uri: str, excerpt: str | None = None, **fields: Any) -> dict[str, Any]:
    """A reference to evidence."""
    return {"uri": uri} | ({} if excerpt is None else {"excerpt": excerpt}) | fields


def item(answer: DictRow) -> dict[str, Any]:
    """A reference to the memory that a write made."""
    return {"type": "memory_item", "uri": f"memwarden:item/{answer['item_id']}"}


@pytest.fixture(scope="module")
def shipped(shared_world: World) -> World:
    """A shared database whose layers ask for the evidence that is shipped.

    They compare nothing: here the same few facts are written again and again.
    """
    shared_world.ship_layers()
    shared_world.admin.execute(
        "UPDATE memwarden_data.layer SET duplicate_similarity = NULL, conflict = 'accumulate'"
    )
    return shared_world


@pytest.fixture
def office(shipped: World) -> Office:
    """An organisation with a site that anybody may cite, and a chat that the broker hears."""
    made = Office(shipped)
    made.source(f"{DOCS}*")
    made.source("chat:*", "human_input", issuer=made.broker_name)
    return made


def turn(
    text: str = WORDS, speaker: str | None = "Ana", role: str | None = "user"
) -> dict[str, str]:
    """A turn as an application captures it."""
    said = {"role": role, "speaker": speaker, "text": text}
    return {name: value for name, value in said.items() if value is not None}


def capture(by: Connection[DictRow], content: Any, source: str = "chat", **more: Any) -> str:
    """Capture something; the uri that it is cited by."""
    (row,) = call(by, "capture", source=source, content=Jsonb(content), **more)
    return f"memwarden:capture/{row['capture']}"


def kept(office: Office, answer: DictRow) -> list[dict[str, Any]]:
    """The references that were kept with the memory of a write."""
    assert answer["outcome"] == "COMMITTED", str(answer)
    found = office.world.value(
        "SELECT evidence FROM memwarden_data.said_version WHERE version_id = %s",
        answer["version_id"],
    )
    assert isinstance(found, list)
    return found


class Heard(Office):
    """An office whose application has its own home, and captures where the agent is at home."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.broker_name = world.register(f"/org/{self.org}/user/app", kind="service")
        grant = {"agent": self.broker_name, "scope": self.home, "writes": True}
        call(world.admin, "grant_scope", **grant)
        self.broker = world.connect(self.broker_name)
        self.source(f"{DOCS}*")
        self.source("capture:chat/*", "human_input", issuer=self.broker_name)

    def capture(self, content: Any, source: str = "chat", **more: Any) -> str:
        """Capture something as the application; the uri that it is cited by."""
        return capture(self.broker, content, source, **({"scope": self.home} | more))


@pytest.fixture
def heard(shipped: World) -> Heard:
    """An office whose application captures a chat that people speak in."""
    return Heard(shipped)
