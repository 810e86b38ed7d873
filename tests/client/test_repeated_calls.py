"""Which calls the client sends again when their answer is lost, and why that is safe.

A call that only reads may be sent again. One that writes carries a request id, or is listed here
with the reason why a second one changes nothing, or is not sent again.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import memwarden

PACKAGE = Path(memwarden.__file__).parent
SQL = PACKAGE.parents[1] / "sql"

# Functions that change something, and what a second call does.
SAFE_TWICE = {
    "approve": "answers ALREADY_DECIDED, with the decision",
    "await_decision": "waits again; reads what became of the request",
    "capture": "the external id of a capture is taken once",
    "capture_many": "the external id of a capture is taken once",
    "claim_captures": "claims others; the first come back when their lease is over",
    "health_gate": "measures again; reads, writes nothing",
    "close_session": "done once; every call has the first answer",
    "compile_context": "a recall: the log has both",
    "consolidate": "a decision is recorded once; the second says `repeated`",
    "create_scope": "returns the number of the scope that is there",
    "explain_retention": "changes nothing",
    "extract": "each version of an extractor reads a capture once",
    "find_subject": "changes nothing",
    "issue_token": "a second token; the first ends by itself",
    "link_action": "the same call again adds nothing",
    "load_lexicon": "the same files again do nothing",
    "open_session": "returns the session that is open",
    "pause_job": "the job is paused",
    "pin": "the same reason again",
    "preview_rollback": "changes nothing",
    "push": "a recall: the log has both",
    "recall": "a recall: the log has both",
    "record_recalls": "a recall id is recorded once",
    "reembed": "the model is being embedded",
    "register_subject": "adds what is not there yet",
    "reject": "answers ALREADY_DECIDED, with the decision",
    "render_working_memory": "the session lives as much longer",
    "report_outcome": "the same report again changes nothing",
    "resume_job": "the job runs",
    "resume_session": "returns the session that is open",
    "search_session": "the session lives as much longer",
    "submit_candidates": "each version of an extractor submits once",
    "working_memory": "the session lives as much longer",
}


@cache
def volatile() -> frozenset[str]:
    """The public functions that may change something."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SQL.rglob("*.sql"))
    found = re.findall(
        r"^CREATE OR REPLACE FUNCTION memwarden\.(\w+)\(.*?^LANGUAGE \w+ (\w+)",
        text,
        re.DOTALL | re.MULTILINE,
    )
    assert len(found) > 150
    return frozenset(name for name, kind in found if kind == "VOLATILE")


def repeated() -> dict[str, str]:
    """The functions that the client calls again as it likes, and from which of its modules."""
    found: dict[str, str] = {}
    for path in sorted((PACKAGE / "_sync").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {
            alias.asname or alias.name: f"memwarden._statements.{alias.name}"
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "memwarden._statements"
            for alias in node.names
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".fetch")):
                continue
            statement = node.args[0]
            if not isinstance(statement, ast.Attribute):
                continue
            once = any(
                each.arg == "repeatable" and ast.unparse(each.value) == "False"
                for each in node.keywords
            )
            dry = any(
                each.arg == "repeatable" and ast.unparse(each.value) == "dry_run"
                for each in node.keywords
            )
            if once or dry or len(node.args) > 3:  # the fourth are the request ids
                continue
            module = import_module(modules[ast.unparse(statement.value)])
            text = getattr(module, statement.attr)
            for name in re.findall(r"memwarden\.(\w+)\s*\(", text):
                found[name] = path.name
    return found


def test_a_call_that_is_sent_again_is_safe_twice() -> None:
    """A new call that writes is not sent again by oversight.

    Proves: W4
    """
    assert {name for name in repeated() if name in volatile()} == set(SAFE_TWICE)
