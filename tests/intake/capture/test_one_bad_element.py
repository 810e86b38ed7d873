"""A bad element of a list has an answer of its own, and no other loses anything by it."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from psycopg.conninfo import make_conninfo

from memwarden import AsyncClient, Client
from shipped import SCOPE

if TYPE_CHECKING:
    from shipped import Shipped

GOOD = '{"source": "chat", "content": {"role": "user", "text": "%s"}, "scope": "' + SCOPE + '"}'

# An element as JSON text, and what it is answered with.
BAD = [
    (GOOD % "a\\u0000b", "22P05"),
    (GOOD % "\\ud83d", "22P02"),
    (GOOD % "\\ude00\\ud83d", "22P02"),
    ('{"source": "chat", "content": {"a\\u0000": 1}}', "22P05"),
    ('{"source": "chat", "content": 1, "external_id": "\\u0000"}', "22P05"),
    ('{"source": "chat", "content_text": "{\\"temperature\\": NaN}"}', "22P02"),
    ('{"source": "chat", "content_text": "{\\"secret\\": [1,}"}', "22P02"),
    ('{"source": "chat", "content_text": "-Infinity"}', "22P02"),
    ('{"source": "chat", "content_text": null}', "22023"),
    ('{"source": "chat", "content": 1, "content_text": "1"}', "22023"),
    ('{"source": "chat", "content": 1e999}', "22023"),
    ('{"source": "chat", "content": 1e999999}', "22003"),
    ('{"source": "chat", "content": "%s"}' % ("x" * 70_000), "22023"),
    ('{"source": "chat", "content": 1, "colour": 2}', "22023"),
    ('{"source": 7, "content": 1}', "22023"),
    ('{"content": 1}', "22023"),
    ('{"source": "chat"}', "22023"),
    ('{"source": "chat", "content": 1, "captured_at": "soon"}', "22007"),
    ('{"source": "chat", "content": 1, "captured_at": "999999-01-01"}', "22008"),
    ('{"source": "chat", "content": 1, "captured_at": "9999-01-01"}', "22023"),
    ('{"source": "chat", "content": 1, "captured_at": "infinity"}', "22023"),
    ('{"source": "chat", "content": 1, "class": "unheard_of", "subject": "Petra"}', "42704"),
    ('{"source": "chat", "content": 1, "domains": [1, {}]}', "22023"),
    ('{"source": "chat", "content": 1, "domains": {"a": 1}}', "22023"),
    ('{"source": "chat", "content": 1, "scope": "/org/other"}', "42704"),
    ("null", "22023"),
    ("[]", "22023"),
    ('"\\u0000"', "22P05"),
    ("7", "22023"),
]


@pytest.mark.every_version
def test_each_capture_of_a_list_has_an_answer_of_its_own(shipped: Shipped) -> None:
    """In the order given, in a store as init leaves it; of its words the answer tells none.

    Proves: F1
    """
    elements = [element for each, _ in BAD for element in (GOOD % "tea", each)]
    rows = shipped.application.execute(
        "SELECT * FROM memwarden.capture_many(%s)", (f"[{','.join(elements)}]",)
    ).fetchall()
    assert [row["ordinal"] for row in rows] == list(range(2 * len(BAD)))
    assert {row["fault"] for row in rows[::2]} == {None}
    assert [row["fault"] for row in rows[1::2]] == [fault for _, fault in BAD]
    assert not any(row["capture_id"] or row["repeated"] for row in rows[1::2])
    assert "secret" not in str(rows)
    assert "soon" not in str(rows)
    kept = {row["capture_id"] for row in rows[::2]}
    assert {
        row["capture_id"]
        for row in shipped.world.rows("SELECT capture_id FROM memwarden_data.capture")
    } == kept
    assert len(kept) == len(BAD)


class Odd:
    """Nothing that JSON has."""


TURN = {"role": "user", "text": "tea"}
LOOP: list[Any] = []
LOOP.append(LOOP)
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]
# What Python can hold and JSON or PostgreSQL cannot: contents, and whole captures.
CONTENTS = [math.nan, -math.inf, "a\0b", "\ud83d", {"a": {1}}, {1: 2}, LOOP, DEEP, b"x", Odd()]
CAPTURES: list[Any] = [
    *(None, 5, "text", [], Odd(), math.nan, "\ud83d"),
    *({"source": "chat", "content": each, "scope": SCOPE} for each in CONTENTS),
    {"source": "chat", "content": TURN, "external_id": "a\0"},
    {"source": "chat", "content": TURN, "session_id": "\ud83d"},
    {"source": "chat", "content": TURN, "captured_at": math.nan},
    {"source": "chat", "content": TURN, "domains": [math.inf]},
    {"source": "chat", "content": TURN, "captured_for": 5},
    {"source": "chat", "content": TURN, "col\0our": 5},
    {"source": "chat", "content": TURN, 5: 5},
    {},
]


def test_the_clients_send_what_is_no_json_for_an_answer_of_its_own(shipped: Shipped) -> None:
    """Both of them; and write_many of the same contents does the same.

    Proves: F1, W8
    """
    good = {"source": "chat", "content": TURN, "scope": SCOPE}
    batch: list[Any] = [one for each in CAPTURES for one in (each, good)]
    login, database = shipped.application.info.user, shipped.application.info.dbname
    dsn = make_conninfo(shipped.application.info.dsn, user=login, dbname=database)

    async def both() -> Any:
        async with AsyncClient(dsn=dsn) as client:
            return await client.capture_many(iter(batch))

    for answers in (Client(shipped.application).capture_many(iter(batch)), asyncio.run(both())):
        assert [each.ordinal for each in answers] == list(range(len(batch)))
        assert all(isinstance(each.capture_id, UUID) for each in answers[1::2])
        told = {each.fault for each in answers[::2]}
        assert told == {"22P02", "22P05", "22023"}
        assert not any(each.capture_id for each in answers[::2])
    written = Client(shipped.agent).write_many(
        [
            {"layer": "episodic", "content": one}
            for each, n in zip(CONTENTS, range(len(CONTENTS)), strict=True)
            for one in (each, f"Ana has drunk tea in {n + 3} towns")
        ]
    )
    assert {each.reason for each in written[::2]} <= {"INVALID_JSON", "NOT_CANONICAL"}
    assert not {each.outcome for each in written[1::2]} & {"REJECTED"}


@pytest.mark.every_version
def test_a_candidate_that_is_no_json_harms_no_other(shipped: Shipped) -> None:
    """It counts as dropped, and the others of its capture are written.

    Proves: F2
    """
    shipped.world.admin.execute(
        "SELECT memwarden.define_extractor('model', method => 'plugin', plugin => 'llm')"
    )
    memory = Client(shipped.agent)
    memory.capture("chat", TURN)
    claimed = memory.claim_captures("llm")[0]
    good = [{"content": f"Ana has {n} herons"} for n in range(2, 5)]
    bad: list[Any] = [{"content": each} for each in CONTENTS]
    bad.append(5)
    made = memory.submit_candidates(
        claimed.capture["capture_id"], "model", 1, [good[0], *bad, *good[1:]]
    )
    assert len(made) == len(good)
    (read,) = shipped.world.rows("SELECT * FROM memwarden_data.extraction WHERE dropped > 0")
    assert (read["candidates"], read["dropped"]) == (len(good), len(bad))
