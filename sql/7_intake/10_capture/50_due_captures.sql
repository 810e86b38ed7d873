-- Which captures of a principal an extractor has still to read, and in which version. What was captured is read by what was the
-- newest version then, never by that of today, unless one is named.
CREATE OR REPLACE FUNCTION memwarden_internal.due_captures(
    p_principal_id bigint, p_methods text[], p_extractor text, p_version integer, p_source text, p_since timestamptz,
        p_until timestamptz, p_count integer)
RETURNS TABLE (org_id bigint, capture_id uuid, extractor_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_org_id bigint := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id);
BEGIN
    RETURN QUERY
    SELECT c.org_id, c.capture_id, e.extractor_id
      FROM memwarden_data.capture AS c
      JOIN memwarden_data.extractor AS e
        ON e.org_id IN (0, v_org_id) AND e.enabled AND e.source IN ('*', c.source)
     WHERE c.org_id = v_org_id AND c.principal_id = p_principal_id AND c.content IS NOT NULL
       -- What this server cannot read stays due until its keys are back.
       AND (c.sealed IS NULL OR memwarden_internal.unsealed(c.subject_key_id, c.sealed) ? 'said')
       AND (p_source IS NULL OR c.source = p_source)
       AND (p_since IS NULL OR c.captured_at >= p_since) AND (p_until IS NULL OR c.captured_at < p_until)
       AND e.method = ANY (p_methods) AND (p_extractor IS NULL OR e.extractor = p_extractor)
       AND e.version = coalesce(p_version, (
               SELECT max(v.version) FROM memwarden_data.extractor AS v
                WHERE v.org_id = e.org_id AND v.extractor = e.extractor AND v.defined_at <= c.recorded_at))
       AND NOT (e.org_id = 0 AND EXISTS (SELECT FROM memwarden_data.extractor AS o WHERE o.org_id = v_org_id AND v_org_id <> 0
           AND o.extractor = e.extractor))
       AND NOT EXISTS (SELECT FROM memwarden_data.extraction AS x
                        WHERE x.org_id = c.org_id AND x.capture_id = c.capture_id AND x.extractor_id = e.extractor_id
                          AND (x.fault IS NULL OR x.unread > 0 OR x.attempts >= 3))
     ORDER BY c.capture_id, e.extractor_id
     LIMIT p_count
       -- Another run reads others.
       FOR NO KEY UPDATE OF c SKIP LOCKED;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.due_captures IS
    'Up to p_count pairs of a capture of the principal and an extractor that has still to read it, the captures locked; '
    'passed over are those that another run holds. Failed ones are due until the third attempt.';

CREATE OR REPLACE FUNCTION memwarden_internal.shown_capture(p_org_id bigint, p_capture_id uuid)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT jsonb_build_object(
                       'capture_id', c.capture_id, 'source', c.source, 'session_id', c.session_id,
                       'captured_at', memwarden_internal.utc_text(c.captured_at), 'content', c.content)
              FROM memwarden_data.said_capture AS c WHERE c.org_id = p_org_id AND c.capture_id = p_capture_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.shown_capture IS 'A capture as extractors are shown it.';

CREATE OR REPLACE FUNCTION memwarden.claim_captures(
    plugin text, source text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    extractor text DEFAULT NULL, version integer DEFAULT NULL, k integer DEFAULT 10)
RETURNS TABLE (capture jsonb, extractor_name text, extractor_version integer, extractor_org text, settings jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    IF claim_captures.k IS NULL OR claim_captures.k NOT BETWEEN 1 AND 1000 OR claim_captures.plugin IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'plugin: its name; k: 1 to 1,000');
    END IF;
    RETURN QUERY
    SELECT memwarden_internal.shown_capture(d.org_id, d.capture_id), e.extractor, e.version, o.name, e.settings
      FROM memwarden_internal.due_captures(v_principal_id, '{plugin}', claim_captures.extractor, claim_captures.version,
               claim_captures.source, claim_captures.since, claim_captures.until, 1000) AS d
      JOIN memwarden_data.extractor AS e ON e.extractor_id = d.extractor_id AND e.org_id IN (0, d.org_id)
      JOIN memwarden_data.organisation AS o ON o.org_id = e.org_id
     WHERE e.implementation = claim_captures.plugin
     LIMIT claim_captures.k;
END
$function$;
COMMENT ON FUNCTION memwarden.claim_captures IS
    'Claims captures that a plug-in extractor has still to read, for the program memwarden extract. These are '
    'captures of the caller''s own, as far as the log still holds their text. Another transaction that asks meanwhile '
    'gets other captures. submit_candidates() reports what the plug-in found in a capture. Later calls leave that '
    'capture out. plugin: the name of the plug-in, for its extractors of method plugin. source, since, until: only '
    'captures from this source and of this time (by captured_at). extractor, version: only for this extractor, or '
    'this version of it; without a version, each capture is for the version that was the newest when it came. k: 1 to '
    '1,000; default 10. capture: {"capture_id", "source", "session_id", "captured_at", "content"}. Raises 22023 for '
    'arguments out of range; 28000 without an identity. Source: F2.';
GRANT EXECUTE ON FUNCTION memwarden.claim_captures TO memwarden_agent, memwarden_curator;
