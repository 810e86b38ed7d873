"""The queue is never silent: every event leaves a notice for each channel that wants it."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from review.queue.desk import (
    approve,
    claim,
    make_overdue,
    notices,
    propose,
    reject,
    set_channel,
    settle,
)

if TYPE_CHECKING:
    from conftest import World

SECRET = "the cellar door opens with 4711"


def test_an_event_is_told_to_the_channels_that_want_it(
    shared_world: World,
    org: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
    worker: Connection[DictRow],
) -> None:
    """By event, layer and scope; where none wants it nothing is made.

    Proves: Z9, H2
    """
    kind = f"k{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, org, "all", kind=kind, events=["opened", "rejected"])
    set_channel(shared_world, org, "sync_only", kind=kind, tiers=["sync"])
    set_channel(shared_world, org, "elsewhere", kind=kind, layer="procedural")
    set_channel(shared_world, org, "below", kind=kind, scope=f"/org/{org}")
    proposal = propose(agent, {"text": SECRET}, subject="cellar")
    told = claim(worker, kind)
    assert sorted(each["channel"] for each in told) == ["all", "below"]
    assert {each["notice"]["event"] for each in told} == {"opened"}
    assert {each["notice"]["proposal_id"] for each in told} == {str(proposal)}
    for each in told:
        assert settle(worker, each) == "done"
    reject(reviewer, proposal)
    told = claim(worker, kind)
    assert [(each["channel"], each["notice"]["event"]) for each in told] == [("all", "rejected")]


def test_a_notice_says_how_urgent_it_is_and_nothing_of_the_content(
    shared_world: World,
    home: str,
    org: str,
    agent: Connection[DictRow],
    worker: Connection[DictRow],
) -> None:
    """Ids, names, numbers and times.

    Proves: Z9
    """
    kind = f"k{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, org, kind=kind, settings={"link": "https://reviews.example/p/"})
    proposal = propose(agent, {"text": SECRET}, subject="cellar", predicate="opens")
    make_overdue(shared_world, proposal)
    [told] = claim(worker, kind)
    notice = told["notice"]
    assert notice["id"] == str(told["notice_id"])
    assert notice["link"] == f"https://reviews.example/p/{proposal}"
    assert (notice["layer"], notice["scope"], notice["tier"]) == ("semantic", home, "async")
    assert notice["overdue"] is True
    assert notice["age_seconds"] >= 3600
    assert set(notice) == {
        *("id", "event", "at", "proposal_id", "org", "layer", "scope", "tier", "risk", "reasons"),
        *("state", "opened_at", "age_seconds", "due_at", "overdue", "expires_at", "escalated"),
        "link",
    }
    for word in ("4711", "cellar", "opens"):
        assert word not in str(told)
    assert settle(worker, told) == "done"


@pytest.mark.every_version
def test_what_fails_is_sent_again_later_and_set_aside_in_the_end(
    shared_world: World, org: str, agent: Connection[DictRow], worker: Connection[DictRow]
) -> None:
    """Under the same id each time; an administrator has it sent anew.

    Proves: Z9
    """
    kind = f"k{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, org, kind=kind)
    propose(agent, {"text": "tea"})
    seen = set()
    for attempt in range(1, 13):
        [told] = claim(worker, kind)
        seen.add(told["notice"]["id"])
        assert told["attempt"] == attempt
        assert settle(worker, told, "nobody there") == ("dead" if attempt == 12 else "ready")
        # It waits; here the waiting is taken as done.
        assert claim(worker, kind) == []
        shared_world.admin.execute(
            "UPDATE memwarden_data.review_notice SET run_at = clock_timestamp()"
            " WHERE state = 'ready' AND channel = 'desk' AND event_id = %s",
            (notices(shared_world, org)[0]["event_id"],),
        )
    assert len(seen) == 1
    row = shared_world.rows("SELECT * FROM memwarden.review_channels WHERE org = %s", org)[0]
    assert (row["waiting"], row["set_aside"], row["last_error"]) == (0, 1, "nobody there")
    assert shared_world.value("SELECT memwarden.revive_notices('desk', org => %s)", org) == 1
    [told] = claim(worker, kind)
    assert (told["attempt"], told["notice"]["id"]) == (1, next(iter(seen)))
    assert settle(worker, told, "gone for good", permanent=True) == "dead"


def test_a_notice_whose_worker_died_is_taken_by_another(
    shared_world: World, org: str, agent: Connection[DictRow], worker: Connection[DictRow]
) -> None:
    """When its lease is over; the first no longer answers for it.

    Proves: Z9
    """
    kind = f"k{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, org, kind=kind)
    propose(agent, {"text": "tea"})
    [first] = claim(worker, kind, name="one")
    assert claim(worker, kind, name="two") == []
    shared_world.admin.execute(
        "UPDATE memwarden_data.review_notice SET run_at = clock_timestamp() WHERE notice_id = %s",
        (first["notice_id"],),
    )
    [second] = claim(worker, kind, name="two")
    assert second["notice_id"] == first["notice_id"]
    assert settle(worker, first, name="one") is None
    assert settle(worker, second, name="two") == "done"


def test_two_workers_never_send_one_notice_at_once(
    shared_world: World, org: str, agent: Connection[DictRow], worker_role: str
) -> None:
    """Eight of them take forty between them.

    Proves: Z9
    """
    kind = f"k{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, org, kind=kind)
    for number in range(40):
        propose(agent, {"text": f"thing number {number}"})
    taken: list[uuid.UUID] = []
    barrier = threading.Barrier(8)
    connections = [shared_world.connect(worker_role) for _ in range(8)]

    def work(connection: Connection[DictRow], name: str) -> None:
        barrier.wait()
        while True:
            row = connection.execute(
                "SELECT notice_id FROM memwarden.claim_notices(%s, %s)", (name, [kind])
            ).fetchone()
            if row is None:
                return
            taken.append(row["notice_id"])
            settle(connection, row, name=name)

    threads = [
        threading.Thread(target=work, args=(each, f"w{number}"))
        for number, each in enumerate(connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 40
    assert {each["state"] for each in notices(shared_world, org)} == {"done"}


def test_what_is_taken_back_is_never_told(
    shared_world: World, org: str, agent: Connection[DictRow]
) -> None:
    """The notice is of the transaction that it tells of.

    Proves: Z9
    """
    set_channel(shared_world, org)
    with agent.transaction(force_rollback=True):
        propose(agent, {"text": "tea"})
    assert notices(shared_world, org) == []


@pytest.mark.every_version
def test_a_channel_of_all_is_told_of_every_organisation_unless_one_has_its_own(
    shared_world: World, org: str, agent: Connection[DictRow], worker: Connection[DictRow]
) -> None:
    """Of the same name.

    Proves: Z9
    """
    common, own = f"k{uuid.uuid4().hex[:8]}", f"k{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, "global", "common", kind=common)
    propose(agent, {"text": "tea"})
    assert [each["notice"]["org"] for each in claim(worker, common)] == [org]
    set_channel(shared_world, org, "common", kind=own)
    propose(agent, {"text": "coffee"})
    assert claim(worker, common) == []
    assert len(claim(worker, own)) == 1
    shared_world.admin.execute("SELECT memwarden.drop_review_channel('common')")
    with pytest.raises(psycopg.errors.UndefinedObject):
        shared_world.admin.execute("SELECT memwarden.drop_review_channel('common')")


def test_only_workers_take_notices_and_only_administrators_name_addresses(
    shared_world: World, home: str, org: str, agent: Connection[DictRow]
) -> None:
    """No other role, and none of them reads the tables.

    Proves: Z9, A1
    """
    set_channel(shared_world, org, settings={"link": "https://inside.example/"})
    propose(agent, {"text": SECRET})
    calls = [
        "SELECT memwarden.claim_notices('w', '{webhook}')",
        f"SELECT memwarden.settle_notice('{uuid.uuid4()}', 'w')",
        "SELECT memwarden.set_review_channel('x', 'webhook', 'https://evil.example/')",
        "SELECT memwarden.drop_review_channel('desk')",
        "SELECT memwarden.revive_notices('desk')",
        "SELECT memwarden_internal.escalate_next()",
    ]
    tables = ("review_channel", "review_notice", "escalation", "noise", "noise_policy")
    for group in ("agent", "reviewer", "curator", "auditor"):
        role = shared_world.register(home, groups=(f"memwarden_{group}",))
        connection = shared_world.connect(role)
        for call in calls:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(call)
        shared_world.grant_tables(role)
        for table in tables:
            assert connection.execute(f"SELECT * FROM memwarden_data.{table}").fetchall() == []
    jobs = shared_world.connect(shared_world.role("memwarden_worker"))
    for call in calls[2:]:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            jobs.execute(call)


def test_an_auditor_sees_the_channels_of_its_organisation_alone(
    shared_world: World, home: str, org: str, agent: Connection[DictRow]
) -> None:
    """And how many notices wait there.

    Proves: Z9, A1
    """
    name = f"c{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, org, name)
    propose(agent, {"text": "tea"})
    insider = shared_world.agent(home, groups=("memwarden_auditor",))
    elsewhere = f"/org/{uuid.uuid4().hex[:12]}/user/eve"
    outsider = shared_world.agent(elsewhere, groups=("memwarden_auditor",))
    query = "SELECT * FROM memwarden.review_channels WHERE channel = %s"
    [row] = insider.execute(query, (name,)).fetchall()
    assert (row["org"], row["waiting"]) == (org, 1)
    assert outsider.execute(query, (name,)).fetchall() == []


def test_a_malformed_channel_is_refused(shared_world: World, org: str) -> None:
    """Name, kind, events and tiers are what they may be, and the layer and scope are there.

    Proves: Z9
    """
    for options, state in (
        ({"name": "No Name"}, "22023"),
        ({"kind": "No Kind"}, "22023"),
        ({"events": ["sneezed"]}, "22023"),
        ({"events": []}, "22023"),
        ({"tiers": ["auto"]}, "22023"),
        ({"target": "https://a.example/\r\nX: y"}, "22023"),
        ({"layer": "nowhere"}, "42704"),
        ({"scope": "/org/nowhere"}, "42704"),
    ):
        with pytest.raises(psycopg.Error) as raised:
            set_channel(shared_world, org, **options)
        assert raised.value.sqlstate == state, options


def test_decided_reviews_are_not_told_as_waiting(
    shared_world: World,
    org: str,
    agent: Connection[DictRow],
    reviewer: Connection[DictRow],
    worker: Connection[DictRow],
) -> None:
    """A notice that comes late says what the review is by now.

    Proves: Z9
    """
    kind = f"k{uuid.uuid4().hex[:8]}"
    set_channel(shared_world, org, kind=kind)
    proposal = propose(agent, {"text": "tea"})
    approve(reviewer, proposal)
    [told] = claim(worker, kind)
    assert (told["notice"]["event"], told["notice"]["state"]) == ("opened", "approved")
    assert told["notice"]["overdue"] is False
