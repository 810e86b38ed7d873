"""The install script of each earlier release, used as its users used it, then updated."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from catalog_snapshot import catalog_snapshot, differences, lasting
from conftest import World, deploy_server
from databases import empty_database, install
from helpers import lower_thresholds, recall, write
from make_release import HOMES, login_roles, remembered, seed
from replay import check_store
from server_checkout import REPOSITORY

pytestmark = pytest.mark.every_version

KEPT = sorted((REPOSITORY / "migrations/released").glob("memwarden--*.sql.xz"))
QUESTIONS = ["walk", "where does Ana live", "Rome Tiber office", "six", None]
# Views whose functions give something else today.
EMPTIED = ["items", "sessions"]
TOLD = ["memories", "versions", "requests", "recalls", "history", "verify_log", "verify_provenance"]
CONSENT = """
SELECT memwarden.record_consent(%s, 'personalisation', %s, org => o.name)
  FROM memwarden_data.organisation AS o WHERE o.org_id > 0"""
OLD_CONSENTS = [("Ana  Silva", "withdrawn"), ("Ana Silva", "granted"), ("Bo <U0A1>", "granted")]
OLD_PREDICATES = """
SELECT memwarden.define_predicate('heißt:', 'accumulate', disjoint => '{größer als}');
SELECT memwarden.define_predicate('heisst', 'new_version');
SELECT memwarden.define_relation_type('größer als', acyclic => true);
SELECT memwarden.define_integrity_rule('cups', 'memory.content <> 5', predicate => 'größer als.')"""
CAFE = "The café of Zürich is closed, see JIRA-4712."
HINT = "A superuser runs: SELECT memwarden.setup();"
# No storage is asked for these; the last two answer NULL with NULL.
PURE = {"estimate_tokens", "lexical_embedding", "reasons", "render_context", "status"} | {
    "canonical_json",
    "content_hash",
}
DOORS = (
    "write('episodic', '{}')",
    "write_many('[]')",
    "retract(gen_random_uuid(), 'x')",
    "recall('walk')",
    "whoami()",
    "capture('chat', '{}')",
    "get(gen_random_uuid())",
    "history(gen_random_uuid())",
    "requests",
    "recalls",
)


def told(world: World) -> dict[str, Any]:
    """What the store says: memories and history, the order of recall, the log, the provenance."""
    orders = {
        f"{role} asks: {question}": [
            str(row["item_id"])
            for row in recall(world.connect(role), query=question, k=100, threshold=0)
        ]
        for role in HOMES
        for question in QUESTIONS
    }
    history = {
        role: world.connect(role)
        .execute(
            "SELECT i.item_id, to_jsonb(h) AS version FROM memwarden.items AS i"
            " CROSS JOIN LATERAL memwarden.history(i.item_id) AS h ORDER BY i.item_id, h.version"
        )
        .fetchall()
        for role in HOMES
    }
    faults = {
        check: {"faults": world.rows(f"SELECT * FROM memwarden.{check}()")}
        for check in ("verify_log", "verify_provenance")
    }
    return remembered(world) | {"recalls": orders, "history": history} | faults


def answer(connection: Connection[DictRow], call: str, what: str = "*") -> str:
    """SQLSTATE and hint of what a call raises, or `answered`."""
    try:
        connection.execute(f"SELECT {what} FROM memwarden.{call}")
    except psycopg.Error as error:
        return f"{error.sqlstate} {error.diag.message_hint}"
    return "answered"


def rights(world: World, role: str) -> dict[str, bool]:
    """What a role of the DBA's may do."""
    asked = {
        "items": f"has_table_privilege('{role}', 'memwarden.items', 'SELECT WITH GRANT OPTION')",
        "task": f"has_column_privilege('{role}', 'memwarden.sessions', 'task', 'SELECT')",
    }
    asked["whoami()"] = f"has_function_privilege('{role}', 'memwarden.whoami()', 'EXECUTE')"
    asked["retract()"] = (
        f"has_function_privilege('{role}', (SELECT p.oid FROM pg_proc AS p WHERE p.proname ="
        " 'retract' AND p.pronamespace = 'memwarden'::regnamespace), 'EXECUTE')"
    )
    columns = ", ".join(f'{right} AS "{name}"' for name, right in asked.items())
    return world.rows(f"SELECT {columns}")[0]


def answered(world: World) -> set[str]:
    """Public functions and views that answer a superuser otherwise than with what to run."""
    calls = world.rows(
        "SELECT p.proname AS name, concat("
        "       CASE p.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT FROM' END,"
        "       ' memwarden.', p.proname, '(', a.nulls, ')') AS call"
        "  FROM pg_proc AS p CROSS JOIN LATERAL ("
        "       SELECT string_agg('NULL::' || format_type(t.type, NULL), ', ') AS nulls"
        "         FROM unnest(p.proargtypes) AS t (type)) AS a"
        " WHERE p.pronamespace = 'memwarden'::regnamespace AND p.proname <> 'setup'"
        " UNION ALL SELECT c.relname, 'SELECT FROM memwarden.' || c.relname FROM pg_class AS c"
        "  WHERE c.relnamespace = 'memwarden'::regnamespace AND c.relkind = 'v'"
    )
    others = set()
    for each in calls:
        try:
            world.admin.execute(each["call"])
        except psycopg.errors.ObjectNotInPrerequisiteState as error:
            if error.diag.message_hint == HINT:
                continue
        except psycopg.Error:
            pass
        others.add(each["name"])
    return others


