"""Decisions at the same moment: one holds, and nothing is remembered twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from helpers import write, write_many
from races import overlap, together
from reviewing import HOME, ask, decide, events, let_time_pass, propose, queue, reviewer, status
from write.gates.obedient import run_retries

if TYPE_CHECKING:
    from conftest import World


def test_sixteen_connections_decide_once(world: World) -> None:
    """Approvers, refusers, the job of expiry and that of retries, all at once, on each proposal.

    Proves: H4
    """
    ask(world)
    agent = world.agent(HOME)
    people = [reviewer(world) for _ in range(10)]
    jobs = [world.connect(world.role("memwarden_jobs")) for _ in range(6)]
    for number in range(3):
        proposal = propose(agent, f"Claim {number}")
        if number == 2:
            let_time_pass(world, proposal)
        world.admin.execute(
            "UPDATE memwarden_data.write_request SET retry_at = '-infinity' WHERE request_id = %s",
            (proposal,),
        )

        def approve(who: Any, which: str) -> str:
            return str(decide(who, "approve", which)["outcome"])

        def refuse(who: Any, which: str) -> str:
            return str(decide(who, "reject", which, "OTHER")["outcome"])

        def job(who: Any, procedure: str) -> str:
            who.execute(f"CALL memwarden.{procedure}()")
            return "ran"

        actions: list[Callable[[], str]] = []
        for place, person in enumerate(people):
            act = approve if place % 2 else refuse
            actions.append(lambda act=act, p=person, w=proposal: act(p, w))  # type: ignore[misc]
        for place, runner in enumerate(jobs):
            procedure = "expire_reviews" if place % 2 else "retry_deferred"
            actions.append(lambda r=runner, p=procedure: job(r, p))  # type: ignore[misc]
        answers = together(actions)
        final = status(agent, proposal)
        decisions = [a for a in answers if a not in ("ran", "ALREADY_DECIDED")]
        told = events(world, proposal)
        if number == 2:
            assert final["reason"] == "APPROVAL_TIMEOUT" or final["reason"] == "REVIEW_EXPIRED"
            assert told == ["opened", "expired"]
        else:
            assert len(decisions) == 1, answers
            assert told in (["opened", "approved"], ["opened", "rejected"])
            assert decisions == [final["outcome"]]
        held = world.value(
            "SELECT count(*) FROM memwarden_data.version WHERE request_id = %s", proposal
        )
        assert held == (1 if final["outcome"] == "COMMITTED" else 0)


def test_a_decision_that_is_rolled_back_leaves_the_proposal(world: World) -> None:
    """A reviewer whose connection dies in mid-decision has decided nothing; another then does.

    Proves: H4
    """
    ask(world)
    agent, ana, bob = world.agent(HOME), reviewer(world), reviewer(world)
    number = propose(agent)
    second = overlap(
        world.admin,
        ana,
        lambda: decide(ana, "reject", number, "OTHER"),
        bob,
        lambda: decide(bob, "approve", number),
        rollback=True,
    )
    assert second["outcome"] == "COMMITTED"
    assert events(world, number) == ["opened", "approved"]
    number = propose(agent, "The grass is green")
    dying = reviewer(world)
    dying.autocommit = False
    decide(dying, "approve", number)
    world.admin.execute("SELECT pg_terminate_backend(%s, 10000)", (dying.info.backend_pid,))
    with pytest.raises(psycopg.OperationalError):
        dying.execute("SELECT 1")
    assert [str(p["proposal_id"]) for p in queue(ana)] == [number]
    assert decide(ana, "approve", number)["outcome"] == "COMMITTED"


def test_two_values_of_one_thing_approved_at_once_do_not_overwrite_in_silence(
    world: World,
) -> None:
    """The second approver had not seen the first value: it is asked again.

    Proves: H4 (checks again)
    """
    ask(world)
    agent, other = world.agent(HOME), world.agent(HOME)
    ana, bob = reviewer(world), reviewer(world)
    numbers = [
        propose(agent, "blue", subject="sky", predicate="colour"),
        propose(other, "red", subject="sky", predicate="colour"),
    ]
    answers = together(
        [
            lambda: decide(ana, "approve", numbers[0]),
            lambda: decide(bob, "approve", numbers[1]),
        ]
    )
    assert sorted(a["outcome"] for a in answers) == ["COMMITTED", "DEFERRED"]
    [left] = queue(ana)
    assert left["current"]["content"] in ("blue", "red")
    assert write(agent, "working", {"still": "writing"})["outcome"] == "COMMITTED"


@pytest.mark.parametrize("room", [1, 5])
def test_writers_at_once_never_overfill_the_queue(world: World, room: int) -> None:
    """Sixteen writers, each in a scope of its own and some with a batch: as many wait as may.

    Proves: Z9 (cap)
    """
    ask(world, max_queue=room)
    agents = [world.agent(f"/org/acme/user/u{number}") for number in range(16)]

    def several(agent: Any, number: int) -> list[str]:
        if number % 2:
            return [str(write(agent, "semantic", f"claim {number}")["outcome"])]
        batch = [{"layer": "semantic", "content": f"claim {number}.{n}"} for n in range(3)]
        return [str(row["outcome"]) for row in write_many(agent, batch)]

    actions = [lambda a=a, n=n: several(a, n) for n, a in enumerate(agents)]
    answers = [outcome for answer in together(actions) for outcome in answer]
    waiting = "SELECT count(*) FROM memwarden_data.review WHERE state = 'pending'"
    assert world.value(waiting) == room
    assert answers.count("DEFERRED") == room
    assert answers.count("REJECTED") == len(answers) - room


def test_who_adds_to_a_queue_holds_it_until_it_commits(world: World) -> None:
    """Another waits for it in another scope, and finds the queue full, or free after a rollback.

    Proves: Z9 (cap)
    """
    ask(world, max_queue=1)
    first, second = world.agent("/org/acme/user/u1"), world.agent("/org/acme/user/u2")

    def hold(number: int) -> Any:
        return lambda: write(first, "semantic", f"claim {number}")

    def follow(number: int) -> Any:
        return lambda: write(second, "semantic", f"another {number}")

    kept = overlap(world.admin, first, hold(1), second, follow(1), rollback=True)
    assert kept["outcome"] == "DEFERRED"
    world.admin.execute("SELECT memwarden.set_approval_policy('semantic', max_queue => 2)")
    refused = overlap(world.admin, first, hold(2), second, follow(2))
    assert (refused["outcome"], refused["reason"]) == ("REJECTED", "REVIEW_QUEUE_FULL")


def test_a_queue_that_stays_busy_is_tried_again(world: World) -> None:
    """Whoever does not get it in time is deferred as by a busy scope, and retried.

    Proves: Z9 (cap)
    """
    ask(world)
    first, second = world.agent("/org/acme/user/u1"), world.agent("/org/acme/user/u2")
    second.execute("SET lock_timeout = '50ms'")
    with first.transaction():
        write(first, "semantic", "claim")
        busy = write(second, "semantic", "another")
    assert (busy["outcome"], busy["reason"]) == ("DEFERRED", "SCOPE_BUSY")
    run_retries(world)
    assert len(queue(reviewer(world))) == 2
