"""Nothing enters, changes or leaves the storage but through the gates."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.errors import InsufficientPrivilege
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from .conftest import ANA, Store, sqlstate

GROUPS = {
    "agent": ("memwarden_agent",),
    "reviewer": ("memwarden_reviewer",),
    "curator": ("memwarden_curator",),
    "auditor": ("memwarden_auditor",),
    "admin": ("memwarden_admin",),
    "jobs": ("memwarden_jobs",),
    "all at once": (
        "memwarden_agent",
        "memwarden_reviewer",
        "memwarden_curator",
        "memwarden_auditor",
        "memwarden_admin",
        "memwarden_jobs",
    ),
}

CHANGES = (
    "INSERT INTO {table} DEFAULT VALUES",
    "INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT t.* FROM {table} AS t",
    "INSERT INTO {table} DEFAULT VALUES ON CONFLICT DO NOTHING",
    "UPDATE {table} SET {column} = {column}",
    "UPDATE {table} SET {column} = DEFAULT WHERE false",
    "DELETE FROM {table}",
    "TRUNCATE {table}",
    "COPY {table} FROM STDIN",
    "MERGE INTO {table} AS t USING (VALUES (1)) AS s ON false"
    " WHEN NOT MATCHED THEN INSERT DEFAULT VALUES",
    "MERGE INTO {table} AS t USING (VALUES (1)) AS s ON true WHEN MATCHED THEN DELETE",
    "WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT * FROM gone",
    "SELECT 1 FROM {table} FOR UPDATE",
    "DO $$ BEGIN LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; END $$",
    "ALTER TABLE {table} DISABLE TRIGGER ALL",
    "ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE {table} OWNER TO CURRENT_USER",
    "CREATE POLICY forged ON {table} USING (true)",
    "CREATE TRIGGER forged BEFORE INSERT ON {table} FOR EACH ROW"
    " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE RULE forged AS ON SELECT TO {table} DO INSTEAD NOTHING",
    "CREATE TEMP TABLE child () INHERITS ({table})",
    "DROP TABLE {table}",
)


def refused(connection: Connection[DictRow], statement: str) -> bool:
    """Whether a statement fails for want of a right, or because no such table takes it."""
    return sqlstate(connection, statement) in {"42501", "42809"}


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_no_application_role_changes_a_table(store: Store, groups: tuple[str, ...]) -> None:
    """Every statement that writes, locks or alters, on every table and partition there is.

    Proves: Z1
    """
    intruder = store.intruder(*groups)
    before = store.contents()
    columns = {
        row["name"]: row["attname"]
        for row in store.world.rows(
            "SELECT DISTINCT ON (a.attrelid) a.attrelid::regclass::text AS name, a.attname"
            "  FROM pg_attribute AS a WHERE a.attnum > 0 AND a.attidentity = ''"
            " ORDER BY a.attrelid, a.attnum"
        )
    }
    accepted = [
        statement
        for table in store.tables()
        for statement in (c.format(table=table, column=columns[table]) for c in CHANGES)
        if not refused(intruder, statement)
    ]
    assert accepted == []
    for table in store.tables():
        # Who holds some right is only warned that nothing was granted.
        with suppress(InsufficientPrivilege):
            intruder.execute(f"GRANT ALL ON {table} TO PUBLIC")
    assert store.contents() == before


def test_no_application_role_writes_through_a_view(store: Store) -> None:
    """Proves: Z1."""
    intruder = store.intruder(*GROUPS["all at once"])
    contents = store.contents()
    views = store.world.rows(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
        " WHERE c.relnamespace = 'memwarden'::regnamespace AND c.relkind = 'v'"
    )
    assert {row["name"] for row in views} >= {"memwarden.items", "memwarden.requests"}
    for view in (row["name"] for row in views):
        for statement in (f"INSERT INTO {view} DEFAULT VALUES", f"DELETE FROM {view}"):
            with pytest.raises(
                (InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)
            ):
                intruder.execute(statement)
    assert store.contents() == contents


def test_no_application_role_turns_a_sequence(store: Store) -> None:
    """Numbers of log entries, principals and scopes are the engine's to give."""
    intruder = store.intruder(*GROUPS["all at once"])
    sequences = store.world.rows(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
        " WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind = 'S'"
    )
    assert len(sequences) >= 5
    for name in (row["name"] for row in sequences):
        for call in (f"nextval('{name}')", f"setval('{name}', 1)"):
            assert refused(intruder, f"SELECT {call}"), call


