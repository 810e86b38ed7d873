"""MCP over HTTP as the resource of an issuer outside: whose tokens count, and what they permit."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from client.test_command_line import MAIN
from reviewing import ask
from security.pgbouncer import PORT, running
from shipped import SCOPE, Shipped

mcp = pytest.importorskip("mcp", reason="needs memwarden[mcp]")
import httpx2  # noqa: E402
import jwt  # noqa: E402
from cryptography.hazmat.primitives import serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from mcp.server.auth.provider import AccessToken  # noqa: E402

from client.test_mcp import call, served  # noqa: E402
from memwarden.errors import InvalidArgument, MemwardenError  # noqa: E402
from memwarden.mcp import issuers, principals  # noqa: E402
from memwarden.mcp.issuers import READ, WRITE, Issuer, Keys, checked, permitted  # noqa: E402
from memwarden.mcp.principals import IssuedPrincipals  # noqa: E402
from memwarden.mcp.scopes import Scoped  # noqa: E402
from memwarden.mcp.server import http_app  # noqa: E402

ACCEPT = {"Accept": "application/json, text/event-stream"}


def b64(data: bytes) -> str:
    """As tokens are written."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class LocalIssuer:
    """An issuer of tokens on this machine: metadata, keys, and whatever tokens a test wants."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[str] = []
        self.keys: dict[str, ec.EllipticCurvePrivateKey] = {}
        self.rotate("first")

    def rotate(self, name: str) -> None:
        """Have one new key, and publish no other."""
        self.keys = {name: ec.generate_private_key(ec.SECP256R1())}

    def published(self) -> dict[str, Any]:
        """The set of keys; one of them is for nobody to sign with."""
        shown = []
        for name, key in self.keys.items():
            told = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
            shown.append(told | {"kid": name, "use": "sig"})
        return {"keys": [*shown, {"kty": "oct", "k": b64(b"secret"), "kid": "shared"}]}

    def claims(self, audience: Any, **other: Any) -> dict[str, Any]:
        """What a good token says."""
        now = int(time.time())
        told = {"iss": self.url, "sub": "ana", "aud": audience, "iat": now, "exp": now + 300}
        return told | {"scope": f"{READ} {WRITE}"} | other

    def token(self, audience: Any, **other: Any) -> str:
        """A good token, but for what is said otherwise."""
        told = {n: v for n, v in self.claims(audience, **other).items() if v is not None}
        [(name, key)] = self.keys.items()
        return jwt.encode(told, key, algorithm="ES256", headers={"kid": name})

    def hostile(self, audience: str) -> dict[str, str]:
        """Tokens that must not count, by what is wrong with them."""
        now = int(time.time())
        good = self.claims(audience)
        [(name, key)] = self.keys.items()
        stranger = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        # No library signs with a public key; whoever attacks does.
        head = b64(json.dumps({"alg": "HS256", "kid": name, "typ": "JWT"}).encode())
        signed = f"{head}.{b64(json.dumps(good).encode())}"
        mac = b64(hmac.new(public, signed.encode(), hashlib.sha256).digest())
        shared = jwt.encode(good, "secret" * 8, algorithm="HS256", headers={"kid": "shared"})
        whole = self.token(audience)
        named: dict[str, Any] = {"algorithm": "ES256", "headers": {"kid": name}}
        other = self.claims(audience, sub="boss")
        return {
            "another audience": self.token("https://other.example/mcp"),
            "audiences without ours": self.token(["https://a.example", "https://b.example"]),
            "no audience": self.token(audience, aud=None),
            "no signature": jwt.encode(good, "", algorithm="none", headers={"kid": name}),
            "signature cut off": whole.rpartition(".")[0] + ".",
            "the public key as a secret": f"{signed}.{mac}",
            "a key of another kind": shared,
            "another issuer": self.token(audience, iss="https://evil.example"),
            "issuer with a slash": self.token(audience, iss=self.url + "/"),
            "no issuer": self.token(audience, iss=None),
            "a key of nobody": jwt.encode(good, stranger, algorithm="ES256"),
            "the name of a key": jwt.encode(good, stranger, **named),
            "expired": self.token(audience, exp=now - 60),
            "no end": self.token(audience, exp=None),
            "not yet": self.token(audience, nbf=now + 60),
            "of tomorrow": self.token(audience, iat=now + 3600),
            "nobody": self.token(audience, sub=None),
            "an empty name": self.token(audience, sub=""),
            "a list of names": jwt.encode(good | {"sub": ["ana"]}, key, **named),
            "words that were changed": ".".join(
                [whole.split(".")[0], b64(json.dumps(other).encode()), whole.split(".")[2]]
            ),
            "no token": "x" * 40,
            "too much": self.token(audience, more="x" * 10_000),
        }


@contextmanager
def issuing() -> Iterator[LocalIssuer]:
    """Run an issuer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.asked.append(self.path)
            answers = {
                "/.well-known/openid-configuration": {
                    "issuer": issuer.url,
                    "jwks_uri": f"{issuer.url}/keys",
                },
                "/keys": issuer.published(),
            }
            told = answers.get(self.path)
            self.send_response(404 if told is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = LocalIssuer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Door:
    """A store with a broker, a login for the server, and identities that are bound to agents."""

    def __init__(self, shipped: Shipped, issuer: LocalIssuer) -> None:
        self.world, self.issuer = shipped.world, issuer
        broker = self.world.register(
            "/org/acme", groups=("memwarden_broker",), kind="service", writes=False
        )
        self.broker = make_conninfo(self.world.dsn, user=broker)
        self.desk = make_conninfo(self.world.dsn, user=self.world.role("memwarden_agent"))
        self.agent = shipped.agent.info.user
        self.other = self.world.register("/org/acme/user/bo")
        self.bind(self.agent, "ana")
        self.bind(self.other, "bo")

    def bind(self, agent: str, subject: str) -> None:
        """Have an administrator say who that is."""
        self.world.admin.execute(
            "SELECT memwarden.bind_identity(%s, %s, %s, 'acme')", (agent, self.issuer.url, subject)
        )

    def who(self) -> IssuedPrincipals:
        """For whom the server acts."""
        return IssuedPrincipals(self.desk, self.broker)


@pytest.fixture
def door(shipped: Shipped) -> Iterator[Door]:
    """A store as `memwarden init` leaves it, and an issuer."""
    with issuing() as issuer:
        yield Door(shipped, issuer)


@asynccontextmanager
async def opened(door: Door) -> AsyncIterator[str]:
    """Serve the store; the URL of the server."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    verifier = Issuer(door.issuer.url, f"http://127.0.0.1:{port}/mcp")
    app = http_app("agent", verifier, "127.0.0.1", port, who=door.who())
    async with served(app, port) as url:
        yield url


@asynccontextmanager
async def bearing(url: str, token: str, **options: Any) -> AsyncIterator[Any]:
    """Connect with a token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as web,
        mcp.Client(streamable_http_client(url, http_client=web), **options) as host,
    ):
        yield host


