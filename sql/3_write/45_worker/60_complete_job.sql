-- The request is locked before the job, here as in a retry, so that the two never wait for each other; and of two
-- workers that give the last two verdicts, the second sees the first one's.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_job(
    p_job_id uuid, p_worker text, OUT org_id bigint, OUT request_id uuid, OUT purpose text, OUT plugin text, OUT part integer,
        OUT attempts integer, OUT afterwards boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM FROM memwarden_data.write_request AS r
      WHERE r.request_id = (SELECT j.request_id FROM memwarden_data.job AS j WHERE j.job_id = p_job_id)
        FOR NO KEY UPDATE;
    PERFORM FROM memwarden_data.job AS j
       JOIN memwarden_data.version AS v ON v.org_id = j.org_id AND v.version_id = j.request_id
       JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id
      WHERE j.job_id = p_job_id AND j.afterwards FOR NO KEY UPDATE OF i;
    SELECT j.org_id, j.request_id, j.purpose, j.plugin, j.part, j.attempts, j.afterwards
      INTO org_id, request_id, purpose, plugin, part, attempts, afterwards
      FROM memwarden_data.job AS j
     WHERE j.job_id = p_job_id AND j.state = 'running' AND j.locked_by = p_worker AND j.locked_login = session_user
       FOR UPDATE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_job IS
    'A running job that this worker holds, locked together with its request or memory; nulls where it holds no such job.';

CREATE OR REPLACE FUNCTION memwarden.complete_job(job_id uuid, worker text, verdict jsonb)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_job record;
BEGIN
    PERFORM memwarden_internal.require_worker(complete_job.worker, interval '1 minute');
    v_job := memwarden_internal.hold_job(complete_job.job_id, complete_job.worker);
    IF v_job.request_id IS NULL THEN
        RETURN false;
    END IF;
    PERFORM memwarden_internal.require_verdict(v_job.purpose, complete_job.verdict);
    IF complete_job.verdict ->> 'decision' = 'defer' THEN
        -- Asked again later, as long as the request waits. It has not failed, so the attempt does not count.
        UPDATE memwarden_data.job AS j
           SET state = 'ready', attempts = j.attempts - 1, locked_by = NULL, locked_login = NULL, locked_until = NULL,
               run_at = v_now + make_interval(secs => coalesce((complete_job.verdict ->> 'retry_after')::double precision, 60))
         WHERE j.job_id = complete_job.job_id;
        RETURN true;
    END IF;
    INSERT INTO memwarden_data.verdict AS d (
        org_id, request_id, purpose, plugin, part, plugin_version, decision, score, detail, given_at, given_by)
    VALUES (v_job.org_id, v_job.request_id, v_job.purpose, v_job.plugin, v_job.part,
            coalesce(complete_job.verdict ->> 'version', ''), complete_job.verdict ->> 'decision',
            round((complete_job.verdict ->> 'score')::numeric, 12)::double precision,
            coalesce(complete_job.verdict -> 'detail', '{}'), v_now, session_user)
    ON CONFLICT ON CONSTRAINT verdict_pkey DO NOTHING;
    UPDATE memwarden_data.job AS j
       SET state = 'done', payload = NULL, locked_by = NULL, locked_until = NULL, last_error = NULL, finished_at = v_now
     WHERE j.job_id = complete_job.job_id;
    IF v_job.afterwards THEN
        PERFORM memwarden_internal.settle_verdicts(v_job.org_id, v_job.request_id, v_job.plugin, v_now);
    ELSIF NOT EXISTS (SELECT FROM memwarden_data.job AS j
                    WHERE j.org_id = v_job.org_id AND j.request_id = v_job.request_id AND j.purpose = v_job.purpose
                      AND j.state <> 'done' AND j.deadline > v_now) THEN
        PERFORM memwarden_internal.send_again(v_job.request_id);
    END IF;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden.complete_job IS
    'Stores the worker''s verdict of a job that it holds. The last verdict that a request waits for sends the request through the '
    'gates again, in the name of its writer, before this call returns. Of a memory that is stored, the last verdict of a plug-in '
    'becomes a record of provenance. Returns false, and changes nothing, where the worker no '
    'longer holds the job. job_id, worker: the job, and the worker that claimed it. verdict: {"decision": accept, reject or defer, '
    '"score": 0 to 1, "version": of the plug-in, "detail": an object of at most 8 KiB, "retry_after": seconds, 1 to 86400}; a verify '
    'needs a score; defer asks again after retry_after, 60 by default. Raises 22023 for a verdict that is none, 25001 at an '
    'isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.2.3.';
GRANT EXECUTE ON FUNCTION memwarden.complete_job TO memwarden_worker;

CREATE OR REPLACE FUNCTION memwarden_internal.require_verdict(p_purpose text, p_verdict jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_fault text;
BEGIN
    v_fault := CASE
        WHEN jsonb_typeof(p_verdict) IS DISTINCT FROM 'object' THEN 'an object'
        WHEN p_verdict - ARRAY['decision', 'score', 'version', 'detail', 'retry_after'] <> '{}'
            THEN 'decision, score, version, detail, retry_after'
        WHEN jsonb_typeof(p_verdict -> 'decision') IS DISTINCT FROM 'string'
             OR p_verdict ->> 'decision' NOT IN ('accept', 'reject', 'defer') THEN 'decision: accept, reject or defer'
        WHEN NOT memwarden_internal.is_number_between(p_verdict -> 'score', 0, 1) THEN 'score: 0 to 1'
        WHEN p_purpose = 'verify' AND p_verdict ->> 'decision' <> 'defer' AND p_verdict ->> 'score' IS NULL THEN 'score: a verify has one'
        WHEN coalesce(jsonb_typeof(p_verdict -> 'version'), 'string') <> 'string' OR length(p_verdict ->> 'version') > 100
            THEN 'version: up to 100 characters'
        WHEN coalesce(jsonb_typeof(p_verdict -> 'detail'), 'object') <> 'object'
             OR octet_length((p_verdict -> 'detail')::text) > 8192 THEN 'detail: an object of at most 8 KiB'
        WHEN NOT memwarden_internal.is_number_between(p_verdict -> 'retry_after', 1, 86400) THEN 'retry_after: 1 to 86400 seconds'
    END;
    IF v_fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'verdict: ' || v_fault);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_verdict IS 'Raises 22023 for a verdict that is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_number_between(p_value jsonb, p_least numeric, p_most numeric)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    CASE coalesce(jsonb_typeof(p_value), 'null')
        WHEN 'null' THEN RETURN true;
        WHEN 'number' THEN RETURN (p_value #>> '{}')::numeric BETWEEN p_least AND p_most;
        ELSE RETURN false;
    END CASE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_number_between IS 'Whether a JSON value is absent, null, or a number of that range.';
