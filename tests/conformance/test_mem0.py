"""mem0's own README and calls, from its sdist: the example runs, and no call is missing."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from client.judges.endpoint import Asked, Reply, chat, writes
from conformance import sdists
from memwarden.mem0 import AsyncMemory, Memory

if TYPE_CHECKING:
    from shipped import Shipped

MEM0 = sdists.sources(
    "mem0ai",
    "2.2.1",
    "099a7d58368908d0a05a633c5da3920f607a57db00d4f168800de05966b2a4a8",
)
# Inner workings, and what mem0 does not implement itself.
NOT_HERE = {"chat", "entity_store", "project"}


def answer(asked: Asked, _: int) -> Reply:
    """Extract what the user says of drinks; elsewhere answer with what is remembered."""
    if "response_format" in asked.body:
        said = [each["content"] for each in asked.memories["content"] if each["role"] == "user"]
        names = {"subject": None, "predicate": None, "class": None, "confidence": 0.9}
        found = [names | {"text": each, "excerpt": each} for each in said if "?" not in each]
        return writes(json.dumps({"candidates": found}))
    system = asked.body["messages"][0]["content"]
    return writes(" ".join(re.findall(r"^- (.*)$", system, re.MULTILINE)) or "I see.")


def test_its_readme_runs_after_the_import_is_changed(
    shipped: Shipped, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a model that answers as a script; nothing else of the example is changed.

    Proves: Z11
    """
    readme = (MEM0 / "README.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?from mem0 import Memory.*?)```", readme, re.DOTALL)
    example = example.replace("from mem0 import Memory", "from memwarden.mem0 import Memory")
    said = iter(["I drink green tea", "What do I drink?", "exit"])
    monkeypatch.setattr(builtins, "input", lambda _prompt: next(said))
    with chat(answer) as endpoint:
        for name, value in {
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": endpoint.url.removesuffix("/chat/completions"),
            "MEMWARDEN_DSN": make_conninfo(shipped.world.dsn, user=shipped.agent.info.user),
            "MEMWARDEN_EXTRACT_URL": endpoint.url,
            "MEMWARDEN_EXTRACT_MODEL": "toy",
        }.items():
            monkeypatch.setenv(name, value)
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(example, "<README of mem0>", "exec"), names)
        names["memory"].close()
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == ["AI: I see.", "AI: I drink green tea", "Goodbye!"]


@pytest.mark.parametrize("ours", [Memory, AsyncMemory])
def test_every_call_of_it_is_here_with_its_arguments(ours: type[Any]) -> None:
    """Those that are not taken are there to be refused by name.

    Proves: Z11
    """
    tree = ast.parse((MEM0 / "mem0" / "memory" / "main.py").read_text(encoding="utf-8"))
    [theirs] = [
        each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == ours.__name__
    ]
    for call in theirs.body:
        if not isinstance(call, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if call.name in NOT_HERE or (call.name.startswith("_") and not call.name.endswith("__")):
            continue
        assert hasattr(ours, call.name), call.name
        if call.name.endswith("__"):
            continue
        # AsyncMemory passes its arguments on.
        signatures = (inspect.signature(getattr(each, call.name)) for each in {ours, Memory})
        taken = {name for each in signatures for name in each.parameters}
        named = {each.arg for each in (*call.args.args, *call.args.kwonlyargs)} - {"self", "cls"}
        assert named <= taken, (call.name, named - taken)
