"""What waits for a reviewer is encrypted as well, and what is made of two memories."""

from __future__ import annotations

from conftest import World
from helpers import write
from operations.erasure.conftest import holding
from operations.subject_keys.conftest import Vault, keep

CANARY = "zqvmigraine"


def asked(vault: Vault) -> None:
    """Have a person asked about every write of the layer."""
    vault.world.admin.execute(
        "SELECT memwarden.set_approval_policy('durable', approval => 'always', org => %s)",
        (vault.org,),
    )


def test_a_proposal_waits_encrypted_and_is_decided_as_others(vault: Vault) -> None:
    """The queue shows it to its reviewer; an edit replaces it; erased, it is gone.

    Proves: R3
    """
    world: World = vault.world
    world.admin.execute(
        "UPDATE memwarden_data.layer SET direct_writes = true WHERE layer = 'durable'"
    )
    asked(vault)
    agent = vault.agent()
    about = {"subject": "Petra", "class": "personal", "justification": f"{CANARY} matters"}
    rows = [
        write(agent, "durable", {"illness": f"{CANARY} {n}"}, predicate=f"p{n}", **about)
        for n in range(3)
    ]
    assert {row["outcome"] for row in rows} == {"DEFERRED"}, rows
    assert holding(world, CANARY) == set()
    (own,) = agent.execute(
        "SELECT content FROM memwarden.requests WHERE request_id = %s", (rows[0]["request_id"],)
    ).fetchall()
    assert own["content"] == f'{{"illness": "{CANARY} 0"}}'
    reviewer = world.agent(
        f"/org/{vault.org}",
        groups=("memwarden_reviewer",),
        role="reviewer",
        kind="human",
        descendants=True,
    )
    queue = reviewer.execute(
        "SELECT content, proposal_id FROM memwarden.review_queue() ORDER BY proposal_id"
    ).fetchall()
    assert [row["content"] for row in queue] == [{"illness": f"{CANARY} {n}"} for n in range(3)]
    reviewer.execute("SELECT * FROM memwarden.approve(%s, 'yes')", (queue[0]["proposal_id"],))
    reviewer.execute(
        "SELECT * FROM memwarden.approve_with_edit(%s, %s, 'milder')",
        (queue[1]["proposal_id"], f'{{"illness": "{CANARY} mild"}}'),
    )
    contents = agent.execute("SELECT content FROM memwarden.items ORDER BY predicate").fetchall()
    assert [row["content"]["illness"] for row in contents] == [f"{CANARY} 0", f"{CANARY} mild"]
    assert holding(world, CANARY) == set()
    done = vault.erase("Petra")
    assert (done["items"], done["requests"]) == (2, 3)


def test_what_becomes_of_two_memories_is_encrypted(vault: Vault) -> None:
    """Merged, taken back, rolled back, promoted; a memory in clear that becomes part of it too.

    Proves: R3
    """
    agent = vault.agent()
    one = keep(agent, {"illness": f"{CANARY} since spring"})
    other = keep(agent, {"remedy": f"rest against {CANARY}"})
    agent.execute("SELECT memwarden.merge(%s, %s, 'one story')", (one["item_id"], other["item_id"]))
    first = keep(agent, {"pulse": f"{CANARY} 60"}, predicate="has")
    keep(agent, {"pulse": f"{CANARY} 70"}, predicate="has")
    agent.execute("SELECT memwarden.rollback(%s, 'wrong')", (first["item_id"],))
    (now,) = agent.execute("SELECT content FROM memwarden.get(%s)", (first["item_id"],)).fetchall()
    assert now["content"] == {"pulse": f"{CANARY} 60"}
    agent.execute("SELECT memwarden.retract(%s, 'over')", (first["item_id"],))
    diff = agent.execute("SELECT * FROM memwarden.diff(%s, 1, 2)", (first["item_id"],)).fetchall()
    assert [row["after"] for row in diff if row["path"] == "/content/pulse"] == [f"{CANARY} 70"]
    agent.execute("SELECT * FROM memwarden.promote(%s, layer => 'episodic')", (one["item_id"],))
    assert holding(vault.world, CANARY) == set()
    assert vault.findings() == []
    assert vault.rebuild() == dict.fromkeys(("item", "timeline", "embedding"), 0)


def test_a_class_that_is_encrypted_needs_a_subject(vault: Vault) -> None:
    """A memory of nobody has no key; the refusal keeps none of its words.

    Proves: R3
    """
    agent = vault.agent()
    row = write(agent, "semantic", {"illness": CANARY}, **{"class": "personal"})
    assert (row["outcome"], row["reason"]) == ("REJECTED", "SUBJECT_REQUIRED")
    assert holding(vault.world, CANARY) == set()
    # The same to the letter is known, and another subject's is another's.
    keep(agent, {"illness": CANARY})
    again = write(
        agent, "semantic", {"illness": CANARY}, subject="petra horvat", **{"class": "personal"}
    )
    assert again["outcome"] != "COMMITTED"
    keep(agent, {"illness": CANARY}, subject="Bo")
