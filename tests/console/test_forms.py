"""A decision comes from this console's own form, in the browser of who decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.office import URL, Office, Person
from console.visitor import Visitor

if TYPE_CHECKING:
    from flask import Flask


def outcome(office: Office, request_id: object) -> str:
    """Return what became of a request."""
    return str(
        office.world.value(
            "SELECT outcome FROM memwarden_data.write_request WHERE request_id = %s", request_id
        )
    )


@pytest.mark.parametrize("decision", ["approve", "edit", "reject"])
def test_a_form_of_another_site_decides_nothing(
    reviewer: Visitor, office: Office, app: Flask, decision: str
) -> None:
    """Without the origin, with another, without the token of the session, with somebody else's."""
    asked = office.ask()
    path = f"/proposals/{asked.request_id}/{decision}"
    fields = {"reason": "OTHER", "content": '{"statement": "x"}'}
    foreign = Visitor(app, URL).csrf()
    mine = reviewer.csrf()
    for sent in (
        reviewer.post(path, csrf=mine, origin=None, **fields),
        reviewer.post(path, csrf=mine, origin="null", **fields),
        reviewer.post(path, csrf=mine, origin="https://evil.example", **fields),
        reviewer.post(path, csrf=mine, origin=f"{URL}.evil.example", **fields),
        reviewer.post(path, csrf=None, **fields),
        reviewer.post(path, csrf=foreign, **fields),
        reviewer.post(path, csrf=mine[:-1], **fields),
        reviewer.post(path, csrf=mine + "ü", **fields),
    ):
        assert sent.status_code == 403
    assert reviewer.get(path).status_code == 405
    assert outcome(office, asked.request_id) == "DEFERRED"


def test_nobody_is_logged_in_or_out_by_another_site(reviewer: Visitor, rita: Person) -> None:
    """A log-in of somebody else's choosing would have decisions made in their name."""
    assert reviewer.post("/logout", origin="https://evil.example").status_code == 403
    assert reviewer.post("/logout", csrf="guess").status_code == 403
    assert reviewer.is_in()
    stranger = Visitor(reviewer.browser.application, URL)
    fields = {"login": rita.login, "password": rita.password}
    assert stranger.post("/login", csrf="guess", **fields).status_code == 403
    assert stranger.post("/login", csrf=None, **fields).status_code == 403
    assert not stranger.is_in()


def test_another_name_for_the_address_is_refused(reviewer: Visitor) -> None:
    """A name that somebody else points here would be their site, with our pages."""
    answer = reviewer.browser.get("/", base_url="http://evil.example")
    assert answer.status_code == 421
    assert reviewer.browser.get("/login", base_url="http://localhost:8321").status_code == 421


def test_every_answer_tells_the_browser_what_it_may(reviewer: Visitor, office: Office) -> None:
    """Pages, errors, styles and refusals alike."""
    asked = office.ask()
    for path in ("/", "/login", f"/proposals/{asked.request_id}", "/nowhere", "/static/keys.js"):
        headers = reviewer.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "same-origin"
        assert path.startswith("/static") or headers["Cache-Control"] == "no-store"


def test_no_page_asks_another_site_for_anything(reviewer: Visitor, office: Office) -> None:
    """Nor holds a script or a style of its own."""
    asked = office.ask("See http://evil.example/ <img src=http://evil.example/x>")
    for path in ("/", "/login", f"/proposals/{asked.request_id}"):
        page = reviewer.get(path).text
        assert 'src="http' not in page
        assert 'href="http' not in page
        assert " style=" not in page
        assert " onclick=" not in page
        assert page.count("<script") == 1


def test_with_https_browsers_are_told_to_stay_with_it(office: Office) -> None:
    """Without, they are not: it would shut them out."""
    for url, told in (("https://review.example.org", True), (URL, False)):
        headers = Visitor(office.app(url), url).get("/login").headers
        assert ("Strict-Transport-Security" in headers) == told


def test_an_error_tells_nothing_of_the_database(
    reviewer: Visitor, office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither its words nor what was sent."""
    for path in (
        "/?state=nonsense'--",
        "/?layer=%00",
        "/?scope=%ED%A0%80",
        "/proposals/00000000-0000-0000-0000-000000000000",
        "/proposals/nonsense",
        "/?after=nonsense",
    ):
        page = reviewer.get(path)
        assert page.status_code in (200, 400, 404), path
        for word in ("SELECT", "memwarden_data", "psycopg", "Traceback", "22023", "invalid"):
            assert word not in page.text
    with office.world.connect() as admin:
        admin.execute("ALTER FUNCTION memwarden_internal.labels_to_approve(bigint) RENAME TO away")
        try:
            page = reviewer.get("/")
        finally:
            admin.execute(
                "ALTER FUNCTION memwarden_internal.away(bigint) RENAME TO labels_to_approve"
            )
    assert page.status_code == 500
    assert "labels_to_approve" not in page.text
    assert "labels_to_approve" not in caplog.text


def test_too_much_is_refused(reviewer: Visitor, office: Office) -> None:
    """Before it is read."""
    asked = office.ask()
    big = "x" * (9 * 1024 * 1024)
    sent = reviewer.post(f"/proposals/{asked.request_id}/edit", content=big)
    assert sent.status_code == 413
