"""Memories of an encrypted class stand nowhere in clear, and are read and found as others."""

from __future__ import annotations

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
        "SELECT content FROM memwarden.recall('x', filter =>"
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
    done = keep(agent, {"illness": "zqwdiabetes"}, predicate="suffers from")
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
        "SELECT content FROM memwarden.recall('illness', k => 1)",
    ):
        (row,) = agent.execute(query, {"item": done["item_id"]}).fetchall()
        assert row["content"] == gone, query
    assert agent.execute("SELECT memwarden.compile_context('illness')").fetchone()
    assert vault.findings() == []
    keep(agent, {"illness": "zqwgout"}, predicate="suffers from")
    (now,) = agent.execute("SELECT content FROM memwarden.items").fetchall()
    assert now["content"] == {"illness": "zqwgout"}
