"""One entry, proved to somebody who has nothing but an exported head and a script."""

from __future__ import annotations

import copy
import hashlib
import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import ROOT, World
from history.sealing.sealed import Agent, head_of, log_seqs, remember, seal, segments, tampering

HOME = "/org/acme/user/ana"


@pytest.fixture(scope="module")
def role(shared_world: World) -> str:
    """The login of an agent that has written eleven entries in six segments."""
    world = shared_world
    login = world.register(HOME, role="curator", groups=("memwarden_curator",))
    agent = world.connect(login)
    for size in (1, 2, 5, 1, 1):
        for n in range(size):
            item = remember(agent, f"{size} {n} {uuid.uuid4()}")["item_id"]
        seal(world)
    agent.execute("SELECT memwarden.retract(%s, 'it was “wrong”')", (item,))
    seal(world)
    assert [len(numbers) for numbers in segments(world)] == [1, 2, 5, 1, 1, 1]
    return login


@pytest.fixture
def agent(shared_world: World, role: str) -> Agent:
    """That agent."""
    return shared_world.connect(role)


def proof(agent: Connection[DictRow], item: Any, *arguments: Any) -> Any:
    """Call ``memwarden.log_proof``."""
    marks = ", %s::bigint" * len(arguments)
    row = agent.execute(
        f"SELECT memwarden.log_proof(%s{marks}) AS p", (item, *arguments)
    ).fetchone()
    assert row is not None
    return row["p"]


