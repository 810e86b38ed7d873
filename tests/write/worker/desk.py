"""What tests of the worker do over and over: ask for a verifier, claim, judge, look."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from memwarden.worker.loop import Pace
from memwarden.worker.plugin import Verifier
from memwarden.worker.queue import Queue
from memwarden.worker.runner import Runner

if TYPE_CHECKING:
    from conftest import World

Answer = Callable[[dict[str, Any], Mapping[str, str]], tuple[int, Any]]


def new_plugin() -> str:
    """Return a name that no other test's plug-in has."""
    return f"p{uuid.uuid4().hex[:12]}"


def require(world: World, plugin: str, *, org: str | None = None, **options: Any) -> None:
    """Have semantic writes judged by the plug-in, as a gate unless told otherwise."""
    options = {"layer": "semantic", "purpose": "gate"} | options
    options["settings"] = Jsonb(options.get("settings", {}))
    casts = {"patience": "::interval"}
    named = ", ".join(f"{name} => %({name})s{casts.get(name, '')}" for name in options)
    world.admin.execute(
        f"SELECT memwarden.require_verifier(plugin => %(plugin)s, org => %(org)s, {named})",
        options | {"plugin": plugin, "org": org},
    )


def claim(
    worker: Connection[DictRow],
    plugin: str,
    *,
    name: str = "one",
    max_jobs: int = 100,
    lease: str = "1 minute",
) -> list[DictRow]:
    """Take jobs of the plug-in."""
    return worker.execute(
        "SELECT * FROM memwarden.claim_jobs(%s, %s, %s, %s::interval)",
        (name, [plugin], max_jobs, lease),
    ).fetchall()


def complete(
    worker: Connection[DictRow], job: DictRow, decision: str = "accept", **more: Any
) -> bool:
    """Give a verdict."""
    name = more.pop("name", "one")
    row = worker.execute(
        "SELECT memwarden.complete_job(%s, %s, %s) AS done",
        (job["job_id"], name, Jsonb({"decision": decision} | more)),
    ).fetchone()
    assert row is not None
    return bool(row["done"])


def fail(
    worker: Connection[DictRow],
    job: DictRow,
    error: str = "no",
    *,
    name: str = "one",
    permanent: bool = False,
) -> str | None:
    """Say that there is no verdict."""
    row = worker.execute(
        "SELECT memwarden.fail_job(%s, %s, %s, %s) AS state",
        (job["job_id"], name, error, permanent),
    ).fetchone()
    assert row is not None
    state: str | None = row["state"]
    return state


def jobs(world: World, plugin: str) -> list[DictRow]:
    """Return the plug-in's jobs as they are stored."""
    return world.rows(
        "SELECT * FROM memwarden_data.job WHERE plugin = %s ORDER BY created_at, part", plugin
    )


def request(world: World, asked: DictRow) -> DictRow:
    """Return the record of a request."""
    rows = world.rows(
        "SELECT * FROM memwarden_data.write_request WHERE request_id = %s", asked["request_id"]
    )
    assert len(rows) == 1
    return rows[0]


def run_worker(world: World, role: str, plugins: Sequence[Verifier], lease: float = 60) -> None:
    """Let a worker do what is due, in this process."""
    stop = threading.Event()
    queue = Queue(make_conninfo(world.dsn, user=role), uuid.uuid4().hex, stop)
    runner = Runner(queue, {each.name: each for each in plugins}, stop, Pace(lease=lease))
    runner.run(once=True)
    if runner.failure is not None:
        raise runner.failure


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Yield the address of a server on this machine that answers POSTs of JSON so."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, said = answer(json.loads(raw), headers | {"": raw.decode()})
            body = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("Location", body.decode())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
