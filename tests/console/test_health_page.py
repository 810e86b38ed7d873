"""The page on how well memory is: for whoever may see figures, in a browser and on a phone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, expect

from console.office import Office, Person
from console.test_browser import browser, fits, log_in, page, pytestmark, url
from console.visitor import Visitor

if TYPE_CHECKING:
    from conftest import World

__all__ = ["browser", "page", "pytestmark", "url"]
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def overseer(office: Office) -> Person:
    """Somebody who reviews, and oversees the organisation."""
    return office.person("reviewer", "memwarden_reviewer", "memwarden_auditor")


def plant(world: World) -> None:
    """A month of figures: health that falls, writes of each outcome, metrics in each state."""
    org = world.value("SELECT org_id FROM memwarden_data.organisation WHERE name = 'acme'")
    keep = "SELECT memwarden_internal.keep_points(%s, now() - make_interval(hours => %s), %s)"
    world.admin.execute(
        "INSERT INTO memwarden_data.metric_point SELECT %s, 'health', '*',"
        " date_trunc('hour', now(), 'UTC') - make_interval(hours => h), 0.55 + h / 2000.0, 100,"
        " 'ALERT', now() - interval '4 days', now() - make_interval(hours => h)"
        # For two days nothing was measured.
        "  FROM generate_series(0, 30 * 24) AS h WHERE h NOT BETWEEN 200 AND 248"
        " ON CONFLICT DO NOTHING",
        (org,),
    )
    values = {
        "correctness_impact": 0.02,
        "recall_precision": 0.4,
        "memory_error_rate": 0.004,
        "write_acceptance": 0.97,
        "leakage_rate": 0.02,
        "duplicate_rate": 0.35,
    }
    points = [{"metric": name, "part": "*", "value": value} for name, value in values.items()]
    world.admin.execute(keep, (org, 0, json.dumps(points)))
    world.admin.execute(
        "INSERT INTO memwarden_data.write_day SELECT %s, current_date, 'semantic',"
        " p.principal_id, o.outcome, o.gate, o.reason, o.writes, 0"
        "  FROM (SELECT min(principal_id) AS principal_id FROM memwarden_data.principal) AS p,"
        " (VALUES ('COMMITTED', '-', '-', 8120), ('MERGED', '38_known', '-', 640),"
        "  ('REJECTED', '30_sensitivity', 'SENSITIVE_CONTENT', 210),"
        "  ('REJECTED', '25_schema', %s, 77), ('DEFERRED', '80_approval', 'AWAITING_APPROVAL', 90))"
        "  AS o (outcome, gate, reason, writes) ON CONFLICT DO NOTHING",
        (org, HOSTILE),
    )
    world.admin.execute(
        "INSERT INTO memwarden_data.gate_hour SELECT %s, date_trunc('hour', now()), g, 40 + b, 50"
        "  FROM unnest('{05_identity,25_schema,50_duplicate,90_commit}'::text[]) AS g,"
        "       generate_series(1, 4) AS b ON CONFLICT DO NOTHING",
        (org,),
    )


def empty(world: World) -> None:
    """Take out what was counted."""
    for table in ("metric_point", "write_day", "gate_hour"):
        world.admin.execute(f"TRUNCATE memwarden_data.{table}")


def test_it_shows_state_trend_funnel_and_what_to_do(
    page: Page, url: str, office: Office, overseer: Person
) -> None:
    """Nothing has to be scrolled sideways, and a hostile name is words.

    Proves: Q5
    """
    empty(office.world)
    log_in(page, url, overseer)
    page.get_by_role("link", name="Health").click()
    expect(page.get_by_role("heading", name="Health of memory")).to_be_visible()
    expect(page.get_by_text("Nothing was measured yet.")).to_be_visible()
    assert fits(page)
    plant(office.world)
    office.ask("The stairs are steep.")
    page.reload()
    expect(page.get_by_role("img", name="Health of acme")).to_be_visible()
    assert page.locator("svg[aria-label^='Health of acme'] polyline").count() == 2
    expect(page.locator(".score")).to_contain_text(", 0.5")
    expect(page.locator(".score")).to_contain_text("since 20")
    expect(page.get_by_role("img", name="Writes")).to_contain_text("8,120 (89%)")
    reasons = page.get_by_role("img", name="Refusals by reason")
    expect(reasons).to_contain_text("sensitive content")
    expect(reasons).to_contain_text("<script>")
    expect(page.get_by_text("write_acceptance (acme)")).to_be_visible()
    expect(page.get_by_text("alert", exact=True).first).to_be_visible()
    assert fits(page)


def test_an_empty_store_says_what_is_missing(
    office: Office, visitor: Visitor, overseer: Person
) -> None:
    """Nothing is drawn that is not there, and nothing is called well."""
    empty(office.world)
    assert visitor.log_in(*overseer).status_code == 303
    answer = visitor.get("/health")
    assert answer.status_code == 200
    for words in ("unknown", "Nothing was measured yet.", "No write was counted."):
        assert words in answer.text
    assert "<svg" not in answer.text.split("Storage")[0]


def test_who_may_see_no_figures_is_told_so(reviewer: Visitor) -> None:
    """And which right is missing."""
    answer = reviewer.get("/health")
    assert answer.status_code == 403
    assert "GRANT memwarden_auditor" in answer.text


def test_nobody_sees_it_without_logging_in(visitor: Visitor) -> None:
    """It leads to the entrance."""
    assert visitor.get("/health").status_code == 303
