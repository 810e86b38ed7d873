"""Services that answer byte by byte, not at all, or from an address that is not theirs to have."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow

from helpers import write
from memwarden.worker import PluginError, Verdict
from memwarden.worker.attempt import Attempt, pool
from memwarden.worker.channels.email import Email
from memwarden.worker.discovery import load
from memwarden.worker.plugins import addresses
from memwarden.worker.plugins.http import Refused, ask
from write.worker.desk import jobs, new_plugin, request, require, run_worker, serving
from write.worker.test_plugins import Odd

if TYPE_CHECKING:
    from conftest import World

ROOT = Path(__file__).parents[3]
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WAIT = 0.3
ENOUGH = 5.0
"""Seconds that no exchange of WAIT may last on a machine under load."""


@contextmanager
def listening(talk: Callable[[socket.socket], None]) -> Iterator[tuple[int, list[int]]]:
    """Yield the port of a server that talks so to each who comes, and what grows as lines end."""
    ended: list[int] = []

    def meet(line: socket.socket) -> None:
        with line, contextlib.suppress(OSError):
            talk(line)
        ended.append(1)

    def accept(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = server.accept()
                threading.Thread(target=meet, args=(line,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        yield server.getsockname()[1], ended
        server.shutdown(socket.SHUT_RDWR)


def dripping(first: bytes, again: bytes) -> Callable[[socket.socket], None]:
    """Return how a service says something, and then something else byte by byte for ever."""

    def talk(line: socket.socket) -> None:
        line.sendall(first)
        for byte in itertools.cycle(again):
            line.sendall(bytes([byte]))
            time.sleep(0.02)

    return talk


DRIPS = {
    "nothing": (b"", b""),
    "status line": (b"HTTP/1.1 200 ", b"O"),
    "a header": (OK + b"X: ", b"x"),
    "headers": (OK, b"X: y\r\n"),
    "interim answers": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "early hints": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
    "body": (OK + b"Content-Length: 100000\r\n\r\n", b" "),
    "body until the end": (OK + b"\r\n", b" "),
    "size of a chunk": (CHUNKED, b"0"),
    "extension of a chunk": (CHUNKED + b"1;", b"x"),
    "chunks": (CHUNKED, b"1\r\n \r\n"),
    "a trailer": (CHUNKED + b"1\r\n1\r\n0\r\nX: ", b"x"),
    "trailers": (CHUNKED + b"1\r\n1\r\n0\r\n", b"X: y\r\n"),
}


@pytest.mark.parametrize("kind", DRIPS)
def test_the_time_that_is_set_is_for_the_whole_answer(kind: str) -> None:
    """Whatever part of it drips; and the connection is closed then.

    Proves: W9
    """
    first, again = DRIPS[kind]
    talk = dripping(first, again) if again else idle
    began = time.monotonic()
    with listening(talk) as (port, ended):
        with pytest.raises(PluginError, match="TimeoutError"):
            ask(f"http://127.0.0.1:{port}/", b"{}", {}, WAIT)
        assert time.monotonic() - began < ENOUGH
        _until(lambda: bool(ended))


def idle(line: socket.socket) -> None:
    """Listen, and say nothing."""
    while line.recv(65536):
        pass


def answering(said: bytes) -> Callable[[socket.socket], None]:
    """Return how a service says that once, when it was asked."""

    def talk(line: socket.socket) -> None:
        line.recv(65536)
        line.sendall(said)

    return talk


def _until(condition: Callable[[], bool], seconds: float = ENOUGH) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.02)


@pytest.mark.parametrize(
    "first",
    [b"", b"\x16\x03\x03\x40\x00", b"\x16\x03\x03"],
    ids=["silence", "a long record", "half a record"],
)
def test_a_handshake_that_does_not_end_is_given_up(first: bytes) -> None:
    """The time is for TLS too, also where each byte comes in time.

    Proves: W9
    """
    talk = dripping(first, b"\x02") if first else idle
    began = time.monotonic()
    with listening(talk) as (port, ended):
        with pytest.raises(PluginError, match=r"TimeoutError|SSLError"):
            ask(f"https://127.0.0.1:{port}/", b"{}", {}, WAIT)
        assert time.monotonic() - began < ENOUGH
        _until(lambda: bool(ended))


def test_a_service_that_takes_no_bytes_is_given_up() -> None:
    """A request that cannot be sent counts like an answer that does not come.

    Proves: W9
    """
    stop = threading.Event()

    def deaf(_: socket.socket) -> None:
        stop.wait(ENOUGH)

    with listening(deaf) as (port, _):
        with pytest.raises(PluginError, match="TimeoutError"):
            ask(f"http://127.0.0.1:{port}/", b"x" * (64 << 20), {}, WAIT)
        stop.set()


def test_a_name_that_nobody_resolves_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server can be as slow as any service.

    Proves: W9
    """
    stop = threading.Event()

    def slow(*_: object, **__: object) -> list[Any]:
        stop.wait(ENOUGH)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with pytest.raises(PluginError, match="TimeoutError"):
        ask("http://slow.example/", b"{}", {}, WAIT)
    stop.set()


