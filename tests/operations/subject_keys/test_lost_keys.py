"""Keys are missing: a file was lost, a standby was promoted, a copy was restored elsewhere.

What cannot be read counts as held and as not erased, until the keys are back. A key that an erasure
destroyed is not missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from helpers import write
from operations.subject_keys.conftest import Vault, keep
from shipped import SCOPE, Shipped

# What a backend sees: a server whose file of generations is away, and one without both files.
LOSE_GENERATIONS = """
DO $$
import os, shutil, tempfile
there = os.path.join(tempfile.mkdtemp(), "master.key")
shutil.copy(os.environ["MEMWARDEN_MASTER_KEY_FILE"], there)
os.environ["MEMWARDEN_MASTER_KEY_FILE"] = there
$$ LANGUAGE plpython3u"""
LOSE_ALL = """
DO $$
import os
os.environ["MEMWARDEN_MASTER_KEY_FILE"] = "/nonexistent/master.key"
$$ LANGUAGE plpython3u"""
NEW_GENERATION = """
DO $$
import os
with open(os.environ["MEMWARDEN_MASTER_KEY_FILE"] + ".subjects", "w") as file:
    file.write("99 " + "ab" * 32 + "\\n")
$$ LANGUAGE plpython3u"""
TEXTS = "SELECT hold_id FROM memwarden.hold('case 7', texts => %s, org => %s)"


@contextmanager
def without_keys(world: Any, lose: str = LOSE_GENERATIONS) -> Iterator[Connection[DictRow]]:
    """An administrator on a server that has lost its file of keys."""
    connection: Connection[DictRow] = world.log_in("postgres", autocommit=True)
    connection.execute(lose)
    try:
        yield connection
    finally:
        connection.close()


@dataclass
class Store:
    """A store as `memwarden init` leaves it, with encrypted memories of Petra and of Klaus."""

    shipped: Shipped
    items: dict[str, UUID] = field(default_factory=dict)

    @property
    def admin(self) -> Connection[DictRow]:
        """The administrator, whose server has its keys."""
        return self.shipped.world.admin

    @property
    def org_id(self) -> int:
        """The number of the organisation."""
        query = "SELECT org_id FROM memwarden_data.organisation WHERE name = 'acme'"
        return int(self.shipped.world.value(query))

    def remember(self) -> None:
        """Petra's rests on what she said of a contract; Klaus's says tea, and no capture does."""
        self.admin.execute(
            "SELECT memwarden.define_write_class('personal', encrypted => true, org => 'acme')"
        )
        text = "The Orion contract worries Petra."
        self.note("Petra", text, evidence=[self.shipped.heard("Petra", text)])
        self.note("Klaus", "Klaus likes tea with milk.")

    def note(self, who: str, text: str, **arguments: Any) -> None:
        """Have an agent note something of somebody."""
        about = {"subject": who, "predicate": "said", "class": "personal"}
        done = write(
            self.shipped.agent,
            "episodic",
            {"note": text},
            scope=SCOPE,
            **(about | arguments),
        )
        self.shipped.approve(done)
        self.items[who] = self.shipped.world.value(
            "SELECT item_id FROM memwarden_data.item WHERE subject = %s ORDER BY created_at DESC",
            who,
        )

    def hold(self, *texts: str) -> UUID:
        """Have a court ask for what names a text."""
        return UUID(str(self.shipped.world.value(TEXTS, list(texts), "acme")))

    def end(self) -> None:
        """Have both memories be over for long, by every rule."""
        self.admin.execute(
            "SELECT memwarden.set_retention(class => 'personal', keep_at_most => '30 days',"
            " afterwards => 'delete', org => 'acme')"
        )
        self.admin.execute(
            "SELECT memwarden.configure_layer('episodic', '{\"hard_delete\": \"after_grace\"}')"
        )
        for item in self.items.values():
            self.shipped.world.value(
                "SELECT count(*) FROM memwarden_internal.end_items("
                "%s, ARRAY[%s]::uuid[], 'EXPIRED', 'EXPIRE', 'over', 0)",
                self.org_id,
                item,
            )
        with self.admin.transaction():
            self.admin.execute("SET LOCAL session_replication_role = replica")
            self.admin.execute(
                "UPDATE memwarden_data.item SET created_at = created_at - interval '3 years',"
                " updated_at = updated_at - interval '3 years'"
            )

    def left(self) -> set[str]:
        """Whose memories are there."""
        rows = self.shipped.world.rows("SELECT DISTINCT subject FROM memwarden_data.version")
        return {row["subject"] for row in rows} & {"Petra", "Klaus"}


@pytest.fixture
def store(shipped: Shipped) -> Store:
    """The store, with both memories in it."""
    made = Store(shipped)
    made.remember()
    return made


def retain(_: Store, connection: Connection[DictRow]) -> None:
    """Run the job that ends what is kept too long."""
    connection.execute("CALL memwarden.enforce_retention()")


def collect(store: Store, connection: Connection[DictRow]) -> None:
    """Run the second phase of collection, which deletes."""
    connection.execute("SELECT memwarden_internal.list_layers_to_collect()")
    connection.execute("UPDATE memwarden_data.collection SET finished_at = NULL")
    while connection.execute(
        "SELECT memwarden_internal.collect_step(100, 10, clock_timestamp(), %s) AS more",
        (store.org_id,),
    ).fetchall() == [{"more": True}]:
        pass


def delete(cause: str, store: Store, connection: Connection[DictRow]) -> None:
    """Delete for good, as every job does."""
    connection.execute(
        "SELECT memwarden_internal.delete_for_good(%s, %s, 'old', %s)",
        (store.org_id, list(store.items.values()), cause),
    )


def erase(subject: str, connection: Connection[DictRow]) -> None:
    """Erase a person, and run the job that carries out what waited."""
    connection.execute("SELECT memwarden.erase_subject(%s, 'asked for', org => 'acme')", (subject,))
    connection.execute("CALL memwarden.enforce_consent()")


DELETING: dict[str, Callable[[Store, Connection[DictRow]], None]] = {
    "retention": retain,
    "collection": collect,
    "deletion by age": partial(delete, "RETENTION"),
    "deletion of collected": partial(delete, "COLLECTION"),
}


@pytest.mark.parametrize("way", DELETING)
@pytest.mark.parametrize("lose", [LOSE_GENERATIONS, LOSE_ALL], ids=["generations", "all keys"])
def test_nothing_unread_is_deleted_while_a_hold_asks_for_texts(
    store: Store, way: str, lose: str
) -> None:
    """Whatever deletes; with the keys back only what the hold asks for stays.

    Proves: Z5, R3, G3 (a hold by texts where keys are missing)
    """
    store.hold("orion contract")
    store.end()
    with without_keys(store.shipped.world, lose) as connection:
        DELETING[way](store, connection)
        assert store.left() == {"Petra", "Klaus"}
        (line,) = connection.execute(
            "SELECT state, detail FROM memwarden.status() WHERE component = 'legal holds'"
        ).fetchall()
        assert line["state"] == "warning"
        assert "2 memories cannot be read and count as held" in line["detail"]
    DELETING[way](store, store.admin)
    assert store.left() == {"Petra"}


@pytest.mark.parametrize("way", DELETING)
def test_without_a_hold_by_texts_age_decides(store: Store, way: str) -> None:
    """A hold on something else does not pause what needs no reading.

    Proves: Z5
    """
    store.admin.execute("SELECT memwarden.hold('case 8', subject => 'Petra', org => 'acme')")
    store.end()
    with without_keys(store.shipped.world) as connection:
        DELETING[way](store, connection)
    assert store.left() == {"Petra"}


def test_an_erasure_of_what_is_held_unread_waits(store: Store) -> None:
    """Klaus's memory may name the contract; with the keys back it does not, and goes.

    Proves: Z5, R1
    """
    store.hold("orion contract")
    with without_keys(store.shipped.world) as connection:
        erase("Klaus", connection)
        assert store.left() == {"Petra", "Klaus"}
    store.admin.execute("CALL memwarden.enforce_consent()")
    assert store.left() == {"Petra"}
    (row,) = store.shipped.world.rows("SELECT status, blocked_reason FROM memwarden.erasures")
    assert row == {"status": "COMPLETED", "blocked_reason": None}


def test_an_erasure_that_could_not_read_is_not_completed(store: Store) -> None:
    """BLOCKED, with a reason and an incident; the job carries it out when the keys are back.

    Proves: R1, T8 (no certificate of what was not read)
    """
    ask = "SELECT * FROM memwarden.erase_subject('Somebody', 'asked for', ARRAY['tea'], 'acme'{})"
    seen = (
        "SELECT status, blocked_reason, unread, blocked_by FROM memwarden.erasures"
        " ORDER BY asked_at LIMIT 1"
    )
    incident = "SELECT kind, state FROM memwarden.incidents WHERE kind = 'KEYS_UNAVAILABLE'"
    with without_keys(store.shipped.world) as connection:
        (tried,) = connection.execute(ask.format(", true")).fetchall()
        assert (tried["status"], tried["erasure_id"]) == ("BLOCKED", None)
        (asked,) = connection.execute(ask.format("")).fetchall()
        assert (asked["status"], asked["blocked_reason"]) == ("BLOCKED", "KEYS_UNAVAILABLE")
        assert (asked["unread"], asked["erased_at"], asked["places"]) == (2, None, None)
        # An incident at once, and no second one.
        assert connection.execute(incident).fetchall() == [
            {"kind": "KEYS_UNAVAILABLE", "state": "open"}
        ]
        (again,) = connection.execute(ask.format("")).fetchall()
        assert again["erasure_id"] == asked["erasure_id"]
        connection.execute("CALL memwarden.enforce_consent()")
        connection.execute("CALL memwarden.check_compliance()")
        (row,) = connection.execute(seen).fetchall()
        assert row == {
            "status": "BLOCKED",
            "blocked_reason": "KEYS_UNAVAILABLE",
            "unread": 2,
            "blocked_by": [],
        }
        assert len(connection.execute(incident).fetchall()) == 1
        assert store.left() == {"Petra", "Klaus"}
    store.admin.execute("CALL memwarden.enforce_consent()")
    assert store.left() == {"Petra"}
    (row,) = store.shipped.world.rows(seen)
    assert (row["status"], row["blocked_reason"]) == ("COMPLETED", None)
    store.admin.execute("CALL memwarden.check_compliance()")
    assert store.shipped.world.rows(incident) == [{"kind": "KEYS_UNAVAILABLE", "state": "closed"}]
    assert store.shipped.world.value("SELECT count(*) FROM memwarden.verify_log()") == 0


@pytest.mark.every_version
def test_keys_that_are_lost_for_good_are_given_up_by_number(store: Store) -> None:
    """Nothing waits any longer then; and nobody does that by mistake, or while there is no file.

    Proves: R1, Z5 (keys that are lost for good)
    """
    give_up = "SELECT memwarden.give_up_subject_keys(%s, %s)"
    store.hold("orion contract")
    store.end()
    with without_keys(store.shipped.world) as connection:
        erase("Klaus", connection)
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            connection.execute(give_up, (2, "gone"))
        connection.execute(NEW_GENERATION)
        for wrong in ((1, "gone"), (None, "gone"), (2, " "), (2, None)):
            with pytest.raises(psycopg.errors.InvalidParameterValue):
                connection.execute(give_up, wrong)
        assert store.left() == {"Petra", "Klaus"}
        connection.execute(give_up, (2, "the disk is gone"))
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute(give_up, (2, "the disk is gone"))
        connection.execute("CALL memwarden.enforce_consent()")
        assert store.left() == {"Petra"}
        connection.execute("CALL memwarden.enforce_retention()")
        assert store.left() == set()
        (row,) = connection.execute(
            "SELECT state FROM memwarden.status() WHERE component = 'subject keys'"
        ).fetchall()
        assert row == {"state": "ok"}
    # Though the old file is here again.
    (row,) = store.shipped.world.rows("SELECT status FROM memwarden.erasures")
    assert row == {"status": "COMPLETED"}


def test_a_destroyed_key_is_not_missing(vault: Vault) -> None:
    """What went with its key is held by no text, and stands against no erasure.

    Proves: R3, Z5, R1
    """
    agent = vault.agent()
    gone = keep(agent, {"illness": "gout"}, predicate="diagnosis")["item_id"]
    lost = keep(agent, {"illness": "flu"}, subject="Ana Lopez", predicate="diagnosis")["item_id"]
    admin = vault.world.admin
    org_id = vault.world.value(
        "SELECT org_id FROM memwarden_data.organisation WHERE name = %s", vault.org
    )
    admin.execute(
        "WITH gone AS (DELETE FROM memwarden_data.subject_key WHERE subject_key_id IN ("
        " SELECT subject_key_id FROM memwarden_data.item WHERE item_id = %s) RETURNING *)"
        " INSERT INTO memwarden_data.destroyed_key (org_id, subject_key_id, erasure_id, generation)"
        " SELECT org_id, subject_key_id, gen_random_uuid(), generation FROM gone",
        (gone,),
    )
    admin.execute(TEXTS, (["orion"], vault.org))
    kept = "SELECT item_id FROM memwarden_internal.reasons_to_keep(%s, %s)"
    assert vault.world.rows(kept, org_id, [gone, lost]) == []
    # Whose row is missing though no erasure took it may come back with another copy.
    admin.execute(
        "DELETE FROM memwarden_data.subject_key WHERE subject_key_id IN ("
        " SELECT subject_key_id FROM memwarden_data.item WHERE item_id = %s)",
        (lost,),
    )
    assert vault.world.rows(kept, org_id, [gone, lost]) == [{"item_id": lost}]
    assert vault.erase("Bo", "bo@example.org")["unread"] == 1


def test_what_waits_and_what_was_encrypted_of_a_value_count_too(vault: Vault) -> None:
    """A proposal, and a value that stands encrypted in a memory that is in clear.

    Proves: R1, Z5
    """
    world, admin = vault.world, vault.world.admin
    admin.execute("UPDATE memwarden_data.layer SET direct_writes = true WHERE layer = 'durable'")
    admin.execute(
        "SELECT memwarden.set_approval_policy('durable', approval => 'always', org => %s)",
        (vault.org,),
    )
    agent = vault.agent()
    asked = write(
        agent,
        "durable",
        {"illness": "gout"},
        subject="Petra",
        predicate="diagnosis",
        justification="it matters",
        **{"class": "personal"},
    )
    assert asked["outcome"] == "DEFERRED"
    admin.execute(TEXTS, (["orion"], vault.org))
    with without_keys(world) as connection:
        erase = "SELECT * FROM memwarden.erase_subject(%s, 'asked for', %s, %s)"
        (row,) = connection.execute(erase, ("Ana", ["ana@example.org"], vault.org)).fetchall()
        assert (row["blocked_reason"], row["unread"]) == ("KEYS_UNAVAILABLE", 1)
        (row,) = connection.execute(erase, ("Petra", [], vault.org)).fetchall()
        assert (row["blocked_reason"], row["requests"]) == ("KEYS_UNAVAILABLE", 1)
    # With the keys back nothing but her own erasure names Ana; Petra is erased.
    admin.execute("CALL memwarden.enforce_consent()")
    rows = world.rows(
        "SELECT status, requests FROM memwarden.erasures WHERE org = %s ORDER BY requests",
        vault.org,
    )
    assert rows == [
        {"status": "COMPLETED", "requests": 0},
        {"status": "COMPLETED", "requests": 1},
    ]


def test_a_capture_is_held_by_its_words(store: Store) -> None:
    """An erasure would take it with the person who speaks in it.

    Proves: Z5 (captures)
    """
    store.shipped.heard("Lena", "The Vega bid was mine.")
    hold = store.hold("vega bid")
    ask = "SELECT status, evidence FROM memwarden.erase_subject('Lena', 'asked for', org => 'acme')"
    assert store.shipped.world.rows(ask) == [{"status": "BLOCKED", "evidence": 1}]
    store.admin.execute("SELECT memwarden.lift_hold(%s, 'settled')", (hold,))
    assert store.shipped.world.rows(ask) == [{"status": "COMPLETED", "evidence": 1}]


def test_nothing_is_judged_by_what_cannot_be_read(store: Store) -> None:
    """Two memories say the same only where both are read; no standing falls, no scan is clean.

    Proves: R3, G3
    """
    store.note("Petra", "Petra owes 40 euros to the bakery.", predicate=None)
    store.items["second"] = store.items["Petra"]
    store.note("Petra", "Petra wears badge AB-12345.", predicate=None)
    store.admin.execute(
        "SELECT memwarden.define_sensitivity_rule("
        "    'badge', 'pii.badge', %s, %s, action => 'block', org => 'acme')",
        (Jsonb({"pattern": "AB-[0-9]{5}"}), Jsonb({"positive": ["AB-12345"], "negative": ["tea"]})),
    )
    store.admin.execute("CALL memwarden.rescan_sensitivity()")
    standing = (
        "SELECT i.item_id, i.standing, i.sensitivity, s.findings FROM memwarden_data.item AS i"
        "  LEFT JOIN memwarden_data.sensitivity_scan AS s USING (org_id, item_id) ORDER BY 1"
    )
    swept = "SELECT max(swept_at) FROM memwarden_data.sensitivity_ruleset"
    before, earlier = store.shipped.world.rows(standing), store.shipped.world.value(swept)
    assert [row["findings"] is None for row in before].count(False) == 1
    pair = [store.items["Petra"], store.items["second"]]
    assert pair[0] != pair[1]
    same = (
        "SELECT memwarden_internal.says_the_same(ARRAY[%s], %s, ARRAY[%s], ARRAY[1.0], %s) AS same"
    )
    judged = (
        "SELECT j.verdict, j.reason FROM memwarden_data.item AS i CROSS JOIN LATERAL"
        " memwarden_internal.judge_again(i.org_id, i.item_id, i.version_id, clock_timestamp()) AS j"
        " WHERE i.item_id = ANY (%s)"
    )
    with without_keys(store.shipped.world) as connection:
        relations = ["same", "alike"]
        (row,) = connection.execute(same, (store.org_id, *pair, relations)).fetchall()
        assert row["same"] == []
        for verdict in connection.execute(judged, (pair,)).fetchall():
            assert verdict == {"verdict": "UNCERTAIN", "reason": "KEYS_UNAVAILABLE"}
        connection.execute("CALL memwarden.sweep()")
        connection.execute("CALL memwarden.rescan_sensitivity()")
    assert store.shipped.world.rows(standing) == before
    assert store.shipped.world.value(swept) == earlier
    store.admin.execute("CALL memwarden.rescan_sensitivity()")
    assert store.shipped.world.value(swept) > earlier
