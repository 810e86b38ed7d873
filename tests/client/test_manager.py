"""The memory of an agent's loop behind one object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from client.conftest import SCOPE
from client.desk import Desk
from memwarden import (
    SEARCH_MEMORY,
    Client,
    ConnectionFailed,
    InvalidArgument,
    LexicalEmbedder,
    MemoryManager,
)
from memwarden._prompt import fitting, quoted_line

if TYPE_CHECKING:
    from conftest import World

GOAL = "move the user service to the new database"
PLAN = ["read about breaking changes", "migrate the schema"]
FACT = {"fact": "the user service keeps 100 connections to its database"}


@pytest.fixture
def manager(memory: Client) -> MemoryManager:
    """A manager that survives nothing: what fails is seen."""
    return MemoryManager(memory, fail_safe=False)


@pytest.fixture
def round_trips(
    agent_dsn: str, tmp_path: Path
) -> Iterator[tuple[Client, Callable[[Callable[[], Any]], int]]]:
    """Yield a client, and a function that counts the round trips of what it does."""
    with psycopg.connect(agent_dsn, autocommit=True, prepare_threshold=None) as connection:

        def count(action: Callable[[], Any]) -> int:
            trace = tmp_path / "trace"
            with trace.open("w") as file:
                connection.pgconn.trace(file.fileno())
                action()
                connection.pgconn.untrace()
            return len(re.findall(r"\tB\t\d+\tReadyForQuery", trace.read_text()))

        yield Client(connection), count


def test_a_loop_from_start_to_end(manager: MemoryManager, memory: Client, world: World) -> None:
    """Pushed at the start, pulled for a tool, observed, promoted, and reported at the end.

    Proves: L9, L5, Z4
    """
    fact = memory.write("semantic", FACT).item_id
    first = manager.task_start(GOAL, PLAN, ["no downtime"])
    assert (first.item_ids, first.added) == ([fact], [fact])
    assert f'[CURRENT_STEP] (0/2) "{PLAN[0]}"' in first.text
    assert manager.metrics().phase == "startup"

    manager.note("look at the changelog first")
    pulled = manager.tool_call("read_changelog", {"service": "user service database"})
    assert pulled[0].item_id == fact
    seen = manager.observation("read_changelog", "v3 drops the users view", "critical")
    assert seen is not None
    assert seen.kept
    now = manager.before_llm_call()
    assert "v3 drops the users view" in now.text
    assert "look at the changelog first" in now.text
    manager.turn_end(step_done=True)
    now = manager.before_llm_call()
    assert f'[CURRENT_STEP] (1/2) "{PLAN[1]}"' in now.text
    assert "changelog first" not in now.text

    assert fact is not None
    done = manager.complete("Callers of the view must change first", used=[fact])
    assert {entry.part for entry in done.promoted} == {"observation", "summary"}
    assert done.reported == 2
    counts = manager.metrics()
    assert (counts.reads, counts.hits, counts.writes, counts.turns) == (2, 2, 2, 1)
    assert (counts.hit_ratio, counts.phase, counts.errors) == (1.0, "complete", 0)
    outcomes = world.rows("SELECT outcome, used FROM memwarden_data.recall_outcome")
    assert [(row["outcome"], row["used"]) for row in outcomes] == [("success", [fact])] * 2


def test_each_step_is_one_round_trip(
    round_trips: tuple[Client, Callable[[Callable[[], Any]], int]],
) -> None:
    """No step of the loop asks the server twice, once the model of the store is known.

    Proves: L9
    """
    client, count = round_trips
    client.write("semantic", FACT)
    client.recall("database")
    manager = MemoryManager(client)
    steps: list[Callable[[], Any]] = [
        lambda: manager.task_start(GOAL, PLAN),
        manager.before_llm_call,
        lambda: manager.before_llm_call(refresh=True),
        lambda: manager.tool_call("grep", {"for": "database"}),
        lambda: manager.observation("grep", "3 places"),
        lambda: manager.note("three"),
        lambda: manager.turn_end(step_done=True),
        manager.turn_end,
        lambda: manager.search("database"),
        lambda: manager.search("database", "session"),
        lambda: manager.search("database", "persistent"),
        lambda: manager.run_tool('{"query": "database"}'),
        lambda: manager.complete("done", used=[]),
    ]
    assert [count(step) for step in steps] == [1] * len(steps)
    assert count(manager.metrics) == 0


def test_a_task_of_several_sessions_goes_on_where_it_was(memory: Client) -> None:
    """By other managers, as on other days: with progress and key findings.

    Proves: L13, L9
    """
    for day, step in enumerate(PLAN):
        manager = MemoryManager(memory, fail_safe=False)
        prompt = manager.task_start(GOAL, PLAN, task="user-service")
        assert (manager.resumed is None) == (day == 0)
        assert f'[CURRENT_STEP] ({day}/2) "{step}"' in prompt.text
        for earlier in range(day):
            assert f"finding of day {earlier}" in prompt.text
        manager.observation("work", f"finding of day {day}", "critical")
        manager.turn_end(step_done=True)
        manager.complete(f"lesson of day {day}")
    manager = MemoryManager(memory, fail_safe=False)
    text = manager.task_start(GOAL, PLAN, task="user-service").text
    assert "lesson of day 1" in text
    assert "[CURRENT_STEP]" not in text
    assert manager.resumed is not None
    assert manager.resumed["envelope"] == 1
    assert manager.resumed["namespace"] == SCOPE


def test_a_search_asks_where_it_is_told_to(memory: Client) -> None:
    """Lasting memory, the session, what is outside; or all of them, each text once.

    Proves: L6, L4
    """

    def outside(query: str, k: int) -> Sequence[Mapping[str, Any]]:
        assert (query, k) == ("user service database", 3)
        return [
            {"text": "The manual of the user service database.", "uri": "doc:1"},
            {"text": "FACT THE USER  SERVICE keeps 100 connections to its database"},
        ]

    manager = MemoryManager(memory, external=outside, fail_safe=False)
    memory.write("semantic", FACT)
    manager.task_start(GOAL)
    manager.observation("psql", "the user service database has 12 tables")

    def sources(layer: Any) -> list[str]:
        return [each.source for each in manager.search("user service database", layer, k=3)]

    assert sources("persistent") == ["persistent"]
    assert sources("session")[0] == "session"
    assert sources("external") == ["external", "external"]
    found = manager.search("user service database", k=3)
    assert len({" ".join(each.text.lower().split()) for each in found}) == len(found)
    assert {each.source for each in found} == {"persistent", "session", "external"}


def test_a_model_pulls_with_the_tool(manager: MemoryManager, memory: Client) -> None:
    """Its schema allows what it is answered; what it does not allow, it is told.

    Proves: L6
    """
    function = SEARCH_MEMORY["function"]
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"])
    assert function["parameters"]["required"] == ["query"]
    memory.write("semantic", FACT)
    manager.task_start(GOAL)
    [line] = manager.run_tool('{"query": "user service", "layer": "persistent"}').splitlines()
    assert json.loads(line)["n"] == 1
    assert "100 connections" in json.loads(line)["text"]
    for wrong in (
        "{",
        "[]",
        "{}",
        '{"query": " "}',
        '{"query": "x", "layer": "moon"}',
        '{"query": "x", "layer": ["session"]}',
        '{"query": "x", "top_k": 99}',
        '{"query": "x", "top_k": true}',
    ):
        assert "error" in json.loads(manager.run_tool(wrong))
    nothing = manager.run_tool({"query": "x", "layer": "external"})
    assert json.loads(nothing) == {"result": "nothing is known about that"}


def test_an_agent_without_its_memory_goes_on(agent_dsn: str) -> None:
    """Prompts are those of before, searches are empty, and it is told.

    Proves: L9
    """
    with psycopg.connect(agent_dsn, autocommit=True, prepare_threshold=None) as connection:
        client = Client(connection)
        client.write("semantic", FACT)
        manager = MemoryManager(client)
        first = manager.task_start(GOAL, PLAN)
        connection.close()
        assert manager.before_llm_call().text == first.text
        assert manager.tool_call("grep") == []
        assert manager.observation("grep", "x") is None
        assert manager.search("user service", "session") == []
        manager.turn_end()
        assert manager.complete("x").entries == []
        assert {type(error) for error in manager.errors} == {ConnectionFailed}
        assert manager.metrics().errors == 6
        strict = MemoryManager(client, fail_safe=False)
        with pytest.raises(ConnectionFailed):
            strict.task_start(GOAL)
        bare = MemoryManager(client).task_start(GOAL, PLAN)
        assert bare.text.splitlines() == [f'[TASK_GOAL] "{GOAL}"', f'[CURRENT_STEP] "{PLAN[0]}"']


def test_a_session_that_is_over_is_opened_anew(memory: Client, world: World) -> None:
    """By the next prompt, and the task is resumed.

    Proves: L9, L13
    """
    manager = MemoryManager(memory)
    manager.task_start(GOAL, PLAN)
    first = manager.session_id
    manager.turn_end(step_done=True)
    world.admin.execute("UPDATE memwarden_data.session SET used_at = used_at - interval '2 days'")
    assert manager.observation("grep", "x") is None
    prompt = manager.before_llm_call()
    assert manager.session_id not in (None, first)
    assert f'(1/2) "{PLAN[1]}"' in prompt.text
    assert manager.metrics().errors == 1


def test_misuse_is_raised_also_where_failures_are_survived(memory: Client) -> None:
    """What the caller does wrong is no outage.

    Proves: L9
    """
    manager = MemoryManager(memory)
    with pytest.raises(InvalidArgument):
        manager.before_llm_call()
    manager.task_start(GOAL)
    with pytest.raises(InvalidArgument):
        manager.observation("grep", "x", "urgent")
    with pytest.raises(InvalidArgument):
        MemoryManager(memory, tokenizer=len)


def test_what_is_sensitive_and_what_is_known_is_counted(manager: MemoryManager) -> None:
    """From the outcomes of the writes.

    Proves: L9
    """
    manager.task_start(GOAL)
    masked = manager.observation("env", "key AKIAIOSFODNN7EXAMPLE", "normal")
    assert masked is not None
    assert masked.masked
    manager.observation("psql", "the same", "critical")
    manager.complete()
    assert manager.metrics().pii_blocks == 1
    manager.task_start(GOAL)
    manager.observation("psql", "the same", "critical")
    manager.complete()
    counts = manager.metrics()
    assert (counts.writes, counts.dedups) == (1, 1)


def test_an_embedder_embeds_goal_and_step_once_each(agent_dsn: str) -> None:
    """And memories are compared with that.

    Proves: L9, L5
    """

    class Counting(LexicalEmbedder):
        texts: list[str] = []

        def embed(self, texts: Sequence[str]) -> list[list[float] | None]:
            self.texts += texts
            return super().embed(texts)

    with Client.connect(agent_dsn, embedder=Counting()) as memory:
        memory.write("semantic", FACT)
        Counting.texts.clear()
        manager = MemoryManager(memory, fail_safe=False)
        assert len(manager.task_start(GOAL, PLAN).item_ids) == 1
        for _ in range(3):
            manager.before_llm_call(refresh=True)
        manager.turn_end(step_done=True)
        manager.before_llm_call(refresh=True)
        assert Counting.texts == [GOAL, f"{GOAL}\n{PLAN[0]}", f"{GOAL}\n{PLAN[1]}"]


def test_a_tokenizer_of_the_models_cuts_the_prompt(memory: Client) -> None:
    """What was chosen by an estimate is cut by the true count, the last of it first.

    Proves: L9, N5
    """
    for number in range(4):
        memory.write("semantic", {"fact": f"connection {number} of the user service database"})
    count = len  # a model whose tokens are characters
    full = MemoryManager(memory, fail_safe=False).task_start(GOAL)
    assert len(full.item_ids) == 4
    budget = len(full.text) - 1
    manager = MemoryManager(memory, tokenizer=count, prompt_budget=budget, fail_safe=False)
    cut = manager.task_start(GOAL)
    assert cut.item_ids == full.item_ids[:3]
    assert cut.tokens == len(cut.text) <= budget
    least = MemoryManager(memory, tokenizer=count, prompt_budget=1, fail_safe=False)
    assert least.task_start(GOAL).text == f'[TASK_GOAL] "{GOAL}"'


def test_what_contradicts_each_other_is_cut_together() -> None:
    """Never one side alone."""
    lines = [
        "[TASK_GOAL] x",
        "Remembered, one JSON object a line. And more.",
        '{"n": 1, "content": "a"}',
        '{"n": 2, "contradicts": [3], "content": "b"}',
        '{"n": 3, "contradicts": [2], "content": "c"}',
    ]
    text = "\n".join(lines)
    assert fitting(text, len, len(text)) == (text, [])
    assert fitting(text, len, len(text) - 1) == ("\n".join(lines[:3]), [2, 3])
    assert fitting(text, len, 1) == (lines[0], [1, 2, 3])
    assert fitting("no memories", len, 1) == ("no memories", [])


HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from('\n\r\t<>|`#{}[]",:\\/ \u0085\u2028\u202e\u200b\ufeff\U000e0041'),
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
    ),
    max_size=60,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=HOSTILE)
def test_a_line_of_the_client_is_a_line_of_the_server(world: World, text: str) -> None:
    """The same signs are escaped, and all of it is there.

    Proves: F9
    """
    line = quoted_line({"text": text})
    assert json.loads(line) == {"text": text}
    row = world.admin.execute(
        "SELECT memwarden_internal.quoted_line(jsonb_build_object('text', %s::text)) AS line",
        (text,),
    ).fetchone()
    assert row is not None
    assert line == row["line"]


def test_a_manager_works_for_the_holder_of_a_token(desk: Desk, agent: str) -> None:
    """Through one login that many agents share.

    Proves: L9, A6
    """
    with Client.connect(desk.dsn, token=lambda: desk.issue(agent)) as memory:
        manager = MemoryManager(memory, fail_safe=False)
        assert manager.task_start(GOAL).session_id is not None
        manager.observation("psql", "the user service database has 12 tables", "critical")
        [entry] = manager.complete().promoted
        assert entry.part == "observation"


def test_a_loop_across_a_surface(memory: Client, admin: psycopg.Connection[Any]) -> None:
    """Prompts, searches of every kind and the resumed task cross it; `push` of the client too.

    Proves: N7, L9
    """
    admin.execute("SELECT memwarden.set_sensitivity_action('allow', kind => 'pii')")
    admin.execute("SELECT memwarden.define_surface('desk', org => 'acme')")
    memory.write("semantic", {"text": "the user service of ana@example.org has a database"})
    plain = MemoryManager(memory, fail_safe=False)
    across = MemoryManager(memory, surface="desk", fail_safe=False)
    shown = []
    for manager in (plain, across):
        text = [manager.task_start(GOAL, PLAN).text]
        manager.observation("mail", "ben@example.org knows the database", "high")
        text.append(manager.before_llm_call(refresh=True).text)
        text += [str(manager.tool_call("grep", "database"))]
        text += [str(manager.search("database", layer)) for layer in ("persistent", "session")]
        text.append(str(manager.search("database")))
        text.append(manager.run_tool('{"query": "database"}'))
        shown.append(text)
        manager.complete(promote="none")
    assert all("@example.org" in text for text in shown[0])
    assert all("@example.org" not in text and "[pii.email]" in text for text in shown[1])
    (item,) = memory.push("the database of the user service", surface="desk")
    assert (item.scope, item.standing, item.hedge) == (None, "inferred", "presumably")
    assert item.content == {"text": "the user service of [pii.email] has a database"}
    (item,) = memory.push("the database of the user service")
    assert (item.scope, item.suspicious) == (SCOPE, None)
