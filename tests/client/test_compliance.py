"""The report on compliance through the client, as a page and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import make_conninfo

from client.test_history_commands import run
from memwarden import Client, NotFound
from memwarden.compliance import page

if TYPE_CHECKING:
    from conftest import World


def test_the_report_is_written_as_a_page_that_stands_alone(
    shared_world: World, home: str, tmp_path: Path
) -> None:
    """An open incident is on it, and the command's end tells a script.

    Proves: R6 (report as HTML and JSON)
    """
    org = home.split("/")[2]
    officer = make_conninfo(
        shared_world.dsn,
        user=shared_world.register(
            f"/org/{org}", groups=("memwarden_agent", "memwarden_auditor"), descendants=True
        ),
    )
    targets = {"html": tmp_path / "page.html", "json": tmp_path / "report.json"}
    files = [part for name, path in targets.items() for part in (f"--{name}", str(path))]
    clean = run("compliance", *files, dsn=officer)
    assert (clean.exit_code, clean.stdout) == (0, f"{org}: no incident is open\n")
    shared_world.admin.execute(
        "INSERT INTO memwarden_data.incident (org_id, incident_id, kind, breaches, examples,"
        " opened_at, seen_at) SELECT org_id, gen_random_uuid(), 'RETENTION_BREACH', 3, '[]', now(),"
        " now() FROM memwarden_data.organisation WHERE name = %s",
        (org,),
    )
    found = run("compliance", *files, dsn=officer)
    assert (found.exit_code, found.stdout) == (1, f"{org}: RETENTION_BREACH 3\n")
    written = targets["html"].read_text()
    assert "RETENTION_BREACH" in written
    assert not re.search(r"<script|<link|<img|src=|url\(|https?:", written)
    report = json.loads(targets["json"].read_text())
    assert report["organisations"][0]["incidents"][0]["breaches"] == 3
    nowhere = run("compliance", "--html", str(tmp_path / "no" / "page.html"), dsn=officer)
    assert (nowhere.exit_code, "No such file" in nowhere.stderr) == (1, True)
    with Client.connect(officer) as memory, pytest.raises(NotFound):
        memory.compliance_report("nobody")


def test_names_on_the_page_are_text() -> None:
    """What an organisation is called cannot become a script.

    Proves: R6
    """
    empty = {"waiting_for_a_hold": [], "carried_out": 0}
    organisation = {
        "org": "<script>alert(1)</script>",
        "compliant": True,
        "incidents": [],
        "retention": None,
        "erasures": empty,
        "consents": {},
    }
    said = page({"generated_at": "now", "last_run": None, "organisations": [organisation]})
    assert "<script" not in said
    assert "&lt;script&gt;" in said
