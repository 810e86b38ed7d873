"""The pages hold together: links lead somewhere, commands exist, no machine is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPPED = {".git", ".venv", "build", "node_modules"}
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part in SKIPPED or part.startswith(".") for part in path.relative_to(ROOT).parts)
)
# Whom the pages may point at. Anything else is looked at before it is added.
HOSTS = {"127.0.0.1", "json-schema.org", "localhost", "www.postgresql.org", "www.rfc-editor.org"}

_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")


def text_of(page: Path) -> str:
    """The page."""
    return page.read_text(encoding="utf-8")


def slug(heading: str) -> str:
    """The anchor of a heading."""
    bare = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return bare.replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Every anchor of a page."""
    lines = _FENCE.sub("", text_of(page)).splitlines()
    return {slug(line.lstrip("#")) for line in lines if re.match(r"#+ ", line)}


def links(page: Path) -> Iterator[str]:
    """The targets of a page's links, outside of examples."""
    yield from _LINK.findall(_FENCE.sub("", text_of(page)))


def named(page: Path) -> str:
    """A page by its path in the project."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Inside the project, to a file that is there and to a heading of it."""
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        where, _, anchor = target.partition("#")
        file = (page.parent / where).resolve() if where else page
        assert file.is_relative_to(ROOT), f"{target} leads out of the project"
        assert file.exists(), f"{target} leads nowhere"
        if anchor:
            assert anchor in anchors(file), f"{target}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_target_of_make_exists(page: Path) -> None:
    """A page that says `make x` is believed."""
    makefiles = text_of(ROOT / "Makefile") + text_of(ROOT / "deploy/server.mk")
    targets = set(re.findall(r"^(?:# )?([a-z-]+):", makefiles, re.MULTILINE))
    said = re.findall(r"(?:`|^ *(?:sudo )?)make ([a-z-]+)", text_of(page), re.MULTILINE)
    assert set(said) <= targets


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_names_no_machine_and_no_strange_host(page: Path) -> None:
    """What is true on one machine or in one network only does not belong on a page."""
    text = text_of(page)
    hosts = {host.split(":")[0] for host in re.findall(r"https?://([^/\s)`'\"]+)", text)}
    # RFC 2606 keeps example.org for pages like these.
    assert {host for host in hosts if not host.endswith("example.org")} <= HOSTS
    for path in (ROOT, ROOT.parent, Path.home()):
        if path != Path("/"):
            assert not re.search(rf"{re.escape(str(path))}\b", text)


def test_every_page_by_task_is_in_the_index() -> None:
    """docs/README.md leads to each page beside it."""
    index = ROOT / "docs/README.md"
    beside = {path.name for path in index.parent.glob("*.md")} - {index.name}
    assert beside <= set(links(index))


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    """mkdocs.yml names each page of docs/ once, and none that is gone."""
    named = re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", text_of(ROOT / "mkdocs.yml"), re.MULTILINE)
    assert len(named) == len(set(named))
    assert [name for name in named if not (ROOT / name).is_file()] == []
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages <= set(named)


def test_every_stage_says_what_it_answers() -> None:
    """Each folder of sql/ has a short README, and the files and folders it names are there."""
    for folder in (path for path in (ROOT / "sql").rglob("*") if path.is_dir()):
        text = text_of(folder / "README.md")
        assert len(text.splitlines()) <= 28
        for name in re.findall(r"`([\w.]+\.sql|\d\d_\w+)`", text):
            assert any((f / name).exists() for f in (folder, folder.parent)), (folder, name)
