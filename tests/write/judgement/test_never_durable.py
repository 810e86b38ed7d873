"""What never becomes a lasting memory, by rules that an organisation can change."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from access import call, curator
from conftest import DATA
from helpers import write

if TYPE_CHECKING:
    from conftest import World

THOUGHTS = [
    "Let me think about this step by step. The user wants a refund.",
    "Okay, let's think this through first",
    "Thought: I need the weather.\nAction: search\nAction Input: Lisbon",
    "Action: lookup[Lisbon]\nObservation: a city in Portugal",
    "Step 3: compare both totals",
    "I should now ask for the order number",
    "<think>maybe the cache is stale</think> The cache is stale",
    {"thought": "the order may be late", "next": "ask"},
]
OUTPUTS = [
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 1',
    "TypeError: x is undefined\n    at run (/srv/app/index.js:10:3)",
    "Process finished with exit code 137",
    "exit status: 0",
    "Downloading 45%|████████▌         | 45/100",
    "[=====>     ] 48%",
    "total 8\n-rw-r--r-- 1 root root 373 Nov 22 14:52 README.md",
    "ana@desk:~/work$ make test",
    "HTTP/1.1 503 Service Unavailable",
    "2026-11-22 14:52:03,120 INFO worker started",
    {"stdout": "a.txt b.txt", "exit_code": 0},
]
LASTING = [
    "Ana's order is processed in three steps: check, pack, send",
    "Step 1: open the valve. Step 2: wait a minute.",
    "The job exits with code 3 when the disk is full",
    "Ana thinks that we should now move to Lisbon",
    "The thought of flying makes Ana nervous",
    "Action items are kept in the wiki",
    "The pool holds at most 100 connections; 45% of them are idle",
    "A traceback in the log means that the importer has stopped",
    "The service answers HTTP/1.1 on port 8080",
]
KNOWN = "the old archive keeps maps, letters, seals and photographs of the harbour families"
VECTOR = [1.0] + [0.0] * 383


def refuse(agent: Connection[DictRow], content: Any, layer: str = "semantic", **more: Any) -> Any:
    """Write, and return the reason of the refusal, None where there is none."""
    answer = write(agent, layer, content, **more)
    assert answer["outcome"] in ("REJECTED", "DEFERRED", "COMMITTED", "MERGED")
    return answer["reason"]


@pytest.mark.parametrize("layer", ["semantic", "durable"])
def test_steps_of_a_thought_do_not_last(world: World, home: str, layer: str) -> None:
    """By how they begin, where they do not say what they are.

    Proves: D6
    """
    agent = world.agent(home)
    reasons = {json.dumps(text): refuse(agent, text, layer) for text in THOUGHTS}
    assert set(reasons.values()) == {"INTERMEDIATE_REASONING"}, reasons


@pytest.mark.parametrize("layer", ["semantic", "durable"])
def test_what_a_tool_printed_does_not_last(world: World, home: str, layer: str) -> None:
    """Proves: D6."""
    agent = world.agent(home)
    reasons = {json.dumps(text): refuse(agent, text, layer) for text in OUTPUTS}
    assert set(reasons.values()) == {"TRANSIENT_OUTPUT"}, reasons


def test_what_merely_resembles_them_lasts(world: World, home: str) -> None:
    """And so does all of it in the layers that are about what happened, and in no time at all.

    Proves: D6 (nothing else)
    """
    agent = world.agent(home)
    assert {text: refuse(agent, text) for text in LASTING} == dict.fromkeys(LASTING)
    for text in [*THOUGHTS, *OUTPUTS]:
        for layer in ("episodic", "session", "working"):
            assert refuse(agent, text, layer) is None


@pytest.mark.parametrize(
    ("origin", "reason"),
    [
        ("reasoning_step", "INTERMEDIATE_REASONING"),
        ("tool_answer", "TRANSIENT_OUTPUT"),
        ("task_outcome", None),
        ("user_stated", None),
    ],
)
@pytest.mark.parametrize("layer", ["semantic", "procedural", "durable"])
def test_what_says_of_itself_that_it_passes_does_not_last(
    world: World, home: str, layer: str, origin: str, reason: str | None
) -> None:
    """Whatever it looks like.

    Proves: D6
    """
    answer = write(world.agent(home), layer, "The pool holds 100", origin={"kind": origin})
    assert answer["reason"] == reason
    if reason:
        assert answer["detail"] == {"by": "origin"}


@pytest.mark.parametrize(
    ("origin", "confidence", "reason"),
    [
        ("pattern", None, "CONFIDENCE_FLOOR"),
        ("pattern", 0.7, None),
        ("agent_inferred", None, None),
        ("agent_inferred", 0.49, "CONFIDENCE_FLOOR"),
        ("agent_inferred", 0.5, None),
        ("user_stated", 0.1, None),
    ],
)
def test_an_inference_below_the_floor_does_not_last(
    world: World, home: str, origin: str, confidence: float | None, reason: str | None
) -> None:
    """What somebody said does, however unsure.

    Proves: D6
    """
    more: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
    agent = world.agent(home)
    assert refuse(agent, "The pool holds 100", origin={"kind": origin}, **more) == reason


@pytest.fixture
def comparing(world: World) -> World:
    """A store in which the semantic layer looks for what is there already."""
    world.admin.execute(
        "SELECT memwarden.configure_layer('semantic', %s)",
        (Jsonb({"duplicate_similarity": 0.9, "conflict": "review"}),),
    )
    return world


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # Seven of ten words are there: of these ten, three are news.
        (
            "letters and photographs of the old harbour families lie upstairs behind seals",
            "OVERLAPS_EXISTING",
        ),
        # Half at most.
        ("photographs of the harbour families lie upstairs under dusty green curtains", None),
        # Another number or name is another thing.
        ("letters and photographs of the old harbour families of 1912 lie behind seals", None),
        ("letters and photographs of the old harbour families of Porto lie behind seals", None),
        # In a few words each is the news.
        ("the archive keeps photographs upstairs", None),
    ],
)
def test_what_a_memory_mostly_says_already_is_refused(
    comparing: World, home: str, text: str, reason: str | None
) -> None:
    """Where the rule says so: more than half of its different words stand in one memory near it.

    Proves: D6
    """
    set_overlap(comparing, unknown="refuse")
    agent = comparing.agent(home)
    known = write(agent, "semantic", KNOWN, embedding=VECTOR)
    answer = write(agent, "semantic", text, embedding=VECTOR)
    assert answer["reason"] == reason
    if reason:
        assert answer["detail"]["overlaps"]["item_id"] == str(known["item_id"])
        assert 0.5 < answer["detail"]["overlaps"]["share"] < 1


def test_news_in_known_words_is_kept_and_linked(comparing: World, home: str) -> None:
    """As shipped: what the judge does not understand is no repetition of what it resembles.

    Proves: D6
    """
    agent = comparing.agent(home)
    known = write(agent, "semantic", KNOWN, embedding=VECTOR)
    text = "letters and photographs of the old harbour families lie upstairs behind seals"
    answer = write(agent, "semantic", text, embedding=VECTOR)
    assert answer["outcome"] == "COMMITTED"
    link = answer["detail"]["resembles"]
    assert link["item_id"] == str(known["item_id"])
    assert link["version_id"] == str(known["version_id"])
    assert 0.5 < link["share"] < 1
    record = comparing.value(
        "SELECT record FROM memwarden_data.whole_provenance WHERE version_id = %s",
        answer["version_id"],
    )
    assert record["resembles"] == link


NEWS_IN_KNOWN_WORDS = [
    (
        "Two hikers in red jackets are crossing the old wood bridge over the river slowly",
        "Two hikers in red jackets are crossing the old glass bridge over the river slowly",
    ),
    (
        "Mila and Jon are both members of the rowing club by the harbour in town",
        "Mila and Jon are not members of the rowing club by the harbour in town",
    ),
    (
        "The grey heron follows the young otter along the muddy bank at dusk",
        "The young otter follows the grey heron along the muddy bank at dusk",
    ),
    ("小李每天早上在河边的公园里跑步", "小李每天早上不在河边的公园里跑步"),
    (
        "The harbour office sold its brick warehouse to the sailing school in autumn",
        "The harbour office bought its brick warehouse from the sailing school in autumn",
    ),
    (
        "Ines keeps her spare keys in the blue tin beside the stove at home",
        "Ines keeps her spare keys in the blue tin beside the piano at home",
    ),
]


@pytest.mark.parametrize(
    ("known", "text"),
    [*NEWS_IN_KNOWN_WORDS, *((text, known) for known, text in NEWS_IN_KNOWN_WORDS)],
)
def test_one_word_that_differs_is_news(world: World, home: str, known: str, text: str) -> None:
    """Whatever the judge makes of it: nothing is refused, merged or ended; both are there.

    Proves: D6, V10
    """
    writer, other = world.agent(home), world.agent(home)
    answers = [
        write(agent, "semantic", said, embedding=VECTOR)
        for agent, said in ((writer, known), (other, text))
    ]
    assert [answer["outcome"] for answer in answers] == ["COMMITTED", "COMMITTED"]
    there = {row["item_id"] for row in other.execute("SELECT item_id FROM memwarden.items")}
    assert {answer["item_id"] for answer in answers} <= there


LITERAL: dict[str, Any] = {"words": 1, "names": False, "keys": False, "unknown": "refuse"}


def set_overlap(world: World, layer: str = "semantic", **settings: Any) -> None:
    """Have a layer ask about overlap as the settings say; without any, as it is shipped."""
    call(world.admin, "set_durability_rule", layer=layer, rule="overlap", settings=Jsonb(settings))


@pytest.mark.parametrize("literal", [True, False])
@pytest.mark.parametrize(
    ("known", "text", "exemption"),
    [
        ("the cat sleeps in boxes", "the cat hides in boxes", "words"),
        (
            KNOWN,
            "letters and photographs of the old harbour families of 1912 lie behind seals",
            "names",
        ),
        (
            KNOWN,
            "letters and photographs of the old harbour families of Porto lie behind seals",
            "names",
        ),
    ],
)
def test_each_exemption_can_be_switched_off(
    comparing: World, home: str, known: str, text: str, exemption: str, literal: bool
) -> None:
    """Then short texts, and those with another number or name, are refused as all others are.

    Proves: D6
    """
    agent = comparing.agent(home)
    write(agent, "semantic", known, embedding=VECTOR)
    settings = {exemption: LITERAL[exemption]} if literal else {}
    set_overlap(comparing, unknown="refuse", **settings)
    expected = "OVERLAPS_EXISTING" if literal else None
    assert write(agent, "semantic", text, embedding=VECTOR)["reason"] == expected


@pytest.mark.parametrize("literal", [True, False])
def test_with_a_key_too_and_a_new_value_of_a_fact_never(
    comparing: World, home: str, literal: bool
) -> None:
    """What repeats another memory is refused; what updates its own is its next version.

    Proves: D6, D5
    """
    set_overlap(comparing, **(LITERAL if literal else {}))
    agent = comparing.agent(home)
    fact = {"subject": "archive", "predicate": "keeps", "embedding": VECTOR}
    first = write(agent, "semantic", "maps of the coast", **fact)
    assert first["outcome"] == "COMMITTED"
    other = write(agent, "semantic", "maps of the coast", **(fact | {"subject": "museum"}))
    assert other["reason"] == ("OVERLAPS_EXISTING" if literal else None)
    write(agent, "semantic", KNOWN, embedding=[*VECTOR[:-1], 0.5])
    call(
        comparing.admin,
        "configure_layer",
        layer="semantic",
        settings=Jsonb({"conflict": "latest_wins"}),
    )
    update = write(agent, "semantic", "maps, letters, seals and photographs", **fact)
    assert (update["outcome"], update["item_id"]) == ("COMMITTED", first["item_id"])


def test_the_rule_can_be_set_for_ways_of_doing_things(comparing: World, home: str) -> None:
    """Shipped without it; with it, refused as elsewhere, also where contraries are not looked for.

    Proves: D6
    """
    settings = {"duplicate_similarity": 0.95, "conflict": "accumulate"}
    call(comparing.admin, "configure_layer", layer="procedural", settings=Jsonb(settings))
    agent = comparing.agent(home, role="curator")
    steps = "stop the server, copy the folder, start the server"
    far = [1.0] * 192 + [0.6] * 192
    write(agent, "procedural", steps, embedding=VECTOR)
    again = steps.replace("copy", "zip")
    assert write(agent, "procedural", again, embedding=far)["outcome"] == "COMMITTED"
    set_overlap(comparing, "procedural", **LITERAL)
    once_more = steps.replace("copy", "move")
    assert write(agent, "procedural", once_more, embedding=far)["reason"] == "OVERLAPS_EXISTING"


def test_all_of_it_and_more_is_merged_and_the_contrary_is_marked(
    comparing: World, home: str
) -> None:
    """Overlap is about the rest.

    Proves: D6, D3
    """
    agent = comparing.agent(home)
    text = "Ana keeps the small grey dog of her late aunt in the garden of the mill"
    write(agent, "semantic", text, embedding=VECTOR)
    more = write(agent, "semantic", text + " and feeds it twice a day", embedding=VECTOR)
    assert more["outcome"] == "MERGED"
    contrary = text.replace("keeps", "does not keep") + " and feeds it twice a day"
    answer = write(agent, "semantic", contrary, embedding=VECTOR)
    assert [m["relation"] for m in answer["detail"]["marked"]] == ["contradicts"]


def test_of_what_the_writer_does_not_read_no_answer_tells(comparing: World, home: str) -> None:
    """Proves: D6, A4 (overlap with what is hidden)."""
    hidden = comparing.connect(comparing.register(home, clearance="restricted"))
    write(hidden, "semantic", KNOWN, embedding=VECTOR, classification="restricted")
    news = "letters and photographs of the old harbour families lie upstairs behind seals"
    assert refuse(comparing.agent(home), news, embedding=VECTOR) is None


@pytest.mark.every_version
def test_an_organisation_has_rules_of_its_own(world: World) -> None:
    """Deferred instead of refused, switched off, and back to those of all; others keep theirs.

    Proves: D6 (configurable)
    """
    owner, here = curator(world, "/org/acme"), world.agent("/org/acme/user/ana")
    there = world.agent("/org/other/user/bob")
    step = {"kind": "reasoning_step"}
    rule = {"layer": "semantic", "rule": "intermediate_reasoning"}
    call(owner, "set_durability_rule", **rule, action="defer")
    answer = write(here, "semantic", "a", origin=step)
    assert (answer["outcome"], answer["reason"]) == ("DEFERRED", "INTERMEDIATE_REASONING")
    call(owner, "set_durability_rule", **rule, active=False)
    assert refuse(here, "b", origin=step) is None
    assert refuse(there, "b", origin=step) == "INTERMEDIATE_REASONING"
    seen = here.execute(
        "SELECT org, active FROM memwarden.durability_rules WHERE layer = 'semantic'"
    )
    assert {"org": "acme", "active": False} in seen.fetchall()
    hidden = there.execute("SELECT FROM memwarden.durability_rules WHERE org = 'acme'")
    assert hidden.fetchall() == []
    call(owner, "drop_durability_rule", **rule)
    assert refuse(here, "c", origin=step) == "INTERMEDIATE_REASONING"
    with pytest.raises(psycopg.errors.UndefinedObject):
        call(owner, "drop_durability_rule", **rule)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        call(owner, "set_durability_rule", **rule, org="other")


@pytest.mark.parametrize(
    "wrong",
    [
        {"rule": "mood"},
        {"action": "ask"},
        {"settings": {"share": 0.5}},
        {"settings": {"marks": "yes"}},
        {"settings": {"origins": [1]}},
        {"rule": "overlap", "settings": {"words": 2.5}},
        {"rule": "overlap", "settings": {"share": 1.5}},
        {"rule": "overlap", "settings": {"names": 1}},
        {"rule": "overlap", "settings": {"words": 0}},
        {"settings": []},
    ],
)
def test_a_malformed_rule_is_refused(world: World, wrong: dict[str, Any]) -> None:
    """22023, and nothing changes."""
    given = {"layer": "semantic", "rule": "intermediate_reasoning"} | wrong
    if "settings" in given:
        given["settings"] = Jsonb(given["settings"])
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call(world.admin, "set_durability_rule", **given)


def turns(path: Path) -> list[str]:
    """Every turn of the conversations."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("text"), str) and "speaker" in value:
                found.append(value["text"])
            for child in value.values():
                walk(child)
        elif isinstance(value, list):
            for child in value:
                walk(child)

    walk(json.loads(path.read_text()))
    return found


def test_few_turns_of_real_conversations_look_like_either(shared_world: World) -> None:
    """Nobody in them is a tool or thinks aloud for long: what is marked is marked wrongly."""
    path = DATA / "locomo/dev.json"
    if not path.exists():
        pytest.skip("no conversations here")
    texts = turns(path)
    assert len(texts) > 1000
    marked = shared_world.rows(
        "SELECT t.text FROM unnest(%s::text[]) AS t (text)"
        " WHERE memwarden_internal.reasoning_mark(to_jsonb(t.text)::text, t.text) IS NOT NULL"
        "    OR memwarden_internal.output_mark(to_jsonb(t.text)::text, t.text) IS NOT NULL",
        [re.sub("\x00", "", text) for text in texts],
    )
    assert len(marked) <= len(texts) / 1000, marked
