"""The client without asyncio is generated, and stays what its source says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The client somewhere else: the check writes the files before it compares them."""
    client = tmp_path / "python_client"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "python_client", client, ignore=ignored)
    if (ROOT / "pyproject.toml").exists():
        shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return client


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Compare the generated files with what their source gives."""
    pytest.importorskip("unasyncd", reason="unasyncd is not installed (extra dev)")
    return subprocess.run(
        [sys.executable, folder / "generate_sync.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_generated_client_is_up_to_date(copy: Path) -> None:
    """Somebody changed `_async` and forgot to generate, or edited `_sync`."""
    result = check(copy)
    assert result.returncode == 0, f"run python_client/generate_sync.py:\n{result.stdout}"


def test_a_stale_generated_client_is_noticed(copy: Path) -> None:
    """And left as it is."""
    generated = copy / "memwarden" / "_sync" / "client.py"
    stale = generated.read_text().replace("return rows[0]", "return rows[-1]")
    generated.write_text(stale)
    assert check(copy).returncode == 1
    assert generated.read_text() == stale, "--check changed the file"
