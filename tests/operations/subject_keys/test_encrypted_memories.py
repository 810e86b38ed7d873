"""Memories of an encrypted class stand nowhere in clear, and are read, found and compared as others."""

from __future__ import annotations

from helpers import recall
from operations.erasure.conftest import holding
from operations.subject_keys.conftest import Vault, keep


def test_what_is_encrypted_is_read_and_found_and_stands_nowhere_in_clear(vault: Vault) -> None:
    """get, recall, items, history, as_of and a filter say it; no table does, in no form of its words.

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
        "SELECT content FROM memwarden.recall('x', filter => '{\"illness\": \"zqxdiabetes since her zqxwedding\"}')",
    ):
        (row,) = agent.execute(query, {"item": done["item_id"]}).fetchall()
        assert row["content"] == {"illness": "zqxdiabetes since her zqxwedding"}, query
    assert holding(vault.world, "zqx") == set()
    assert vault.findings() == []
