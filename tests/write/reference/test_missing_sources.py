"""A source that cannot be read keeps writes waiting and says so; nothing slips by or is lost."""

from __future__ import annotations

import pytest
from psycopg.rows import DictRow

from access import call
from conftest import World
from races import overlap
from write.gates.obedient import run_retries
from write.reference.canon import (
    COLD,
    link,
    make_table,
    open_table,
    records,
    register,
    say,
    verdict,
)

RULE = records()[COLD]
WAITS = ("DEFERRED", "CANONICAL_SOURCE_MISSING")


@pytest.fixture
def rules(world: World) -> World:
    """Rules, registered, in a world of their own."""
    make_table(world, "rules", {COLD: RULE})
    register(world, "rules")
    return world


def source_status(world: World) -> tuple[str, str]:
    """State of the source: in status(), in canonical_sources."""
    return (
        world.value("SELECT state FROM memwarden.status() WHERE component ~ '^canonical source'"),
        world.value("SELECT state FROM memwarden.canonical_sources"),
    )


def outcome(world: World, answer: DictRow) -> str:
    """What has become of a request."""
    return str(
        world.value(
            "SELECT outcome FROM memwarden_data.write_request WHERE request_id = %s",
            answer["request_id"],
        )
    )


@pytest.mark.parametrize(
    ("breaking", "mending", "shown"),
    [
        (
            "ALTER TABLE worlds.rules RENAME body TO words",
            "ALTER TABLE worlds.rules RENAME words TO body",
            "missing",
        ),
        (
            "REVOKE SELECT ON worlds.rules FROM memwarden_owner",
            "GRANT SELECT ON worlds.rules TO memwarden_owner",
            "unreadable",
        ),
        (
            "REVOKE USAGE ON SCHEMA worlds FROM memwarden_owner",
            "GRANT USAGE ON SCHEMA worlds TO memwarden_owner",
            "unreadable",
        ),
        (
            "ALTER TABLE worlds.rules ENABLE ROW LEVEL SECURITY",
            "ALTER TABLE worlds.rules DISABLE ROW LEVEL SECURITY",
            "unreadable",
        ),
    ],
)
def test_writes_wait_until_the_source_is_back(
    rules: World, breaking: str, mending: str, shown: str
) -> None:
    """Then what is a copy is refused and the rest commits; no write ends with an exception.

    Proves: N6
    """
    agent = rules.agent()
    rules.admin.execute(breaking)
    rules.admin.execute("SELECT memwarden.setup()")
    assert source_status(rules) == ("missing", shown)
    copy, other = say(agent, RULE), say(agent, "pump 2 started early")
    assert [verdict(copy), verdict(other)] == [WAITS, WAITS]
    assert other["detail"] == {
        "canonical": [{"source": "rules", "mode": "primary", "missing": True}]
    }
    rules.admin.execute(mending)
    assert source_status(rules) == ("ok", "ok")
    run_retries(rules)
    assert [outcome(rules, copy), outcome(rules, other)] == ["REJECTED", "COMMITTED"]


@pytest.mark.every_version
def test_a_dropped_table_keeps_writes_waiting_until_somebody_decides(rules: World) -> None:
    """Dropping takes CASCADE, since references hang on it. Switched off, writes go on.

    Proves: N6
    """
    agent = rules.agent()
    rules.admin.execute("DROP TABLE worlds.rules CASCADE")
    assert source_status(rules) == ("missing", "missing")
    waiting = say(agent, "pump 2 started early")
    assert verdict(waiting) == WAITS
    rules.connect(rules.role("memwarden_admin")).execute(
        "SELECT memwarden.change_canonical_source('rules', enabled => false)"
    )
    assert source_status(rules) == ("warning", "missing")
    run_retries(rules)
    assert outcome(rules, waiting) == "COMMITTED"
    rules.admin.execute("SELECT memwarden.setup()")
    call(rules.admin, "drop_canonical_source", name="rules")


def test_a_backstop_waits_for_nothing(rules: World) -> None:
    """That the source could not be asked is noted.

    Proves: N6
    """
    role = rules.register()
    call(rules.admin, "set_leak_defence", agent=role, mode="backstop")
    rules.admin.execute("DROP TABLE worlds.rules CASCADE")
    answer = say(rules.connect(role), RULE)
    assert verdict(answer) == ("COMMITTED", None)
    assert answer["detail"]["canonical"][0]["missing"] is True


def test_a_table_made_anew_is_registered_again_and_references_find_their_rows(
    rules: World,
) -> None:
    """By key; of another type where it must be. A key that is gone stays gone.

    Proves: N6
    """
    agent = rules.agent()
    item = say(agent, "pump 2 started early")["item_id"]
    rules.admin.execute("INSERT INTO worlds.rules VALUES ('7', 'a rule of six or seven words')")
    open_table(rules, agent.info.user)
    for key in (COLD, "7"):
        link(agent, item, key)
    rules.admin.execute("DROP TABLE worlds.rules CASCADE")
    lost = call(agent, "references_of", item_id=item)
    assert [(row["key"], row["is_current"], row["text"]) for row in lost] == [
        ("7", None, None),
        (COLD, None, None),
    ]
    rules.admin.execute(
        "CREATE TABLE worlds.rules (id bigint PRIMARY KEY, body text, version integer DEFAULT 1);"
        "GRANT SELECT, REFERENCES ON worlds.rules TO memwarden_owner;"
        "INSERT INTO worlds.rules VALUES (7, 'the seventh')"
    )
    register(rules, "rules")
    open_table(rules, agent.info.user)
    found = call(agent, "references_of", item_id=item)
    assert [(row["key"], row["is_current"], row["text"]) for row in found] == [
        ("7", True, "the seventh"),
        (COLD, False, None),
    ]
    assert source_status(rules) == ("warning", "not indexed")


