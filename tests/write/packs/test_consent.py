"""Who has not agreed is not written about, and who no longer agrees is not remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import DictRow

from access import call, curator, join, state
from helpers import recall, write
from races import overlap, together

if TYPE_CHECKING:
    from conftest import World

HOME = "/org/acme/user/ana"
DRINK = {"subject": "Ana", "predicate": "drinks", "class": "preference"}
LEFT = """
SELECT i.item_id FROM memwarden_data.item AS i
 WHERE i.status = 'ACTIVE' AND i.class = 'preference' AND lower(i.subject) = 'ana'"""


@pytest.fixture
def desk(world: World) -> Connection[DictRow]:
    """Connect as who records consents in Ana's organisation."""
    world.scope(HOME)
    return curator(world, "/org/acme")


def consent(desk: Connection[DictRow], decision: str, subject: str = "Ana", **more: Any) -> None:
    """Record what somebody says to being remembered for what they like."""
    call(
        desk,
        "record_consent",
        subject=subject,
        purpose="personalisation",
        decision=decision,
        **more,
    )


def enforce(world: World) -> None:
    """Run the job as its own role."""
    world.connect(world.role("memwarden_jobs")).execute("CALL memwarden.enforce_consent()")


def test_without_consent_nothing_is_written_and_nothing_kept(
    world: World, desk: Connection[DictRow]
) -> None:
    """Not the content, nor whom it was about; classes that need none pass.

    Proves: R7, F5 (consent), F3 (consent at queue time)
    """
    agent = world.agent(HOME)
    refused = write(agent, "semantic", "green tea", **DRINK)
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "CONSENT_MISSING")
    assert refused["detail"] == {"purpose": "personalisation"}
    kept = world.rows("SELECT content, subject, consent_check FROM memwarden_data.write_request")
    assert kept == [{"content": None, "subject": None, "consent_check": "missing"}]
    assert write(agent, "semantic", "green tea", subject="Ana")["outcome"] == "COMMITTED"
    consent(desk, "granted", subject="ANA")
    assert write(agent, "semantic", "green tea", **DRINK)["outcome"] == "COMMITTED"
    nobody = write(agent, "semantic", "tea is liked", **{"class": "preference"})
    assert nobody["reason"] == "CONSENT_MISSING"


def test_a_consent_holds_for_its_time(world: World, desk: Connection[DictRow]) -> None:
    """Before and after it is none.

    Proves: R7
    """
    agent = world.agent(HOME)
    for during in ("[2020-01-01,2020-02-01)", "[2900-01-01,)"):
        consent(desk, "granted", valid_during=during)
        assert write(agent, "semantic", "green tea", **DRINK)["reason"] == "CONSENT_MISSING"
    consent(desk, "granted", valid_during="[2020-01-01,2900-01-01)")
    assert write(agent, "semantic", "green tea", **DRINK)["outcome"] == "COMMITTED"


def test_from_the_withdrawal_on_nobody_recalls_it_and_the_job_retracts_it(
    world: World, desk: Connection[DictRow]
) -> None:
    """With a reason in its history; what is remembered of others, or in other classes, stays.

    Proves: R7 (withdrawal acts)
    """
    agent = world.agent(HOME)
    consent(desk, "granted")
    consent(desk, "granted", subject="Bo")
    tea = write(agent, "semantic", "green tea", **DRINK)["item_id"]
    write(agent, "semantic", "green tea for Bo", **(DRINK | {"subject": "Bo"}))
    write(agent, "semantic", "Ana lives in Lisbon", subject="Ana", predicate="lives in")
    consent(desk, "withdrawn")
    assert {row["subject"] for row in recall(agent, query="green tea")} == {"Bo", "Ana"}
    assert tea not in {row["item_id"] for row in recall(agent, query="green tea")}
    assert call(agent, "get", item_id=tea) == []
    listed = agent.execute("SELECT item_id FROM memwarden.items WHERE item_id = %s", (tea,))
    assert listed.fetchall() == []
    again = write(agent, "semantic", "black tea", **DRINK)
    assert again["reason"] == "CONSENT_WITHDRAWN"
    enforce(world)
    enforce(world)
    assert world.rows(LEFT) == []
    entries = world.rows(
        "SELECT operation, reason, principal_id FROM memwarden_data.log"
        " WHERE item_id = %s ORDER BY log_seq",
        tea,
    )
    assert [row["operation"] for row in entries] == ["INSERT", "RETRACT"]
    assert (entries[1]["reason"], entries[1]["principal_id"]) == ("consent withdrawn", 0)
    assert len(recall(agent, query="tea Lisbon", k=10)) == 2
    [row] = desk.execute(
        "SELECT * FROM memwarden.consents WHERE decision = 'withdrawn' AND enforced_at IS NOT NULL"
    ).fetchall()
    assert row["current"]
    assert world.rows("SELECT * FROM memwarden.verify_log()") == []


def test_what_waits_is_refused(world: World, desk: Connection[DictRow]) -> None:
    """A proposal leaves the queue with its content.

    Proves: R7 (pending requests)
    """
    call(world.admin, "set_approval_policy", layer="semantic", approval="always")
    agent = world.agent(HOME)
    consent(desk, "granted")
    waiting = write(agent, "semantic", "green tea", **DRINK)
    assert waiting["outcome"] == "DEFERRED", waiting
    consent(desk, "withdrawn")
    enforce(world)
    [kept] = world.rows(
        "SELECT outcome, reason, content, subject FROM memwarden_data.write_request"
    )
    assert (kept["outcome"], kept["reason"]) == ("REJECTED", "CONSENT_WITHDRAWN")
    assert kept["content"] is kept["subject"] is None
    assert world.value("SELECT state FROM memwarden_data.review") == "not_applicable"


