"""ANALYZE copies values into catalogs: none that somebody said, and none of an earlier release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers import write, write_many
from memwarden.langgraph import checkpointer
from operations.erasure.conftest import Desk
from operations.erasure.test_every_column import ERASED, KEYS, RECALLS, REVIEWS

if TYPE_CHECKING:
    from conftest import World
    from shipped import Shipped

WORD = "zqkanari"
HOLDING = """
SELECT s.starelid::regclass::text AS place, a.attname AS name
  FROM pg_statistic AS s
  JOIN pg_attribute AS a ON a.attrelid = s.starelid AND a.attnum = s.staattnum
 WHERE strpos(lower(concat_ws(' ', s.stavalues1, s.stavalues2, s.stavalues3, s.stavalues4,
                              s.stavalues5)), %s) > 0
 UNION ALL
SELECT e.stxname, '' FROM pg_statistic_ext_data AS d JOIN pg_statistic_ext AS e ON e.oid = d.stxoid
 WHERE strpos(lower(concat_ws(
     ' ', (SELECT string_agg(m::text, ' ') FROM pg_mcv_list_items(d.stxdmcv) AS m),
     d.stxdexpr::text)), %s) > 0"""
# What has statistics of what can hold words.
COPIED = """
SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type
  FROM pg_statistic AS s
  JOIN pg_class AS c ON c.oid = s.starelid
  JOIN pg_attribute AS a ON a.attrelid = s.starelid AND a.attnum = s.staattnum
 WHERE c.relnamespace = 'memwarden_data'::regnamespace"""
# Numbers, times and ids; and names from a list, which layer and tier are.
HARMLESS = {
    *("uuid", "uuid[]", "bigint", "bigint[]", "integer", "integer[]", "smallint", "oid", "xid8"),
    "boolean",
    *("timestamp with time zone", "tstzrange", "interval", "date", "real", "double precision"),
    *("memwarden_data.counter", "memwarden_data.unit_interval", "numeric"),
    *("memwarden_data.item_status", "memwarden_data.log_operation", "memwarden_data.standing"),
    *("memwarden_data.request_outcome", "memwarden_data.provenance_event"),
    "memwarden_data.sensitivity_level",
}
LISTED = {
    *("layer", "tier", "state", "action", "decision", "verdict", "method", "part", "importance"),
    *("ended", "outcome", "same_key"),
}


def said(world: World) -> list[tuple[str, str]]:
    """Where statistics hold the word."""
    return [(row["place"], row["name"]) for row in world.rows(HOLDING, WORD, WORD)]


def some(count: int) -> list[dict[str, object]]:
    """Requests with the word in all that a caller says."""
    return [
        {
            "layer": "semantic",
            "content": {"text": f"{WORD} has box {n}"},
            "subject": f"{WORD} {n % 3}",
            "predicate": f"{WORD} likes",
            "trace_id": f"{WORD} {n % 3}",
            "idempotency_key": f"{WORD} {n}",
        }
        for n in range(count)
    ]


def test_a_store_in_use_has_no_word_in_statistics(shipped: Shipped) -> None:
    """Written, refused and waiting, captured and recalled; also of the kinds of partitions.

    Proves: R1 (everywhere content can sit)
    """
    world = shipped.world
    shipped.heard(WORD, f"{WORD} drinks tea")
    for request in some(12):
        write(
            shipped.agent,
            "semantic",
            request["content"],
            **{name: request[name] for name in ("subject", "predicate", "trace_id")},
        )
    shipped.agent.execute(
        "SELECT count(*) FROM memwarden.recall(%s, task => %s)", (f"box of {WORD}", WORD)
    )
    world.admin.execute("ANALYZE")
    assert said(world) == []
    assert world.value("SELECT count(*) FROM pg_statistic WHERE starelid >= 16384") > 50
    erased = {*ERASED, *REVIEWS, *RECALLS, *KEYS, "write_request", "log"}
    copied = {
        (row["table"], row["column"], row["type"])
        for row in world.rows(COPIED)
        if row["type"] not in HARMLESS and row["column"] not in LISTED
    }
    assert {row for row in copied if any(row[0].startswith(table) for table in erased)} == set()


def test_nor_has_what_is_made_while_it_is_in_use(world: World) -> None:
    """A shelf with its indexes, months, and the tables of a checkpointer.

    Proves: R1 (everywhere content can sit)
    """
    desk = Desk(world)
    agent = desk.agent()
    rows = write_many(agent, [{**each, "layer": "episodic"} for each in some(200)])
    assert {row["outcome"] for row in rows} == {"COMMITTED"}
    world.admin.execute(
        "UPDATE memwarden_data.layer SET own_shelf_from = 100 WHERE layer = 'episodic'"
    )
    world.connect("memwarden_jobs").execute("CALL memwarden.arrange_shelves()")
    assert world.value("SELECT count(*) FROM memwarden_data.shelf_word") > 0
    # A month that lies ahead is made anew.
    month = world.value(
        "SELECT max(inhrelid::regclass::text) FROM pg_inherits"
        " WHERE inhparent = 'memwarden_data.write_request'::regclass"
        "   AND inhrelid::regclass::text ~ '_p[0-9]+$'"
    )
    world.admin.execute(f"DROP TABLE {month}")
    world.connect("memwarden_jobs").execute("SELECT memwarden.maintain()")
    assert world.value("SELECT to_regclass(%s) IS NOT NULL", month)
    with checkpointer(world.dsn, setup=True):
        pass
    world.admin.execute("ANALYZE")
    assert said(world) == []
    number = world.value("SELECT hashtextextended('zqkanari', 0)::text")
    assert world.rows(HOLDING, number, number) == []
    columns = "SELECT relation, name FROM memwarden_internal.columns_of_words()"
    assert world.rows(f"{columns} WHERE has_statistics") == []
    assert world.rows(f"{columns} WHERE relation::text LIKE 'memwarden_threads.%%'")


def test_setup_deletes_statistics_of_an_earlier_release(world: World) -> None:
    """ANALYZE leaves those that are there alone; also what somebody had it count himself.

    Proves: R1 (everywhere content can sit)
    """
    agent = Desk(world).agent()
    write_many(agent, some(60))
    for row in world.rows(
        "SELECT format('ALTER %%s %%s ALTER COLUMN %%s SET STATISTICS DEFAULT',"
        "              CASE WHEN is_index THEN 'INDEX' ELSE 'TABLE' END, relation,"
        "              CASE WHEN is_index THEN number::text ELSE quote_ident(name) END)"
        "       AS statement FROM memwarden_internal.columns_of_words()"
    ):
        world.admin.execute(row["statement"])
    world.admin.execute(
        "CREATE STATISTICS public.of_subjects (mcv) ON lower(subject), lower(predicate)"
        "  FROM memwarden_data.item"
    )
    world.admin.execute("ANALYZE")
    places = {place for place, _ in said(world)}
    assert places >= {"memwarden_data.item", "of_subjects", "memwarden_data.version_hot"}
    copies = (
        "SELECT DISTINCT s.starelid::regclass::text AS place FROM pg_statistic AS s"
        "  JOIN memwarden_internal.columns_of_words() AS w"
        "    ON w.relation = s.starelid AND w.number = s.staattnum"
    )
    hashes = {"memwarden_data.item_fingerprint", "memwarden_data.version"}
    assert {row["place"] for row in world.rows(copies)} > hashes
    world.admin.execute("SELECT * FROM memwarden.setup()")
    assert (said(world), world.rows(copies)) == ([], [])
    world.admin.execute("ANALYZE")
    assert (said(world), world.rows(copies)) == ([], [])
