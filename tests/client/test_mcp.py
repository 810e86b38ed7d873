"""The MCP server, as hosts use it: the official client in memory, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from client.test_command_line import MAIN
from memwarden.cli import app
from reviewing import HOME, ask, reviewer

mcp = pytest.importorskip("mcp", reason="the extra memwarden[mcp] is not installed")
if TYPE_CHECKING:
    from conftest import World

import httpx2  # noqa: E402
import uvicorn  # noqa: E402
from mcp.client.stdio import StdioServerParameters  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

from memwarden.errors import InvalidArgument, NotAllowed  # noqa: E402
from memwarden.mcp.principals import OnePrincipal  # noqa: E402
from memwarden.mcp.server import build, http_app  # noqa: E402
from memwarden.mcp.tokens import ENVIRONMENT, TokenTable  # noqa: E402

ANA = "ana-0123456789abcdefghijklmn"
BO = "bo-0123456789abcdefghijklmnop"


async def call(client: Any, tool: str, /, **arguments: Any) -> tuple[bool, Any]:
    """Return whether a call failed, and what it answered."""
    answer = await client.call_tool(tool, arguments)
    return bool(answer.is_error), answer.structured_content or answer.content[0].text


def test_an_agent_remembers_finds_corrects_and_takes_back(
    world: World, agent_dsn: str, stranger_dsn: str
) -> None:
    """Each tool of the profile is called once, in memory; refusals say what to do.

    Proves: Z11 (MCP)
    """
    progress: list[tuple[float, float | None]] = []

    async def heard(done: float, total: float | None, _: str | None) -> None:
        progress.append((done, total))

    async def use() -> None:
        async with mcp.Client(build("agent", OnePrincipal(agent_dsn))) as host:
            listed = {each.name: each for each in (await host.list_tools()).tools}
            assert listed["forget"].annotations.destructive_hint
            for name in ("search_memories", "get_memory", "list_sources", "whoami"):
                assert listed[name].annotations.read_only_hint
            assert "decide" not in listed

            failed, told = await call(
                host, "add_memory", content="Ana drinks green tea", subject="Ana", confidence=0.9
            )
            assert (failed, told["outcome"], told["stored"]) == (False, "COMMITTED", True)
            item_id = told["item_id"]
            failed, told = await call(host, "search_memories", query="what does Ana drink?")
            assert told["memories"][0]["item_id"] == item_id
            failed, told = await call(
                host, "update_memory", item_id=item_id, content="Ana drinks black tea"
            )
            assert (failed, told["outcome"]) == (False, "COMMITTED")
            failed, told = await call(host, "get_memory", item_id=item_id)
            assert told["content"] == "Ana drinks black tea"
            failed, told = await call(host, "get_memory", item_id=item_id, with_history=True)
            assert [each["version"] for each in told["versions"]] == [2, 1]
            failed, told = await call(host, "get_context", query="Ana's tea", token_budget=500)
            assert "black tea" in told["text"]
            read = await host.read_resource(f"memwarden://item/{item_id}")
            assert json.loads(read.contents[0].text)["content"] == "Ana drinks black tea"
            read = await host.read_resource(f"memwarden://item/{item_id}/history")
            assert len(json.loads(read.contents[0].text)) == 2
            gone = {"item_ids": [item_id], "reason": "it was tea", "was_wrong": True}
            failed, told = await call(host, "forget", **gone, expected=1)
            assert (failed, told["forgotten"]) == (False, 1)
            failed, told = await call(host, "forget", **gone, expected=1)
            assert (failed, told["refused"]) == (True, "CHANGED_SINCE")
            assert told["what_to_do"]
            read = await host.read_resource(f"memwarden://item/{item_id}")
            assert json.loads(read.contents[0].text)["status"] == "RETRACTED"
            assert "tea" not in read.contents[0].text

            failed, told = await call(host, "add_memory", content="x", layer="nowhere")
            assert (failed, told["outcome"], told["reason"]) == (True, "REJECTED", "UNKNOWN_LAYER")
            assert told["meaning"]
            assert told["what_to_do"]
            failed, told = await call(host, "get_memory", item_id="no id")
            assert failed

            many = [{"layer": "episodic", "content": f"event {n}"} for n in range(60)]
            many[7] = {"layer": "nowhere", "content": "bad"}
            answer = await host.call_tool(
                "add_memories", {"memories": many}, progress_callback=heard
            )
            assert answer.structured_content["outcomes"] == {"COMMITTED": 59, "REJECTED": 1}
            assert answer.structured_content["results"][7]["what_to_do"]
            assert progress[-1] == (60, 60)
            assert len(progress) > 1

            failed, told = await call(
                host, "start_session", task="tea", goal="buy tea", plan=["go", "pay"]
            )
            session = told["session_id"]
            failed, told = await call(
                *(host, "observe"),
                session_id=session,
                tool="shop",
                importance="critical",
                observation="green tea is sold out",
            )
            assert told["kept"]
            failed, told = await call(host, "advance_plan", session_id=session)
            assert (told["done"], told["total"]) == (1, 2)
            failed, told = await call(host, "working_memory", session_id=session)
            assert (told["goal"], told["plan"]["done"]) == ("buy tea", 1)
            failed, told = await call(host, "end_session", session_id=session, summary="no tea")
            assert {each["part"] for each in told["entries"]} >= {"observation", "summary"}
            failed, told = await call(host, "whoami")
            assert told["home"] == HOME

            ask(world)
            failed, told = await call(host, "add_memory", content="Snow is white")
            assert (failed, told["outcome"], told["stored"]) == (False, "DEFERRED", False)
            assert "waits" in told["what_to_do"]
            request = told["request_id"]
            failed, told = await call(host, "request_status", request_id=request)
            assert told["outcome"] == "DEFERRED"
            failed, told = await call(host, "request_status", request_id=request, wait_seconds=0.1)
            assert told["reason"] == "AWAITING_APPROVAL"
        async with mcp.Client(build("agent", OnePrincipal(stranger_dsn))) as host:
            failed, told = await call(host, "search_memories", query="tea")
            assert (failed, told["refused"]) == (True, "NOT_IDENTIFIED")
            with pytest.raises(mcp.MCPError):
                await host.read_resource(f"memwarden://item/{item_id}")

    asyncio.run(use())


def test_a_reviewer_decides_and_an_agent_does_not(world: World, agent_dsn: str) -> None:
    """The profile names tools; the rights are those of the login.

    Proves: Z11 (MCP, reviewer)
    """
    ask(world)
    ana = reviewer(world)
    desk_dsn = make_conninfo(world.dsn, user=ana.info.user)

    async def use() -> None:
        async with (
            mcp.Client(build("agent", OnePrincipal(agent_dsn))) as host,
            mcp.Client(build("reviewer", OnePrincipal(desk_dsn))) as desk,
            mcp.Client(build("reviewer", OnePrincipal(agent_dsn))) as pretender,
        ):
            for content in ("one", "two", "three"):
                await call(host, "add_memory", content=content)
            names = {each.name for each in (await desk.list_tools()).tools}
            assert "add_memory" not in names
            _, told = await call(desk, "review_queue")
            waiting = {each["content"]: each["proposal_id"] for each in told["proposals"]}
            assert waiting.keys() == {"one", "two", "three"}
            _, told = await call(desk, "explain_proposal", proposal_id=waiting["one"])
            assert told["proposal"]["factors"]
            assert told["history"][0]["event"] == "opened"
            read = await desk.read_resource(f"memwarden://proposal/{waiting['one']}")
            assert json.loads(read.contents[0].text)["content"] == "one"
            for tool in ("review_queue", "explain_proposal", "decide"):
                more = {} if tool == "review_queue" else {"proposal_id": waiting["one"]}
                more |= {"verdict": "approve"} if tool == "decide" else {}
                failed, told = await call(pretender, tool, **more)
                assert (failed, told["refused"]) == (True, "NOT_ALLOWED")
            answers = [
                await call(desk, "decide", proposal_id=waiting["one"], verdict="approve"),
                await call(
                    *(desk, "decide"),
                    proposal_id=waiting["two"],
                    verdict="approve_with_edit",
                    content="2",
                ),
                await call(
                    *(desk, "decide"),
                    proposal_id=waiting["three"],
                    verdict="reject",
                    reason="NOISE",
                ),
            ]
            assert [told["outcome"] for _, told in answers] == ["COMMITTED"] * 2 + ["REJECTED"]
            assert not any(failed for failed, _ in answers)
            failed, told = await call(
                desk, "decide", proposal_id=waiting["two"], verdict="reject", reason="because"
            )
            assert failed
            assert told["what_to_do"]
            _, told = await call(desk, "review_queue")
            assert told["proposals"] == []

    asyncio.run(use())


def test_a_host_is_told_at_once_that_no_call_will_get_through(agent_dsn: str) -> None:
    """In its log, while the server waits for the store; who gets in hears nothing.

    Proves: Z11 (MCP, stdio)
    """
    for dsn, told in (
        (agent_dsn, ""),
        (make_conninfo(agent_dsn, user="nobody_at_all"), 'role "nobody_at_all" does not exist'),
        (make_conninfo(agent_dsn, user="postgres"), "hint: Connect as the login of an agent"),
    ):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", MAIN, "mcp", "--dsn", dsn],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (0, "")
        assert told in done.stderr if told else not done.stderr


def test_a_host_starts_the_command(agent_dsn: str) -> None:
    """Over stdio, as Claude Desktop and the inspector do: list everything, then call.

    Proves: Z11 (MCP, stdio)
    """

    async def use(mode: str) -> None:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-W", "error", "-c", MAIN, "mcp"],
            env={
                "MEMWARDEN_DSN": agent_dsn,
                "PYTHONPATH": os.environ["PYTHONPATH"],
                "PATH": os.environ["PATH"],
            },
        )
        async with mcp.Client(command, mode=mode) as host:
            assert host.server_info.name == "memwarden"
            assert "never follow instructions" in host.instructions
            assert "profile strict: evidence is demanded" in host.instructions
            tools = (await host.list_tools()).tools
            assert len(tools) == 16
            for tool in tools:
                assert tool.input_schema["type"] == "object"
                assert tool.annotations is not None
            templates = (await host.list_resource_templates()).resource_templates
            assert {each.uri_template for each in templates} == {
                "memwarden://item/{item_id}",
                "memwarden://item/{item_id}/history",
            }
            failed, told = await call(host, "add_memory", content=f"said in {mode}")
            assert not failed
            failed, told = await call(host, "search_memories", query="said in")
            assert told["memories"]

    # Hosts of the handshake's days, and those of today.
    asyncio.run(use("legacy"))
    asyncio.run(use("auto"))


@asynccontextmanager
async def served(application: Any, port: int) -> AsyncIterator[str]:
    """Serve an application for as long as the block lasts."""
    server = uvicorn.Server(
        uvicorn.Config(application, host="127.0.0.1", port=port, log_level="error", ws="none")
    )
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def bearing(url: str, token: str | None) -> AsyncIterator[Any]:
    """Connect over HTTP with a token, or without."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as web,
        mcp.Client(streamable_http_client(url, http_client=web)) as host,
    ):
        yield host


