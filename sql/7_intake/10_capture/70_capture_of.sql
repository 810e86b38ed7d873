CREATE OR REPLACE FUNCTION memwarden.capture_of(item_id uuid)
RETURNS TABLE (version integer, capture_id uuid, source text, session_id text, captured_at timestamptz, extractor text,
    extractor_version integer, text_kept boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    RETURN QUERY
    SELECT v.version::integer, d.capture_id, c.source, c.session_id, c.captured_at, e.extractor, e.version, c.content IS NOT NULL
      FROM memwarden_data.item AS i
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.item_id = i.item_id
      JOIN memwarden_data.candidate AS d ON d.org_id = v.org_id AND d.request_id = v.request_id
      JOIN memwarden_data.extractor AS e ON e.extractor_id = d.extractor_id AND e.org_id IN (0, d.org_id)
      LEFT JOIN memwarden_data.capture AS c ON c.org_id = d.org_id AND c.capture_id = d.capture_id
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = capture_of.item_id
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL
     ORDER BY v.version DESC;
END
$function$;
COMMENT ON FUNCTION memwarden.capture_of(uuid) IS
    'Lists the captures that the versions of a memory were extracted from, newest first. It returns nothing of what '
    'the captures say. No row is returned for a memory that was not extracted, or that the caller may not see. '
    'source, session_id, captured_at: NULL once the log no longer keeps the capture. extractor, extractor_version: '
    'which version of which extractor read it. text_kept: whether the log still keeps the text of the capture. Raises '
    '28000 without an identity. Source: F2, F8.';
REVOKE ALL ON FUNCTION memwarden.capture_of(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden.capture_of(uuid) TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.cited_capture_id(p_uri text)
RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_uri ~ '^memwarden:capture/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
    THEN substr(p_uri, 19)::uuid END;
COMMENT ON FUNCTION memwarden_internal.cited_capture_id(text) IS
    'The capture that a reference memwarden:capture/<uuid> names; NULL for any other.';
REVOKE ALL ON FUNCTION memwarden_internal.cited_capture_id(text) FROM PUBLIC;

-- Its own captures alone: how far a claim is borne out would tell a stranger what a capture says.
CREATE OR REPLACE FUNCTION memwarden_internal.cited_capture(p_principal_id bigint, p_org_id bigint, p_capture_id uuid, p_excerpt text)
RETURNS TABLE (uri text, excerpt text, issuer_id bigint, captured_at timestamptz, is_intact boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'capture:' || c.source || '/' || c.capture_id,
           -- The writer says where to look, and no words of its own are believed.
           substr(t.said, greatest(1, CASE WHEN p_excerpt <> '' THEN strpos(t.said, p_excerpt) ELSE 0 END - 2000), 8000),
           c.principal_id, c.captured_at, c.content IS NOT NULL
      FROM memwarden_data.capture AS c
     CROSS JOIN LATERAL (SELECT memwarden_internal.said_in(c.content) AS said) AS t
     WHERE c.org_id = p_org_id AND c.capture_id = p_capture_id AND c.principal_id = p_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cited_capture(bigint, bigint, uuid, text) IS
    'A capture of the principal''s own as evidence: its uri among the registered sources (capture:SOURCE/ID), 8,000 '
    'characters of what it says around the excerpt that was named, and whether its text is still there.';
REVOKE ALL ON FUNCTION memwarden_internal.cited_capture(bigint, bigint, uuid, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.said_in(p_content jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN CASE jsonb_typeof(p_content)
        WHEN 'string' THEN p_content #>> '{}'
        WHEN 'array' THEN (SELECT string_agg(memwarden_internal.said_in(e.element), E'\n' ORDER BY e.place)
                             FROM jsonb_array_elements(p_content) WITH ORDINALITY AS e (element, place))
        WHEN 'object' THEN
            CASE WHEN p_content ? 'text' THEN memwarden_internal.said_in(p_content -> 'text')
                 WHEN p_content ? 'messages' THEN memwarden_internal.said_in(p_content -> 'messages')
                 WHEN p_content ? 'role' AND p_content ? 'content' THEN memwarden_internal.said_in(p_content -> 'content')
                 ELSE (SELECT string_agg(f.key || ': ' || memwarden_internal.said_in(f.value), E'\n' ORDER BY f.key)
                     FROM jsonb_each(p_content) AS f) END
        ELSE p_content #>> '{}' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.said_in(jsonb) IS
    'What a captured content says, as text: of turns what was said, of other objects their names and values.';
REVOKE ALL ON FUNCTION memwarden_internal.said_in(jsonb) FROM PUBLIC;
