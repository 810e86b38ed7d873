"""Which tables memory can refer to, and who says so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg import Connection, sql
from psycopg.rows import DictRow

from access import call, refusal, state
from conftest import World
from helpers import write
from races import together
from write.reference.canon import COLD, make_table, records, register, say

RULE = records()[COLD]


@pytest.fixture(scope="module")
def tables(shared_world: World) -> World:
    """Tables of every sort; nothing registered."""
    make_table(shared_world, "rules", {COLD: RULE})
    for statement in (
        "CREATE DOMAIN worlds.prose AS text",
        "CREATE TYPE worlds.mood AS ENUM ('good')",
        "CREATE COLLATION worlds.loose (provider = icu, locale = 'und', deterministic = false)",
        "CREATE TABLE worlds.odd (id text PRIMARY KEY, body text, part text, prose worlds.prose,"
        " mood worlds.mood UNIQUE, loose text COLLATE worlds.loose, twice text, maybe text UNIQUE,"
        " number numeric UNIQUE, secret text, later text, UNIQUE (part, body),"
        " UNIQUE (later) DEFERRABLE)",
        "CREATE UNIQUE INDEX ON worlds.odd (twice) WHERE part = 'a'",
        "GRANT SELECT (id, body, part, prose, mood, loose, twice, maybe, number, later),"
        " REFERENCES (id, part, mood, twice, number, later) ON worlds.odd TO memwarden_owner",
        "CREATE VIEW worlds.seen AS TABLE worlds.rules",
        "CREATE MATERIALIZED VIEW worlds.kept AS TABLE worlds.rules",
        "CREATE UNLOGGED TABLE worlds.fleeting (id text PRIMARY KEY, body text)",
        "CREATE TABLE worlds.guarded (id text PRIMARY KEY, body text)",
        "ALTER TABLE worlds.guarded ENABLE ROW LEVEL SECURITY",
        "GRANT SELECT, REFERENCES ON ALL TABLES IN SCHEMA worlds TO memwarden_owner",
        "REVOKE ALL ON worlds.odd FROM memwarden_owner",
        "GRANT SELECT (id, body, part, prose, mood, loose, twice, maybe, number, later),"
        " REFERENCES (id, part, mood, twice, number, later) ON worlds.odd TO memwarden_owner",
        "CREATE TABLE worlds.many (id integer PRIMARY KEY, body text)",
        "INSERT INTO worlds.many SELECT n, 'rule ' || n FROM generate_series(1, 1001) AS n",
        "GRANT SELECT, REFERENCES ON worlds.many TO memwarden_owner",
        "CREATE SCHEMA shut",
        "CREATE TABLE shut.rules (id text PRIMARY KEY, body text)",
        "GRANT SELECT, REFERENCES ON shut.rules TO memwarden_owner",
    ):
        shared_world.admin.execute(statement)
    return shared_world


@pytest.mark.parametrize(
    ("changed", "code", "detail"),
    [
        ({"name": "Rules"}, "22023", "name"),
        ({"name": 'r"; DROP TABLE x; --'}, "22023", "name"),
        ({"name": None}, "22023", "name"),
        ({"name": "r" * 42}, "22023", "name"),
        ({"kind": "table"}, "22023", "kind"),
        ({"threshold": 0.1}, "22023", "threshold"),
        ({"threshold": float("nan")}, "22023", "threshold"),
        ({"category": ""}, "22023", "category"),
        ({"org": "nobody"}, "42704", "organisation"),
        ({"relation": "worlds.seen"}, "22023", "ordinary"),
        ({"relation": "worlds.kept"}, "22023", "ordinary"),
        ({"relation": "worlds.fleeting"}, "22023", "ordinary"),
        ({"relation": "worlds.guarded"}, "22023", "row security"),
        ({"relation": "pg_catalog.pg_class"}, "22023", "not a table of yours"),
        ({"relation": "memwarden_data.layer"}, "22023", "not a table of yours"),
        ({"relation": "shut.rules"}, "42501", "GRANT USAGE ON SCHEMA shut TO memwarden_owner;"),
        ({"relation": "worlds.many"}, "22023", "CREATE INDEX ON worlds.many USING gin (body"),
        ({"key_column": "no"}, "42704", "column no of worlds.odd"),
        ({"key_column": "ctid"}, "42704", "column ctid"),
        ({"key_column": "body"}, "22023", "no key"),
        ({"key_column": "part"}, "22023", "no key"),
        ({"key_column": "twice"}, "22023", "no key"),
        ({"key_column": "later"}, "22023", "no key"),
        ({"key_column": "mood"}, "22023", "of type bigint"),
        ({"key_column": "number"}, "22023", "of type bigint"),
        ({"key_column": "maybe"}, "42501", "GRANT REFERENCES (maybe) ON worlds.odd"),
        ({"text_column": "secret"}, "42501", "GRANT SELECT (secret) ON worlds.odd"),
        ({"text_column": "prose"}, "22023", "of type text"),
        ({"text_column": "loose"}, "22023", "deterministic"),
        ({"text_column": "mood"}, "22023", "of type text"),
        ({"version_column": "mood"}, "22023", "of type bigint"),
        ({"version_column": "secret"}, "42501", "GRANT SELECT (secret)"),
    ],
)
def test_what_does_not_fit_is_said(
    tables: World, changed: dict[str, Any], code: str, detail: str
) -> None:
    """With the statement that would help, where one would; and nothing is left behind.

    Proves: N6
    """
    arguments = {"name": "odd", "relation": "worlds.odd", "key_column": "id", "text_column": "body"}
    raised = refusal(tables.admin, "register_canonical_source", **(arguments | changed))
    assert raised.sqlstate == code
    assert detail in str(raised.diag.message_detail)
    assert tables.rows("SELECT FROM memwarden_data.canonical_source") == []
    assert tables.value("SELECT to_regclass('memwarden_data.reference_1')::text") is None


def test_only_a_superuser_registers_and_drops(tables: World) -> None:
    """The engine will read that table with its own rights.

    Proves: N6
    """
    register(tables, "rules")
    for groups in (["memwarden_admin"], ["memwarden_agent"], []):
        other = tables.connect(tables.role(*groups))
        for statement in (
            "SELECT memwarden.register_canonical_source('x', 'pg_class'::regclass, 'id', 'body')",
            "SELECT memwarden.drop_canonical_source('rules')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(statement)
    # Also where a DBA has granted it on.
    admin = tables.role("memwarden_admin")
    for function in ("register_canonical_source", "drop_canonical_source"):
        tables.admin.execute(
            sql.SQL("GRANT EXECUTE ON FUNCTION memwarden.{} TO {}").format(
                sql.Identifier(function), sql.Identifier(admin)
            )
        )
    assert state(tables.connect(admin), "drop_canonical_source", name="rules") == "42501"
    call(tables.admin, "drop_canonical_source", name="rules")


def test_a_name_is_taken_once_and_sixteen_sources_are_enough(world: World) -> None:
    """Every write is compared with each of them."""
    make_table(world, "rules", {COLD: RULE})
    for n in range(16):
        register(world, f"rules{n}", relation="worlds.rules")
    taken = {"relation": "worlds.rules", "key_column": "id", "text_column": "body"}
    assert state(world.admin, "register_canonical_source", name="rules3", **taken) == "42710"
    assert state(world.admin, "register_canonical_source", name="rules16", **taken) == "22023"
    assert world.value("SELECT count(*) FROM memwarden.canonical_sources") == 16
    answer = say(world.agent(), RULE)
    assert len(answer["detail"]["canonical"]) == 16


def test_hostile_names_are_names(world: World) -> None:
    """Quotes, percent signs and format marks in every identifier and key.

    Proves: N6
    """
    name, key, text = 'Ru"les %I$1; --', "i'd %s \\", 'te"xt %L'
    make_table(world, name, {"k'\"1": RULE}, key=key, text=text)
    call(
        world.admin,
        "register_canonical_source",
        name="rules",
        relation='worlds."Ru""les %I$1; --"',
        key_column=key,
        text_column=text,
        version_column="version",
    )
    agent = world.agent()
    assert say(agent, RULE)["reason"] == "CANONICAL_COPY"
    item = say(agent, "a note on it")["item_id"]
    for statement in (
        "GRANT USAGE ON SCHEMA worlds TO PUBLIC",
        'GRANT SELECT ON worlds."Ru""les %I$1; --" TO PUBLIC',
    ):
        world.admin.execute(statement)
    call(agent, "link_reference", item_id=item, source="rules", key="k'\"1")
    (found,) = call(agent, "references_of", item_id=item)
    assert (found["key"], found["is_current"], found["text"]) == ("k'\"1", True, RULE)
    world.admin.execute("SELECT memwarden.setup()")
    assert agent.execute("SELECT text FROM memwarden.reference_rules").fetchall() == [
        {"text": RULE}
    ]


@pytest.mark.parametrize("key_type", ["bigint", "integer", "smallint", "uuid", "varchar(60)"])
def test_keys_of_every_type_refer(tables: World, home: str, key_type: str) -> None:
    """The junction has the key's own type and a foreign key to it; text that is no key is unknown.

    Proves: N6
    """
    name = "keyed_" + key_type.partition("(")[0]
    key = "0190a6c2-0000-7000-8000-000000000001" if key_type == "uuid" else "7"
    tables.admin.execute(f"CREATE TABLE worlds.{name} (id {key_type} PRIMARY KEY, body text)")
    tables.admin.execute(f"INSERT INTO worlds.{name} VALUES ('{key}', %s)", (RULE,))
    tables.admin.execute(
        f"GRANT SELECT, REFERENCES ON worlds.{name} TO memwarden_owner, memwarden_agent"
    )
    tables.admin.execute("GRANT USAGE ON SCHEMA worlds TO memwarden_agent")
    register(tables, name, version_column=None)
    agent = tables.agent(home)
    assert say(agent, RULE)["reason"] == "CANONICAL_COPY"
    item = say(agent, "a note on it")["item_id"]
    call(agent, "link_reference", item_id=item, source=name, key=key)
    (found,) = call(agent, "references_of", item_id=item)
    assert found == {
        "source": name,
        "key": key,
        "pinned_version": None,
        "current_version": None,
        "is_current": True,
        "text": RULE,
    }
    for unknown in ("seven", "9" * 30, "'", ""):
        asked = {"item_id": item, "source": name, "key": unknown}
        assert state(agent, "link_reference", **asked) == "42704"
    pinned = {"item_id": item, "source": name, "key": key, "pinned_version": "1"}
    assert state(agent, "link_reference", **pinned) == "22023"
    call(tables.admin, "drop_canonical_source", name=name, discard_references=True)


def test_a_source_of_one_organisation_is_its_own(world: World) -> None:
    """Others neither compare with it nor refer to it.

    Proves: N6
    """
    mine, other = world.agent("/org/acme/user/ana"), world.agent("/org/beta/user/bo")
    make_table(world, "rules", {COLD: RULE})
    world.admin.execute("GRANT USAGE ON SCHEMA worlds TO memwarden_agent")
    world.admin.execute("GRANT SELECT ON worlds.rules TO memwarden_agent")
    register(world, "rules", org="acme")
    assert say(mine, RULE)["reason"] == "CANONICAL_COPY"
    item = say(other, RULE)["item_id"]
    assert item is not None
    asked = {"item_id": item, "source": "rules", "key": COLD}
    assert state(other, "link_reference", **asked) == "42704"
    for agent, count in ((mine, 1), (other, 0)):
        assert len(agent.execute("SELECT FROM memwarden.canonical_sources").fetchall()) == count


def test_a_partitioned_table_is_a_home_too(tables: World, home: str) -> None:
    """Its key leads to rows of every partition."""
    tables.admin.execute(
        "CREATE TABLE worlds.parted (id integer PRIMARY KEY, body text) PARTITION BY RANGE (id);"
        "CREATE TABLE worlds.parted_1 PARTITION OF worlds.parted FOR VALUES FROM (0) TO (10);"
        "CREATE TABLE worlds.parted_2 PARTITION OF worlds.parted FOR VALUES FROM (10) TO (20);"
        "CREATE INDEX ON worlds.parted USING gin (body gin_trgm_ops);"
        "GRANT SELECT, REFERENCES ON worlds.parted TO memwarden_owner"
    )
    tables.admin.execute("INSERT INTO worlds.parted VALUES (12, %s)", (RULE,))
    register(tables, "parted", version_column=None)
    assert say(tables.agent(home), RULE)["reason"] == "CANONICAL_COPY"
    tables.admin.execute("DROP TABLE worlds.parted CASCADE")
    call(tables.admin, "drop_canonical_source", name="parted")


def test_dropping_a_source_asks_before_references_are_lost(world: World) -> None:
    """Afterwards nothing of it is left, and the table is as it was."""
    make_table(world, "rules", {COLD: RULE})
    register(world, "rules")
    world.admin.execute("GRANT USAGE ON SCHEMA worlds TO memwarden_agent")
    world.admin.execute("GRANT SELECT ON worlds.rules TO memwarden_agent")
    role = world.register()
    agent = world.connect(role)
    call(world.admin, "set_leak_defence", agent=role, mode="off", source="rules")
    item = say(agent, RULE)["item_id"]
    call(agent, "link_reference", item_id=item, source="rules", key=COLD)
    assert state(world.admin, "drop_canonical_source", name="rules") == "22023"
    assert state(world.admin, "drop_canonical_source", name="none") == "42704"
    call(world.admin, "drop_canonical_source", name="rules", discard_references=True)
    assert world.value("SELECT count(*) FROM worlds.rules") == 1
    left = (
        "SELECT FROM pg_class WHERE relname ~ '^reference_'"
        " UNION ALL SELECT FROM memwarden_data.leak_defence"
        " UNION ALL SELECT FROM memwarden_data.canonical_source"
    )
    assert world.rows(left) == []
    assert call(agent, "references_of", item_id=item) == []
    register(world, "rules")
    assert write(agent, "semantic", {"text": RULE})["reason"] == "CANONICAL_COPY"


def test_two_at_once_register_one_source(world: World) -> None:
    """The second meets the first's name, and a write in between is compared or not, never lost."""
    make_table(world, "rules", {COLD: RULE})
    agent = world.agent()
    sessions = [world.connect(), world.connect()]
    source = "SELECT memwarden.register_canonical_source('rules', 'worlds.rules', 'id', 'body')"

    def attempt(session: Connection[DictRow]) -> str | None:
        try:
            session.execute(source)
        except psycopg.Error as error:
            return error.sqlstate
        return None

    def writing() -> str | None:
        return None if say(agent, RULE)["reason"] in (None, "CANONICAL_COPY") else "lost"

    actions: list[Callable[[], str | None]] = [
        *(partial(attempt, session) for session in sessions),
        writing,
    ]
    assert sorted(map(str, together(actions))) == ["42710", "None", "None"]
    assert world.value("SELECT count(*) FROM memwarden.canonical_sources") == 1


def test_who_changed_what_is_on_record(world: World) -> None:
    """Registering, changing, calibrating and dropping are changes of access.

    Proves: N6
    """
    make_table(world, "rules", {COLD: RULE})
    register(world, "rules")
    world.connect(world.role("memwarden_admin")).execute(
        "SELECT memwarden.change_canonical_source('rules', enabled => false, threshold => 0.7)"
    )
    role = world.register()
    call(world.admin, "set_leak_defence", agent=role, mode="backstop")
    call(world.admin, "drop_canonical_source", name="rules")
    actions = world.rows("SELECT action FROM memwarden_data.access_log ORDER BY changed_at")
    named = [row["action"] for row in actions]
    assert [n for n in named if "canonical" in n or "leak" in n] == [
        "register_canonical_source",
        "change_canonical_source",
        "set_leak_defence",
        "drop_canonical_source",
    ]
