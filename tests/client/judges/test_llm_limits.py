"""The language model as a judge: services that are busy or slow, and what may be spent on them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from client.judges.endpoint import (
    NEW,
    OLD,
    Asked,
    Endpoint,
    Pauses,
    Reply,
    chat,
    model,
    says,
    writes,
)
from memwarden.judges import NoVerdict, Verdict, judge_all
from memwarden.judges.llm import LlmJudge
from memwarden.worker.plugins.budget import Budget


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_busy_service_is_asked_again(status: int) -> None:
    """After a pause that grows.

    Proves: V7 (the language model)
    """
    pauses = Pauses()
    with chat(lambda _, number: says("same") if number == 2 else Reply(status)) as endpoint:
        assert LlmJudge(model(endpoint), sleep=pauses).judge(NEW, OLD).relation == "same"
    assert len(endpoint.asked) == 3
    assert 0 < pauses[0] < pauses[1]


@pytest.mark.parametrize("as_date", [False, True])
def test_a_service_that_names_a_time_is_given_it(as_date: bool) -> None:
    """In seconds or as a date; a header that is neither changes nothing.

    Proves: V7 (the language model)
    """
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)
    wanted = [later if as_date else "7", "soon", "-3"]
    pauses = Pauses()

    def answer(_: Asked, number: int) -> Reply:
        if number == 3:
            return says("same")
        return Reply(429, headers={"Retry-After": wanted[number]})

    with chat(answer) as endpoint:
        LlmJudge(model(endpoint), sleep=pauses).judge(NEW, OLD)
    assert 6 < pauses[0] < 10
    assert all(0 < pause < 6 for pause in pauses[1:])


def test_a_service_that_wants_more_time_than_there_is_gets_it_from_the_queue() -> None:
    """Nobody sleeps for an hour; whoever asks is told when to come back.

    Proves: V7 (the language model)
    """
    pauses = Pauses()
    busy = Reply(429, headers={"Retry-After": "3600"})
    with chat(lambda *_: busy) as endpoint, pytest.raises(NoVerdict) as raised:
        LlmJudge(model(endpoint), sleep=pauses).judge(NEW, OLD)
    assert (raised.value.retry_after, raised.value.permanent) == (3600, False)
    assert len(endpoint.asked) == 1
    assert not pauses


def test_a_service_that_stays_broken_is_left_alone() -> None:
    """After four attempts.

    Proves: V7 (the language model)
    """
    with (
        chat(lambda *_: Reply(503)) as endpoint,
        pytest.raises(NoVerdict, match="status 503") as raised,
    ):
        LlmJudge(model(endpoint), sleep=Pauses()).judge(NEW, OLD)
    assert len(endpoint.asked) == 4
    assert not raised.value.permanent


def test_a_slow_service_is_not_waited_for() -> None:
    """The timeout is for the whole verdict.

    Proves: V7 (the language model)
    """

    def never(*_: object) -> Reply:
        endpoint.ended.wait(60)
        return says("same")

    with chat(never) as endpoint, pytest.raises(NoVerdict, match="TimeoutError"):
        LlmJudge(model(endpoint, timeout=0.3)).judge(NEW, OLD)
    assert len(endpoint.asked) <= 1


def test_after_the_time_of_the_job_nobody_is_asked() -> None:
    """A job that was given up costs nothing more.

    Proves: V7 (the language model)
    """
    with chat(lambda *_: says("same")) as endpoint:
        found = judge_all(LlmJudge(model(endpoint), until=0), NEW, [OLD] * 5)
    assert [str(each) for each in found] == ["the time for a verdict is over"] * 5
    assert not endpoint.asked


def spent(endpoint: Endpoint, limits: Mapping[str, Any], *budgets: Budget) -> list[str]:
    """Compare with eight memories; return what came of each."""
    judge = LlmJudge(model(endpoint), budgets=budgets, limits=limits, sleep=Pauses())
    return [
        each.relation if isinstance(each, Verdict) else str(each)
        for each in judge_all(judge, NEW, [OLD] * 8)
    ]


def test_a_job_makes_no_more_calls_than_it_may() -> None:
    """Also where several are made at once, and attempts count.

    Proves: V7 (the language model)
    """
    over = "the budget of models for one job is used up"
    with chat(lambda *_: says("same")) as endpoint:
        found = spent(endpoint, {"calls_per_job": 3}, Budget("job"))
        assert (found.count("same"), found.count(over), len(endpoint.asked)) == (3, 5, 3)
    with chat(lambda *_: Reply(500)) as endpoint:
        found = spent(endpoint, {"calls_per_job": 10}, Budget("job"))
        assert len(endpoint.asked) == 10
        assert over in found


def test_a_job_spends_no_more_tokens_than_it_may() -> None:
    """By what answers say that they cost; those without a word of it, and those that got lost.

    Proves: V7 (the language model)
    """
    for reply, most in ((writes("{}", 400), 3), (writes("{}", "many"), 1), (Reply(200, b"?"), 1)):
        with chat(lambda *_, reply=reply: reply) as endpoint:
            judge = LlmJudge(
                model(endpoint, max_tokens=10_000),
                budgets=[Budget("job")],
                limits={"tokens_per_job": 1000},
            )
            for _ in range(5):
                with pytest.raises(NoVerdict):
                    judge.judge(NEW, OLD)
            assert len(endpoint.asked) == most


def test_an_hour_has_a_budget_that_jobs_share() -> None:
    """When it is used up, whoever asks is told when to come back.

    Proves: V7 (the language model)
    """
    hour = Budget("hour")
    limits = {"calls_per_hour": 5}
    with chat(lambda *_: says("same")) as endpoint:
        first = spent(endpoint, limits, Budget("job"), hour)
        assert first.count("same") == 5
        judge = LlmJudge(model(endpoint), budgets=[Budget("job"), hour], limits=limits)
        with pytest.raises(NoVerdict, match="one hour") as raised:
            judge.judge(NEW, OLD)
        assert (raised.value.permanent, raised.value.retry_after) == (False, 600)
        assert len(endpoint.asked) == 5
