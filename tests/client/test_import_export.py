"""Memories come from other systems, and go out and back again, through the gates."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner, Result

from client.test_command_line import MAIN
from memwarden import Client
from memwarden.cli import app
from memwarden.transfer import langgraph, letta, mem0, zep
from memwarden.transfer.records import Record, Target, Unreadable
from reviewing import HOME, ask

if TYPE_CHECKING:
    from conftest import World

ROWS = 300


def facts(count: int) -> list[dict[str, Any]]:
    """Return so many write requests; some are the next value of the same fact."""
    return [
        {
            "layer": "semantic",
            "content": {"value": number},
            "subject": f"meter {number // 2}",
            "predicate": "shows",
        }
        for number in range(count)
    ]


def run(*arguments: str, dsn: str) -> Result:
    """Run the command in this process, which starts it faster than one of its own."""
    return CliRunner().invoke(app, arguments, env={"MEMWARDEN_DSN": dsn})


def imported(source: object, *arguments: str, dsn: str, report: Path) -> dict[str, Any]:
    """Import, and return the report."""
    ran = run("import", str(source), *arguments, "--report", str(report), dsn=dsn)
    assert ran.exit_code in (0, 3, 4), ran.stderr
    told: dict[str, Any] = json.loads(report.read_text())
    return told


def test_what_was_killed_goes_on_and_writes_nothing_twice(
    agent_dsn: str, memory: Client, tmp_path: Path
) -> None:
    """One bad row of many is reported and harms no other.

    Proves: Z11 (import)
    """
    file, report = tmp_path / "facts.jsonl", tmp_path / "report.json"
    lines = [json.dumps(each) for each in facts(ROWS)]
    lines[201] = '{"layer": "semantic", "content": '
    file.write_text("\n".join(lines))
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, "import", str(file), "--batch-size", "20"],
        env=os.environ | {"MEMWARDEN_DSN": agent_dsn},
        stderr=subprocess.DEVNULL,
    ) as process:
        end = time.monotonic() + 60
        while len(memory.as_of()) < 40 and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    before = len(memory.as_of())
    assert 40 <= before < ROWS // 2
    told = imported(file, dsn=agent_dsn, report=report)
    assert told["accepted"] + told["already"] == ROWS - 1
    assert told["already"] >= before
    assert told["refused"] == {"INVALID_ARGUMENT": 1}
    assert [each["record"] for each in told["problems"]] == ["request 202"]
    items = memory.as_of()
    assert len(items) == ROWS // 2
    # The earlier of two values did not come back over the later.
    assert [each.content["value"] for each in items if not each.content["value"] % 2] == [200]
    again = imported(file, dsn=agent_dsn, report=report)
    assert (again["accepted"], again["already"]) == (0, ROWS - 1)
    assert {each.item_id: each.version for each in memory.as_of()} == {
        each.item_id: each.version for each in items
    }


def _rich(memory: Client) -> None:
    memory.write(
        *("semantic", {"tea": ["green", None, 1.5]}),
        subject="Ána",
        predicate="drinks",
        confidence=0.75,
        importance=0.25,
        evidence=[{"type": "human_input", "uri": "chat:1"}],
        valid_from=datetime(2025, 1, 1, tzinfo=UTC),
        valid_to=datetime(2035, 6, 1, 12, tzinfo=UTC),
        classification="confidential",
        origin={"kind": "user_stated", "task": "breakfast"},
        ttl=timedelta(days=400),
    )
    memory.write("episodic", "It rained \u2028 in Lisbon", confidence=0.5)
    memory.write("semantic", {"n": 0.1}, subject="big")
    memory.write("semantic", "no end", valid_from=datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=UTC))


def _said(memory: Client, scope: str) -> list[tuple[Any, ...]]:
    """Return all that a memory says but when it was written, by whom, and under which number."""
    return sorted(
        (
            *(repr(item.content), item.layer, item.kind, item.subject, item.predicate),
            *(item.confidence, item.importance, item.valid_to, item.classification),
            *(item.domains, item.attributes, repr(item.provenance["evidence"])),
            item.valid_from,
            item.expires_at and round(item.expires_at.timestamp() / 60),
            repr(memory.provenance(item.item_id)[0].record.get("origin")),
        )
        for item in memory.as_of(scopes=[scope])
    )


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_out_and_back_nothing_is_lost(world: World, tmp_path: Path, form: str) -> None:
    """Each sees only its own in an export; provenance goes along, signed.

    Proves: Z11 (export, round trip)
    """
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="the extra memwarden[parquet] is not installed")
    other = "/org/other/user/bo"
    ana = make_conninfo(world.dsn, user=world.register(HOME, clearance="restricted"))
    bo = make_conninfo(world.dsn, user=world.register(other, clearance="restricted"))
    file, report = tmp_path / f"memories.{form}", tmp_path / "report.json"
    with Client.connect(ana) as memory:
        _rich(memory)
        before = _said(memory, HOME)
        assert len(before) == 4
        ran = run("export", str(file), "--to", form, dsn=ana)
        assert (ran.exit_code, ran.stderr) == (0, "4 memories exported\n")
        assert file.stat().st_mode & 0o077 == 0
        assert run("export", str(file), "--to", form, dsn=ana).exit_code == 1
    with Client.connect(bo) as memory:
        nothing = run("export", "-", dsn=bo)
        assert (nothing.exit_code, nothing.stdout) == (0, "")
        assert run("export", "-", "--scope", HOME, dsn=bo).exit_code == 1
        # Where bo may not write, nothing is written.
        told = imported(file, "--from", form, dsn=bo, report=report)
        assert (told["accepted"], sum(told["refused"].values())) == (0, 4)
        told = imported(file, "--from", form, "--scope", other, dsn=bo, report=report)
        assert (told["accepted"], told["problems"]) == (4, [])
        assert _said(memory, other) == before
        told = imported(file, "--from", form, "--scope", other, dsn=bo, report=report)
        assert (told["accepted"], told["already"]) == (0, 4)
    lines = [json.loads(each) for each in run("export", "-", dsn=ana).stdout.splitlines()]
    assert all(each["provenance"][0]["record"]["item_id"] == each["item_id"] for each in lines)


def test_memories_of_other_systems_come_in(world: World, tmp_path: Path) -> None:
    """mem0's and LangGraph's tables, Letta's and Zep's JSON; what waits is told as waiting.

    Proves: Z11 (mem0, LangGraph, Letta, Zep)
    """
    role = world.register("/org/acme", descendants=True)
    for name in ("ana", "bo"):
        world.scope(f"/org/acme/user/{name}")
    dsn = make_conninfo(world.dsn, user=role)
    report = tmp_path / "report.json"
    world.admin.execute(
        """
        CREATE SCHEMA theirs;
        CREATE TABLE theirs.mem0 (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), payload jsonb);
        INSERT INTO theirs.mem0 (payload) VALUES
            ('{"data": "Likes tea", "hash": "x", "user_id": "ana", "created_at": "2025-01-02T03:04:05+00:00", "mood": "calm"}'),
            ('{"data": "Likes rain", "user_id": "bo", "expiration_date": "2099-12-31"}'), ('{"data": "Lost", "user_id": "../x"}'),
            ('{"data": "Over", "user_id": "ana", "expiration_date": "2020-01-01"}'),
            ('{"data": "Nobody", "user_id": "eve"}'), ('{"user_id": "ana"}');
        CREATE TABLE theirs.store (prefix text, key text, value jsonb, created_at timestamptz DEFAULT now(),
            updated_at timestamptz DEFAULT now(), expires_at timestamptz, ttl_minutes integer, PRIMARY KEY (prefix, key));
        INSERT INTO theirs.store (prefix, key, value, expires_at, updated_at) VALUES
            ('users.ana', 'food', '{"likes": "pizza"}', NULL, '2022-05-03 09:30Z'),
            ('users.ana', 'trip', '{"to": "Rome"}', now() + interval '1 day', '2022-05-04 09:30Z'),
            ('users.ana', 'gone', '{"to": "Oslo"}', now() - interval '1 day', now());
        """  # noqa: E501
    )
    home = ("--scope", "/org/acme/user/{user_id}")
    arguments = ("--from", "mem0", "--table", "theirs.mem0", *home)
    told = imported(world.dsn, *arguments, dsn=dsn, report=report)
    assert told["accepted"] == 2
    assert told["refused"].pop("UNREADABLE") == 3
    assert sum(told["refused"].values()) == 1
    told = imported(world.dsn, *arguments, dsn=dsn, report=report)
    assert (told["accepted"], told["already"]) == (0, 2)
    arguments = ("--from", "langgraph", "--table", "theirs.store", "--scope", "/org/acme/user/{1}")
    told = imported(world.dsn, *arguments, dsn=dsn, report=report)
    assert (told["accepted"], told["refused"]) == (2, {"UNREADABLE": 1})
    world.admin.execute(
        "UPDATE theirs.store SET value = %s, updated_at = now() WHERE key = 'food'",
        ('{"likes": "soup"}',),
    )
    told = imported(world.dsn, *arguments, dsn=dsn, report=report)
    assert (told["accepted"], told["already"]) == (1, 1)
    store = pytest.importorskip("memwarden.langgraph", reason="needs memwarden[langgraph]")
    users = {("users", "{user}"): "/org/acme/user/{user}"}
    with store.MemwardenStore.from_conn_string(dsn, scopes=users) as there:
        assert there.get(("users", "ana"), "food").value == {"likes": "soup"}
        assert {item.key for item in there.search(("users", "ana"))} == {"food", "trip"}
    passages = tmp_path / "letta.json"
    cat = {"id": "passage-1", "text": "Ana has a cat", "created_at": "2022-05-05T10:00:00"}
    passages.write_text(json.dumps([cat, {"id": "p"}]))
    agent_file = tmp_path / "agent.af"
    agent_file.write_text(json.dumps(AGENT_FILE))
    edges = tmp_path / "zep.json"
    edges.write_text(json.dumps(GRAPH))
    told = imported(passages, "--from", "letta", dsn=dsn, report=report)
    assert (told["accepted"], told["refused"]) == (1, {"UNREADABLE": 1})
    told = imported(agent_file, "--from", "letta", dsn=dsn, report=report)
    assert (told["accepted"], told["refused"]) == (2, {})
    told = imported(edges, "--from", "zep", dsn=dsn, report=report)
    assert (told["accepted"], told["refused"]) == (3, {"UNREADABLE": 1})
    with Client.connect(dsn) as memory:
        items = {
            (each.content.get("statement") or str(each.content)): each for each in memory.as_of()
        }
        tea = items["Likes tea"]
        assert (tea.scope, tea.subject) == ("/org/acme/user/ana", "ana")
        rain = items["Likes rain"].expires_at
        assert rain is not None
        assert abs(rain - datetime(2100, 1, 1, tzinfo=UTC)) < timedelta(minutes=5)
        assert tea.content["metadata"] == {"user_id": "ana", "mood": "calm"}
        assert tea.provenance["evidence"][0]["uri"].startswith("mem0:")
        assert items["{'likes': 'soup'}"].subject == "users/ana"
        assert items["{'to': 'Rome'}"].expires_at is not None
        assert (items["I am kind"].subject, items["I am kind"].predicate) == ("Sam", "persona")
        job = items["Ana works at Initech"]
        assert (job.subject, job.valid_from) == ("Ana", datetime(2024, 5, 1, tzinfo=UTC))
        # What is imported today was said when it was said; without a zone, in UTC.
        began = {words: each.valid_from for words, each in items.items()}
        assert began["Likes tea"] == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
        assert began["{'to': 'Rome'}"] == datetime(2022, 5, 4, 9, 30, tzinfo=UTC)
        assert began["Ana has a cat"] == datetime(2022, 5, 5, 10, tzinfo=UTC)
        assert began["Ana had a boat"] == datetime(2025, 1, 1, tzinfo=UTC)
        line = next(each.line for each in memory.context("cat").items if "cat" in each.line)
        assert json.loads(line)["since"] == "2022-05-05"
    ask(world)
    passages.write_text(json.dumps([{"id": "passage-2", "text": "Ana has a dog"}]))
    told = imported(passages, "--from", "letta", dsn=dsn, report=report)
    assert told["waiting"] == {"AWAITING_APPROVAL": 1}
    told = imported(passages, "--from", "letta", dsn=dsn, report=report)
    assert told["waiting"] == {"ALREADY_PENDING": 1}
    # What cannot be read says so, without the password of the connection string.
    for source, more in (
        (tmp_path / "none", ("--from", "zep")),
        (tmp_path / "none", ("--from", "parquet")),
        (edges, ("--from", "parquet")),
        (tmp_path / "none", ()),
        ("user=x password='s3cret", ("--from", "mem0")),
        (world.dsn, ("--from", "mem0", "--table", "nowhere")),
    ):
        ran = run("import", str(source), *more, dsn=dsn)
        assert (ran.exit_code, ran.stderr.startswith("error: ")) == (1, True), ran.stderr
        assert "s3cret" not in ran.stderr


AGENT_FILE = {
    "agents": [{"id": "agent-0", "name": "Sam", "block_ids": ["block-0", "block-1"]}],
    "blocks": [
        {"id": "block-0", "label": "persona", "value": "I am kind"},
        {"id": "block-1", "label": "human", "value": "Ana, a gardener"},
    ],
}
GRAPH = {
    "nodes": [{"uuid": "n1", "name": "Ana"}, {"uuid": "n2", "name": "Initech"}],
    "edges": [
        {
            "uuid": "e1",
            "name": "WORKS_AT",
            "fact": "Ana works at Initech",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "created_at": "2025-01-01T00:00:00Z",
            "valid_at": "2024-05-01T00:00:00Z",
        },
        {"uuid": "e2", "name": "HAS", "fact": "Ana has a bicycle", "source_node_uuid": "n9"},
        {"uuid": "e4", "fact": "Ana had a boat", "created_at": "2025-01-01T00:00:00Z"},
        {"uuid": "e3", "name": "HAS", "fact": "Ana had", "expired_at": "2025-01-01T00:00:00Z"},
    ],
}


def test_no_record_is_put_where_its_fields_do_not_name() -> None:
    """A value that would be more than one name of a path fills no scope."""
    target = Target(scope="/org/acme/user/{user_id}")
    for name in ("..", "a/b", "", " ", "a b", "{user_id}", None, ["a"], "ä/.."):
        rows = [{"id": 1, "payload": {"data": "x", "user_id": name}}]
        [found] = mem0.read(rows, target)
        assert isinstance(found, Unreadable), name
    [found] = mem0.read([{"id": 1, "payload": {"data": "x", "user_id": "a.b-c@d"}}], target)
    assert isinstance(found, Record)
    assert found.request["scope"] == "/org/acme/user/a.b-c@d"
    for wrong in (None, 3, "x", [], {}, [3], [None], {"blocks": [3]}, {"edges": 3}, {"agents": 3}):
        for reader in (letta, zep):
            assert not [r for r in reader.read(wrong, target) if isinstance(r, Record)]
    [found] = langgraph.read(
        [{"prefix": "x", "key": "k", "value": 1, "updated_at": None, "expires_at": None}], target
    )
    assert isinstance(found, Unreadable)
