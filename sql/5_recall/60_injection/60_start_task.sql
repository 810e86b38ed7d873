CREATE TYPE memwarden_internal.started_task AS (
    session_id  uuid,
    turn        integer,
    prompt      text,
    tokens      integer,
    refreshed   boolean,
    item_ids    uuid[],
    added       uuid[],
    removed     uuid[],
    left_out    jsonb,
    recall_id   uuid,
    resumed     jsonb,
    outcome     text,
    reason      text
);
COMMENT ON TYPE memwarden_internal.started_task IS 'A task that is begun or gone on with, and what a model is to read first.';

CREATE OR REPLACE FUNCTION memwarden.start_task(
    task text,
    goal text DEFAULT NULL,
    plan text[] DEFAULT NULL,
    constraints jsonb DEFAULT NULL,
    scope text DEFAULT NULL,
    embedding real[] DEFAULT NULL,
    ttl interval DEFAULT NULL,
    token_budget integer DEFAULT NULL,
    max_items integer DEFAULT NULL,
    threshold double precision DEFAULT NULL,
    blocks text[] DEFAULT NULL,
    classification text DEFAULT NULL,
    embedding_model text DEFAULT NULL,
    surface text DEFAULT NULL)
RETURNS memwarden_internal.started_task
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_envelope jsonb := memwarden.resume_session(start_task.scope, start_task.task, start_task.ttl);
    v_id       uuid := (v_envelope ->> 'session_id')::uuid;
    v_old      record;
    v_done     memwarden_internal.session_result;
    v_prompt   memwarden_internal.injected_prompt;
BEGIN
    SELECT w.goal, w.plan -> 'steps' AS steps INTO v_old FROM memwarden_data.said_working_memory AS w WHERE w.session_id = v_id;
    IF num_nonnulls(start_task.goal, start_task.plan, start_task.constraints) > 0 THEN
        -- Who goes on with the same plan goes on where it was.
        v_done := memwarden.set_goal(v_id, start_task.goal, CASE WHEN to_jsonb(start_task.plan) IS DISTINCT FROM v_old.steps
            THEN start_task.plan END, start_task.constraints);
    END IF;
    v_prompt := memwarden.before_call(
        session_id => v_id, embedding => start_task.embedding, refresh => true, token_budget => start_task.token_budget,
            max_items => start_task.max_items,
        threshold => start_task.threshold, blocks => start_task.blocks, classification => start_task.classification,
            embedding_model => start_task.embedding_model,
        surface => start_task.surface,
        task => CASE WHEN start_task.embedding IS NOT NULL THEN coalesce(start_task.goal, v_old.goal, start_task.task) END);
    v_envelope := memwarden_internal.envelope_across(v_envelope, start_task.surface);
    RETURN (v_prompt.session_id, v_prompt.turn, v_prompt.prompt, v_prompt.tokens, v_prompt.refreshed, v_prompt.item_ids,
        v_prompt.added, v_prompt.removed,
            v_prompt.left_out, v_prompt.recall_id, nullif(v_envelope, v_envelope || '{"resumed_from": null}'), v_done.outcome,
                v_done.reason)::memwarden_internal.started_task;
END
$function$;
COMMENT ON FUNCTION memwarden.start_task IS
    'Begins or resumes a task in one call, and returns the prompt for its model. It does what resume_session(), '
    'set_goal() and before_call() do. task: its name, 1 to 200 characters. scope: a path that the caller writes; NULL '
    'for its home. ttl: as in open_session(). goal, plan, constraints: as in set_goal(); NULL keeps what the last '
    'session of the task left; the same plan continues where it was. embedding, embedding_model: of the goal. '
    'token_budget, max_items, threshold, blocks, classification: as in push(). surface: as in before_call(), also for '
    'resumed. Returns what before_call() returns, and three more columns. resumed: the envelope of resume_session(); '
    'NULL where there was no earlier session. outcome, reason: of the write that remembers the goal; NULL where no '
    'goal was given. Where a gate refuses that write, the session is open and has no new goal. Raises 42704 for a '
    'scope that the caller does not write, or an unknown block, classification, model or surface; 55000 for a closed '
    'scope; F0000 for an encrypted session whose key this server does not open; 25006 on a standby; 22023 for arguments out of '
    'range; 55P03 while another writer holds the lock on the '
    'scope; 28000 without an identity; 25001 at an isolation level other than READ COMMITTED. Source: four-layer '
    'design, 8.';
GRANT EXECUTE ON FUNCTION memwarden.start_task TO memwarden_agent, memwarden_curator;
