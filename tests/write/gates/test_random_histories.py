"""Property: random writes are decided, and leave heads, as a small model in Python predicts.

The model knows nothing of SQL, hashes or normal forms: it is told which spellings mean the same,
and keeps lists. It is the second opinion on idempotency, admission, duplicates and versions.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from psycopg import Connection
from psycopg.rows import DictRow

from helpers import write
from replay import check_store

if TYPE_CHECKING:
    from conftest import World

SPELLINGS = {
    "green tea": "tea",
    "Green  TEA.": "tea",
    "\u201cgreen tea\u201d": "tea",
    "coffee": "coffee",
    "COFFEE": "coffee",
    "water": "water",
}
NAMES = {None: None, "Ana": "ana", " ANA": "ana", "Bob": "bob"}
VERSIONED = {"session", "semantic"}
FULL = {"episodic", "semantic"}
SCOPES, AGENTS = 2, 2


@dataclass
class Item:
    """A head, as the model sees it."""

    place: tuple[int, str]
    key: tuple[str, str] | None
    says: tuple[Any, ...]
    exactly: tuple[Any, ...]
    owner: int
    ids: tuple[Any, Any]
    version: int = 1


@dataclass
class Model:
    """What the store must hold and answer."""

    items: list[Item] = field(default_factory=list)
    tokens: dict[tuple[Any, ...], tuple[tuple[Any, Any], tuple[Any, ...]]] = field(
        default_factory=dict
    )
    replacing: dict[tuple[Any, Any], str] = field(default_factory=dict)
    """The reason of what replaced a value: asking again is told it again."""

    def expect(self, agent: int, request: dict[str, Any]) -> tuple[str, str | None, Item | None]:
        """Outcome, reason, and the item that the answer names, where it names one."""
        layer, scope = request["layer"], request["scope"]
        exactly = (request["content"], request["subject"], request["predicate"])
        key = request["idempotency_key"]
        seen = self.tokens.get((agent, scope, layer, key or exactly))
        if seen is not None:
            ids, committed = seen
            current = next((item for item in self.items if item.ids == ids), None)
            if key is not None and committed != exactly:
                return "REJECTED", "IDEMPOTENCY_KEY_REUSED", None
            if key is not None or current is not None:
                return "ALREADY_COMMITTED", self.replacing.get(ids), current
        if request["late"]:
            return "DEADLINE_EXCEEDED", "DEADLINE_PASSED", None
        head = self.head(agent, request)
        if request["confidence"] > 1:
            return "REJECTED", "CONFIDENCE_OUT_OF_RANGE", None
        if layer in FULL:
            same = [i for i in self.items if i.place == (scope, layer) and i.says == says(request)]
            if same:
                exact = same[0].exactly == exactly
                return "REJECTED", f"{'EXACT' if exact else 'STRUCTURAL'}_DUPLICATE", same[0]
        replaces = head is not None and head.says != says(request)
        return "COMMITTED", "REPLACED" if replaces else None, head

    def head(self, agent: int, request: dict[str, Any]) -> Item | None:
        """The item that a new value of this key replaces: in a session one of the agent's own."""
        place, key = (request["scope"], request["layer"]), key_of(request)
        if key is None or request["layer"] not in VERSIONED:
            return None
        for item in self.items:
            if (item.place, item.key) == (place, key) and (
                item.owner == agent or request["layer"] != "session"
            ):
                return item
        return None

    def commit(self, agent: int, request: dict[str, Any], ids: tuple[Any, Any]) -> None:
        """Take over what was committed under these ids."""
        exactly = (request["content"], request["subject"], request["predicate"])
        head = self.head(agent, request)
        version = 1
        if head is not None:
            version = head.version + 1
            assert head.ids[0] == ids[0]
            if head.says != says(request):
                self.replacing[ids] = "REPLACED"
            self.items.remove(head)
        place = (request["scope"], request["layer"])
        self.items.append(Item(place, key_of(request), says(request), exactly, agent, ids, version))
        token = request["idempotency_key"] or exactly
        self.tokens[(agent, *place, token)] = (ids, exactly)


def key_of(request: dict[str, Any]) -> tuple[str, str] | None:
    """The key of a request, by meaning; None unless both halves are there."""
    subject, predicate = NAMES[request["subject"]], NAMES[request["predicate"]]
    return (subject, predicate) if subject and predicate else None


def says(request: dict[str, Any]) -> tuple[Any, ...]:
    """What a request says, by meaning."""
    return (
        SPELLINGS[request["content"]],
        NAMES[request["subject"]],
        NAMES[request["predicate"]],
    )


