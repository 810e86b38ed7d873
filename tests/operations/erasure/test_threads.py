"""Threads of a checkpointer beside the store: whose they are, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from checkpoints import TABLES, put, saver_of
from memwarden.langgraph import checkpointer
from operations.erasure.conftest import Desk
from races import overlap

if TYPE_CHECKING:
    from conftest import World

STATES = " UNION ALL ".join(
    f"SELECT login_role, thread_id FROM memwarden_threads.{table}" for table in TABLES
)


@dataclass
class Threads:
    """The tables of a checkpointer, and logins that write into them."""

    desk: Desk
    stack: ExitStack
    logins: list[str] = field(default_factory=list)

    @property
    def world(self) -> World:
        """The database."""
        return self.desk.world

    def log_in(self, login: str) -> Any:
        """A saver of a login that may use the schema."""
        self.logins.append(login)
        return self.stack.enter_context(saver_of(self.world, login))

    def saver(self, scope: str = "") -> Any:
        """A saver of a new agent."""
        return self.log_in(self.world.register(scope or self.desk.home))

    def ids(self) -> list[str]:
        """The threads of these logins; nothing of any other is left anywhere."""
        owned, kept = (
            self.world.rows(
                f"SELECT DISTINCT t.thread_id AS id, t.login_role FROM {source} AS t"
                " WHERE t.login_role = ANY (%s) ORDER BY 1, 2",
                self.logins,
            )
            for source in ("memwarden_data.thread", f"({STATES})")
        )
        assert owned == kept
        return [row["id"] for row in owned]

    def age(self, *threads: str) -> None:
        """Let the server believe that nobody went on with these for long."""
        self.world.admin.execute(
            "UPDATE memwarden_data.thread SET last_at = now() - interval '2 years'"
            " WHERE thread_id = ANY (%s) AND login_role = ANY (%s)",
            (list(threads), self.logins),
        )


@pytest.fixture
def threads(desk: Desk) -> Iterator[Threads]:
    """Tables as a superuser sets them up."""
    with checkpointer(desk.world.dsn, setup=True), ExitStack() as stack:
        yield Threads(desk, stack)


def test_threads_are_their_logins_own_and_end_with_a_person(desk: Desk) -> None:
    """The thread's name is chosen by the caller; whose it is, is told by the login.

    Proves: N11
    """
    # Without the tables nothing is missed, and nothing fails.
    with pytest.raises(psycopg.errors.UndefinedObject):
        desk.erase("Zora Zimt")
    with checkpointer(desk.world.dsn, setup=True), ExitStack() as stack:
        here = Threads(desk, stack)
        ours, theirs = here.saver(), here.saver("/org/elsewhere/user/ana")
        put(ours, "zora", "zora  zimt", "hello")
        put(ours, "named", "bo", "Write to zora@example.org, please; she is away until Monday.")
        put(ours, "müller", "bo", "Frau Müller-Babić ruft an.")
        put(ours, "of zora@example.org", "bo", "hello")
        put(ours, "kept", "bo", "zoraster@example.organ")
        put(theirs, "zora", "Zora Zimt", "hello")
        assert [each.checkpoint["channel_values"] for each in theirs.list(None)] == [
            {"said": ["hello"]}
        ]
        assert ours.get_tuple({"configurable": {"thread_id": "kept"}}) is not None
        assert theirs.get_tuple({"configurable": {"thread_id": "kept"}}) is None
        theirs.delete_thread("kept")
        all_threads = ["kept", "müller", "named", "of zora@example.org", "zora", "zora"]
        assert sorted(here.ids()) == sorted(all_threads)

        dry = desk.erase("Zora Zimt", "zora@example.org", dry_run=True)
        assert (dry["status"], dry["evidence"]) == ("DRY_RUN", 3)
        assert len(here.ids()) == 6
        done = desk.erase("Zora Zimt", "zora@example.org", "Babić")
        assert (done["status"], done["evidence"]) == ("COMPLETED", 4)
        assert {done["places"][table] for table in (*TABLES, "thread")} == {4}
        # States stand in clear: an older backup holds them readable.
        [certificate] = desk.world.rows(
            "SELECT in_clear FROM memwarden.erasures WHERE erasure_id = %s", done["erasure_id"]
        )
        assert certificate == {"in_clear": 4}
        assert here.ids() == ["kept", "zora"]
        assert theirs.get_tuple({"configurable": {"thread_id": "zora"}}) is not None


def test_who_is_nobody_reads_no_thread(threads: Threads) -> None:
    """An agent that is disabled, and a login that was unbound: the name alone shows nothing.

    Proves: N11, A6
    """
    saver = threads.saver()
    put(saver, "one", "bo", "hello")
    [login], world = threads.logins, threads.world
    name = world.value("SELECT agent FROM memwarden.agents WHERE %s = ANY (logins)", login)
    ends = (
        ("SELECT memwarden.change_agent(%s, enabled => false)", name),
        ("SELECT memwarden.unbind_login(%s)", login),
    )
    for statement, given in ends:
        assert len(list(saver.list(None))) == 1
        with world.admin.transaction(force_rollback=True):
            world.admin.execute(statement, (given,))
            world.admin.execute(f'SET LOCAL SESSION AUTHORIZATION "{login}"')
            seen = world.admin.execute("SELECT FROM memwarden_threads.checkpoints").fetchall()
            assert seen == []


def test_a_thread_needs_a_principal_and_ends_with_its_last_checkpoint(threads: Threads) -> None:
    """Nobody could say for which organisation it is; and its id may name somebody.

    Proves: N11
    """
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification, match="not bound"):
        put(threads.log_in(threads.world.role()), "nobody's", "bo", "hello")
    saver = threads.saver()
    put(saver, "one", "bo", "hello")
    put(saver, "one", "bo", "hello again")
    put(saver, "two", "bo", "hello")
    [login] = {threads.logins[-1]}
    agent = threads.stack.enter_context(threads.world.connect(login))
    # A caller may claim another login, and another age.
    agent.execute("UPDATE memwarden_threads.checkpoints SET login_role = 'postgres'")
    # A superuser who corrects something takes nothing over.
    threads.world.admin.execute("UPDATE memwarden_threads.checkpoints SET checkpoint_ns = 'x'")
    agent.execute(
        "DELETE FROM memwarden_threads.checkpoints WHERE thread_id = 'one' AND checkpoint_id ="
        " (SELECT max(checkpoint_id) FROM memwarden_threads.checkpoints WHERE thread_id = 'one')"
    )
    assert threads.ids() == ["one", "two"]
    saver.delete_thread("one")
    assert threads.ids() == ["two"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT FROM memwarden_data.thread")
    threads.world.grant_tables(login)
    assert agent.execute("SELECT FROM memwarden_data.thread").fetchall() == []


def test_a_thread_grows_old_by_the_clock_of_the_server(threads: Threads) -> None:
    """A checkpoint says when it was made; that is the word of its writer.

    Proves: N11
    """
    world, saver = threads.world, threads.saver()
    for thread in ("claims to be old", "old", "resumed"):
        put(saver, thread, "bo", "hello", at="2020-01-01T00:00:00+00:00")
    threads.age("old", "resumed")
    put(saver, "resumed", "bo", "hello again", at="2020-01-01T00:00:00+00:00")
    [held] = world.rows(
        "SELECT h.hold_id AS id FROM memwarden.hold('asked', subject => 'Bo', org => %s) AS h",
        threads.desk.org,
    )
    world.admin.execute("CALL memwarden.delete_old_records()")
    assert threads.ids() == ["claims to be old", "old", "resumed"]
    world.rows("SELECT memwarden.lift_hold(%s, 'the court is content')", held["id"])
    world.admin.execute("CALL memwarden.delete_old_records()")
    assert threads.ids() == ["claims to be old", "resumed"]


def test_a_hold_on_a_scope_keeps_the_threads_that_were_begun_there(threads: Threads) -> None:
    """Also where the erasure finds nothing else.

    Proves: N11
    """
    world, desk = threads.world, threads.desk
    put(threads.saver(), "one", "Zora Zimt", "hello")
    [held] = world.rows(
        "SELECT h.hold_id AS id FROM memwarden.hold('asked', scope => %s, org => %s) AS h",
        desk.home,
        desk.org,
    )
    assert desk.erase("Zora Zimt")["status"] == "BLOCKED"
    assert threads.ids() == ["one"]
    world.rows("SELECT memwarden.lift_hold(%s, 'the court is content')", held["id"])
    world.admin.execute("CALL memwarden.enforce_consent()")
    assert threads.ids() == []


def test_a_restored_copy_loses_the_threads_that_were_erased(threads: Threads) -> None:
    """The list of erasures has their numbers, and nothing that names anybody.

    Proves: N11
    """
    world, desk = threads.world, threads.desk
    put(threads.saver(), "of Zora Zimt", "Zora Zimt", "hello")
    places = ("memwarden_data.thread", *(f"memwarden_threads.{table}" for table in TABLES))
    for number, place in enumerate(places):
        world.admin.execute(
            f"CREATE TABLE backup_{number} AS"
            f" SELECT * FROM {place} WHERE login_role = '{threads.logins[0]}'"
        )
    desk.erase("Zora Zimt", "Zimt")
    assert threads.ids() == []
    erasures = desk.export()
    assert "Zimt" not in str(erasures)
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        for number, place in enumerate(places):
            world.admin.execute(f"INSERT INTO {place} SELECT * FROM backup_{number}")
    assert threads.ids() == ["of Zora Zimt"]
    world.admin.execute("CALL memwarden.enforce_retention()")
    [incident] = world.rows(
        "SELECT kind FROM memwarden.incidents WHERE org = %s AND state = 'open'", desk.org
    )
    assert incident == {"kind": "ERASURE_UNFINISHED"}
    desk.apply(erasures)
    assert threads.ids() == []


def test_who_goes_on_with_a_thread_waits_for_an_erasure(threads: Threads) -> None:
    """Or the state that it writes would be there after the second search.

    Proves: N11
    """
    world, desk = threads.world, threads.desk
    saver = threads.saver()
    put(saver, "one", "Zora Zimt", "hello")
    admin = threads.stack.enter_context(world.connect())
    overlap(
        world.admin,
        admin,
        lambda: admin.execute(
            "SELECT FROM memwarden.erase_subject('Zora Zimt', 'asked', org => %s)", (desk.org,)
        ),
        saver.conn,
        lambda: put(saver, "one", "bo", "hello again"),
    )
    assert threads.ids() == ["one"]
    assert [each.metadata["user_id"] for each in saver.list(None)] == ["bo"]


def test_tables_of_anybody_but_a_superuser_are_left_alone(threads: Threads) -> None:
    """They may have triggers, and nobody with the rights of the store goes there.

    Proves: N11
    """
    world = threads.world
    status = "SELECT state, detail FROM memwarden.status() WHERE component = 'threads'"
    assert world.rows(status) == [{"state": "ok", "detail": "each belongs to a login"}]
    put(threads.saver(), "one", "Zora Zimt", "hello")
    world.admin.execute("CREATE ROLE somebody_of_threads")
    world.admin.execute("ALTER TABLE memwarden_threads.checkpoints OWNER TO somebody_of_threads")
    [warned] = world.rows(status)
    assert warned["state"] == "warning"
    assert "memwarden_threads.checkpoints of somebody_of_threads" in warned["detail"]
    with pytest.raises(psycopg.errors.UndefinedObject):
        threads.desk.erase("Zora Zimt")
    world.admin.execute("ALTER TABLE memwarden_threads.checkpoints OWNER TO postgres")
    world.admin.execute("DROP ROLE somebody_of_threads")
    world.admin.execute("ALTER TABLE memwarden_threads.checkpoints DISABLE TRIGGER own_thread")
    [warned] = world.rows(status)
    assert warned["state"] == "warning"
    world.admin.execute("ALTER TABLE memwarden_threads.checkpoints ENABLE TRIGGER own_thread")
    assert threads.desk.erase("Zora Zimt")["status"] == "COMPLETED"
