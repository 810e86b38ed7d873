"""The console as people use it: in a browser, by keys, on a phone."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from waitress.server import create_server

from console.office import Office, Person

pytestmark = [
    pytest.mark.skipif(
        shutil.which("chromium") is None,
        reason="NOT RUN IN A BROWSER: chromium is missing (apt-get install chromium)",
    ),
]
DESK, PHONE = (1280, 860), (375, 740)


@pytest.fixture(scope="module")
def url(office: Office) -> Iterator[str]:
    """A console that listens."""
    listening = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = office.app(origin)
    server = create_server(app, sockets=[listening], threads=4)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield origin
    app.extensions["memwarden"].close_all()
    server.close()
    thread.join()


@pytest.fixture(scope="module")
def browser(url: str) -> Iterator[Browser]:
    """Debian's Chromium, without a window; in a container root has no other sandbox.

    It goes before the console does: that one waits for whoever is still connected.
    """
    assert url
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty page on a wide or a narrow screen, that remembers what went wrong on it."""
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height})
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("dialog", lambda dialog: wrong.append(dialog.message))
    yield opened
    context.close()
    assert wrong == []


def log_in(page: Page, url: str, person: Person) -> None:
    """Fill in the form as a person does."""
    page.goto(url)
    expect(page.locator("input[name=login]")).to_be_focused()
    page.keyboard.type(person.login)
    page.keyboard.press("Tab")
    page.keyboard.type(person.password)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Waiting for a decision")).to_be_visible()


def fits(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    width: Any = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return bool(width <= 0)


def test_a_proposal_is_read_and_approved(
    page: Page, url: str, office: Office, rita: Person
) -> None:
    """Proves: F3 (in a browser), H4 (in a browser)."""
    asked = office.ask("The meeting room is on the third floor.")
    log_in(page, url, rita)
    page.goto(f"{url}/proposals/{asked.request_id}")
    expect(
        page.get_by_role("heading", name="The meeting room is on the third floor.")
    ).to_be_visible()
    page.locator("summary", has_text="Approve").first.click()
    page.get_by_label("Note (kept)").fill("I was there.")
    page.get_by_role("button", name="Yes, approve it").click()
    expect(page.get_by_role("status")).to_contain_text("Approved.")
    expect(page.get_by_text("I was there.")).to_be_visible()
    status = office.agent.request_status(asked.request_id)
    assert status is not None
    assert status.outcome == "COMMITTED"


def test_the_queue_is_worked_by_keys_alone(
    page: Page, url: str, office: Office, rita: Person
) -> None:
    """J and k move, Enter opens, r asks why, and only the button decides."""
    asked = office.ask("Keys are under the mat.")
    log_in(page, url, rita)
    page.goto(f"{url}/?layer=semantic&agent={office.agent.whoami().agent}")
    rows = page.locator("[data-row]")
    for _ in range(rows.count()):
        page.keyboard.press("j")
        if "Keys are under the mat." in page.evaluate("document.activeElement.textContent"):
            break
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.evaluate(
        "id => document.querySelector(`[data-row][href$='${id}']`).focus()", str(asked.request_id)
    )
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/proposals/{asked.request_id}")
    page.keyboard.press("r")
    expect(page.get_by_label("Because")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Because")).not_to_be_visible()
    page.keyboard.press("r")
    page.get_by_label("Because").select_option("OTHER")
    page.keyboard.press("Tab")
    page.keyboard.type("a, e and r are letters here")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Rejected.")
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="Waiting for a decision")).to_be_visible()


def test_a_proposal_is_edited(page: Page, url: str, office: Office, rita: Person) -> None:
    """The form holds what was proposed."""
    asked = office.ask("Coffee is free on Fridays.")
    log_in(page, url, rita)
    page.goto(f"{url}/proposals/{asked.request_id}")
    page.keyboard.press("e")
    content = page.get_by_label("Content, as JSON")
    expect(content).to_be_focused()
    assert "Coffee is free on Fridays." in content.input_value()
    content.fill('{"statement": "Coffee is free on Mondays."}')
    page.get_by_role("button", name="Approve what is written here").click()
    expect(page.get_by_role("status")).to_contain_text("Approved as you edited it")


def test_hostile_content_runs_nothing_and_breaks_nothing(
    page: Page, url: str, office: Office, rita: Person
) -> None:
    """Markup, words without end, lines turned around."""
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>\u202e" + "W" * 3000
    asked = office.ask_hostile(hostile)
    log_in(page, url, rita)
    for path in ("/", f"/proposals/{asked.request_id}"):
        page.goto(url + path)
        assert fits(page)
        assert page.locator("img").count() == 0
        assert page.locator(".unseen", has_text="U+202E").count() > 0


def test_every_page_fits_and_every_field_has_a_label(
    page: Page, url: str, office: Office, rita: Person
) -> None:
    """On a desk and on a phone."""
    asked = office.ask()
    page.goto(f"{url}/login")
    pages = ["/login", "/", "/?state=rejected", f"/proposals/{asked.request_id}", "/nowhere"]
    for path in pages:
        if path == "/":
            log_in(page, url, rita)
        if path != "/nowhere":  # which browsers report as an error
            page.goto(url + path)
        assert fits(page), path
        unlabelled = page.evaluate(
            """() => [...document.querySelectorAll('input:not([type=hidden]), select, textarea')]
                .filter(each => !each.labels.length).map(each => each.name)"""
        )
        assert unlabelled == []
        assert page.locator("h1").count() == 1
        for key in ("a", "e", "r"):
            page.keyboard.press(key)
            assert fits(page), (path, key)


def test_it_works_without_scripts(browser: Browser, url: str, office: Office, rita: Person) -> None:
    """Only the keys are missing."""
    asked = office.ask()
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    log_in(page, url, rita)
    page.goto(f"{url}/proposals/{asked.request_id}")
    page.locator("summary", has_text="Reject").click()
    page.get_by_label("Because").select_option("DUPLICATE")
    page.get_by_role("button", name="Yes, reject it").click()
    expect(page.get_by_role("status")).to_contain_text("Rejected.")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    context.close()


_CONTRAST = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (each) => {
    for (; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (/^rgb\\(/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const pale = new Set();
  for (const each of document.querySelectorAll('body *')) {
    const own = [...each.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !each.getClientRects().length) continue;
    const [a, b] = [light(getComputedStyle(each).color), light(ground(each))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) pale.add(`${each.tagName}.${each.className} ${ratio.toFixed(2)}`);
  }
  return [...pale];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_can_be_read(
    browser: Browser, url: str, office: Office, rita: Person, scheme: Any
) -> None:
    """By the contrast that WCAG 2 AA asks for, 4.5 to 1."""
    asked = office.ask_hostile("Look at this\u202e.")
    office.world.admin.execute(
        "UPDATE memwarden_data.review SET due_at = opened_at, escalated = 1 WHERE request_id = %s",
        (asked.request_id,),
    )
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    log_in(page, url, rita)
    for path in ("/", f"/proposals/{asked.request_id}", "/?state=rejected"):
        page.goto(url + path)
        for key in ("", "a", "e", "r"):
            if key:
                page.keyboard.press(key)
            assert page.evaluate(_CONTRAST) == [], path
    context.close()
