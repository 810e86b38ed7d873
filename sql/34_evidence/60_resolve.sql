-- What the references of a write are, as far as its writer may know: a memory or recorded evidence that it may not
-- read and one that is not there come out alike.
CREATE OR REPLACE FUNCTION memwarden_internal.resolve_evidence(p_principal_id bigint, p_org_id bigint, p_evidence jsonb, p_now timestamptz)
RETURNS TABLE (ordinal integer, claimed_type text, type text, uri text, version text, accessed_at timestamptz, excerpt text,
               authority double precision, half_life interval, weight double precision, registered boolean, believed boolean, self_made boolean,
               item_org_id bigint, item_id uuid, version_id uuid, adjusted_confidence double precision, evidence_id uuid, issuer_id bigint, issuer text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 2
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT g.ordinal::integer, g.claimed_type, w.type, coalesce(r.uri, g.uri), coalesce(r.version, g.version),
           coalesce(m.recorded_at, r.accessed_at, g.accessed_at, p_now),
           CASE WHEN g.item_id IS NOT NULL THEN m.search_text WHEN g.evidence_id IS NOT NULL THEN r.excerpt ELSE g.excerpt END,
           CASE WHEN m.item_id IS NOT NULL THEN least(m.authority, t.authority)
                WHEN g.item_id IS NOT NULL OR g.evidence_id IS NOT NULL AND r.evidence_id IS NULL THEN 0
                WHEN w.is_spoken_for THEN least(s.authority, CASE WHEN w.type <> s.source_type THEN t.authority ELSE 1 END)
                ELSE t.authority END,
           CASE WHEN w.is_spoken_for THEN s.half_life END,
           CASE WHEN w.is_spoken_for THEN s.weight ELSE 1 END,
           w.is_spoken_for OR m.item_id IS NOT NULL,
           -- Of no memory that is over, and of nothing that was altered.
           coalesce(m.is_current, r.is_intact, g.item_id IS NULL AND g.evidence_id IS NULL),
           w.type = 'agent_reasoning' OR coalesce(m.is_own, false),
           m.org_id, m.item_id, m.version_id, m.adjusted_confidence, r.evidence_id, CASE WHEN w.is_spoken_for THEN s.issuer_id END,
           CASE WHEN w.is_spoken_for THEN (SELECT p.name FROM memwarden_data.principal AS p
                                            WHERE p.principal_id = s.issuer_id AND p.org_id IN (0, p_org_id)) END
      FROM (SELECT e.ordinality - 1 AS ordinal, e.reference ->> 'type' AS claimed_type, e.reference ->> 'uri' AS uri,
                   e.reference ->> 'version' AS version, e.reference ->> 'excerpt' AS excerpt, e.reference ->> 'version_id' AS version_id,
                   memwarden_internal.evidence_time(e.reference ->> 'accessed_at') AS accessed_at,
                   memwarden_internal.cited_item(e.reference ->> 'uri') AS item_id,
                   memwarden_internal.cited_evidence(e.reference ->> 'uri') AS evidence_id
              FROM jsonb_array_elements(p_evidence) WITH ORDINALITY AS e (reference)) AS g
      -- Functions, so that each is asked of what is named and of nothing else.
      LEFT JOIN LATERAL memwarden_internal.cited_record(p_principal_id, p_org_id, g.evidence_id) AS r ON true
      LEFT JOIN LATERAL memwarden_internal.cited_memory(p_principal_id, p_org_id, g.item_id, coalesce(g.version_id, ''), p_now) AS m ON true
     CROSS JOIN LATERAL memwarden_internal.source_of(p_org_id, coalesce(r.uri, g.uri)) AS s
     CROSS JOIN LATERAL (
          SELECT CASE WHEN g.item_id IS NOT NULL THEN 'memory_item'
                      -- Against itself a writer is believed.
                      WHEN q.is_spoken_for AND g.claimed_type IS DISTINCT FROM 'agent_reasoning' THEN coalesce(r.type, s.source_type)
                      ELSE 'agent_reasoning' END AS type,
                 q.is_spoken_for
            FROM (SELECT g.item_id IS NULL AND s.source_type IS NOT NULL
                         AND (s.issuer_id IS NULL OR s.issuer_id = coalesce(r.issuer_id, p_principal_id)) AS is_spoken_for) AS q) AS w
      JOIN memwarden_data.source_type AS t ON t.type = w.type
     ORDER BY g.ordinal;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.resolve_evidence(bigint, bigint, jsonb, timestamptz) IS
    'What each reference of a write is, where it comes from and what that is worth by the registry, whatever the writer says of it. '
    'type: the source''s where its issuer speaks (the writer itself, or who recorded it; anybody, where the source has none), else agent_reasoning. '
    'believed: false for a memory that is over or rests on one that was taken back, for recorded evidence that was altered, and for what the writer cannot read or is not there. '
    'self_made: the writer''s own reasoning, or a memory of its own that no outside source bears out. Source: chapter 12.2.3, 12.11.3, V9.';
REVOKE ALL ON FUNCTION memwarden_internal.resolve_evidence(bigint, bigint, jsonb, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.cited_record(p_principal_id bigint, p_org_id bigint, p_evidence_id uuid)
RETURNS TABLE (evidence_id uuid, uri text, type text, version text, accessed_at timestamptz, excerpt text, issuer_id bigint, is_intact boolean)
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.evidence_id, e.uri, e.type, e.version, e.accessed_at, e.excerpt, e.issuer_id,
           memwarden_internal.is_as_recorded(e.org_id, e.evidence_id)
      FROM memwarden_data.evidence AS e
     WHERE e.org_id IN (0, p_org_id) AND e.evidence_id = p_evidence_id
       AND memwarden_internal.may_read(p_principal_id, e.scope_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cited_record(bigint, bigint, uuid) IS 'Recorded evidence, where the principal reads its scope, and whether it is what was recorded.';
REVOKE ALL ON FUNCTION memwarden_internal.cited_record(bigint, bigint, uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.cited_memory(
    p_principal_id bigint, p_org_id bigint, p_item_id uuid, p_version_id text, p_now timestamptz)
RETURNS TABLE (org_id bigint, item_id uuid, version_id uuid, search_text text, authority double precision, adjusted_confidence double precision,
               recorded_at timestamptz, is_current boolean, is_own boolean)
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT i.org_id, i.item_id, v.version_id, v.search_text, i.authority, i.adjusted_confidence, lower(v.recorded_during),
           i.status = 'ACTIVE' AND i.version_id = v.version_id AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND (upper_inf(v.valid_during) OR upper(v.valid_during) > p_now)
           AND NOT memwarden_internal.is_stale(i.org_id, v.version_id),
           -- What an agent wrote and what no outside source bears out is its own word, whatever it calls it.
           v.principal_id = p_principal_id AND NOT EXISTS (
               SELECT FROM memwarden_data.provenance AS p
                WHERE p.org_id = v.org_id AND p.version_id = v.version_id AND p.record ->> 'evidence_quality' IN ('PRIMARY', 'SECONDARY'))
      FROM memwarden_data.item AS i
      JOIN memwarden_data.version AS v
        ON v.org_id = i.org_id AND v.item_id = i.item_id
       AND v.version_id = CASE WHEN p_version_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN p_version_id::uuid ELSE i.version_id END
     WHERE i.org_id IN (0, p_org_id) AND i.item_id = p_item_id
       AND memwarden_internal.may_read(p_principal_id, i.scope_id)
       AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cited_memory(bigint, bigint, uuid, text, timestamptz) IS
    'A memory that the principal may read, in the version of that number or as it is now. is_current: it stands, holds at p_now and rests on nothing that was taken back. is_own: the principal wrote it, and no outside source bears it out.';
REVOKE ALL ON FUNCTION memwarden_internal.cited_memory(bigint, bigint, uuid, text, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.cited_evidence(p_uri text)
RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_uri ~ '^memwarden:evidence/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' THEN substr(p_uri, 20)::uuid END;
COMMENT ON FUNCTION memwarden_internal.cited_evidence(text) IS 'The recorded evidence that a reference memwarden:evidence/<uuid> names; NULL for any other.';
REVOKE ALL ON FUNCTION memwarden_internal.cited_evidence(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.evidence_time(p_text text)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_text text := upper(p_text);
BEGIN
    IF v_text ~ E'^\\d{4}-\\d\\d-\\d\\d$' THEN
        -- Not the session's zone: the writer could set it.
        v_text := v_text || 'T00:00:00Z';
    ELSIF v_text !~ E'^\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d(:?\\d\\d)?)$' THEN
        RETURN NULL;
    END IF;
    RETURN CASE WHEN pg_input_is_valid(v_text, 'timestamptz') THEN v_text::timestamptz END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.evidence_time(text) IS 'A time as RFC 3339 writes it, with its zone, or a date (UTC); NULL for any other text.';
REVOKE ALL ON FUNCTION memwarden_internal.evidence_time(text) FROM PUBLIC;