@dataclass
class Updated:
    """A store of an earlier release that was updated, and what was seen on the way."""

    world: World
    release: str
    dba: str
    doubled: psycopg.Error | None = None
    stopped: psycopg.Error | None = None
    stopped_at: str = ""
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    rights: list[dict[str, bool]] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    between: list[dict[str, Any]] = field(default_factory=list)
    others: set[str] = field(default_factory=set)


def as_it_was_used(world: World, release: str) -> str:
    """Install a release, fill its store, grant a role of the DBA's this and that; return it."""
    admin = world.admin
    admin.execute(f"CREATE EXTENSION memwarden VERSION '{release}' CASCADE")
    admin.execute("SELECT FROM memwarden.setup()")
    lower_thresholds(admin)
    login_roles(world)
    seed(world)
    dba = world.role("memwarden_auditor")
    for right in (
        "SELECT ON memwarden.items TO {} WITH GRANT OPTION",
        "SELECT (session_id, task) ON memwarden.sessions TO {}",
        "EXECUTE ON FUNCTION memwarden.whoami(), memwarden.retract TO {}",
    ):
        admin.execute(f"GRANT {right.format(dba)}")
    return dba


@pytest.fixture(scope="module", params=KEPT, ids=lambda path: path.name.split("--")[1][:-7])
def updated(request: pytest.FixtureRequest, shared_world: World) -> Iterator[Updated]:
    """Install, use, update, look, set up, look again."""
    file: Path = request.param
    script = Path(deploy_server("sharedir"), file.name.removesuffix(".xz"))
    script.write_bytes(lzma.decompress(file.read_bytes()))
    release = script.stem.removeprefix("memwarden--")
    try:
        with empty_database(shared_world.admin) as world:
            store = Updated(world, release, as_it_was_used(world, release))
            update(store)
            yield store
    finally:
        script.unlink()


def update(store: Updated) -> None:
    """Do what the fixture says."""
    world, ana = store.world, store.world.connect("release_ana")
    assert write(ana, "episodic", CAFE)["outcome"] == "COMMITTED"
    store.before = told(world)
    world.admin.execute(OLD_PREDICATES)
    for subject, decision in OLD_CONSENTS:
        world.admin.execute(CONSENT, (subject, decision))
    store.rights.append(rights(world, store.dba))
    own = "FUNCTION memwarden.recall(integer)"
    world.admin.execute(f"CREATE {own} RETURNS text LANGUAGE sql AS 'SELECT NULL'")
    try:
        world.admin.execute("ALTER EXTENSION memwarden UPDATE")
    except psycopg.Error as error:
        store.doubled = error
    world.admin.execute(f"DROP {own}")
    world.admin.execute("CREATE VIEW public.report AS SELECT * FROM memwarden.whoami()")
    world.admin.execute("CREATE VIEW public.reports AS TABLE public.report")
    try:
        world.admin.execute("ALTER EXTENSION memwarden UPDATE")
    except psycopg.Error as error:
        store.stopped = error
        store.stopped_at = world.value("SELECT logic.detail FROM memwarden.status() AS logic")
    world.admin.execute("DROP VIEW public.report CASCADE")

    world.admin.execute("ALTER EXTENSION memwarden UPDATE")
    store.between = world.rows("SELECT * FROM memwarden.status()")
    store.answers = {call: answer(ana, call) for call in DOORS}
    for view in EMPTIED:
        store.answers[view] = answer(ana, view)
    reader = world.connect(store.dba)
    store.answers["items to the DBA's role"] = answer(reader, "items")
    store.answers["a column to the DBA's role"] = answer(reader, "sessions", "task")
    store.rights.append(rights(world, store.dba))
    store.others = answered(world)
    world.admin.execute("SELECT FROM memwarden.setup()")
    store.rights.append(rights(world, store.dba))
    store.after = told(world)


def test_it_stops_before_what_is_not_memwardens(updated: Updated) -> None:
    """It cannot know a view of the DBA's: it names it, says what to do, and changes nothing."""
    error = updated.stopped
    assert isinstance(error, psycopg.errors.DependentObjectsStillExist)
    assert error.diag.message_detail == "view public.report"
    assert "drop it. Then update" in str(error.diag.message_hint)
    assert updated.stopped_at == updated.release


