CREATE OR REPLACE FUNCTION memwarden.set_escalation(
    layer text, level integer, after interval, channel text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_escalation.org, 'full');
BEGIN
    IF (set_escalation.level BETWEEN 1 AND 9) IS NOT TRUE OR set_escalation.after NOT BETWEEN interval '0' AND interval '365 days' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'level: 1 to 9; after: 0 to 365 days');
    ELSIF set_escalation.layer IS DISTINCT FROM '*' THEN
        PERFORM memwarden_internal.require_layers(ARRAY[set_escalation.layer]);
    END IF;
    IF set_escalation.channel IS NOT NULL AND NOT EXISTS (
           SELECT FROM memwarden_data.review_channel AS c WHERE c.org_id IN (0, v_org_id) AND c.name = set_escalation.channel) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('review channel %L', set_escalation.channel));
    END IF;
    IF set_escalation.after IS NULL THEN
        DELETE FROM memwarden_data.escalation AS e
         WHERE e.org_id = v_org_id AND e.layer = set_escalation.layer AND e.level = set_escalation.level;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('level %s', set_escalation.level));
        END IF;
    ELSE
        INSERT INTO memwarden_data.escalation AS e (org_id, layer, level, after, channel)
        VALUES (v_org_id, set_escalation.layer, set_escalation.level, set_escalation.after, set_escalation.channel)
        ON CONFLICT ON CONSTRAINT escalation_pkey DO UPDATE SET after = excluded.after, channel = excluded.channel;
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_escalation', jsonb_build_object(
        'layer', set_escalation.layer, 'level', set_escalation.level, 'after', set_escalation.after, 'channel', set_escalation.channel));
END
$function$;
COMMENT ON FUNCTION memwarden.set_escalation IS
    'Sets a level of escalation for reviews of a layer that nobody decides, or removes the level. A chain of an organisation '
    'replaces the common chain of the layer. layer: the layer, or * for all layers that have no chain of their own. level: 1 to 9; a '
    'review reaches one level after the other. after: how long after its due time a review reaches the level, 0 to 365 days; null '
    'removes the level. channel: the review channel that is told; by default every channel that takes the event escalated. org: the '
    'organisation; by default the caller''s, and for members of memwarden_admin all organisations. Raises 42704 for an unknown '
    'layer, channel, level or organisation, 22023 for a value out of range, 42501 without the right, 25001 at an isolation level '
    'other than READ COMMITTED. Source: chapter 12.6.5.';
GRANT EXECUTE ON FUNCTION memwarden.set_escalation TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.escalation_of(p_org_id bigint, p_layer text, p_level integer)
RETURNS TABLE (after interval, channel text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.after, e.channel
      FROM (SELECT c.org_id, c.layer FROM memwarden_data.escalation AS c
             WHERE c.org_id IN (0, p_org_id) AND c.layer IN ('*', p_layer)
             ORDER BY c.org_id DESC, c.layer = '*' LIMIT 1) AS chain
      JOIN memwarden_data.escalation AS e ON e.org_id = chain.org_id AND e.layer = chain.layer AND e.level = p_level;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.escalation_of IS
    'That level of the chain that holds for a layer of an organisation; no row where it has none.';

CREATE OR REPLACE FUNCTION memwarden_internal.escalate_next()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_now    timestamptz := clock_timestamp();
    v_review record;
    v_level  record;
BEGIN
    FOR v_review IN
        SELECT r.org_id, r.request_id, r.layer, r.escalated, r.due_at
          FROM memwarden_data.review AS r
         WHERE r.state = 'pending' AND r.due_at <= v_now AND r.expires_at > v_now
           AND EXISTS (SELECT FROM memwarden_internal.escalation_of(r.org_id, r.layer, r.escalated + 1) AS e
               WHERE r.due_at + e.after <= v_now)
         ORDER BY r.due_at
           FOR UPDATE OF r SKIP LOCKED
         LIMIT 1
    LOOP
        SELECT e.channel INTO v_level FROM memwarden_internal.escalation_of(v_review.org_id, v_review.layer, v_review.escalated + 1) AS e;
        UPDATE memwarden_data.review AS r SET escalated = r.escalated + 1
         WHERE r.org_id = v_review.org_id AND r.request_id = v_review.request_id;
        PERFORM memwarden_internal.record_review_event(
            v_review.org_id, v_review.request_id, 'escalated', NULL, NULL, NULL,
            jsonb_strip_nulls(jsonb_build_object('level', v_review.escalated + 1, 'channel', v_level.channel)));
        RETURN true;
    END LOOP;
    RETURN false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.escalate_next IS
    'Takes the review that is longest overdue and whose next level is due there; false when there is none. Two callers '
    'take different ones.';
GRANT EXECUTE ON FUNCTION memwarden_internal.escalate_next TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.escalate_reviews()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_escalate');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.escalate_reviews IS
    'Raises undecided reviews to the next level of their escalation and tells its channel, as a job. It is safe to run twice at once '
    'and to kill. It commits after each review, so it cannot run inside a transaction. Source: chapter 12.6.5.';
GRANT EXECUTE ON PROCEDURE memwarden.escalate_reviews TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_escalations()
RETURNS TABLE (org text, layer text, level smallint, after interval, channel text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, e.layer, e.level, e.after, e.channel
      FROM memwarden_data.escalation AS e JOIN memwarden_data.organisation AS o ON o.org_id = e.org_id
     WHERE e.org_id = 0 OR e.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.escalations IS
    'Lists the levels that reviews reach when nobody decides them, see set_escalation(). Rows of organisation global hold for all '
    'organisations that have no chain.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_escalations TO memwarden_curator, memwarden_auditor, memwarden_admin;
