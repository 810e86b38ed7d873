"""`judges`: one judge or several compare a write with what is remembered, or with its evidence.

As a `judge` it reads `neighbours` of the payload, the memories that the write may contradict: `[{
"item_id", "version_id", "subject", "predicate", "content", "text", "similarity"}]`, at most 50;
`detail.neighbours` says what the write is to each of them, and the layer's policy decides. As
`verify` it compares `claim` with the excerpt of each piece of `evidence`: the score is that of the
excerpt which best bears the claim out.

Settings: `judges`, a list of `{"judge": "nli", "folder", "max_tokens", "threads"}` and
`{"judge": "llm", "url", "model", "secret_env", "timeout", "max_tokens"}`; `agree`, how many of them
have to find the same (more than half by default); `threshold` (0.85); `calls_per_job` (200),
`tokens_per_job` (400,000), `calls_per_hour`, `tokens_per_hour`; `timeout` of the whole job (60).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from memwarden._needs import needs
from memwarden.judges import Judge, Memory, NoVerdict, judge_all
from memwarden.judges.consensus import MOST_JUDGES, Consensus
from memwarden.judges.llm import LlmJudge
from memwarden.worker.plugin import PluginError, Verdict
from memwarden.worker.plugins.budget import Budget
from memwarden.worker.plugins.chat import Model
from memwarden.worker.plugins.findings import compared, supported
from memwarden.worker.plugins.settings import number, text
from memwarden_core.text import content_text

MOST_NEIGHBOURS = 50
_MOST_MODELS = 4
_LIMITS = {"calls_per_job": 200, "tokens_per_job": 400_000}


class Judges:
    """Keeps the models that were loaded, and what was spent within the hour."""

    name = "judges"
    version = "1"

    def __init__(self) -> None:
        self._hour = Budget("hour")
        self._models: dict[tuple[str, int, int], Judge] = {}
        self._loading = threading.Lock()

    def judge(self, payload: Mapping[str, Any], settings: Mapping[str, Any]) -> Verdict:
        """Return what the judges make of the write; without their agreement there is no verdict."""
        threshold = number(settings, "threshold", 0.85, least=0, most=1)
        if "neighbours" in payload:
            olds = [_memory(each) for each in _listed(payload["neighbours"])]
        elif "claim" in payload:
            olds = _excerpts(payload.get("evidence"))
        else:
            raise PluginError("the job has neither neighbours nor a claim", permanent=True)
        consensus = self.consensus(settings)
        findings = judge_all(consensus, _memory(payload), olds)
        try:
            if "neighbours" in payload:
                found = compared(payload["neighbours"], findings, threshold)
            else:
                found = supported(findings, threshold)
        except NoVerdict as error:
            if error.retry_after is not None:
                return Verdict("defer", retry_after=error.retry_after)
            raise PluginError(str(error), permanent=error.permanent) from None
        judges = [f"{each.name}:{each.version}"[:60] for each in consensus.judges]
        return Verdict(
            found.decision,
            found.score,
            {"judges": judges, **found.detail},
            version=f"{self.version} {consensus.version}",
        )

    def consensus(self, settings: Mapping[str, Any]) -> Consensus:
        """Return the judges that the settings list. Raises PluginError for other settings."""
        listed = settings.get("judges")
        if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
            raise PluginError("the setting judges is no list of objects")
        agree = None
        if settings.get("agree") is not None:
            agree = int(number(settings, "agree", 1, least=1, most=MOST_JUDGES))
        seconds = number(settings, "timeout", 60, least=0.1, most=3600)
        until = time.monotonic() + seconds
        budgets = (Budget("job"), self._hour)
        limits = _LIMITS | dict(settings)
        made: list[Judge] = []
        for each in listed:
            if each.get("judge") == "nli":
                made.append(self._nli(each))
            elif each.get("judge") == "llm":
                model = Model.configured(each, each)
                made.append(LlmJudge(model, budgets=budgets, limits=limits, until=until))
            else:
                raise PluginError("a judge is neither nli nor llm")
        try:
            return Consensus(made, agree)
        except ValueError as error:
            raise PluginError(f"the settings judges and agree: {error}") from None

    def _nli(self, settings: Mapping[str, Any]) -> Judge:
        folder = text(settings, "folder")
        max_tokens = int(number(settings, "max_tokens", 512, least=8, most=8192))
        threads = int(number(settings, "threads", 0, least=0, most=64))
        key = (folder, max_tokens, threads)
        # One at a time: of two that load the same model, one would be thrown away.
        with self._loading:
            if key not in self._models:
                while len(self._models) >= _MOST_MODELS:
                    del self._models[next(iter(self._models))]
                self._models[key] = _loaded(folder, max_tokens, threads)
            return self._models[key]


def _loaded(folder: str, max_tokens: int, threads: int) -> Judge:
    try:
        with needs("nli"):
            from memwarden.judges.nli import NliJudge
            from memwarden.judges.nli_model import BadModel
    except ImportError:
        # Other workers may have it.
        raise PluginError("the extra nli is not installed on this worker") from None
    try:
        return NliJudge(folder, max_tokens=max_tokens, threads=threads)
    except BadModel as error:
        raise PluginError(str(error)) from None


def _listed(neighbours: object) -> list[dict[str, Any]]:
    if (
        not isinstance(neighbours, list)
        or len(neighbours) > MOST_NEIGHBOURS
        or not all(isinstance(each, dict) for each in neighbours)
    ):
        raise PluginError(f"neighbours are no list of at most {MOST_NEIGHBOURS}", permanent=True)
    return neighbours


def _memory(described: Mapping[str, Any]) -> Memory:
    subject, predicate = (
        value if isinstance(value, str) else None
        for value in (described.get("subject"), described.get("predicate"))
    )
    content = described.get("content")
    said = described.get("text", described.get("claim"))
    if not isinstance(said, str):
        said = content_text(content, subject=subject, predicate=predicate)
    if not said.strip():
        raise PluginError("there is a memory that says nothing", permanent=True)
    return Memory(subject, predicate, content, said)


def _excerpts(evidence: object) -> list[Memory]:
    listed = evidence if isinstance(evidence, list) else []
    said = [each.get("excerpt") for each in listed if isinstance(each, dict)]
    return [
        Memory(None, None, each, each) for each in said if isinstance(each, str) and each.strip()
    ]
