-- What gate 80 goes by: the policy that holds, and what it makes of a request that is to wait.
CREATE OR REPLACE FUNCTION memwarden_internal.approval_terms(
    p_org_id bigint, p_layer text, p_class text, p_agent text, p_principal_id bigint, p_policies jsonb DEFAULT NULL,
    OUT approval text, OUT wanted_by text, OUT auto_below double precision, OUT sync_from double precision, OUT weights double precision[],
    OUT layer_risk double precision, OUT sla interval, OUT max_wait_sync interval, OUT expires_after interval, OUT max_queue integer,
    OUT needed smallint, OUT needed_sync smallint, OUT four_eyes boolean, OUT class text, OUT is_reputable boolean)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT coalesce(a.approval, 'never'),
           CASE WHEN a.approval = 'pack_auto' THEN 'PACK' WHEN a.agent IS NOT NULL THEN 'AGENT_POLICY'
                WHEN a.class <> '*' THEN 'CLASS_POLICY' ELSE 'LAYER_POLICY' END,
           -- Where nothing is laid down, as the table has it by default.
           coalesce(a.auto_below, 0.3), coalesce(a.sync_from, 0.7), coalesce(a.weights, '{0.25,0.20,0.15,0.15,0.15,0.10}'), a.layer_risk,
           coalesce(a.sla, '48 hours'), coalesce(a.max_wait_sync, '15 minutes'), coalesce(a.expires_after, '14 days'),
           coalesce(a.max_queue, 1000), coalesce(a.needed, 1), coalesce(a.needed_sync, 1), coalesce(a.four_eyes, true), p_class,
           p.reputation >= o.reputation_threshold
      INTO approval_terms.approval, approval_terms.wanted_by, approval_terms.auto_below, approval_terms.sync_from, approval_terms.weights,
           approval_terms.layer_risk, approval_terms.sla, approval_terms.max_wait_sync, approval_terms.expires_after,
               approval_terms.max_queue,
           approval_terms.needed, approval_terms.needed_sync, approval_terms.four_eyes, approval_terms.class, approval_terms.is_reputable
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
      LEFT JOIN LATERAL (
           SELECT y.*
             FROM (SELECT g.* FROM jsonb_populate_recordset(NULL::memwarden_data.approval_policy, p_policies) AS g
                    UNION ALL
                   SELECT k.* FROM memwarden_data.approval_policy AS k
                    WHERE p_policies IS NULL AND k.org_id IN (0, p_org_id) AND k.layer = p_layer) AS y
            WHERE (y.class = '*' OR y.class = p_class) AND (y.agent IS NULL OR y.agent = p_agent)
            -- The most specific.
            ORDER BY y.agent IS NULL, y.class = '*', y.org_id DESC, y.profile IS NOT NULL
            LIMIT 1) AS a ON true
     WHERE p.principal_id = p_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.approval_terms IS
    'The approval policy that holds for a write: one of its agent before one of its class before one of the layer, and '
    'of the organisation before that of all. p_policies: those of the write''s terms; by default as they are now. wanted_by: the '
    'reason it gives; is_reputable: whether the writer''s reputation reaches the threshold.';

CREATE OR REPLACE FUNCTION memwarden_internal.review_terms(
    p_review jsonb, p_policy jsonb, p_asked jsonb, p_risk double precision, p_factors jsonb, p_report jsonb,
    p_deadline timestamptz, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_tier    text := CASE WHEN p_risk >= (p_policy ->> 'sync_from')::double precision THEN 'sync' ELSE 'async' END;
    v_expires timestamptz := least(p_deadline, p_now + (p_policy ->> CASE v_tier WHEN 'sync' THEN 'max_wait_sync'
        ELSE 'expires_after' END)::interval);
    v_due     timestamptz := CASE v_tier WHEN 'sync' THEN v_expires ELSE least(v_expires, p_now + (p_policy ->> 'sla')::interval) END;
BEGIN
    IF p_review ->> 'state' = 'pending' THEN
        -- It was looked at anew, and waits as it did.
        v_tier := p_review ->> 'tier';
        v_due := (p_review ->> 'due_at')::timestamptz;
        v_expires := (p_review ->> 'expires_at')::timestamptz;
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'tier', v_tier, 'risk', p_risk, 'factors', p_factors, 'report', p_report, 'class', p_policy -> 'class',
        'reasons', coalesce((SELECT jsonb_agg(DISTINCT a.e -> 'reason') FROM jsonb_array_elements(p_asked) AS a (e)),
        p_review -> 'reasons'),
        'needed', p_policy -> CASE v_tier WHEN 'sync' THEN 'needed_sync' ELSE 'needed' END, 'four_eyes', p_policy -> 'four_eyes',
        'due_at', v_due, 'expires_at', v_expires, 'reopened', CASE WHEN p_review ->> 'state' = 'approved' THEN true END));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.review_terms IS
    'What a request that is to wait for a human waits on: tier, reasons, risk, report, how many must agree, when an '
    'answer is due and when it comes too late. p_review: the row of the queue that there is already.';

CREATE OR REPLACE FUNCTION memwarden_internal.timeout_reason(p_tier text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE p_tier WHEN 'sync' THEN 'APPROVAL_TIMEOUT' ELSE 'REVIEW_EXPIRED' END;
COMMENT ON FUNCTION memwarden_internal.timeout_reason IS 'With which reason a request is refused that nobody answered in time.';

-- Who adds to the queue of a layer holds it until it commits: what is counted is all that waits. Its lock is behind
-- those of all scopes in the order that everybody keeps. What comes back to the queue was in it before and is not
-- counted anew.
CREATE OR REPLACE FUNCTION memwarden_internal.lock_queue(p_org_id bigint, p_layer text)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_caller  bigint := memwarden_internal.current_principal();
    v_timeout text := memwarden_internal.bound_wait((SELECT l.lock_wait FROM memwarden_data.layer AS l WHERE l.layer = p_layer));
    v_locked  boolean := true;
BEGIN
    BEGIN
        INSERT INTO memwarden_data.write_lock (org_id, scope_id, layer)
            VALUES (p_org_id, 9223372036854775807, p_layer) ON CONFLICT DO NOTHING;
        PERFORM FROM memwarden_data.write_lock AS w
          WHERE w.org_id = p_org_id AND w.scope_id = 9223372036854775807 AND w.layer = p_layer
            FOR NO KEY UPDATE;
    EXCEPTION WHEN lock_not_available THEN
        v_locked := false;
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
    PERFORM memwarden_internal.require_caller(v_caller);
    RETURN v_locked;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lock_queue IS
    'Locks the review queue of an organisation and layer for this transaction; false when it stayed busy for '
    'lock_timeout (at most five minutes), or the layer''s lock_wait where none is set.';

CREATE OR REPLACE FUNCTION memwarden_internal.queue_is_full(p_org_id bigint, p_layer text, p_max_queue integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN p_max_queue <= (SELECT count(*) FROM (
        SELECT FROM memwarden_data.review AS r
         WHERE r.org_id = p_org_id AND r.layer = p_layer AND r.state = 'pending' LIMIT p_max_queue) AS q);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.queue_is_full IS
    'Whether so many proposals of an organisation wait for a layer already. The caller holds the queue.';
