"""One exchange of JSON over HTTP, with one deadline for all of it, and nothing followed.

The socket is ours and h11 reads what comes over it: each wait for a byte, of TLS, headers, interim
answers, chunks or trailers, ends at the same moment.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from memwarden._needs import needs
from memwarden.worker.attempt import Attempt, cut_with_the_attempt
from memwarden.worker.plugin import PluginError
from memwarden.worker.plugins import addresses

with needs("worker"):
    import h11

MAX_ANSWER = 1024 * 1024
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class Refused(PluginError):
    """The service answers with another HTTP status than 200.

    `retry_after`: seconds that it asks for before it is asked again, where it does.
    """

    def __init__(self, status: int, retry_after: float | None = None) -> None:
        super().__init__(f"the service answers with HTTP status {status}")
        self.status = status
        self.retry_after = retry_after


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    try:
        return urllib.parse.urlsplit(url).hostname in _LOCAL
    except ValueError:
        return False


def require_private(url: str) -> None:
    """Refuse an address on whose way others can read along.

    Raises:
        PluginError: it is neither https nor on this machine.
    """
    if not (url.lower().startswith("https://") or is_local(url)):
        raise PluginError("a key is sent to https addresses only")


def ask(url: str, body: bytes | None, headers: Mapping[str, str], timeout: float) -> bytes:
    """Post a JSON body, or get what is there without one; MAX_ANSWER bytes and one are read.

    Raises:
        PluginError: the address is none or must not be reached, a key would travel in clear, or
            there was no answer in time.
        Refused: another status than 200.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise PluginError("the address is neither http nor https")
    if "Authorization" in headers:
        require_private(url)
    until = time.monotonic() + timeout
    wanted = {"Content-Type": "application/json", "Accept": "application/json"} | dict(headers)
    try:
        place = _Place.read(url)
        with (
            contextlib.closing(_connected(place, until)) as plain,
            cut_with_the_attempt(plain),
            _encrypted(plain, place, until) as line,
        ):
            return _exchanged(line, place, body, wanted, until)
    except (OSError, h11.ProtocolError, ValueError) as error:
        raise PluginError(f"the service cannot be reached: {type(error).__name__}") from None


def post_json(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Any:
    """Post a JSON body and return the JSON of the answer.

    Raises:
        PluginError: as `ask`, or the answer is no JSON.
        Refused: another status than 200.
    """
    raw = ask(url, body, headers, timeout)
    if len(raw) > MAX_ANSWER:
        raise PluginError("the answer of the service is too large")
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise PluginError("the answer of the service is no JSON") from None


@dataclass(frozen=True, slots=True)
class _Place:
    """What a URL says: whom to ask, and for what."""

    host: str
    port: int
    is_https: bool
    authority: str
    target: str

    @classmethod
    def read(cls, url: str) -> _Place:
        parts = urllib.parse.urlsplit(url)
        if not parts.hostname or parts.username is not None:
            raise ValueError("no host, or a name and a password beside it")
        host = parts.hostname
        if not host.isascii():
            host = host.encode("idna").decode()
        is_https = parts.scheme.lower() == "https"
        port = parts.port or (443 if is_https else 80)
        bracketed = f"[{host}]" if ":" in host else host
        return cls(
            host,
            port,
            is_https,
            bracketed if parts.port is None else f"{bracketed}:{port}",
            (parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        )


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connected(place: _Place, until: float) -> socket.socket:
    """Connect to an address of the host that was checked: a name is resolved once."""
    # In a thread of its own: nothing else bounds how long a name server is waited for.
    lookup = Attempt(
        lambda: socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM), "resolver"
    ).start()
    if not lookup.wait(_left(until)):
        raise TimeoutError
    found = lookup.result()
    for *_, address in found:
        addresses.check(str(address[0]), place.host, place.port)
    failure: OSError = ConnectionError()
    for tried, (family, kind, protocol, _, address) in enumerate(found):
        line = socket.socket(family, kind, protocol)
        try:
            line.settimeout(_left(until) / (len(found) - tried))
            line.connect(address)
            return line
        except OSError as error:
            line.close()
            failure = error
    raise failure


def _encrypted(line: socket.socket, place: _Place, until: float) -> socket.socket:
    """The connection as the URL wants it; certificates are checked against the host of the URL."""
    if not place.is_https:
        return line
    line.settimeout(_left(until))  # of the whole handshake
    return ssl.create_default_context().wrap_socket(line, server_hostname=place.host)


def _exchanged(
    line: socket.socket,
    place: _Place,
    body: bytes | None,
    headers: Mapping[str, str],
    until: float,
) -> bytes:
    """Send the request, and return the body of the answer."""
    http = h11.Connection(h11.CLIENT)
    sent = {"Host": place.authority, "Connection": "close", "User-Agent": "memwarden"}
    sent |= {} if body is None else {"Content-Length": str(len(body))}
    request = h11.Request(
        method="GET" if body is None else "POST",
        target=place.target,
        headers=list((sent | dict(headers)).items()),
    )
    events = (request, h11.Data(data=body or b""), h11.EndOfMessage())
    unsent = memoryview(b"".join(http.send(each) or b"" for each in events))
    while unsent:
        line.settimeout(_left(until))
        unsent = unsent[line.send(unsent) :]
    raw = bytearray()
    while len(raw) <= MAX_ANSWER:
        left = _left(until)
        event = http.next_event()
        if event is h11.NEED_DATA:
            line.settimeout(left)
            http.receive_data(line.recv(65536))
        elif isinstance(event, h11.Response) and event.status_code != 200:
            later = dict(event.headers).get(b"retry-after")
            raise Refused(event.status_code, None if later is None else _seconds(later.decode()))
        elif isinstance(event, h11.Data):
            raw += event.data
        elif isinstance(event, h11.EndOfMessage):
            break
        elif not isinstance(event, h11.Response | h11.InformationalResponse):
            raise ConnectionError
    return bytes(raw)


def _seconds(header: str) -> float | None:
    """Seconds from now: the header `Retry-After` holds them, or a date."""
    if header.strip().isdecimal():
        return float(header)
    try:
        left = parsedate_to_datetime(header).astimezone(UTC) - datetime.now(UTC)
    except (ValueError, OverflowError):
        return None
    return max(0.0, left.total_seconds())