# What a caller might claim, for every column that the gates decide. Each value is one that no
# honest request of this test could end with.
LIE = uuid.UUID("01890000-0000-7000-8000-000000000bad")
CLAIMS: dict[str, Any] = {
    "org_id": 4711,
    "principal_id": 4711,
    "scope_id": 4711,
    "submitted_at": "2001-01-01",
    "attempt": -7,
    "admission": "free",
    "trial": Jsonb({"outcome": "COMMITTED"}),
    "terms": "(4711" + "," * 66 + ")",
    "standing": "(4711" + "," * 66 + ")",
    "label_id": 4711,
    "scope_locked": False,
    "canonical": '"forged"',
    "search_text": "forged",
    "content_hash": b"\x01" * 32,
    "fingerprint": b"\x01" * 32,
    "key_hash": b"\x01" * 32,
    "inverse_key_hash": b"\x01" * 32,
    "attribute_key": b"\x01" * 32,
    "token": b"\x01" * 32,
    "schema_id": 4711,
    "model_id": 4711,
    "findings": Jsonb([]),
    "admitted": True,
    "sensitivity": "high",
    "sensitive": Jsonb([]),
    "keys": Jsonb([]),
    "subject_key_id": uuid.UUID(int=7),
    "sealed_words": b"claimed",
    "sealed": Jsonb({"a" * 32: {"kind": "pii.phone", "sealed": "00"}}),
    "grounds": Jsonb([{"type": "document", "authority": 1}]),
    "fact_score": 1.0,
    "authority": 1.0,
    "trust_ceiling": 1.0,
    "provenance": Jsonb({"verified_by": []}),
    "neighbours": Jsonb([]),
    "likeness": 0.25,
    "conflicts": Jsonb([]),
    "contradiction": 0.5,
    "becomes": LIE,
    "merges": True,
    "replaces": [LIE],
    "disputes": [LIE],
    "outdates": [LIE],
    "review_asked": Jsonb([{"reason": "forged"}]),
    "review": Jsonb({"auto": True}),
    "session_id": 4711,
    "consent_check": "passed",
    "auto_eligible": True,
    "pack_check": Jsonb({"eligible": True}),
    "verdict": "superseded",
    "outcome": "COMMITTED",
    "gate": "forged",
    "reason": "forged",
    "detail": Jsonb({"forged": True}),
    "item_id": LIE,
    "version_id": LIE,
    "retry_at": "2001-01-01",
    "decided_at": "2001-01-01",
    "trail": "forged",
    "gates": "forged",
    "refused_hash": b"\x01" * 32,
    "asked_hash": b"\x01" * 32,
    "owner_id": 4711,
    "login": "somebody",
    "keyed": True,
}
ASKED = {
    "request_id", "layer", "scope_path", "kind", "subject", "predicate", "content", "evidence",
    "confidence", "importance", "embedding", "embedding_model", "ttl", "valid_from", "valid_to",
    "deadline", "idempotency_key", "trace_id", "intake_fault", "classification", "domains",
    "attributes", "origin", "class", "justification", "corrects", "permit_held", "act",
}  # fmt: skip


@pytest.fixture
def as_owner(store: Store) -> Callable[[], Connection[DictRow]]:
    """Give a way to be Ana's agent and, against every rule, memwarden_owner as well."""

    def connect() -> Connection[DictRow]:
        role = store.world.register(ANA)
        store.world.admin.execute(f"GRANT memwarden_owner TO {role}")
        connection = store.world.connect(role)
        connection.execute("SET ROLE memwarden_owner")
        return connection

    return connect


