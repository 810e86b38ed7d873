"""The client without asyncio is generated, and stays what its source says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[2] / "python_client"


def _check(folder: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("unasyncd", reason="unasyncd is not installed (extra dev)")
    return subprocess.run(
        [sys.executable, folder / "generate_sync.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_generated_client_is_up_to_date() -> None:
    """Somebody changed `_async` and forgot to generate, or edited `_sync`."""
    result = _check(CLIENT)
    assert result.returncode == 0, f"run python_client/generate_sync.py:\n{result.stdout}"


def test_a_stale_generated_client_is_noticed(tmp_path: Path) -> None:
    """And left as it is."""
    root = CLIENT.parent
    copy = tmp_path / "python_client"
    shutil.copytree(CLIENT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    if (root / "pyproject.toml").exists():
        shutil.copy(root / "pyproject.toml", tmp_path)
    generated = copy / "memwarden" / "_sync" / "client.py"
    stale = generated.read_text().replace("return rows[0]", "return rows[-1]")
    generated.write_text(stale)
    assert _check(copy).returncode == 1
    assert generated.read_text() == stale, "--check changed the file"
