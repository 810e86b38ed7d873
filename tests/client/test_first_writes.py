"""What the demo notes, by every way in, in a store as `memwarden init` leaves it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from helpers import write
from memwarden import Client
from memwarden.cli import app
from memwarden.demo.conversation import load
from memwarden.demo.writes import captures_of, requests_of
from memwarden.errors import MemwardenError
from memwarden.mem0 import AsyncMemory, Memory
from memwarden.requests import WriteRequest
from shipped import SCOPE, Shipped

mcp = pytest.importorskip("mcp", reason="needs memwarden[mcp]")
pytest.importorskip("langgraph", reason="needs memwarden[langgraph]")
from langgraph.store.base import PutOp  # noqa: E402

from memwarden.langgraph import MemwardenStore  # noqa: E402
from memwarden.mcp import server  # noqa: E402
from memwarden.mcp.principals import OnePrincipal  # noqa: E402

Outcomes = Counter[tuple[str, str | None]]
TURNS, NOTES = 95, 49
REPEATS = {"ALREADY_COMMITTED", "EXACT_DUPLICATE", "STRUCTURAL_DUPLICATE", "NEAR_DUPLICATE"}
PAGE = Path(__file__).parents[2] / "docs" / "integrate.md"


def dsn_of(shipped: Shipped) -> str:
    """How the agent connects."""
    info = shipped.agent.info
    return make_conninfo(shipped.world.dsn, user=info.user, dbname=info.dbname)


def noted(shipped: Shipped) -> list[WriteRequest]:
    """Have the application record the demo's turns; the turns and notes that cite them."""
    [conversation] = load(None)
    heard = {}
    for turn, capture in zip(conversation.turns, captures_of(conversation), strict=True):
        row = shipped.application.execute(
            "SELECT capture_id FROM memwarden.capture(%(source)s, %(content)s::jsonb,"
            " %(external_id)s, scope => %(scope)s, captured_at => %(captured_at)s::timestamptz)"
            " AS capture_id",
            capture | {"content": json.dumps(capture["content"]), "scope": SCOPE},
        ).fetchone()
        assert row is not None
        heard[turn.dia_id] = row["capture_id"]
    # This store has no schema for turns.
    return [replace(each, scope=SCOPE, kind=None) for each in requests_of(conversation, heard)]


def named(request: WriteRequest) -> dict[str, Any]:
    """The arguments that a request gives."""
    names = ("layer", "content", "subject", "predicate", "scope", "evidence", "valid_from")
    return {name: getattr(request, name) for name in names if getattr(request, name) is not None}


def text_of(request: WriteRequest) -> str:
    """What a turn or a note says."""
    return str(request.content.get("statement") or request.content["text"])


def by_sql(shipped: Shipped, requests: Sequence[WriteRequest], _: Path) -> Outcomes:
    """`memwarden.write()`."""
    answers = [write(shipped.agent, **named(each)) for each in requests]
    return Counter((row["outcome"], row["reason"]) for row in answers)


def by_client(shipped: Shipped, requests: Sequence[WriteRequest], _: Path) -> Outcomes:
    """`write_many()` of the client."""
    with Client.connect(dsn_of(shipped)) as memory:
        return Counter((each.outcome, each.reason) for each in memory.write_many(requests))


def by_remember(shipped: Shipped, requests: Sequence[WriteRequest], _: Path) -> Outcomes:
    """`remember()` of the client, which needs no more than a text and its source."""
    with Client.connect(dsn_of(shipped)) as memory:
        told = [
            memory.remember(
                text_of(each),
                source=list(each.evidence),
                about=each.subject,
                layer=each.layer,
                valid_from=each.valid_from,
            )
            for each in requests
        ]
    return Counter((each.outcome, each.reason) for each in told)


def by_mem0(shipped: Shipped, requests: Sequence[WriteRequest], _: Path) -> Outcomes:
    """mem0's `add()`."""
    told: Outcomes = Counter()
    with Client.connect(dsn_of(shipped)) as client:
        for each in requests:
            given = {"evidence": each.evidence, "valid_from": each.valid_from}
            memory = Memory(client, layer=each.layer, defaults=given)
            metadata = {n: each.content[n] for n in ("session", "turn") if n in each.content}
            [kept] = memory.add(text_of(each), user_id=each.subject, metadata=metadata)["results"]
            told[kept["outcome"], kept["reason"]] += 1
    return told


