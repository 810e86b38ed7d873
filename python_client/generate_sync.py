"""Writes each `_sync` of memwarden from its `_async` with unasyncd; with --check only compares.

`unasyncd --check` of 0.8.1 ends with 0 whatever it finds, and remembers sources in a cache: here
everything is generated anew, and what was there is put back when it differs.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
GENERATED = sorted(HERE.glob("memwarden/**/_sync"))


def generated() -> list[Path]:
    """The files that there are."""
    return [path for folder in GENERATED for path in folder.glob("*.py")]


def main() -> int:
    """Return 0; 1 when --check found the generated files stale; 2 when unasyncd failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when stale, change nothing")
    check: bool = parser.parse_args().check

    before = {path: path.read_bytes() for path in generated()}
    tools = Path(sys.executable).parent
    for _ in range(5):
        ran = subprocess.run(
            [tools / "unasyncd", "--force", "--no-cache", "--quiet"],
            cwd=HERE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        # Its pool of processes at times complains of its own end, when all is written.
        if not ran.stderr:
            break
    shutil.rmtree(HERE / ".unasyncd_cache", ignore_errors=True)
    # unasyncd can call ruff itself, but then with ruff's own settings and not the project's.
    for tidy in (["check", "--fix-only"], ["format"]):
        subprocess.run([tools / "ruff", *tidy, "--quiet", *GENERATED], cwd=HERE, check=True)
    if ran.stderr:  # its exit code is 1 both after a change and after a crash
        print(ran.stderr, file=sys.stderr)
        return 2
    stale = [path for path in generated() if before.get(path) != path.read_bytes()]
    for path in stale:
        print(f"{'stale' if check else 'written'}: {path.relative_to(HERE)}")
        if check and path in before:
            path.write_bytes(before[path])
        elif check:
            path.unlink()
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
