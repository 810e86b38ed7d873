CREATE OR REPLACE FUNCTION memwarden.define_external_source(
    name text,
    kind text,
    settings jsonb,
    type text DEFAULT 'document',
    timeout interval DEFAULT '5 seconds',
    max_results integer DEFAULT 5,
    scopes text[] DEFAULT NULL,
    description text DEFAULT NULL,
    org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(define_external_source.org, 'full');
    v_scopes bigint[] := ARRAY(SELECT s.scope_id FROM memwarden_data.scope AS s WHERE s.path = ANY (define_external_source.scopes)
        AND s.org_id = v_org_id);
BEGIN
    IF v_org_id = 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'org: an external source belongs to an organisation');
    ELSIF (define_external_source.name ~ '^[a-z][a-z0-9_-]{0,62}$') IS NOT TRUE
        OR (define_external_source.kind ~ '^[a-z][a-z0-9_]{0,62}$') IS NOT TRUE
       OR (jsonb_typeof(define_external_source.settings) = 'object') IS NOT TRUE OR length(define_external_source.settings::text) > 10000
       OR (define_external_source.timeout BETWEEN interval '0.1 seconds' AND interval '1 minute') IS NOT TRUE
       OR (define_external_source.max_results BETWEEN 1 AND 100) IS NOT TRUE OR length(define_external_source.description) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'name: lower-case letters, digits, _ and -, at most 63; kind: of a retriever; settings: an object of at most '
            '10,000 characters; timeout: 0.1 seconds to 1 minute; max_results: 1 to 100; description: at most 1,000 characters');
    ELSIF NOT EXISTS (SELECT FROM memwarden_data.source_type AS t WHERE t.type = define_external_source.type
        AND t.type <> 'memory_item') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'type: document, human_input, api_response, code_execution, tool_output or agent_reasoning');
    ELSIF define_external_source.scopes IS NOT NULL
          AND cardinality(v_scopes) IS DISTINCT FROM (SELECT nullif(count(DISTINCT p), 0)::integer
              FROM unnest(define_external_source.scopes) AS p) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', coalesce((
            SELECT format('scope %L', p) FROM unnest(define_external_source.scopes) AS p
             WHERE NOT EXISTS (SELECT FROM memwarden_data.scope AS s WHERE s.path = p AND s.org_id = v_org_id) LIMIT 1),
            'scopes: at least one'));
    END IF;
    INSERT INTO memwarden_data.external_source AS e (org_id, name, kind, settings, type, timeout, max_results, scope_ids,
        description, defined_at)
    VALUES (v_org_id, define_external_source.name, define_external_source.kind, define_external_source.settings,
        define_external_source.type,
            define_external_source.timeout, define_external_source.max_results,
            CASE WHEN define_external_source.scopes IS NOT NULL THEN v_scopes END, define_external_source.description, clock_timestamp())
    ON CONFLICT ON CONSTRAINT external_source_pkey DO UPDATE
       SET kind = excluded.kind, settings = excluded.settings, type = excluded.type, timeout = excluded.timeout,
           max_results = excluded.max_results,
           scope_ids = excluded.scope_ids, description = excluded.description, defined_at = excluded.defined_at;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_external_source', jsonb_build_object(
        'name', name, 'kind', kind, 'type', type, 'scopes', scopes));
END
$function$;
COMMENT ON FUNCTION memwarden.define_external_source IS
    'Registers an external source that clients ask with search_external(), or replaces it. Clients ask the source, and the server '
    'asks nobody. memwarden stores nothing of an answer. name: the name of the source. kind: the retriever: http_json, directory, or '
    'a plug-in of the client. settings: what the retriever needs, with names of environment variables instead of secrets. type: the '
    'evidence type of its answers, document by default; define_source() sets what evidence from their uris is worth. timeout: how '
    'long a client waits, at most 1 minute; 5 seconds by default. max_results: 1 to 100; 5 by default. scopes: only readers of one '
    'of these scopes may ask; by default everybody in the organisation. description: what the source holds. org: the organisation; '
    'by default the caller''s. Raises 22023 for malformed arguments, 42704 for an unknown scope or organisation, 42501 without ADMIN '
    '(full), 25001 at an isolation level other than READ COMMITTED. Source: four-layer design, L3.';
GRANT EXECUTE ON FUNCTION memwarden.define_external_source TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_external_source(name text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_external_source.org, 'full');
BEGIN
    DELETE FROM memwarden_data.external_source AS e WHERE e.org_id = v_org_id AND e.name = drop_external_source.name;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('external source %L', drop_external_source.name));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_external_source', jsonb_build_object('name', name));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_external_source IS
    'Removes an external source, so that clients no longer ask it. org: the organisation; by default the caller''s. Raises 42704 '
    'when there is none, 42501 without ADMIN (full), 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_external_source TO memwarden_curator, memwarden_admin;