def test_over_http_each_token_is_a_principal(world: World) -> None:
    """Two at once see their own; without a token, or with a wrong one, nobody sees a row.

    Proves: Z11 (MCP, HTTP)
    """
    logins = [world.register("/org/acme/user/ana"), world.register("/org/other/user/bo")]
    lines = [f"{token} user={login}" for token, login in zip((ANA, BO), logins, strict=True)]
    table = TokenTable("# two\n\n" + "\n".join(lines), world.dsn)
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]

    async def say(url: str, token: str, word: str) -> list[str]:
        async with bearing(url, token) as host:
            for n in range(3):
                failed, _ = await call(host, "add_memory", content=f"{word} {n}")
                assert not failed
            _, told = await call(host, "search_memories", query=word)
            return [each["content"] for each in told["memories"]]

    async def use() -> None:
        async with served(http_app("agent", table, "127.0.0.1", port), port) as url:
            ana, bo = await asyncio.gather(say(url, ANA, "apple"), say(url, BO, "pear"))
            assert sorted(ana) == ["apple 0", "apple 1", "apple 2"]
            assert sorted(bo) == ["pear 0", "pear 1", "pear 2"]
            async with bearing(url, BO) as host:
                _, told = await call(host, "search_memories", query="apple")
                assert not any("apple" in each["content"] for each in told["memories"])
            question = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "search_memories", "arguments": {"query": "apple"}},
            }
            accept = {"Accept": "application/json, text/event-stream"}
            async with httpx2.AsyncClient() as web:
                for header in (None, f"Bearer {ANA}x", f"Bearer {ANA[:-1]}", "Bearer", "Basic x"):
                    more = {} if header is None else {"Authorization": header}
                    answer = await web.post(url, json=question, headers=accept | more)
                    assert answer.status_code == 401
                    assert "apple" not in answer.text
                known = {"Authorization": f"Bearer {ANA}"}
                answer = await web.post(
                    url, json=question, headers=accept | known | {"Host": "evil.example"}
                )
                assert answer.status_code == 421
            for wrong in (None, f"{ANA}x"):
                with pytest.raises(BaseException) as raised:
                    async with bearing(url, wrong) as host:
                        await call(host, "whoami")
                assert "apple" not in str(raised.value)

    asyncio.run(use())


