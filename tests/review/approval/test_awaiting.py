"""Waiting for a decision in SQL: it comes, or the time is over; never for ever, never in vain."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import DictRow

from helpers import write
from memwarden import Client, errors
from reviewing import ask, decide, let_time_pass, propose, reviewer
from shipped import Shipped

WAIT = "SELECT * FROM memwarden.await_decision(%s, %s)"
LONG = timedelta(minutes=2)


@pytest.fixture
def asked(shipped: Shipped) -> Shipped:
    """A store as init leaves it, in which a person is asked about semantic memories."""
    ask(shipped.world, org="acme")
    return shipped


def await_decision(
    agent: psycopg.Connection[DictRow], request: Any, timeout: Any = LONG
) -> DictRow:
    """What the call returns."""
    row = agent.execute(WAIT, (request, timeout)).fetchone()
    assert row is not None
    return row


@pytest.mark.every_version
def test_a_wait_ends_with_the_decision_of_another(asked: Shipped) -> None:
    """Of a session of its own that commits meanwhile; the state is told as it is then.

    Proves: H3 (await_decision)
    """
    person = reviewer(asked.world)
    kept, refused = (propose(asked.agent, text) for text in ("The sky is blue", "Snow is red"))
    other = asked.world.connect(asked.agent.info.user)
    with ThreadPoolExecutor(2) as pool:
        waits = [
            pool.submit(await_decision, agent, request)
            for agent, request in ((asked.agent, kept), (other, refused))
        ]
        sleeping = (
            "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            " AND datname = current_database()"
        )
        while asked.world.value(sleeping) < 2:
            assert not any(each.done() for each in waits)
        decide(person, "approve", kept, "so it is")
        decide(person, "reject", refused, "FACTUAL_ERROR")
        told = [each.result(60) for each in waits]
    assert [(row["outcome"], row["reason"]) for row in told] == [
        ("COMMITTED", None),
        ("REJECTED", "REVIEW_REJECTED"),
    ]


def test_a_wait_is_over_when_its_time_is(asked: Shipped) -> None:
    """The request waits on; without a timeout nothing is waited for.

    Proves: H3 (timeout)
    """
    waits = propose(asked.agent, "The sky is blue")
    for timeout in ("0", "20 ms"):
        assert await_decision(asked.agent, waits, timeout)["outcome"] == "DEFERRED"
    row = asked.agent.execute("SELECT * FROM memwarden.await_decision(%s)", (waits,)).fetchone()
    assert row is not None
    assert row["outcome"] == "DEFERRED"
    for wrong in ("-1 second", None):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            await_decision(asked.agent, waits, wrong)


def test_no_wait_is_cancelled_or_longer_than_five_minutes(asked: Shipped) -> None:
    """It ends before statement_timeout, with an answer, and at a cap where none is set.

    Proves: H3 (a cap on the timeout)
    """
    waits = propose(asked.agent, "The sky is blue")
    asked.agent.execute("SET statement_timeout = '200ms'")
    assert await_decision(asked.agent, waits, "1 day")["outcome"] == "DEFERRED"
    ends = asked.world.value(
        "SELECT memwarden_internal.end_of_wait('1 day') - clock_timestamp() < '5 minutes'"
    )
    assert ends


def test_a_deadline_that_is_over_refuses_by_the_call_itself(asked: Shipped) -> None:
    """Also one that is over while it waits: nobody else need be there.

    Proves: H3 (silence is a refusal)
    """
    late, later = (propose(asked.agent, text) for text in ("The sky is blue", "Snow is white"))
    let_time_pass(asked.world, late)
    asked.world.admin.execute(
        "UPDATE memwarden_data.review SET expires_at = clock_timestamp() + interval '100 ms'"
        " WHERE request_id = %s",
        (later,),
    )
    for request in (late, later):
        told = await_decision(asked.agent, request)
        assert (told["outcome"], told["reason"]) == ("REJECTED", "REVIEW_EXPIRED")


def test_nobody_waits_for_what_is_not_his(asked: Shipped) -> None:
    """An unknown request and another's are told at once, and alike; who is disabled, no more.

    Proves: H3
    """
    waits = propose(asked.agent, "The sky is blue")
    other = asked.world.agent("/org/acme/user/ana")
    for request in (waits, uuid4()):
        assert set(await_decision(other, request).values()) == {None}
    asked.world.admin.execute(
        "SELECT memwarden.change_agent(%s, enabled => false)", (other.info.user,)
    )
    with pytest.raises(psycopg.errors.InvalidAuthorizationSpecification):
        await_decision(other, waits)


def test_a_transaction_that_has_written_is_told_not_to_wait(asked: Shipped) -> None:
    """Nobody sees its request before it commits; what is decided already is told all the same.

    Proves: H3
    """
    agent = asked.agent
    told = pytest.raises(psycopg.errors.ActiveSqlTransaction, match="nobody decides")
    with told, agent.transaction():
        await_decision(agent, propose(agent, "The sky is blue"))
    with agent.transaction():
        done = write(agent, "episodic", "Ana drinks tea")
        assert await_decision(agent, done["request_id"])["outcome"] == "COMMITTED"
        waits = propose(agent, "Snow is white")
        assert await_decision(agent, waits, "0")["outcome"] == "DEFERRED"
    with agent.transaction():
        assert await_decision(agent, waits, "20 ms")["outcome"] == "DEFERRED"
    with suppress(psycopg.Error), agent.transaction():
        agent.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        with pytest.raises(psycopg.errors.ActiveSqlTransaction, match="READ COMMITTED"):
            await_decision(agent, waits)
    with Client(agent) as memory, pytest.raises(errors.WrongIsolation), agent.transaction():
        memory.write("semantic", "Grass is green", wait=True)
