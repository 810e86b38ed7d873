"""What happened is appended to a log that nobody who reads memory can read."""

from __future__ import annotations

import uuid
from functools import partial

import psycopg
import pytest
from psycopg.types.json import Json

from conftest import World
from helpers import recall, write
from intake.capture.conftest import age, capture, extract, said
from races import together


def test_a_capture_is_stored_once_and_says_nothing_to_readers(world: World) -> None:
    """Not through recall, get, as_of or a view; the capturer sees that it is there.

    Proves: F1 (append-only, never served to recall)
    """
    agent = world.agent()
    made = capture(agent, said("The heron is grey"), session_id="s1")
    for query in (
        "SELECT * FROM memwarden.recall('heron grey')",
        "SELECT * FROM memwarden.items",
        f"SELECT * FROM memwarden.get('{made}')",
        "SELECT * FROM memwarden.as_of(now())",
        f"SELECT * FROM memwarden.history('{made}')",
    ):
        assert agent.execute(query).fetchall() == []
    (row,) = agent.execute("SELECT * FROM memwarden.captures").fetchall()
    assert (row["capture_id"], row["session_id"], row["text_kept"]) == (made, "s1", True)
    assert "heron" not in str(row)


@pytest.mark.every_version
def test_no_reader_knows_the_log(shared_world: World) -> None:
    """By the catalog: no function but those of the fabric, erasure and jobs names its table.

    Proves: F1 (never served to recall)
    """
    names = shared_world.rows(
        "SELECT p.proname AS name FROM pg_proc AS p JOIN pg_namespace AS n"
        "    ON n.oid = p.pronamespace"
        " WHERE n.nspname IN ('memwarden', 'memwarden_internal')"
        "   AND p.proname <> 'storage_parts'"
        r"   AND p.prosrc ~ 'memwarden_data\.(capture|capture_key|said_capture)\M'"
    )
    assert {row["name"] for row in names} == {
        *("append_capture", "due_captures", "extract_next", "shown_capture", "submit_candidates"),
        *("take_candidates", "decided_candidates", "capture_of"),
        # What a memory cites: the one sentence that bears it out goes with the memory.
        *("citable_capture", "capture_named", "words_cited", "cited_capture"),
        # Which there are for whoever may cite them, without what they say, and how many hold
        # something that nobody has read.
        *("citable", "capture_status"),
        *("guard_capture", "compact_next_captures", "list_captures", "set_capture_retention"),
        *("list_extraction_statistics", "create_partitions", "secure_tables"),
        *("find_captures", "newer_extent", "erase_captures", "sources_among", "old_records"),
        # Whether what a memory rests on is there: yes or no, to the job that judges it again.
        "is_hidden_source",
        # Whether a legal hold keeps one, nobody reads it, or a key encrypts it: to an erasure.
        *("holds_source", "unread_of_search", "doomed_keys", "sealed_sources"),
    }


@pytest.mark.parametrize("group", ["agent", "reviewer", "curator", "auditor", "admin"])
def test_no_role_reads_a_row_of_the_log(world: World, group: str) -> None:
    """Not its own either, and not where a DBA has granted the table.

    Proves: F1 (never served to recall)
    """
    agent = world.agent(groups=[f"memwarden_{group}", "memwarden_agent"])
    made = capture(agent, said("I like herons"))
    extract(agent)
    tables = ("capture", "capture_key", "extraction", "candidate")
    for table in tables:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            agent.execute(f"SELECT FROM memwarden_data.{table}")
    world.grant_tables(agent.info.user)
    for table in tables:
        assert agent.execute(f"SELECT FROM memwarden_data.{table}").fetchall() == []
    assert world.value("SELECT capture_id FROM memwarden_data.capture") == made


