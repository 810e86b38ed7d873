"""A chat endpoint on this machine that answers as a test wants."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from memwarden.judges import Memory
from memwarden.worker.plugins.chat import Model

NEW = Memory("Ana", "drinks", {"drink": "coffee"}, "Ana drinks coffee")
OLD = Memory("Ana", "drinks", {"drink": "tea"}, "Ana drinks tea")


class Reply(NamedTuple):
    """An HTTP answer; what is no bytes goes out as JSON."""

    status: int
    body: Any = b""
    headers: Mapping[str, str] = {}


class Asked(NamedTuple):
    """A request that came in."""

    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def memories(self) -> dict[str, Any]:
        """The data between the marks that the instruction names."""
        system, user = (each["content"] for each in self.body["messages"])
        begin, end = re.findall(r"</?data-[0-9a-f]+>", system)
        between = re.fullmatch(f"{begin}\n(.*)\n{end}", user, re.DOTALL)
        assert between is not None
        found: dict[str, Any] = json.loads(between[1])
        return found


@dataclass
class Endpoint:
    """Where it is, what it was asked, and a way to end answers that keep others waiting."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


def says(relation: object, score: object = 0.9, **more: Any) -> Reply:
    """An answer as it was asked for."""
    return writes(json.dumps({"relation": relation, "score": score} | more))


def writes(content: object, tokens: object = 50) -> Reply:
    """An answer with that text."""
    usage = {"usage": {"total_tokens": tokens}}
    return Reply(200, {"choices": [{"message": {"content": content}}]} | usage)


@contextmanager
def chat(answer: Callable[[Asked, int], Reply]) -> Iterator[Endpoint]:
    """Serve answers; `answer` gets the request and how many came before it."""
    endpoint = Endpoint()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}"
            asked = Asked(dict(self.headers.items()), json.loads(raw))
            with lock:
                number = len(endpoint.asked)
                endpoint.asked.append(asked)
            reply = answer(asked, number)
            sent = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)
            except OSError:
                pass  # nobody waits for it any more

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 256  # a full queue makes a client wait a second and longer

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        endpoint.url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
        try:
            yield endpoint
        finally:
            endpoint.ended.set()
            server.shutdown()
            thread.join()


def model(endpoint: Endpoint | str, **settings: Any) -> Model:
    """The model that answers there."""
    url = endpoint if isinstance(endpoint, str) else endpoint.url
    settings = {"url": url, "model": "toy", "timeout": 20} | settings
    return Model.configured(settings, settings)


class Pauses(list[float]):
    """Notes pauses instead of making them."""

    def __call__(self, seconds: float) -> None:
        """Note it."""
        self.append(seconds)
