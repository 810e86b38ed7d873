"""`code_execution`: runs the code that a claim comes with, in a sandbox, and compares the output.

The content has `code` (Python) and `expect`: a text, compared with what the code prints but for
white space at its end, or any other JSON value, compared with the JSON it prints. Settings:
`timeout` (10 seconds), `memory_mb` (256).

The sandbox is bubblewrap: no network, a read-only view of /usr and nothing else of the machine, an
empty /tmp, no privileges, and limits on CPU, memory, processes, files and output.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwarden.worker.plugin import PluginError, Verdict
from memwarden.worker.plugins.settings import number

MAX_OUTPUT = 64 * 1024
MAX_CODE = 64 * 1024
_NOBODY = 65534
_PYTHON = "/usr/bin/python3"
# Where the sandbox is not available, other workers may have it.
_MISSING = "bubblewrap (bwrap) is not installed on this worker"


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended: `exit`, `timeout` or `output` (too much of it)."""

    ended: str
    status: int
    output: str


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


def run_python(code: str, seconds: float, memory_mb: int) -> Run:
    """Run Python code in a sandbox and return how it ended.

    Raises:
        PluginError: there is no sandbox here.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise PluginError(_MISSING)
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as script:
        script.write(code.encode())
        script.seek(0)
        command = [
            bwrap,
            *("--json-status-fd", str(told.fileno())),
            *_walls(script.fileno()),
            "--",
            *_limits(seconds, memory_mb),
            *(_PYTHON, "-I", "-S", "-B", "/code.py"),
        ]
        # As root, limits on the number of processes would not hold.
        as_root = os.geteuid() == 0
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(told.fileno(), script.fileno()),
            env={},
            cwd="/",
            start_new_session=True,
            user=_NOBODY if as_root else None,
            group=_NOBODY if as_root else None,
            extra_groups=[] if as_root else None,
        )
        ended, output = _watched(process, seconds)
        told.seek(0)
        statuses = [json.loads(line) for line in told.read().splitlines() if line.strip()]
    status = next((each["exit-code"] for each in statuses if "exit-code" in each), None)
    if ended == "exit" and status is None:
        raise PluginError("the sandbox could not be set up: are user namespaces permitted here?")
    return Run(ended, -1 if status is None else status, output)


def _walls(script: int) -> list[str]:
    links = [
        word
        for name in ("bin", "lib", "lib32", "lib64", "sbin")
        for word in _seen_as_on_the_machine(Path("/") / name)
    ]
    return [
        *("--unshare-all", "--unshare-user", "--disable-userns"),
        *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
        *("--uid", str(_NOBODY), "--gid", str(_NOBODY), "--hostname", "sandbox"),
        *("--ro-bind", "/usr", "/usr"),
        *links,
        *("--proc", "/proc", "--dev", "/dev"),
        *("--size", str(16 * 1024 * 1024), "--tmpfs", "/tmp"),
        *("--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"),
        *("--setenv", "LANG", "C.UTF-8"),
        *("--perms", "0444", "--ro-bind-data", str(script), "/code.py"),
        *("--remount-ro", "/", "--chdir", "/tmp"),
    ]


def _seen_as_on_the_machine(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []


def _limits(seconds: float, memory_mb: int) -> list[str]:
    return [
        "/usr/bin/prlimit",
        f"--cpu={max(1, int(seconds))}",
        f"--as={memory_mb * 1024 * 1024}",
        "--nproc=4",
        "--fsize=1048576",
        "--nofile=32",
        "--core=0",
        "--",
    ]


def _watched(process: subprocess.Popen[bytes], seconds: float) -> tuple[str, str]:
    """Wait for the end, the time, or more output than is read, whichever comes first."""
    assert process.stdout is not None
    ended = "exit"

    def kill() -> None:
        nonlocal ended
        ended = "timeout"
        process.kill()

    # Its death takes all that runs inside along.
    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        raw = process.stdout.read(MAX_OUTPUT + 1)
        if len(raw) > MAX_OUTPUT:
            ended = "output"
            process.kill()
        process.wait()
    finally:
        timer.cancel()
        process.stdout.close()
        process.kill()
        process.wait()
    return ended, raw[:MAX_OUTPUT].decode(errors="replace")
