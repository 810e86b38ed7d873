#!/usr/bin/env python3
"""How risky writes are, for the risk from which profile `balanced` asks a person.

usage: python bench/asked.py --dsn DSN --data SHARED

Written are, into a fresh store as `memwarden init` leaves it: what people noted of the
conversations of LoCoMo, once with the turns that they noted it of and once without; and the facts
of Letta's leaderboard, then what contradicts them. No write waits for its risk alone: the table
says, for each kind, how many a person would be asked about from which risk on.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from measure import machine
from memwarden.starting import Start, begin

DATABASE = "memwarden_asked"
START = Start(agent="asked_agent", reviewer="asked_reviewer", application="asked_application")
FROM = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
# Whatever the risk is, it is measured and nobody is asked.
MEASURED = """
UPDATE memwarden_data.approval_policy SET auto_below = 1.01, sync_from = 1.01
 WHERE profile = 'balanced' AND approval = 'by_risk'
"""
RISK = """
SELECT r.outcome::text, r.reason, (r.review #>> '{auto}') AS measured
  FROM memwarden_data.write_request AS r WHERE r.request_id = %s
"""


class Note(NamedTuple):
    """What is written, of which kind, where, and the turns that it rests on."""

    kind: str
    scope: str
    text: str
    turns: list[str]


def talks(data: Path) -> Iterator[tuple[str, dict[str, tuple[str, str]], list[tuple[str, str]]]]:
    """Return each conversation: its scope, its turns, and the notes with the ids of turns."""
    for talk in json.loads((data / "locomo/dev.json").read_text(encoding="utf-8")):
        turns = {
            turn["dia_id"]: (turn["speaker"], turn["text"])
            for name, session in talk["conversation"].items()
            if isinstance(session, list)
            for turn in session
        }
        notes = [
            (text, cited)
            for session in talk["observation"].values()
            for each in session.values()
            for text, cited in each
            if isinstance(cited, str) and cited in turns
        ]
        yield f"{START.scope}/task/{talk['sample_id'].lower()}", turns, notes


def facts(data: Path) -> Iterator[Note]:
    """Return the facts of each item, and then those that contradict them."""
    lines = (data / "letta/dev.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        item = json.loads(line)
        scope = f"{START.scope}/task/letta-{number}"
        yield from (Note("fact, nothing cited", scope, text, []) for text in item["facts"])
        for text in item["contradicting_facts"]:
            yield Note("fact that contradicts, nothing cited", scope, text, [])


def named(place: str, turn: str) -> str:
    """Return the external id of a turn."""
    return f"{place}-{turn.replace(':', '-')}"


def write_all(dsn: str, data: Path) -> dict[str, list[DictRow]]:
    """Write everything and return what was measured, by kind."""
    found: dict[str, list[DictRow]] = {}
    with (
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as admin,
        psycopg.connect(dsn, user=START.application, autocommit=True) as application,
        psycopg.connect(dsn, user=START.agent, autocommit=True, row_factory=dict_row) as agent,
    ):
        admin.execute("SELECT memwarden.use_profile('balanced', org => 'acme')")
        admin.execute(MEASURED)

        def write(note: Note) -> None:
            admin.execute("SELECT memwarden.create_scope(%s)", (note.scope,))
            cited = [{"uri": uri} for uri in note.turns]
            row = agent.execute(
                "SELECT request_id"
                " FROM memwarden.write('semantic', %s, scope => %s, evidence => %s)",
                (Jsonb({"text": note.text}), note.scope, Jsonb(cited)),
            ).fetchone()
            assert row is not None
            measured = admin.execute(RISK, (row["request_id"],)).fetchone()
            assert measured is not None
            found.setdefault(note.kind, []).append(measured)

        for scope, turns, notes in talks(data):
            for path in (scope, f"{scope}-bare"):
                admin.execute("SELECT memwarden.create_scope(%s)", (path,))
            place = scope.rpartition("/")[2]
            for name, (speaker, text) in turns.items():
                turn = {"role": "user", "speaker": speaker, "text": text}
                application.execute(
                    "SELECT memwarden.capture('chat', %s, %s, scope => %s, captured_for => %s)",
                    (Jsonb(turn), named(place, name), scope, [START.agent]),
                )
            for text, cited in notes:
                uri = f"memwarden:capture/{START.application}/chat/{named(place, cited)}"
                write(Note("note, its turn cited", scope, text, [uri]))
                write(Note("note, nothing cited", f"{scope}-bare", text, []))
        for note in facts(data):
            write(note)
    return found


def tell(found: dict[str, list[DictRow]]) -> None:
    """Print, for each kind, how it ended, and how many are as risky as that."""
    print(machine())
    print("| written | number | " + " | ".join(f"from {each}" for each in FROM) + " | otherwise |")
    print("|---" * (len(FROM) + 3) + "|")
    for kind, rows in found.items():
        risks = [float(row["measured"].split(" ")[0]) for row in rows if row["measured"]]
        other: Counter[Any] = Counter(row["reason"] for row in rows if not row["measured"])
        over = [str(sum(risk >= each for risk in risks)) for each in FROM]
        ended = ", ".join(f"{reason} {number}" for reason, number in other.most_common())
        print(f"| {kind} | {len(rows)} | {' | '.join(over)} | {ended} |")


def main() -> None:
    """Make the database, measure, and drop it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dsn", required=True, help="a superuser's connection string")
    parser.add_argument("--data", required=True, type=Path)
    arguments = parser.parse_args()
    with psycopg.connect(arguments.dsn, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {DATABASE}")
        try:
            dsn = make_conninfo(arguments.dsn, dbname=DATABASE)
            begin(dsn, START)
            tell(write_all(dsn, arguments.data))
        finally:
            server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            for role in (START.agent, START.reviewer, START.application):
                server.execute(f"DROP ROLE IF EXISTS {role}")


if __name__ == "__main__":
    main()
