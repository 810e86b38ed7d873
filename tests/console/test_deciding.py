"""What a person decides on the page is what the database does, in that person's name."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from console.office import URL, Office, Person
from console.visitor import Visitor

if TYPE_CHECKING:
    from flask import Flask


def decide(visitor: Visitor, proposal_id: object, decision: str, **fields: str) -> str:
    """Send a decision and return the page that follows."""
    sent = visitor.post(f"/proposals/{proposal_id}/{decision}", **fields)
    assert sent.status_code == 303, sent.text
    return visitor.get(sent.headers["Location"]).text


def events(office: Office, proposal_id: object) -> list[Any]:
    """Return what was recorded: what, by whom, from which login, why."""
    rows = office.world.rows(
        """
        SELECT e.event, p.name, e.login, e.reason, e.note
          FROM memwarden_data.review_event AS e
          LEFT JOIN memwarden_data.principal AS p USING (principal_id)
         WHERE e.request_id = %s AND e.event <> 'opened' ORDER BY e.event_id
        """,
        proposal_id,
    )
    return [tuple(row.values()) for row in rows]


def test_the_queue_shows_what_waits_and_why(reviewer: Visitor, office: Office) -> None:
    """Proves: F3 (shown), Z9 (age shown)."""
    asked = office.ask("The lift is broken.", subject="house")
    page = reviewer.get("/").text
    assert "The lift is broken." in page
    assert f"/proposals/{asked.request_id}" in page
    assert "layer policy" in page
    assert " left</span>" in page


def test_what_is_late_says_so(reviewer: Visitor, office: Office) -> None:
    """Proves: H2 (the breach is shown), Z9 (age shown)."""
    asked = office.ask()
    office.world.admin.execute(
        "UPDATE memwarden_data.review SET opened_at = now() - interval '3 days', "
        "due_at = now() - interval '1 day' WHERE request_id = %s",
        (asked.request_id,),
    )
    for path in ("/", f"/proposals/{asked.request_id}"):
        assert "1 d late" in reviewer.get(path).text


def test_a_yes_is_remembered_in_the_name_of_who_said_it(
    reviewer: Visitor, office: Office, rita: Person
) -> None:
    """Proves: H4 (approve), F3 (approve)."""
    asked = office.ask("Deliveries come on Monday.", subject="deliveries")
    page = decide(reviewer, asked.request_id, "approve", note="I rang them.")
    assert "<b>Approved.</b>" in page
    assert "I rang them." in page
    assert rita.login in page
    [event] = events(office, asked.request_id)
    assert event == ("approved", rita.login, rita.login, None, "I rang them.")
    [item] = office.agent.recall("When do deliveries come?", k=1, layers=["semantic"])
    assert item.content == {"statement": "Deliveries come on Monday."}


def test_through_a_token_the_principal_decides_at_the_consoles_login(
    visitor: Visitor, office: Office, rita: Person
) -> None:
    """Both are recorded."""
    asked = office.ask()
    visitor.present(office.token(rita.login).token)
    decide(visitor, asked.request_id, "approve")
    assert events(office, asked.request_id) == [("approved", rita.login, office.desk, None, None)]


def test_an_edited_content_is_what_is_remembered(reviewer: Visitor, office: Office) -> None:
    """Proves: H4 (edit), F3 (edit)."""
    asked = office.ask("Lunch is at noon sharp.", subject="lunch")
    content = json.dumps({"statement": "Lunch is at half past twelve."})
    page = decide(reviewer, asked.request_id, "edit", content=content, note="It moved.")
    assert "Approved as you edited it" in page
    [item] = office.agent.recall("When is lunch?", k=1, layers=["semantic"])
    assert item.content == {"statement": "Lunch is at half past twelve."}
    assert "edited" in [event[0] for event in events(office, asked.request_id)]


def test_what_is_no_json_is_given_back_as_it_was_written(reviewer: Visitor, office: Office) -> None:
    """Nothing is lost, and nothing decided."""
    asked = office.ask()
    for text in ('{"statement": "half', '{"a": NaN}', "[" * 5000):
        page = reviewer.post(f"/proposals/{asked.request_id}/edit", content=text)
        assert page.status_code == 400
        assert "That is no JSON." in page.text
        assert text.replace('"', "&#34;") in page.text
    assert events(office, asked.request_id) == []


def test_a_no_tells_the_agent_why(reviewer: Visitor, office: Office, rita: Person) -> None:
    """Proves: H4 (reject), F3 (reject)."""
    asked = office.ask()
    page = decide(
        reviewer, asked.request_id, "reject", reason="FACTUAL_ERROR", note="It is the other door."
    )
    assert "<b>Rejected.</b>" in page
    status = office.agent.request_status(asked.request_id)
    assert status is not None
    assert (status.outcome, status.reason) == ("REJECTED", "REVIEW_REJECTED")
    assert "FACTUAL_ERROR" in json.dumps(status.detail)
    assert events(office, asked.request_id) == [
        ("rejected", rita.login, rita.login, "FACTUAL_ERROR", "It is the other door.")
    ]


def test_a_no_without_a_reason_is_none(reviewer: Visitor, office: Office) -> None:
    """Nor with one that is not on the list."""
    asked = office.ask()
    for reason in ("", "BECAUSE"):
        sent = reviewer.post(f"/proposals/{asked.request_id}/reject", reason=reason)
        assert sent.status_code == 400
    assert events(office, asked.request_id) == []


def test_what_no_longer_applies_says_so(reviewer: Visitor, office: Office) -> None:
    """Proves: Z9 (approval of what no longer applies)."""
    asked = office.ask()
    office.world.admin.execute(
        "UPDATE memwarden_data.write_request SET deadline = now() - interval '1 minute' "
        "WHERE request_id = %s",
        (asked.request_id,),
    )
    page = decide(reviewer, asked.request_id, "approve")
    assert "No longer applicable." in page


def test_who_comes_second_sees_what_was_decided(
    reviewer: Visitor, office: Office, app: Flask
) -> None:
    """And decides nothing: the page that was open still showed the forms."""
    asked = office.ask()
    other = Visitor(app, URL)
    other.log_in(*office.person())
    path = f"/proposals/{asked.request_id}"
    assert "Yes, approve it" in other.get(path).text
    decide(reviewer, asked.request_id, "reject", reason="OTHER")
    late = other.post(f"{path}/approve")
    page = other.get(path).text if late.status_code == 303 else late.text
    assert "<b>Approved" not in page
    assert [event[0] for event in events(office, asked.request_id)] == ["rejected"]
    assert "Yes, approve it" not in other.get(path).text


def test_two_people_agree_where_two_are_needed(
    reviewer: Visitor, office: Office, app: Flask
) -> None:
    """Proves: H6 (on the page)."""
    office.world.admin.execute(
        "SELECT memwarden.set_approval_policy('semantic', approval => 'always', needed => 2)"
    )
    try:
        asked = office.ask()
    finally:
        office.world.admin.execute(
            "SELECT memwarden.set_approval_policy('semantic', approval => 'always', needed => 1)"
        )
    assert "it still waits" in decide(reviewer, asked.request_id, "approve")
    assert "1 of 2 people agree" in reviewer.get(f"/proposals/{asked.request_id}").text
    other = Visitor(app, URL)
    other.log_in(*office.person())
    assert "<b>Approved.</b>" in decide(other, asked.request_id, "approve")


def test_those_who_share_a_login_do_not_count_as_two(office: Office, app: Flask) -> None:
    """Proves: H6 (by tokens, on the page)."""
    asked = office.ask()
    office.world.admin.execute(
        "UPDATE memwarden_data.review SET needed = 2 WHERE request_id = %s", (asked.request_id,)
    )
    path = f"/proposals/{asked.request_id}/approve"
    codes = []
    for _ in range(2):
        visitor = Visitor(app, URL)
        visitor.present(office.token(office.person().login).token)
        codes.append(visitor.post(path).status_code)
    assert codes == [303, 403]
    assert len(events(office, asked.request_id)) == 1


def test_of_another_organisation_nothing_is_seen(office: Office, app: Flask) -> None:
    """Neither listed nor found by its number, nor decided."""
    asked = office.ask("Only Acme knows.")
    world = office.world
    home = f"/org/{uuid.uuid4().hex[:8]}"
    world.scope(home)
    stranger = office.person()
    world.admin.execute("SELECT memwarden.unbind_login(%s)", (stranger.login,))
    world.admin.execute(
        "SELECT memwarden.register_agent(%s, %s, %s, role => 'reviewer', kind => 'human', "
        "descendants => true)",
        (f"{stranger.login}-there", home, stranger.login),
    )
    visitor = Visitor(app, URL)
    visitor.log_in(*stranger)
    assert "Only Acme knows." not in visitor.get("/").text
    path = f"/proposals/{asked.request_id}"
    assert visitor.get(path).status_code == 404
    for decision in ("approve", "reject"):
        sent = visitor.post(f"{path}/{decision}", reason="OTHER")
        assert sent.status_code in (303, 403, 404)
    assert events(office, asked.request_id) == []
    # Nor by SQL; and no agent is shown one, be it its own.
    direct = world.connect(stranger.login, password=stranger.password)
    found = direct.execute("SELECT memwarden.proposal(%s)", (asked.request_id,)).fetchone()
    assert found == {"proposal": None}
    agent = world.connect(office.agent.whoami().agent)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        agent.execute("SELECT * FROM memwarden.proposal(%s)", (asked.request_id,))


def test_filters_and_pages_reach_everything(office: Office, app: Flask, rita: Person) -> None:
    """Each proposal once."""
    layer_of = {office.ask().request_id for _ in range(30)}
    visitor = Visitor(app, URL)
    visitor.log_in(*rita)
    found: list[str] = []
    path = "/?layer=semantic"
    while path:
        page = visitor.get(path).text
        found += [each.split('"')[0] for each in page.split('href="/proposals/')[1:]]
        path = page.split('<p class="after">')[1].partition('href="')[2].partition('"')[0]
        path = path.replace("&amp;", "&")
    assert len(found) == len(set(found))
    assert {str(each) for each in layer_of} <= set(found)
    assert "Nothing waits" in visitor.get("/?layer=procedural").text


def test_what_was_decided_can_be_looked_up(reviewer: Visitor, office: Office) -> None:
    """With who decided it, and why."""
    asked = office.ask("The bell rings twice.")
    decide(reviewer, asked.request_id, "reject", reason="NOISE")
    assert "The bell rings twice." not in reviewer.get("/").text
    assert f"/proposals/{asked.request_id}" in reviewer.get("/?state=rejected").text
    assert "NOISE" in reviewer.get(f"/proposals/{asked.request_id}").text


def test_a_contradiction_is_shown_beside_what_it_contradicts(
    office: Office, reviewer: Visitor
) -> None:
    """With the difference marked where it would replace what is there."""
    first = office.ask("Ana lives in Paris.", subject="Ana", predicate="lives_in")
    decide(reviewer, first.request_id, "approve")
    second = office.ask("Ana lives in Rome.", subject="Ana", predicate="lives_in")
    page = reviewer.get(f"/proposals/{second.request_id}").text
    assert "<del>Paris</del>" in page
    assert "<ins>Rome</ins>" in page


def test_the_risk_is_explained(reviewer: Visitor, office: Office) -> None:
    """Proves: H1 (explained)."""
    asked = office.ask()
    page = reviewer.get(f"/proposals/{asked.request_id}").text
    for factor in ("layer", "contradiction", "evidence", "confidence", "blast", "novelty"):
        assert factor in page.split('class="factors"')[1].split("</table>")[0]


def test_hostile_content_is_shown_and_does_nothing(reviewer: Visitor, office: Office) -> None:
    """Markup, what turns a line around, what cannot be seen, what steers a terminal."""
    hostile = '"><script>alert(1)</script><b onmouseover=x>\u202e\u200b\U000e0041{{ 7*7 }}'
    asked = office.ask_hostile(hostile)
    for path in ("/", f"/proposals/{asked.request_id}"):
        page = reviewer.get(path).text
        assert "<script>alert" not in page
        assert "<b onmouseover" not in page
        assert "<i>" not in page
        for hidden in "\u202e\u200b\U000e0041":
            assert hidden not in page
            assert f"U+{ord(hidden):04X}" in page
        assert "49" not in page.split("alert(1)")[1][:200]


def test_the_note_is_shown_as_it_is(reviewer: Visitor, office: Office) -> None:
    """People paste things too."""
    asked = office.ask()
    page = decide(
        reviewer, asked.request_id, "reject", reason="OTHER", note="<img src=x onerror=alert(1)>"
    )
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_an_agent_of_ones_own_is_decided_by_somebody_else(office: Office, app: Flask) -> None:
    """Proves: H6 (four eyes, on the page)."""
    person = office.person()
    office.world.admin.execute(
        "UPDATE memwarden_data.principal SET owner_id = "
        "(SELECT principal_id FROM memwarden_data.principal WHERE name = %s) WHERE name = %s",
        (person.login, office.agent.whoami().agent),
    )
    try:
        asked = office.ask()
        visitor = Visitor(app, URL)
        visitor.log_in(*person)
        sent = visitor.post(f"/proposals/{asked.request_id}/approve")
        assert sent.status_code in (403, 404)
    finally:
        office.world.admin.execute("UPDATE memwarden_data.principal SET owner_id = NULL")
    assert events(office, asked.request_id) == []


def test_the_console_can_do_nothing_by_itself(office: Office) -> None:
    """Its login is bound to nobody."""
    asked = office.ask()
    console = office.world.connect(office.desk)
    for call in (
        "memwarden.approve(%s)",
        "memwarden.reject(%s, 'OTHER')",
        "memwarden.proposal(%s)",
    ):
        with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
            console.execute(f"SELECT {call}", (asked.request_id,))
    assert events(office, asked.request_id) == []
