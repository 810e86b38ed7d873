"""The memory of an agent's loop behind one object: one round trip, at most, for each step."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, LiteralString, TypeVar
from uuid import UUID

from memwarden._async.client import AsyncClient
from memwarden._json import strict_json
from memwarden._lists import listed
from memwarden._offload import in_thread
from memwarden._prompt import Tokenizer, fitting, quoted_line
from memwarden._request_id import new_request_id
from memwarden._statements import manager as sql
from memwarden._statements import sessions as session_sql
from memwarden.embedders import query_embedding
from memwarden.errors import ConnectionFailed, InvalidArgument, MemwardenError, NotFound, NotReady
from memwarden.managing import (
    LASTING,
    AsyncExternal,
    ClosedRow,
    Completion,
    Found,
    Layer,
    Metrics,
    Phase,
    Prompt,
    PromptRow,
    TurnRow,
    fused,
    in_prompt,
    is_instruction,
    of_evidence,
    of_external,
    of_item,
    of_session,
    rendered,
    tool_arguments,
)
from memwarden.requests import single_precision
from memwarden.results import Answer
from memwarden.sessions import SessionAnswer, SessionEntry, SessionMemory

RowT = TypeVar("RowT")

_log = logging.getLogger("memwarden")


class AsyncMemoryManager:
    """Working memory, session, lasting memory and sources outside it, for one task at a time.

    The steps of a loop: `task_start`, then in each turn `before_llm_call`, `tool_call` and
    `observation` for each tool, `turn_end`; at the end `complete`. What is pushed stays in the
    prompt and is chosen anew every few turns; models that call functions pull with
    `search_memory` (`SEARCH_MEMORY`, `run_tool`).

    An agent that loses its memory goes on: where the server cannot be reached, prompts are those of
    before, searches find nothing, and `errors` says so. With `fail_safe=False` the error is raised.
    What the caller does wrong is always raised.

    Args:
        client: by which memory is asked.
        scope: where the task lives, a path that the agent writes; its home where None.
        token_budget, max_items, threshold, blocks, classification: of what is pushed, where not
            as the injection policy says.
        surface: which boundary prompts and searches cross, as in `recall`.
        include_instructions: whether `search` and `tool_call` also return what looks like an
            instruction to its reader (`detail["suspicious"]`). A prompt, and the answer to a
            model's own search, never hold such text.
        tokenizer: counts tokens as the model does. Prompts are then cut to `prompt_budget` by its
            count, the last of what was pushed first; `Prompt.tokens` is its count too.
        prompt_budget: tokens of a whole prompt; needs a tokenizer.
        external: asks sources outside memory, and then searches in all layers ask it too. Without
            one, a search of layer external asks the registered ones (`search_external`).
        ttl: how long a session lives without a call.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        scope: str | None = None,
        token_budget: int | None = None,
        max_items: int | None = None,
        threshold: float | None = None,
        blocks: Sequence[str] | None = None,
        classification: str | None = None,
        surface: str | None = None,
        include_instructions: bool = False,
        tokenizer: Tokenizer | None = None,
        prompt_budget: int | None = None,
        external: AsyncExternal | None = None,
        ttl: timedelta | None = None,
        fail_safe: bool = True,
    ) -> None:
        if (tokenizer is None) != (prompt_budget is None):
            raise InvalidArgument("tokenizer and prompt_budget go together")
        self._client = client
        self._scope = scope
        self._terms: dict[str, Any] = {
            "token_budget": token_budget,
            "max_items": max_items,
            "threshold": threshold,
            "blocks": listed("blocks", blocks),
            "classification": classification,
            "surface": surface,
        }
        self._include_instructions = include_instructions
        self._tokenizer = tokenizer
        self._prompt_budget = prompt_budget
        self._external = external
        self._ttl = ttl
        self._fail_safe = fail_safe
        self._start: dict[str, Any] = {}
        self._step: str | None = None
        self._embedded: tuple[tuple[str, str], list[float] | None] = (("", ""), None)
        self._given: dict[UUID, list[UUID]] = {}
        self._prompt: Prompt | None = None
        self._metrics = Metrics(
            writes=0,
            reads=0,
            hits=0,
            dedups=0,
            contradictions=0,
            pii_blocks=0,
            errors=0,
            turns=0,
            phase="startup",
        )
        self.session_id: UUID | None = None
        self.resumed: dict[str, Any] | None = None
        self.errors: list[MemwardenError] = []

    async def task_start(
        self,
        goal: str,
        plan: Sequence[str] | None = None,
        constraints: Sequence[str | Mapping[str, str]] | None = None,
        *,
        task: str | None = None,
    ) -> Prompt:
        """Begin a task, or go on with it, and return the first prompt.

        `task` is its name, by default the beginning of the goal: who starts a task of that name
        again has goal, plan and findings of the last session (`resumed`). The same plan goes on
        where it was.

        Raises:
            NotFound, InvalidArgument: the scope, or an argument, is not one that memory takes.
        """
        self._start = {
            "task": task or " ".join(goal.split())[:200].strip(),
            "goal": goal,
            "plan": listed("plan", plan),
            "constraints": None
            if constraints is None
            else strict_json(listed("constraints", constraints)),
            "scope": self._scope,
            "ttl": self._ttl,
        }
        self._step = plan[0] if plan else None
        self._given = {}
        self._prompt = None
        self._enter("startup", turns=0)
        return await self._begin()

    async def before_llm_call(self, *, refresh: bool = False) -> Prompt:
        """Return what the model is to read now; `refresh` has memories chosen anew at once."""
        self._require_task()
        self._enter("executing")
        if self.session_id is None:
            return await self._begin()
        text = "\n".join(filter(None, (self._start["goal"], self._step)))
        vector = await self._vector(text)
        arguments = {
            **self._terms,
            "session_id": self.session_id,
            "task": None if vector["embedding"] is None else text,
            **vector,
            "refresh": refresh,
        }
        return self._read(await self._ask(sql.BEFORE_CALL, arguments, PromptRow))

    async def tool_call(self, tool: str, input: Any = None, *, k: int = 3) -> list[Found]:
        """Return what is remembered that concerns a call of a tool, before it is made."""
        self._require_task()
        self._enter("tool_call")
        said = input if isinstance(input, str) else "" if input is None else strict_json(input)
        return await self._recall(f"{tool} {said[:200]}".strip(), None, k)

    async def observation(
        self,
        tool: str,
        result: str,
        importance: str = "normal",
        *,
        evidence: Sequence[Mapping[str, Any]] | None = None,
    ) -> SessionAnswer | None:
        """Note what a tool returned, in working memory and in the session; None without memory.

        `importance`: critical, high, normal or low. What is critical or high is promoted when the
        task is complete.
        """
        evidence = listed("evidence", evidence)
        self._require_task()
        if self.session_id is None:
            return None
        request_id = new_request_id()
        arguments = {
            "session_id": self.session_id,
            "tool": tool,
            "result": result,
            "importance": importance,
            "evidence": None if evidence is None else strict_json(evidence),
            "request_id": request_id,
        }
        rows = await self._ask(session_sql.OBSERVE, arguments, SessionAnswer, [request_id])
        if rows is None:
            return None
        if rows[0].gate == "sensitivity" or rows[0].masked:
            self._count(pii_blocks=1)
        return rows[0]

    async def note(self, text: str) -> None:
        """Add a line to the scratchpad: it is there until the turn ends, and nowhere else."""
        self._require_task()
        if self.session_id is not None:
            # Asked again where the answer was lost: a line too many is better than one too few.
            arguments = {"session_id": self.session_id, "text": text}
            await self._ask(session_sql.NOTE, arguments, dict[str, Any])

    async def turn_end(self, *, step_done: bool = False) -> None:
        """End a turn: observations and notes go; with `step_done` the plan goes one step on."""
        self._require_task()
        self._enter("turn_end", turns=self._metrics.turns + 1)
        if self.session_id is None:
            return
        arguments: dict[str, Any] = {"session_id": self.session_id}
        if step_done:
            request_id = new_request_id()
            arguments["request_id"] = request_id
            rows = await self._ask(sql.END_TURN_AND_STEP, arguments, TurnRow, [request_id])
        else:
            # Ended twice, where the answer was lost, a turn is over all the same.
            rows = await self._ask(sql.END_TURN, arguments, TurnRow)
        if rows and step_done:
            self._step = rows[0].current_step

    async def complete(
        self,
        summary: str | None = None,
        *,
        used: Sequence[UUID] = (),
        outcome: str = "success",
        promote: str = "important",
        target_scope: str | None = None,
        layer: str = "episodic",
    ) -> Completion:
        """End the task: what matters is promoted, and what was of use is reported.

        `summary`: what is to be learned from it. `used`: the memories, of all that were given, that
        were of use; `outcome` of the task: success, partial, failure or unknown. Both are reported
        for each choice of memory, so that thresholds and reputations rest on it.
        """
        used = listed("used", used)
        self._require_task()
        self._enter("complete")
        if self.session_id is None:
            return Completion(entries=[], reported=0)
        arguments: dict[str, Any] = {
            "session_id": self.session_id,
            "summary": summary,
            "promote": promote,
            "target_scope": target_scope,
            "layer": layer,
            "outcome": outcome,
        }
        recalls = [
            {"recall_id": str(recall_id), "used": [str(each) for each in used if each in given]}
            for recall_id, given in self._given.items()
        ]
        try:
            rows = await self._ask(
                sql.COMPLETE, {**arguments, "recalls": strict_json(recalls)}, ClosedRow
            )
        except NotFound:
            if not recalls:
                raise
            # One of the recalls is no longer in the log. The task is closed all the same.
            rows = await self._ask(sql.COMPLETE, {**arguments, "recalls": "[]"}, ClosedRow)
        if rows is None:
            return Completion(entries=[], reported=0)
        self.session_id = None
        self._start = {}
        self._given = {}
        entries = [row.entry() for row in rows if row.part is not None]
        self._count_entries(entries)
        return Completion(entries=entries, reported=rows[0].reported)

    async def search(self, query: str, layer: Layer | None = None, *, k: int = 5) -> list[Found]:
        """Return what answers a query best: pulled, where pushing did not foresee it.

        `layer`: persistent, session (what this task has seen) or external; without one all of them,
        fused by rank, each text once.
        """
        if layer == "external":
            return self._tally((await self._outside(query, k))[:k])
        if layer == "session":
            return await self._search_session(query, k)
        if layer == "persistent" or self._external is None:
            return await self._recall(query, LASTING if layer else None, k)
        inside = await self._recall(query, None, k, tally=False)
        return self._tally(fused([inside, await self._outside(query, k)], k))

    async def run_tool(self, arguments: str | Mapping[str, Any]) -> str:
        """Answer a model's call of `search_memory`, as lines for it to read.

        Arguments that the schema does not allow are told to the model, not raised.
        """
        try:
            query, layer, k = tool_arguments(arguments)
        except InvalidArgument as error:
            return quoted_line({"error": str(error)})
        found = await self.search(query, layer, k=k)
        return rendered(found) or quoted_line({"result": "nothing is known about that"})

    def metrics(self) -> Metrics:
        """Return the counts since this manager was made."""
        return self._metrics

    async def _begin(self) -> Prompt:
        vector = await self._vector(self._start["goal"])
        arguments = {**self._terms, **self._start, **vector}
        rows = await self._ask(sql.START_TASK, arguments, PromptRow)
        if rows is not None:
            self.session_id = rows[0].session_id
            self.resumed = rows[0].resumed
        return self._read(rows)

    def _read(self, rows: list[PromptRow] | None) -> Prompt:
        """Return the prompt of an answer; without one that of before, or the bare task."""
        if rows is None:
            if self._prompt is not None:
                return replace(self._prompt, refreshed=False, added=[], removed=[], left_out=None)
            return self._bare()
        row = rows[0]
        text, tokens, item_ids = row.prompt, row.tokens, row.item_ids
        if self._tokenizer is not None and self._prompt_budget is not None:
            text, cut = fitting(text, self._tokenizer, self._prompt_budget)
            tokens = self._tokenizer(text)
            item_ids = [each for at, each in enumerate(item_ids, 1) if at not in cut]
        if row.refreshed:
            self._count(reads=1, hits=int(bool(item_ids)))
            if row.recall_id is not None:
                self._given[row.recall_id] = item_ids
        self._prompt = Prompt(
            session_id=row.session_id,
            turn=row.turn,
            text=text,
            tokens=tokens,
            refreshed=row.refreshed,
            item_ids=item_ids,
            added=[each for each in row.added if each in item_ids],
            removed=row.removed,
            left_out=row.left_out,
            recall_id=row.recall_id,
        )
        return self._prompt

    def _bare(self) -> Prompt:
        plan = self._start["plan"] or []
        lines = [f"[TASK_GOAL] {quoted_line(self._start['goal'])}"]
        lines += [f"[CURRENT_STEP] {quoted_line(plan[0])}"] if plan else []
        text = "\n".join(lines)
        return Prompt(
            session_id=None,
            turn=self._metrics.turns,
            text=text,
            tokens=self._tokenizer(text) if self._tokenizer else len(text),
            refreshed=False,
            item_ids=[],
            added=[],
            removed=[],
            left_out=None,
            recall_id=None,
        )

    async def _recall(
        self, query: str, layers: Sequence[str] | None, k: int, *, tally: bool = True
    ) -> list[Found]:
        try:
            answer = await self._client.answer(
                query,
                # Goal and progress of the session are among its memories, and in the prompt.
                k=k if layers else k + 2,
                layers=layers,
                scope=self._scope,
                threshold=self._terms["threshold"],
                classification=self._terms["classification"],
                surface=self._terms["surface"],
                task=self._start.get("task"),
            )
        except (ConnectionFailed, NotReady) as error:
            self._survive(error)
            answer = Answer(items=[], unknown=None)
        if answer.withheld is not None:
            # What came of the task is reported of what it went without, too.
            self._given.setdefault(answer.withheld, [])
        items = [
            item
            for item in answer.items
            if item.item_id is not None
            and not in_prompt(item)
            and (self._include_instructions or not is_instruction(item.suspicious))
        ][:k]
        for item in items:
            if item.recall_id is not None:
                self._given.setdefault(item.recall_id, []).append(item.item_id)
        found = [of_item(item) for item in items]
        return self._tally(found) if tally else found

    async def _search_session(self, query: str, k: int) -> list[Found]:
        if self.session_id is None:
            return self._tally([])
        arguments: dict[str, Any] = {"session_id": self.session_id, "query": query, "k": k}
        arguments["surface"] = self._terms["surface"]
        rows = await self._ask(session_sql.SEARCH_SESSION, arguments, SessionMemory)
        return self._tally([of_session(row) for row in rows or []])

    async def _outside(self, query: str, k: int) -> list[Found]:
        if self._external is not None:
            return [of_external(each) for each in await self._external(query, k)]
        try:
            answer = await self._client.search_external(query, k=k, surface=self._terms["surface"])
        except (ConnectionFailed, NotReady) as error:
            self._survive(error)
            return []
        return [of_evidence(each) for each in answer.results]

    async def _vector(self, text: str) -> dict[str, Any]:
        """Return the vector of a text and its model, made once for each; both None without one."""
        try:
            embedder = await self._client._vectors.embedder()
        except ConnectionFailed:
            embedder = None  # the call that follows says so
        if embedder is None:
            return {"embedding": None, "embedding_model": None}
        if self._embedded[0] != (text, embedder.name):
            vector = await in_thread(query_embedding, embedder, text)
            made = None if vector is None else single_precision(vector)
            self._embedded = ((text, embedder.name), made)
        model = None if self._embedded[1] is None else embedder.name
        return {"embedding": self._embedded[1], "embedding_model": model}

    async def _ask(
        self,
        statement: LiteralString,
        arguments: Mapping[str, Any],
        row_type: type[RowT],
        request_ids: Sequence[UUID] = (),
    ) -> list[RowT] | None:
        """Return the rows of one call; None where memory does not answer and the agent goes on."""
        try:
            return await self._client._session.fetch(statement, arguments, row_type, request_ids)
        except (ConnectionFailed, NotReady) as error:
            if isinstance(error, NotReady):
                # A session that is over is opened anew by the next prompt, and resumed.
                self.session_id = None
            self._survive(error)
            return None

    def _survive(self, error: MemwardenError) -> None:
        if not self._fail_safe:
            raise error
        self.errors.append(error)
        self._count(errors=1)
        _log.warning("memory does not answer: %s", error)

    def _require_task(self) -> None:
        if not self._start:
            raise InvalidArgument("no task has been started", hint="Call task_start first.")

    def _enter(self, phase: Phase, turns: int | None = None) -> None:
        self._metrics = replace(
            self._metrics, phase=phase, turns=self._metrics.turns if turns is None else turns
        )

    def _count(self, **more: int) -> None:
        counts = {name: getattr(self._metrics, name) + n for name, n in more.items()}
        self._metrics = replace(self._metrics, **counts)

    def _tally(self, found: list[Found]) -> list[Found]:
        self._count(reads=1, hits=int(bool(found)))
        return found

    def _count_entries(self, entries: Sequence[SessionEntry]) -> None:
        for entry in entries:
            reason, outcome = entry.reason or "", entry.outcome or ""
            self._count(
                writes=int(outcome in ("COMMITTED", "MERGED")),
                dedups=int(outcome == "ALREADY_COMMITTED" or reason.endswith("_DUPLICATE")),
                contradictions=int(reason.startswith("CONTRADICTION")),
                pii_blocks=int(outcome == "REJECTED" and entry.gate == "sensitivity"),
            )