def test_a_column_that_is_renamed_is_registered_again(rules: World) -> None:
    """References stay as they are, also where their key has changed since.

    Proves: N6
    """
    agent = rules.agent()
    item = say(agent, "pump 2 started early")["item_id"]
    open_table(rules, agent.info.user)
    link(agent, item, COLD)
    rules.admin.execute(
        "UPDATE worlds.rules SET id = 'cold'; ALTER TABLE worlds.rules RENAME body TO words"
    )
    register(rules, "rules", text_column="words")
    (found,) = call(agent, "references_of", item_id=item)
    assert (found["key"], found["is_current"], found["text"]) == (COLD, True, RULE)
    assert verdict(say(agent, RULE)) == ("REJECTED", "CANONICAL_COPY")
    rules.admin.execute("ALTER TABLE worlds.rules DROP COLUMN version CASCADE")
    register(rules, "rules", text_column="words", version_column=None)
    (found,) = call(agent, "references_of", item_id=item)
    assert (found["is_current"], found["current_version"]) == (True, None)
    seen = agent.execute("SELECT key, is_current FROM memwarden.reference_rules").fetchall()
    assert seen == [{"key": COLD, "is_current": True}]


def test_a_table_that_is_renamed_or_moved_stays_the_source(rules: World) -> None:
    """And another that takes its name does not become it.

    Proves: N6
    """
    agent = rules.agent()
    rules.admin.execute(
        "ALTER TABLE worlds.rules RENAME TO laws; ALTER TABLE worlds.laws SET SCHEMA public;"
        "CREATE TABLE worlds.rules (id text PRIMARY KEY, body text);"
        "INSERT INTO worlds.rules VALUES ('x', 'a rule of six or seven words');"
        "GRANT SELECT ON worlds.rules TO memwarden_owner"
    )
    assert verdict(say(agent, RULE)) == ("REJECTED", "CANONICAL_COPY")
    assert verdict(say(agent, "a rule of six or seven words"))[0] == "COMMITTED"
    assert rules.value("SELECT relation FROM memwarden.canonical_sources") == "public.laws"
    rules.admin.execute("SELECT memwarden.setup()")


def test_a_migration_that_locks_the_table_holds_writers_for_a_second(rules: World) -> None:
    """The write waits no longer than that, gives its scope free, and is retried.

    Proves: N6
    """
    agent, migration = rules.agent(), rules.connect()
    with migration.transaction():
        migration.execute("LOCK TABLE worlds.rules IN ACCESS EXCLUSIVE MODE")
        answer = say(agent, "pump 2 started early")
    assert verdict(answer) == WAITS
    run_retries(rules)
    assert outcome(rules, answer) == "COMMITTED"


def test_a_row_that_is_committed_while_a_write_waits_for_its_scope_counts(rules: World) -> None:
    """The comparison sees what is committed when it is made, and nothing that is not.

    Proves: N6
    """
    first, second = rules.agent(), rules.agent()
    editor = rules.connect()
    late = "Every lamp in the yard is tested on the first Monday of a month."
    with editor.transaction():
        editor.execute("INSERT INTO worlds.rules VALUES ('lamp', %s)", (late,))
        assert verdict(say(first, late))[0] == "COMMITTED"
    assert verdict(say(second, late)) == ("REJECTED", "CANONICAL_COPY")
    later = "A ladder is inspected by two persons before anybody climbs it."
    answer = overlap(
        rules.admin,
        first,
        lambda: say(first, "pump 2 started early"),
        second,
        lambda: say(second, later),
        meanwhile=lambda: editor.execute("INSERT INTO worlds.rules VALUES ('l', %s)", (later,)),
    )
    assert verdict(answer) == ("REJECTED", "CANONICAL_COPY")


def test_the_index_is_used_and_the_table_is_not_read_through(rules: World) -> None:
    """Also where the planner would rather read a small table whole."""
    agent = rules.agent()
    counts = (
        "SELECT t.seq_scan, i.idx_scan FROM pg_stat_user_tables AS t"
        "  JOIN pg_stat_user_indexes AS i USING (relid)"
        " WHERE t.relid = 'worlds.rules'::regclass AND i.indexrelname ~ '_body_'"
    )
    rules.admin.execute("SELECT pg_stat_force_next_flush()")
    (before,) = rules.rows(counts)
    assert verdict(say(agent, "The new rule: " + RULE)) == ("REJECTED", "CANONICAL_COPY")
    agent.execute("SELECT pg_stat_force_next_flush()")
    (after,) = rules.rows(counts)
    assert after["seq_scan"] == before["seq_scan"]
    assert after["idx_scan"] > before["idx_scan"]
