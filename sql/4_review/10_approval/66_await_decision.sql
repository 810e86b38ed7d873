-- Who waits asks again and again: a function hears no NOTIFY, and each statement of it sees what others have committed since.
CREATE OR REPLACE FUNCTION memwarden.await_decision(request_id uuid, timeout interval DEFAULT '0')
RETURNS memwarden_internal.request_state
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_has_written  boolean := pg_current_xact_id_if_assigned() IS NOT NULL;
    v_principal_id bigint;
    v_end          timestamptz;
    v_pause        double precision := 0.05;
    v_state        memwarden_internal.request_state;
BEGIN
    IF await_decision.timeout IS NULL OR await_decision.timeout < interval '0' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'timeout: 0 or more');
    END IF;
    v_end := memwarden_internal.end_of_wait(await_decision.timeout);
    LOOP
        -- Asked each time: who has lost its rights meanwhile is told no more.
        v_principal_id := memwarden_internal.require_principal();
        IF EXISTS (SELECT FROM memwarden_data.write_request AS r
                    WHERE r.request_id = await_decision.request_id AND r.principal_id = v_principal_id AND r.outcome = 'DEFERRED') THEN
            PERFORM memwarden_internal.expire_review(await_decision.request_id);
        END IF;
        SELECT s.* INTO v_state FROM memwarden.request_status(await_decision.request_id) AS s;
        EXIT WHEN v_state.outcome IS DISTINCT FROM 'DEFERRED' OR clock_timestamp() >= v_end;
        IF v_has_written THEN
            PERFORM memwarden_internal.raise_error('wait_before_commit', format('request %s', await_decision.request_id));
        ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
            PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
        END IF;
        PERFORM pg_sleep(least(v_pause, date_part('epoch', v_end - clock_timestamp())));
        v_pause := least(v_pause * 1.5, 1);
    END LOOP;
    RETURN v_state;
END
$function$;
COMMENT ON FUNCTION memwarden.await_decision IS
    'Waits until a write request of the caller''s is decided, and returns its state; its present state when the time is over. timeout: how '
    'long at most; 0, the default, does not wait, and more than five minutes, or than nine tenths of statement_timeout, is cut to that: '
    'call again. All columns are NULL, at once, for an unknown request and for a request of somebody else. A request that has waited for '
    'a human beyond its deadline is refused by this call (APPROVAL_TIMEOUT, REVIEW_EXPIRED). It looks up to twenty times a second at '
    'first and once a second later, and works behind a transaction pooler; the connection is busy meanwhile. The Python client listens on '
    'a connection of its own instead. Raises 28000 without an identity, 22023 for a timeout below 0, 25001 where it would have to '
    'wait in a transaction that has written (nobody else sees its request, or gets what it has locked, before the commit) or at an '
    'isolation level other than READ COMMITTED. Source: H3.';
GRANT EXECUTE ON FUNCTION memwarden.await_decision TO memwarden_agent, memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.end_of_wait(p_timeout interval)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_most interval := current_setting('statement_timeout')::interval;
BEGIN
    -- An answer that comes with the error of a timeout would be none.
    RETURN least(clock_timestamp() + least(p_timeout, interval '5 minutes'),
                 CASE WHEN v_most > interval '0' THEN statement_timestamp() + v_most * 0.9 END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_of_wait IS
    'When a wait of that length ends: after five minutes, and before the statement is cancelled, at the latest.';

CREATE OR REPLACE FUNCTION memwarden_internal.expire_review(p_request_id uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.expire_review IS
    'Refuses a proposal that nobody decided about in time; false where there is nothing to refuse, or somebody is at '
    'it.';

CREATE OR REPLACE FUNCTION memwarden_internal.expire_next_review()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
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
COMMENT ON FUNCTION memwarden_internal.expire_next_review IS
    'Refuses the proposal whose time was over first; false when there is none. Two callers take different ones.';
GRANT EXECUTE ON FUNCTION memwarden_internal.expire_next_review TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.expire_reviews()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_reviews');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.expire_reviews IS
    'Refuses every proposal that nobody decided about in time, as a job. It is safe to run twice at once and to kill. It commits '
    'after each proposal, so it cannot run inside a transaction.';
GRANT EXECUTE ON PROCEDURE memwarden.expire_reviews TO memwarden_jobs, memwarden_admin;
