CREATE OR REPLACE FUNCTION memwarden_internal.list_canonical_sources()
RETURNS TABLE (org text, name text, category text, kind text, relation text, key_column text, text_column text, version_column text,
               threshold double precision, enabled boolean, state text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, s.name, s.category, s.kind, coalesce(memwarden_internal.canonical_relation(s.source_id)::regclass::text, s.relation),
           s.key_column, s.text_column, s.version_column, s.threshold, s.enabled, memwarden_internal.canonical_state(s.source_id)
      FROM memwarden_data.canonical_source AS s JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
     WHERE v_all OR s.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.canonical_sources IS
    'Lists the tables whose content memories may refer to and may not repeat (canonical sources). Rows of organisation global hold '
    'for all organisations.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_canonical_sources
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.canonical_state(p_source_id integer)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_relation oid := memwarden_internal.canonical_relation(p_source_id);
    v_source   record;
    v_schema   oid;
    v_is_there boolean;
BEGIN
    SELECT s.text_column, array_remove(ARRAY[s.key_column, s.text_column, s.version_column], NULL) AS columns INTO v_source
      FROM memwarden_data.canonical_source AS s WHERE s.source_id = p_source_id;
    SELECT c.relnamespace INTO v_schema FROM pg_class AS c WHERE c.oid = v_relation;
    v_is_there := NOT EXISTS (
        SELECT FROM unnest(v_source.columns) AS wanted (name)
         WHERE NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = v_relation AND a.attname = wanted.name AND NOT a.attisdropped));
    RETURN CASE WHEN v_relation IS NULL OR NOT v_is_there THEN 'missing'
                WHEN NOT has_schema_privilege('memwarden_owner', v_schema, 'USAGE')
                  OR NOT has_column_privilege('memwarden_owner', v_relation, v_source.text_column, 'SELECT')
                  OR row_security_active(v_relation) THEN 'unreadable'
                WHEN NOT memwarden_internal.has_trigram_index(v_relation, v_source.text_column) THEN 'not indexed'
                ELSE 'ok' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.canonical_state IS
    'ok; not indexed: every write reads the table; unreadable: memwarden_owner lacks a right, or row security hides '
    'rows; missing: the table was dropped, or a column of it dropped or renamed.';

CREATE OR REPLACE FUNCTION memwarden_internal.canonical_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'canonical source ' || l.name,
           CASE WHEN NOT l.enabled OR l.state = 'not indexed' THEN 'warning' WHEN l.state = 'ok' THEN 'ok' ELSE 'missing' END,
           CASE WHEN NOT l.enabled THEN 'not compared with writes; change_canonical_source(enabled => true)'
                WHEN l.state = 'ok' THEN l.relation
                WHEN l.state = 'not indexed' THEN format('%s has no trigram index: every write reads it whole', l.relation)
                WHEN l.state = 'unreadable' THEN format('memwarden_owner cannot read all of %s: writes wait. Grant it, or '
                    'change_canonical_source(enabled => false)', l.relation)
                ELSE format('%s or a column of it is gone: writes wait. Register it again, or change_canonical_source(enabled '
                    '=> false)', l.relation) END
      FROM memwarden_internal.list_canonical_sources() AS l ORDER BY l.name;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.canonical_status IS
    'Whether each canonical source can be compared with, and what to do where not.';

CREATE OR REPLACE FUNCTION memwarden.canonical_copies(since interval DEFAULT '7 days')
RETURNS TABLE (request_id uuid, submitted_at timestamptz, org text, agent text, layer text, outcome text, source text, mode text,
               similarity double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    IF NOT memwarden_internal.is_database_admin() THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'member of memwarden_admin');
    END IF;
    RETURN QUERY
    SELECT r.request_id, r.submitted_at, o.name, p.name, r.layer, r.outcome::text, f.entry ->> 'source', f.entry ->> 'mode',
           (f.entry ->> 'similarity')::double precision
      FROM memwarden_data.write_request AS r
      JOIN memwarden_data.organisation AS o ON o.org_id = r.org_id
      JOIN memwarden_data.principal AS p ON p.principal_id = r.principal_id
     CROSS JOIN LATERAL jsonb_array_elements(r.detail -> 'canonical') AS f (entry)
     WHERE r.submitted_at > memwarden_internal.before(clock_timestamp(), canonical_copies.since) AND r.detail ? 'canonical'
       AND (r.outcome <> 'REJECTED' OR r.reason IN ('CANONICAL_COPY', 'VERBATIM_RECORD'))
     ORDER BY r.submitted_at DESC;
END
$function$;
COMMENT ON FUNCTION memwarden.canonical_copies IS
    'Returns the writes that repeated canonical content, newest first. The caller is an administrator. since: how far back; 7 days '
    'by default. mode: primary (the write was refused) or backstop (it was accepted, and is only noted here). similarity: the share '
    'of repeated words, 0 to 1; null where the source could not be asked. Raises 42501 for others.';
GRANT EXECUTE ON FUNCTION memwarden.canonical_copies TO memwarden_admin;
