"""A write and a recall obey the settings as they are, however old the row is that keeps them.

The second opinion is `terms_asked.sql`: the same question, asked of the tables each time.
"""

from __future__ import annotations

import random
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from conftest import World
from helpers import recall, write, write_many
from races import PATIENCE, together

HERE = Path(__file__).parent
ASKED = (HERE / "terms_asked.sql").read_text()
# Where an answer is not what the tables say; see terms_differ in that file.
DIFFERENT = """
SELECT * FROM shipped.terms_differ
 UNION ALL
SELECT * FROM shipped.readers_differ()
 UNION ALL
-- Of plain writes what was kept before is what is asked of the tables now.
SELECT k.principal_id, k.layer, NULL, d.key, d.value, to_jsonb(l.plain) -> d.key
  FROM memwarden_data.terms_at AS k
  JOIN memwarden_data.layer_terms AS l ON l.principal_id = k.principal_id AND l.layer = k.layer
 CROSS JOIN LATERAL jsonb_each(coalesce(to_jsonb(k.plain), to_jsonb(l.plain))) AS d
 WHERE k.scope_id = k.home_scope_id AND k.plain IS DISTINCT FROM l.plain
 UNION ALL
-- And of approval, what the gate would say.
SELECT l.principal_id, l.layer, NULL, 'approval', to_jsonb(l.plain), to_jsonb(a)
  FROM memwarden_data.layer_terms AS l
  JOIN memwarden_data.principal AS p USING (principal_id)
 CROSS JOIN memwarden_internal.approval_terms(p.org_id, l.layer, NULL, p.name, p.principal_id) AS a
 WHERE (l.plain).org_id IS NOT NULL
   AND ((l.plain).by_risk, (l.plain).auto_below, (l.plain).weights, (l.plain).layer_risk)
       IS DISTINCT FROM
    ((l.plain).asks_approval AND a.approval = 'by_risk', a.auto_below, a.weights, a.layer_risk)"""
TERMS = """
SELECT md5(string_agg(terms::text, '' ORDER BY principal_id, layer)) || (
           SELECT md5(string_agg(r::text, '' ORDER BY principal_id))
             FROM memwarden_data.reader_terms AS r)
  FROM memwarden_data.layer_terms"""
SUM = "SELECT sum(weight) AS sum FROM memwarden_data.settings_change"
# With @org and @n to be filled in.
CHANGES = re.split(
    r";\n", re.sub(r"^--.*\n", "", (HERE / "setting_changes.sql").read_text(), flags=re.MULTILINE)
)[:-1]


def different(connection: Connection[DictRow]) -> list[DictRow]:
    """Where an answer is not what the tables say, as that session sees them."""
    # Planning takes as long as the answer, and every step asks.
    return connection.execute(DIFFERENT, prepare=True).fetchall()


def some_change(chance: random.Random) -> str:
    """One of the changes, of one of the organisations."""
    org = chance.choice(["acme", "bolt"])
    return filled(chance.choice(CHANGES), org, chance.randint(1, 9))


def filled(change: str, org: str, number: int) -> str:
    """The statement that changes it so."""
    return change.replace("@org", org).replace("@n", str(number))


@pytest.fixture
def asked(world: World) -> World:
    """Two organisations with agents in two scopes each, and the second opinion."""
    for org in ("acme", "bolt"):
        world.register(f"/org/{org}", descendants=True)
        world.register(f"/org/{org}/user/ana")
    world.admin.execute(ASKED)
    assert different(world.admin) == []
    assert world.value("SELECT count(*) FROM memwarden_data.kept_terms") > 0
    assert world.value("SELECT count(*) FROM memwarden_data.reader_at") > 4
    return world


@pytest.fixture
def sessions(asked: World) -> list[Connection[DictRow]]:
    """Three sessions that change settings, one of which says that it only replicates."""
    made = [asked.connect() for _ in range(3)]
    made[2].execute("SET session_replication_role = replica")
    return made


