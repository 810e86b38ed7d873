"""Candidates are writes of whoever captured: once for each version, through every gate."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from conftest import World
from helpers import write
from intake.capture.conftest import capture, extract, function, said
from races import together

DEFINE = (
    "SELECT memwarden.define_extractor(%s, function => %s, layer => 'episodic', org => %s) AS v"
)
ECHO = "BEGIN RETURN NEXT jsonb_build_object('content', capture -> 'content'); END"


def requests(world: World) -> list[DictRow]:
    """Every write request there is, oldest first."""
    return world.rows(
        "SELECT * FROM memwarden_data.write_request ORDER BY submitted_at, request_id"
    )


def only(world: World, name: str, body: str = ECHO, org: str | None = None) -> str:
    """An extractor of an administrator's own, and no other; its function."""
    made = function(world, name, body)
    world.admin.execute("SELECT memwarden.enable_extractor('rules', false)")
    world.admin.execute(DEFINE, (name, made, org))
    return made


def test_a_candidate_is_a_write_of_whoever_captured(world: World) -> None:
    """With its words, resting on the capture, to the capture's scope, and its lineage is told.

    Proves: F2, F8 (originating capture)
    """
    world.scope("/org/acme/user/ana/task/trip")
    agent = world.agent(descendants=True)
    scope = "/org/acme/user/ana/task/trip"
    made = capture(agent, said("I live in Rome."), scope=scope, trace_id="t9", session_id="s3")
    (row,) = extract(agent)
    assert (row["capture_id"], row["extractor_name"], row["version"]) == (made, "rules", 1)
    assert (row["outcome"], row["candidates"], row["dropped"]) == ("COMMITTED", 1, 0)
    (request,) = requests(world)
    assert request["principal_id"] == world.value(
        "SELECT principal_id FROM memwarden_data.principal WHERE name = %s", agent.info.user
    )
    assert (request["scope_path"], request["trace_id"]) == (scope, "t9")
    (item,) = agent.execute("SELECT * FROM memwarden.get(%s)", (row["item_id"],)).fetchall()
    assert (item["subject"], item["predicate"], item["content"]) == ("Ana", "lives in", "Rome")
    # What one session says is one conversation.
    assert world.value(
        "SELECT conversation = memwarden_internal.conversation_of("
        "jsonb_build_object('session', 's3'), scope_id)"
        " FROM memwarden_data.item WHERE item_id = %s",
        row["item_id"],
    )
    (record,) = agent.execute(
        "SELECT * FROM memwarden.provenance(%s)", (row["item_id"],)
    ).fetchall()
    assert record["write_trigger"] == "extraction"
    assert record["record"]["origin"] == {
        "trigger": "extraction", "capture": str(made), "extractor": "rules", "version": 1,
        "session": "s3",
    }  # fmt: skip
    assert record["evidence"][0]["uri"] == f"capture:chat/{made}"
    (lineage,) = agent.execute(
        "SELECT * FROM memwarden.capture_of(%s)", (row["item_id"],)
    ).fetchall()
    assert (lineage["capture_id"], lineage["extractor"], lineage["text_kept"]) == (
        made,
        "rules",
        True,
    )
    assert world.agent("/org/other").execute(
        "SELECT * FROM memwarden.capture_of(%s)", (row["item_id"],)
    ).fetchall() == []  # fmt: skip


def test_a_capture_is_worth_what_its_source_is(world: World) -> None:
    """Of a registered source it is evidence from outside; of another the writer's own word.

    Proves: F2, V9 (sources)
    """
    world.ship_layers()
    world.admin.execute("SELECT memwarden.set_approval_policy('semantic', approval => 'never')")
    agent = world.agent(validated=True)
    world.admin.execute(
        "SELECT memwarden.define_source('capture:chat/*', 'human_input', issuer => %s)",
        (agent.info.user,),
    )
    capture(agent, said("I live in Rome."))
    capture(agent, said("I live in Oslo."), source="rumour")
    capture(agent, {"role": "user", "speaker": "Bo", "text": "I live in Oslo."}, source="rumour")
    rows = extract(agent)
    assert [(row["outcome"], row["reason"]) for row in rows] == [
        ("COMMITTED", None),
        ("REJECTED", "SELF_REFERENTIAL"),
        ("REJECTED", "SELF_REFERENTIAL"),
    ]


def test_nothing_extracted_passes_a_gate_that_a_write_does_not(world: World) -> None:
    """A secret that was no secret when it was captured, an unknown kind, a weak guess.

    Proves: F7, F2
    """
    agent = world.agent()
    capture(agent, said("I live at badge AB-12345"))
    world.admin.execute(
        "SELECT memwarden.define_sensitivity_rule('badge', 'pii.badge', %s, %s, action => 'block')",
        (Jsonb({"pattern": "AB-[0-9]{5}"}), Jsonb({"positive": ["AB-12345"], "negative": ["a"]})),
    )
    (row,) = extract(agent)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "SENSITIVE_CONTENT")
    assert extract(agent) == []


