"""Captures and recorded evidence of a class that is encrypted, in a store as init leaves it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection, errors
from psycopg.rows import DictRow
from psycopg.types.json import Json, Jsonb

from access import call, state
from conftest import World
from helpers import recall, write
from intake.capture.conftest import age
from operations.erasure.conftest import holding
from operations.subject_keys.test_lost_keys import TEXTS, without_keys
from shipped import SCOPE, Shipped

# Words of Petra's that stand nowhere else.
CANARY = "zqpretzels"
WORDS = f"Petra is allergic to {CANARY}."
SECRET = {"subject": "Petra", "class": "personal"}
FACT: dict[str, Any] = {"subject": "Petra", "predicate": "is allergic to", "scope": SCOPE}
ERASE = "SELECT * FROM memwarden.erase_subject(%s, 'asked for', %s, org => 'acme')"


@pytest.fixture
def world(shipped: Shipped) -> World:
    """The store, in which the class personal is encrypted."""
    shipped.world.admin.execute(
        "SELECT memwarden.define_write_class('personal', encrypted => true, org => 'acme')"
    )
    issuer = shipped.application.info.user
    shipped.world.admin.execute(
        "SELECT memwarden.define_source('letter:*', 'human_input', issuer => %s, org => 'acme')",
        (issuer,),
    )
    return shipped.world


def capture(shipped: Shipped, text: str = WORDS, who: str | None = None, **more: Any) -> UUID:
    """Have the application record what somebody says of herself; the id."""
    turn = {"role": "user", "speaker": who or text.partition(" ")[0], "text": text}
    arguments = {"source": "chat", "content": Jsonb(turn), "scope": SCOPE} | SECRET | more
    return UUID(str(call(shipped.application, "capture", **arguments)[0]["capture"]))


def record(shipped: Shipped, excerpt: str = WORDS, **more: Any) -> str:
    """Have the application record a letter; the uri that it is cited by."""
    arguments = {"uri": "letter:1", "excerpt": excerpt, "scope": SCOPE} | SECRET | more
    return str(call(shipped.application, "record_evidence", **arguments)[0]["record_evidence"])


def note(shipped: Shipped, uri: str, **more: Any) -> DictRow:
    """Have the agent write what rests on it, in no class of its own."""
    arguments: dict[str, Any] = FACT | {"evidence": [{"uri": uri}]} | more
    content = arguments.pop("content", {"allergy": CANARY})
    return write(shipped.agent, "episodic", content, **arguments)


def made(shipped: Shipped) -> list[tuple[str, UUID]]:
    """A capture and a letter of Petra's: the uri of each and its number."""
    heard, letter = capture(shipped), record(shipped)
    return [(f"memwarden:capture/{heard}", heard), (letter, UUID(letter.rpartition("/")[2]))]


def standing(shipped: Shipped) -> list[str]:
    """How firmly each memory may be said."""
    rows = shipped.world.rows("SELECT standing FROM memwarden_data.item WHERE status = 'ACTIVE'")
    return sorted(row["standing"] for row in rows)


def test_what_is_recorded_is_cited_and_stands_nowhere_in_clear(
    shipped: Shipped, world: World
) -> None:
    """Its words bear a memory out, which is encrypted as well, whatever its class.

    Proves: R3 (captures, recorded evidence, kept sentences, requests, records)
    """
    for uri, _ in made(shipped):
        done = note(shipped, uri, predicate=f"learnt from {uri[10:17]}")
        assert done["outcome"] == "COMMITTED", done
        (read,) = call(shipped.agent, "get", item_id=done["item_id"])
        assert (read["content"], read["class"]) == ({"allergy": CANARY}, None)
        assert holding(world, CANARY) == set()
    assert len(recall(shipped.agent, query=CANARY)) == 2
    encrypted = standing(shipped)
    open_to_all = {"subject": None, "class": None}
    for uri in (
        f"memwarden:capture/{capture(shipped, 'Petra likes tea.', **open_to_all)}",
        record(shipped, "Petra likes tea.", **open_to_all),
    ):
        likes = {"content": {"likes": "tea"}, "predicate": f"likes by {uri[10:17]}"}
        assert note(shipped, uri, **likes)["outcome"] == "COMMITTED"
    # What is recorded in clear bears out as much, and is shown to no fewer.
    assert standing(shipped) == sorted(encrypted * 2)
    shown = shipped.agent.execute("SELECT excerpt FROM memwarden.evidence").fetchall()
    assert [row["excerpt"] for row in shown] == [WORDS, "Petra likes tea."]
    assert world.rows("SELECT * FROM memwarden.verify_evidence()") == []
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []


