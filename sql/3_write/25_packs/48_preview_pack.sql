CREATE OR REPLACE FUNCTION memwarden.preview_pack(pack text, version integer DEFAULT NULL, requests integer DEFAULT 100,
    org text DEFAULT NULL)
RETURNS TABLE (request_id uuid, layer text, class text, outcome text, approval text, allowed boolean, eligible boolean, unmet text[])
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(preview_pack.org, 'full');
    v_pack   jsonb;
BEGIN
    IF preview_pack.requests IS NULL OR preview_pack.requests NOT BETWEEN 1 AND 10000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'requests: 1 to 10,000');
    END IF;
    SELECT k.definition INTO v_pack FROM memwarden_data.pack AS k
     WHERE k.org_id = v_org_id AND k.name = preview_pack.pack AND (preview_pack.version IS NULL OR k.version = preview_pack.version)
     ORDER BY k.version DESC LIMIT 1;
    IF v_pack IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('pack %L, version %s', preview_pack.pack,
            coalesce(preview_pack.version::text, 'any')));
    END IF;
    RETURN QUERY
    SELECT r.request_id, r.layer, r.class, r.outcome::text, p.record ->> 'approval_state',
           NOT coalesce(NOT (v_pack -> 'write_classes_allowed') ? r.class, false), u.unmet = '{}', u.unmet
      FROM (SELECT w.request_id, w.layer, w.class, w.outcome, w.version_id, w.org_id, w.verdict, w.consent_check, w.confidence, w.evidence
              FROM memwarden_data.write_request AS w
             WHERE w.org_id = v_org_id AND w.outcome IN ('COMMITTED', 'MERGED', 'DEFERRED')
               AND (SELECT l.admission FROM memwarden_data.kept_layer AS l
                     WHERE l.org_id = w.org_id AND l.principal_id = 0 AND l.layer = w.layer) = 'full'
             ORDER BY w.request_id DESC LIMIT preview_pack.requests) AS r
      LEFT JOIN LATERAL (SELECT o.record FROM memwarden_data.whole_provenance AS o
                          WHERE o.org_id = r.org_id AND o.version_id = r.version_id ORDER BY o.provenance_id LIMIT 1) AS p ON true
      LEFT JOIN memwarden_data.review AS q ON q.org_id = r.org_id AND q.request_id = r.request_id
     CROSS JOIN LATERAL (SELECT memwarden_internal.unmet_thresholds(
               v_pack, r.class, coalesce((p.record ->> 'agent_confidence')::double precision, r.confidence),
               (p.record ->> 'adjusted_confidence')::double precision,
               jsonb_array_length(CASE WHEN p.record IS NULL THEN coalesce(r.evidence, '[]')
                                       ELSE jsonb_path_query_array(p.record, '$.evidence[*] ? (@.external == true)') END),
               coalesce(r.verdict <> 'no_conflict' OR q.report ? 'contradictions', false),
               coalesce(q.risk, (p.record #>> '{approval,risk}')::double precision), r.consent_check) AS unmet) AS u
     ORDER BY r.request_id DESC;
END
$function$;
COMMENT ON FUNCTION memwarden.preview_pack IS
    'Returns how a version of a pack would have treated recent requests, and changes nothing. The requests are the latest of layers '
    'with full admission that were remembered or wait. It goes by what was recorded then. A waiting request has no adjusted '
    'confidence, and so does not meet a threshold for it; the same holds for a risk that nobody assessed. version: the latest by '
    'default. requests: how many requests, 1 to 10,000; 100 by default. org: the organisation; by default the caller''s. allowed: '
    'whether the pack allows the class. eligible: whether the request would have passed by itself. unmet: the thresholds that it '
    'does not meet. Raises 42704 for an unknown pack, version or organisation, 22023 for requests, 42501 without ADMIN (full). '
    'Source: memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.preview_pack TO memwarden_curator, memwarden_admin;