def test_it_stops_before_a_function_of_its_name(updated: Updated) -> None:
    """It names the DBA's function that has a name of memwarden's, and changes nothing."""
    error = updated.doubled
    assert isinstance(error, psycopg.errors.DuplicateFunction)
    assert error.diag.message_detail == "memwarden.recall(integer)"
    assert "another name or schema" in str(error.diag.message_hint)


def test_until_setup_every_door_says_what_to_run(updated: Updated) -> None:
    """So does every public function and view; status() knows what is missing."""
    assert set(updated.answers.values()) == {f"55000 {HINT}"}, updated.answers
    assert updated.others == PURE
    states = {row["component"]: row for row in updated.between}
    assert states["logic"]["detail"] != updated.release
    assert states["storage"]["state"] == "outdated"
    assert states["storage"]["detail"].endswith("a superuser runs: SELECT memwarden.setup();")


def test_rights_that_a_dba_gave_are_kept(updated: Updated) -> None:
    """On views and their columns, and on functions with other arguments or results today."""
    assert [set(rights.values()) for rights in updated.rights] == [{True}] * 3


@pytest.mark.parametrize("what", sorted(TOLD))
def test_the_store_tells_the_same(updated: Updated, what: str) -> None:
    """Content, history, the order of each recall, requests, and that nothing is wrong.

    Proves: T8 (upgraded store)
    """
    assert updated.before[what]
    assert updated.after[what] == updated.before[what]
    if what.startswith("verify"):
        assert updated.after[what] == {"faults": []}


def test_a_job_makes_the_words_of_today_of_earlier_memories(updated: Updated) -> None:
    """They are found as new ones are meanwhile; status() says how many wait.

    Proves: T8, L6
    """
    ana = updated.world.connect("release_ana")
    waiting = "SELECT detail FROM memwarden.status() WHERE component = 'words'"
    assert re.match(r"([1-9]\d*) of \1 memories wait", updated.world.value(waiting))
    new = "Bo asked for the cafe in Zurich, see JIRA-4711."
    assert write(ana, "episodic", new)["outcome"] == "COMMITTED"

    def first(query: str, k: int) -> list[str]:
        return [row["text"] for row in recall(ana, query=query, k=k, threshold=0)]

    for wait in (True, False):
        assert set(first("café Zürich", 2)) == set(first("cafe zurich", 2)) == {CAFE, new}
        assert first("4712", 1) == [CAFE]
        assert bool(updated.world.rows(waiting)) == wait
        updated.world.connect("memwarden_jobs").execute("CALL memwarden.reindex_words()")


def test_of_consents_that_have_become_one_the_withdrawal_counts(updated: Updated) -> None:
    """Two spellings were two subjects to an earlier release, and are one to a write.

    Proves: T8 (upgraded store), R7 (withdrawal acts)
    """
    states = "SELECT subject_form, state FROM memwarden_data.consent_state ORDER BY subject_form"
    assert [tuple(row.values()) for row in updated.world.rows(states)] == [
        ("ana silva", "withdrawn"),
        ("u0a1", "granted"),
    ]


def test_what_was_declared_of_predicates_holds_in_every_spelling(updated: Updated) -> None:
    """Of two declarations that have become one, that of the name itself counts.

    Proves: T8 (upgraded store)
    """
    names = """
    SELECT predicate, same_key FROM memwarden_data.predicate WHERE predicate ~ 'heis|heiß|ö.+er als'
     UNION ALL SELECT predicate, 'rule' FROM memwarden_data.integrity_rule
     UNION ALL SELECT r.key, 'relation' FROM memwarden_data.ontology AS o
                CROSS JOIN LATERAL jsonb_each(o.document -> 'relation_types') AS r ORDER BY 1, 2"""
    assert [tuple(row.values()) for row in updated.world.rows(names)] == [
        ("grösser als", "accumulate"),
        ("grösser als", "relation"),
        ("grösser als", "rule"),
        ("heisst", "new_version"),
    ]


def test_it_is_like_a_fresh_one_and_goes_on(updated: Updated) -> None:
    """The catalog is that of a new installation but for the DBA's grants; its agents write on."""
    world = updated.world
    world.admin.execute(f"DROP OWNED BY {updated.dba}")
    with empty_database(world.admin) as blank:
        install(blank.admin)
        fresh = catalog_snapshot(blank.admin)
    assert differences(lasting(fresh), lasting(catalog_snapshot(world.admin))) == {}
    ana = world.connect("release_ana")
    moved = write(ana, "semantic", "Ana lives in Lima.", subject="ana", predicate="lives in")
    assert moved["outcome"] == "COMMITTED"
    history = ana.execute("SELECT version FROM memwarden.history(%s)", (moved["item_id"],))
    assert [row["version"] for row in history.fetchall()] == [3, 2, 1]
    world.admin.execute("CALL memwarden.seal_log()")
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []
    assert world.rows("SELECT * FROM memwarden.verify_provenance()") == []
    check_store(world.admin)
