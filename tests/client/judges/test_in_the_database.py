"""Judges at work: a real server asks, a worker answers, the write goes through its gates again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from client.judges.endpoint import Asked, Reply, chat, says
from client.judges.payloads import DEEP, NOT_DEEP, inference
from helpers import write
from memwarden.worker.discovery import load
from write.worker.desk import jobs, request, require, run_worker

if TYPE_CHECKING:
    from conftest import World

SEEN = [{"type": "document", "uri": "https://example.org/lake", "excerpt": "the lake is deep cold"}]


def work(world: World, role: str) -> None:
    """Let a worker judge what is due."""
    run_worker(world, role, list(load(["judges"]).values()))


def verdicts(world: World, asked: DictRow) -> list[DictRow]:
    """Return what is kept of the verdicts on a request."""
    return world.rows(
        "SELECT * FROM memwarden_data.verdict WHERE request_id = %s", asked["request_id"]
    )


@pytest.mark.parametrize(
    ("text", "outcome"),
    [(DEEP, ("COMMITTED", None)), (NOT_DEEP, ("REJECTED", "VERIFICATION_FAILED"))],
)
def test_a_model_checks_a_claim_against_its_evidence(
    shared_world: World,
    worker_role: str,
    agent: Connection[DictRow],
    org: str,
    model_folder: Path,
    text: str,
    outcome: tuple[str, str | None],
) -> None:
    """And its version is kept with the verdict, and signed into what is committed.

    Proves: V7 (judge, version and score are kept), V3 (source cross-reference)
    """
    require(shared_world, "judges", org=org, purpose="verify", settings=inference(model_folder))
    asked = write(agent, "semantic", {"text": text}, evidence=SEEN)
    assert asked["reason"] == "AWAITING_VERDICT"
    work(shared_world, worker_role)
    row = request(shared_world, asked)
    assert (row["outcome"], row["reason"]) == outcome
    [kept] = verdicts(shared_world, asked)
    assert (kept["plugin"], kept["decision"]) == ("judges", "accept" if text == DEEP else "reject")
    assert kept["plugin_version"].startswith("1 nli:")
    assert kept["score"] == pytest.approx(float(text == DEEP), abs=0.01)
    if text == DEEP:
        [signed] = shared_world.rows(
            "SELECT record FROM memwarden_data.whole_provenance WHERE version_id = %s",
            row["version_id"],
        )
        [vouches] = signed["record"]["verified_by"]
        assert vouches["version"] == kept["plugin_version"]


@pytest.mark.parametrize(
    ("says_what", "outcome"),
    [
        ("contradicts", ("REJECTED", "EXTERNAL_REJECT")),
        ("updates", ("COMMITTED", None)),
        ("unrelated", ("DEFERRED", "AWAITING_VERDICT")),
    ],
)
def test_judges_compare_a_write_with_the_neighbours_that_its_job_carries(
    shared_world: World,
    worker_role: str,
    agent: Connection[DictRow],
    org: str,
    says_what: str,
    outcome: tuple[str, str | None],
) -> None:
    """What two find counts; where only one sees a contradiction there is no verdict.

    Proves: V7 (a consensus through the worker), V4 (judged meaning)
    """

    def answer(asked: Asked, _: int) -> Reply:
        assert asked.memories["new"]["text"] == NOT_DEEP
        assert asked.memories["old"]["text"] == DEEP
        if says_what == "unrelated" and asked.body["model"] == "b":
            return says("contradicts")
        return says(says_what)

    with chat(answer) as server:
        models = [{"judge": "llm", "url": server.url, "model": name} for name in "ab"]
        require(shared_world, "judges", org=org, settings={"judges": models})
        asked = write(agent, "semantic", {"text": NOT_DEEP})
        neighbour = {
            "item_id": "01890a5d-ac96-774b-bcce-b302099a8057",
            "version_id": "01890a5d-ac96-774b-bcce-b302099a8058",
            "text": DEEP,
            "content": {"text": DEEP},
            "similarity": 0.9,
        }
        shared_world.admin.execute(
            "UPDATE memwarden_data.job SET payload = payload || %s WHERE request_id = %s",
            (Jsonb({"neighbours": [neighbour]}), asked["request_id"]),
        )
        work(shared_world, worker_role)
    assert len(server.asked) == 2
    row = request(shared_world, asked)
    assert (row["outcome"], row["reason"]) == outcome
    [job] = [
        each for each in jobs(shared_world, "judges") if each["request_id"] == asked["request_id"]
    ]
    if says_what == "unrelated":
        assert job["state"] == "dead"
        assert job["last_error"] == (
            "the judges disagree: llm:1:a unrelated 0.90, llm:1:b contradicts 0.90"
        )
        return
    [kept] = verdicts(shared_world, asked)
    assert kept["plugin_version"] == "1 llm:1:a llm:1:b"
    if says_what == "contradicts":
        assert row["detail"] == {"plugin": "judges", "reason": "contradicts what is remembered"}