def test_what_rests_on_an_encrypted_memory_is_encrypted(shipped: Shipped, world: World) -> None:
    """Of no class, by another key and with the words of its capture, once that has ended.

    Proves: R3 (kept sentences)
    """
    heard = capture(shipped)
    first = note(shipped, f"memwarden:capture/{heard}", **{"class": "personal"})
    shipped.approve(first)
    item = world.value("SELECT item_id FROM memwarden_data.item")
    age(world, heard, 100)
    world.admin.execute("CALL memwarden.compact_captures()")
    cites = [{"uri": f"memwarden:item/{item}"}, {"uri": f"memwarden:capture/{heard}"}]
    done = note(shipped, "", evidence=cites, predicate="avoids", content={"avoids": CANARY})
    assert done["outcome"] in ("COMMITTED", "DEFERRED"), done
    shipped.approve(done)
    assert len(recall(shipped.agent, query=CANARY)) == 2
    assert holding(world, CANARY) == set()


def test_a_request_that_waits_on_encrypted_words_is_encrypted(
    shipped: Shipped, world: World
) -> None:
    """A person decides about it; what it rests on is encrypted in the queue, too.

    Proves: R3
    """
    world.admin.execute(
        "SELECT memwarden.set_approval_policy('episodic', approval => 'always', org => 'acme')"
    )
    for uri, _ in made(shipped):
        waits = note(shipped, uri, predicate=f"learnt from {uri[10:17]}")
        assert waits["outcome"] == "DEFERRED", waits
        assert holding(world, CANARY) == set()
        shipped.approve(waits)
    assert len(recall(shipped.agent, query=CANARY)) == 2
    assert holding(world, CANARY) == set()


def test_no_question_holds_a_word_of_it(shipped: Shipped, world: World) -> None:
    """What a verifier or a reviewer is asked about it waits encrypted.

    Proves: R3 (questions to the worker)
    """
    sources = made(shipped)
    world.admin.execute(
        "SELECT memwarden.require_verifier('episodic', 'verify', 'judge', org => 'acme')"
    )
    for uri, _ in sources:
        waits = note(shipped, uri, predicate=f"learnt from {uri[10:17]}")
        assert waits["reason"] == "AWAITING_VERDICT", waits
    assert world.value("SELECT count(*) FROM memwarden_data.job WHERE payload ? 'sealed'") == 2
    shipped.use("strict")
    for uri, _ in sources:
        evidence = [{"uri": uri, "excerpt": WORDS}]
        refused = write(
            shipped.agent, "semantic", {"fears": CANARY}, subject="Klaus", evidence=evidence
        )
        assert refused["outcome"] in ("REJECTED", "DEFERRED"), refused
    assert holding(world, CANARY) == set()