@pytest.mark.parametrize("seed", range(4))
def test_after_any_changes_the_terms_are_those_that_hold(
    asked: World, sessions: list[Connection[DictRow]], seed: int
) -> None:
    """Changes come from several sessions, alone, many in a transaction, or taken back.

    Who makes them meets them in the same transaction; others when it has ended.
    """
    chance = random.Random(seed)
    done = 0
    for _ in range(60):
        session = chance.choice(sessions)
        change = some_change(chance)
        kind = chance.choice(["alone", "alone", "alone", "in part", "rolled back"])
        try:
            if kind == "alone":
                session.execute(change)
            else:
                with session.transaction(force_rollback=kind == "rolled back"):
                    session.execute(change)
                    assert different(session) == [], change
                    with session.transaction(force_rollback=True):
                        session.execute(some_change(chance))
                        assert different(session) == [], change
        except psycopg.errors.IntegrityError:
            continue
        finally:
            assert different(asked.admin) == [], change
        done += 1
    assert done > 30


@pytest.mark.parametrize(("org", "n"), [("acme", 3), ("bolt", 4)])
def test_every_change_of_a_setting_is_noted_and_obeyed(asked: World, org: str, n: int) -> None:
    """One after the other, so that none hides behind another; most change somebody's terms."""
    obeyed = 0
    for change in CHANGES:
        before = asked.value(TERMS)
        noted = asked.value(SUM)
        try:
            asked.admin.execute(filled(change, org, n))
        except psycopg.errors.IntegrityError:
            continue
        after = asked.value(TERMS)
        assert before == after or asked.value(SUM) > noted, change
        obeyed += before != after
        assert different(asked.admin) == [], change
    assert obeyed > len(CHANGES) / 4


def sum_of(connection: Connection[DictRow]) -> int:
    """What the changes come to, as that session sees them."""
    row = connection.execute(SUM).fetchone()
    assert row is not None
    return int(row["sum"])


def limit_content(connection: Connection[DictRow], size: int) -> None:
    """Say how long a memory of the layer episodic may be."""
    connection.execute(
        f"UPDATE memwarden_data.layer SET max_content_bytes = {size} WHERE layer = 'episodic'"
    )


def test_changes_that_commit_out_of_order_are_obeyed(asked: World) -> None:
    """The later one commits first, a write keeps what it sees, and then the earlier one commits."""
    agent = asked.agent("/org/acme/user/ana")
    first, second = asked.connect(), asked.connect()
    with first.transaction():
        limit_content(first, 10)
        second.execute("UPDATE memwarden_data.organisation SET reputation_threshold = 0.1")
        assert write(agent, "episodic", "Ana saw the first lamp")["outcome"] == "COMMITTED"
    assert write(agent, "episodic", "Ana saw the second lamp")["reason"] == "CONTENT_TOO_LARGE"
    assert different(asked.admin) == []


def test_what_a_change_kept_before_it_was_taken_back_is_gone(asked: World) -> None:
    """A write in the transaction of the change obeys it; nobody does once that has rolled back."""
    agent = asked.agent("/org/acme/user/ana")
    role = agent.info.user
    with asked.admin.transaction(force_rollback=True):
        limit_content(asked.admin, 10)
        asked.admin.execute(f"SET LOCAL SESSION AUTHORIZATION {role}")
        assert (
            write(asked.admin, "episodic", "Ana saw the first lamp")["reason"]
            == "CONTENT_TOO_LARGE"
        )
        asked.admin.execute("RESET SESSION AUTHORIZATION")
    assert write(agent, "episodic", "Ana saw the first lamp")["outcome"] == "COMMITTED"
    assert different(asked.admin) == []