def by_langgraph(shipped: Shipped, requests: Sequence[WriteRequest], _: Path) -> Outcomes:
    """LangGraph's `put()`."""
    told: Outcomes = Counter()
    with Client.connect(dsn_of(shipped)) as client:
        for number, each in enumerate(requests):
            given = {"evidence": each.evidence, "valid_from": each.valid_from}
            store = MemwardenStore(client, layer=each.layer, on_refusal="return", defaults=given)
            key = each.predicate or str(number)
            refused: Any
            [refused] = store.batch([PutOp((str(each.subject),), key, dict(each.content))])
            told[("COMMITTED", None) if refused is None else (refused.outcome, refused.reason)] += 1
    return told


def by_mcp(shipped: Shipped, requests: Sequence[WriteRequest], _: Path) -> Outcomes:
    """The tool `add_memories`."""

    async def call() -> Any:
        async with mcp.Client(server.build("agent", OnePrincipal(dsn_of(shipped)))) as host:
            memories = [json.loads(json.dumps(named(each), default=str)) for each in requests]
            for memory in memories:
                memory["content"] = json.dumps(memory["content"])
            return await host.call_tool("add_memories", {"memories": memories})

    told = asyncio.run(call()).structured_content["results"]
    return Counter((each["outcome"], each.get("reason")) for each in told)


def by_import(shipped: Shipped, requests: Sequence[WriteRequest], folder: Path) -> Outcomes:
    """`memwarden import`."""
    lines = [json.dumps(named(each), default=str) for each in requests]
    (folder / "notes.jsonl").write_text("\n".join(lines))
    arguments = ["import", str(folder / "notes.jsonl"), "--json", "--dsn", dsn_of(shipped)]
    done = CliRunner().invoke(app, arguments)
    assert "profile balanced: evidence is weighed and not demanded" in done.stderr
    return Counter((each["outcome"], each["reason"]) for each in json.loads(done.stdout))


@pytest.mark.parametrize(
    ("way", "name"),
    [
        (by_sql, "`write()` in SQL"),
        (by_client, "the client's `write_many()`"),
        (by_remember, "the client's `remember()`"),
        (by_mem0, "[mem0](mem0.md)'s `add()`"),
        (by_langgraph, "[LangGraph](langgraph.md)'s `put()`"),
        (by_mcp, "[MCP](mcp.md)'s `add_memories`"),
        (by_import, "`memwarden import`"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_all_is_stored_but_real_repeats(
    shipped: Shipped,
    way: Callable[[Shipped, Sequence[WriteRequest], Path], Outcomes],
    name: str,
    tmp_path: Path,
) -> None:
    """Of 95 turns and 49 notes none waits for a person, and the page has the counts.

    Proves: Z12
    """
    requests = noted(shipped)
    assert Counter(each.layer for each in requests) == {"episodic": TURNS, "semantic": NOTES}
    told = way(shipped, requests, tmp_path)
    assert told.total() == TURNS + NOTES
    again = {each: n for each, n in told.items() if each[0] != "COMMITTED"}
    assert {reason or outcome for outcome, reason in again} <= REPEATS, told
    count = sum(again.values())
    row = f"| {name} | {NOTES - count} | {count} |"
    assert row in PAGE.read_text(encoding="utf-8").splitlines(), row


def test_who_connects_is_told_the_profile(
    shipped: Shipped, caplog: pytest.LogCaptureFixture
) -> None:
    """By each adapter. Proves: Z12."""
    caplog.set_level(logging.INFO, "memwarden")
    asks = {
        "balanced": "evidence is weighed and not demanded; a person is asked where it matters",
        "strict": "evidence is demanded, and a person approves what is to last",
    }
    for profile, what in asks.items():
        shipped.use(profile)
        caplog.clear()
        with Client.connect(dsn_of(shipped)) as client:
            assert client.whoami().profile == profile
            assert Memory(client).profile == AsyncMemory(client).profile == profile
            assert MemwardenStore(client, scopes={(): SCOPE}).profile == profile
            [status] = [each for each in client.status() if each.component == "profile"]
        line = f"profile {profile}: {what}"
        said = [f"mem0: {line}", f"mem0: {line}", f"LangGraph: {line}"]
        assert [each.getMessage() for each in caplog.records] == said
        assert server.told_of(dsn_of(shipped)) == f"{line}.\n"
        assert f"acme {profile}" in str(status.detail)
    shipped.use("balanced")
    for nowhere in ("host=/nonexistent", "no connection string"):
        with pytest.raises(MemwardenError):
            server.told_of(nowhere)
