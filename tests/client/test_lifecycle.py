"""Memories are kept, explained, renewed and collected through the client and by command."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import tiny_lexicon
from client.test_history_commands import run, shown
from conftest import deploy_server
from memwarden import Client, InvalidArgument, NotAllowed, NotFound

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def dsn(shared_world: World, home: str) -> str:
    """Return how one connects who answers for the organisation."""
    org = home.split("/user/")[0]
    groups = ("memwarden_agent", "memwarden_curator")
    user = shared_world.register(org, role="curator", descendants=True, groups=groups)
    return make_conninfo(shared_world.dsn, user=user)


@pytest.fixture
def memory(dsn: str) -> Iterator[Client]:
    """Yield that person's client."""
    with Client.connect(dsn) as client:
        yield client


def written(memory: Client, text: str, **arguments: Any) -> tuple[UUID, UUID]:
    """Write something, return the item and its version."""
    done = memory.write("semantic", text, **arguments)
    assert done.item_id is not None, done
    assert done.version_id is not None, done
    return done.item_id, done.version_id


def test_a_memory_is_pinned_and_its_relevance_explained(memory: Client, dsn: str) -> None:
    """Until it is unpinned.

    Proves: G4 (through the client)
    """
    item, _ = written(memory, "tea")
    memory.pin(item, "the customer asked")
    parts = {each.part: each for each in memory.explain_relevance(item)}
    assert {"initial", "decay", "relevance", "staleness"} <= parts.keys()
    memory.unpin(item)
    for command in (("pin", item, "--reason", "again"), ("unpin", item)):
        shown(*command, dsn=dsn)
    assert "relevance" in shown("relevance", item, dsn=dsn)
    with pytest.raises(NotFound):
        memory.pin(uuid4(), "nothing")


def test_a_memory_is_renewed(memory: Client, dsn: str) -> None:
    """Its lifetime begins anew, as a new version."""
    item, version = written(memory, "tea")
    done = memory.renew(item, "asked again", timedelta(days=2))
    assert done.committed
    assert done.version_id != version
    assert run("renew", item, "--reason", "once more", dsn=dsn).exit_code == 0


def test_a_hold_keeps_what_it_names_until_it_is_lifted(memory: Client, dsn: str) -> None:
    """The versions that it holds can be read, also by command.

    Proves: Z5 (through the client)
    """
    item, version = written(memory, "tea", subject="Ana")
    held = memory.hold("a lawsuit", subject="Ana", layers=["semantic"])
    assert held.items == 1
    (kept,) = memory.held_items(held.hold_id)
    assert (kept.item_id, kept.version_id, kept.content) == (item, version, "tea")
    assert memory.lift_hold(held.hold_id, "it is over").committed
    with pytest.raises(NotFound):
        memory.held_items(held.hold_id)
    call = ("hold", "set", "--reason", "another", "--item", item, "--since", "2026-01-01", "--json")
    number = json.loads(shown(*call, dsn=dsn))["hold_id"]
    assert "tea" in shown("hold", "items", number, dsn=dsn)
    assert "lifted" in shown("hold", "lift", number, "--reason", "over", dsn=dsn)


def test_an_action_is_linked_to_what_it_rests_on(memory: Client, dsn: str) -> None:
    """By itself, or with the outcome of a recall; the same again adds nothing.

    Proves: N8 (through the client)
    """
    item, version = written(memory, "Ana drinks tea")
    assert [memory.link_action("order-1", [version]) for _ in range(2)] == [1, 0]
    assert "linked: 1" in shown("link-action", "order-2", version, dsn=dsn)
    (found,) = memory.recall("tea")
    assert found.recall_id is not None
    memory.report_outcome(found.recall_id, [item], "success", action_id="order-3")
    assert memory.link_action("order-3", [version]) == 0
    call = ("recalls", "report", found.recall_id, "success", "--used", item)
    shown(*call, "--action", "order-4", dsn=dsn)
    assert memory.link_action("order-4", [version]) == 0


