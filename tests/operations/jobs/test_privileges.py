"""memwarden_jobs runs the jobs and can do nothing else."""

from __future__ import annotations

import psycopg
import pytest

from conftest import World

JOBS = {
    "memwarden.arrange_shelves()",
    "memwarden.check_probes()",
    "memwarden.checkpoint()",
    "memwarden.clean_layers()",
    "memwarden.clear_models()",
    "memwarden.close_due_scopes()",
    "memwarden.close_due_sessions()",
    "memwarden.collect()",
    "memwarden.compact_captures()",
    "memwarden.compact_history()",
    "memwarden.count_recalls()",
    "memwarden.delete_old_records()",
    "memwarden.escalate_reviews()",
    "memwarden.expire_reviews()",
    "memwarden.extract_captures()",
    "memwarden.load_lexicons()",
    "memwarden.maintain()",
    "memwarden.reindex_words()",
    "memwarden.retry_deferred()",
    "memwarden.check_compliance()",
    "memwarden.run_due_jobs()",
    "memwarden.enforce_consent()",
    "memwarden.enforce_retention()",
    "memwarden.seal_log()",
    "memwarden.revalidate()",
    "memwarden.sweep(integer,integer)",
    "memwarden.take_metrics()",
    "memwarden.rescan_sensitivity(integer,bigint,bigint)",
    "memwarden.settle_values()",
    "memwarden.tune_thresholds()",
}
CALLED = {
    "memwarden_internal.arrange_next_shelf()",
    # It raises what every procedure says between an update and setup().
    "memwarden_internal.await_setup()",
    "memwarden_internal.clear_dropped_model(integer)",
    "memwarden_internal.close_next_scope(bigint)",
    "memwarden_internal.close_next_session(uuid)",
    "memwarden_internal.compact_next_captures(integer)",
    "memwarden_internal.count_next_recalls(integer)",
    "memwarden_internal.escalate_next()",
    "memwarden_internal.delete_next_records(text,integer)",
    "memwarden_internal.expire_next_review()",
    "memwarden_internal.extract_next(bigint)",
    "memwarden_internal.maintain_storage()",
    "memwarden_internal.load_next_lexicon(text)",
    "memwarden_internal.metrics_step(text)",
    "memwarden_internal.revalidate_step(text,timestamp with time zone)",
    "memwarden_internal.move_versions(integer)",
    "memwarden_internal.note_job(text)",
    "memwarden_internal.begin_job(text)",
    "memwarden_internal.claim_job()",
    "memwarden_internal.checkpoint_step(text)",
    "memwarden_internal.enforce_consent_step(text)",
    "memwarden_internal.extract_step(text)",
    "memwarden_internal.note_turn(text,bigint,text,text)",
    "memwarden_internal.run_job(text,text)",
    "memwarden_internal.sweep_step(text)",
    "memwarden_internal.try_step(text,text,timestamp with time zone)",
    "memwarden_internal.work_on_job(text,text,timestamp with time zone,interval,jsonb)",
    "memwarden_internal.wanted_jobs()",
    "memwarden_internal.rescan_batch(bigint,uuid,integer,bigint,bigint)",
    "memwarden_internal.reindex_next(integer)",
    "memwarden_internal.retry_next()",
    "memwarden_internal.enforce_next_consent(uuid)",
    "memwarden_internal.conclude_consent(uuid)",
    "memwarden_internal.carry_out_next_blocked(uuid)",
    "memwarden_internal.check_next_org(bigint)",
    "memwarden_internal.collect_next(text)",
    "memwarden_internal.hygiene_step(text)",
    "memwarden_internal.retention_job_step(text)",
    "memwarden_internal.retention_step(jsonb)",
    "memwarden_internal.run_due_probe(timestamp with time zone)",
    "memwarden_internal.seal_next()",
    "memwarden_internal.sweep_next(text,integer)",
    "memwarden_internal.conclude_rescan(timestamp with time zone)",
    "memwarden_internal.settle_due(uuid)",
    "memwarden_internal.take_checkpoint()",
}


def test_only_the_job_functions_may_be_executed(world: World) -> None:
    """Of the public API; inside, only what those call with their caller's rights."""
    allowed = world.rows(
        "SELECT p.oid::regprocedure::text AS name, n.nspname AS schema, p.prosecdef AS definer"
        "  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace"
        " WHERE n.nspname LIKE 'memwarden%%'"
        "   AND has_function_privilege('memwarden_jobs', p.oid, 'EXECUTE')"
    )
    assert {row["name"] for row in allowed if row["schema"] == "memwarden"} == JOBS
    assert {row["name"] for row in allowed} - JOBS == CALLED


def test_no_table_or_view_can_be_touched(world: World) -> None:
    """Not even seen into."""
    rights = "SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER"
    allowed = world.rows(
        "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
        "  JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname LIKE 'memwarden%%' AND c.relkind IN ('r', 'p', 'v', 'S')"
        "   AND CASE c.relkind WHEN 'S'"
        "       THEN has_sequence_privilege('memwarden_jobs', c.oid, 'SELECT, UPDATE, USAGE')"
        f"      ELSE has_table_privilege('memwarden_jobs', c.oid, '{rights}') END"
    )
    assert allowed == []


def test_it_is_in_no_other_role_and_has_no_power_of_its_own(world: World) -> None:
    """It can log in, and that is all."""
    assert world.rows(
        "SELECT r.rolcanlogin, r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolbypassrls,"
        "       r.rolreplication, m.roleid FROM pg_roles AS r"
        "  LEFT JOIN pg_auth_members AS m ON m.member = r.oid WHERE r.rolname = 'memwarden_jobs'"
    ) == [
        {"rolcanlogin": True, "roleid": None}
        | dict.fromkeys(
            ["rolsuper", "rolcreaterole", "rolcreatedb", "rolbypassrls", "rolreplication"], False
        )
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM memwarden_data.item",
        "SELECT * FROM memwarden.items",
        "SELECT * FROM memwarden.recall('tea')",
        "SELECT memwarden.write('working', '1')",
        "SELECT memwarden.create_scope('/org/acme')",
        "SELECT memwarden.close_scope('/org/acme')",
        "SELECT memwarden_internal.shut(0, '{0}', 0)",
        "SELECT memwarden.setup()",
        "SET ROLE memwarden_owner",
        "SET ROLE memwarden_agent",
    ],
)
def test_everything_else_is_refused(world: World, statement: str) -> None:
    """42501, as the job's own login."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        world.connect("memwarden_jobs").execute(statement)
