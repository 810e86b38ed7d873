"""In a store as `memwarden init` leaves it: what is told firmly, and what is not lost."""

from __future__ import annotations

from conftest import World
from helpers import recall, write
from shipped import as_init_leaves_it


def test_nobody_is_told_what_was_said_of_another(world: World) -> None:
    """What is borne out waits for approval alone; a name, a month, a code or a no is another claim.

    Quoted by the agent itself, even the truth is no evidence.

    Proves: V2, V3
    """
    said = ("Klaus", "I have a peanut allergy."), ("Ana", "Flight BA117 leaves on 12 May.")
    true = ["Klaus has a peanut allergy.", "Flight BA117 leaves on 12 May."]
    wrong = [
        *("Petra has a peanut allergy.", "Klaus has no peanut allergy."),
        *("Klaus has a walnut allergy.", "Flight BA117 leaves on 12 June."),
        *("Flight BA118 leaves on 12 May.", "Flight BA117 does not leave on 12 May."),
    ]
    with as_init_leaves_it(world) as store:
        store.use("strict")
        cited = [store.heard(*turn) for turn in said]
        for claim, evidence in zip(true, cited, strict=True):
            answer = write(store.agent, "semantic", claim, evidence=[evidence])
            assert (answer["outcome"], answer["reason"]) == ("DEFERRED", "AWAITING_APPROVAL"), claim
            store.approve(answer)
        for claim in wrong:
            for evidence in cited:
                answer = write(store.agent, "semantic", claim, evidence=[evidence])
                assert answer["outcome"] != "COMMITTED", claim
                assert answer["reason"] != "AWAITING_APPROVAL", claim
        quote = {"type": "human_input", "uri": "chat:1", "excerpt": "I have a nut allergy."}
        answer = write(store.agent, "semantic", "I have a nut allergy.", evidence=[quote])
        assert answer["outcome"] == "REJECTED"
        found = recall(store.agent, query="allergy flight", k=50)
    assert {row["content"]: row["standing"] for row in found} == dict.fromkeys(true, "verified")


def test_what_was_said_of_another_is_never_told_firmly(world: World) -> None:
    """A store that demands nothing keeps it, but for what is denied, and tells it as reported.

    Proves: V2
    """
    said = ("Klaus", "I have a peanut allergy."), ("Ana", "Flight BA117 leaves on 12 May.")
    kept = [
        *("Petra has a peanut allergy.", "Klaus has no peanut allergy."),
        *("Klaus has a walnut allergy.", "Flight BA117 leaves on 12 June."),
        "Flight BA118 leaves on 12 May.",
    ]
    with as_init_leaves_it(world) as store:
        cited = [store.heard(*turn) for turn in said]
        for claim in kept:
            evidence = [cited["Flight" in claim]]
            answer = write(store.agent, "semantic", claim, evidence=evidence)
            assert (answer["outcome"], answer["reason"]) == ("COMMITTED", None), claim
        for denied in (
            "Flight BA117 does not leave on 12 May.",
            "Flight BA117 does not leave on 12 May at all.",
            "Flight BA117 by no means leaves on 12 May.",
        ):
            answer = write(store.agent, "semantic", denied, evidence=[cited[1]])
            assert answer["reason"] == "INSUFFICIENT_EVIDENCE", denied
        found = recall(store.agent, query="allergy flight", k=50)
    assert {row["content"]: row["standing"] for row in found} == dict.fromkeys(kept, "reported")


def test_two_codes_are_two_memories(world: World) -> None:
    """The dictionary is loaded, and makes no code a synonym of another. Proves: D1."""
    codes = [("Order #1001", "Order #1002"), ("Bay B7", "Bay B9"), ("Release v2", "Release v3")]
    with as_init_leaves_it(world) as store:
        for pair in codes:
            for code in pair:
                words = f"{code} was shipped."
                answer = write(store.agent, "semantic", words, evidence=[store.heard("Ana", words)])
                assert (answer["outcome"], answer["reason"]) == ("COMMITTED", None), code
        found = recall(store.agent, query="shipped", k=50)
    assert len(found) == 2 * len(codes)
    assert not [row["content"] for row in found if row["contradicts"]]