def asking(tool: str, **arguments: Any) -> dict[str, Any]:
    """A call of a tool, as hosts of the revision before send it."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def test_the_resource_names_its_issuer_and_takes_no_other_token(door: Door) -> None:
    """A challenge says where to ask, and what for; hostile tokens are all answered alike.

    Proves: Z11 (MCP, HTTP), A6
    """

    async def use() -> None:
        async with opened(door) as url, httpx2.AsyncClient(headers=ACCEPT) as web:
            answer = await web.post(url, json=asking("whoami"))
            assert answer.status_code == 401
            challenge = answer.headers["www-authenticate"]
            place = url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
            assert f'resource_metadata="{place}"' in challenge
            assert f'scope="{READ}"' in challenge
            told = (await web.get(place)).json()
            assert told["resource"] == url
            assert told["authorization_servers"] == [door.issuer.url]
            assert told["bearer_methods_supported"] == ["header"]
            bodies = set()
            for name, token in door.issuer.hostile(url).items():
                head = {"Authorization": f"Bearer {token}"}
                answer = await web.post(url, json=asking("whoami"), headers=head)
                assert (answer.status_code, "agent" in answer.text) == (401, False), name
                bodies.add(answer.text)
            assert len(bodies) == 1
            # Whatever is sent, the issuer is asked for its keys once in a while.
            assert door.issuer.asked.count("/keys") == 1
            assert (await web.post(f"{url}?access_token={door.issuer.token(url)}")).is_error
            good = {"Authorization": f"Bearer {door.issuer.token(url)}"}
            answer = await web.post(url, json=asking("whoami"), headers=good)
            assert answer.status_code == 200
            assert door.agent in answer.text
            none = {"Authorization": f"Bearer {door.issuer.token(url, scope='email')}"}
            answer = await web.post(url, json=asking("whoami"), headers=none)
            assert answer.status_code == 403

    asyncio.run(use())


def test_whom_a_token_names_is_whom_an_administrator_bound(door: Door) -> None:
    """Each has its own memory; who is not bound has none, and who was is nobody from then on.

    Proves: Z11 (MCP, HTTP), A6
    """

    async def use() -> None:
        async with opened(door) as url, bearing(url, door.issuer.token(url)) as ana:
            told = await call(ana, "add_memory", content="Ana likes rowing", subject="Ana")
            assert told[1]["outcome"] == "COMMITTED"
            _, told = await call(ana, "whoami")
            assert (told["agent"], told["home"]) == (door.agent, SCOPE)
            async with bearing(url, door.issuer.token(url, sub="bo")) as bo:
                assert (await call(bo, "list_memories"))[1]["total"] == 0
            for stranger in ("eve", "ANA", "ana "):
                async with bearing(url, door.issuer.token(url, sub=stranger)) as eve:
                    failed, told = await call(eve, "list_memories")
                    assert (failed, told["refused"]) == (True, "NOT_IDENTIFIED")
                    assert "bind_identity" in told["what_to_do"]
            assert (await call(ana, "list_memories"))[1]["total"] == 1
            admin = door.world.admin
            admin.execute("SELECT memwarden.unbind_identity(%s, 'ana')", (door.issuer.url,))
            admin.execute("SELECT memwarden.revoke_tokens(%s, org => 'acme')", (door.agent,))
            failed, told = await call(ana, "list_memories")
            assert (failed, told["refused"]) == (True, "NOT_IDENTIFIED")

    asyncio.run(use())
    noted = door.world.rows("SELECT action, detail FROM memwarden.access_changes")
    assert [each["detail"]["subject"] for each in noted if each["action"] == "bind_identity"] == [
        *("ana", "bo")
    ]


def test_a_token_to_read_writes_nothing(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server refuses with the scope that is missing, and the database would as well.

    Proves: Z11 (MCP, HTTP), A6
    """

    async def use() -> None:
        async with opened(door) as url:
            async with bearing(url, door.issuer.token(url)) as ana:
                _, kept = await call(ana, "add_memory", content="Ana likes rowing", subject="Ana")
            token = door.issuer.token(url, scope=READ)
            async with bearing(url, token) as reader:
                _, told = await call(reader, "list_memories")
                [item] = told["memories"]
                assert (await call(reader, "get_memory", item_id=item["item_id"]))[1]["content"]
                assert (await call(reader, "search_memories", query="rowing"))[1]["memories"]
                told = [
                    await call(reader, "get_context", query="rowing"),
                    await call(reader, "list_sources"),
                    await call(reader, "request_status", request_id=kept["request_id"]),
                ]
                assert [failed for failed, _ in told] == [False] * 3, told
            head = {"Authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=ACCEPT | head) as web:
                for tool, arguments in (
                    ("add_memory", {"content": "x"}),
                    ("forget", {"about": "Ana", "expected": 1, "reason": "x"}),
                    ("observe", {}),
                    ("working_memory", {"session_id": str(uuid4())}),
                ):
                    body: Any = asking(tool, **arguments)
                    for sent in (body, [asking("whoami"), body]):
                        answer = await web.post(url, json=sent)
                        assert answer.status_code == 403
                        challenge = answer.headers["www-authenticate"]
                        assert f'error="insufficient_scope", scope="{WRITE}"' in challenge
                        assert "/.well-known/oauth-protected-resource/mcp" in challenge
                for params in (["add_memory"], "add_memory", None):
                    sent = asking("add_memory") | {"params": params}
                    assert (await web.post(url, json=sent)).status_code < 500

        claims = {"iss": door.issuer.url, "sub": "ana"}
        known = AccessToken(token="x", client_id="x", scopes=[READ], claims=claims)
        monkeypatch.setattr(principals, "get_access_token", lambda: known)
        login = str(conninfo_to_dict(door.desk)["user"])
        # A pooler that passes no setting on.
        with running(door.world, [login], "ignore_startup_parameters = options") as pooler:
            pooled = make_conninfo(door.desk, host=str(pooler.directory), port=PORT)
            for desk in (door.desk, pooled):
                who = IssuedPrincipals(desk, door.broker)
                assert (await who.caller().memory.whoami()).agent == door.agent
                with pytest.raises(MemwardenError, match="read-only"):
                    await who.caller().memory.write("semantic", "Ana likes chess")
                await who.close()

    asyncio.run(use())
    assert permitted({"scope": f"{WRITE} email"}) == [READ, WRITE]
    assert permitted({"scp": [READ, 7]}) == [READ]
    assert permitted({"scope": f"x{WRITE}"}) == []


def test_a_token_that_begins_to_count_meanwhile_is_not_let_past() -> None:
    """What the guard does not know, the server behind it gets without its token.

    Proves: Z11 (MCP, HTTP), A6
    """
    met: list[Any] = []

    class Late:
        async def verify_token(self, _: str) -> AccessToken | None:
            return None

    async def behind(scope: Any, *_: Any) -> None:
        met.append(scope)

    async def nothing(*_: Any) -> Any:
        raise AssertionError

    async def use() -> None:
        headers = [(b"host", b"here"), (b"authorization", b"Bearer x")]
        asked: Any = {"type": "http", "method": "POST", "headers": headers}
        await Scoped(behind, Late(), (), "")(asked, nothing, nothing)

    asyncio.run(use())
    assert [each["headers"] for each in met] == [[(b"host", b"here")]]


def test_who_waits_takes_no_connection_for_each_wait(door: Door) -> None:
    """One token, if only to read, does not use up the connections of the server.

    Proves: Z11 (MCP, HTTP)
    """
    ask(door.world, org="acme")
    login = conninfo_to_dict(door.desk)["user"]

    async def use() -> None:
        async with opened(door) as url:
            async with bearing(url, door.issuer.token(url)) as ana:
                _, kept = await call(ana, "add_memory", content="Snow is white")
            assert kept["outcome"] == "DEFERRED"
            head = {"Authorization": f"Bearer {door.issuer.token(url, scope=READ)}"}
            wait = asking("request_status", request_id=kept["request_id"], wait_seconds=4)
            async with httpx2.AsyncClient(headers=ACCEPT | head, timeout=60) as web:
                waits = [asyncio.create_task(web.post(url, json=wait)) for _ in range(12)]
                open_at_once = 0
                while not all(each.done() for each in waits):
                    await asyncio.sleep(0.2)
                    found = door.world.rows(
                        "SELECT usename FROM pg_stat_activity WHERE datname = current_database()"
                    )
                    now = sum(each["usename"] == login for each in found)
                    open_at_once = max(open_at_once, now)
            assert all("AWAITING_APPROVAL" in each.result().text for each in waits)
            assert 2 <= open_at_once <= 4

    asyncio.run(use())


def test_a_key_that_is_published_no_more_verifies_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new key counts with its first token; an issuer that does not answer lets nobody in.

    Proves: Z11 (MCP, HTTP)
    """
    here = "https://mcp.example.org/mcp"

    async def use(issuer: LocalIssuer) -> None:
        verifier = Issuer(issuer.url, here)

        async def counts(token: str) -> bool:
            return await verifier.verify_token(token) is not None

        old = issuer.token(here)
        assert await counts(old)
        issuer.rotate("second")
        # Within the time for which keys are kept, a token of a new one has them asked for again.
        assert not await counts(issuer.token(here))
        assert await counts(old)
        monkeypatch.setattr(issuers, "_AGAIN", 0)
        assert await counts(issuer.token(here))
        assert not await counts(old)
        issuer.keys = {}
        monkeypatch.setattr(issuers, "_KEYS_LIVE", 0)
        assert not await counts(issuer.token(here) if issuer.keys else old)
        issuer.rotate("third")
        assert await counts(issuer.token(here))
        told = Keys(issuer.url, f"{issuer.url}/nowhere")
        assert await Issuer(issuer.url, here, told).verify_token(issuer.token(here)) is None
        elsewhere = Issuer(issuer.url.replace("127.0.0.1", "localhost"), here)
        assert await elsewhere.verify_token(issuer.token(here, iss=elsewhere.issuer)) is None

    with issuing() as issuer:
        asyncio.run(use(issuer))
    for wrong in ("http://login.example", "https://x@login.example", "https://a?b", "ftp://a", "a"):
        with pytest.raises(InvalidArgument):
            checked(wrong)


class Balanced(httpx2.AsyncBaseTransport):
    """Sends each request to the next of several servers, as a balancer does."""

    def __init__(self, ports: list[int]) -> None:
        self._ports = ports
        self._sent = 0
        self.met: list[int] = []
        self._under = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Pass it on; the host that it names stays."""
        port = self._ports[self._sent % len(self._ports)]
        self._sent += 1
        self.met.append(port)
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=port)
        return await self._under.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._under.aclose()


