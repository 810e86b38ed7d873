"""A store in which every example of the pages has run, and a login of every role."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from conftest import World
from docs.test_examples import CAST, PAGES, Stage, blocks, statements
from fuzz.arguments import Function, Known, Literal, look_around, public_functions
from helpers import ask_for_little, write

GROUPS = ["agent", "reviewer", "curator", "auditor", "admin", "broker", "worker", "embedder"]
PERMISSIONS = """
[{"operation": "READ"}, {"operation": "WRITE"}, {"operation": "APPROVE"},
 {"operation": "DELETE", "degree": "hard"}, {"operation": "ADMIN", "degree": "full"}]
"""
HOME = "/org/acme/user/ana"


class Fuzz:
    """Logins, functions, and what has come of calls so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        play_the_pages(world)
        admin = world.admin
        admin.execute("SELECT memwarden.define_role('all', %s, org => 'acme')", (PERMISSIONS,))
        options: Any = {"role": "all", "clearance": "restricted", "descendants": True}
        self.logins = {
            group: world.register(HOME, groups=[f"memwarden_{group}"], **options)
            for group in GROUPS
        }
        self.logins |= {
            "governor": world.register(
                "/org/acme",
                groups=[f"memwarden_{group}" for group in GROUPS if group != "admin"],
                **options,
            ),
            "everybody": world.register(
                "/org/acme", groups=[f"memwarden_{group}" for group in GROUPS], **options
            ),
            "unbound": world.role("memwarden_agent"),
            "none": world.role(),
            "jobs": "memwarden_jobs",
            "superuser": "postgres",
        }
        self.remember()
        admin.execute("CALL memwarden.seal_log()")
        self.known: Known = look_around(world)
        self.known.texts["worker"] = ["fuzz"]
        self.functions: list[Function] = public_functions(world)
        self.messages = {
            row["message"] for row in world.rows("SELECT message FROM memwarden_internal.errors()")
        }
        self.connections: dict[str, psycopg.Connection[Any]] = {}
        self.faults: dict[tuple[str, str], str] = {}
        self.succeeded: set[str] = set()

    def remember(self) -> None:
        """Leave something of every state: memories, their versions, a session, what waits."""
        # What the pages have set stands in the way of the writes that follow.
        for table in ("policy", "policy_set"):
            self.world.admin.execute(f"DELETE FROM memwarden_data.{table}")
        self.world.admin.execute("UPDATE memwarden_data.layer SET embedding = 'optional'")
        ask_for_little(self.world.admin)
        with self.world.connect(self.logins["everybody"]) as caller:
            for number in range(3):
                for layer in ("episodic", "semantic"):
                    write(
                        caller,
                        layer,
                        {"text": f"Ana prefers tea number {number}"},
                        subject=f"ana-{number}",
                        predicate="prefers",
                        scope=HOME,
                    )
            caller.execute("SELECT memwarden.open_session(%s, 'fuzz')", (HOME,))
            caller.execute("SELECT * FROM memwarden.recall('tea')")
            self.world.admin.execute(
                "SELECT memwarden.set_approval_policy('semantic', approval => 'always')"
            )
            for number in range(3):
                answer = write(caller, "semantic", {"text": f"Ana drinks {number}"}, scope=HOME)
                assert answer["outcome"] == "DEFERRED", answer["reason"] + str(answer["detail"])
            self.world.admin.execute(
                "SELECT memwarden.set_approval_policy('semantic', approval => 'never'),"
                "       memwarden.require_verifier('semantic', 'gate', 'fuzz', patience => '1 day')"
            )
            for number in range(2):
                answer = write(caller, "semantic", {"text": f"Ana walks {number}"}, scope=HOME)
                assert answer["reason"] == "AWAITING_VERDICT", answer["reason"]
            claim = "SELECT * FROM memwarden.claim_jobs('fuzz', '{fuzz}')"
            assert caller.execute(claim).fetchall()

    def may_call(self, role: str) -> list[Function]:
        """The functions that a role may execute."""
        rows = self.world.rows(
            "SELECT p.proname FROM pg_proc AS p WHERE p.pronamespace = 'memwarden'::regnamespace"
            "   AND has_function_privilege(%s, p.oid, 'EXECUTE')",
            self.logins[role],
        )
        names = {row["proname"] for row in rows}
        return [f for f in self.functions if f.name in names]

    def connection(self, role: str) -> psycopg.Connection[Any]:
        """The session of a role, made anew when a call has ended it."""
        if role not in self.connections or self.connections[role].closed:
            connection = psycopg.connect(self.world.dsn, user=self.logins[role], autocommit=True)
            connection.execute("SET statement_timeout = '60s'")
            connection.prepare_threshold = None
            self.connections[role] = connection
        return self.connections[role]

    def call(self, role: str, function: Function, arguments: dict[str, Literal]) -> None:
        """Call a function and note what should not have come of it. Nothing of it stays."""
        types = {argument.name: argument.type for argument in function.arguments}
        named = sql.SQL(", ").join(
            sql.SQL("{} => {}::{}").format(
                sql.Identifier(name), sql.Placeholder(), sql.SQL(types[name])
            )
            for name in arguments
        )
        verb = "CALL" if function.kind == "p" else "SELECT * FROM"
        statement = sql.SQL(f"{verb} memwarden.{function.name}({{}})").format(named)
        connection = self.connection(role)
        try:
            if function.kind == "p":
                connection.execute(statement, [*arguments.values()])
            else:
                with connection.transaction(force_rollback=True):
                    connection.execute(statement, [*arguments.values()])
            fault = None
            self.succeeded.add(function.name)
        except psycopg.Error as error:
            fault = self.fault(function, error)
        if fault:
            shown = {name: value and value[:120] for name, value in arguments.items()}
            kind = re.sub(r'".*?"|\d{2,}', "", fault.split(" | ")[0][:120])
            self.faults.setdefault((function.name, kind), f"{role}: {shown}\n    {fault}")

    def fault(self, function: Function, error: psycopg.Error) -> str | None:
        """What is wrong with an exception; None where it is as the function says."""
        diagnosis, code = error.diag, error.sqlstate or "lost connection"
        message = diagnosis.message_primary or str(error)
        if "unnamed portal parameter" in (diagnosis.context or ""):
            return None  # the cast of the literal
        if code == "42501" and message.startswith("permission denied for"):
            allowed = f"permission denied for {'procedure' if function.kind == 'p' else 'function'}"
            if message == f"{allowed} {function.name}" or "schema memwarden" in message:
                return None
        if message in self.messages and code in function.announced and diagnosis.message_hint:
            return None
        where = " < ".join(
            re.findall(r"function (?:memwarden\w*\.)?(\w+)", diagnosis.context or "")
        )
        detail = (diagnosis.message_detail or "")[:200]
        return f"{code} {message[:200]} | {detail} | {where}"


def play_the_pages(world: World) -> None:
    """Run the SQL of every page, one after the other; what one page took from another may fail."""
    stage = Stage(world)
    for page in [CAST, *(page for page in PAGES if page != CAST)]:
        for language, text in blocks(page):
            if language != "sql":
                continue
            first, _, rest = text.partition("\n")
            for statement, _ in statements(rest):
                created = re.findall(r"^CREATE ROLE (\w+)", statement, re.MULTILINE)
                if not set(created) & stage.renamed.keys():
                    session = stage.connection(first.removeprefix("-- as ").strip())
                    with contextlib.suppress(psycopg.Error):
                        session.execute(stage.rename(statement))
    world.disconnect()


@pytest.fixture(scope="module")
def fuzz(shared_world: World) -> Iterator[Fuzz]:
    """One store for all calls: each is rolled back."""
    made = Fuzz(shared_world)
    yield made
    for connection in made.connections.values():
        connection.close()
