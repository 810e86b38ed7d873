"""Hostile text is text: kept as it is where text belongs, unknown where a name belongs."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.rows import DictRow

from helpers import write, write_many

TEXT = {"text": "Ana prefers green tea"}
HOSTILE = {
    "an injection": "'; DROP TABLE memwarden_data.item; --",
    "a nested quote": "$$); SELECT pg_sleep(99) --$function$",
    "a format string": "%s %I %L {0} {content} {{}} \\u0041",
    "right to left": "user \u202e}txt.cod\u202d \u2066a\u2069 nimda",
    "nothing to see": "a\u200bb\u200c\u200d\u2060\ufeff c\u00ad",
    "combining marks": "Z" + "\u0300\u0353\u0489" * 50,
    "beyond the plane": "\U0001f9e0\U0001f469\u200d\U0001f52c \U00020041\U0010ffff",
    "noncharacters": "\ufffe\uffff\ufdd0",
    "controls": "\x01\x07\x1b[31m\x7f\x85\r\n\t",
    "a dotted i": "\u0130stanbul \u0131I \u00df \ufb01 \u01c5 \u0391\u03a3",
    "a path": "../../etc/passwd\\..\\C:",
    "a regular expression": "((a+)+)+$",
    "a query": "a & b | !c <-> 'd':*",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_kept_as_it_is(
    agent: psycopg.Connection[DictRow], room: str, text: str
) -> None:
    """In content, subject, predicate, evidence, key and trace id, and it is found again by recall.

    Proves: V1, W1
    """
    content = {"text": f"before {text} after", text: [text]}
    evidence = [{"type": "document", "uri": text, "note": text}]
    answer = write(
        agent,
        "semantic",
        content,
        scope=room,
        subject=f"s {text}",
        predicate=f"p {text}",
        evidence=evidence,
        idempotency_key=text,
        trace_id=text[:200],
    )
    assert answer["outcome"] == "COMMITTED"
    rows = agent.execute("SELECT * FROM memwarden.get(%s)", (answer["item_id"],)).fetchall()
    assert (rows[0]["content"], rows[0]["subject"], rows[0]["predicate"]) == (
        content,
        f"s {text}",
        f"p {text}",
    )
    assert rows[0]["provenance"]["evidence"] == evidence
    found = agent.execute(
        "SELECT item_id FROM memwarden.recall(%s, scopes => ARRAY[%s])", (text, room)
    )
    assert found.fetchall() == [{"item_id": answer["item_id"]}]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_lead_nowhere(
    agent: psycopg.Connection[DictRow], room: str, text: str
) -> None:
    """As layer, scope, kind or model they are unknown, and nothing else happens.

    Proves: V1, W2
    """
    reasons = {
        "layer": "UNKNOWN_LAYER",
        "scope": "UNKNOWN_SCOPE",
        "kind": "UNKNOWN_KIND",
        "embedding_model": "UNKNOWN_EMBEDDING_MODEL",
    }
    for name, reason in reasons.items():
        request: dict[str, Any] = {"layer": "semantic", "content": TEXT} | {name: text}
        answers = [write(agent, **request), *write_many(agent, [request])]
        assert [answer["reason"] for answer in answers] == [reason] * 2
    working = write(agent, "working", TEXT, scope=room, kind=text)
    assert working["reason"] == "UNKNOWN_KIND"