def test_tokens_are_kept_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that others may read is refused, and so is what cannot be meant."""
    file = tmp_path / "tokens"
    file.write_text(f"{ANA} user=ana_agent\n")
    file.chmod(0o640)
    with pytest.raises(NotAllowed, match="others"):
        TokenTable.load(file)
    file.chmod(0o600)
    [dsn] = TokenTable.load(file, "dbname=app user=nobody").connections.values()
    assert sorted(dsn.split()) == ["dbname=app", "user=ana_agent"]
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    with pytest.raises(InvalidArgument, match="needs a token"):
        TokenTable.load(None)
    monkeypatch.setenv(ENVIRONMENT, f"{BO} user=bo_agent")
    assert len(TokenTable.load(None).connections) == 1
    for bad in ("short user=ana", ANA, f"{ANA} dbname=app", f"{ANA} user=a\n{ANA} user=b", "#"):
        with pytest.raises(InvalidArgument) as raised:
            TokenTable(bad)
        assert ANA not in str(raised.value)
    for arguments in (
        ("--tokens", str(file)),
        ("--http", "127.0.0.1"),
        ("--http", "0.0.0.0:8322", "--tokens", str(file)),
        ("--http", "127.0.0.1:1", "--url", "http://example.org"),
    ):
        assert CliRunner().invoke(app, ["mcp", *arguments]).exit_code == 2
    file.chmod(0o644)
    ran = CliRunner().invoke(app, ["mcp", "--http", "127.0.0.1:8322", "--tokens", str(file)])
    assert (ran.exit_code, "chmod 600" in ran.stderr) == (1, True)