@pytest.mark.parametrize(
    "said",
    [
        OK + b"X: " + b"x" * 200_000,
        CHUNKED + b"1;" + b"x" * 200_000,
        CHUNKED + b"fffffffffffffffff\r\n",
        OK + b"Content-Length: 5\r\n\r\n[]",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ],
    ids=range(8),
)
def test_what_is_no_answer_is_refused_at_once(said: bytes) -> None:
    """Headers and lines have a bound; half an answer is none.

    Proves: W9
    """
    with (
        listening(answering(said)) as (port, _),
        pytest.raises(PluginError, match="cannot be reached"),
    ):
        ask(f"http://127.0.0.1:{port}/", b"{}", {}, ENOUGH)


def test_a_key_does_not_travel_in_clear() -> None:
    """Whoever asks, a verifier, a judge or an embedder: nobody is even connected to.

    Proves: W9
    """
    key = {"Authorization": "Bearer key"}
    with pytest.raises(PluginError, match="https addresses only"):
        ask("http://models.example.org/v1", b"{}", key, ENOUGH)
    with listening(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")) as (port, _):
        assert ask(f"http://127.0.0.1:{port}/", b"{}", key, ENOUGH) == b"[]"


def test_what_comes_before_and_after_the_answer_harms_none() -> None:
    """Interim answers, chunks and trailers are HTTP; only the body counts.

    Proves: W9
    """
    said = (
        b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"
        + CHUNKED
        + b"1;a=b\r\n[\r\n1\r\n]\r\n0\r\nX: y\r\n\r\n"
    )
    with listening(answering(said)) as (port, _):
        assert ask(f"http://127.0.0.1:{port}/", b"{}", {}, ENOUGH) == b"[]"


def test_after_many_hostile_answers_others_are_still_served(
    shared_world: World, worker_role: str, agent: Connection[DictRow], org: str
) -> None:
    """Each call has ended with its time, and none of them runs on.

    Proves: W9
    """
    gate = load(["http_gate"])["http_gate"]
    good = Odd(new_plugin(), lambda *_: Verdict("accept"))
    with listening(dripping(OK, b"X: y\r\n")) as (port, ended):
        settings = {"url": f"http://127.0.0.1:{port}/", "timeout": 0.1}
        require(shared_world, "http_gate", org=org, quorum=9, settings=settings)
        asked = [write(agent, "semantic", {"text": text}) for text in ("one", "two", "three")]
        require(shared_world, good.name, org=org, layer="episodic")
        served = write(agent, "episodic", {"text": "four"})
        run_worker(shared_world, worker_role, [gate, good])
        _until(lambda: len(ended) == 27)
    numbers = {row["request_id"] for row in asked}
    done = [each for each in jobs(shared_world, "http_gate") if each["request_id"] in numbers]
    assert [(each["state"], each["attempts"]) for each in done] == [("ready", 1)] * 27
    assert request(shared_world, served)["outcome"] == "COMMITTED"


def test_a_plug_in_that_hangs_is_asked_no_more_and_others_are(
    shared_world: World, worker_role: str, agent: Connection[DictRow], org: str
) -> None:
    """A thread cannot be ended: its jobs wait for another worker, and the process goes on.

    Proves: W9
    """
    end = threading.Event()
    stuck = Odd(new_plugin(), lambda *_: end.wait(60) and Verdict("accept"))
    good = Odd(new_plugin(), lambda *_: Verdict("accept"))
    require(shared_world, stuck.name, org=org, quorum=9, settings={"timeout": 0.1})
    for text in ("a cellar", "a door", "a number"):
        write(agent, "semantic", {"text": text})
    require(shared_world, good.name, org=org, layer="episodic")
    asked = write(agent, "episodic", {"text": "a window"})
    try:
        run_worker(shared_world, worker_role, [stuck, good])
    finally:
        end.set()
    states = [(each["state"], each["attempts"]) for each in jobs(shared_world, stuck.name)]
    assert states.count(("ready", 1)) == 16
    assert states.count(("ready", 0)) == 11
    assert request(shared_world, asked)["outcome"] == "COMMITTED"


def test_an_attempt_that_is_cut_off_asks_nobody_any_more() -> None:
    """Nor do the threads that it made: each exchange ends, and none begins.

    Proves: W9
    """
    with listening(dripping(OK, b"X: y\r\n")) as (port, ended):

        def ask_all() -> list[str]:
            def one(_: int) -> str:
                with pytest.raises(PluginError) as raised:
                    ask(f"http://127.0.0.1:{port}/", b"{}", {}, 60)
                return str(raised.value)

            with pool(3) as threads:
                return list(threads.map(one, range(6)))

        attempt = Attempt(ask_all, "asking").start()
        assert not attempt.wait(WAIT)
        attempt.cut()
        assert attempt.wait(ENOUGH)
        assert len(attempt.result()) == 6
        _until(lambda: len(ended) >= 3)


@pytest.mark.parametrize("kind", ["status line", "trailers"])
def test_a_worker_that_is_told_to_end_does_so_in_the_middle_of_an_exchange(
    shared_world: World, worker_role: str, agent: Connection[DictRow], org: str, kind: str
) -> None:
    """What was asked is left to others, and says why.

    Proves: W9
    """
    came = threading.Event()

    def talk(line: socket.socket) -> None:
        came.set()
        dripping(*DRIPS[kind])(line)

    with listening(talk) as (port, _):
        settings = {"url": f"http://127.0.0.1:{port}/", "timeout": 600}
        require(shared_world, "http_gate", org=org, settings=settings)
        asked = write(agent, "semantic", {"text": f"a {kind}"})
        with subprocess.Popen(
            [sys.executable, "-m", "memwarden", "worker", "--plugins", "http_gate"],
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join(
                    map(str, (ROOT / "python_client", ROOT / "plpython"))
                ),
                "MEMWARDEN_DSN": make_conninfo(shared_world.dsn, user=worker_role),
            },
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                assert came.wait(60)
                process.send_signal(signal.SIGTERM)
                assert process.wait(20) == 0
            finally:
                process.kill()
    [job] = [
        each
        for each in jobs(shared_world, "http_gate")
        if each["request_id"] == asked["request_id"]
    ]
    assert (job["state"], job["last_error"]) == ("ready", "the worker was told to end")


def test_a_mail_server_that_drips_does_not_hold_up_the_courier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The courier gives a notice up after its lease; the connection ends with it.

    Proves: W9
    """
    with listening(dripping(b"220-", b"x")) as (port, ended):
        monkeypatch.setenv("MEMWARDEN_SMTP_HOST", "127.0.0.1")
        monkeypatch.setenv("MEMWARDEN_SMTP_PORT", str(port))
        monkeypatch.setenv("MEMWARDEN_SMTP_FROM", "memwarden@example.org")
        notice = {"id": "1", "proposal_id": "2", "event": "opened", "layer": "l", "scope": "/s"}
        attempt = Attempt(lambda: Email().send(notice, "ana@example.org", {}), "email").start()
        assert not attempt.wait(WAIT)
        attempt.cut()
        assert attempt.wait(ENOUGH)
        with pytest.raises(PluginError, match=r"could not be sent|answers with"):
            attempt.result()
        _until(lambda: bool(ended))


NEVER = (
    *("169.254.169.254", "169.254.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1"),
    *("100.100.100.200", "168.63.129.16", "192.0.0.192"),
    *("fe80::1", "fe80::1%lo", "fd00:ec2::254", "fd20:ce::254", "::", "ff02::1", "fec0::1"),
    *("::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"),
    *("::ffff:0.0.0.0", "::169.254.169.254", "::ffff:100.100.100.200"),
)
PRIVATE = (
    *("127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1"),
    *("fd00::1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "64:ff9b::7f00:1", "2002:7f00:1::1"),
    *("198.18.0.1", "192.0.2.1"),
)


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a way to write the operator's file; at first there is none."""
    monkeypatch.delenv(addresses.VARIABLE)

    def name(*lines: str) -> None:
        (tmp_path / "hosts").write_text("\n".join(lines))
        monkeypatch.setenv(addresses.VARIABLE, str(tmp_path / "hosts"))

    return name


@pytest.mark.parametrize("address", NEVER)
def test_no_file_opens_link_local_and_metadata_addresses(
    address: str, hosts: Callable[..., None]
) -> None:
    """However they are written.

    Proves: W9
    """
    hosts("service.example", address)
    for host in ("service.example", address):
        with pytest.raises(PluginError, match="never open"):
            addresses.check(address, host, 80)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_open_where_the_operator_names_the_host(
    address: str, hosts: Callable[..., None]
) -> None:
    """As the URL says it, with the port where the line has one; not the address behind a name.

    Proves: W9
    """
    with pytest.raises(PluginError, match="MEMWARDEN_HOSTS_FILE"):
        addresses.check(address, "service.example", 80)
    for line in (address, "other.example", "#service.example", "service.example:81", "example"):
        hosts(line)
        with pytest.raises(PluginError, match="MEMWARDEN_HOSTS_FILE"):
            addresses.check(address, "service.example", 80)
    for line in ("service.example", " Service.Example ", "service.example:80"):
        hosts("# ours", line)
        addresses.check(address, "service.example", 80)
    for line in (address, f"[{address}]:80") if ":" in address else (address, f"{address}:80"):
        hosts(line)
        addresses.check(address, address, 80)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_the_internet_needs_no_line(address: str, hosts: Callable[..., None]) -> None:
    """A missing file is noticed only where it decides.

    Proves: W9
    """
    addresses.check(address, "service.example", 443)
    del hosts


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"],
)
def test_no_spelling_reaches_this_machine_unnamed(host: str, hosts: Callable[..., None]) -> None:
    """What the resolver makes of a name is what is checked.

    Proves: W9
    """
    with serving(lambda *_: (200, {})) as url:
        port = url.rpartition(":")[2]
        with pytest.raises(PluginError, match=r"MEMWARDEN_HOSTS_FILE|cannot be reached"):
            ask(f"http://{host}:{port}", b"{}", {}, ENOUGH)
        hosts("127.0.0.1")
        assert ask(url, b"{}", {}, ENOUGH) == b"{}"
    for bad in ("http://1.1.1.1@127.0.0.1/", "http://a:b@service.example/", "http:///x"):
        with pytest.raises(PluginError, match="cannot be reached"):
            ask(bad, b"{}", {}, WAIT)