@pytest.mark.every_version
def test_another_sees_nothing_of_it(world: World) -> None:
    """Neither in the view, nor by citing it: whatever it says, the answer is the same.

    Proves: F1
    """
    ana, bob = world.agent("/org/acme"), world.agent("/org/acme")
    made = capture(ana, said("The heron is grey"))
    assert bob.execute("SELECT * FROM memwarden.captures").fetchall() == []
    world.ship_layers()
    answers = [
        write(bob, "episodic", text, evidence=[{"uri": f"memwarden:capture/{each}"}])
        for each in (made, uuid.uuid4())
        for text in ("The heron is grey", "The heron is blue")
    ]
    details = [str(row["detail"]).replace(str(made), "") for row in answers]
    assert {row["reason"] for row in answers} == {"SELF_REFERENTIAL"}
    assert len({d.split("'uri'")[0] for d in details}) == 1
    assert extract(bob) == []
    assert bob.execute("SELECT * FROM memwarden.claim_captures('llm')").fetchall() == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE memwarden_data.capture SET source = 'other'",
        "UPDATE memwarden_data.capture SET content = '1'",
        "UPDATE memwarden_data.capture SET content = NULL",
        "DELETE FROM memwarden_data.capture",
        "TRUNCATE memwarden_data.capture",
        "UPDATE memwarden_data.extractor SET layer = 'episodic'",
        "DELETE FROM memwarden_data.extractor",
        "UPDATE memwarden_data.calibration SET version = 9",
    ],
)
def test_nobody_changes_it(world: World, change: str) -> None:
    """Not the owner of the table either.

    Proves: F1 (append-only), F2 (pinned versions)
    """
    capture(world.agent(), said("I like herons"))
    world.admin.execute("SET ROLE memwarden_owner")
    with pytest.raises(psycopg.errors.ObjectInUse):
        world.admin.execute(change)
    world.admin.execute("RESET ROLE")


def test_the_same_external_id_is_captured_once(world: World) -> None:
    """However many ask at once; another content under it is refused.

    Proves: F1
    """
    agent = world.agent()
    login = agent.info.user
    made = set()
    hands = [world.connect(login) for _ in range(6)]

    def ask(n: int) -> None:
        made.add(capture(hands[n], said("I like herons"), external_id="turn 1"))

    together([partial(ask, n) for n in range(6)])
    assert len(made) == 1
    assert world.value("SELECT count(*) FROM memwarden_data.capture") == 1
    with pytest.raises(psycopg.errors.DuplicateObject):
        capture(agent, said("I hate herons"), external_id="turn 1")
    assert capture(agent, said("I like herons"), source="mail", external_id="turn 1") not in made


def test_the_id_of_another_is_no_hindrance(world: World) -> None:
    """Who captures under an id neither blocks others nor learns of them.

    Proves: F1
    """
    ana, bob = world.agent("/org/acme"), world.agent("/org/acme")
    first = capture(ana, said("I like herons"), external_id="turn 1")
    assert capture(bob, said("I hate herons"), external_id="turn 1") != first


def test_what_is_sensitive_is_never_stored(world: World) -> None:
    """Blocked, encrypted or redacted elsewhere: here it is masked, and the rest is kept.

    Proves: F7
    """
    agent = world.agent()
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    made = capture(
        agent,
        {"role": "user", "text": f"my key is {key} and I like herons", key: 1},
        trace_id=f"t {key}",
        external_id=f"x {key}",
    )
    row = world.rows("SELECT * FROM memwarden_data.capture")[0]
    assert key not in str(row)
    assert "I like herons" in row["content"]["text"]
    assert {each["kind"] for each in row["masked"]} >= {"secret.aws_key"} or row["masked"]
    assert (
        capture(
            agent,
            {"role": "user", "text": f"my key is {key} and I like herons", key: 1},
            external_id=f"x {key}",
        )
        == made
    )
    dump = "".join(
        str(world.rows(f"SELECT t.* FROM {each['name']} AS t"))
        for each in world.rows(
            "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
            " WHERE relnamespace = 'memwarden_data'::regnamespace AND relkind = 'r'"
        )
    )
    assert key not in dump


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"source": "No Good"}, psycopg.errors.InvalidParameterValue),
        ({"content": None}, psycopg.errors.InvalidParameterValue),
        ({"content": "x" * 70_000}, psycopg.errors.InvalidParameterValue),
        ({"content": 2**60}, psycopg.errors.InvalidParameterValue),
        ({"session_id": ""}, psycopg.errors.InvalidParameterValue),
        ({"external_id": "x" * 201}, psycopg.errors.InvalidParameterValue),
        ({"captured_at": "2999-01-01"}, psycopg.errors.InvalidParameterValue),
        ({"classification": "cosmic"}, psycopg.errors.InvalidParameterValue),
        ({"domains": ["law"]}, psycopg.errors.InvalidParameterValue),
        ({"scope": "/org/other"}, psycopg.errors.UndefinedObject),
        ({"scope": "/org/acme"}, psycopg.errors.UndefinedObject),
    ],
)
def test_bad_arguments_are_refused_and_store_nothing(
    world: World, arguments: dict[str, object], error: type[Exception]
) -> None:
    """With what is wrong, and none of the content.

    Proves: F1
    """
    agent = world.agent()
    with pytest.raises(error) as raised:
        capture(agent, **({"content": said("a")} | arguments))  # type: ignore[arg-type]
    assert "xxx" not in str(raised.value)
    assert world.value("SELECT count(*) FROM memwarden_data.capture") == 0


