#!/usr/bin/env python3
"""Run pgspot over every statement of the extension script and of the storage that setup() makes.

usage: tools/run_pgspot.py build/memwarden--VERSION.sql

Given a whole script, pgspot stops at the first function with an SQL-standard body (RETURN, BEGIN
ATOMIC) and skips the rest without a word. So each statement becomes a file of its own, in order;
such a body becomes the query that it is, since its names are resolved while the script runs.

Exit status 1 for a finding that is not expected below, and for an expectation that nothing meets.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pglast import ast, parse_sql, split
from pglast.stream import RawStream

ROOT = Path(__file__).resolve().parent.parent

_UPDATE = "an update runs the script again; PostgreSQL then refuses a schema that is not its own"
_SESSION_PATH = "a SET clause would not do: see the function; it names everything with its schema"
_COMMITS = "a procedure that commits may have no SET clause; it names everything with its schema"
_OWN_SCHEMA = "setup() has made the schema, in which nobody but memwarden_owner creates anything"

# What pgspot says of which function or file, and why it is no fault.
EXPECTED = {
    ("script", "PS010: Unsafe schema creation: memwarden"): _UPDATE,
    ("script", "PS010: Unsafe schema creation: memwarden_internal"): _UPDATE,
    ("04_terms.bound.sql", "PS015: Unsafe view creation: memwarden_data.layer_terms"): _OWN_SCHEMA,
    ("04_terms.bound.sql", "PS015: Unsafe view creation: memwarden_data.terms_at"): _OWN_SCHEMA,
    (
        "20_reader_terms.bound.sql",
        "PS015: Unsafe view creation: memwarden_data.reader_terms",
    ): _OWN_SCHEMA,
    (
        "20_reader_terms.bound.sql",
        "PS015: Unsafe view creation: memwarden_data.reader_at",
    ): _OWN_SCHEMA,
    (
        "90_provenance.bound.sql",
        "PS015: Unsafe view creation: memwarden_data.whole_provenance",
    ): _OWN_SCHEMA,
    (
        "90_subject_keys.bound.sql",
        "PS015: Unsafe view creation: memwarden_data.said_version",
    ): _OWN_SCHEMA,
    (
        "90_subject_keys.bound.sql",
        "PS015: Unsafe view creation: memwarden_data.said_record",
    ): _OWN_SCHEMA,
    (
        "90_subject_keys.bound.sql",
        "PS015: Unsafe view creation: memwarden_data.said_capture",
    ): _OWN_SCHEMA,
    (
        "90_subject_keys.bound.sql",
        "PS015: Unsafe view creation: memwarden_data.said_working_memory",
    ): _OWN_SCHEMA,
    (
        "memwarden.setup",
        "PS005: Function without explicit search_path: "
        "memwarden.setup(component text,state text,detail text)",
    ): _SESSION_PATH,
    (
        "memwarden.maintain",
        "PS005: Function without explicit search_path: memwarden.maintain()",
    ): _SESSION_PATH,
    (
        "memwarden.rescan_sensitivity",
        "PS005: Function without explicit search_path: "
        "memwarden.rescan_sensitivity(batch integer,INOUT scanned bigint,INOUT marked bigint)",
    ): _COMMITS,
    (
        "memwarden.sweep",
        "PS005: Function without explicit search_path: "
        "memwarden.sweep(batch integer,batches integer)",
    ): _COMMITS,
    (
        "memwarden_internal.run_job",
        "PS005: Function without explicit search_path: "
        "memwarden_internal.run_job(p_job text,p_after text)",
    ): _COMMITS,
    (
        "memwarden_internal.work_on_job",
        "PS005: Function without explicit search_path: memwarden_internal.work_on_job(p_job text,"
        "p_after text,p_begun timestamptz,p_turn interval,INOUT p_error jsonb)",
    ): _COMMITS,
    (
        "memwarden_internal.try_step",
        "PS005: Function without explicit search_path: memwarden_internal.try_step(p_job text,"
        "p_after text,p_begun timestamptz,OUT after text,OUT error jsonb)",
    ): _SESSION_PATH,
    **{
        (
            f"memwarden.{name}",
            f"PS005: Function without explicit search_path: memwarden.{name}()",
        ): _COMMITS
        for name in (
            "arrange_shelves",
            "clean_layers",
            "clear_models",
            "reindex_words",
            "check_probes",
            "checkpoint",
            "close_due_scopes",
            "close_due_sessions",
            "collect",
            "compact_captures",
            "compact_history",
            "count_recalls",
            "check_compliance",
            "delete_old_records",
            "enforce_consent",
            "enforce_retention",
            "take_metrics",
            "revalidate",
            "escalate_reviews",
            "expire_reviews",
            "extract_captures",
            "retry_deferred",
            "run_due_jobs",
            "load_lexicons",
            "seal_log",
            "settle_values",
        )
    },
}

# A limit of pgspot's parser, which knows no "record.field := ..." and no reserved word as an
# argument: what it cannot read, plpgsql_check reads (tests/catalog).
UNREADABLE = {
    "memwarden.add_gate",
    "memwarden.before_call",
    "memwarden.issue_token",
    "memwarden.merge",
    "memwarden.move_gate",
    "memwarden.recover",
    "memwarden.split_entity",
    "memwarden_internal.add_scope",
    "memwarden_internal.agree",
    "memwarden_internal.append_segment",
    "memwarden_internal.approval_terms",
    "memwarden_internal.carry_out",
    "memwarden_internal.check_standing",
    "memwarden_internal.checkpoint_digest",
    "memwarden_internal.decided_before",
    "memwarden_internal.erasure_extent",
    "memwarden_internal.find_session",
    "memwarden_internal.guard_capture",
    "memwarden_internal.guard_erasure",
    "memwarden_internal.guard_extractor",
    "memwarden_internal.guard_recall",
    "memwarden_internal.guard_recall_outcome",
    "memwarden_internal.guard_timeline",
    "memwarden_internal.guard_version",
    "memwarden_internal.hold_item",
    "memwarden_internal.label_of_successor",
    "memwarden_internal.newer_extent",
    "memwarden_internal.record_listed",
    "memwarden_internal.remember_entry",
    "memwarden_internal.replayed",
    "memwarden_internal.require_agent",
    "memwarden_internal.require_item",
    "memwarden_internal.require_scope",
    "memwarden_internal.retract_version",
    "memwarden_internal.sealed_entry",
    "memwarden_internal.search_once",
    "memwarden_internal.search_person",
    "memwarden_internal.signing_key",
    "memwarden_internal.tune_layer",
    "memwarden_internal.undo",
    "memwarden_internal.write_rows",
}
UNREAD = re.compile(r'"[\w.]+" is not a known variable|syntax error at or near "\w+"')


def statements(script: str) -> Iterator[tuple[str, str]]:
    """Split a script into (function, statement); the former is empty for other statements.

    The placeholders of extension scripts and psql's commands are replaced as pgspot does it.
    """
    script = re.sub(r"^\\", r"-- \\", script, flags=re.MULTILINE)
    script = re.sub(r"@extschema:([^@]+)@", r"extschema_\1", script)
    for statement in map(str, split(script, with_parser=True)):
        node = parse_sql(statement)[0].stmt
        if not isinstance(node, ast.CreateFunctionStmt):
            yield "", statement
            continue
        name = ".".join(part.sval for part in node.funcname)
        if node.sql_body is None:
            yield name, statement
        else:
            yield from ((name, query) for query in queries(node.sql_body))


def queries(body: object) -> Iterator[str]:
    """Take an SQL-standard function body apart into its queries."""
    if isinstance(body, tuple):
        for part in body:
            yield from queries(part)
    elif isinstance(body, ast.ReturnStmt):
        yield "SELECT " + deparse(body.returnval)
    else:
        yield deparse(body)


def deparse(node: object) -> str:
    """Return the SQL of a parsed node."""
    return str(RawStream()(node))  # type: ignore[no-untyped-call]


def installed(script: Path) -> Iterator[tuple[str, str]]:
    """Every statement that an installation runs, in order, with the function or file it is in."""
    for name, statement in statements(script.read_text()):
        yield name or "script", statement
    yield "setup()", "SET search_path = pg_catalog, pg_temp"
    for phase in ("table", "bound"):
        for path in sorted((ROOT / "sql").rglob(f"*.{phase}.sql")):
            for name, statement in statements(path.read_text()):
                yield name or path.name, statement


def findings(named: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return what pgspot says of each statement, what it could not read included."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, (name, statement) in enumerate(named):
            files.append(f"{number:05} {name}")
            Path(folder, files[-1]).write_text(statement)
        done = subprocess.run(
            [sys.executable, "-m", "pgspot", "--append", "--ignore-lang=plpython3u", *files],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
        )
    found = set()
    name = ""
    *lines, total = done.stdout.rstrip().splitlines()
    if not total.startswith("TOTAL:"):
        raise SystemExit(f"pgspot did not come to its end: {total}")
    for line in lines:
        if header := re.match(r"\d{5} (.*): $", line):
            name = header[1]
        elif line.strip() and not re.match(r" Errors: \d", line):
            found.add((name, re.sub(r",? at (line|index) \d+$", "", line.strip())))
    return found


def main() -> None:
    """Print what pgspot finds and nobody expects."""
    found = findings(installed(Path(sys.argv[1])))
    unread = {f for f in found if f[0] in UNREADABLE and UNREAD.fullmatch(f[1])}
    found -= unread
    for name in sorted(UNREADABLE - {name for name, _ in unread}):
        print(f"{name}: expected to be unreadable, and is not")
    for name, finding in sorted(found - EXPECTED.keys()):
        print(f"{name}: {finding}")
    for name, finding in sorted(EXPECTED.keys() - found):
        print(f"{name}: expected by {Path(__file__).name}, and not found: {finding}")
    sys.exit(found != EXPECTED.keys() or {name for name, _ in unread} < UNREADABLE)


if __name__ == "__main__":
    main()
