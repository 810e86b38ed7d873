#!/usr/bin/env python3
"""Pack the extension's source as PGXN wants it: build/dist/memwarden-VERSION.zip.

Deterministic: the same tree gives the same bytes. It holds what git has of the folders and files
below, as they are in the checkout; `make` in the unpacked folder builds and installs from it.
Needs Python's own library and git.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKED = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "Dockerfile",
    "LICENSE",
    "META.json",
    "Makefile",
    "README.md",
    "compose.yaml",
    "deploy",
    "docs",
    "memwarden.control",
    "migrations",
    "packaging",
    "plpython",
    "sql",
    "tools",
]
# The earliest time that a zip can state.
TIME = (1980, 1, 1, 0, 0, 0)


def files() -> list[Path]:
    """What git has of the packed folders, in order."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *PACKED],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    named = [ROOT / name for name in sorted(listed.stdout.split("\0")) if name]
    return [path for path in named if path.is_file()]


def pack(folder: Path) -> Path:
    """Write the archive, with a folder of its own name in it; return its path."""
    meta = json.loads((ROOT / "META.json").read_text(encoding="utf-8"))
    name = f"{meta['name']}-{meta['version']}"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files():
            entry = zipfile.ZipInfo(f"{name}/{path.relative_to(ROOT).as_posix()}", TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.stat().st_mode & 0o100 else 0o100644) << 16
            packed.writestr(entry, path.read_bytes())
    return archive


def main() -> None:
    """Pack, and print where."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=ROOT / "build/dist")
    print(pack(parser.parse_args().out))


if __name__ == "__main__":
    main()