@pytest.mark.every_version
def test_one_bad_capture_harms_no_other(world: World) -> None:
    """Each of a batch has its own answer.

    Proves: F1
    """
    agent = world.agent()
    batch = [
        {"source": "chat", "content": said("I like herons"), "external_id": "1"},
        {"source": "chat", "content": None},
        {"source": "chat", "content": 1, "colour": 2},
        "nothing",
        {"source": "chat", "content": 1, "captured_at": "soon"},
        {"source": "chat", "content": said("I like herons"), "external_id": "1"},
        {"source": "chat", "content": 1, "scope": "/org/other"},
    ]
    rows = agent.execute("SELECT * FROM memwarden.capture_many(%s)", (Json(batch),)).fetchall()
    assert [row["fault"] for row in rows] == [None, *["22023"] * 3, "22007", None, "42704"]
    assert [row["repeated"] for row in rows if row["capture_id"]] == [False, True]
    assert [row["ordinal"] for row in rows] == list(range(7))


def test_time_takes_the_text_and_then_the_row(world: World) -> None:
    """By the terms of its source, on those of today; two jobs at once do it once.

    Proves: F1 (tier-by-tier compaction)
    """
    agent = world.agent()
    world.admin.execute(
        "SELECT memwarden.define_capture_source('chat', '10 days', '20 days', org => 'acme')"
    )
    young, old, oldest, other = (
        capture(agent, said("I live in Rome, near herons"), source=source, external_id=str(n))
        for n, source in enumerate(("chat", "chat", "chat", "mail"))
    )
    age(world, old, 11)
    age(world, oldest, 21)
    age(world, other, 21)
    jobs = [world.connect("memwarden_jobs") for _ in range(2)]
    together([partial(job.execute, "CALL memwarden.compact_captures()") for job in jobs])
    kept = {
        row["capture_id"]: row["kept"]
        for row in world.rows(
            "SELECT capture_id, content IS NOT NULL AS kept FROM memwarden_data.capture"
        )
    }
    assert kept == {young: True, old: False, other: True}
    assert world.value("SELECT count(*) FROM memwarden_data.capture_key") == 3
    assert {row["capture_id"] for row in extract(agent)} == {young, other}
    assert recall(agent, query="herons")


def test_a_legal_hold_keeps_captures(world: World) -> None:
    """Texts and records of the organisation, until the hold is lifted.

    Proves: Z5 (what a held memory cites stays)
    """
    world.admin.execute("SELECT memwarden.define_capture_source('chat', '10 days', '20 days')")
    held, free = (
        capture(world.agent(f"/org/{org}/user/a"), said("I like herons"), source="chat")
        for org in ("acme", "globex")
    )
    for item in (held, free):
        age(world, item, 21)
    world.admin.execute("SELECT memwarden.hold('case 7', layers => '{semantic}', org => 'acme')")
    jobs = world.connect("memwarden_jobs")
    for call in ("CALL memwarden.compact_captures()", "SELECT memwarden.maintain()"):
        jobs.execute(call)
    left = "SELECT capture_id, content IS NOT NULL AS kept FROM memwarden_data.capture"
    assert world.rows(left) == [{"capture_id": held, "kept": True}]
    keep = "SELECT retention FROM partman.part_config WHERE parent_table = %s"
    assert world.value(keep, "memwarden_data.capture") == "200 years"
    world.admin.execute("SELECT memwarden.lift_hold(hold_id, 'over') FROM memwarden.holds")
    jobs.execute("CALL memwarden.compact_captures()")
    assert world.rows(left) == []


def test_a_month_without_captures_is_dropped(world: World) -> None:
    """What maintain() drops is what no source keeps.

    Proves: F1 (partitioned)
    """
    world.admin.execute("SELECT memwarden.define_capture_source('*', '0', '0')")
    before = world.value(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'memwarden_data.capture'::regclass"
    )
    assert before > 2
    world.connect("memwarden_jobs").execute("SELECT memwarden.maintain()")
    left = world.value(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = 'memwarden_data.capture'::regclass"
    )
    assert left < before
    capture(world.agent(), said("I like herons"))
