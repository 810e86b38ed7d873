"""Who gets in is whom the database takes for somebody who reviews, and nobody else."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from console.office import URL, Office, Person
from console.visitor import Visitor
from memwarden.console.settings import Settings

if TYPE_CHECKING:
    from flask import Flask


def cookie_of(visitor: Visitor) -> str:
    """Return the id of the session that this browser holds."""
    cookie = visitor.browser.get_cookie("memwarden", "127.0.0.1")
    return cookie.value if cookie else ""


def test_a_login_role_with_its_password_gets_in(visitor: Visitor, rita: Person) -> None:
    """And is who is shown."""
    answer = visitor.log_in(*rita)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert rita.login in visitor.get("/").text


def test_a_token_gets_in_whom_it_names(visitor: Visitor, office: Office, rita: Person) -> None:
    """For as long as a token can live, at most."""
    assert visitor.present(office.token(rita.login).token).status_code == 303
    assert rita.login in visitor.get("/").text


def test_who_may_not_review_gets_the_same_answer_as_a_wrong_password(
    visitor: Visitor, office: Office, rita: Person
) -> None:
    """Proves: F3 (who reviews)."""
    agent = office.person()
    office.world.admin.execute(
        "UPDATE memwarden_data.principal SET kind = 'agent' WHERE name = %s", (agent.login,)
    )
    outsider = office.person(group="memwarden_agent")
    answers = [
        visitor.log_in(rita.login, "wrong"),
        visitor.log_in(rita.login, ""),
        visitor.log_in("nobody", "wrong"),
        visitor.log_in(*agent),
        visitor.log_in(*outsider),
        visitor.log_in("postgres", "anything"),
        visitor.log_in(f"{rita.login} dbname=postgres", rita.password),
        visitor.present("mw1.nonsense"),
        visitor.present("x" * 5000),
    ]
    assert [each.status_code for each in answers] == [403] * len(answers)
    texts = {re.sub(r'value="[^"]*"', "", each.text) for each in answers}
    assert len(texts) == 1
    assert not visitor.is_in()


def test_a_server_that_asks_for_no_password_lets_in_who_started_the_console(
    visitor: Visitor, office: Office, rita: Person, caplog: pytest.LogCaptureFixture
) -> None:
    """On it, whoever reaches the console could be anybody: the log says why, and what to do."""
    login = office.world.role("memwarden_reviewer")
    office.world.admin.execute(
        "SELECT memwarden.register_agent(%s, %s, %s, role => 'reviewer', kind => 'human')",
        (login, "/org/acme", login),
    )
    with psycopg.connect(office.world.dsn, user=login) as trusted:
        assert trusted.execute("SELECT agent FROM memwarden.whoami()").fetchone() == (login,)
    assert visitor.log_in(login, "any password").status_code == 403
    assert "memwarden console --as LOGIN" in caplog.text
    caplog.clear()
    # Whose password is asked for is refused without a word, also on trial.
    trial = Settings(office.dsn, URL, trial=login)
    app = office.app(trial=login, key=trial.key)
    assert Visitor(app, URL).log_in(rita.login, "wrong").status_code == 403
    assert "--as" not in caplog.text
    # Who started it was shown a key, for this one login; without a trial it opens nothing.
    for made, key, status in (
        (app, trial.key[:-1], 403),
        (app, trial.key, 303),
        (office.app(key=trial.key), trial.key, 403),
        (office.app(trial=office.world.role("memwarden_reviewer"), key=trial.key), trial.key, 403),
    ):
        browser = Visitor(made, URL)
        assert browser.present(key).status_code == status
        assert browser.is_in() == (status == 303)
        assert (login in browser.get("/").text) == (status == 303)


def test_a_token_is_taken_only_from_a_login_that_is_bound_to_nobody(
    office: Office, rita: Person
) -> None:
    """A console that is somebody itself would decide as that, whatever is presented."""
    from memwarden.console.app import create_app
    from memwarden.console.settings import Settings

    dsn = psycopg.conninfo.make_conninfo(office.world.dsn, user=rita.login, password=rita.password)
    visitor = Visitor(create_app(Settings(dsn, URL)), URL)
    assert visitor.present(office.token(rita.login).token).status_code == 403


def test_attempts_are_few(office: Office, rita: Person) -> None:
    """From one address, and for one login from many; the right password has to wait as well."""
    app = office.app(attempts=3)
    for _ in range(3):
        assert Visitor(app, URL).log_in(rita.login, "wrong").status_code == 403
    assert Visitor(app, URL).log_in(*rita).status_code == 429
    assert Visitor(app, URL, "192.0.2.2").log_in(*rita).status_code == 429
    other = office.person()
    elsewhere = Visitor(app, URL, "192.0.2.2")
    assert elsewhere.log_in(*other).status_code == 303


def test_only_so_many_are_logged_in(office: Office, rita: Person) -> None:
    """Each holds a connection."""
    app = office.app(sessions=1)
    assert Visitor(app, URL).log_in(*rita).status_code == 303
    assert Visitor(app, URL).log_in(*rita).status_code == 503


def test_the_cookie_is_kept_from_scripts_and_other_sites(office: Office, rita: Person) -> None:
    """With HTTPS it is bound to this very host."""
    for url, wanted in (
        (URL, {"HttpOnly", "SameSite=Strict", "Path=/"}),
        ("https://review.example.org", {"HttpOnly", "SameSite=Strict", "Path=/", "Secure"}),
    ):
        app = office.app(url)
        cookies = Visitor(app, url).log_in(*rita).headers.getlist("Set-Cookie")
        [kept] = [each for each in cookies if each.startswith(("memwarden=", "__Host-memwarden="))]
        assert wanted <= set(kept.split("; "))
        assert kept.startswith("__Host-") == ("Secure" in wanted)
        assert "Domain" not in kept


def test_a_log_in_makes_a_new_session_and_ends_the_one_before(
    visitor: Visitor, app: Flask, rita: Person
) -> None:
    """An id that somebody planted is nobody's."""
    visitor.browser.set_cookie("memwarden", "planted", domain="127.0.0.1")
    assert not visitor.is_in()
    visitor.log_in(*rita)
    first = cookie_of(visitor)
    assert first not in ("", "planted")
    again = Visitor(app, URL)
    again.browser.set_cookie("memwarden", first, domain="127.0.0.1")
    csrf = again.csrf()
    again.post("/login", csrf=csrf, login=rita.login, password=rita.password)
    assert app.extensions["memwarden"].get(first) is None
    assert again.is_in()


