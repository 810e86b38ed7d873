"""Statements that differ in a code or a name are two, whatever a dictionary has on it."""

from __future__ import annotations

import pytest

import codes
from conftest import World
from write.judgement.test_constraint_graph import HOME, configure


@pytest.mark.parametrize("dictionary", [False, True], ids=["without", "with a dictionary"])
def test_a_code_is_no_synonym_of_another(world: World, dictionary: bool) -> None:
    """Each beside all others of one scope: none is refused, merged or marked. Proves: D1, V10."""
    configure(world, duplicate_similarity=0.8, conflict="review")
    if dictionary:
        world.admin.execute("SELECT memwarden.load_lexicon()")
    agent = world.agent(HOME, role="curator")
    told = list(dict.fromkeys(text for pair in codes.pairs() for text in pair))
    answers = agent.execute(
        "SELECT w.outcome, w.reason, w.detail FROM memwarden.write_many(("
        "SELECT json_agg(json_build_object('layer', 'semantic', 'content', t.text))"
        " FROM unnest(%s::text[]) AS t (text))) AS w",
        (told,),
    ).fetchall()
    assert len(answers) == len(told) >= 600
    for text, row in zip(told, answers, strict=True):
        assert (row["outcome"], row["reason"]) == ("COMMITTED", None), text
        assert not {"same_as", "marked", "updates"} & set(row["detail"] or {}), (text, row)
    marked = "SELECT count(*) AS n FROM memwarden.items WHERE contradicted"
    assert agent.execute(marked).fetchone() == {"n": 0}