@pytest.mark.parametrize("content", ['"an honest fact"', "not JSON"], ids=["good", "bad"])
def test_a_claim_is_reset_even_for_the_owner_of_the_table(
    store: Store, as_owner: Callable[[], Connection[DictRow]], content: str
) -> None:
    """The first trigger has no condition: outcome, time and principal are what the gates find.

    Proves: Z1
    """
    owner = as_owner()
    columns = {
        row["attname"]
        for row in store.world.rows(
            "SELECT a.attname FROM pg_attribute AS a WHERE a.attnum > 0"
            " AND a.attrelid = 'memwarden_data.write_request'::regclass AND NOT a.attisdropped"
        )
    }
    assert columns == CLAIMS.keys() | ASKED, "a new column: may a caller claim it?"

    asked = {"layer": "semantic", "content": content} | CLAIMS
    names = ", ".join(asked)
    values = ", ".join(f"%({name})s" for name in asked)
    row = owner.execute(
        f"INSERT INTO memwarden_data.write_request (request_id, {names})"
        f" VALUES (memwarden_internal.uuid7(), {values}) RETURNING *",
        asked,
    ).fetchone()
    assert row is not None
    kept = {name for name, lie in CLAIMS.items() if row[name] == getattr(lie, "obj", lie)}
    assert kept == ({"outcome"} if content != "not JSON" else set())
    assert row["submitted_at"].year > 2001
    assert row["decided_at"].year > 2001
    assert (row["outcome"], row["reason"]) == (
        ("COMMITTED", None) if content != "not JSON" else ("REJECTED", "INVALID_JSON")
    )
    assert [line.split()[0] for line in row["gates"].splitlines()][:2] == ["05", "06"]


def test_a_decision_of_another_session_is_not_believed(
    store: Store, as_owner: Callable[[], Connection[DictRow]]
) -> None:
    """Sets are decided before their rows are stored: only the session that decided may say so.

    No application role may note a decision, whatever it sets or makes beside it.

    Proves: Z1
    """
    name = str(uuid.uuid4())
    request_id = f"{store.world.value('SELECT memwarden_internal.uuid7()::text')}"
    as_owner().execute("SELECT memwarden_internal.assess(ARRAY[%s::uuid])", (request_id,))
    forger = as_owner()
    forger.execute("SELECT set_config('memwarden.assessed', %s, false)", (request_id,))
    forger.execute("CREATE TEMP TABLE assessed AS SELECT %s::uuid AS request_id", (request_id,))
    row = forger.execute(
        "INSERT INTO memwarden_data.write_request (request_id, layer, content, outcome, gates)"
        " VALUES (%s, 'semantic', 'not JSON', 'COMMITTED', %s) RETURNING *",
        (request_id, name),
    ).fetchone()
    assert row is not None
    assert (row["outcome"], row["reason"]) == ("REJECTED", "INVALID_JSON")
    assert name not in row["gates"]
    for groups in GROUPS.values():
        insider = store.world.agent(ANA, groups=groups)
        for call in ("assess(ARRAY[%s::uuid])", "was_assessed(%s::uuid)"):
            with pytest.raises(InsufficientPrivilege):
                insider.execute(f"SELECT memwarden_internal.{call}", (request_id,))


def test_a_row_hidden_behind_on_conflict_is_still_decided(
    store: Store, as_owner: Callable[[], Connection[DictRow]]
) -> None:
    """A request id that exists already stores nothing and changes nothing.

    Proves: Z1
    """
    owner = as_owner()
    taken = store.world.rows("SELECT * FROM memwarden_data.write_request ORDER BY request_id")[0]
    done = owner.execute(
        "INSERT INTO memwarden_data.write_request (request_id, layer, content, outcome)"
        " VALUES (%s, 'semantic', '\"forged\"', 'COMMITTED')"
        " ON CONFLICT (request_id) DO UPDATE SET outcome = 'COMMITTED', reason = 'forged'",
        (taken["request_id"],),
    )
    assert done.rowcount == 0
    again = store.world.rows("SELECT * FROM memwarden_data.write_request ORDER BY request_id")[0]
    assert again == taken


@pytest.mark.parametrize("table", ["version", "log"])
def test_history_is_append_only_even_for_its_owner(
    store: Store, as_owner: Callable[[], Connection[DictRow]], table: str
) -> None:
    """Proves: T1."""
    owner = as_owner()
    before = store.contents()
    statements = [f"DELETE FROM memwarden_data.{table}", f"TRUNCATE memwarden_data.{table}"]
    statements.append(
        "UPDATE memwarden_data.version SET content = '1'"
        if table == "version"
        else "UPDATE memwarden_data.log SET reason = 'forged'"
    )
    for statement in statements:
        with pytest.raises(psycopg.errors.ObjectInUse) as raised:  # 55006
            owner.execute(statement)
        assert raised.value.diag.message_primary == "history is append-only"
    assert store.contents() == before
