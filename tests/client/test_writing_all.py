"""A load of any size: cut into batches, answered in order, with nothing lost for a bad request."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from client.test_command_line import MAIN, run
from memwarden import AsyncClient, Client, WriteResult
from write.gates.obedient import run_retries

if TYPE_CHECKING:
    from conftest import World


def fact(number: int) -> dict[str, Any]:
    """A request that commits."""
    return {"layer": "semantic", "content": {"statement": f"fact number {number}"}}


def told(results: list[WriteResult]) -> list[str]:
    """Outcomes, with the reason where there is one."""
    return [" ".join(filter(None, (result.outcome, result.reason))) for result in results]


def test_results_come_batch_by_batch_from_an_endless_source(memory: Client, world: World) -> None:
    """A batch is read, written and committed before the next is read.

    Proves: W8
    """
    taken = 0

    def source() -> Iterator[dict[str, Any]]:
        nonlocal taken
        for number in count():
            taken += 1
            yield fact(number)

    results = memory.write_all(source(), batch_size=10)
    first = next(results)
    assert (first.ordinal, taken) == (0, 10)
    assert world.value("SELECT count(*) FROM memwarden_data.item") == 10
    rest = list(islice(results, 24))
    assert [result.ordinal for result in rest] == list(range(1, 25))
    assert {result.outcome for result in rest} == {"COMMITTED"}
    assert taken == 30
    batches = "SELECT count(DISTINCT xmin::text) FROM memwarden_data.write_request"
    assert world.value(batches) == 3


BAD: dict[str, Any] = {
    "a name that there is not": fact(0) | {"importanse": 1},
    "no layer": {"content": 1},
    "a text": "no request",
    "nothing": None,
    "a set": {1, 2},
    "words for numbers": fact(0) | {"embedding": "north"},
    "a number for a list": fact(0) | {"evidence": 5, "domains": 5},
    "a name that is none": {1: 2, "layer": "semantic"},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_what_is_no_request_is_refused_and_recorded_alone(memory: Client, bad: Any) -> None:
    """Those before and behind it in its batch are written.

    Proves: W8
    """
    results = list(memory.write_all([fact(1), bad, fact(2)], batch_size=3))
    assert [result.outcome for result in results] == ["COMMITTED", "REJECTED", "COMMITTED"]
    status = memory.request_status(results[1].request_id)
    assert status is not None
    assert status.reason == results[1].reason


@pytest.mark.parametrize("patience", [0, 60])
def test_a_busy_scope_is_waited_for(world: World, agent_dsn: str, patience: int) -> None:
    """The server tries again by itself; who has patience gets what became of it.

    Proves: W8
    """
    impatient = make_conninfo(agent_dsn, options="-c lock_timeout=50ms")
    with (
        Client.connect(impatient) as memory,
        psycopg.connect(agent_dsn) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        list(memory.write_all([fact(0)]))
        other.execute("SELECT memwarden.write('semantic', '\"something else\"')")
        load = pool.submit(lambda: list(memory.write_all([fact(1), fact(2)], patience=patience)))
        deferred = "SELECT count(*) FROM memwarden_data.write_request WHERE outcome = 'DEFERRED'"
        while world.value(deferred) < 2:
            pass
        other.rollback()
        if patience:
            run_retries(world)
        expected = "COMMITTED" if patience else "DEFERRED SCOPE_BUSY"
        assert told(load.result(60)) == [expected] * 2


def test_with_asyncio_too(agent_dsn: str) -> None:
    """Results are iterated over."""

    async def load() -> list[WriteResult]:
        async with await AsyncClient.connect(agent_dsn) as memory:
            return [each async for each in memory.write_all(map(fact, range(5)), batch_size=2)]

    assert told(asyncio.run(load())) == ["COMMITTED"] * 5


def test_nothing_to_write_yields_nothing(memory: Client) -> None:
    """An iterable without elements."""
    assert list(memory.write_all(iter(()))) == []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Requests, one a line; two of them bad."""
    lines = [json.dumps(fact(number)) for number in range(25)]
    lines[7], lines[11] = '{"layer":', '{"layer": "nowhere", "content": 1}'
    path = tmp_path / "facts.jsonl"
    path.write_text("\n\n".join(lines) + "\n")
    return path


def test_a_file_is_imported(memory: Client, agent_dsn: str, file: Path) -> None:
    """Off a terminal: a line for each that was refused, one for all, and nothing that moves.

    Proves: W8, Z11 (JSON Lines)
    """
    ran = run("import", str(file), "--batch-size", "10", dsn=agent_dsn)
    assert (ran.returncode, ran.stdout) == (3, "")
    first, second, asked, counts, last = ran.stderr.splitlines()
    assert first.startswith("request 8: REJECTED INVALID_ARGUMENT (")
    assert second.startswith("request 12: REJECTED UNKNOWN_LAYER (")
    assert asked == ("profile strict: evidence is demanded, and a person approves what is to last")
    assert counts.startswith("23 accepted, 0 merged, 0 already there, 0 waiting, 2 refused (")
    assert last == "25 requests: 23 COMMITTED, 2 REJECTED"
    status = memory.request_status(UUID(first.rpartition("(")[2].rstrip(")")))
    assert status is not None
    assert status.outcome == "REJECTED"
    again = run("import", "-", "--json", dsn=agent_dsn, input=file.read_text())
    outcomes = [each["outcome"] for each in json.loads(again.stdout)]
    assert outcomes.count("ALREADY_COMMITTED") == 23
    assert len(outcomes) == 25


def test_on_a_terminal_a_bar_shows_how_far_it_is(agent_dsn: str, file: Path) -> None:
    """It counts up to what the file holds."""
    parent, child = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, "import", str(file), "--batch-size", "5"],
        env=os.environ | {"MEMWARDEN_DSN": agent_dsn, "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.DEVNULL,
        stderr=child,
    ) as process:
        os.close(child)
        shown = b""
        while True:
            try:
                shown += os.read(parent, 1024)
            except OSError:  # the other end is closed
                break
        os.close(parent)
        assert process.wait(60) == 3
    text = shown.decode()
    assert "25/25" in text
    assert "25 requests: 23 COMMITTED, 2 REJECTED" in text


def test_a_memory_is_found_by_its_subject(memory: Client, agent_dsn: str) -> None:
    """By client and command; where there is none the command says so by its exit."""
    memory.write("semantic", {"drink": "tea"}, subject="Ana", predicate="prefers")
    memory.write("semantic", {"city": "Rome"}, subject="Ana", predicate="lives in")
    assert [item.content for item in memory.find_items("ana", "PREFERS")] == [{"drink": "tea"}]
    assert len(memory.find_items("ana")) == 2
    assert memory.find_items("ana", layer="episodic") == []
    shown = run("find", "ana", "lives in", dsn=agent_dsn)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Rome" in shown.stdout
    [found] = json.loads(run("find", "ana", "lives in", "--json", dsn=agent_dsn).stdout)
    assert found["content"] == {"city": "Rome"}
    assert run("find", "bo", dsn=agent_dsn).returncode == 6
