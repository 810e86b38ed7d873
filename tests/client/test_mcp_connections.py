"""MCP over HTTP: connections that say little, and tokens that are taken back."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("mcp", reason="mcp is not installed (extra mcp)")

import httpx2
import uvicorn

from memwarden.errors import NotIdentified
from memwarden.mcp import arriving, principals
from memwarden.mcp.server import http_app
from memwarden.mcp.tokens import TokenTable

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken

ANA = "a" * 32
BO = "b" * 32
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@contextmanager
def serving(table: TokenTable) -> Iterator[int]:
    """Serve as `serve_http` does, in a thread; yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        app = http_app("agent", table, "127.0.0.1", port)
        config = uvicorn.Config(app, log_level="error", access_log=False, **arriving.options())
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        until(lambda: server.started)
        try:
            yield port
        finally:
            server.should_exit = server.force_exit = True
            thread.join()


def until(condition: Callable[[], bool]) -> None:
    """Wait for a state; fail when it does not come."""
    limit = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.02)


def status(port: int, token: str) -> int:
    """Ask to begin; return the status of the answer."""
    answer = httpx2.post(
        f"http://127.0.0.1:{port}/mcp",
        json=INITIALIZE,
        headers=ACCEPT | {"Authorization": f"Bearer {token}"},
    )
    return answer.status_code


def is_closed(line: socket.socket) -> bool:
    """Whether the other side has ended the connection."""
    line.settimeout(0.01)
    try:
        return not line.recv(65536)
    except TimeoutError:
        return False
    except OSError:
        return True


HEAD = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ANA}\r\n".encode()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b""),
        (b"POST /mcp HTTP/1.1\r\n", b""),
        (b"POST /mcp HTTP/1.1\r\nX: ", b"x"),
        (HEAD + b"Content-Length: 1000000\r\n\r\n", b" "),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
        (b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", b""),
    ],
    ids=["silence", "half a head", "a header", "body", "size of a chunk", "no token"],
)
def test_a_request_that_does_not_arrive_is_not_waited_for(
    first: bytes, again: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever part of it drips; others are answered meanwhile.

    Proves: Z11 (MCP, HTTP)
    """
    monkeypatch.setattr(arriving, "SECONDS", 0.5)
    with (
        serving(TokenTable(f"{ANA} user=ana")) as port,
        socket.create_connection(("127.0.0.1", port)) as line,
    ):
        line.sendall(first)
        assert status(port, ANA) == 200

        def ended() -> bool:
            if is_closed(line):
                return True
            try:
                line.sendall(again)
            except OSError:
                return True
            return False

        until(ended)
        assert status(port, ANA) == 200


def test_half_open_connections_are_few_and_the_oldest_goes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever sends a request is answered, however many say nothing.

    Proves: Z11 (MCP, HTTP)
    """
    monkeypatch.setattr(arriving, "MOST", 4)
    with serving(TokenTable(f"{ANA} user=ana")) as port:
        lines: list[socket.socket] = []
        for _ in range(12):
            lines.append(socket.create_connection(("127.0.0.1", port)))
            lines[-1].sendall(b"POST /mcp HTTP/1.1\r\n")
            assert status(port, ANA) == 200
        until(lambda: all(map(is_closed, lines[:8])))
        assert not is_closed(lines[-1])
        for line in lines:
            line.close()


def test_a_token_that_is_taken_back_is_refused_with_the_next_request(tmp_path: Path) -> None:
    """Without a new start; a file that is wrong lets nobody in, until it is mended.

    Proves: Z11 (MCP, HTTP)
    """
    file = tmp_path / "tokens"
    file.touch(0o600)
    file.write_text(f"{ANA} user=ana\n{BO} user=bo\n")
    with serving(TokenTable.load(file)) as port:
        assert (status(port, ANA), status(port, BO)) == (200, 200)
        file.write_text(f"{BO} user=bo\n")
        assert (status(port, ANA), status(port, BO)) == (401, 200)
        file.write_text(f"{ANA} user=ana\n")
        assert (status(port, ANA), status(port, BO)) == (200, 401)
        for wrong in ("", "short user=x\n", f"{ANA} user=ana\n{ANA} user=ana\n"):
            file.write_text(wrong)
            assert status(port, ANA) == 401
        file.write_text(f"{ANA} user=ana\n")
        assert status(port, ANA) == 200
        file.chmod(0o644)
        assert status(port, ANA) == 401
        file.chmod(0o600)
        assert status(port, ANA) == 200
        file.unlink()
        assert status(port, ANA) == 401


def test_a_line_that_was_changed_is_another_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a request that is under way, too, nobody speaks for a login that was taken back.

    Proves: Z11 (MCP, HTTP)
    """
    file = tmp_path / "tokens"
    file.touch(0o600)
    file.write_text(f"{ANA} user=ana\n")
    table = TokenTable.load(file)
    token: AccessToken | None = asyncio.run(table.verify_token(ANA))
    assert token is not None
    monkeypatch.setattr(principals, "get_access_token", lambda: token)
    who = principals.BearerPrincipals(table.connection)
    first = who.caller()
    assert who.caller() is first
    file.write_text(f"{ANA} user=bo\n")
    assert who.caller() is not first
    file.write_text(f"{BO} user=ana\n")
    with pytest.raises(NotIdentified):
        who.caller()
