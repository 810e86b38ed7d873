CREATE OR REPLACE FUNCTION memwarden.await_decision(request_id uuid)
RETURNS memwarden_internal.request_state
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_state        memwarden_internal.request_state;
BEGIN
    IF EXISTS (SELECT FROM memwarden_data.write_request AS r
                WHERE r.request_id = await_decision.request_id AND r.principal_id = v_principal_id AND r.outcome = 'DEFERRED') THEN
        PERFORM memwarden_internal.expire_review(await_decision.request_id);
    END IF;
    SELECT s.* INTO v_state FROM memwarden.request_status(await_decision.request_id) AS s;
    RETURN v_state;
END
$function$;
COMMENT ON FUNCTION memwarden.await_decision(uuid) IS
    'Returns the present state of a write request of the caller''s, without waiting. All columns are NULL for an '
    'unknown request and for a request of somebody else. A request that has waited for a human beyond its deadline is '
    'refused by this call (APPROVAL_TIMEOUT, REVIEW_EXPIRED). To wait for a decision, LISTEN memwarden_review and '
    'call again: each message is the number of a request that was decided. The Python client does this. Raises 28000 '
    'without an identity. Source: H3.';
REVOKE ALL ON FUNCTION memwarden.await_decision(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.await_decision(uuid) TO memwarden_agent, memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.expire_review(p_request_id uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_review record;
BEGIN
    -- Asked before and under the lock of the request: who decides at this moment decides.
    SELECT r.tier, r.expires_at INTO v_review FROM memwarden_data.review AS r
     WHERE r.request_id = p_request_id AND r.state = 'pending' AND r.expires_at <= clock_timestamp();
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM FROM memwarden_data.write_request AS w WHERE w.request_id = p_request_id AND w.outcome = 'DEFERRED' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR NOT EXISTS (SELECT FROM memwarden_data.review AS r
                                 WHERE r.request_id = p_request_id AND r.state = 'pending' AND r.expires_at <= clock_timestamp()) THEN
        RETURN false;
    END IF;
    PERFORM memwarden_internal.refuse_request(p_request_id, memwarden_internal.timeout_reason(v_review.tier),
        jsonb_build_object('tier', v_review.tier, 'expired_at', v_review.expires_at));
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.expire_review(uuid) IS
    'Refuses a proposal that nobody decided about in time; false where there is nothing to refuse, or somebody is at '
    'it.';
REVOKE ALL ON FUNCTION memwarden_internal.expire_review(uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.expire_next_review()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_request_id uuid;
BEGIN
    SELECT w.request_id INTO v_request_id
      FROM memwarden_data.review AS r
      JOIN memwarden_data.write_request AS w ON w.request_id = r.request_id
     WHERE r.state = 'pending' AND r.expires_at <= clock_timestamp() AND w.outcome = 'DEFERRED'
     ORDER BY r.expires_at
     LIMIT 1
       FOR UPDATE OF w SKIP LOCKED;
    IF v_request_id IS NULL THEN
        RETURN false;
    END IF;
    PERFORM memwarden_internal.expire_review(v_request_id);
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.expire_next_review() IS
    'Refuses the proposal whose time was over first; false when there is none. Two callers take different ones.';
REVOKE ALL ON FUNCTION memwarden_internal.expire_next_review() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.expire_next_review() TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.expire_reviews()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_reviews');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.expire_reviews() IS
    'Refuses every proposal that nobody decided about in time, as a job. It is safe to run twice at once and to kill. It commits '
    'after each proposal, so it cannot run inside a transaction.';
REVOKE ALL ON PROCEDURE memwarden.expire_reviews() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE memwarden.expire_reviews() TO memwarden_jobs, memwarden_admin;
