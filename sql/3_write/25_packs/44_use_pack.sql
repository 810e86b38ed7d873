CREATE OR REPLACE FUNCTION memwarden.use_pack(
    pack text, version integer DEFAULT NULL, scope text DEFAULT NULL, agent text DEFAULT NULL, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(use_pack.org, 'full');
    v_scope  record;
    v_agent  bigint;
    v_pack   record;
BEGIN
    IF num_nonnulls(use_pack.scope, use_pack.agent) = 2 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'scope or agent, not both');
    END IF;
    SELECT s.scope_id, cardinality(s.lineage) AS depth INTO v_scope
      FROM memwarden_data.scope AS s WHERE s.path = use_pack.scope AND s.org_id = v_org_id;
    v_agent := (SELECT p.principal_id FROM memwarden_data.principal AS p WHERE p.org_id = v_org_id AND p.name = use_pack.agent
        AND p.principal_id <> 0);
    IF use_pack.scope IS NOT NULL AND v_scope.scope_id IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('scope %L', use_pack.scope));
    ELSIF use_pack.agent IS NOT NULL AND v_agent IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('agent %L', use_pack.agent));
    END IF;
    PERFORM memwarden_internal.hold_table('memwarden_data.pack_use');
    DELETE FROM memwarden_data.pack_use AS u
     WHERE u.org_id = v_org_id AND u.scope_id IS NOT DISTINCT FROM v_scope.scope_id AND u.principal_id IS NOT DISTINCT FROM v_agent;
    SELECT k.name, k.version, k.definition INTO v_pack FROM memwarden_data.pack AS k
     WHERE k.org_id = v_org_id AND k.name = use_pack.pack AND (use_pack.version IS NULL OR k.version = use_pack.version)
     ORDER BY k.version DESC LIMIT 1;
    IF use_pack.pack IS NOT NULL THEN
        IF v_pack.name IS NULL THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('pack %L, version %s', use_pack.pack,
                coalesce(use_pack.version::text, 'any')));
        ELSIF v_org_id = 0 AND jsonb_array_length(coalesce(v_pack.definition -> 'redaction_rules', '[]')) > 0 THEN
            PERFORM memwarden_internal.raise_error('invalid_argument',
                'a pack with redaction rules is put in force by each organisation, whose own rules it adds to');
        END IF;
        INSERT INTO memwarden_data.pack_use (org_id, scope_id, principal_id, depth, name, version, pack, since)
        VALUES (v_org_id, v_scope.scope_id, v_agent, CASE WHEN v_agent IS NOT NULL THEN 1000000 ELSE coalesce(v_scope.depth, 0) END,
                v_pack.name, v_pack.version, jsonb_build_object('name', v_pack.name, 'version', v_pack.version, 'definition',
                    v_pack.definition),
                clock_timestamp());
        PERFORM memwarden_internal.compile_packs(v_org_id);
    END IF;
    PERFORM memwarden_internal.renew_pack_rules(v_org_id);
    PERFORM memwarden_internal.record_access_change(v_org_id, 'use_pack', jsonb_build_object(
        'pack', use_pack.pack, 'version', v_pack.version, 'scope', use_pack.scope, 'agent', use_pack.agent));
END
$function$;
COMMENT ON FUNCTION memwarden.use_pack IS
    'Puts a version of a pack in force, from the next write on, for an organisation, a scope or an agent. It replaces the pack that '
    'was in force there. A pack of the agent precedes that of the nearest scope, which precedes that of the organisation, which '
    'precedes the common one. pack: the name of the pack; null leaves the place without a pack of its own. version: the latest by '
    'default; an earlier one rolls back. scope: the scope, with everything below it, for which it holds. agent: the agent for which '
    'it holds. org: the organisation; by default the caller''s, and for members of memwarden_admin all organisations. Raises 42704 '
    'for an unknown pack, version, scope, agent or organisation, 22023 for malformed arguments, 42501 without ADMIN (full), 25001 at '
    'an isolation level other than READ COMMITTED. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.use_pack TO memwarden_curator, memwarden_admin;