def test_what_comes_back_by_another_way_goes_again(world: World, desk: Connection[DictRow]) -> None:
    """An undone retraction, a correction, a write that forgets to say of which class it is.

    Proves: R7
    """
    agent = world.agent(HOME)
    operator = join(world, HOME, role="correction_writer")
    consent(desk, "granted")
    tea = write(agent, "semantic", "green tea", **DRINK)["item_id"]
    unsaid = write(agent, "semantic", "white tea", subject="Ana", predicate="drinks")
    assert unsaid["item_id"] == tea
    assert call(agent, "get", item_id=tea)[0]["class"] == "preference"
    right = write(operator, "semantic", "black tea", **(DRINK | {"class": "correction"}))
    assert (right["outcome"], right["item_id"]) == ("COMMITTED", tea), right
    consent(desk, "withdrawn")
    assert call(agent, "get", item_id=tea) == []
    unsaid = write(agent, "semantic", "no tea", subject="Bo", predicate="drinks")
    assert unsaid["outcome"] == "COMMITTED"
    enforce(world)
    assert world.value("SELECT status FROM memwarden_data.item WHERE item_id = %s", tea) == (
        "RETRACTED"
    )
    call(desk, "rollback", item_id=tea, reason="by mistake")
    assert world.rows(LEFT.replace("= 'preference'", "IS NOT NULL")) != []
    assert recall(agent, query="tea", subject="Ana") == []
    enforce(world)
    assert world.value("SELECT status FROM memwarden_data.item WHERE item_id = %s", tea) == (
        "RETRACTED"
    )


def test_a_withdrawal_and_a_write_under_way_leave_nothing(
    world: World, desk: Connection[DictRow]
) -> None:
    """Whichever is first, also where nobody had ever been asked.

    Proves: R7 (concurrency)
    """
    agent = world.agent(HOME)
    consent(desk, "granted")
    overlap(
        world.connect(),
        agent,
        lambda: write(agent, "semantic", "green tea", **DRINK),
        desk,
        lambda: consent(desk, "withdrawn"),
    )
    assert recall(agent, query="green tea") == []
    enforce(world)
    assert world.rows(LEFT) == []


def test_many_writers_and_one_who_withdraws(world: World, desk: Connection[DictRow]) -> None:
    """While the job runs twice; in the end there is nothing.

    Proves: R7 (concurrency)
    """
    consent(desk, "granted")
    agents = [world.agent(f"/org/acme/user/ana/task/{n}") for n in range(6)]
    jobs = [world.connect(world.role("memwarden_jobs")) for _ in range(2)]

    def busy(agent: Connection[DictRow], number: int) -> set[str]:
        key = DRINK | {"predicate": f"drinks {number}"}
        return {write(agent, "semantic", f"tea {number} {n}", **key)["outcome"] for n in range(15)}

    outcomes = together(
        [lambda a=agent, n=number: busy(a, n) for number, agent in enumerate(agents)]
        + [lambda: consent(desk, "withdrawn")]
        + [lambda j=job: j.execute("CALL memwarden.enforce_consent()") for job in jobs]
    )
    assert set().union(*outcomes[:6]) <= {"COMMITTED", "REJECTED"}
    assert all(recall(agent, query="tea") == [] for agent in agents)
    enforce(world)
    assert world.rows(LEFT) == []
    assert world.rows("SELECT FROM memwarden_data.consent_state WHERE enforced_at IS NULL") == []


def test_only_who_administers_records_and_reads_consents(
    world: World, desk: Connection[DictRow]
) -> None:
    """An agent that could consent for people would need no consent.

    Proves: R7
    """
    agent = join(world, HOME, "agent", "curator")
    asked = {"subject": "Ana", "purpose": "personalisation", "decision": "granted"}
    assert state(agent, "record_consent", **asked) == "42501"
    assert state(desk, "record_consent", **(asked | {"decision": "perhaps"})) == "22023"
    assert state(desk, "record_consent", **(asked | {"subject": " "})) == "22023"
    assert state(desk, "record_consent", **(asked | {"org": "umbrella"})) == "42501"
    consent(desk, "granted")
    other = curator(world, "/org/umbrella")
    for reader in (agent, other):
        seen = reader.execute("SELECT subject FROM memwarden.consents").fetchall()
        assert seen == ([{"subject": "Ana"}] if reader is agent else [])
    world.grant_tables(agent.info.user, other.info.user)
    for reader in (agent, other):
        for table in ("consent", "consent_state"):
            assert reader.execute(f"SELECT * FROM memwarden_data.{table}").fetchall() == []
    with pytest.raises(psycopg.Error, match="append"):
        world.admin.execute("UPDATE memwarden_data.consent SET subject = 'Bo'")


def test_an_erasure_takes_consents_with_it(world: World, desk: Connection[DictRow]) -> None:
    """And whoever writes then has to ask anew.

    Proves: R7, R1
    """
    agent = world.agent(HOME)
    consent(desk, "granted")
    write(agent, "semantic", "green tea", **DRINK)
    call(desk, "erase_subject", subject="ana", reason="asked for it")
    assert world.rows("SELECT * FROM memwarden_data.consent") == []
    assert world.rows("SELECT * FROM memwarden_data.consent_state") == []
    assert write(agent, "semantic", "green tea", **DRINK)["reason"] == "CONSENT_MISSING"
