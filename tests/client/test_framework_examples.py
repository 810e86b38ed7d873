"""The examples for frameworks of agents: short, and they run without a model or a network."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from shipped import Shipped

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
REFUSED = "I may not keep that: INSTRUCTION_REVIEW"
KNOWN = "I know: I drink green tea"


@pytest.mark.parametrize(
    ("name", "package", "answers"),
    [
        ("openai_agent", "agents", ["I keep that in mind.", REFUSED, KNOWN]),
        ("pydantic_agent", "pydantic_ai", ["I keep that in mind.", REFUSED, KNOWN]),
        ("llamaindex_memory", "llama_index", [KNOWN, REFUSED]),
    ],
)
def test_an_agent_of_a_framework_remembers_and_is_refused(
    shipped: Shipped, name: str, package: str, answers: list[str]
) -> None:
    """As its page says, in a process of its own, in a store as `memwarden init` leaves it.

    Proves: Z11
    """
    if find_spec(package) is None:
        pytest.skip(f"needs {package}, which tools/requirements.txt names")
    path = EXAMPLES / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
    agent = make_conninfo(shipped.world.dsn, user=shipped.agent.info.user)
    ran = subprocess.run(
        [sys.executable, path, agent],
        # A proxy that nobody listens on: whoever wants the network does not get it.
        env=os.environ | {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ran.returncode, ran.stdout.splitlines()) == (0, answers), ran.stderr