def test_retention_is_set_and_explained(memory: Client, dsn: str) -> None:
    """What it would end must be said; the rule that decides is marked.

    Proves: R5 (through the client)
    """
    item, _ = written(memory, "tea")
    assert memory.set_retention(layer="semantic", keep_at_most=timedelta(days=700)) == 0
    (rule,) = [each for each in memory.explain_retention(item) if each.decides]
    assert rule.keep_at_most == timedelta(days=700)
    call = ("retention", "set", "--layer", "semantic", "--keep-at-most", "infinity")
    assert "now: 0" in shown(*call, dsn=dsn)
    assert "semantic" in shown("retention", "explain", item, dsn=dsn)
    with pytest.raises(InvalidArgument):
        memory.set_retention(layer="semantic", keep_at_most="-1 day")


def test_collection_shows_before_it_acts(memory: Client, dsn: str) -> None:
    """Without a terminal to ask on, the commands only show.

    Proves: G3 (through the client)
    """
    written(memory, "tea")
    assert sum(each.done for each in memory.run_gc("semantic")) == 0
    assert sum(each.done for each in memory.run_hygiene("semantic")) == 0
    for command in ("gc", "hygiene"):
        assert run(command, "--layer", "semantic", dsn=dsn).exit_code == 2
        assert json.loads(shown(command, "--layer", "semantic", "--yes", "--json", dsn=dsn)) == []


def test_jobs_are_listed_paused_and_resumed(shared_world: World, memory: Client) -> None:
    """By administrators of the database; storage is shown to them too.

    Proves: G8 (through the client)
    """
    admin = make_conninfo(shared_world.dsn, user=shared_world.role("memwarden_admin"))
    with Client.connect(admin) as dba:
        names = [each.name for each in dba.jobs()]
        assert "memwarden_close" in names
        dba.pause_job("memwarden_close")
        (paused,) = [each for each in dba.jobs() if each.name == "memwarden_close"]
        assert (paused.state, paused.paused_by) == (
            "paused",
            psycopg.conninfo.conninfo_to_dict(admin)["user"],
        )
        dba.resume_job("memwarden_close")
        assert any(each.bytes for each in dba.storage())
    shown("jobs", "pause", "memwarden_close", dsn=admin)
    assert "paused" in shown("jobs", "list", dsn=admin)
    shown("jobs", "resume", "memwarden_close", dsn=admin)
    assert "bytes" in shown("storage", dsn=admin)
    with pytest.raises(NotAllowed):
        memory.pause_job("memwarden_close")


def test_a_dictionary_is_loaded_and_given_up(shared_world: World, memory: Client) -> None:
    """By administrators, from a folder of the server. Proves: V10."""
    admin = make_conninfo(shared_world.dsn, user=shared_world.role("memwarden_admin"))
    folder = Path(deploy_server("shared"), f"lexicon-{uuid4().hex[:8]}")
    folder.mkdir(mode=0o755)
    for name, text in tiny_lexicon.files().items():
        (folder / name).write_text(text, encoding="ascii")
    command = ("lexicon", "load", "--folder", str(folder), "--language", "tiny")
    assert shown(*command, dsn=admin) == "tiny: 31 words, 28 senses, loaded\n"
    assert shown(*command, dsn=admin) == "tiny: 31 words, 28 senses, already there\n"
    with pytest.raises(NotAllowed):
        memory.load_lexicon(str(folder), "tiny")
    shutil.rmtree(folder)
    with Client.connect(admin) as dba, pytest.raises(NotFound):
        dba.load_lexicon(str(folder), "tiny")
    drop = ("lexicon", "drop", "--language", "tiny")
    assert shown(*drop, dsn=admin) == "dropped\n"
    assert shown(*drop, dsn=admin) == "there was none\n"
