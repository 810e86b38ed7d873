"""`code_execution`: runs the code that a claim comes with, in a sandbox, and compares the output.

The content has `code` (Python) and `expect`: a text, compared with what the code prints but for
white space at its end, or any other JSON value, compared with the JSON it prints. Settings:
`timeout` (10 seconds), `memory_mb` (256).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memwarden.worker import sandbox
from memwarden.worker.plugin import Verdict
from memwarden.worker.plugins.settings import number

MAX_CODE = 64 * 1024
_PYTHON = "/usr/bin/python3"


class CodeExecution:
    """Runs Python in a sandbox of its own for each job."""

    name = "code_execution"
    version = "1"

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Accept, with score 1, code that ends well and prints what is expected."""
        content = payload.get("content")
        if not isinstance(content, dict) or "expect" not in content:
            return Verdict("reject", 0.0, {"reason": "the content has no code and expect"})
        code = content.get("code")
        if not isinstance(code, str) or not code.strip() or len(code.encode()) > MAX_CODE:
            return Verdict("reject", 0.0, {"reason": "the code is no text of up to 64 KiB"})
        seconds = number(settings, "timeout", 10, least=1, most=3600)
        memory = int(number(settings, "memory_mb", 256, least=32, most=16384))
        run = run_python(code, seconds * 0.9, memory)
        as_expected = (
            run.ended == "exit" and run.status == 0 and _prints(run.output, content["expect"])
        )
        detail = {"ended": run.ended, "status": run.status, "output_bytes": len(run.output)}
        return Verdict("accept" if as_expected else "reject", float(as_expected), detail)


def _prints(output: str, expected: object) -> bool:
    if isinstance(expected, str):
        return output.rstrip() == expected.rstrip()
    try:
        printed = json.loads(output)
    except (ValueError, RecursionError):
        return False
    # True equals 1 in Python, and does not in JSON.
    return json.dumps(printed, sort_keys=True) == json.dumps(expected, sort_keys=True)


def run_python(code: str, seconds: float, memory_mb: int) -> sandbox.Run:
    """Run Python code in a sandbox and return how it ended.

    Raises:
        PluginError: there is no sandbox here.
    """
    command = [_PYTHON, "-I", "-S", "-B", "code.py"]
    return sandbox.run(command, {"code.py": code.encode()}, sandbox.Bounds(seconds, memory_mb))