def test_extractors_read_encrypted_captures(shipped: Shipped, world: World) -> None:
    """In the database and outside; what they find is encrypted. Keys that are away come first.

    Proves: R3
    """
    said = f"I live in {CANARY.title()}."
    first = capture(shipped, said, "Petra", external_id="1")
    again = capture(shipped, said, "Petra", external_id="1")
    assert first == again
    other = {"external_id": "1", "source": "chat", "content": Jsonb("other"), **SECRET}
    assert state(shipped.application, "capture", scope=SCOPE, **other) == "42710"
    with without_keys(world) as connection:
        connection.execute("CALL memwarden.extract_captures()")
    assert world.value("SELECT count(*) FROM memwarden_data.extraction") == 0
    found = call(shipped.application, "extract")
    assert [row["candidates"] for row in found] == [1]
    assert [row["outcome"] for row in found] in (["COMMITTED"], ["DEFERRED"]), found
    assert holding(world, CANARY) == set()
    call(world.admin, "define_extractor", name="out", method="plugin", plugin="out", org="acme")
    (claimed,) = call(
        shipped.application, "claim_captures", plugin="out", extractor="out", version=1
    )
    assert claimed["capture"]["content"]["text"] == f"I live in {CANARY.title()}."


def test_an_erasure_leaves_nothing_that_a_backup_could_bring_back(
    shipped: Shipped, world: World
) -> None:
    """The key goes with what it encrypted: rows of a copy that is older say nothing any more.

    Proves: R1, R3
    """
    for uri, _ in made(shipped):
        note(shipped, uri, predicate=f"learnt from {uri[10:17]}")
    capture(shipped, "Klaus likes tea.", subject="Klaus")
    older = {
        table: world.rows(f"SELECT * FROM memwarden_data.{table}")
        for table in ("capture", "evidence")
    }
    (done,) = world.rows(ERASE, "petra", [])
    assert (done["status"], done["items"], done["evidence"]) == ("COMPLETED", 2, 2)
    assert (done["places"]["subject_key"], done["places"]["evidence"]) == (1, 1)
    assert world.value("SELECT in_clear FROM memwarden.erasures") == 0
    assert world.value("SELECT count(*) FROM memwarden_data.capture") == 1
    assert world.value("SELECT count(*) FROM memwarden_data.subject_key") == 1
    with world.admin.transaction(force_rollback=True):
        world.admin.execute("SET LOCAL session_replication_role = replica")
        for table, rows in older.items():
            for row in rows:
                row |= {name: Jsonb(row[name]) for name in ("content", "masked") if row.get(name)}
                world.admin.execute(
                    f"INSERT INTO memwarden_data.{table} ({', '.join(row)})"
                    f" VALUES ({', '.join(f'%({name})s' for name in row)}) ON CONFLICT DO NOTHING",
                    row,
                )
        said = "SELECT content FROM memwarden_data.said_capture WHERE content::text ~ 'Petra'"
        assert world.rows(said) == []
        assert world.rows("SELECT excerpt FROM memwarden_data.said_record") == [{"excerpt": None}]
        # Destroyed is not missing: it stands against nobody's erasure.
        assert world.value("SELECT count(*) FROM memwarden_data.said_capture WHERE is_unread") == 0
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []


def test_an_erasure_by_identifiers_reads_encrypted_words(shipped: Shipped, world: World) -> None:
    """What names the identifier goes, whoever it is of; the key of another stays.

    Proves: R1, R3
    """
    mine, theirs = made(shipped), capture(shipped, "Klaus likes tea.", subject="Klaus")
    note(shipped, mine[0][0])
    (done,) = world.rows(ERASE, "Nobody", [CANARY])
    assert (done["status"], done["items"], done["evidence"]) == ("COMPLETED", 1, 2)
    assert world.rows("SELECT capture_id FROM memwarden_data.capture") == [{"capture_id": theirs}]
    # Of her nothing else was recorded: it went with its key.
    assert world.value("SELECT in_clear FROM memwarden.erasures") == 0


