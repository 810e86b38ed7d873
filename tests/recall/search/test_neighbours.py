"""What was said before and after an answer is lifted towards it: in its conversation, as seen."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import Connection, DatabaseError
from psycopg.rows import DictRow

from access import call, curator
from helpers import ranked, recall, write

if TYPE_CHECKING:
    from conftest import World
    from recall.search.conftest import Remember

WORDS = [f"word{n}" for n in range(25)]
ALONE = {"vector": 0.55, "keyword": 0.45}
SECOND = 0.7
QUERIES = ("word1 word2", "word3 word4 word5", "word6")


def vector(chance: random.Random) -> list[float]:
    """Any vector of the default model."""
    return [round(chance.gauss(0, 1), 4) for _ in range(384)]


def plainly(
    rows: list[DictRow], talks: dict[Any, str], said: list[Any], weight: float
) -> dict[Any, tuple[float, float]]:
    """The score and the lift of each row: `talks` says in which conversation, `said` in what order.

    `rows`: all that the caller sees, scored by vectors and words alone.
    """
    own = {row["item_id"]: row["sum"] for row in rows}
    lift: defaultdict[Any, float] = defaultdict(float)
    for talk in set(talks.values()):
        seen = [item for item in said if item in own and talks.get(item) == talk]
        for distance, share in ((1, 1.0), (2, SECOND)):
            for a, b in zip(seen, seen[distance:], strict=False):
                lift[a] = max(lift[a], share * (own[b] - own[a]))
                lift[b] = max(lift[b], share * (own[a] - own[b]))
    return {item: (score + weight * lift[item], lift[item]) for item, score in own.items()}


def talk(
    world: World, home: str, *, hidden: bool
) -> tuple[Connection[DictRow], list[Any], dict[Any, str]]:
    """A reader who logs in, and three conversations, some of whose turns it does not see.

    `hidden`: whether those are there at all. The others are the same every time.
    """
    author = world.agent(home, clearance="confidential")
    desk = curator(world, home.rpartition("/user")[0])
    asked = {"subject": "Ana", "purpose": "personalisation"}
    call(desk, "record_consent", **asked, decision="granted")
    chance, secret = random.Random(7), random.Random(8)
    said: list[Any] = []
    talks: dict[Any, str] = {}
    for n in range(60):
        words = [WORDS[int(25 * chance.random() ** 2)] for _ in range(chance.randint(1, 6))]
        session = chance.choice(["monday", "tuesday", "friday"])
        embedding = vector(chance)
        if hidden and n % 3 == 0:
            how = ("classified", "expired", "retracted", "withdrawn")[n // 3 % 4]
            content = {"text": f"word1 word2 word3 word4 word6 {how} {n}"}
            more: dict[str, Any] = {
                "classified": {"classification": "confidential"},
                "withdrawn": {"class": "preference", "subject": "Ana"},
            }.get(how, {})
            row = write(
                author,
                "episodic",
                content,
                embedding=vector(secret),
                origin={"session": session},
                **more,
            )
            assert row["outcome"] == "COMMITTED", row
            if how == "expired":
                world.admin.execute(
                    "UPDATE memwarden_data.item SET expires_at = now() WHERE item_id = %s",
                    (row["item_id"],),
                )
            elif how == "retracted":
                call(author, "retract", item_id=row["item_id"], reason="no")
        origin = {"session": session} if n % 7 else None
        row = write(
            author,
            "episodic",
            {"text": " ".join(words) + f" {n}"},
            embedding=embedding,
            origin=origin,
        )
        assert row["outcome"] == "COMMITTED", row
        said.append(row["item_id"])
        if origin:
            talks[row["item_id"]] = session
    call(desk, "record_consent", **asked, decision="withdrawn")
    return world.log_in(world.register(home)), said, talks


def test_a_neighbour_lends_what_the_caller_sees_of_it_and_no_more(world: World) -> None:
    """Scores are those of a plain computation, and the same where nothing is hidden.

    Hidden are turns that the reader is not cleared for, that have expired, were taken back, or
    whose subject has withdrawn consent: each would have answered best.

    Proves: L7 (neighbours)
    """
    chance = random.Random(9)
    asked = [(query, vector(chance)) for query in QUERIES] + [(QUERIES[0], None)]
    told = []
    for home, hidden in (("/org/one/user/ana", True), ("/org/two/user/ana", False)):
        reader, said, talks = talk(world, home, hidden=hidden)
        answers = []
        for query, embedding in asked:
            given = {} if embedding is None else {"embedding": embedding}
            alone = ALONE if given else {"vector": 0.2, "keyword": 0.8}
            base = ranked(reader, query=query, k=1000, weights=alone, **given)
            assert {row["item_id"] for row in base} == set(said)
            assert all(row["neighbour_score"] == 0 for row in base)
            expected = plainly(base, talks, said, 0.5)
            for weights in (None, alone | {"neighbour": 0.5}):
                how = {} if weights is None else {"weights": weights}
                found = ranked(reader, query=query, k=1000, **given, **how)
                for row in found:
                    score, lift = expected[row["item_id"]]
                    assert row["neighbour_score"] == pytest.approx(lift, abs=1e-9)
                    assert row["sum"] == pytest.approx(score, abs=1e-9)
                assert all(a["sum"] >= b["sum"] for a, b in pairwise(found))
            assert max(row["neighbour_score"] for row in found) > 0.2
            # What is lifted stays below what lifts it: the first stays the first.
            assert found[0]["item_id"] == base[0]["item_id"]
            answers.append([(r["text"], r["sum"], r["neighbour_score"]) for r in found])
        told.append(answers)
    assert told[0] == told[1]
    # The heads are laid out anew: who stands beside whom is in the log.
    kept = "SELECT item_id, conversation FROM memwarden_data.item ORDER BY item_id"
    before = world.rows(kept)
    world.admin.execute("SELECT * FROM memwarden.rebuild_heads(replace => true)")
    assert world.rows(kept) == before


def test_the_weight_is_the_layer_s_or_the_call_s_and_is_explained(
    reader: Connection[DictRow], remember: Remember
) -> None:
    """In the sum of the answer; ranks leave it out, and a weight out of range is refused.

    Proves: L7 (neighbours), L12 (neighbours)
    """
    asks, answers = (
        remember(text, layer, origin={"task": "holidays"})
        for layer, text in (("episodic", "where do you go in summer"), ("episodic", "To Lisbon."))
    )
    apart = remember("To Lisbon again.", origin={"task": "another"})
    notes = [
        remember(text, "session", origin={"session": "s"})
        for text in ("where do you go in winter", "To Oslo.")
    ]

    def lifts(**how: Any) -> dict[Any, float]:
        rows = recall(reader, query="where do you go", **how)
        return {row["item_id"]: row["neighbour_score"] for row in rows}

    found = lifts()
    assert found[answers] > 0.5
    assert found[asks] == found[apart] == found[notes[1]] == 0
    assert lifts(weights={"keyword": 1, "neighbour": 0.5})[notes[1]] > 0.5
    assert set(lifts(weights={"keyword": 1}).values()) == {0}
    assert set(lifts(fusion="rrf").values()) == {0}
    steps = reader.execute(
        "SELECT detail, facts FROM memwarden.explain_recall('where do you go')"
        " WHERE step = 'answer'"
    ).fetchall()
    (step,) = (row for row in steps if row["facts"]["item_id"] == str(answers))
    parts = {part["part"]: part for part in step["facts"]["parts"]}
    assert parts["neighbour"]["component"] == pytest.approx(found[answers])
    assert "+ 0.5 * neighbour 1" in step["detail"]
    total = sum(part["weight"] * part["component"] for part in parts.values())
    assert step["facts"]["sum"] == pytest.approx(total)
    with pytest.raises(DatabaseError) as raised:
        lifts(weights={"neighbour": 1001})
    assert raised.value.sqlstate == "22023"