def test_processes_behind_a_balancer_answer_alike(door: Door) -> None:
    """Two of the command, each request to the other one, by both revisions of the protocol.

    Proves: Z11 (MCP, HTTP)
    """
    at = "https://mcp.example.org"
    ports = []
    with ExitStack() as running:
        for _ in range(2):
            with socket.create_server(("127.0.0.1", 0)) as found:
                ports.append(found.getsockname()[1])
            arguments = ["mcp", "--http", f"127.0.0.1:{ports[-1]}", "--url", at]
            arguments += ["--issuer", door.issuer.url, "--dsn", door.desk]
            process = running.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", MAIN, *arguments],
                    env=os.environ | {"MEMWARDEN_MCP_BROKER": door.broker},
                    stderr=subprocess.PIPE,
                )
            )
            running.callback(process.kill)
        for port in ports:
            wait_for(port)

        async def use(mode: str) -> None:
            balancer = Balanced(ports)
            token = door.issuer.token(f"{at}/mcp")
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers, transport=balancer) as web,
                mcp.Client(streamable_http_client(f"{at}/mcp", http_client=web), mode=mode) as host,
            ):
                assert (
                    host.protocol_version
                    == {
                        "legacy": "2025-11-25",
                        "auto": "2026-07-28",
                    }[mode]
                )
                answers = [await call(host, "whoami") for _ in range(3)]
                assert all(each == answers[0] for each in answers)
                _, opened = await call(host, "start_session", task=mode, plan=["one", "two"])
                session = opened["session_id"]
                for done in (1, 2):
                    _, told = await call(host, "advance_plan", session_id=session)
                    assert told["done"] == done
                _, kept = await call(host, "add_memory", content=f"said in {mode}")
                for _ in range(2):
                    _, told = await call(host, "get_memory", item_id=kept["item_id"])
                    assert told["content"] == f"said in {mode}"
            assert {*balancer.met} == {*ports}

        asyncio.run(use("legacy"))
        asyncio.run(use("auto"))


def wait_for(port: int) -> None:
    """Wait until somebody listens there."""
    limit = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < limit, "nobody came"
            time.sleep(0.05)
        else:
            return
