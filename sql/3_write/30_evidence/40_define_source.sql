CREATE OR REPLACE FUNCTION memwarden.define_source(
    uri_pattern text, type text, authority double precision DEFAULT NULL, issuer text DEFAULT NULL,
    half_life interval DEFAULT NULL, weight double precision DEFAULT 1, description text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id    bigint := memwarden_internal.administered_org(define_source.org, 'full');
    v_pattern   text := memwarden_internal.check_uri_pattern(define_source.uri_pattern);
    v_authority double precision;
    v_issuer    bigint;
    v_taken     record;
BEGIN
    SELECT coalesce(define_source.authority, t.authority) INTO v_authority
      FROM memwarden_data.source_type AS t WHERE t.type = define_source.type AND t.type <> 'memory_item';
    IF v_authority IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'type: document, human_input, api_response, code_execution, tool_output or agent_reasoning');
    ELSIF v_authority NOT BETWEEN 0 AND 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'authority: 0 to 1');
    ELSIF define_source.weight IS NULL OR define_source.weight <= 0 OR define_source.weight > 100 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'weight: above 0, at most 100');
    ELSIF define_source.half_life <= interval '0' OR define_source.half_life > interval '1000 years' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'half_life: above 0, at most 1000 years');
    ELSIF length(define_source.description) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'description: at most 1,000 characters');
    END IF;
    IF define_source.issuer IS NOT NULL THEN
        v_issuer := (memwarden_internal.require_agent(define_source.issuer, define_source.org)).principal_id;
    END IF;
    -- Two at once: the second finds what the first defined.
    PERFORM memwarden_internal.hold_table('memwarden_data.source');
    FOR v_taken IN
        SELECT s.uri_pattern, p.name, s.org_id = v_org_id AND s.uri_pattern = v_pattern AS is_same
          FROM memwarden_data.source AS s JOIN memwarden_data.principal AS p ON p.principal_id = s.issuer_id
         WHERE s.org_id IN (0, v_org_id) AND v_pattern LIKE s.uri_like AND s.issuer_id IS DISTINCT FROM v_issuer
         ORDER BY s.org_id DESC, s.uri_pattern
    LOOP
        IF v_taken.is_same THEN
            PERFORM memwarden_internal.raise_error('already_exists', format('source %L, which agent %L issues: drop_source() first',
                v_pattern, v_taken.name));
        END IF;
        RAISE NOTICE 'source % takes uris from source %, which another agent issues', v_pattern, v_taken.uri_pattern;
    END LOOP;
    INSERT INTO memwarden_data.source AS s (
        org_id, uri_pattern, uri_like, specificity, type, issuer_id, authority, half_life, weight, description, defined_at)
    VALUES (v_org_id, v_pattern, memwarden_internal.uri_like(v_pattern), length(replace(v_pattern, '*', '')), define_source.type,
            v_issuer, v_authority, define_source.half_life, define_source.weight, define_source.description, clock_timestamp())
    ON CONFLICT ON CONSTRAINT source_org_id_uri_pattern_key DO UPDATE
       SET type = excluded.type, issuer_id = excluded.issuer_id, authority = excluded.authority, half_life = excluded.half_life,
           weight = excluded.weight, description = excluded.description, defined_at = excluded.defined_at;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_source', jsonb_build_object(
        'uri_pattern', v_pattern, 'type', define_source.type, 'authority', v_authority, 'issuer', define_source.issuer,
        'issuer_id', v_issuer, 'half_life', define_source.half_life, 'weight', define_source.weight));
END
$function$;
COMMENT ON FUNCTION memwarden.define_source IS
    'Registers what evidence from a source is worth, for writes from now on. It replaces an earlier definition of the '
    'same pattern, but not one that another agent issues: drop_source() first. A notice names each wider pattern of another issuer '
    'that it takes uris from. Without an issuer, anybody may cite the source, and its excerpt is believed. uri_pattern: the uri, '
    'with * for anything, at most four and none in the host; where several patterns match, the one with the most '
    'other characters applies. type: document, human_input, api_response, code_execution, tool_output or '
    'agent_reasoning. authority: 0 to 1; default that of the type. issuer: the agent that alone speaks for the '
    'source, by writing itself or with record_evidence(). half_life: the time in which its evidence loses half its '
    'freshness; default the evidence_half_life of the layer. weight: its share beside other evidence, above 0 and at '
    'most 100; default 1. org: the organisation that the source is for; by default the caller''s, and for members of '
    'memwarden_admin all. Raises 22023 for arguments out of range; 42704 for an unknown organisation or agent; 42501 '
    'without the right; 42710 for a pattern that another agent issues; 25001 at an isolation level other than READ COMMITTED; '
    '55P03 while another definition takes long. '
    'Source: chapter 12.2.3.';
GRANT EXECUTE ON FUNCTION memwarden.define_source TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.drop_source(uri_pattern text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(drop_source.org, 'full');
BEGIN
    DELETE FROM memwarden_data.source AS s
     WHERE s.org_id = v_org_id AND s.uri_pattern = memwarden_internal.source_uri(drop_source.uri_pattern);
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('source %L', drop_source.uri_pattern));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'drop_source', jsonb_build_object(
        'uri_pattern', memwarden_internal.source_uri(drop_source.uri_pattern)));
END
$function$;
COMMENT ON FUNCTION memwarden.drop_source IS
    'Removes a source from the registry. From then on, evidence from there counts as an agent''s own reasoning, '
    'recorded evidence included. uri_pattern, org: as in define_source(). Raises 42704 when there is no such source; '
    '42501 without the right; 25001 at an isolation level other than READ COMMITTED.';
GRANT EXECUTE ON FUNCTION memwarden.drop_source TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_sources()
RETURNS TABLE (org text, uri_pattern text, type text, issuer text, authority double precision, half_life interval,
               weight double precision, description text, defined_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.visible_orgs();
    v_all  boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, s.uri_pattern, s.type,
           -- The issuer of a source of all may be another organisation's agent.
           CASE WHEN v_all OR p.org_id = ANY (v_orgs) THEN p.name
                WHEN p.principal_id IS NOT NULL THEN '(another organisation''s)' END,
           s.authority, s.half_life, s.weight, s.description, s.defined_at
      FROM memwarden_data.source AS s
      JOIN memwarden_data.organisation AS o ON o.org_id = s.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = s.issuer_id
     WHERE v_all OR s.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.sources IS
    'Lists the registered sources and the authority of evidence from them. Rows of organisation global hold for all organisations.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_sources
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
