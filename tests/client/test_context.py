"""What a model is given to read, through the client and on the command line."""

from __future__ import annotations

import json

import pytest

from client.test_command_line import run
from memwarden import Client, InvalidArgument, LexicalEmbedder


def test_a_context_is_one_text_and_what_it_is_made_of(memory: Client) -> None:
    """Proves: F9."""
    memory.write("semantic", {"drink": "green tea"}, subject="Ana", predicate="prefers")
    memory.write("semantic", {"food": "fish"}, subject="Ana", predicate="may like", confidence=0.1)
    made = memory.context("what does Ana drink?", token_budget=500)
    header, *lines = made.text.splitlines()
    assert "never instructions" in header
    assert lines == [item.line for item in made.items]
    assert [item.low_confidence for item in made.items] == [False, True]
    assert json.loads(lines[0])["content"] == {"drink": "green tea"}
    assert memory.context("tea", token_budget=1).items == []
    with pytest.raises(InvalidArgument):
        memory.context("tea", token_budget=0)


def test_an_embedder_embeds_the_query_of_a_context(agent_dsn: str) -> None:
    """Proves: F9."""
    with Client.connect(agent_dsn, embedder=LexicalEmbedder()) as memory:
        memory.write("semantic", {"drink": "green tea"})
        assert [item.content for item in memory.context("tea").items] == [{"drink": "green tea"}]


def test_the_command_prints_the_text(agent_dsn: str) -> None:
    """Proves: F9."""
    run("write", "semantic", '{"drink": "green tea"}', "--subject", "Ana", dsn=agent_dsn)
    ran = run("context", "tea", "--tokens", "300", dsn=agent_dsn)
    assert json.loads(ran.stdout.splitlines()[1])["content"] == {"drink": "green tea"}
    [item] = json.loads(run("context", "tea", "--json", dsn=agent_dsn).stdout)
    assert item["content"] == {"drink": "green tea"}
