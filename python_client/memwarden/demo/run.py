"""The demo from beginning to end."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from rich.console import Console

from memwarden._sync.client import Client
from memwarden.cli.terminal import is_plain
from memwarden.demo import answers, database, report, reviewed, undone
from memwarden.demo.ask import ask
from memwarden.demo.conversation import load
from memwarden.demo.push import hear, push, push_again, push_bad, push_into_busy_scope
from memwarden.demo.writes import (
    DOES_NOT_TELL,
    SAYS_OTHERWISE,
    bad_requests,
    requests_of,
    scope_of,
)

_GATES = """
SELECT gate, decision, reason, requests, p50_us, p95_us FROM memwarden.gate_statistics
"""


_STANDINGS = """
SELECT l.layer, i.standing, count(*) AS memories
  FROM memwarden_data.item AS i JOIN memwarden_data.label AS l USING (label_id)
 WHERE i.status = 'ACTIVE' GROUP BY 1, 2 ORDER BY 1, 2
"""


def run(dsn: str, name: str, data: Path | None, out: Console, shown: int) -> dict[str, Any]:
    """Make database `name`, write the conversations, show what happened, ask the questions.

    Returns the figures of it: what became of the writes, and how much of the evidence was found.

    Raises:
        NotAConversation: `data` is not in the LoCoMo format.
        MemwardenError: the server is not there or not as it should be.
    """
    conversations = load(data)
    started = time.monotonic()
    scopes = [scope_of(each) for each in conversations]
    logins = database.make(dsn, name, scopes)
    roles = database.logins_of(name)
    out.print(
        f"Database {name} made anew. {roles.application} captures what is said, and {roles.agent}"
        f" writes into {', '.join(scopes)}."
    )
    asides = (SAYS_OTHERWISE, DOES_NOT_TELL, *undone.ASIDES, *reviewed.ASIDES)
    with Client.connect(logins.application) as application:
        heard = hear(application, conversations, asides)
    with Client.connect(logins.agent) as memory, Client.connect(logins.curator) as curator:
        requests = [
            request
            for each, captures in zip(conversations, heard, strict=True)
            for request in requests_of(each, captures)
        ]
        decisions, taken = push(memory, requests, out)
        report.show_counts(out, decisions, taken)
        out.print(
            "Turns and notes cite what was captured. A turn says it word for word, a note mostly in"
            " other words: both are remembered, and their standing tells how firmly. That is the"
            " profile balanced. In strict each note would have waited for a person."
        )
        standings = _rows(make_conninfo(dsn, dbname=name), _STANDINGS)
        report.show_standings(out, standings)
        report.show_reasons(out, memory, decisions)
        report.show_new_versions(out, memory, decisions)
        refused = [push_again(memory, requests[0])]
        refused += push_bad(memory, bad_requests(scopes[0]))
        refused.append(push_into_busy_scope(logins.agent, scopes[0]))
        report.show_refused(out, memory, refused)
        report.show_violations(out, refused)
        report.show_gates(out, _rows(logins.agent, _GATES))
        asked = {}
        for each, captures in zip(conversations, heard, strict=True):
            with out.status(f"asking about {each.name}") if not is_plain(out) else nullcontext():
                asked[each.name] = ask(memory, each, captures)
            answers.show_answers(out, each, asked[each.name], shown)
        answers.show_evidence_recall(out, dict(asked))
        undone.show_rollback(out, memory, curator, scopes[0])
    with (
        Client.connect(logins.newcomer) as newcomer,
        Client.connect(logins.reviewer) as reviewer,
    ):
        reviewed.show_review(out, newcomer, reviewer, scopes[0])
    seconds = time.monotonic() - started
    out.print(f"\nDone in {seconds:.1f} s.")
    return {
        "database": name,
        "scopes": scopes,
        "writes": {layer: dict(each) for layer, each in report.counts_of(decisions).items()},
        "standings": standings,
        "refused": [
            {"write": each.wrong, "outcome": each.result.outcome, "reason": each.result.reason}
            for each in refused
        ],
        "evidence_recall": [
            dict(zip(("conversation", "questions", "turns", "turns_and_facts"), row, strict=True))
            for row in answers.evidence_recall(dict(asked))
        ],
        "seconds": round(seconds, 1),
    }


def _rows(dsn: str, query: LiteralString) -> list[dict[str, Any]]:
    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        return connection.execute(query).fetchall()
