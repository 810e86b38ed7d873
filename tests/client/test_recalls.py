"""The client reports what came of a recall, looks at the log, and records what a replica gave."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

from client.test_command_line import run
from memwarden import Client, InvalidArgument, NotFound

if TYPE_CHECKING:
    from typing import Any


def test_a_recall_is_reported_of_and_found_again(
    memory: Client, admin: psycopg.Connection[Any]
) -> None:
    """Proves: Z4 (the client), Q2 (feedback)."""
    memory.write("semantic", "Ana likes tea")
    memory.write("semantic", "Ana owns a dog")
    found = memory.recall("what does Ana drink? tea", task="breakfast")
    recall_id = found[0].recall_id
    assert recall_id is not None
    best = found[0].item_id
    assert memory.report_outcome(recall_id, [best], "success", {"said": "at eight"}) == 1
    [logged] = memory.find_recalls(query="what does Ana drink? tea")
    assert (logged.recall_id, logged.task, logged.given) == (recall_id, "breakfast", 2)
    assert (logged.outcome, logged.used, logged.detail) == ("success", [best], {"said": "at eight"})
    assert memory.find_recalls(query="tea") == []
    [given] = memory.recalls_of(best)
    assert (given.recall_id, given.place, given.used) == (recall_id, 1, True)
    said = memory.write("semantic", "She had tea", trace_id="breakfast")
    [wrote] = memory.writes_of_recall(recall_id)
    assert wrote.item_id == said.item_id
    admin.execute("CALL memwarden.count_recalls()")
    whole, *_ = memory.recall_quality()
    assert (whole.layer, whole.recalls, whole.mean_precision) == ("*", 1, 0.5)
    context = memory.context("tea")
    assert memory.report_outcome(context.items[0].recall_id or recall_id) == 1


def test_a_report_that_cannot_be_is_an_error_of_its_kind(memory: Client) -> None:
    """Proves: Q2 (feedback)."""
    said = memory.write("semantic", "Ana likes tea")
    [found] = memory.recall("tea")
    assert found.recall_id is not None
    assert said.item_id is not None
    with pytest.raises(InvalidArgument):
        memory.report_outcome(found.recall_id, [found.recall_id])
    with pytest.raises(InvalidArgument):
        memory.report_outcome(found.recall_id, outcome="splendid")
    with pytest.raises(NotFound):
        memory.report_outcome(said.item_id)


def test_what_a_replica_gave_is_recorded_on_the_primary(
    memory: Client, agent_dsn: str, world: Any
) -> None:
    """A session that can only read stands for the replica.

    Proves: Z4 (replicas)
    """
    memory.write("semantic", "Ana likes tea")
    with psycopg.connect(agent_dsn, options="-c default_transaction_read_only=on") as connection:
        connection.autocommit = True
        found = Client(connection).recall("tea", k=3)
    assert [item.recall_id for item in found] == [None]
    recall_id = memory.record_recall(found, query="tea", task="breakfast", k=3)
    assert memory.record_recall(found, query="tea", recall_id=recall_id) == recall_id
    [logged] = memory.find_recalls(query="tea")
    assert (logged.recall_id, logged.reported, logged.task) == (recall_id, True, "breakfast")
    assert logged.item_ids == [found[0].item_id]
    assert memory.report_outcome(recall_id, logged.item_ids, "partial") == 1
    assert world.value("SELECT count(*) FROM memwarden_data.recall_log") == 1


def test_the_command_line_shows_the_log(agent_dsn: str, memory: Client) -> None:
    """Proves: Z4 (the command line)."""
    memory.write("semantic", "Ana likes tea")
    [found] = memory.recall("tea", task="breakfast")
    item, recall_id = str(found.item_id), str(found.recall_id)
    ran = run("recalls", "report", recall_id, "success", "--used", item, dsn=agent_dsn)
    assert ran.stdout.strip() == "revision 1"
    for command in (("list", "--query", "tea"), ("of", item)):
        shown = run("recalls", *command, dsn=agent_dsn).stdout
        assert recall_id in shown
        assert "breakfast" in shown
        assert "success" in shown
        [row] = json.loads(run("recalls", *command, "--json", dsn=agent_dsn).stdout)
        assert row["recall_id"] == recall_id
    assert json.loads(run("recalls", "quality", "--json", dsn=agent_dsn).stdout) == []
    assert "layer" in run("recalls", "quality", dsn=agent_dsn).stdout
