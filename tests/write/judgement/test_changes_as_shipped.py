"""In a store as `memwarden init` leaves it: what changed is told first, and nothing is lost."""

from __future__ import annotations

from conftest import World
from helpers import recall, write
from shipped import as_init_leaves_it

CHANGES = (
    ("The choir meets on Mondays.", "The choir has moved to Wednesdays."),
    ("The audit is due on 3 May.", "The audit was pushed to 9 May."),
    ("Bo commutes by train.", "Bo no longer commutes by train but by bike."),
)
DENIED = (
    ("The barn is heated.", "The barn is not heated."),
    ("The hall is heated.", "The hall is not heated at all."),
    ("The shed is heated.", "The shed is by no means heated."),
)
BESIDE = (
    ("Lia is allergic to walnuts.", "Lia is allergic to peanuts."),
    ("The shop opens at 9 am.", "The café opposite the shop now opens at 8 am."),
)


def test_the_newer_value_comes_first_and_both_are_there(world: World) -> None:
    """What an application heard and an agent wrote.

    Proves: V10, Z17
    """
    with as_init_leaves_it(world) as store:
        for said in (*CHANGES, *BESIDE):
            for words in said:
                answer = write(store.agent, "semantic", words, evidence=[store.heard("Ana", words)])
                assert answer["outcome"] == "COMMITTED", answer
        for earlier, later in CHANGES:
            found = {r["content"]: r for r in recall(store.agent, query=earlier, k=20)}
            both = [text for text in found if text in (earlier, later)]
            assert both == [later, earlier]
            assert found[earlier]["standing"] == "outdated"
            assert found[later]["standing"] == "supported"
        # A denial in more words does what a plain one does: it takes the place of what was said.
        for before, denied in DENIED:
            for words in (before, denied):
                write(store.agent, "semantic", words, evidence=[store.heard("Ana", words)])
            found = {r["content"]: r for r in recall(store.agent, query=before, k=20)}
            assert before not in found, denied
            assert found[denied]["standing"] == "supported"
        for said in BESIDE:
            found = {r["content"]: r for r in recall(store.agent, query=said[0], k=20)}
            assert {found[text]["standing"] for text in said} == {"supported"}
