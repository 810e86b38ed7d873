CREATE OR REPLACE FUNCTION memwarden_internal.list_captures()
RETURNS TABLE (capture_id uuid, source text, scope text, external_id text, session_id text, trace_id text, captured_at timestamptz,
    recorded_at timestamptz,
               bytes integer, content_hash bytea, masked jsonb, text_kept boolean, candidates integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
BEGIN
    RETURN QUERY
    SELECT c.capture_id, c.source, s.path, c.external_id, c.session_id, c.trace_id, c.captured_at, c.recorded_at, c.content_bytes,
        c.content_hash, c.masked,
           c.content IS NOT NULL,
           (SELECT sum(x.candidates)::integer FROM memwarden_data.extraction AS x WHERE x.org_id = c.org_id AND x.capture_id = c.capture_id)
      FROM memwarden_data.capture AS c JOIN memwarden_data.scope AS s ON s.scope_id = c.scope_id
     WHERE c.org_id = ANY (v_orgs) AND c.principal_id = v_principal_id;
END
$function$;
COMMENT ON VIEW memwarden.captures IS
    'Lists the caller''s captures, without their text. It shows where a capture came from, when, its size and hash, what was masked '
    'in it, and whether the text is still kept. content_hash: SHA-256; of an encrypted capture an HMAC under the key of its subject. '
    'candidates counts the candidates that came of it; it is null until somebody has read '
    'the capture.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_captures TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.list_extractors()
RETURNS TABLE (org text, extractor text, version integer, source text, method text, implementation text, layer text,
    floor double precision, enabled boolean, defined_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, e.extractor, e.version, e.source, e.method, e.implementation, e.layer, e.floor, e.enabled, e.defined_at
      FROM memwarden_data.extractor AS e JOIN memwarden_data.organisation AS o ON o.org_id = e.org_id
     WHERE v_all OR e.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.extractors IS
    'Lists the extractors in all their versions, see define_extractor(). Rows of organisation global hold for all organisations.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_extractors
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_extraction_statistics()
RETURNS TABLE (org text, extractor text, version integer, source text, captures bigint, failed bigint, candidates bigint, dropped bigint,
               committed bigint, waiting bigint, refused bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, e.extractor, e.version, c.source, count(*), count(x.fault), sum(x.candidates), sum(x.dropped),
           coalesce(sum(r.committed), 0)::bigint, coalesce(sum(r.waiting), 0)::bigint, coalesce(sum(r.refused), 0)::bigint
      FROM memwarden_data.extraction AS x
      JOIN memwarden_data.extractor AS e ON e.extractor_id = x.extractor_id AND e.org_id IN (0, x.org_id)
      JOIN memwarden_data.organisation AS o ON o.org_id = x.org_id
      LEFT JOIN memwarden_data.capture AS c ON c.org_id = x.org_id AND c.capture_id = x.capture_id
     CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE w.outcome IN ('COMMITTED', 'MERGED')) AS committed,
               count(*) FILTER (WHERE w.outcome = 'DEFERRED') AS waiting,
                  count(*) FILTER (WHERE w.outcome IN ('REJECTED', 'DEADLINE_EXCEEDED')) AS refused
             FROM memwarden_data.candidate AS d JOIN memwarden_data.write_request AS w ON w.request_id = d.request_id
            WHERE d.org_id = x.org_id AND d.capture_id = x.capture_id AND d.extractor_id = x.extractor_id) AS r
     WHERE x.org_id = ANY (v_orgs)
     GROUP BY o.name, e.extractor, e.version, c.source;
END
$function$;
COMMENT ON VIEW memwarden.extraction_statistics IS
    'Shows the results of each version of an extractor, by source. It counts the captures read, the failures, the candidates asked '
    'for and dropped, and what became of their writes.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_extraction_statistics
    TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.capture_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_all          boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY SELECT 'captures', 'warning', format(
            '%s captures of %s hold %s parts in a shape that the built-in rules do not know: docs/capture.md names the shapes that they '
            'know; define_extractor() makes an extractor that reads others', count(*), string_agg(DISTINCT c.source, ', '), sum(x.unread))
      FROM memwarden_data.extraction AS x
      JOIN memwarden_data.capture AS c ON c.org_id = x.org_id AND c.capture_id = x.capture_id
     WHERE x.unread > 0 AND c.content IS NOT NULL AND (v_all OR x.principal_id = v_principal_id)
       AND NOT EXISTS (SELECT FROM memwarden_data.extraction AS o
                        WHERE o.org_id = x.org_id AND o.capture_id = x.capture_id AND o.extractor_id <> x.extractor_id AND o.fault IS NULL)
    HAVING count(*) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.capture_status IS
    'Captures, the caller''s own and for administrators all, that hold something in a shape that no extractor has read, as long as '
    'their text is kept; no row where there are none.';
