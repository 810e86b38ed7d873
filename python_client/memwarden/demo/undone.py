"""A wrong write, taken back: the part of the demo about history."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rich.console import Console

from memwarden._sync.client import Client
from memwarden.cli.history import show_versions
from memwarden.cli.memory import words
from memwarden.cli.terminal import cell, instant
from memwarden.demo.report import heading
from memwarden.demo.writes import quoted
from memwarden.results import WriteResult

ASIDES = ("Ravens can hold a grudge.", "Ravens forget an insult at once.")
"""What was said: a fact, and then a wrong one."""
_FACT: dict[str, Any] = {"subject": "Ravens", "predicate": "temper"}


def show_rollback(out: Console, agent: Client, curator: Client, scope: str) -> None:
    """Let the agent write a fact and then a wrong one; let the curator roll that back."""
    _, wrong = (_tell(agent, statement, scope) for statement in ASIDES)
    if wrong.item_id is None:
        return
    believed = agent.history(wrong.item_id)[0].recorded_at
    curator.rollback(wrong.item_id, "A raven was asked.", version_id=wrong.version_id)
    heading(out, "A wrong write, taken back: who changed what, when and why")
    show_versions(out, agent.history(wrong.item_id))
    out.print(cell(f"As of {instant(believed)}: {_said(agent, scope, believed)}"))
    out.print(cell(f"As of now: {_said(agent, scope, None)}"))


def _tell(agent: Client, statement: str, scope: str) -> WriteResult:
    content, evidence = {"statement": statement}, quoted(statement)
    return agent.write("semantic", content, scope=scope, evidence=evidence, **_FACT)


def _said(memory: Client, scope: str, moment: datetime | None) -> str:
    held: list[Any] = [item.content for item in memory.as_of(moment, scopes=[scope], **_FACT)]
    return ", ".join(words(each) for each in held) or "nothing"
