"""Copies of canonical content and of records are refused; reasoning that cites them is not."""

from __future__ import annotations

from conftest import World
from helpers import write, write_many
from write.reference.canon import COLD, labelled, records, say, verdict


def batch(world: World, home: str, texts: list[str]) -> list[tuple[str, str | None]]:
    """Ask for one episode a text, in one batch."""
    answers = write_many(
        world.agent(home), [{"layer": "episodic", "content": {"text": text}} for text in texts]
    )
    return [verdict(answer) for answer in answers]


def test_every_copy_of_the_labelled_set_is_refused(ruled: World, home: str) -> None:
    """Whole or in part, with small edits, other layout, or own words around it.

    Proves: N6, N9
    """
    copies = labelled("copies")
    assert len(copies) >= 100
    expected = [
        ("REJECTED", "VERBATIM_RECORD" if "audit-" in copy.record else "CANONICAL_COPY")
        for copy in copies
    ]
    answers = batch(ruled, home, [copy.text for copy in copies])
    assert [
        (copy, answer)
        for copy, answer, right in zip(copies, answers, expected, strict=True)
        if answer != right
    ] == []


def test_all_reasoning_of_the_labelled_set_is_admitted(ruled: World, home: str) -> None:
    """Each names a rule or a record, and many quote a part of it.

    Proves: N9
    """
    texts = labelled("reasoning")
    assert len(texts) >= 80
    answers = batch(ruled, home, [text.text for text in texts])
    assert [
        text for text, answer in zip(texts, answers, strict=True) if answer[0] != "COMMITTED"
    ] == []


def test_a_copy_is_found_wherever_the_content_holds_it(ruled: World, home: str) -> None:
    """In any field, over several, in a property name, in subject or predicate.

    Proves: N6
    """
    agent, rule = ruled.agent(home), records()[COLD]
    words = rule.split()
    contents = [
        [rule],
        {"a": {"b": [{"c": rule}]}},
        {rule: True},
        words,
        {f"w{n:03}": word for n, word in enumerate(words)},
        {"first": " ".join(words[:20]), "second": " ".join(words[20:])},
    ]
    for content in contents:
        assert verdict(write(agent, "episodic", content)) == ("REJECTED", "CANONICAL_COPY")
    for place in ("subject", "predicate"):
        key = {"subject": "s", "predicate": "p"} | {place: rule}
        answer = write(agent, "semantic", {"text": "so it is"}, **key)
        assert verdict(answer) == ("REJECTED", "CANONICAL_COPY")


def test_a_template_hides_nothing_from_the_comparison(ruled: World, home: str) -> None:
    """What a kind's text template leaves out of the search text is compared all the same.

    Proves: N6
    """
    ruled.admin.execute(
        "SELECT memwarden.define_schema('episodic', 'titled', '{}', text_template => %s)",
        ("{content.title}",),
    )
    content = {"title": "a case", "body": records()[COLD]}
    answer = write(ruled.agent(home), "episodic", content, kind="titled")
    assert answer["reason"] == "CANONICAL_COPY"


def test_no_layer_without_full_admission_is_compared(ruled: World, home: str) -> None:
    """What is at hand during a turn may hold what the turn is about."""
    agent = ruled.agent(home)
    for layer in ("working", "session"):
        assert write(agent, layer, {"text": records()[COLD]})["outcome"] == "COMMITTED"
    for layer in ("episodic", "semantic", "procedural", "durable"):
        assert write(agent, layer, {"text": records()[COLD]})["reason"] == "CANONICAL_COPY"


def test_a_refusal_tells_the_source_and_how_much_and_nothing_of_the_row(
    ruled: World, home: str
) -> None:
    """And the request keeps no copy of what was refused.

    Proves: N6
    """
    agent = ruled.agent(home)
    answer = say(agent, records()[COLD].upper())
    assert answer["detail"] == {
        "canonical": [{"source": "rules", "mode": "primary", "similarity": 1.0}]
    }
    stored = ruled.value(
        "SELECT r::text FROM memwarden_data.write_request AS r WHERE request_id = %s",
        answer["request_id"],
    )
    assert "VACCINES" not in stored.upper()
    assert COLD not in stored


def test_what_is_promoted_is_compared_too(ruled: World, home: str) -> None:
    """A copy that a session holds stays there.

    Proves: N6
    """
    organisation = home.partition("/user")[0]
    agent = ruled.agent(organisation, descendants=True)
    ruled.scope(home)
    item = write(agent, "session", {"text": records()[COLD]}, scope=home)["item_id"]
    answer = agent.execute(
        "SELECT * FROM memwarden.promote(%s, %s, 'semantic')", (item, organisation)
    ).fetchone()
    assert answer is not None
    assert verdict(answer) == ("REJECTED", "CANONICAL_COPY")


def test_texts_that_say_next_to_nothing_pass(ruled: World, home: str) -> None:
    """No word that could be looked for, or only words that everybody uses."""
    agent = ruled.agent(home)
    for text in ("a b c", "1 2 3", "\u2603", "%_\\ %__%", "must be", "it must be at all times"):
        assert say(agent, text)["outcome"] == "COMMITTED"
