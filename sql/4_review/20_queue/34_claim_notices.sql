-- The worker sends notices as it does jobs: it holds one by a lease, works outside any transaction, and says how it went.
CREATE OR REPLACE FUNCTION memwarden.claim_notices(
    worker text, kinds text[], max_notices integer DEFAULT 1, lease interval DEFAULT '1 minute')
RETURNS TABLE (notice_id uuid, kind text, channel text, target text, settings jsonb, notice jsonb, attempt integer)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    PERFORM memwarden_internal.require_worker(claim_notices.worker, claim_notices.lease);
    IF claim_notices.kinds IS NULL OR claim_notices.max_notices IS NULL OR claim_notices.max_notices NOT BETWEEN 1 AND 100 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'kinds: an array of names; max_notices: 1 to 100');
    END IF;
    -- A notice that kills whoever takes it must not go round for ever.
    UPDATE memwarden_data.review_notice AS n
       SET state = 'dead', locked_by = NULL, finished_at = v_now, last_error = 'no worker that took it came back'
     WHERE n.notice_id IN (SELECT a.notice_id FROM memwarden_data.review_notice AS a
                            WHERE a.state = 'running' AND a.run_at <= v_now AND a.attempts >= memwarden_internal.max_notice_attempts()
                              FOR UPDATE SKIP LOCKED);
    RETURN QUERY
    WITH next AS MATERIALIZED (
        SELECT n.org_id, n.notice_id
          FROM memwarden_data.review_notice AS n
          JOIN memwarden_data.review_channel AS c ON c.org_id = n.channel_org_id AND c.name = n.channel
         WHERE n.state IN ('ready', 'running') AND n.run_at <= v_now AND c.kind = ANY (claim_notices.kinds)
         ORDER BY n.run_at, n.notice_id
         LIMIT claim_notices.max_notices
           FOR UPDATE OF n SKIP LOCKED
    ), claimed AS (
        UPDATE memwarden_data.review_notice AS n
           SET state = 'running', attempts = n.attempts + 1, locked_by = claim_notices.worker, locked_login = session_user,
               run_at = v_now + claim_notices.lease
          FROM next AS x WHERE n.org_id = x.org_id AND n.notice_id = x.notice_id
        RETURNING n.org_id, n.notice_id, n.channel_org_id, n.channel, n.event_id, n.request_id, n.event, n.attempts
    )
    SELECT d.notice_id, c.kind, c.name, c.target, c.settings,
           memwarden_internal.notice_of(d.org_id, d.notice_id, d.request_id, d.event_id, d.event, c.settings ->> 'link'), d.attempts
      FROM claimed AS d
      JOIN memwarden_data.review_channel AS c ON c.org_id = d.channel_org_id AND c.name = d.channel;
END
$function$;
COMMENT ON FUNCTION memwarden.claim_notices IS
    'Claims due notices for channels of some kinds for the calling worker. Two callers get different notices. When a lease ends, '
    'another worker can take the notice. worker: a name that is unique to each process. kinds: the kinds of channels. max_notices: '
    'how many at most, 1 (the default) to 100. lease: how long the worker holds them, 1 second to 1 hour; 1 minute by default. '
    'notice: an object of id (the same at each attempt, so that a receiver recognises a repetition), event, at, proposal_id, org, '
    'layer, scope, class, tier, risk, reasons, state, opened_at, age_seconds, due_at, overdue, expires_at, escalated and link. '
    'Raises 22023 for malformed arguments, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.claim_notices TO memwarden_worker;

CREATE OR REPLACE FUNCTION memwarden_internal.max_notice_attempts()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN 12;
COMMENT ON FUNCTION memwarden_internal.max_notice_attempts IS 'After so many attempts, some three hours, a notice is set aside.';

CREATE OR REPLACE FUNCTION memwarden.settle_notice(notice_id uuid, worker text, error text DEFAULT NULL, permanent boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_now   timestamptz := clock_timestamp();
    v_state text;
BEGIN
    PERFORM memwarden_internal.require_worker(settle_notice.worker, interval '1 minute');
    UPDATE memwarden_data.review_notice AS n
       SET state = s.state, locked_by = NULL, last_error = left(settle_notice.error, 500),
           finished_at = CASE WHEN s.state <> 'ready' THEN v_now END,
           -- Not all at once again: what failed together is spread out.
           run_at = v_now + least(interval '5 seconds' * 2 ^ (n.attempts - 1), interval '1 hour') * (0.8 + 0.4 * random())
      FROM (SELECT m.org_id, m.notice_id,
                   CASE WHEN settle_notice.error IS NULL THEN 'done'
                        WHEN coalesce(settle_notice.permanent, false) OR m.attempts >= memwarden_internal.max_notice_attempts() THEN 'dead'
                        ELSE 'ready' END AS state
              FROM memwarden_data.review_notice AS m
             WHERE m.notice_id = settle_notice.notice_id AND m.state = 'running' AND m.locked_by = settle_notice.worker
               AND m.locked_login = session_user
               FOR UPDATE) AS s
     WHERE n.org_id = s.org_id AND n.notice_id = s.notice_id
    RETURNING s.state INTO v_state;
    RETURN v_state;
END
$function$;
COMMENT ON FUNCTION memwarden.settle_notice IS
    'Records that the worker sent a notice that it holds, or failed to; returns done, ready, dead or null. The result done means '
    'that it was sent. A ready notice is tried again after 5 seconds, then after twice as long with each attempt, and at most an '
    'hour. A dead notice is set aside, after twelve attempts or at once if permanent is true. The result is null where the worker no '
    'longer holds it. notice_id, worker: the notice, and the worker that claimed it. error: why it was not sent, of which 500 '
    'characters are kept; null, the default, when it was sent. permanent: true sets the notice aside at once; false by default. '
    'Raises 22023 for a malformed name, 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.settle_notice TO memwarden_worker;

CREATE OR REPLACE FUNCTION memwarden.revive_notices(channel text, org text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(revive_notices.org, 'full');
    v_count  bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.review_channel AS c WHERE c.org_id = v_org_id AND c.name = revive_notices.channel) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('review channel %L', revive_notices.channel));
    END IF;
    UPDATE memwarden_data.review_notice AS n
       SET state = 'ready', attempts = 0, run_at = clock_timestamp(), finished_at = NULL, last_error = NULL
     WHERE n.channel_org_id = v_org_id AND n.channel = revive_notices.channel AND n.state = 'dead';
    GET DIAGNOSTICS v_count = ROW_COUNT;
    PERFORM pg_notify('memwarden_notice', '');
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden.revive_notices IS
    'Restarts the notices of a channel that were set aside, and returns how many there were. Each gets all its attempts anew. Raises '
    '42704 for an unknown channel or organisation, 42501 without the right.';
GRANT EXECUTE ON FUNCTION memwarden.revive_notices TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.trim_reviews()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.review_notice AS n WHERE n.finished_at < clock_timestamp() - interval '30 days';
    DELETE FROM memwarden_data.noise AS n WHERE n.expires_at < clock_timestamp();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.trim_reviews IS 'Deletes notices a month after they ended, and the noise whose time is over.';
