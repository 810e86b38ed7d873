"""Memories refer to canonical rows by key and version, and what stands there is read there."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, join, state
from conftest import World
from helpers import write
from races import overlap
from write.reference.canon import COLD, link, open_table, records, say

Agent = Connection[DictRow]
RULE = records()[COLD]


@pytest.fixture
def rule(ruled: World, home: str) -> str:
    """The key of a rule that no other test uses."""
    key = home.split("/")[2]
    ruled.admin.execute("INSERT INTO worlds.rules VALUES (%s, %s)", (key, f"about {key}"))
    return key


@pytest.fixture
def agent(ruled: World, home: str) -> Agent:
    """An agent whose login reads the rules."""
    made = ruled.agent(home)
    open_table(ruled, made.info.user)
    return made


def note(agent: Agent, **arguments: Any) -> UUID:
    """Write something; return its item."""
    item = say(agent, "pump 2 started early", **arguments)["item_id"]
    assert isinstance(item, UUID)
    return item


def resolved(agent: Agent, item: UUID) -> list[tuple[Any, ...]]:
    """Key, pin, present version, is it current, text; the function and the view agree."""
    names = ("key", "pinned_version", "current_version", "is_current", "text")
    told = [tuple(row[n] for n in names) for row in call(agent, "references_of", item_id=item)]
    seen = agent.execute(
        f"SELECT {', '.join(names)} FROM memwarden.reference_rules WHERE item_id = %s ORDER BY key",
        (item,),
    ).fetchall()
    assert [tuple(row.values()) for row in seen] == told
    return told


def test_a_reference_pins_the_version_and_reads_the_text_where_it_lives(
    ruled: World, agent: Agent, rule: str
) -> None:
    """What the row says now, and whether it is what the memory spoke of.

    Proves: N6
    """
    item = note(agent)
    link(agent, item, rule)
    assert resolved(agent, item) == [(rule, "1", "1", True, f"about {rule}")]
    ruled.admin.execute("UPDATE worlds.rules SET body = 'anew', version = 2 WHERE id = %s", (rule,))
    assert resolved(agent, item) == [(rule, "1", "2", False, "anew")]
    link(agent, item, rule)
    assert resolved(agent, item) == [(rule, "2", "2", True, "anew")]
    link(agent, item, rule, pinned_version="1")
    assert resolved(agent, item) == [(rule, "1", "2", False, "anew")]


def test_memory_neither_stops_nor_suffers_the_deletion_of_a_row(
    ruled: World, agent: Agent, rule: str
) -> None:
    """Whoever may delete it does; the memory stays and knows what it spoke of, and that it is gone.

    Proves: N6
    """
    item = note(agent)
    link(agent, item, rule)
    editor = ruled.role()
    open_table(ruled, editor)
    ruled.admin.execute(f'GRANT DELETE ON worlds.rules TO "{editor}"')
    ruled.connect(editor).execute("DELETE FROM worlds.rules WHERE id = %s", (rule,))
    assert resolved(agent, item) == [(rule, "1", None, False, None)]
    assert len(agent.execute("SELECT * FROM memwarden.get(%s)", (item,)).fetchall()) == 1
    # Another row under the same key is not what it spoke of, until somebody says so.
    ruled.admin.execute("INSERT INTO worlds.rules VALUES (%s, 'another')", (rule,))
    assert resolved(agent, item) == [(rule, "1", None, False, None)]
    link(agent, item, rule)
    assert resolved(agent, item) == [(rule, "1", "1", True, "another")]


def test_a_key_that_changes_is_followed(ruled: World, agent: Agent, rule: str) -> None:
    """The foreign key follows; the key as it was linked stays on record."""
    item = note(agent)
    link(agent, item, rule)
    ruled.admin.execute("UPDATE worlds.rules SET id = id || '-b' WHERE id = %s", (rule,))
    assert resolved(agent, item) == [(rule, "1", "1", True, f"about {rule}")]


def test_the_foreign_keys_are_real(ruled: World, agent: Agent, rule: str) -> None:
    """One to the canonical row, one to the item; both indexed.

    Proves: N6
    """
    keys = ruled.rows(
        "SELECT k.confrelid::regclass::text AS target, k.confdeltype, k.confupdtype, k.convalidated"
        "  FROM pg_constraint AS k JOIN memwarden_data.canonical_source AS s"
        "    ON k.conrelid = to_regclass('memwarden_data.reference_' || s.source_id)"
        " WHERE s.name = 'rules' AND k.contype = 'f' ORDER BY target"
    )
    assert [tuple(key.values()) for key in keys] == [
        ("memwarden_data.item", "a", "a", True),
        ("worlds.rules", "n", "c", True),
    ]
    item = note(agent)
    link(agent, item, rule)
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        ruled.admin.execute("DELETE FROM memwarden_data.item WHERE item_id = %s", (item,))


def test_text_is_read_with_the_rights_of_the_reader(ruled: World, home: str, rule: str) -> None:
    """Who may not read the table sees the reference and nothing behind it.

    Proves: N6
    """
    writer, reader = ruled.agent(home), ruled.agent(home)
    item = note(writer)
    assert state(writer, "link_reference", item_id=item, source="rules", key=rule) == "42704"
    open_table(ruled, writer.info.user)
    link(writer, item, rule)
    (told,) = call(reader, "references_of", item_id=item)
    assert (told["key"], told["pinned_version"]) == (rule, "1")
    assert (told["text"], told["current_version"], told["is_current"]) == (None, None, None)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        reader.execute("SELECT * FROM memwarden.reference_rules")
    # One column is not the whole.
    ruled.admin.execute(f'GRANT SELECT (id) ON worlds.rules TO "{reader.info.user}"')
    ruled.admin.execute(f'GRANT USAGE ON SCHEMA worlds TO "{reader.info.user}"')
    (told,) = call(reader, "references_of", item_id=item)
    assert told["text"] is None
    open_table(ruled, reader.info.user)
    assert resolved(reader, item) == [(rule, "1", "1", True, f"about {rule}")]


def test_row_security_that_binds_the_reader_binds_here(
    ruled: World, agent: Agent, rule: str
) -> None:
    """A view of the caller's is a view of the caller's: policies of the table decide.

    Proves: N6
    """
    item = note(agent)
    link(agent, item, rule)
    try:
        ruled.admin.execute("ALTER TABLE worlds.rules ENABLE ROW LEVEL SECURITY")
        assert resolved(agent, item) == [(rule, "1", None, False, None)]
        ruled.admin.execute(f"CREATE POLICY one ON worlds.rules USING (id = '{rule}')")
        assert resolved(agent, item) == [(rule, "1", "1", True, f"about {rule}")]
    finally:
        ruled.admin.execute("DROP POLICY IF EXISTS one ON worlds.rules")
        ruled.admin.execute("ALTER TABLE worlds.rules DISABLE ROW LEVEL SECURITY")


def test_a_key_that_is_not_there_and_one_that_is_not_to_be_read_answer_alike(
    ruled: World, home: str, rule: str
) -> None:
    """And so do a source that is not there and an item that is hidden.

    Proves: N6
    """
    blind = ruled.agent(home)
    item = note(blind)
    asked = [
        {"item_id": item, "source": "rules", "key": rule},
        {"item_id": item, "source": "rules", "key": "nothing"},
    ]
    raised = []
    for arguments in asked:
        with pytest.raises(psycopg.Error) as error:
            call(blind, "link_reference", **arguments)
        raised.append((error.value.sqlstate, str(error.value)))
    assert raised[0] == raised[1]
    assert raised[0][0] == "42704"
    open_table(ruled, blind.info.user)
    for changed in ({"source": "none"}, {"item_id": uuid4()}, {"key": None}, {"source": None}):
        assert state(blind, "link_reference", **(asked[0] | changed)) == "42704"
    assert state(blind, "link_reference", **asked[0], pinned_version="") == "22023"
    link(blind, item, rule)


def test_who_may_not_change_a_memory_does_not_link_it(ruled: World, home: str, rule: str) -> None:
    """Reading it is not enough, and where it is not seen it does not exist.

    Proves: N6
    """
    organisation = home.partition("/user")[0]
    owner = ruled.agent(organisation)
    item = note(owner)
    below, stranger = ruled.agent(home), ruled.agent()
    open_table(ruled, below.info.user, stranger.info.user)
    asked = {"item_id": item, "source": "rules", "key": rule}
    assert state(below, "link_reference", **asked) == "42501"
    assert state(stranger, "link_reference", **asked) == "42704"
    unknown = ruled.connect(ruled.role("memwarden_agent"))
    open_table(ruled, unknown.info.user)
    assert state(unknown, "link_reference", **asked) == "28000"
    assert state(unknown, "references_of", item_id=item) == "28000"


def test_references_are_seen_where_their_memory_is(ruled: World, home: str, rule: str) -> None:
    """Not from another organisation, a scope beside it, or below its classification.

    Nor in the table itself, where a DBA has granted it.

    Proves: N6, A3 (of references)
    """
    secret = join(ruled, home, clearance="restricted")
    open_table(ruled, secret.info.user)
    item = note(secret, classification="restricted")
    link(secret, item, rule)
    beside = home.replace("/ana", "/bo")
    others = [ruled.agent(home), ruled.agent(beside), ruled.agent("/org/elsewhere/user/x")]
    nobody = ruled.connect(ruled.role("memwarden_agent"))
    roles = [made.info.user for made in (*others, nobody)]
    open_table(ruled, *roles)
    number = ruled.value(
        "SELECT source_id FROM memwarden_data.canonical_source WHERE name = 'rules'"
    )
    everywhere = (
        "SELECT item_id FROM memwarden.reference_rules",
        f"SELECT item_id FROM memwarden_data.reference_{number}",
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        others[0].execute(everywhere[1])
    ruled.grant_tables(*roles, secret.info.user)
    for query in everywhere:
        assert {row["item_id"] for row in secret.execute(query).fetchall()} == {item}
        for other in (*others, nobody):
            assert other.execute(query).fetchall() == []
    for other in others:
        assert call(other, "references_of", item_id=item) == []
        assert call(other, "canonical_links", item_id=item) == []


def test_setup_and_rebuilding_lose_nothing(ruled: World, agent: Agent, rule: str) -> None:
    """Policies, views and grants come back; the heads are made anew beneath the references.

    Proves: N6
    """
    item = note(agent)
    link(agent, item, rule)
    before = resolved(agent, item)
    ruled.admin.execute("SELECT memwarden.setup()")
    assert resolved(agent, item) == before
    ruled.admin.execute("SELECT * FROM memwarden.rebuild_heads(replace => true)")
    assert resolved(agent, item) == before
    forced = ruled.rows(
        "SELECT relname FROM pg_class WHERE relname ~ '^reference_[0-9]+$'"
        "   AND relnamespace = 'memwarden_data'::regnamespace"
        "   AND NOT (relrowsecurity AND relforcerowsecurity"
        "            AND relowner = 'memwarden_owner'::regrole)"
    )
    assert forced == []


def test_erasing_somebody_takes_the_references_along(
    ruled: World, agent: Agent, home: str, rule: str
) -> None:
    """The reference to the memory goes with it; the canonical row is not touched.

    Proves: N6
    """
    item = note(agent, subject="Petra", predicate="said")
    link(agent, item, rule)
    org = home.split("/")[2]
    ruled.admin.execute(
        "SELECT * FROM memwarden.erase_subject('Petra', 'asked for', '{petra}', %s)", (org,)
    )
    assert ruled.rows("SELECT FROM memwarden_data.item WHERE item_id = %s", item) == []
    assert ruled.rows("SELECT FROM memwarden.reference_rules WHERE item_id = %s", item) == []
    assert ruled.value("SELECT count(*) FROM worlds.rules WHERE id = %s", rule) == 1


def test_a_row_deleted_while_it_is_linked_is_not_there(
    ruled: World, agent: Agent, rule: str
) -> None:
    """Whichever comes first: no reference to nothing is left."""
    item = note(agent)
    editor = ruled.connect()

    def attempt() -> str | None:
        try:
            link(agent, item, rule)
        except psycopg.Error as error:
            return error.sqlstate
        return None

    code = overlap(
        ruled.admin,
        editor,
        lambda: editor.execute("DELETE FROM worlds.rules WHERE id = %s", (rule,)),
        agent,
        attempt,
    )
    assert code == "42704"
    assert resolved(agent, item) == []


def test_links_are_made_at_read_committed_like_writes(agent: Agent, rule: str) -> None:
    """At another isolation nobody sees what was just taken away."""
    item = note(agent)
    agent.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert state(agent, "link_reference", item_id=item, source="rules", key=rule) == "25001"
    agent.execute("ROLLBACK")


def test_many_references_of_one_memory(ruled: World, agent: Agent) -> None:
    """Of several sources, by source and key."""
    item = note(agent)
    open_table(ruled, agent.info.user, table="audit")
    for key in (COLD, "sla", "crane"):
        link(agent, item, key)
    for key in ("audit-2", "audit-1"):
        link(agent, item, key, source="audit")
    told = call(agent, "references_of", item_id=item)
    assert [(row["source"], row["key"]) for row in told] == [
        ("audit", "audit-1"),
        ("audit", "audit-2"),
        ("rules", COLD),
        ("rules", "crane"),
        ("rules", "sla"),
    ]
    assert [row["text"] for row in told] == [records()[row["key"]] for row in told]
    assert write(agent, "episodic", {"text": "another"})["outcome"] == "COMMITTED"
