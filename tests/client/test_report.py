"""`memwarden report`: one file that needs nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import make_conninfo

from client.test_history_commands import run
from client.test_observing import BAD, measured

if TYPE_CHECKING:
    from conftest import World


@pytest.fixture
def org(shared_world: World, home: str) -> str:
    """An organisation of the test's own."""
    shared_world.scope(home)
    return home.split("/")[2]


@pytest.fixture
def dsn(shared_world: World, org: str) -> str:
    """Return how an auditor of the organisation connects."""
    user = shared_world.register(f"/org/{org}", groups=("memwarden_auditor",))
    return make_conninfo(shared_world.dsn, user=user)


@pytest.mark.parametrize("kind", ["health", "governance"])
def test_a_report_is_one_file(
    shared_world: World, org: str, dsn: str, kind: str, tmp_path: Path
) -> None:
    """With what the views say, and nothing from elsewhere.

    Proves: Q5, Q8
    """
    measured(shared_world, org, BAD | {"contradictions": 3})
    file = tmp_path / "report.html"
    done = run("report", "--kind", kind, "--output", file, dsn=dsn)
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href|url\()", text)
    assert "<script" not in text
    for words in (f"<h2>{org}</h2>", "critical", "recall_precision"):
        assert words in text
    assert ("Anti-patterns" in text) == (kind == "governance")
    assert ("contradictions, " in text) == (kind == "governance")
    told = json.loads(run("report", "--kind", kind, "--json", dsn=dsn).stdout)
    (health,) = told["health"]
    assert (health["org"], health["state"]) == (org, "CRITICAL")
    assert told["days"] == (92 if kind == "governance" else 31)


def test_who_may_not_look_is_told(shared_world: World, home: str) -> None:
    """With the exit code of a failure, and no file."""
    user = shared_world.register(home)
    done = run("report", dsn=make_conninfo(shared_world.dsn, user=user))
    assert done.exit_code == 1
    assert done.stdout == ""


def test_an_organisation_that_is_not_there_gets_no_report(dsn: str, tmp_path: Path) -> None:
    """A name with a slip in it looks like nothing was wrong."""
    file = tmp_path / "report.html"
    done = run("report", "--org", "nowhere", "--output", file, dsn=dsn)
    assert done.exit_code == 1
    assert "no organisation of that name" in done.output
    assert not file.exists()


def test_a_report_of_one_organisation_names_no_other(
    shared_world: World, org: str, home: str
) -> None:
    """Also where an administrator sees the storage of all."""
    shared_world.scope(f"{home}x")
    told = json.loads(run("report", "--org", org, "--json", dsn=shared_world.dsn).stdout)
    assert {each["org"] for each in told["storage"]} <= {org}
    assert {each["org"] for each in told["health"]} == {org}


def test_a_file_that_cannot_be_written_is_said(dsn: str, tmp_path: Path) -> None:
    """By name."""
    done = run("report", "--output", tmp_path / "no" / "where.html", dsn=dsn)
    assert done.exit_code == 1
    assert "where.html" in done.output
