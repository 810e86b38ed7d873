"""A gate that does what the content tells it: content -> "answer" -> "decision" and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import DictRow

if TYPE_CHECKING:
    from conftest import World

BODY = """
DECLARE
    v_answer jsonb := request -> 'content' -> 'answer';
BEGIN
    IF v_answer ? 'raise'
       AND (request ->> 'attempt')::integer
           >= coalesce((v_answer ->> 'from_attempt')::integer, 1) THEN
        RAISE EXCEPTION 'the gate fails' USING ERRCODE = v_answer ->> 'raise';
    ELSIF v_answer ? 'assert' THEN
        ASSERT false, 'the gate asserts';
    END IF;
    decision := coalesce(v_answer ->> 'decision', 'ACCEPT');
    IF (request ->> 'attempt')::integer >= (v_answer ->> 'until_attempt')::integer THEN
        decision := 'ACCEPT';
    END IF;
    reason := v_answer ->> 'reason';
    detail := v_answer -> 'detail';
    retry_at := (v_answer ->> 'retry_at')::timestamptz;
END
"""

SIGNATURE = (
    "(request jsonb, OUT decision text, OUT reason text, OUT detail jsonb,"
    " OUT retry_at timestamptz)"
)


def create_gate_function(
    world: World,
    name: str = "public.obey",
    *,
    body: str = BODY,
    signature: str = SIGNATURE,
    returns: str = "RETURNS record",
    definer: bool = True,
) -> str:
    """Create a gate's function, owned by a role of its own; return its signature for add_gate()."""
    security = "SECURITY DEFINER" if definer else "SECURITY INVOKER"
    world.admin.execute(
        f"CREATE FUNCTION {name}{signature} {returns} LANGUAGE plpgsql VOLATILE {security}"
        f" AS $gate${body}$gate$"
    )
    world.admin.execute(f"ALTER FUNCTION {name} OWNER TO {world.role()}")
    return f"{name}(jsonb)"


def add_obedient_gate(world: World, position: int = 40) -> None:
    """Put the gate into the pipeline, under the name "obedient"."""
    function = create_gate_function(world)
    world.admin.execute("SELECT memwarden.add_gate(%s, 'obedient', %s)", (position, function))


def answering(decision: str | None = None, **answer: Any) -> dict[str, Any]:
    """A content that the obedient gate answers like this."""
    if decision is not None:
        answer["decision"] = decision
    return {"text": "a thing to remember", "answer": answer}


def status(world: World, answer: DictRow) -> DictRow:
    """The record of a request, as it now is, with its gates as everybody is shown them."""
    query = (
        "SELECT r.*, memwarden_internal.gates_of(r.gates) AS gates"
        "  FROM memwarden_data.write_request AS r WHERE r.request_id = %s"
    )
    rows = world.rows(query, answer["request_id"])
    assert len(rows) == 1
    return rows[0]


def make_due(world: World) -> None:
    """Let every deferred request be due, without waiting for its time."""
    world.admin.execute(
        "UPDATE memwarden_data.write_request SET retry_at = now() - interval '1 second'"
        " WHERE outcome = 'DEFERRED'"
    )


def run_retries(world: World) -> None:
    """Let every deferred request be due, and run the job that retries them, as its own role."""
    make_due(world)
    with world.connect("memwarden_jobs") as jobs:
        jobs.execute("CALL memwarden.retry_deferred()")