def check(folder: Path, proved: Any, head: Any) -> tuple[int, str]:
    """Run the script, without this project's packages; return its status and what it prints."""
    (folder / "proof.json").write_text(json.dumps(proved))
    (folder / "head.json").write_text(json.dumps(head))
    done = subprocess.run(
        [sys.executable, "-I", ROOT / "tools/check_inclusion", "proof.json", "head.json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def entries(world: World) -> list[DictRow]:
    """The log, in order."""
    return world.rows("SELECT * FROM memwarden_data.log ORDER BY log_seq")


def test_an_outsider_sees_what_was_proved(
    shared_world: World, agent: Agent, tmp_path: Path
) -> None:
    """Who, which operation, when, the hashes; and the reason, which the entry has as a hash.

    Proves: T6
    """
    last = entries(shared_world)[-1]
    status, told = check(tmp_path, proof(agent, last["item_id"]), head_of(shared_world))
    assert status == 0, told
    assert told.startswith("PROVED: in the log at segment 6, head ")
    for shown in (
        f"entry      {last['log_seq']}, in segment 6 sealed ",
        "operation  RETRACT",
        f"when       {last['recorded_at'].astimezone(UTC).isoformat(timespec='microseconds')}",
        f"by         principal {last['principal_id']} of organisation {last['org_id']}",
        f"item       {last['item_id']}",
        f"version    {last['version_id']}",
        f"SHA-256 {last['snapshot_hash'].hex()}",
        f"SHA-256 {hashlib.sha256(last['reason'].encode()).hexdigest()}",
        "it was \\u201cwrong\\u201d",
    ):
        assert shown in told


def test_every_entry_is_proved_against_every_head_since(
    shared_world: World, agent: Agent, role: str, tmp_path: Path
) -> None:
    """And against no other.

    Proves: T6
    """
    assert role
    heads = {
        n: shared_world.value("SELECT memwarden_internal.signed_head(%s)", n) for n in range(1, 7)
    }
    place = {number: n for n, seqs in enumerate(segments(shared_world), 1) for number in seqs}
    module = load_checker()
    for entry in entries(shared_world):
        number = place[entry["log_seq"]]
        for n, head in heads.items():
            arguments = (entry["item_id"], entry["log_seq"], n)
            if n < number:
                with pytest.raises(psycopg.errors.InvalidParameterValue):
                    proof(agent, *arguments)
                continue
            made = proof(agent, *arguments)
            proved, _ = module.check(made, head)
            assert proved["log_seq"] == entry["log_seq"]
            assert made["head"] == head
            for m in heads.keys() - {n}:
                with pytest.raises(module.DoesNotFit):
                    module.check(made, heads[m])
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        proof(agent, entry["item_id"], None, 7)
    made = proof(agent, entry["item_id"], None, 6)
    assert check(tmp_path, made, heads[6])[0] == 0
    status, told = check(tmp_path, made, heads[5])
    assert status == 1
    assert "ask for log_proof(..., segment => 5)" in told


def load_checker() -> Any:
    """The script as a module."""
    loader = SourceFileLoader("check_inclusion", str(ROOT / "tools/check_inclusion"))
    spec = spec_from_loader("check_inclusion", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def manipulations(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of a proof where something can be changed."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from manipulations(inner, (*where, name))
    elif isinstance(value, list):
        yield where
        for n, inner in enumerate(value):
            yield from manipulations(inner, (*where, n))
    else:
        yield where


def changed(value: Any) -> Any:
    """Something else of the same kind."""
    if isinstance(value, str):
        flipped = {"0": "1", "1": "0", "a": "b"}
        return flipped.get(value[:1], "a") + value[1:]
    if isinstance(value, list):
        return value[1:] or ["00" * 32]
    return value + 1


IGNORED = {"head", "told"}
"""What a proof carries for its reader's convenience: the head is the one that was exported."""


def test_no_part_of_a_proof_can_be_changed(shared_world: World, agent: Agent, role: str) -> None:
    """Each hash, number and text; each byte of the entry and of the record.

    Proves: T6
    """
    assert role
    module = load_checker()
    head = head_of(shared_world)
    item, log_seq = next((e["item_id"], e["log_seq"]) for e in entries(shared_world)[4:])
    good = proof(agent, item, log_seq)
    module.check(good, head)
    places = [where for where in manipulations(good) if where[0] not in IGNORED]
    assert len(places) > 10
    for where in places:
        bad = copy.deepcopy(good)
        *way, last = where
        part = bad
        for step in way:
            part = part[step]
        part[last] = changed(part[last])
        with pytest.raises((module.DoesNotFit, ValueError)):
            module.check(bad, head)
    for name in ("entry", "record"):
        text = good[name]
        for n, character in enumerate(text):
            bad = good | {name: f"{text[:n]}{chr(ord(character) ^ 1)}{text[n + 1 :]}"}
            with pytest.raises((module.DoesNotFit, ValueError, LookupError)):
                module.check(bad, head)
    bad = copy.deepcopy(good)
    bad["told"]["reason"] = "another"
    with pytest.raises(module.DoesNotFit, match="reason"):
        module.check(bad, head)
    for name in ("segment", "head"):
        with pytest.raises(module.DoesNotFit):
            module.check(good, head | {name: changed(head[name])})


@pytest.mark.parametrize(
    ("proved", "head"),
    [([], {}), ({}, {}), ({"entry": "{}"}, {}), (None, None), ({"entry": 1, "record": "x"}, [])],
)
def test_what_is_no_proof_proves_nothing(tmp_path: Path, proved: Any, head: Any) -> None:
    """One line says so, and no traceback."""
    status, told = check(tmp_path, proved, head)
    assert status == 1
    assert told.startswith("NOT PROVED: ")
    assert told.count("\n") == 1


def test_a_manipulated_proof_is_refused_by_the_script(
    shared_world: World, agent: Agent, role: str, tmp_path: Path
) -> None:
    """Of a changed log: what it says now is not what was sealed.

    Proves: T6
    """
    assert role
    head = head_of(shared_world)
    entry = entries(shared_world)[3]
    with tampering(shared_world):
        shared_world.admin.execute(
            "UPDATE memwarden_data.log SET principal_id = 0 WHERE log_seq = %s", (entry["log_seq"],)
        )
        sealed = shared_world.value(
            "SELECT e.entry FROM memwarden_internal.sealed_entry(%s, %s, %s) AS e",
            entry["org_id"],
            entry["item_id"],
            entry["log_seq"],
        )
    good = proof(agent, entry["item_id"], entry["log_seq"])
    assert check(tmp_path, good, head)[0] == 0
    status, told = check(tmp_path, good | {"entry": json.dumps(sealed)}, head)
    assert status == 1
    assert told.startswith("NOT PROVED: the entry is not in the segment")
    missing = subprocess.run(
        [sys.executable, "-I", ROOT / "tools/check_inclusion", "nowhere", "nowhere"],
        stdout=subprocess.PIPE,
        check=False,
    )
    assert missing.returncode == 1


def test_entries_of_what_one_does_not_see_are_not_proved(
    shared_world: World, agent: Agent, role: str
) -> None:
    """42704, as for what there is not; with and without its number.

    Proves: A3 (proofs of the log)
    """
    assert role
    bob = shared_world.agent("/org/acme/user/bob")
    other = shared_world.agent("/org/other/user/eve")
    item = remember(bob, "private")["item_id"]
    seal(shared_world)
    number = log_seqs(shared_world)[-1]
    assert json.loads(proof(bob, item)["entry"])["log_seq"] == number
    mine = entries(shared_world)[0]
    for stranger, hidden, seq in (
        (agent, item, number),
        (other, item, number),
        (other, mine["item_id"], mine["log_seq"]),
        (bob, mine["item_id"], mine["log_seq"]),
    ):
        refused = set()
        for arguments in ((hidden,), (hidden, seq), (uuid.uuid4(),), (uuid.uuid4(), seq)):
            with pytest.raises(psycopg.errors.UndefinedObject) as caught:
                proof(stranger, *arguments)
            diag = caught.value.diag
            refused.add(str(diag.message_detail).replace(str(arguments[0]), "?"))
        assert refused == {"item ?"}
    with pytest.raises(psycopg.errors.UndefinedObject):
        proof(bob, item, mine["log_seq"])


def test_what_is_not_sealed_yet_is_said_so(shared_world: World, agent: Agent, role: str) -> None:
    """55000; meanwhile the latest entry of the item that is sealed is proved."""
    assert role
    prefers = {"layer": "semantic", "subject": "Ana", "predicate": "prefers"}
    item = remember(agent, "tea", **prefers)["item_id"]
    first = log_seqs(shared_world)[-1]
    for arguments in ((item,), (item, first)):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="not sealed"):
            proof(agent, *arguments)
    seal(shared_world)
    remember(agent, "coffee", **prefers)
    second = log_seqs(shared_world)[-1]
    assert json.loads(proof(agent, item)["entry"])["log_seq"] == first
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        proof(agent, item, second)


def test_heads_and_proofs_are_for_those_with_an_identity(shared_world: World, role: str) -> None:
    """28000; an administrator of the database needs none for a head."""
    assert role
    head = Jsonb(head_of(shared_world))
    nobody = shared_world.connect(shared_world.role("memwarden_agent"))
    for query, arguments in (
        ("SELECT memwarden.log_head()", ()),
        ("SELECT memwarden.verify_head(%s)", (head,)),
        ("SELECT memwarden.log_proof(gen_random_uuid())", ()),
    ):
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
            nobody.execute(query, arguments)
    admin = shared_world.connect(shared_world.role("memwarden_admin"))
    answer = admin.execute("SELECT memwarden.verify_head(memwarden.log_head()) AS v").fetchone()
    assert answer == {"v": "GENUINE"}
    assert admin.execute("SELECT * FROM memwarden.verify_log()").fetchall() == []
    agent = shared_world.connect(role)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT * FROM memwarden.verify_log()")


def test_there_is_no_head_before_anything_is_sealed(world: World) -> None:
    """NULL, and nothing to find fault with."""
    assert head_of(world) is None
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []
    agent = world.agent()
    remember(agent, "not sealed")
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []
    assert world.rows("SELECT * FROM memwarden.verify_log(1)") == []