def test_logging_out_ends_the_session_for_every_copy_of_its_cookie(
    reviewer: Visitor, app: Flask
) -> None:
    """Not only in this browser."""
    copied = cookie_of(reviewer)
    thief = Visitor(app, URL)
    thief.browser.set_cookie("memwarden", copied, domain="127.0.0.1")
    assert thief.is_in()
    assert reviewer.post("/logout").status_code == 303
    assert not reviewer.is_in()
    assert not thief.is_in()


def test_who_is_disabled_is_out_at_once(office: Office, app: Flask) -> None:
    """Whatever the session's time; so is whose connection an administrator ends."""
    leaver, other = office.person(), office.person()
    for person, statement in (
        (leaver, "SELECT memwarden.change_agent(%s, enabled => false)"),
        (other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s"),
    ):
        visitor = Visitor(app, URL)
        visitor.log_in(*person)
        assert visitor.is_in()
        office.world.admin.execute(statement, (person.login,))
        visitor.get("/")
        assert not visitor.is_in()


def test_a_token_that_is_revoked_ends_its_session(
    visitor: Visitor, office: Office, rita: Person
) -> None:
    """At the next page."""
    issued = office.token(rita.login)
    visitor.present(issued.token)
    assert visitor.is_in()
    office.world.admin.execute("SELECT memwarden.revoke_tokens(token_id => %s)", (issued.token_id,))
    assert not visitor.is_in()


def test_idle_time_ends_a_session(office: Office, rita: Person) -> None:
    """And brings the page back that was asked for, never another site."""
    app = office.app(idle=timedelta(0))
    visitor = Visitor(app, URL)
    visitor.log_in(*rita)
    sent = visitor.get("/?layer=semantic")
    assert sent.headers["Location"] == "/login?next=/?layer%3Dsemantic"
    for path, wanted in (
        ("/?layer=semantic", "/?layer=semantic"),
        ("//evil.example/", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("javascript:alert(1)", "/"),
    ):
        answer = visitor.post("/login", login=rita.login, password=rita.password, next=path)
        assert answer.headers["Location"] == wanted


def test_nothing_is_shown_to_who_is_not_in(visitor: Visitor, office: Office) -> None:
    """Nor decided by them."""
    asked = office.ask()
    path = f"/proposals/{asked.request_id}"
    for page in ("/", path, "/?state=approved"):
        answer = visitor.get(page)
        assert answer.status_code == 303
        assert str(asked.request_id) not in answer.text.replace(path, "")
    for decision in ("approve", "edit", "reject"):
        answer = visitor.post(f"{path}/{decision}", reason="OTHER", content="{}")
        assert answer.headers["Location"].startswith("/login")
    status = office.agent.request_status(asked.request_id)
    assert status is not None
    assert status.outcome == "DEFERRED"


def test_the_log_holds_neither_password_nor_token(
    visitor: Visitor, office: Office, rita: Person, caplog: pytest.LogCaptureFixture
) -> None:
    """It says who came in, who did not, and where from."""
    caplog.set_level("INFO")
    token = office.token(rita.login).token
    visitor.log_in(rita.login, "my secret guess")
    visitor.log_in("rita\n2026-01-01 log-in: admin", "my secret guess")
    visitor.log_in(*rita)
    visitor.present(token)
    assert "192.0.2.1" in caplog.text
    for secret in (token, rita.password, "my secret guess"):
        assert secret not in caplog.text
    assert "\n2026-01-01" not in caplog.text