def test_a_change_that_is_committed_is_obeyed_by_the_next_write(asked: World) -> None:
    """Four agents write and two sessions change other settings: rows are made anew always."""
    agents = [asked.agent(f"/org/{org}/user/ana") for org in ("acme", "bolt") for _ in range(2)]
    watcher = asked.agent("/org/acme/user/ana", descendants=True)
    others = [asked.connect() for _ in range(2)]
    asked.admin.execute("UPDATE memwarden_data.layer SET lock_wait = '1 minute'")
    stop = Event()

    def keep(number: int) -> int:
        done = 0
        while not stop.is_set() or done == 0:
            done += 1
            if number < 4:
                write(agents[number], "episodic", f"{number} saw lamp {done}")
                write_many(
                    agents[number], [{"layer": "working", "content": f"{number} saw lamp {done}"}]
                )
            elif number == 4:
                others[0].execute(
                    "UPDATE memwarden_data.layer SET max_pending = %s WHERE layer = 'episodic'",
                    (done,),
                )
            else:
                others[1].execute(
                    "UPDATE memwarden_data.principal SET domains = ARRAY[%s]", (f"d{done}",)
                )
        return done

    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(keep, number) for number in range(6)]
        try:
            for n in range(30):
                limit_content(asked.admin, 10 if n % 2 else 10_000)
                answer = write(watcher, "episodic", f"The watcher saw lamp {n}")
                assert answer["outcome"] == ("REJECTED" if n % 2 else "COMMITTED"), answer
                limit_content(asked.admin, 10_000 if n % 2 else 10)
                (answer,) = write_many(
                    watcher, [{"layer": "episodic", "content": f"Batch {n} saw a lamp"}]
                )
                assert answer["outcome"] == ("COMMITTED" if n % 2 else "REJECTED"), answer
        finally:
            stop.set()
        assert all(future.result(PATIENCE) > 1 for future in futures)
    assert different(asked.admin) == []


def test_who_keeps_the_same_waits_for_nobody(asked: World) -> None:
    """One has kept a row and not committed; another keeps its own, and a third changes settings."""
    role = asked.register("/org/acme", descendants=True)
    first, second = asked.connect(role), asked.connect(role)
    second.execute("SET lock_timeout = '1ms'")
    asked.admin.execute("SET lock_timeout = '1ms'")
    with first.transaction():
        write(first, "episodic", "Ana saw the first lamp", scope="/org/acme")
        assert (
            write(second, "episodic", "Ana saw it", scope="/org/acme/user/ana")["outcome"]
            == "COMMITTED"
        )
        with asked.admin.transaction():
            limit_content(asked.admin, 10)
            assert (
                write(second, "episodic", "Ana saw it too", scope="/org/acme/user/ana")["outcome"]
                == "COMMITTED"
            )
        assert (
            write(second, "episodic", "Ana saw it as well", scope="/org/acme/user/ana")["outcome"]
            == "REJECTED"
        )
    assert different(asked.admin) == []


def test_many_changes_become_one_row_of_the_same_sum(asked: World) -> None:
    """To a snapshot from before it is the sum of then. Changes are few however many there were."""
    role = asked.register("/org/acme", descendants=True)
    write(asked.connect(role), "episodic", "Ana saw the first lamp")
    past, own = asked.connect(), asked.connect()
    with past.transaction(), own.transaction():
        past.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        own.execute("UPDATE memwarden_data.approval_policy SET auto_below = 0.1")
        then = sum_of(past)
        for n in range(50):
            asked.admin.execute(
                "UPDATE memwarden_data.layer SET max_pending = %s WHERE layer = 'semantic'",
                (n + 1,),
            )
        assert sum_of(past) == then
        # Its own change comes on top, and nobody has folded that.
        assert sum_of(own) > sum_of(asked.admin) > then
    assert asked.value("SELECT count(*) FROM memwarden_data.settings_change WHERE org_id = 0") <= 21
    assert different(asked.admin) == []


