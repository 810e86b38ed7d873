"""Histories at random: agents write, correct, merge, end, bring back and undo; the model replays.

After each step the states that are seen are compared with those before; at the end of a history
the store is, with what it answers about every moment.
"""

from __future__ import annotations

import uuid
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from psycopg import Connection
from psycopg.rows import DictRow

from history.versions import model
from history.versions.operations import OPERATIONS, REFUSALS, SOON, Actor
from replay import Replay, State, check_projections, read

if TYPE_CHECKING:
    from conftest import World

LEGAL = {
    "DRAFT": {"DRAFT", "ACTIVE"},
    "ACTIVE": {"ACTIVE", "SUPERSEDED", "RETRACTED", "EXPIRED"},
    "SUPERSEDED": {"SUPERSEDED"},
    "RETRACTED": {"RETRACTED"},
    "EXPIRED": {"EXPIRED"},
}
"""What a version may be found as after it was seen as something."""

WHO = st.sampled_from(["clerk", "keeper", "keeper"])
WHAT = st.sampled_from([*OPERATIONS, *["write"] * 8, "rollback", "rollback", "merge"])
SEEDS = st.integers(0, 2**32)
STEPS = st.lists(st.tuples(WHO, WHAT, SEEDS), min_size=3, max_size=6)

OVERLAPS = """
WITH held AS (
    SELECT t.ctid, t.tableoid, t.item_id, t.valid_during, t.recorded_during,
           i.scope_id, i.layer, i.key_hash, h.instance
      FROM memwarden_data.timeline AS t
      JOIN memwarden_data.item AS i USING (org_id, item_id)
      JOIN memwarden_data.version AS h
        ON h.org_id = t.org_id AND h.item_id = t.item_id
       AND h.recorded_during @> lower(t.recorded_during)
     WHERE t.scope_id = ANY (%s)
)
SELECT a.item_id, b.item_id AS other, a.valid_during, b.valid_during AS also, a.recorded_during
  FROM held AS a JOIN held AS b USING (scope_id, layer, key_hash, instance)
 WHERE (a.tableoid, a.ctid) <> (b.tableoid, b.ctid)
   AND a.valid_during && b.valid_during AND a.recorded_during && b.recorded_during
"""
"""Two values of one key, of whichever items, held for one moment at one time of the store."""


def check_one_value(connection: Connection[DictRow], scope_ids: list[int]) -> None:
    """No key has two values valid at once at one moment of the store."""
    assert connection.execute(OVERLAPS, [scope_ids]).fetchall() == []


