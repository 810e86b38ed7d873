"""Memories of an encrypted class stand nowhere in clear, and are read and found as others."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from helpers import recall
from operations.erasure.conftest import holding, remember
from operations.subject_keys.conftest import Vault, keep


def test_what_is_encrypted_is_read_and_found_and_stands_nowhere_in_clear(vault: Vault) -> None:
    """get, recall, items, history, as_of and a filter say it; no table does.

    Proves: R3
    """
    agent = vault.agent()
    done = keep(agent, {"illness": "zqxdiabetes since her zqxwedding"})
    (row,) = agent.execute("SELECT * FROM memwarden.get(%s)", (done["item_id"],)).fetchall()
    assert row["content"] == {"illness": "zqxdiabetes since her zqxwedding"}
    (found,) = recall(agent, query="zqxwedding zqxdiabetes", k=1)
    assert (found["item_id"], found["keyword_score"]) == (done["item_id"], 1)
    assert found["text"] == "Petra Horvat illness zqxdiabetes since her zqxwedding"
    for query in (
        "SELECT content FROM memwarden.items WHERE subject = 'Petra Horvat'",
        "SELECT content FROM memwarden.history(%(item)s)",
        "SELECT content FROM memwarden.as_of(clock_timestamp(), item_id => %(item)s)",
        "SELECT content FROM memwarden.recall('x', threshold => 0, filter =>"
        ' \'{"illness": "zqxdiabetes since her zqxwedding"}\')',
    ):
        (row,) = agent.execute(query, {"item": done["item_id"]}).fetchall()
        assert row["content"] == {"illness": "zqxdiabetes since her zqxwedding"}, query
    assert holding(vault.world, "zqx") == set()
    assert vault.findings() == []


def test_an_erasure_destroys_the_key_and_counts_by_place(vault: Vault) -> None:
    """Another person's memory stays readable; a memory in clear is counted as such.

    Proves: R3, Z10
    """
    agent = vault.agent()
    keep(agent, {"illness": "zqydiabetes"})
    remember(agent, "Petra Horvat came", subject="Petra Horvat")
    other = keep(agent, {"illness": "zqygout"}, subject="Bo")
    done = vault.erase("petra horvat")
    assert (done["items"], done["places"]["subject_key"], done["final_at"]) == (2, 1, None)
    assert done["places"]["item"] == done["places"]["version"] == 2
    (certificate,) = vault.world.rows(
        "SELECT * FROM memwarden.erasures WHERE erasure_id = %s", done["erasure_id"]
    )
    assert (certificate["signature"], certificate["subject_keys"]) == ("GENUINE", 1)
    assert (certificate["in_clear"], certificate["places"]) == (1, done["places"])
    (left,) = agent.execute("SELECT content FROM memwarden.items").fetchall()
    assert left["content"] == {"illness": "zqygout"}
    assert recall(agent, query="zqygout", k=1)[0]["item_id"] == other["item_id"]
    assert vault.findings() == []
    assert vault.rebuild() == dict.fromkeys(("item", "timeline", "embedding"), 0)


def test_a_memory_whose_key_is_gone_says_so_and_nothing_fails(vault: Vault) -> None:
    """As in a copy of the store that came without its keys.

    Proves: R3
    """
    agent = vault.agent()
    done = keep(agent, {"illness": "zqwdiabetes"}, predicate="diagnosis")
    vault.world.admin.execute(
        "DELETE FROM memwarden_data.subject_key WHERE org_id ="
        " (SELECT org_id FROM memwarden_data.organisation WHERE name = %s)",
        (vault.org,),
    )
    gone = {"erased": "SUBJECT_KEY_DESTROYED"}
    for query in (
        "SELECT content FROM memwarden.get(%(item)s)",
        "SELECT content FROM memwarden.items",
        "SELECT content FROM memwarden.history(%(item)s)",
        "SELECT content FROM memwarden.as_of(clock_timestamp(), item_id => %(item)s)",
        "SELECT content FROM memwarden.recall('illness', k => 1, threshold => 0)",
    ):
        (row,) = agent.execute(query, {"item": done["item_id"]}).fetchall()
        assert row["content"] == gone, query
    assert agent.execute("SELECT memwarden.compile_context('illness')").fetchone()
    assert vault.findings() == []
    keep(agent, {"illness": "zqwgout"}, predicate="diagnosis")
    (now,) = agent.execute("SELECT content FROM memwarden.items").fetchall()
    assert now["content"] == {"illness": "zqwgout"}


@pytest.mark.parametrize(
    ("column", "value"),
    [("sealed", "sealed || '\\x00'"), ("subject_key_id", "gen_random_uuid()"), ("sealed", "NULL")],
)
def test_changed_ciphertext_is_named_where_nobody_opens_it(
    vault: Vault, column: str, value: str
) -> None:
    """The entry of the log vouches for the ciphertext and for the number of its key.

    Proves: R3, T6
    """
    done = keep(vault.agent(), {"illness": "zqvgout"})
    admin = vault.world.admin
    with admin.transaction(force_rollback=True):
        admin.execute("DELETE FROM memwarden_data.subject_key")
        admin.execute("SET LOCAL session_replication_role = replica")
        admin.execute(
            f"UPDATE memwarden_data.version SET {column} = {value} WHERE version_id = %s",
            (done["version_id"],),
        )
        found = admin.execute("SELECT * FROM memwarden.verify_log()").fetchall()
        mine = {row["finding"] for row in found if row["item_id"] == done["item_id"]}
        assert mine == {"SNAPSHOT"}


@pytest.mark.every_version
def test_keys_that_are_no_newer_are_not_taken_over(vault: Vault) -> None:
    """The list of this very server changes nothing, and what is no list is refused.

    Proves: R3
    """
    keep(vault.agent(), {"illness": "zqugout"})
    admin = vault.world.admin
    keys = vault.world.value("SELECT memwarden.export_subject_keys()")
    assert keys
    assert vault.world.value("SELECT memwarden.import_subject_keys(%s)", Jsonb(keys)) == 0
    wrongs: list[Any] = [{}, [{"id": 1}], [keys[0] | {"generation": "1; --"}]]
    for wrong in wrongs:
        with pytest.raises(errors.InvalidParameterValue):
            admin.execute("SELECT memwarden.import_subject_keys(%s)", (Jsonb(wrong),))


def test_a_deletion_takes_the_key_with_the_last_memory(vault: Vault) -> None:
    """Not while another is there, in whatever status, nor while a write is on its way.

    Proves: R3, Z10
    """
    agent = vault.agent()
    first, second, third = (
        keep(agent, {"illness": f"zqv {n}"}, predicate=f"p{n}")["item_id"] for n in range(3)
    )
    bo = keep(agent, {"illness": "zqvgout"}, subject="Bo")["item_id"]
    agent.execute("SELECT memwarden.expire(%s, 'over')", (second,))
    assert taken(vault, first) is None
    assert taken(vault, second) is None
    writer = vault.world.agent(f"/org/{vault.org}/user/bo", role="curator")
    with writer.transaction():
        written = keep(writer, {"illness": "zqv more"})
        assert taken(vault, third) is None
    assert taken(vault, bo) == 1
    assert taken(vault, written["item_id"]) == 1
    assert (
        vault.world.value(
            "SELECT count(*) FROM memwarden_data.subject_key JOIN memwarden_data.organisation AS o"
            " USING (org_id) WHERE o.name = %s",
            vault.org,
        )
        == 0
    )
    assert vault.findings() == []
    assert keep(agent, {"illness": "zqv anew"})["outcome"] == "COMMITTED"


def test_a_listed_deletion_leaves_a_key_that_is_in_use(vault: Vault) -> None:
    """In a copy in which somebody wrote of the person since; an erasure of a list takes it.

    Proves: R3
    """
    agent = vault.agent()
    item = keep(agent, {"illness": "zqu"}, predicate="old")["item_id"]
    again = keep(agent, {"illness": "zqu again"}, predicate="new")["item_id"]
    admin = vault.world.admin
    keys = "SELECT count(*) FROM memwarden_data.subject_key WHERE subject_key_id = %s"
    with admin.transaction(force_rollback=True):
        key = vault.world.value(
            "SELECT subject_key_id FROM memwarden_data.item WHERE item_id = %s", item
        )
        listed = Jsonb([{"id": str(key), "generation": 1}])
        call = (
            "SELECT memwarden_internal.destroy_listed_keys("
            " (SELECT org_id FROM memwarden_data.item WHERE item_id = %s), %s, %s, %s)"
        )
        for items, left in (([item], 1), ([item, again], 0)):
            admin.execute(call, (again, uuid4(), listed, items))
            assert vault.world.value(keys, key) == left


def taken(vault: Vault, item: UUID) -> int | None:
    """How many keys went with an item that retention deletes."""
    row = vault.world.rows(
        "SELECT d.deleted FROM memwarden_data.organisation AS o"
        " CROSS JOIN LATERAL memwarden_internal.delete_for_good("
        "     o.org_id, ARRAY[%s], 'its time is over', 'RETENTION') AS d"
        " WHERE o.name = %s",
        item,
        vault.org,
    )[0]
    assert row["deleted"] == [item]
    count = vault.world.value(
        "SELECT detail -> 'subject_keys' FROM memwarden_data.erasure AS e"
        " JOIN memwarden_data.erased_item AS i USING (org_id, erasure_id) WHERE i.item_id = %s",
        item,
    )
    return None if count is None else int(count)


def test_an_encrypted_value_that_is_replaced_is_named_and_not_told(vault: Vault) -> None:
    """Its memory and version are; what asks for the request later learns no more. Proves: R3."""
    agent = vault.agent()
    first = keep(agent, {"pulse": "zqw60"}, predicate="has pulse")
    second = keep(agent, {"pulse": "zqw70"}, predicate="has pulse")
    assert (second["reason"], "zqw60" in str(second["detail"])) == ("REPLACED", False)
    [told] = second["detail"]["replaced"]
    assert (told["item_id"], "value" in told) == (str(first["item_id"]), False)
    status = agent.execute(
        "SELECT detail FROM memwarden.request_status(%s)", (second["request_id"],)
    ).fetchall()
    assert "zqw60" not in str(status)
