"""What is read back through the client: recall, get, history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from memwarden import Client, InvalidArgument, LexicalEmbedder

FACTS = (
    ("Ana", "drinks", "Ana drinks green tea every morning"),
    ("Ana", "lives_in", "Ana lives in Lisbon"),
    ("Ben", "plays", "Ben plays the trumpet in a brass band"),
)


@pytest.fixture
def facts(memory: Client) -> Client:
    """Three facts about two people."""
    for subject, predicate, statement in FACTS:
        result = memory.write(
            "semantic",
            {"statement": statement},
            subject=subject,
            predicate=predicate,
            confidence=0.9 if subject == "Ana" else 0.3,
            evidence=[{"type": "human_input", "uri": f"chat:{predicate}"}],
        )
        assert result.committed
    return memory


def test_the_best_answer_comes_first_with_every_score_and_its_provenance(facts: Client) -> None:
    """Proves: L6, L7."""
    best, *rest = facts.recall("which instrument does Ben play?")
    assert best.content == {"statement": "Ben plays the trumpet in a brass band"}
    assert (best.subject, best.predicate, best.layer) == ("Ben", "plays", "semantic")
    assert best.vector_score is not None
    assert best.keyword_score is not None
    assert best.recency_score is not None
    assert best.importance_score is not None
    assert best.provenance["evidence"] == [{"type": "human_input", "uri": "chat:plays"}]
    assert best.provenance["version"] == 1
    assert best.provenance["agent"]
    assert [best.score, *(item.score for item in rest)] == sorted(
        (item.score for item in (best, *rest)), reverse=True
    )
    assert best.low_confidence
    assert not best.contradicted


def test_filters_narrow_what_is_recalled(facts: Client, agent_scope: str) -> None:
    """Proves: L6."""

    def predicates(**filters: Any) -> set[str | None]:
        return {item.predicate for item in facts.recall("Ana Ben tea band Lisbon", **filters)}

    assert predicates() == {"drinks", "lives_in", "plays"}
    assert predicates(subject="Ana") == {"drinks", "lives_in"}
    assert predicates(predicate="plays") == {"plays"}
    assert predicates(min_confidence=0.5) == {"drinks", "lives_in"}
    assert predicates(filter={"statement": FACTS[1][2]}) == {"lives_in"}
    assert predicates(layers=["episodic"]) == set()
    assert predicates(layers=("semantic",), scopes=(agent_scope,)) == predicates()
    assert predicates(scope=agent_scope, fusion="rrf") == predicates()
    assert predicates(valid_at=datetime(2000, 1, 1, tzinfo=UTC)) == set()
    assert len(facts.recall("Ana", k=1, weights={"vector": 1.0, "keyword": 0.0})) == 1


@pytest.mark.parametrize("k", [0, -1])
def test_a_senseless_argument_is_an_error(memory: Client, k: int) -> None:
    """It is a mistake of the program, so it raises, with a hint."""
    with pytest.raises(InvalidArgument) as caught:
        memory.recall("tea", k=k)
    assert caught.value.sqlstate == "22023"
    assert caught.value.hint


def test_the_clients_lexical_embedding_is_the_servers(facts: Client) -> None:
    """Proves: Z6 (the default model is the same on both sides)."""
    text = "Ben and his trumpet"
    [vector] = LexicalEmbedder().embed([text])
    by_text = facts.recall(text)
    by_vector = facts.recall(embedding=vector, embedding_model="lexical")
    scores = {item.item_id: item.vector_score for item in by_text}
    assert by_vector
    for item in by_vector:
        if scores.get(item.item_id) is not None:
            assert item.vector_score == pytest.approx(scores[item.item_id], abs=1e-6)


class _Letters:
    """A model of three dimensions: how often a text has the letters a, b and c."""

    name = "letters"
    dimension = 3

    def embed(self, texts: Sequence[str]) -> list[list[float] | None]:
        counts = [[float(text.count(letter)) for letter in "abc"] for text in texts]
        return [vector if any(vector) else None for vector in counts]


def test_an_embedder_of_the_caller_serves_writes_and_recalls(
    agent_dsn: str, admin: psycopg.Connection
) -> None:
    """Proves: Z6."""
    admin.execute(
        "SELECT memwarden.register_embedding_model(name => %s, dimension => %s)", ("letters", 3)
    )
    with Client.connect(agent_dsn, embedder=_Letters()) as memory:
        one = memory.write("semantic", {"text": "aaaa"})
        results = memory.write_many(
            [
                {"layer": "semantic", "content": {"text": "bbbb"}},
                {"layer": "semantic", "content": {"text": "zzzz"}},
                {"layer": "semantic", "content": {1, 2}},
                {"layer": "semantic", "content": {"text": "bad"}, "embedding": [1.0, 1.0]},
            ]
        )
        assert [each.outcome for each in (one, *results)] == [
            "COMMITTED",
            "COMMITTED",
            "COMMITTED",
            "REJECTED",
            "REJECTED",
        ]
        found = memory.recall("b", weights={"vector": 1.0, "keyword": 0.0})
        assert found[0].item_id == results[0].item_id


def test_an_item_keeps_the_versions_of_a_fact_that_changed(memory: Client) -> None:
    """Proves: T1, D5."""
    homes = ("Lisbon", "Porto", "Faro")
    written = [
        memory.write("semantic", {"city": city}, subject="Ana", predicate="lives_in")
        for city in homes
    ]
    item_id = written[0].item_id
    assert item_id is not None
    assert {result.item_id for result in written} == {item_id}
    versions = memory.history(item_id)
    assert [version.content["city"] for version in versions] == list(reversed(homes))
    assert [version.version for version in versions] == [3, 2, 1]
    assert [version.status for version in versions] == ["ACTIVE", "SUPERSEDED", "SUPERSEDED"]
    assert [version.request_id for version in versions] == [
        result.request_id for result in reversed(written)
    ]
    assert versions[0].superseded_at is None
    assert versions[1].superseded_at == versions[0].recorded_at
    item = memory.get(item_id)
    assert item is not None
    assert (item.version, item.content) == (3, {"city": "Faro"})
    assert [found.content for found in memory.recall("where does Ana live?")] == [{"city": "Faro"}]


def test_what_does_not_exist_is_none_or_empty(memory: Client) -> None:
    """And does not raise."""
    assert memory.get(uuid4()) is None
    assert memory.history(uuid4()) == []
    assert memory.request_status(uuid4()) is None


def test_a_fact_that_is_true_for_ever_can_be_read(memory: Client, agent_dsn: str) -> None:
    """Python has no date for `infinity`."""
    with psycopg.connect(agent_dsn, autocommit=True) as other:
        row = other.execute(
            "SELECT item_id FROM memwarden.write('semantic', '{\"sun\": \"shines\"}', "
            "valid_from => '2024-01-01', valid_to => 'infinity')"
        ).fetchone()
    assert row is not None
    item = memory.get(row[0])
    assert item is not None
    assert item.valid_to in (None, datetime.max.replace(tzinfo=UTC))
    (told,) = memory.recall("sun")
    assert (told.valid_from, told.valid_to) == (item.valid_from, None)


def test_a_fact_of_a_year_that_python_does_not_know_can_be_read(
    memory: Client, agent_dsn: str
) -> None:
    """Before Christ, and after 9999: what answers a recall is never lost to one of them.

    Proves: T4
    """
    with psycopg.connect(agent_dsn, autocommit=True) as other:
        other.execute(
            "SELECT memwarden.write('semantic', '\"Caesar reigns\"', "
            "valid_from => '0049-01-10 BC', valid_to => '0044-03-15 BC'),"
            " memwarden.write('semantic', '\"Caesar returns\"', valid_from => '12026-01-01')"
        )
    found = {each.content: (each.valid_from, each.valid_to) for each in memory.recall("Caesar")}
    first, last = (each.replace(tzinfo=UTC) for each in (datetime.min, datetime.max))
    assert found == {"Caesar reigns": (first, first), "Caesar returns": (last, None)}


def test_status_names_every_component(memory: Client) -> None:
    """For an agent too."""
    components = {each.component: each.state for each in memory.status()}
    assert components["logic"] == components["storage"] == "ok"
