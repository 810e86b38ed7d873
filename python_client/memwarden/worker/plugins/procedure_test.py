"""`procedure_test`: runs the test that a procedure carries, in a sandbox; it passes or is refused.

The content has `test`: `{"language": "python" or "sh", "code": ..., "files": {name: text}}`. It
passes when it ends with status 0. It finds its files in the working directory, and with them
`procedure.json`: the content without the test. Settings: `timeout` (10 seconds), `memory_mb` (256
for each process), `required` (true: what carries no test is refused).

What it printed is not kept: it may repeat the content in a form that no gate has looked at.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from memwarden.worker import sandbox
from memwarden.worker.plugin import PluginError, Verdict
from memwarden.worker.plugins.settings import number

PROCEDURE = "procedure.json"
MOST_FILES = 16
MAX_BYTES = 64 * 1024
LANGUAGES = {
    "python": ("test.py", ["/usr/bin/python3", "-E", "-s", "-S", "-B"]),
    "sh": ("test.sh", ["/usr/bin/sh"]),
}
_RESERVED = {PROCEDURE} | {script for script, _ in LANGUAGES.values()}
# Plain names: no folder, nothing hidden, nothing that reads as an option.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")

Fault = Literal["TEST_MISSING", "TEST_INVALID", "TEST_FAILED"]


class ProcedureTest:
    """Runs each test in a sandbox of its own."""

    name = "procedure_test"
    version = "1"

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Accept a procedure whose test passes; refuse it with the reason code otherwise."""
        bounds = sandbox.Bounds(
            # The worker's own patience ends a little later.
            number(settings, "timeout", 10, least=1, most=3600) * 0.9,
            int(number(settings, "memory_mb", 256, least=32, most=16384)),
        )
        content = payload.get("content")
        test = content.get("test") if isinstance(content, dict) else None
        if test is None:
            if _is_required(settings):
                return _refusal("TEST_MISSING", "the content has no test")
            return Verdict("accept")
        fault = fault_of(test)
        if fault is not None:
            return _refusal("TEST_INVALID", fault)
        procedure = {name: value for name, value in payload["content"].items() if name != "test"}
        return _verdict(test["language"], _run(test, procedure, bounds))


def fault_of(test: Any) -> str | None:
    """Return what is wrong with a test, without a word of its content; None when nothing is."""
    if not isinstance(test, dict) or not test.keys() <= {"language", "code", "files"}:
        return "test: an object of language, code and files"
    files = test.get("files", {})
    if test.get("language") not in list(LANGUAGES):
        return f"test.language: {' or '.join(LANGUAGES)}"
    if not _is_text(test.get("code")) or not test["code"].strip():
        return "test.code: a text that is not blank, without a null character"
    if not isinstance(files, dict) or len(files) > MOST_FILES:
        return f"test.files: an object of at most {MOST_FILES} files"
    if not all(_NAME.fullmatch(name) and name not in _RESERVED for name in files):
        return (
            "test.files: names of 1 to 64 letters, digits, underscores, dots and dashes, of which"
            f" the last two begin none; not {', '.join(sorted(_RESERVED))}"
        )
    if not all(map(_is_text, files.values())):
        return "test.files: each a text"
    if sum(len(each.encode()) for each in (test["code"], *files.values())) > MAX_BYTES:
        return f"test: code and files of at most {MAX_BYTES // 1024} KiB together"
    return None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_required(settings: Mapping[str, Any]) -> bool:
    required = settings.get("required", True)
    if not isinstance(required, bool):
        raise PluginError("the setting required is neither true nor false")
    return required


def _run(test: Mapping[str, Any], procedure: object, bounds: sandbox.Bounds) -> sandbox.Run:
    script, command = LANGUAGES[test["language"]]
    files = {name: text.encode() for name, text in test.get("files", {}).items()}
    files[script] = test["code"].encode()
    files[PROCEDURE] = json.dumps(procedure, ensure_ascii=False).encode()
    return sandbox.run([*command, script], files, bounds)


def _verdict(language: str, run: sandbox.Run) -> Verdict:
    result, reason = _result(run)
    told = {
        "language": language,
        "result": result,
        "status": run.status,
        "output_bytes": len(run.printed),
        "output_sha256": hashlib.sha256(run.printed).hexdigest(),
        "took": _took(run.seconds),
    }
    if result == "passed":
        return Verdict("accept", 1.0, {"run": told})
    return _refusal("TEST_FAILED", f"the test {reason}", run=told)


def _result(run: sandbox.Run) -> tuple[str, str]:
    if run.ended == "timeout":
        return "timed_out", "did not end in time"
    if run.ended == "output":
        return "too_much_output", f"printed more than {sandbox.MAX_OUTPUT // 1024} KiB"
    return "passed" if run.status == 0 else "failed", f"ended with status {run.status}"


def _took(seconds: float) -> str:
    """Return a class of durations: how long exactly depends on what else the machine does."""
    return next((f"under {most} s" for most in (1, 10, 60) if seconds < most), "60 s or more")


def _refusal(code: Fault, reason: str, **more: Any) -> Verdict:
    return Verdict("reject", 0.0, {"code": code, "reason": reason} | more)
