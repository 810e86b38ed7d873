"""The pages of somebody who is logged in: what waits, one proposal, what was decided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, current_app, g, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from memwarden._json import strict_json
from memwarden._sync.client import Client
from memwarden.console.difference import changes
from memwarden.console.sessions import Session
from memwarden.console.text import editable
from memwarden.errors import InvalidContent, NotAllowed, NotFound, NotIdentified
from memwarden.reporting.gathering import gather
from memwarden.reporting.page import body
from memwarden.results import Proposal, WriteResult

blueprint = Blueprint("pages", __name__)

FILTERS = ("scope", "layer", "tier", "agent", "class")
STATES = ("pending", "approved", "rejected", "expired", "not_applicable")
REASONS = {
    "FACTUAL_ERROR": "It is wrong",
    "INSUFFICIENT_EVIDENCE": "Too little speaks for it",
    "POLICY_VIOLATION": "It is against a policy",
    "SENSITIVE": "It must not be kept",
    "DUPLICATE": "It is known",
    "OUTDATED": "It is no longer so",
    "NOISE": "It is not worth keeping",
    "OUT_OF_SCOPE": "It does not belong there",
    "OTHER": "Another reason",
}
_ROWS = 25


@blueprint.before_request
def _let_in() -> Response | None:
    session: Session | None = g.session
    if session is None:
        wanted = request.full_path.rstrip("?") if request.method == "GET" else "/"
        return redirect(url_for("entrance.login_page", next=wanted), code=303)
    session.turn.acquire()
    g.turn = session.turn
    return None


@blueprint.teardown_request
def _let_next(_error: BaseException | None) -> None:
    turn = g.pop("turn", None)
    if turn is not None:
        turn.release()


@blueprint.errorhandler(NotIdentified)
def _over(_error: NotIdentified) -> Response:
    """Ask for another log-in: the token is over, or whom it names is disabled."""
    g.session.reviewer.connection.close()
    current_app.extensions["memwarden"].sweep()
    return redirect(url_for("entrance.login_page"), code=303)


@blueprint.app_context_processor
def _who() -> dict[str, Any]:
    session: Session | None = g.get("session")
    if session is None:
        return {"me": None}
    said, session.said = session.said, None
    return {"me": session.reviewer, "outcome": said}


@blueprint.get("/")
def queue() -> str:
    """Show what waits, or was decided: what is late first."""
    chosen = {name: request.args.get(name, "").strip() for name in FILTERS}
    state = request.args.get("state", "pending")
    after = _uuid(request.args.get("after"))
    arguments: dict[str, Any] = {name: value or None for name, value in chosen.items()}
    arguments["write_class"] = arguments.pop("class")
    rows = _client().review_queue(**arguments, state=state, max_rows=_ROWS + 1, after=after)
    return render_template(
        "queue.html",
        rows=rows[:_ROWS],
        more=rows[_ROWS - 1].proposal_id if len(rows) > _ROWS else None,
        chosen={name: value for name, value in chosen.items() if value},
        state=state,
        states=STATES,
    )


@blueprint.get("/proposals/<uuid:proposal_id>")
def proposal(proposal_id: UUID) -> str:
    """Show one proposal with everything that speaks for and against it."""
    return _shown(_proposal(proposal_id))


@blueprint.post("/proposals/<uuid:proposal_id>/approve")
def approve(proposal_id: UUID) -> Response:
    """Let it be remembered, as its writer's write."""
    despite = request.form.get("despite_probes") == "yes"
    result = _client().approve(proposal_id, _note(), despite_probes=despite)
    return _decided(proposal_id, "approved", result)


@blueprint.post("/proposals/<uuid:proposal_id>/edit")
def edit(proposal_id: UUID) -> Response | tuple[str, int]:
    """Let something else be remembered in its place."""
    text = request.form.get("content", "")
    try:
        content = json.loads(text)
        strict_json(content)
    except (ValueError, RecursionError, InvalidContent):
        page = _shown(_proposal(proposal_id), edited=text, fault="That is no JSON.")
        return page, 400
    despite = request.form.get("despite_probes") == "yes"
    result = _client().approve_with_edit(proposal_id, content, _note(), despite_probes=despite)
    return _decided(proposal_id, "edited", result)


@blueprint.post("/proposals/<uuid:proposal_id>/reject")
def reject(proposal_id: UUID) -> Response | tuple[str, int]:
    """Refuse it, and say why: the agent is told."""
    reason = request.form.get("reason", "")
    if reason not in REASONS:
        return _shown(_proposal(proposal_id), fault="Say why it is rejected."), 400
    result = _client().reject(proposal_id, reason, _note())
    return _decided(proposal_id, "rejected", result)


@blueprint.get("/health")
def health() -> str | tuple[str, int]:
    """Show how well the memory of the reviewer's organisation is, to who may see figures."""
    try:
        report = gather(_client(), g.session.reviewer.org)
    except NotAllowed:
        return render_template("health.html", said=None), 403
    return render_template("health.html", said=Markup(body(report)))


def _client() -> Client:
    client: Client = g.session.reviewer.client
    return client


def _proposal(proposal_id: UUID) -> Proposal:
    found = _client().proposal(proposal_id)
    if found is None:
        raise NotFound("no such proposal")
    return found


def _shown(each: Proposal, *, edited: str | None = None, fault: str = "") -> str:
    # Once it is decided, what would have been renewed is something else.
    shown = each.state == "pending" and each.current and "content" in each.current
    current = each.current if shown else None
    return render_template(
        "proposal.html",
        each=each,
        changes=changes(current["content"], each.content) if current else None,
        history=_client().review_history(each.proposal_id),
        factors=sorted(each.factors.items(), key=lambda pair: -_adds(pair[1])),
        reasons=REASONS,
        edited=editable(each.content) if edited is None else edited,
        fault=fault,
    )


def _adds(factor: Mapping[str, float]) -> float:
    return factor["value"] * factor["weight"]


def _decided(proposal_id: UUID, decision: str, result: WriteResult) -> Response:
    g.session.said = {"decision": decision, "result": result}
    return redirect(url_for("pages.proposal", proposal_id=proposal_id), code=303)


def _note() -> str | None:
    return request.form.get("note", "").strip() or None


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None