@pytest.mark.parametrize("make", [capture, record])
def test_what_cannot_be_read_is_held_and_not_erased(
    shipped: Shipped, world: World, make: Any
) -> None:
    """By texts, and by identifiers; with the keys back the erasures are carried out.

    Proves: Z5, R1, R3 (captures and recorded evidence where keys are missing)
    """
    make(shipped)
    hold = world.value(TEXTS, [CANARY], "acme")
    assert world.rows(ERASE, "Petra", [])[0]["blocked_reason"] == "HELD"
    world.admin.execute("SELECT memwarden.lift_hold(%s, 'settled')", (hold,))
    world.value(TEXTS, ["something else"], "acme")
    with without_keys(world) as connection:
        (asked,) = connection.execute(ERASE, ("Petra", [])).fetchall()
        assert (asked["blocked_reason"], asked["unread"]) == ("KEYS_UNAVAILABLE", 1)
        (asked,) = connection.execute(ERASE, ("Bo", ["bo@example.org"])).fetchall()
        assert (asked["blocked_reason"], asked["unread"]) == ("KEYS_UNAVAILABLE", 1)
    world.admin.execute("CALL memwarden.enforce_consent()")
    rows = world.rows("SELECT status, evidence FROM memwarden.erasures ORDER BY evidence")
    assert rows == [{"status": "COMPLETED", "evidence": number} for number in (0, 1)]


def test_her_own_words_need_no_reading_where_nothing_holds_them(
    shipped: Shipped, world: World
) -> None:
    """The key says whose they are, though the server does not open it.

    Proves: R1, R3
    """
    made(shipped)
    with without_keys(world) as connection:
        (done,) = connection.execute(ERASE, ("Petra", [])).fetchall()
    assert (done["status"], done["evidence"]) == ("COMPLETED", 2)


def test_without_keys_nothing_is_read_and_nothing_is_judged(shipped: Shipped, world: World) -> None:
    """Evidence without words, a write that is not there; no standing falls.

    Proves: R3
    """
    sources = made(shipped)
    for uri, _ in sources:
        note(shipped, uri, predicate=f"learnt from {uri[10:17]}")
    before = standing(shipped)
    with world.log_in("postgres", autocommit=True) as admin, without_keys(world) as lost:
        (shown,) = lost.execute("SELECT excerpt FROM memwarden_data.said_record").fetchall()
        assert shown["excerpt"] is None
        lost.execute("CALL memwarden.sweep()")
        assert world.rows("SELECT * FROM memwarden.verify_evidence()") == []
        assert admin.execute("SELECT * FROM memwarden.verify_evidence()").fetchall() == []
    assert standing(shipped) == before
    world.admin.execute("CALL memwarden.sweep()")
    assert standing(shipped) == before


def test_a_key_stays_while_words_are_under_it(shipped: Shipped, world: World) -> None:
    """The last memory goes by its age; a capture and a letter can still be read.

    Proves: R3
    """
    made(shipped)
    done = note(shipped, "tool:x", **{"class": "personal"})
    shipped.approve(done)
    item, org = world.rows("SELECT item_id, org_id FROM memwarden_data.item LIMIT 1")[0].values()
    deleted = "SELECT deleted FROM memwarden_internal.delete_for_good(%s, %s, 'old', 'RETENTION')"
    assert world.value(deleted, org, [item]) == [item]
    assert world.value("SELECT content ->> 'text' FROM memwarden_data.said_capture") == WORDS
    assert world.value("SELECT excerpt FROM memwarden_data.said_record") == WORDS


def test_changed_ciphertext_is_named_where_nobody_opens_it(shipped: Shipped, world: World) -> None:
    """The seal of recorded evidence vouches for the ciphertext and for its key.

    Proves: R3
    """
    record(shipped)
    for change in ("sealed = sealed || '\\x00'", "subject_key_id = gen_random_uuid()"):
        with without_keys(world) as lost, lost.transaction(force_rollback=True):
            lost.execute("SET LOCAL session_replication_role = replica")
            lost.execute(f"UPDATE memwarden_data.evidence SET {change}")
            # The file of generations is away; the master key, which seals, is there.
            (found,) = lost.execute("SELECT finding FROM memwarden.verify_evidence()").fetchall()
            assert found["finding"] == "ALTERED"