def test_a_preference_is_kept_with_consent_alone(world: World) -> None:
    """A candidate names its class, and classes have their own terms.

    Proves: F2, R7
    """
    agent = world.agent()
    capture(agent, said("I prefer green tea."))
    (row,) = extract(agent)
    assert (row["outcome"], row["reason"]) == ("REJECTED", "CONSENT_MISSING")


def test_each_version_reads_a_capture_once(world: World) -> None:
    """And by default that which was the newest when the capture came, never that of today.

    Proves: F2 (pinned versions on backfill), F11 (backfill on pinned versions)
    """
    agent = world.agent()
    only(world, "echo")
    first = capture(agent, "one")
    world.admin.execute(DEFINE, ("echo", "public.echo(jsonb)", None))
    second = capture(agent, "two")
    assert [(r["capture_id"], r["version"]) for r in extract(agent)] == [(first, 1), (second, 2)]
    assert extract(agent) == []
    again = extract(agent, extractor="echo", extractor_version=2)
    assert [(r["capture_id"], r["outcome"]) for r in again] == [(first, "ALREADY_COMMITTED")]
    assert extract(agent, extractor="echo", extractor_version=2) == []
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        extract(agent, extractor_version=2)


def test_source_and_time_say_which_captures(world: World) -> None:
    """And k how many at once.

    Proves: F2
    """
    agent = world.agent()
    only(world, "echo")
    days = ("2026-01-01", "2026-02-01", "2026-03-01")
    made = [capture(agent, day, captured_at=day) for day in days]
    mail = capture(agent, "mail", source="mail", captured_at="2026-02-01")
    rows = extract(agent, source="chat", since="2026-01-15", until="2026-03-01")
    assert [row["capture_id"] for row in rows] == [made[1]]
    assert [row["capture_id"] for row in extract(agent, k=1)] == [made[0]]
    assert {row["capture_id"] for row in extract(agent)} == {made[2], mail}


def test_an_extractor_that_fails_harms_no_other(world: World) -> None:
    """It is tried three times; what it returns besides candidates is dropped and counted.

    Proves: F2
    """
    agent = world.agent()
    only(
        world,
        "odd",
        """BEGIN
        IF capture ->> 'content' = 'bad' THEN RAISE 'no: %', capture; END IF;
        RETURN QUERY VALUES ('1'::jsonb), ('{}'), ('{"content": 1, "colour": 2}'),
            ('{"content": "c", "confidence": 7}'), ('{"content": "c", "layer": "attic"}'),
            ('{"content": "c", "subject": {}}'), ('{"content": "kept"}'),
            ('{"content": "weak", "confidence": 0.1}');
        END""",
    )
    bad, good = capture(agent, "bad"), capture(agent, "good")
    rows = extract(agent)
    assert [(r["capture_id"], r["fault"], r["candidates"], r["dropped"]) for r in rows] == [
        (bad, "P0001", 0, 0),
        (good, None, 1, 7),
    ]
    assert [r["capture_id"] for r in extract(agent)] == [bad]
    assert [r["capture_id"] for r in extract(agent)] == [bad]
    assert extract(agent) == []
    faults = world.rows("SELECT fault FROM memwarden_data.candidate ORDER BY ordinal")
    assert [row["fault"] for row in faults] == [
        *("NOT_AN_OBJECT", "CONTENT", "UNKNOWN_NAME", "CONFIDENCE", "UNKNOWN_LAYER", "NOT_A_TEXT"),
        *(None, "BELOW_FLOOR"),
    ]


