"""A person is found in every spelling that `write()` takes for one, through command and tools."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from client.test_command_line import run
from shipped import Shipped

# Case, blanks, marks, width, composition, what is invisible, and a sharp s.
SPELT = [
    "José Weiß",
    "josé weiß",
    "JOSÉ WEISS",
    "  José\u00a0 Weiß ",
    "Jose\u0301 Weiß",
    "\uff2a\uff4f\uff53é Weiß",
    "José\u200b Weiß",
    "'José Weiß'",
    "José Weiß.",
    "José\u3000Weiß",
    "José \u201eWeiß\u201c",
    "José Weiß,",
]
OTHERS = ["Josef Weiß", "José Weiß 2", "José"]


def test_every_spelling_finds_a_person_and_no_other(shipped: Shipped) -> None:
    """By subject, by predicate, and as the whole value; what is to be forgotten is that too.

    Proves: L6, Z11 (MCP)
    """
    mcp = pytest.importorskip("mcp", reason="needs memwarden[mcp]")
    from memwarden.mcp.principals import OnePrincipal
    from memwarden.mcp.server import build

    dsn = make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)

    async def use() -> None:
        async with mcp.Client(build("agent", OnePrincipal(dsn))) as host:

            async def call(tool: str, **arguments: Any) -> Any:
                answer = await host.call_tool(tool, arguments)
                assert not answer.is_error, answer.content[0].text
                return answer.structured_content

            for name in (SPELT[0], *OTHERS):
                fact = {"subject": name, "predicate": "works_at", "content": f"Acme of {name}!"}
                await call("add_memory", **fact)
                await call("add_memory", subject="Eve", predicate=f"met {name}", content=name)
            for spelt in SPELT:
                told = await call("list_memories", about=spelt)
                about = {(each["subject"], each["content"]) for each in told["memories"]}
                assert about == {(SPELT[0], f"Acme of {SPELT[0]}!"), ("Eve", SPELT[0])}, spelt
            for spelt in SPELT[2::4]:
                assert (await call("forget", about=spelt))["count"] == 2, spelt
                told = await call("list_memories", about=spelt, predicate="Works-At:")
                assert [each["subject"] for each in told["memories"]] == [SPELT[0]], spelt
                told = await call("search_memories", query="Acme", subject=spelt)
                assert [each["subject"] for each in told["memories"]] == [SPELT[0]], spelt

    asyncio.run(use())
    for spelt in SPELT[2::4]:
        told = json.loads(run("recall", "Acme", "--subject", spelt, "--json", dsn=dsn).stdout)
        assert [each["subject"] for each in told] == [SPELT[0]], spelt