-- What a pack redacts is added to the rules of the organisation, layer by layer, as writes read rules: as one text.
CREATE OR REPLACE FUNCTION memwarden_internal.compile_packs(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_use   record;
    v_layer text;
    v_rules text;
    v_texts jsonb;
BEGIN
    FOR v_use IN
        SELECT u.org_id, u.scope_id, u.principal_id, u.pack FROM memwarden_data.pack_use AS u
         WHERE p_org_id IN (0, u.org_id) AND jsonb_array_length(u.pack #> '{definition,redaction_rules}') > 0
    LOOP
        v_texts := '{}'::jsonb;
        FOR v_layer IN SELECT '*' UNION ALL SELECT l.layer FROM memwarden_data.layer AS l LOOP
            SELECT (coalesce(jsonb_agg(r.definition - 'description' || jsonb_build_object(
                       'id', r.rule, 'version', r.version, 'kind', r.kind, 'level', r.level, 'action', r.action) ORDER BY r.rule), '[]')
                    || memwarden_internal.pack_rules(v_use.pack -> 'definition', false))::text
              INTO v_rules
              FROM memwarden_internal.effective_rules(v_use.org_id, v_layer) AS r WHERE r.action <> 'allow';
            INSERT INTO memwarden_data.sensitivity_rules_text AS t (rules_hash, rules)
            VALUES (encode(sha256(convert_to(v_rules, 'UTF8')), 'hex'), v_rules)
            ON CONFLICT (rules_hash) DO UPDATE SET unused_since = NULL;
            v_texts := v_texts || jsonb_build_object(v_layer, encode(sha256(convert_to(v_rules, 'UTF8')), 'hex'));
        END LOOP;
        UPDATE memwarden_data.pack_use AS u
           SET pack = u.pack || jsonb_build_object('rules', v_texts), rules_since = CASE WHEN u.pack -> 'rules' = v_texts
               THEN u.rules_since ELSE clock_timestamp() END,
               swept_at = CASE WHEN u.pack -> 'rules' = v_texts THEN u.swept_at END
         WHERE u.org_id = v_use.org_id AND u.scope_id IS NOT DISTINCT FROM v_use.scope_id AND u.principal_id IS NOT DISTINCT
             FROM v_use.principal_id;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compile_packs IS
    'Makes the rule texts of the packs in force in an organisation anew, for 0 those of every one.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_packs_in_force()
RETURNS TABLE (org text, scope text, agent text, pack text, version integer, definition jsonb, since timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_all          boolean := memwarden_internal.is_database_admin();
BEGIN
    RETURN QUERY
    SELECT o.name, s.path, p.name, u.name, u.version, u.pack -> 'definition', u.since
      FROM memwarden_data.pack_use AS u
      JOIN memwarden_data.organisation AS o ON o.org_id = u.org_id
      LEFT JOIN memwarden_data.scope AS s ON s.scope_id = u.scope_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = u.principal_id
     WHERE v_all OR u.org_id = ANY (v_orgs) AND (u.scope_id IS NULL OR u.scope_id = ANY (v_scopes))
                    AND (u.principal_id IS NULL OR u.principal_id = v_principal_id);
END
$function$;
COMMENT ON VIEW memwarden.packs_in_force IS
    'Lists which pack is in force for which organisation, scope or agent, as far as it concerns the caller. The pack of an agent '
    'precedes that of the nearest scope, which precedes that of the organisation.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_packs_in_force
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_packs()
RETURNS TABLE (org text, pack text, version integer, definition jsonb, defined_by text, defined_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := 0 || memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, k.name, k.version, k.definition, k.defined_by, k.defined_at
      FROM memwarden_data.pack AS k JOIN memwarden_data.organisation AS o ON o.org_id = k.org_id
     WHERE k.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.packs IS
    'Lists every version of every pack of the organisation, and of the packs that all may use (global).';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_packs TO memwarden_curator, memwarden_auditor, memwarden_admin;