REQUESTS = st.fixed_dictionaries(
    {
        "layer": st.sampled_from(["working", "session", "episodic", "semantic"]),
        "scope": st.sampled_from([0, 0, 0, 1]),
        "content": st.sampled_from(list(SPELLINGS)),
        "subject": st.sampled_from(["Ana"] * 6 + list(NAMES)),
        "predicate": st.sampled_from(["Bob"] * 6 + list(NAMES)),
        "idempotency_key": st.sampled_from([None] * 6 + ["k1", "k2"]),
        "confidence": st.sampled_from([0.5] * 11 + [1.5]),
        "late": st.sampled_from([False] * 11 + [True]),
    }
)


class Histories(RuleBasedStateMachine):
    """Writes by two agents into two scopes and four layers, each compared with the model."""

    world: World
    sessions: list[Connection[DictRow]]
    roles: list[str]

    @initialize()
    def rooms(self) -> None:
        """Give each history scopes of its own."""
        self.model = Model()
        self.asked: list[tuple[int, dict[str, Any], DictRow]] = []
        self.paths = [f"/org/acme/task/{uuid.uuid4().hex}" for _ in range(SCOPES)]
        for path in self.paths:
            self.world.scope(path)
            for role in self.roles:
                self.world.admin.execute("SELECT memwarden.grant_scope(%s, %s, true)", (role, path))

    @rule(
        requests=st.lists(st.tuples(st.integers(0, AGENTS - 1), REQUESTS), min_size=5, max_size=9)
    )
    def writes(self, requests: list[tuple[int, dict[str, Any]]]) -> None:
        """Ask for some writes, and compare each answer."""
        for agent, request in requests:
            self.write(agent, request)

    def write(self, agent: int, request: dict[str, Any]) -> None:
        """Ask for a write, and compare the answer."""
        outcome, reason, item = self.model.expect(agent, request)
        arguments = {k: v for k, v in request.items() if k != "late" and v is not None}
        arguments["scope"] = self.paths[request["scope"]]
        if request["late"]:
            arguments["deadline"] = "2020-01-01"
        answer = write(self.sessions[agent], **arguments)
        assert (answer["outcome"], answer["reason"]) == (outcome, reason)
        ids = (answer["item_id"], answer["version_id"])
        if outcome == "COMMITTED":
            assert item is None or item.ids[0] == ids[0]
            self.model.commit(agent, request, ids)
        elif item is not None:
            assert ids == item.ids
        self.asked.append((agent, arguments, answer))

    @rule(choice=st.integers(0, 100))
    def replays(self, choice: int) -> None:
        """Ask under an earlier id: for the same the first answer counts, else it is refused."""
        if self.asked:
            agent, arguments, first = self.asked[choice % len(self.asked)]
            named = {"request_id": first["request_id"]}
            again = write(self.sessions[agent], **(arguments | named))
            committed = "ALREADY_COMMITTED" if first["outcome"] == "COMMITTED" else first["outcome"]
            assert again == first | {"outcome": committed}
            other = write(self.sessions[agent], "semantic", "something else", **named)
            if first["outcome"] == "COMMITTED":
                assert (other["outcome"], other["reason"]) == ("REJECTED", "REQUEST_ID_REUSED")

    @invariant()
    def heads_are_the_models(self) -> None:
        """The heads of these scopes are exactly the model's items."""
        if not hasattr(self, "model"):
            return
        rows = self.world.rows(
            "SELECT i.item_id, i.version_id, i.version, i.layer, s.path, v.content"
            "  FROM memwarden_data.item AS i JOIN memwarden_data.scope AS s USING (scope_id)"
            "  JOIN memwarden_data.version AS v ON v.version_id = i.version_id"
            " WHERE s.path = ANY (%s)",
            self.paths,
        )
        found = {
            (r["item_id"], r["version_id"], r["version"], r["layer"], r["path"], r["content"])
            for r in rows
        }
        assert found == {
            (*item.ids, item.version, item.place[1], self.paths[item.place[0]], item.exactly[0])
            for item in self.model.items
        }


@pytest.mark.one_version
def test_random_histories_are_decided_as_the_model_predicts(world: World) -> None:
    """Whatever was written before, in whatever order, by whom; and the log tells the same story.

    Proves: W2, W3, W4, W5, D1, D2, D5, T1
    """
    Histories.world = world
    Histories.roles = [world.register("/org/acme") for _ in range(AGENTS)]
    Histories.sessions = [world.connect(role) for role in Histories.roles]
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=25,
            stateful_step_count=15,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    check_store(world.admin)