def check_answers(
    replayed: Replay, reader: Connection[DictRow], scope: str, hidden: set[UUID], *, share: int = 1
) -> None:
    """A reader is told of every recorded moment, and of pairs of times, what the log says.

    Of each of these questions, or of one in so many.
    """
    rng = Random(len(replayed.versions))
    worldly = model.turns(replayed)
    moments = model.moments(replayed)
    questions: list[model.Question] = [(moment, None) for moment in moments]
    questions += [(rng.choice(moments), rng.choice(worldly)) for _ in range(len(moments) // 2)]
    questions = rng.sample(questions, len(questions) // share)
    items = set(replayed.states) - hidden
    for question, answer in zip(questions, model.ask(reader, [scope], questions), strict=True):
        assert answer == model.as_of(replayed, *question, items), question


def check_second_opinions(connection: Connection[DictRow]) -> None:
    """The store itself finds nothing amiss, before and after its log is sealed."""
    for _ in range(2):
        assert connection.execute("SELECT * FROM memwarden.verify_log()").fetchall() == []
        connection.execute("CALL memwarden.seal_log()")
    rebuilt = connection.execute("SELECT * FROM memwarden.rebuild_heads()").fetchall()
    assert {row["written"] for row in rebuilt} == {0}


class Histories(RuleBasedStateMachine):
    """Two agents in one scope: a keeper who sees all, and a clerk from whom some is hidden."""

    world: World
    logins: dict[str, Connection[DictRow]]
    jobs: Connection[DictRow]
    done: Counter[tuple[str, str]]

    @initialize()
    def place(self) -> None:
        """Give each history a scope of its own."""
        self.scope = f"/org/histories/task/{uuid.uuid4().hex}"
        self.scope_ids = [self.world.scope(self.scope)]
        self.actors = {
            "clerk": Actor(self.logins["clerk"], self.scope),
            "keeper": Actor(self.logins["keeper"], self.scope, "restricted"),
        }
        self.steps = 0
        self.seen: dict[UUID, str] = {}
        self.items: dict[str, list[UUID]] = {}

    def chance(self, seed: int) -> Random:
        """Another one for each step, though hypothesis likes to draw the same seed."""
        self.steps += 1
        return Random(f"{seed} {self.steps}")

    def act(self, who: str, what: str, seed: int) -> Any:
        """Let somebody do something; None where it is refused or there is nothing to do it to."""
        try:
            result = OPERATIONS[what](self.actors[who], self.chance(seed), self.items)
        except REFUSALS as refusal:
            self.done[what, type(refusal).__name__] += 1
            return None
        if result is not None:
            self.done[what, result if isinstance(result, str) else "done"] += 1
        return result

    def look(self) -> None:
        """Versions have changed their states only as they may; remember the items."""
        rows = self.world.rows(
            "SELECT v.version_id, v.status, i.item_id, i.status AS stands, i.layer,"
            "       i.version_id AS head"
            "  FROM memwarden_data.version AS v JOIN memwarden_data.item AS i"
            "    USING (org_id, item_id) WHERE v.scope_id = ANY (%s)",
            self.scope_ids,
        )
        now = {row["version_id"]: row["status"] for row in rows}
        assert self.seen.keys() <= now.keys(), "versions are gone"
        for version_id, status in self.seen.items():
            assert now[version_id] in LEGAL[status], (version_id, status, now[version_id])
        assert set(now.values()) <= LEGAL.keys()
        current = [row["item_id"] for row in rows if row["status"] == "ACTIVE"]
        assert len(current) == len(set(current)), "two versions of an item are current"
        self.seen = now
        self.items = {}
        for row in rows:
            if row["version_id"] == row["head"]:
                for group in (row["stands"], f"{row['stands']} {row['layer']}"):
                    self.items.setdefault(group, []).append(row["item_id"])

    @rule(steps=STEPS)
    def acts(self, steps: list[tuple[str, str, int]]) -> None:
        """New values, corrections of the past, what will be true one day, and ends; and undoing."""
        for who, what, seed in steps:
            result = self.act(who, what, seed)
            self.look()
            if result and what in ("rollback", "rollback_batch"):
                self.check_undone(what, result)

    def check_undone(self, what: str, undone: list[DictRow]) -> None:
        """Each item concerned says again what it said before, at every time of the world."""
        replayed = read(self.world.admin, self.scope_ids)
        (change,) = {row["change_id"] for row in undone}
        for row in undone:
            states = replayed.states[row["item_id"]]
            if what == "rollback" and row["action"] in ("RESTORE", "RETRACT", "END"):
                before = self.before_last_change(row["item_id"], change, states)
                expected = model.says(replayed, before) if before else ("RETRACTED",)
                assert model.says(replayed, states[-1]) == expected, row
            elif row["action"] == "RESTORE":
                source = replayed.began[row["restored_version"]]
                assert model.says(replayed, states[-1]) == model.says(replayed, source), row

    def before_last_change(self, item_id: UUID, undo: UUID, states: list[State]) -> State | None:
        """An item before the last thing that somebody did to it, that it was undone left aside.

        What the job did, which lets the item say what holds at present, was nobody's doing.
        """
        entries = self.world.rows(
            "SELECT log_seq, request_id, principal_id = 0 AND operation = 'UPDATE' AS settled"
            "  FROM memwarden_data.log WHERE item_id = %s AND request_id <> %s ORDER BY log_seq",
            item_id,
            undo,
        )
        done = [entry for entry in entries if not entry["settled"]]
        kept = [e["log_seq"] for e in done if e["request_id"] != done[-1]["request_id"]]
        undone = next(e["log_seq"] for e in done if not kept or e["log_seq"] > kept[-1])
        before = [state for state in states if state.log_seq < undone]
        return before[-1] if before else None

    @rule(steps=STEPS, who=WHO, kept=st.sampled_from([True, True, False]))
    def acts_at_once(self, steps: list[tuple[str, str, int]], who: str, kept: bool) -> None:
        """Several changes in one transaction, which may be taken back as a whole."""
        login = self.logins[who]
        with login.transaction(force_rollback=not kept):
            for _, what, seed in steps:
                with suppress(*REFUSALS), login.transaction():
                    OPERATIONS[what](self.actors[who], self.chance(seed), self.items)
        self.look()

    @rule(steps=STEPS, undo=st.booleans())
    def time_passes(self, steps: list[tuple[str, str, int]], undo: bool) -> None:
        """What was told to hold from soon on holds then, and the job lets the items say so."""
        self.acts(steps)
        self.world.admin.execute("SELECT pg_sleep_for(%s)", (SOON + timedelta(milliseconds=5),))
        begun = self.world.value("SELECT clock_timestamp()")
        self.jobs.execute("CALL memwarden.settle_values()")
        self.look()
        replayed = read(self.world.admin, self.scope_ids)
        now = model.seconds(self.world.value("SELECT clock_timestamp()"))
        settled = [item for item, states in replayed.states.items() if states[-1].at > begun]
        for states in replayed.states.values():
            state = states[-1]
            head = replayed.versions[state.version_id]
            if head["expires"] is None or head["expires"] > now:
                present = [p for p in state.periods if p[0] <= (0, now) < p[1]]
                assert [p[2] for p in present] in ([], [state.version_id]), "not what holds now"
        if undo and settled:
            with suppress(*REFUSALS):
                undone = self.actors["keeper"].call("rollback(%s, 'undo')", settled[0])
                self.check_undone("rollback", undone)

    @rule(steps=STEPS, cold_after=st.sampled_from(["0 s", "1 year"]))
    def moves_what_is_over(self, steps: list[tuple[str, str, int]], cold_after: str) -> None:
        """Versions that are over go to the warm tier, or on to the cold one."""
        self.acts(steps)
        self.world.admin.execute(
            "UPDATE memwarden_data.layer SET warm_after = '0 s', cold_after = %s", (cold_after,)
        )
        self.jobs.execute("CALL memwarden.compact_history()")
        over = self.world.rows(
            "SELECT tier FROM memwarden_data.version"
            " WHERE tier = 'hot' AND NOT upper_inf(recorded_during)"
        )
        assert over == []
        self.look()

    def teardown(self) -> None:
        """Heads, timeline and every answer are the model's."""
        if not hasattr(self, "scope_ids"):
            return
        replayed = read(self.world.admin, self.scope_ids)
        check_projections(self.world.admin, replayed, self.scope_ids)
        check_one_value(self.world.admin, self.scope_ids)
        self.check_vectors()
        secret = self.world.rows(
            "SELECT i.item_id FROM memwarden_data.item AS i"
            "  JOIN memwarden_data.label AS l USING (label_id)"
            "  JOIN memwarden_data.classification AS c ON c.level = l.classification"
            " WHERE i.scope_id = ANY (%s) AND c.name = 'restricted'",
            self.scope_ids,
        )
        hidden = {row["item_id"] for row in secret}
        check_answers(replayed, self.logins["keeper"], self.scope, set())
        check_answers(replayed, self.logins["clerk"], self.scope, hidden, share=4)

    def check_vectors(self) -> None:
        """Of words that came with a vector every version has it, in use or set aside."""
        without = self.world.rows(
            "SELECT v.version_id, v.status FROM memwarden_data.version AS v"
            " WHERE v.request_id = ANY (%s) AND NOT EXISTS ("
            "       SELECT FROM memwarden_data.past_embedding AS p"
            "        WHERE p.org_id = v.org_id AND p.version_id = v.version_id)"
            "   AND NOT EXISTS ("
            "       SELECT FROM memwarden_data.item AS i"
            "         JOIN memwarden_data.embedding AS e USING (org_id, scope_id, item_id)"
            "         JOIN memwarden_data.embedding_model AS m USING (model_id)"
            "        WHERE i.org_id = v.org_id AND i.version_id = v.version_id"
            "          AND m.name = 'default')",
            [request for actor in self.actors.values() for request in actor.embedded],
        )
        assert without == []
