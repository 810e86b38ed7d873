"""The text of an encrypted memory is made anew under its key."""

from __future__ import annotations

from helpers import recall
from operations.erasure.conftest import holding
from operations.subject_keys.conftest import Vault, keep

OLD = (
    "UPDATE memwarden_data.item AS i SET search_vector = memwarden_internal.indexed_words("
    "    to_tsvector('english', 'Petra statement zqxold'), v.subject_key_id)"
    "  FROM memwarden_data.version AS v"
    " WHERE v.version_id = i.version_id AND v.subject = 'Petra Horvat'",
    "UPDATE memwarden_data.version SET sealed = memwarden_internal.seal(subject_key_id,"
    "    memwarden_internal.unsealed(subject_key_id, sealed)"
    "    || '{\"text\": \"Petra Horvat statement zqxold\"}') WHERE subject = 'Petra Horvat'",
    "UPDATE memwarden_data.sweep SET finished_at = NULL WHERE sweep = 'texts'",
)
SWEEP = "SELECT memwarden_internal.sweep_next('texts', 1000)"


def test_an_encrypted_text_is_made_anew_and_stands_nowhere_in_clear(vault: Vault) -> None:
    """What the log vouches for stays sealed as it is; one whose key is gone too. Proves: R3."""
    agent = vault.agent()
    said = {"statement": "Petra Horvat has zqxdiabetes since her zqxwedding"}
    done = keep(agent, said)
    keep(agent, {"statement": "Bo has zqxgout"}, subject="Bo")
    vault.erase("bo")
    admin = vault.world.admin
    admin.execute("SET session_replication_role = replica")
    for statement in OLD:
        admin.execute(statement)
    admin.execute("SET session_replication_role = DEFAULT")
    sealed = vault.world.rows("SELECT sealed FROM memwarden_data.version ORDER BY version_id")
    (found,) = recall(agent, query="zqxold", k=1)
    assert (found["item_id"], found["text"]) == (done["item_id"], said["statement"])
    while admin.execute(SWEEP).fetchone()["sweep_next"]:  # type: ignore[index]
        pass
    (found,) = recall(agent, query="zqxwedding zqxdiabetes", k=1)
    assert (found["content"], found["text"]) == (said, said["statement"])
    assert found["keyword_score"] == 1
    assert holding(vault.world, "zqx") == set()
    again = vault.world.rows("SELECT sealed FROM memwarden_data.version ORDER BY version_id")
    assert again == sealed
