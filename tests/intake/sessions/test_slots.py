"""Working memory is what a small model of it says, whatever is done in whatever order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.errors import InvalidParameterValue

from conftest import World
from intake.sessions.conftest import (
    Agent,
    advance,
    end_turn,
    note,
    observe,
    open_session,
    set_goal,
    slots,
)

WEIGHTS = {"critical": 3, "high": 2, "normal": 1, "low": 0}
WORDS = st.text("ab cé€\U0001f375'\"\\[]<>", min_size=1, max_size=12).map(lambda t: f"w{t}w")
IMPORTANCE = st.sampled_from(sorted(WEIGHTS))


@dataclass
class Model:
    """Five slots and their rules, in as few words as there are."""

    goal: str | None = None
    steps: list[str] = field(default_factory=list)
    done: int = 0
    observations: list[tuple[str, str]] = field(default_factory=list)
    constraints: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def observe(self, result: str, importance: str) -> None:
        """The newest, then critical ones, then the newest of the others; five."""
        self.observations.append((result, importance))
        while len(self.observations) > 5:
            older = self.observations[:-1]
            harmless = [each for each in older if each[1] != "critical"]
            self.observations.remove((harmless or older)[0])

    def constrain(self, given: list[tuple[str, str]]) -> None:
        """The eight most important and most specific, in the order given."""

        def rank(place: int) -> tuple[int, int, int]:
            text, importance = given[place]
            return -WEIGHTS[importance], -len({word.lower() for word in text.split()}), place

        best = sorted(range(len(given)), key=rank)[:8]
        self.constraints = [given[place] for place in sorted(best)]

    def note(self, text: str) -> None:
        """The last whole lines within 500 characters."""
        self.lines += text.split("\n")
        lengths = accumulate(len(line) + 1 for line in reversed(self.lines))
        fitting = sum(length <= 501 for length in lengths)
        self.lines = self.lines[len(self.lines) - fitting :]

    def shown(self) -> dict[str, Any]:
        """The slots as working_memory() has them."""
        newest = list(reversed(self.observations))
        critical = [each for each in newest if each[1] == "critical"]
        others = [each for each in newest if each[1] != "critical"]
        return {
            "goal": self.goal,
            "plan": {"steps": self.steps, "done": self.done},
            "observations": critical + others,
            "constraints": self.constraints,
            "scratchpad": "\n".join(self.lines),
        }


OPERATIONS = st.one_of(
    st.tuples(st.just("observe"), WORDS, IMPORTANCE),
    st.tuples(st.just("note"), st.lists(WORDS, min_size=1, max_size=20).map("\n".join)),
    st.tuples(st.just("goal"), WORDS),
    st.tuples(st.just("plan"), st.lists(WORDS, max_size=4)),
    st.tuples(st.just("constrain"), st.lists(st.tuples(WORDS, IMPORTANCE), max_size=12)),
    st.tuples(st.just("advance")),
    st.tuples(st.just("end_turn")),
)


def apply(agent: Agent, session: Any, model: Model, operation: Any) -> None:
    """Do one thing to both."""
    match operation:
        case ("observe", result, importance):
            # Equal ones would hide which of them went.
            model.count += 1
            result = f"{result} {model.count}"
            assert observe(agent, session, result, importance)["kept"]
            model.observe(result, importance)
        case ("note", text):
            note(agent, session, text)
            model.note(text)
        case ("goal", goal):
            set_goal(agent, session, goal)
            model.goal = goal
        case ("plan", steps):
            set_goal(agent, session, None, plan=steps)
            # Whoever never said what for works on the task.
            model.goal = model.goal or "a task"
            model.steps, model.done = steps, 0
        case ("constrain", constraints):
            said = [{"text": text, "importance": importance} for text, importance in constraints]
            set_goal(agent, session, None, constraints=said)
            model.goal = model.goal or "a task"
            model.constrain(constraints)
        case ("advance",):
            row = advance(agent, session)
            model.done = min(model.done + 1, len(model.steps))
            assert (row["done"], row["total"]) == (model.done, len(model.steps))
            assert row["current_step"] == dict(enumerate(model.steps)).get(model.done)
        case ("end_turn",):
            end_turn(agent, session)
            model.observations, model.lines = [], []


def test_the_slots_hold_what_a_model_says(shared_world: World) -> None:
    """After random steps in random order.

    Proves: L1 (five slots, their rules, reset each turn)
    """
    agent = shared_world.agent("/org/model/user/ana")

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(OPERATIONS, max_size=14))
    def check(operations: list[Any]) -> None:
        session = open_session(agent, "a task")
        model = Model()
        try:
            for operation in operations:
                apply(agent, session, model, operation)
            shown = slots(agent, session)
        finally:
            # The next example has the same agent and task: it would go on with this session.
            agent.execute("SELECT memwarden.close_session(%s, promote => 'none')", (session,))
        seen = shown["observations"]
        assert {
            "goal": shown["goal"],
            "plan": shown["plan"],
            "observations": [(each["result"], each["importance"]) for each in seen],
            "constraints": [(each["text"], each["importance"]) for each in shown["constraints"]],
            "scratchpad": shown["scratchpad"],
        } == model.shown()

    check()


def test_a_result_is_shown_shortened_and_remembered_whole(world: World) -> None:
    """200 characters of it; the session's memory has all.

    Proves: L1 (observations), L2 (write-through)
    """
    agent = world.agent()
    session = open_session(agent)
    row = observe(agent, session, "ä" * 201)
    assert slots(agent, session)["observations"][0]["result"] == "ä" * 199 + "…"
    content = world.value(
        "SELECT content FROM memwarden_data.version WHERE item_id = %s", row["item_id"]
    )
    assert content == {"tool": "look", "result": "ä" * 201}


def test_how_many_observations_there_are_is_a_setting(world: World) -> None:
    """Of layer working.

    Proves: L1 (3-5 newest), L3 (rows)
    """
    world.admin.execute("SELECT memwarden.configure_layer('working', '{\"max_items\": 3}')")
    agent = world.agent()
    session = open_session(agent)
    for number in range(5):
        observe(agent, session, str(number), "critical" if number == 0 else "normal")
    shown = [each["result"] for each in slots(agent, session)["observations"]]
    assert shown == ["0", "4", "3"]


@pytest.mark.parametrize(
    "more",
    [
        {"goal": ""},
        {"goal": "two\nlines"},
        {"goal": "x" * 301},
        {"plan": ["x" * 201]},
        {"plan": [None]},
        {"constraints": {"text": "x"}},
        {"constraints": [5]},
        {"constraints": [{"text": "x", "importance": "huge"}]},
        {"constraints": [{"said": "x"}]},
    ],
)
def test_what_is_no_goal_is_refused(shared_world: World, more: dict[str, Any]) -> None:
    """And nothing of it stays.

    Proves: L1
    """
    agent = shared_world.agent("/org/acme/user/eve")
    session = open_session(agent)
    with pytest.raises(InvalidParameterValue):
        set_goal(agent, session, **more)
    assert slots(agent, session)["goal"] is None


def test_settings_of_the_layers_are_those_of_the_design(shared_world: World) -> None:
    """As shipped.

    Proves: L3 (rows: L0 5 items; L1 100 items, 3,600 s)
    """
    rows = shared_world.rows("SELECT layer, max_items, default_ttl FROM shipped.layer")
    sizes = Counter({row["layer"]: row["max_items"] for row in rows})
    assert (sizes["working"], sizes["session"], sizes["episodic"]) == (5, 100, 10000)
    (ttl,) = [row["default_ttl"] for row in rows if row["layer"] == "session"]
    assert ttl.total_seconds() == 3600
