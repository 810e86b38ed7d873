-- What is stored about the references of a write, as far as its writer may know: a memory or recorded evidence that it
-- may not read and one that is not there come out alike. What that makes of each is said in Python (evidence.py).
CREATE OR REPLACE FUNCTION memwarden_internal.evidence_sources(p_principal_id bigint, p_org_id bigint, p_evidence jsonb, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_all    jsonb := '[]'::jsonb;
    v_said   jsonb;
    v_cited  jsonb;
    v_source record;
    v_at     timestamptz;
    v_issuer text;
    v_own    double precision;
BEGIN
    -- One after the other, and asked only for what is there: most writes have one reference, and it names no memory.
    FOR v_place IN 0 .. jsonb_array_length(p_evidence) - 1 LOOP
        v_said := p_evidence -> v_place;
        v_cited := CASE WHEN starts_with(v_said ->> 'uri', 'memwarden:') THEN memwarden_internal.cited(p_principal_id, p_org_id,
            v_said, p_now) END;
        v_source := memwarden_internal.source_of(p_org_id, coalesce(v_cited ->> 'uri', v_said ->> 'uri'));
        IF v_cited ? 'capture_id' THEN
            v_cited := v_cited || jsonb_build_object('words_of', memwarden_internal.whose_words(
                v_cited ->> 'role', v_cited ->> 'speaker', v_source.source_type));
        END IF;
        IF v_source.issuer_id IS NOT NULL THEN
            v_issuer := (SELECT p.name FROM memwarden_data.principal AS p WHERE p.principal_id = v_source.issuer_id
                AND p.org_id IN (0, p_org_id));
        END IF;
        IF v_own IS NULL AND (v_source.source_type IS NULL OR v_source.issuer_id IS NOT NULL OR v_said ->> 'type' = 'agent_reasoning') THEN
            v_own := (SELECT t.authority FROM memwarden_data.source_type AS t WHERE t.type = 'agent_reasoning');
        END IF;
        v_at := coalesce((v_cited ->> 'at')::timestamptz, memwarden_internal.evidence_time(v_said ->> 'accessed_at'));
        v_all := v_all || CASE num_nonnulls(v_source.issuer_id, v_source.half_life, v_at, v_own, v_cited) WHEN 0
            -- Nothing else is known of most. What is not there need not be read again.
            THEN jsonb_build_object('source_type', v_source.source_type, 'authority', v_source.authority, 'weight', v_source.weight)
            ELSE jsonb_build_object(
                'source_type', v_source.source_type, 'issuer_id', v_source.issuer_id, 'authority', v_source.authority, 'weight',
                v_source.weight,
                'half_life', extract(epoch FROM v_source.half_life)::double precision, 'issuer', CASE
                WHEN v_source.issuer_id IS NOT NULL THEN v_issuer END,
                'accessed_at', memwarden_internal.utc_text(v_at), 'age', extract(epoch FROM p_now - v_at)::double precision,
                'own_authority', v_own, 'cited', v_cited) END;
    END LOOP;
    RETURN v_all;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.evidence_sources IS
    'What is stored about each reference of a write, in their order: the source that speaks for its uri, how old it is '
    '(age and half_life in seconds), the memory or the recorded evidence that it names, and what the writer''s own word '
    'is worth, where that may matter. Source: chapter 12.2.3, 12.11.3, V9.';

CREATE OR REPLACE FUNCTION memwarden_internal.cited(p_principal_id bigint, p_org_id bigint, p_reference jsonb, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_item_id     uuid := memwarden_internal.cited_item(p_reference ->> 'uri');
    v_evidence_id uuid := memwarden_internal.cited_evidence(p_reference ->> 'uri');
BEGIN
    IF v_item_id IS NOT NULL THEN
        RETURN '{"kind": "memory"}'::jsonb || coalesce((
            SELECT to_jsonb(c) FROM (
                SELECT m.item_id, m.version_id, m.search_text AS excerpt, m.adjusted_confidence, m.recorded_at AS at,
                       m.is_current AS believed, m.is_own, least(m.authority, t.authority) AS authority,
                       m.principal_id AS recorder, m.standing, 'memory' AS words_of, m.captures,
                       (SELECT jsonb_path_query_array(p.record, '$.evidence[*] ? (@.independent == false).keyvalue()'
                                   ' ? (@.key == "evidence_id" || @.key == "capture_id").value')
                          FROM memwarden_data.provenance AS p WHERE p.org_id = m.org_id AND p.version_id = m.version_id
                         ORDER BY p.provenance_id DESC LIMIT 1) AS dependent,
                       memwarden_internal.is_independent(p_principal_id, m.principal_id) AS independent
                  FROM memwarden_internal.cited_memory(p_principal_id, p_org_id, v_item_id,
                      coalesce(p_reference ->> 'version_id', ''), p_now) AS m
                  JOIN memwarden_data.source_type AS t ON t.type = 'memory_item') AS c), '{}');
    ELSIF v_evidence_id IS NOT NULL THEN
        RETURN '{"kind": "record"}'::jsonb || coalesce((
            SELECT to_jsonb(c) FROM (
                SELECT r.evidence_id, r.uri, r.type, r.version, r.excerpt, r.issuer_id, r.accessed_at AS at,
                    r.is_intact AS believed, t.authority, r.issuer_id AS recorder,
                    CASE r.type WHEN 'document' THEN 'document' WHEN 'human_input' THEN 'person'
                                WHEN 'agent_reasoning' THEN 'model' ELSE 'tool' END AS words_of,
                    memwarden_internal.is_independent(p_principal_id, r.issuer_id) AS independent,
                    memwarden_internal.is_application(r.issuer_id) AS by_application
                  FROM memwarden_internal.cited_record(p_principal_id, p_org_id, v_evidence_id) AS r
                  JOIN memwarden_data.source_type AS t ON t.type = r.type) AS c), '{}');
    ELSIF starts_with(p_reference ->> 'uri', 'memwarden:capture/') THEN
        -- What it is worth says the registry of its source, as for any other uri.
        RETURN '{"kind": "capture"}'::jsonb || coalesce((
            SELECT to_jsonb(c) FROM (
                SELECT r.capture_id, r.uri, r.excerpt, r.issuer_id, r.speaker, r.role, r.at, true AS believed, 1 AS authority,
                       r.issuer_id AS recorder,
                       memwarden_internal.is_independent(p_principal_id, r.issuer_id) AS independent,
                       memwarden_internal.is_application(r.issuer_id) AS by_application
                  FROM memwarden_internal.cited_capture(p_principal_id, p_org_id, p_reference) AS r) AS c), '{}');
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cited IS
    'What the store holds of the memory, the recorded evidence or the capture that a reference names: its kind (memory, '
    'record, capture), and the rest where the writer can read it and it is there. Of a capture: speaker, role and time as '
    'they were recorded, and issuer_id, who recorded it. Of a memory: dependent, what it cites and its writer''s side '
    'recorded. authority: the most that it can be worth. NULL for a reference '
    'to anything else.';

CREATE OR REPLACE FUNCTION memwarden_internal.cited_record(p_principal_id bigint, p_org_id bigint, p_evidence_id uuid)
RETURNS TABLE (evidence_id uuid, uri text, type text, version text, accessed_at timestamptz, excerpt text, issuer_id bigint,
    is_intact boolean)
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.evidence_id, e.uri, e.type, e.version, e.accessed_at, e.excerpt, e.issuer_id,
           memwarden_internal.is_as_recorded(e.org_id, e.evidence_id)
      FROM memwarden_data.said_record AS e
     WHERE e.org_id IN (0, p_org_id) AND e.evidence_id = p_evidence_id AND e.excerpt IS NOT NULL
       AND memwarden_internal.may_read(p_principal_id, e.scope_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cited_record IS
    'Recorded evidence, where the principal reads its scope and this server its words, and whether it is what was recorded.';

CREATE OR REPLACE FUNCTION memwarden_internal.cited_memory(
    p_principal_id bigint, p_org_id bigint, p_item_id uuid, p_version_id text, p_now timestamptz)
RETURNS TABLE (org_id bigint, item_id uuid, version_id uuid, search_text text, authority double precision,
    adjusted_confidence double precision,
               recorded_at timestamptz, is_current boolean, is_own boolean, principal_id bigint, standing text,
               captures uuid[])
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT i.org_id, i.item_id, v.version_id, v.search_text, i.authority::double precision,
        i.adjusted_confidence::double precision, lower(v.recorded_during),
           i.status = 'ACTIVE' AND i.version_id = v.version_id AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND (upper_inf(v.valid_during) OR upper(v.valid_during) > p_now)
           AND NOT memwarden_internal.is_stale(i.org_id, v.version_id),
           -- What an agent wrote and what no outside source bears out is its own word, whatever it calls it.
           v.principal_id = p_principal_id AND NOT EXISTS (
               SELECT FROM memwarden_data.provenance AS p
                WHERE p.org_id = v.org_id AND p.version_id = v.version_id AND p.record ->> 'evidence_quality' IN ('PRIMARY', 'SECONDARY')),
           v.principal_id,
           CASE WHEN i.contradicted AND memwarden_internal.stands_disputed(i.org_id, i.item_id) THEN 'disputed'
                ELSE i.standing::text END,
           ARRAY(SELECT memwarden_internal.cited_capture_id(e.reference ->> 'uri')
                   FROM jsonb_array_elements(v.evidence) AS e (reference) WHERE e.reference ? 'recorded')
      FROM memwarden_data.item AS i
      JOIN memwarden_data.said_version AS v
        ON v.org_id = i.org_id AND v.item_id = i.item_id
       AND v.version_id = CASE WHEN p_version_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN p_version_id::uuid
           ELSE i.version_id END
     WHERE i.org_id IN (0, p_org_id) AND i.item_id = p_item_id
       AND memwarden_internal.may_read(p_principal_id, i.scope_id)
       AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cited_memory IS
    'A memory that the principal may read, in the version of that number or as it is now. is_current: it stands, holds '
    'at p_now and rests on nothing that was taken back. is_own: the principal wrote it, and no outside source bears it '
    'out. principal_id: who wrote it. standing: how firmly it may be said. captures: those that it rests on.';

CREATE OR REPLACE FUNCTION memwarden_internal.cited_evidence(p_uri text)
RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_uri ~ '^memwarden:evidence/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
    THEN substr(p_uri, 20)::uuid END;
COMMENT ON FUNCTION memwarden_internal.cited_evidence IS
    'The recorded evidence that a reference memwarden:evidence/<uuid> names; NULL for any other.';

CREATE OR REPLACE FUNCTION memwarden_internal.evidence_time(p_text text)
RETURNS timestamptz
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SECURITY INVOKER
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
COMMENT ON FUNCTION memwarden_internal.evidence_time IS
    'A time as RFC 3339 writes it, with its zone, or a date (UTC); NULL for any other text.';