def test_the_text_of_an_encrypted_capture_goes_with_age(shipped: Shipped, world: World) -> None:
    """The ciphertext goes as the text of others does, and nothing before its time.

    Proves: R3
    """
    made_id = capture(shipped)
    with pytest.raises(errors.Error):
        world.admin.execute("UPDATE memwarden_data.capture SET sealed = NULL, content = NULL")
    age(world, made_id, 100)
    world.admin.execute("CALL memwarden.compact_captures()")
    assert world.rows("SELECT content, sealed FROM memwarden_data.capture") == [
        {"content": None, "sealed": None}
    ]


def test_a_class_that_is_encrypted_needs_a_subject(shipped: Shipped, world: World) -> None:
    """An unknown class is named; one that is not encrypted asks for nothing.

    Proves: R3
    """
    application: Connection[DictRow] = shipped.application
    turn = {"source": "chat", "content": Jsonb("hi"), "scope": SCOPE}
    letter = {"uri": "letter:2", "excerpt": "hi", "scope": SCOPE}
    for name, arguments in (("capture", turn), ("record_evidence", letter)):
        for given, code in (
            ({"class": "personal"}, "22023"),
            ({"class": "personal", "subject": " "}, "22023"),
            ({"class": "unheard_of", "subject": "Petra"}, "42704"),
        ):
            assert state(application, name, **arguments, **given) == code
        call(application, name, **arguments, **{"class": "preference"})
    many = [
        {"source": "chat", "content": CANARY, "scope": SCOPE} | given
        for given in ({}, {"class": "personal"}, SECRET, {"class": "unheard_of"})
    ]
    rows = call(application, "capture_many", captures=Json(many[1:]))
    assert [row["fault"] for row in rows] == ["22023", None, "42704"]
    assert holding(world, CANARY) == set()
    assert world.value("SELECT count(*) FROM memwarden_data.capture WHERE sealed IS NULL") == 1


def test_a_new_generation_opens_what_an_older_one_encrypted(shipped: Shipped, world: World) -> None:
    """Keys are wrapped anew; the words need not be.

    Proves: R3
    """
    made(shipped)
    with world.log_in("postgres", autocommit=True) as admin:
        admin.execute(NEXT_GENERATION)
        (done,) = admin.execute("SELECT * FROM memwarden.rewrap_subject_keys()").fetchall()
        assert done["rewrapped"] == 1
        admin.execute(NEWEST_ONLY)
        query = (
            "SELECT c.content ->> 'text' AS heard, e.excerpt FROM memwarden_data.said_capture AS c"
            " CROSS JOIN memwarden_data.said_record AS e"
        )
        assert admin.execute(query).fetchall() == [{"heard": WORDS, "excerpt": WORDS}]


# A server of its own beside the files of the others: a copy of them with one generation more.
NEXT_GENERATION = """
DO $$
import os, shutil, tempfile
old = os.environ["MEMWARDEN_MASTER_KEY_FILE"]
new = os.path.join(tempfile.mkdtemp(), "master.key")
shutil.copy(old, new)
with open(old + ".subjects") as lines, open(new + ".subjects", "w") as more:
    more.write(lines.read() + "9 " + "ab" * 32 + "\\n")
os.chmod(new + ".subjects", 0o600)
os.environ["MEMWARDEN_MASTER_KEY_FILE"] = new
$$ LANGUAGE plpython3u"""
NEWEST_ONLY = """
DO $$
import os
path = os.environ["MEMWARDEN_MASTER_KEY_FILE"] + ".subjects"
with open(path) as lines:
    last = lines.readlines()[-1]
with open(path, "w") as kept:
    kept.write(last)
$$ LANGUAGE plpython3u"""
