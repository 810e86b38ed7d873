"""A person is erased through the client and by command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import make_conninfo

from client.test_history_commands import run
from memwarden import Client, InvalidArgument, NotAllowed, NotFound

if TYPE_CHECKING:
    from conftest import World


def curator_of(world: World, home: str) -> str:
    """Return how one connects who answers for the organisation."""
    org = home.split("/user/")[0]
    return make_conninfo(world.dsn, user=world.register(org, role="curator", descendants=True))


def test_a_subject_is_erased(shared_world: World, home: str) -> None:
    """Counted first, then gone; a second certificate says that nothing is left.

    Proves: R1 (through the client)
    """
    dsn = curator_of(shared_world, home)
    with Client.connect(dsn) as memory:
        memory.write("semantic", {"drink": "tea"}, subject="Ana", predicate="prefers")
        memory.write("semantic", "mail from ana@example.org")
        names = ["ana@example.org"]
        counted = memory.erase_subject("ana", "asked for", identifiers=names, dry_run=True)
        assert (counted.status, counted.items, counted.erasure_id) == ("DRY_RUN", 2, None)
        done = memory.erase_subject("ana", "asked for", identifiers=names)
        assert (done.status, done.items, done.layers) == ("COMPLETED", 2, ["semantic"])
        assert (done.places or {})["item"] == 2
        with pytest.raises(NotFound):
            memory.erase_subject("Ana", "asked for")
        assert memory.recall("tea") == []
        with pytest.raises(InvalidArgument):
            memory.erase_subject("Ana", "for Ana")
    agent = make_conninfo(shared_world.dsn, user=shared_world.register(home))
    with Client.connect(agent) as memory, pytest.raises(NotAllowed):
        memory.erase_subject("Ana", "asked for")


def test_a_person_is_registered_exported_and_erased(
    shared_world: World, home: str, tmp_path: Path
) -> None:
    """By commands: what the registered identifiers find is in the file, and then gone.

    Proves: R1 (through the client)
    """
    dsn = curator_of(shared_world, home)
    with Client.connect(dsn) as memory:
        memory.write("episodic", "Vera asks about account AB-77")
        memory.write("episodic", "Igor asks about account AB-78")
        known = memory.register_subject("Vera", {"account": ["AB-77", "ab-77"]})
        assert {each.identifier for each in known} == {"AB-77", "ab-77"}
        left = memory.unregister_subject("Vera", {"account": "ab-77"})
        assert [(each.kind, each.identifier) for each in left] == [("account", "AB-77")]
        with pytest.raises(InvalidArgument):
            memory.register_subject("Vera", {"email": "vera"})
    added = run("subject", "register", "Vera", "--email", "Vera@Example.org", "--json", dsn=dsn)
    assert [each["kind"] for each in json.loads(added.stdout)] == ["account", "email"]
    shown = run("subject", "remove", "Vera", "--email", "vera@example.org", dsn=dsn)
    assert "AB-77" in shown.stdout
    assert "example" not in shown.stdout
    file = tmp_path / "vera.jsonl"
    assert run("export", str(file), "--subject", "Vera", dsn=dsn).exit_code == 0
    (line,) = file.read_text().splitlines()
    assert json.loads(line)["content"] == "Vera asks about account AB-77"
    done = run("erase", "Vera", "--reason", "asked for", "--yes", dsn=dsn)
    assert "COMPLETED: items 1" in done.stdout
    with Client.connect(dsn) as memory:
        assert memory.find_subject("Vera") == []


def test_the_command_counts_and_erases_with_yes(shared_world: World, home: str) -> None:
    """Without a terminal to ask on it only counts."""
    dsn = curator_of(shared_world, home)
    with Client.connect(dsn) as memory:
        memory.write("semantic", "tea", subject="Ana", predicate="prefers")
    call = ("erase", "Ana", "--reason", "asked for", "--identifier", "ana@example.org")
    counted = run(*call, "--json", dsn=dsn)
    assert (counted.exit_code, json.loads(counted.stdout)["items"]) == (2, 1)
    done = run(*call, "--yes", dsn=dsn)
    assert done.exit_code == 0
    assert "COMPLETED: items 1" in done.stdout
    assert run(*call, "--yes", "--json", dsn=dsn).exit_code != 0
