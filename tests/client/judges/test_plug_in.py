"""The judges as a plug-in of the worker: what a payload and the settings come to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from client.judges.endpoint import Asked, Reply, chat, says, writes
from client.judges.payloads import DEEP, NOT_DEEP, asked_of, endpoint, gate, inference, neighbour
from memwarden.worker import PluginError
from memwarden.worker.plugins.judges import Judges


def test_a_contradiction_is_refused_and_named(model_folder: Path) -> None:
    """With what the write is to each neighbour, those that matter first.

    Proves: V7 (the inference model through the worker), V4 (judged meaning)
    """
    payload = gate(
        DEEP,
        neighbour("ana drinks tea", 1),
        neighbour(NOT_DEEP, 2),
        neighbour("the lake is deep cold", 3),
    )
    found = asked_of(payload, inference(model_folder))
    assert found.decision == "reject"
    assert found.score == pytest.approx(2 / 3)
    assert found.detail["reason"] == "contradicts what is remembered"
    assert (found.detail["compared"], found.detail["contradicted"]) == (3, 1)
    told = found.detail["neighbours"]
    assert [each["relation"] for each in told] == ["contradicts", "wider", "unrelated"]
    assert told[0]["item_id"] == neighbour("", 2)["item_id"]
    assert told[0]["version_id"] == neighbour("", 2)["version_id"]
    assert told[0]["similarity"] == 0.9124
    assert told[0]["votes"] == [["contradicts", told[0]["score"]]]
    [judge] = found.detail["judges"]
    assert judge.startswith("nli:")
    assert found.version == f"1 {judge}"


def test_what_contradicts_nothing_is_accepted(model_folder: Path) -> None:
    """Also where nothing is near.

    Proves: V7 (the inference model through the worker)
    """
    near = neighbour("the lake is deep cold")
    for neighbours in ([], [near], [near, neighbour("ana drinks tea")]):
        found = asked_of(gate(DEEP, *neighbours), inference(model_folder))
        assert (found.decision, found.score) == ("accept", 1)
        assert "reason" not in found.detail


def test_a_contradiction_counts_from_a_score_on(model_folder: Path) -> None:
    """0.85 by default.

    Proves: V4 (a judgement counts above a threshold)
    """
    payload = gate(DEEP, neighbour(NOT_DEEP))
    for threshold, decision in ((0.99, "reject"), (0.999, "accept")):
        settings = inference(model_folder) | {"threshold": threshold}
        assert asked_of(payload, settings).decision == decision
    for score, decision in ((0.85, "reject"), (0.84, "accept")):
        with chat(lambda *_, score=score: says("contradicts", score)) as server:
            found = asked_of(payload, {"judges": [endpoint(server.url)]})
        assert found.decision == decision


def test_an_update_is_no_contradiction() -> None:
    """It is told as what it is.

    Proves: V7 (the language model through the worker), V10 (a judge sees an update)
    """
    with chat(lambda *_: says("updates")) as server:
        found = asked_of(gate(DEEP, neighbour(NOT_DEEP)), {"judges": [endpoint(server.url)]})
    assert found.decision == "accept"
    assert found.detail["neighbours"][0]["relation"] == "updates"


def test_judges_of_different_kinds_have_to_agree(model_folder: Path) -> None:
    """A contradiction that one of two sees is neither let through nor refused.

    Proves: V7 (a consensus through the worker)
    """
    payload = gate(DEEP, neighbour(NOT_DEEP))
    both = inference(model_folder)["judges"]
    with chat(lambda *_: says("contradicts", 0.9)) as server:
        found = asked_of(payload, {"judges": [*both, endpoint(server.url)]})
        assert found.decision == "reject"
        assert [each[0] for each in found.detail["neighbours"][0]["votes"]] == ["contradicts"] * 2
        assert found.version is not None
        assert found.version.endswith(" llm:1:toy")
    with (
        chat(lambda *_: says("unrelated", 0.9)) as server,
        pytest.raises(PluginError, match="the judges disagree") as raised,
    ):
        asked_of(payload, {"judges": [*both, endpoint(server.url)]})
    assert raised.value.permanent
    assert "lake" not in str(raised.value)


def test_a_disagreement_that_no_contradiction_is_part_of_holds_nobody_up(
    model_folder: Path,
) -> None:
    """It is told as no relation, with the votes.

    Proves: V7 (a consensus through the worker)
    """
    payload = gate(DEEP, neighbour("ana drinks tea"), neighbour(DEEP))
    with chat(lambda *_: says("wider", 0.9)) as server:
        judges = [*inference(model_folder)["judges"], endpoint(server.url)]
        found = asked_of(payload, {"judges": judges})
    assert found.decision == "accept"
    assert [each["relation"] for each in found.detail["neighbours"]] == [None, None]
    votes = [[each[0] for each in told["votes"]] for told in found.detail["neighbours"]]
    assert sorted(votes) == [["same", "wider"], ["unrelated", "wider"]]


def test_two_of_three_suffice(model_folder: Path) -> None:
    """One may be out of order.

    Proves: V7 (a consensus through the worker)
    """

    def answer(asked: Asked, _: int) -> Reply:
        return says("contradicts") if asked.body["model"] == "b" else writes("I cannot say")

    with chat(answer) as server:
        judges = [endpoint(server.url, name) for name in "ab"]
        settings = {"judges": [*inference(model_folder)["judges"], *judges], "agree": 2}
        found = asked_of(gate(DEEP, neighbour(NOT_DEEP)), settings)
    assert found.decision == "reject"
    assert found.detail["neighbours"][0]["votes"][1] is None


def test_a_refusal_does_not_wait_for_what_else_there_is() -> None:
    """One contradiction is enough, whatever the service says of the next.

    Proves: V7 (the language model through the worker)
    """
    with chat(lambda _, number: says("contradicts") if number == 0 else writes("")) as server:
        settings = {"judges": [endpoint(server.url)]}
        found = asked_of(gate(DEEP, neighbour(NOT_DEEP), neighbour(DEEP)), settings)
    assert found.decision == "reject"
    assert {each["relation"] for each in found.detail["neighbours"]} == {"contradicts", None}


def test_contradictions_are_told_first() -> None:
    """Then what bears on the write, the surer before the less sure, and last what does not.

    Proves: V7 (the language model through the worker)
    """
    ranks = [("contradicts", 0.9), ("same", 1.0), ("narrower", 0.95), ("unrelated", 1.0)]
    order = [2, 3, 0, 1]

    def answer(asked: Asked, _: int) -> Reply:
        return says(*ranks[int(asked.memories["old"]["text"])])

    with chat(answer) as server:
        payload = gate(DEEP, *(neighbour(str(place)) for place in order))
        found = asked_of(payload, {"judges": [endpoint(server.url)]})
    assert [(each["relation"], each["score"]) for each in found.detail["neighbours"]] == ranks


def test_a_service_that_wants_a_rest_gets_it() -> None:
    """The job is put off by as much, and has not failed.

    Proves: V7 (the language model through the worker)
    """
    busy = Reply(429, headers={"Retry-After": "1800"})
    with chat(lambda *_: busy) as server:
        settings = {"judges": [endpoint(server.url)]}
        found = asked_of(gate(DEEP, neighbour(NOT_DEEP)), settings)
    assert (found.decision, found.retry_after) == ("defer", 1800)


def test_budgets_hold_for_the_job_and_for_the_process() -> None:
    """What a job may not spend it never may; what the hour may not, later.

    Proves: V7 (the language model through the worker)
    """
    payload = gate(DEEP, *(neighbour(DEEP, number) for number in range(6)))
    with chat(lambda *_: says("same")) as server:
        settings: dict[str, Any] = {"judges": [endpoint(server.url)]}
        plugin = Judges()
        with pytest.raises(PluginError, match="one job") as raised:
            plugin.judge(payload, settings | {"calls_per_job": 5})
        assert raised.value.permanent
        assert len(server.asked) == 5
        assert plugin.judge(payload, settings | {"calls_per_hour": 20}).decision == "accept"
        assert plugin.judge(payload, settings | {"calls_per_hour": 11}).decision == "defer"
        assert len(server.asked) == 11


@pytest.mark.parametrize(
    ("claim", "excerpts", "decision", "score"),
    [
        (DEEP, ["the lake is deep cold", "ana drinks tea"], "accept", 1),
        (DEEP, [DEEP], "accept", 1),
        (DEEP, [NOT_DEEP], "reject", 0),
        (DEEP, [DEEP, NOT_DEEP], "reject", 0),
        ("the lake is deep cold", [DEEP], "reject", 0),
        (DEEP, ["ana drinks tea", None, " "], "reject", 0),
        (DEEP, [], "reject", 0),
    ],
)
def test_a_claim_rests_on_what_its_evidence_says(
    claim: str, excerpts: list[str | None], decision: str, score: float, model_folder: Path
) -> None:
    """It has to follow from one excerpt, and none may rule it out.

    Proves: V7 (the inference model through the worker), V3 (retrieved and cited passages)
    """
    evidence = [{"type": "document", "uri": "x", "excerpt": each} for each in excerpts]
    payload = {"claim": claim, "content": {"text": claim}, "evidence": evidence}
    found = asked_of(payload, inference(model_folder))
    assert found.decision == decision
    assert found.score == pytest.approx(score, abs=0.01)


def test_what_is_told_fits_into_a_verdict() -> None:
    """However many there are, and however long the names.

    Proves: V7 (the language model through the worker)
    """
    for letter in "xé":
        name, more = letter * 500, {"item_id": letter * 500, "similarity": 1e-300}
        many = [neighbour(DEEP, number, **more) for number in range(50)]
        with chat(lambda *_: says("same", 1 / 3)) as server:
            judges = [endpoint(server.url, name)] * 9
            found = asked_of(gate(DEEP, *many), {"judges": judges, "calls_per_job": 450})
        assert found.detail["omitted"] > 0
        assert len(found.detail["neighbours"]) + found.detail["omitted"] == 50
        assert len(json.dumps(found.detail, ensure_ascii=False).encode()) <= 8192
