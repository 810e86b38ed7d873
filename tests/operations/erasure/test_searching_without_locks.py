"""An erasure searches while writers write, and misses nothing of what they wrote meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import recall, write, write_many
from intake.capture.conftest import capture, said
from operations.erasure.conftest import Desk, cites, holding, remember
from races import overlap, together

if TYPE_CHECKING:
    from uuid import UUID

    from shipped import Shipped

NAME = "Zqvina Orlova"
CALL = "SELECT * FROM memwarden.erase_subject('Ana Zqv', 'asked for', %s, org => %s)"
# Who moves versions between tiers holds this: the erasure has searched, and holds nothing yet.
BEFORE_THE_LOCK = "SELECT FROM memwarden_data.layer FOR NO KEY UPDATE"


TOUCHED = """
SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del AS n
  FROM pg_stat_xact_user_tables WHERE schemaname = 'memwarden_data'
 UNION ALL SELECT funcname, calls FROM pg_stat_xact_user_functions WHERE funcname = 'mentions'"""
# Of these PostgreSQL compares a number in each row, and nothing looks at a text.
COMPARED = {"capture", "provenance", "recall_log", "write_request"}
NOTE = f"""
ALTER FUNCTION memwarden_internal.hold_organisations(bigint[]) RENAME TO hold_them;
CREATE FUNCTION memwarden_internal.hold_organisations(p_orgs bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$ BEGIN
    PERFORM memwarden_internal.hold_them(p_orgs);
    PERFORM set_config('test.touched', (SELECT jsonb_object_agg(t.relname, t.n)
                                          FROM ({TOUCHED}) AS t)::text, true);
END $$"""


Agent = Connection[DictRow]


def erase_while(desk: Desk, meanwhile: Callable[[], object]) -> DictRow:
    """Erase; once the search is over, and before writers are stopped, something happens."""
    holder, admin = desk.world.connect(), desk.world.connect()
    (row,) = overlap(
        desk.world.admin,
        holder,
        lambda: holder.execute(BEFORE_THE_LOCK),
        admin,
        lambda: admin.execute(CALL, ([NAME], desk.org)).fetchall(),
        meanwhile=meanwhile,
    )
    assert isinstance(row, dict)
    return row


def names_the_person(agent: Agent, _old: UUID) -> None:
    """A memory whose words name the person."""
    write(agent, "episodic", f"The invoice of March went to {NAME} twice.")


def names_the_person_in_an_old_memory(agent: Agent, _old: UUID) -> None:
    """One of somebody else, which was there, and of which the search has seen the first version."""
    row = write(agent, "semantic", f"He shares {NAME}", subject="Bo", predicate="mailbox")
    assert row["outcome"] == "COMMITTED", row


def derives(agent: Agent, old: UUID) -> None:
    """Something that rests on a memory which is found."""
    write(agent, "episodic", "Hot drinks sell well in the north.", evidence=cites(old))


def captures(agent: Agent, _old: UUID) -> None:
    """What was said, of which no memory was made."""
    capture(agent, said(f"Write to {NAME} please"), external_id="1")


def refused(agent: Agent, _old: UUID) -> None:
    """A request that is refused, and keeps its words."""
    row = write(agent, "episodic", f"Mail {NAME}", valid_from="2021-01-01", valid_to="2020-01-01")
    assert row["outcome"] == "REJECTED", row


MEANWHILE = [
    names_the_person,
    names_the_person_in_an_old_memory,
    derives,
    captures,
    refused,
]


@pytest.mark.parametrize("act", MEANWHILE, ids=lambda act: act.__name__)
def test_what_comes_between_search_and_lock_goes_too(desk: Desk, act: Callable[..., None]) -> None:
    """Committed when the search was over, and begun after it.

    Proves: R1 (whatever happens meanwhile)
    """
    agent = desk.agent()
    old = remember(agent, "She likes green tea.", subject="Ana Zqv", predicate="likes")
    remember(agent, "He has one in the cellar.", subject="Bo", predicate="mailbox")
    done = erase_while(desk, lambda: act(agent, old))
    assert done["status"] == "COMPLETED"
    assert holding(desk.world, "zqv") == set()
    assert desk.findings() == []
    assert desk.erase("nobody", NAME, dry_run=True)["requests"] == 0


def test_what_was_open_during_the_search_goes_too(desk: Desk) -> None:
    """Written before the search in a transaction that ends after it, whose item was there.

    Proves: R1 (whatever happens meanwhile)
    """
    first, second = desk.agent(), desk.agent()
    remember(first, "He has one in the cellar.", subject="Bo", predicate="mailbox")
    remember(first, "She likes green tea.", subject="Ana Zqv", predicate="likes")

    def write_of_her() -> None:
        names_the_person_in_an_old_memory(second, None)  # type: ignore[arg-type]
        captures(second, None)  # type: ignore[arg-type]

    admin = desk.world.connect()
    rows = overlap(
        desk.world.admin,
        second,
        write_of_her,
        admin,
        lambda: admin.execute(CALL, ([NAME], desk.org)).fetchall(),
    )
    assert rows[0]["status"] == "COMPLETED"
    assert rows[0]["items"] == 2
    assert holding(desk.world, "zqv") == set()
    assert desk.findings() == []


def test_a_hold_that_comes_between_blocks(desk: Desk) -> None:
    """Whom a hold names when writers are stopped is not erased.

    Proves: Z5
    """
    item = remember(desk.agent(), "She likes green tea.", subject="Ana Zqv", predicate="likes")
    hold = "SELECT memwarden.hold('a case', texts => %s, org => %s)"
    other = desk.world.connect()
    done = erase_while(desk, lambda: other.execute(hold, (["green tea"], desk.org)))
    assert (done["status"], done["blocked_reason"]) == ("BLOCKED", "HELD")
    query = "SELECT count(*) FROM memwarden_data.item WHERE item_id = %s"
    assert desk.world.value(query, item) == 1


def test_synonyms_that_come_between_count(desk: Desk) -> None:
    """The same person under another name, of which the search knew nothing."""
    agent = desk.agent()
    remember(agent, "She likes green tea.", subject="Ana Zqv", predicate="likes")
    remember(agent, "She plays chess on Mondays.", subject="Zqv", predicate="plays")
    other = desk.world.connect()
    synonyms = 'SELECT memwarden.set_synonyms(%s, \'{"zqv": "ana zqv"}\')'
    done = erase_while(desk, lambda: other.execute(synonyms, (desk.org,)))
    assert (done["status"], done["items"]) == ("COMPLETED", 2)


def test_a_right_that_is_lost_meanwhile_is_not_used(desk: Desk) -> None:
    """Who may erase is asked again when writers are stopped."""
    remember(desk.agent(), "She likes green tea.", subject="Ana Zqv", predicate="likes")
    desk.world.scope(f"/org/{desk.org}")
    role = desk.world.register(f"/org/{desk.org}", role="curator", descendants=True)
    caller, holder = desk.world.connect(role), desk.world.connect()
    disable = (
        "UPDATE memwarden_data.principal AS p SET disabled_at = clock_timestamp()"
        "  FROM memwarden_data.principal_login AS l"
        " WHERE l.principal_id = p.principal_id AND l.login_role = %s"
    )
    with pytest.raises(psycopg.Error) as error:
        overlap(
            desk.world.admin,
            holder,
            lambda: holder.execute(BEFORE_THE_LOCK),
            caller,
            lambda: caller.execute(
                "SELECT * FROM memwarden.erase_subject('Ana Zqv', 'asked for')"
            ).fetchall(),
            meanwhile=lambda: desk.world.admin.execute(disable, (role,)),
        )
    assert error.value.sqlstate in ("28000", "42501")


def test_writers_at_the_same_time_leave_nothing_behind(desk: Desk) -> None:
    """What names the person afterwards was all written after the erasure.

    Proves: R1 (whatever happens meanwhile)
    """
    agents = [desk.agent() for _ in range(2)]
    admin = desk.world.connect()
    old = remember(agents[0], "She likes green tea.", subject="Ana Zqv", predicate="likes")
    erased = []

    def write_on(number: int) -> None:
        for turn in range(12):
            mailbox = f"mailbox {turn % 3}"
            text = f"{NAME} turn {turn} of {number}"
            write(agents[number], "semantic", text, subject="Bo", predicate=mailbox)
            derives(agents[number], old)

    def erase() -> None:
        for _ in range(3):
            # All that there was is gone already.
            with suppress(psycopg.errors.UndefinedObject):
                erased.extend(admin.execute(CALL, ([NAME], desk.org)).fetchall())

    doing: list[Callable[[], None]] = [partial(write_on, 0), partial(write_on, 1), erase]
    together(doing)
    query = (
        "SELECT min(lower(v.recorded_during)) FROM memwarden_data.version AS v"
        " WHERE v.content::text LIKE %s"
    )
    left: Any = desk.world.value(query, f"%{NAME}%")
    assert all(row["status"] == "COMPLETED" for row in erased)
    assert left is None or left > erased[-1]["erased_at"]
    assert desk.findings() == []


def fill(agent: Agent, first: int, count: int) -> None:
    """So many memories of others, with all that comes with them."""
    for start in range(first, first + count, 50):
        requests = [
            {"layer": "episodic", "content": f"Order {n} was shipped on a {n % 7}th of the month."}
            for n in range(start, min(start + 50, first + count))
        ]
        assert {row["outcome"] for row in write_many(agent, requests)} == {"COMMITTED"}
    for n in range(first, first + count, 10):
        capture(agent, said(f"Order {n} is late"), external_id=str(n))
        recall(agent, query=f"order {n}", task="orders")


def under_the_lock(desk: Desk) -> dict[str, int]:
    """Rows that are read and written while writers wait, by table, and texts that are looked at."""
    with desk.world.connect() as caller, caller.transaction(force_rollback=True):
        caller.execute("SET LOCAL track_functions = 'all'; SET LOCAL enable_seqscan = off")
        caller.execute(NOTE)
        (row,) = caller.execute(CALL, ([NAME], desk.org)).fetchall()
        assert row["items"] == 2
        noted = caller.execute("SELECT current_setting('test.touched')::jsonb AS n").fetchone()
        assert noted is not None
        return {
            row["relname"]: row["n"] - noted["n"].get(row["relname"], 0)
            for row in caller.execute(TOUCHED).fetchall()
            if row["n"] > noted["n"].get(row["relname"], 0)
        }


def test_writers_wait_for_what_is_erased_and_what_is_new(shipped: Shipped) -> None:
    """In a store ten times as large nothing looks at a text more while they wait.

    Proves: R1 (while writers write)
    """
    desk, agent = Desk(shipped.world, "acme"), shipped.agent
    for text in (f"{NAME} grows tomatoes on the balcony.", f"{NAME} plays chess with Bo."):
        row = write(agent, "episodic", text, evidence=[shipped.heard(NAME, text)])
        assert row["outcome"] == "COMMITTED", row["reason"]
    fill(agent, 0, 30)
    desk.world.admin.execute("ANALYZE")
    few = under_the_lock(desk)
    fill(agent, 30, 270)
    desk.world.admin.execute("ANALYZE")
    many = under_the_lock(desk)
    # A plan may read a few rows that it does not need.
    grown = {n: (few.get(n), many[n]) for n in many if many[n] > few.get(n, 0) + 8}
    assert {n.split("_p2")[0] for n in grown} <= COMPARED, grown
    assert few["mentions"] == many["mentions"]