def test_a_function_that_changed_runs_no_more(world: World) -> None:
    """A version is what it was when it was defined.

    Proves: F2 (pinned versions)
    """
    agent = world.agent()
    only(world, "echo")
    capture(agent, "one")
    world.admin.execute(
        "CREATE OR REPLACE FUNCTION public.echo(capture jsonb) RETURNS SETOF jsonb LANGUAGE sql"
        " SECURITY DEFINER SET search_path = pg_catalog AS $$SELECT '{\"content\": 1}'::jsonb$$"
    )
    (row,) = extract(agent)
    assert (row["fault"], row["request_id"]) == ("55000", None)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER FUNCTION public.echo(jsonb) SECURITY INVOKER",
        "ALTER FUNCTION public.echo(jsonb) OWNER TO postgres",
        "ALTER FUNCTION public.echo(jsonb) OWNER TO memwarden_owner",
    ],
)
def test_an_extractor_borrows_no_rights(world: World, change: str) -> None:
    """It runs with its owner's, who is nobody of importance.

    Proves: F2, Z1
    """
    agent = world.agent()
    only(world, "echo")
    capture(agent, "one")
    world.admin.execute("GRANT CREATE ON SCHEMA public TO memwarden_owner")
    world.admin.execute(change)
    assert [row["fault"] for row in extract(agent)] == ["55000"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.admin.execute(DEFINE, ("other", "public.echo(jsonb)", None))


def test_an_extractor_sees_no_memory_and_no_capture_of_others(world: World) -> None:
    """What it is shown is all that it has.

    Proves: F2, Z1
    """
    agent = world.agent()
    only(world, "spy", "BEGIN PERFORM FROM memwarden_data.capture; END")
    capture(agent, "one")
    assert [row["fault"] for row in extract(agent)] == ["42501"]


def test_several_runs_at_once_do_it_once(world: World) -> None:
    """Eight hands, forty captures: every one is read by one of them.

    Proves: F2 (exactly once)
    """
    agent = world.agent()
    only(world, "echo")
    made = {capture(agent, f"note {n}") for n in range(40)}
    hands = [world.connect(agent.info.user) for _ in range(8)]
    read: list[Any] = []
    lock = threading.Lock()

    def work(hand: Connection[DictRow]) -> None:
        while rows := extract(hand, k=3):
            with lock:
                read.extend(row["capture_id"] for row in rows)

    together([partial(work, hand) for hand in hands])
    work(agent)
    assert sorted(read) == sorted(made)
    assert world.value("SELECT count(*) FROM memwarden_data.item") == 40
    assert len(requests(world)) == 40


def test_a_run_that_dies_leaves_nothing_half_done(world: World) -> None:
    """Killed between reading and committing: another run finds it unread, and once.

    Proves: F2 (crash-safe)
    """
    agent = world.agent()
    only(world, "echo")
    capture(agent, "one")
    dying = world.connect(agent.info.user, autocommit=False)
    assert len(extract(dying)) == 1
    assert extract(agent) == []
    world.admin.execute("SELECT pg_terminate_backend(%s)", (dying.info.backend_pid,))
    while world.rows("SELECT FROM pg_stat_activity WHERE pid = %s", dying.info.backend_pid):
        pass
    assert [row["outcome"] for row in extract(agent)] == ["COMMITTED"]
    assert world.value("SELECT count(*) FROM memwarden_data.item") == 1


def test_an_extractor_of_an_organisation_goes_before_that_of_all(world: World) -> None:
    """Of the same name; another organisation keeps the shipped one.

    Proves: F2
    """
    acme, other = world.agent("/org/acme"), world.agent("/org/other")
    made = function(world, "ours", ECHO)
    world.admin.execute(DEFINE, ("rules", made, "acme"))
    for agent in (acme, other):
        capture(agent, said("I live in Rome"))
    (row,) = extract(acme)
    (item,) = acme.execute("SELECT * FROM memwarden.get(%s)", (row["item_id"],)).fetchall()
    assert item["content"] == said("I live in Rome")
    (row,) = extract(other)
    (item,) = other.execute("SELECT * FROM memwarden.get(%s)", (row["item_id"],)).fetchall()
    assert item["content"] == "Rome"


def test_a_candidate_bears_the_marks_of_its_capture(world: World) -> None:
    """What was confidential when it was said is so when it is remembered.

    Proves: F2, A3
    """
    agent = world.agent(clearance="restricted", domains=["law"])
    capture(agent, said("I live in Rome"), classification="restricted", domains=["law"])
    (row,) = extract(agent)
    (item,) = agent.execute("SELECT * FROM memwarden.get(%s)", (row["item_id"],)).fetchall()
    assert (item["classification"], item["domains"]) == ("restricted", ["law"])


def test_what_an_agent_says_of_its_origin_is_no_lineage(world: World) -> None:
    """capture_of() knows what the store did, not what a writer claims.

    Proves: F2
    """
    agent = world.agent()
    made = capture(agent, said("I live in Rome"))
    origin = {"trigger": "extraction", "capture": str(made), "extractor": "rules", "version": 1}
    row = write(agent, "episodic", "a lie", origin=origin)
    assert row["outcome"] == "COMMITTED"
    assert (
        agent.execute("SELECT * FROM memwarden.capture_of(%s)", (row["item_id"],)).fetchall() == []
    )
    for broken in ({"version": "1"}, {"trigger": "fact_discovery"}, {"capture": "x"}):
        assert write(agent, "episodic", "b", origin=origin | broken)["outcome"] == "REJECTED"


def test_statistics_tell_how_an_extractor_does(world: World) -> None:
    """By source: how many captures, candidates and what became of them.

    Proves: F2
    """
    agent = world.agent()
    only(world, "echo")
    capture(agent, "one")
    capture(agent, "one")
    extract(agent)
    curator = world.agent("/org/acme", groups=["memwarden_curator"], role="curator")
    (row,) = curator.execute("SELECT * FROM memwarden.extraction_statistics").fetchall()
    assert (row["extractor"], row["source"], row["captures"], row["candidates"]) == (
        *("echo", "chat"),
        *(2, 2),
    )
    assert world.agent("/org/other", groups=["memwarden_curator"], role="curator").execute(
        "SELECT * FROM memwarden.extraction_statistics"
    ).fetchall() == []  # fmt: skip
