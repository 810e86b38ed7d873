#!/usr/bin/env python3
"""Build the site of the pages: build/site, to be read from disk or from any web server.

Runs in the environment of tools/site.txt: see `make docs`. The pages lead to files of the whole
checkout, so mkdocs gets a copy of what can be reached from those that mkdocs.yml names, with the
same paths. A link that leads nowhere fails the build, and so does a page that would load a script,
a style or a picture from elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE, SITE = ROOT / "build/site-source", ROOT / "build/site"
FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^()\s#]+)(?:#[^()\s]*)?\)")
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=\"?((?:https?:)?//[^\s\">]+)"
)
LOADED_BY_STYLE = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^)]+)\)")


def linked(page: Path) -> Iterator[Path]:
    """The files that a page leads to."""
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if not re.match(r"[a-z]+:", target):
            yield (page.parent / target).resolve()


def reached() -> set[Path]:
    """Every file that mkdocs.yml names or one of these leads to, directly or through another."""
    found: set[Path] = set()
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    left = [ROOT / name for name in re.findall(r"[\w./-]+\.(?:md|js)\b", settings)]
    while left:
        path = left.pop()
        if path in found or not path.is_file() or not path.is_relative_to(ROOT):
            continue
        found.add(path)
        if path.suffix == ".md":
            left.extend(linked(path))
    return found


def stage() -> None:
    """Copy them to where mkdocs looks."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for path in reached():
        copy = SOURCE / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def loaded_from_elsewhere() -> Iterator[str]:
    """What the site would ask another machine for."""
    for pattern, suffix in ((LOADED, "html"), (LOADED_BY_STYLE, "css")):
        for path in SITE.rglob(f"*.{suffix}"):
            for address in pattern.findall(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(SITE)}: {address}"


def main() -> None:
    """Build, and say where."""
    stage()
    # With --quiet, --strict would not count warnings. The theme would advertise its successor.
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(
        mkdocs, cwd=ROOT, env=environment, check=False, stderr=subprocess.PIPE, text=True
    )
    if built.returncode:
        told = [line for line in built.stderr.splitlines() if not line.startswith("INFO")]
        raise SystemExit("\n".join(told))
    if found := sorted(set(loaded_from_elsewhere())):
        raise SystemExit("\n".join(["the site loads from elsewhere:", *found]))
    print(SITE / "index.html")


if __name__ == "__main__":
    main()