def test_no_redirect_leads_anywhere() -> None:
    """Neither to a forbidden address nor to one that is allowed.

    Proves: W9
    """
    asked = []

    def note(*_: Any) -> tuple[int, Any]:
        asked.append(1)
        return 200, {}

    with serving(note) as other:
        for where in (other, "http://169.254.169.254/latest/meta-data/"):
            with (
                serving(lambda *_, where=where: (302, where.encode())) as url,
                pytest.raises(Refused, match="302"),
            ):
                ask(url, b"{}", {}, ENOUGH)
    assert asked == []


def test_a_name_that_changes_its_mind_is_asked_once(
    monkeypatch: pytest.MonkeyPatch, hosts: Callable[..., None]
) -> None:
    """The address that was checked is the one that is connected to.

    Proves: W9
    """
    answers = iter([["203.0.114.7"], ["127.0.0.1"]])
    reached: list[str] = []

    def resolve(_: str, port: int, **__: object) -> list[Any]:
        found = next(answers)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in found]

    def connect(_: socket.socket, address: tuple[str, int]) -> None:
        reached.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket.socket, "connect", connect, raising=False)
    with pytest.raises(PluginError, match="ConnectionRefusedError"):
        ask("http://rebinding.example/", b"{}", {}, WAIT)
    assert reached == ["203.0.114.7"]
    with pytest.raises(PluginError, match="MEMWARDEN_HOSTS_FILE"):
        ask("http://rebinding.example/", b"{}", {}, WAIT)
    assert reached == ["203.0.114.7"]
    # One of several is enough to refuse them all.
    answers = iter([["203.0.114.7", "169.254.169.254"]])
    hosts("rebinding.example")
    with pytest.raises(PluginError, match="never open"):
        ask("http://rebinding.example/", b"{}", {}, WAIT)
    assert reached == ["203.0.114.7"]


def test_a_file_that_cannot_be_read_opens_nothing(
    hosts: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And says so.

    Proves: W9
    """
    monkeypatch.setenv(addresses.VARIABLE, str(tmp_path / "missing"))
    with pytest.raises(PluginError, match="cannot be read"):
        addresses.check("127.0.0.1", "localhost", 80)
    addresses.check("1.1.1.1", "service.example", 80)
    del hosts