def test_changes_at_once_are_all_in_the_sum(asked: World) -> None:
    """Eight sessions change settings of one organisation, and fold each other's changes."""
    sessions = [asked.connect() for _ in range(8)]
    with asked.admin.transaction():
        asked.admin.execute("UPDATE memwarden_data.settings_change SET weight = 1")
        asked.admin.execute(
            "CREATE FUNCTION shipped.one() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN IF NEW.weight > 1000000 THEN NEW.weight := 1; END IF; RETURN NEW; END'"
        )
        asked.admin.execute(
            "CREATE TRIGGER one BEFORE INSERT ON memwarden_data.settings_change"
            " FOR EACH ROW EXECUTE FUNCTION shipped.one()"
        )
    before = sum_of(asked.admin)
    names = [
        row["layer"]
        for row in asked.rows("SELECT layer FROM memwarden_data.approval_policy LIMIT 4")
    ]

    def change(number: int) -> None:
        for n in range(40):
            sessions[number].execute(
                "UPDATE memwarden_data.approval_policy SET auto_below = %s WHERE layer = %s",
                ((41 * number + n + 1) / 1000, names[number % 4]),
            )

    together([partial(change, number) for number in range(8)])
    assert sum_of(asked.admin) == before + 8 * 40


def test_ordinary_writes_change_no_settings(asked: World) -> None:
    """Nor do reads keep terms of writers: rows are as they were.

    Nor does a new label, which is noted for readers alone.
    """
    agent = asked.agent("/org/acme/user/ana", role="curator")
    write(agent, "episodic", "Ana saw the first lamp")
    kept, noted = (
        "SELECT * FROM memwarden_data.kept_terms ORDER BY principal_id, layer",
        sum_of(asked.admin),
    )
    before = asked.rows(kept)
    for n in range(5):
        write(
            agent,
            "episodic",
            f"Ana saw lamp {n}",
            subject="Ana",
            predicate=f"saw {n}",
            classification="internal",
            domains=[],
        )
    write_many(agent, [{"layer": "episodic", "content": f"Bob saw lamp {n}"} for n in range(5)])
    recall(agent, query="lamp")
    agent.execute("SELECT * FROM memwarden.items").fetchall()
    assert sum_of(asked.admin) == noted
    assert asked.rows(kept) == before
    reader = asked.agent("/org/acme/user/ana")
    noted, before = sum_of(asked.admin), asked.rows(kept)
    reader.execute("SET default_transaction_read_only = on")
    assert recall(reader, query="lamp")
    assert (sum_of(asked.admin), asked.rows(kept)) == (noted, before)


@pytest.mark.parametrize(
    "way",
    [
        "another view",
        "the same view, restored",
        "triggers away for a while",
        "nothing kept for a while",
    ],
)
def test_what_was_kept_elsewhere_or_unwatched_is_not_believed(asked: World, way: str) -> None:
    """A kept row is of its view; setup() trusts nothing kept while a trigger was missing."""
    agent = asked.agent("/org/acme/user/ana")
    assert write(agent, "episodic", "Ana saw the first lamp")["outcome"] == "COMMITTED"
    definition = asked.value("SELECT pg_get_viewdef('memwarden_data.layer_terms'::regclass)")
    shorter = definition.replace("l.max_content_bytes", "10")
    assert shorter != definition
    if way == "another view":
        asked.admin.execute(
            "CREATE OR REPLACE VIEW memwarden_data.layer_terms WITH (security_invoker = true) AS "
            f"{shorter}"
        )
    elif way == "the same view, restored":
        asked.admin.execute("DROP VIEW memwarden_data.layer_terms")
        asked.admin.execute(
            f"CREATE VIEW memwarden_data.layer_terms WITH (security_invoker = true) AS {shorter}"
        )
        asked.admin.execute("ALTER VIEW memwarden_data.layer_terms OWNER TO memwarden_owner")
    else:
        name, table = (
            ("settings_change", "kept_layer")
            if way.startswith("triggers")
            else ("keep_changed", "layer")
        )
        asked.admin.execute(f"DROP TRIGGER {name} ON memwarden_data.{table}")
        limit_content(asked.admin, 10)
        asked.admin.execute("SELECT FROM memwarden.setup()")
    assert write(agent, "episodic", "Ana saw the second lamp")["outcome"] == "REJECTED"
