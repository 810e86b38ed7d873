-- What is not as it must be: ids and numbers, never content. A day, or an hour, is what the jobs have to act.
CREATE OR REPLACE FUNCTION memwarden_internal.retention_breaches(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (object_id uuid, detail jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT d.item_id, jsonb_build_object('item_id', d.item_id, 'rule', d.rule, 'due_since', d.due_since, 'action', d.action)
      FROM memwarden_internal.all_due(p_org_id, p_now) AS d
     WHERE NOT d.held AND d.due_since < p_now - interval '1 day';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.retention_breaches IS
    'Memories that should have ended more than a day ago, and that no legal hold keeps.';

CREATE OR REPLACE FUNCTION memwarden_internal.unfinished_erasures(p_org_id bigint)
RETURNS TABLE (object_id uuid, detail jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Whatever brought it back: part of a backup, a subscription, somebody with a superuser's rights. What retention had deleted and
    -- is back is beyond its retention.
    RETURN QUERY
    SELECT e.erasure_id, jsonb_build_object('erasure_id', e.erasure_id, 'erased_at', e.erased_at, 'items', l.items, 'requests', l.requests,
                                            'evidence', l.evidence, 'registered', l.registered)
      FROM memwarden_data.erasure AS e
     CROSS JOIN LATERAL (
           SELECT (SELECT count(*) FROM memwarden_data.erased_item AS g
                    WHERE g.erasure_id = e.erasure_id
                      AND EXISTS (SELECT FROM memwarden_data.version AS v WHERE v.org_id = g.org_id AND v.item_id = g.item_id)) AS items,
                  (SELECT count(*) FROM memwarden_data.erased_request AS q
                     JOIN memwarden_data.write_request AS r ON r.request_id = q.request_id AND r.org_id = q.org_id
                    WHERE q.erasure_id = e.erasure_id AND num_nonnulls(r.content, r.subject, r.evidence) > 0) AS requests,
                  (SELECT count(*) FROM memwarden_internal.sources_among(ARRAY[p_org_id], ARRAY(
                       SELECT x.evidence_id FROM memwarden_data.erased_evidence AS x WHERE x.erasure_id = e.erasure_id))) AS evidence,
                  (SELECT count(*) FROM memwarden_data.erased_subject AS t
                     JOIN memwarden_data.registered_subject AS r ON r.org_id = t.org_id AND r.subject_hash = t.subject_hash
                    WHERE t.erasure_id = e.erasure_id AND r.registered_at <= e.erased_at) AS registered) AS l
     WHERE e.org_id = p_org_id AND e.cause = 'ERASURE' AND l.items + l.requests + l.evidence + l.registered > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unfinished_erasures IS
    'Erasures of which something is here: memories, contents of requests, or evidence.';

CREATE OR REPLACE FUNCTION memwarden_internal.overlooked_withdrawals(p_org_id bigint, p_now timestamptz)
RETURNS TABLE (object_id uuid, detail jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT c.consent_id, jsonb_build_object('consent_id', c.consent_id, 'purpose', c.purpose, 'withdrawn_at', c.recorded_at)
      FROM memwarden_data.consent_state AS s
      JOIN memwarden_data.consent AS c ON c.org_id = s.org_id AND c.consent_id = s.consent_id
     WHERE s.org_id = p_org_id AND s.state = 'withdrawn' AND s.enforced_at IS NULL AND c.recorded_at < p_now - interval '1 hour';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.overlooked_withdrawals IS
    'Withdrawals of consent, older than an hour, that are not carried out.';

CREATE OR REPLACE FUNCTION memwarden_internal.waits_for_keys(p_org_id bigint)
RETURNS TABLE (object_id uuid, detail jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_held bigint := 0;
BEGIN
    RETURN QUERY
    SELECT b.erasure_id, jsonb_build_object('erasure_id', b.erasure_id, 'asked_at', b.asked_at, 'unread', b.unread)
      FROM memwarden_data.blocked_erasure AS b WHERE b.org_id = p_org_id AND b.unread > 0;
    IF EXISTS (SELECT FROM memwarden_data.legal_hold AS h WHERE h.org_id = p_org_id AND h.lifted_at IS NULL AND h.texts IS NOT NULL) THEN
        v_held := memwarden_internal.count_unread(p_org_id);
    END IF;
    IF v_held > 0 THEN
        RETURN QUERY SELECT NULL::uuid, jsonb_build_object('memories', v_held);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.waits_for_keys IS
    'What missing keys of subjects hold up: erasures that could not read all, and, while a hold asks for texts, the end of memories that '
    'cannot be read.';

CREATE OR REPLACE FUNCTION memwarden_internal.breaches(p_org_id bigint, p_now timestamptz, p_kind text DEFAULT NULL)
RETURNS TABLE (kind text, object_id uuid, detail jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF coalesce(p_kind, 'RETENTION_BREACH') = 'RETENTION_BREACH' THEN
        RETURN QUERY SELECT 'RETENTION_BREACH', b.object_id, b.detail FROM memwarden_internal.retention_breaches(p_org_id, p_now) AS b;
    END IF;
    IF coalesce(p_kind, 'ERASURE_UNFINISHED') = 'ERASURE_UNFINISHED' THEN
        RETURN QUERY SELECT 'ERASURE_UNFINISHED', b.object_id, b.detail FROM memwarden_internal.unfinished_erasures(p_org_id) AS b;
    END IF;
    IF coalesce(p_kind, 'RESIDENCY_BREACH') = 'RESIDENCY_BREACH' THEN
        RETURN QUERY
        SELECT 'RESIDENCY_BREACH', NULL::uuid, jsonb_build_object(
                   'class', b.class, 'place', b.place, 'region', b.region, 'allowed', to_jsonb(b.allowed), 'memories', b.memories,
                   'since', b.since)
          FROM memwarden_internal.residency_breaches() AS b WHERE b.org_id = p_org_id;
    END IF;
    IF coalesce(p_kind, 'CONSENT_NOT_ENFORCED') = 'CONSENT_NOT_ENFORCED' THEN
        RETURN QUERY
        SELECT 'CONSENT_NOT_ENFORCED', b.object_id, b.detail FROM memwarden_internal.overlooked_withdrawals(p_org_id, p_now) AS b;
    END IF;
    IF coalesce(p_kind, 'KEYS_UNAVAILABLE') = 'KEYS_UNAVAILABLE' THEN
        RETURN QUERY SELECT 'KEYS_UNAVAILABLE', b.object_id, b.detail FROM memwarden_internal.waits_for_keys(p_org_id) AS b;
    END IF;
    IF coalesce(p_kind, 'MEMORY_HARMS') = 'MEMORY_HARMS' THEN
        RETURN QUERY
        SELECT 'MEMORY_HARMS', NULL::uuid, jsonb_build_object('impact', c.impact, 'high', c.high, 'given', c.given, 'withheld', c.withheld)
          FROM memwarden_internal.correctness_of(p_org_id, p_now - interval '30 days', p_now) AS c WHERE c.task = '*' AND c.high < 0;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.breaches IS
    'All breaches of an organisation at a moment, of one kind or of all. object_id: the memory, the erasure or '
    'the consent; NULL for a place where memories lie that may not lie there, where tasks go surely better without memory, and where '
    'memories cannot be read.';
