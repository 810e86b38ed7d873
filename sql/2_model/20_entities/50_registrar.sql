-- Who asks about entities, and who may change them: whoever writes their scope as a curator, or administers the organisation.
CREATE OR REPLACE FUNCTION memwarden_internal.entity_reader(p_surface text DEFAULT NULL, OUT orgs bigint[], OUT scopes bigint[],
    OUT clearance smallint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    IF v_principal_id IS NULL AND memwarden_internal.is_database_admin() THEN
        orgs := ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o);
        scopes := ARRAY(SELECT s.scope_id FROM memwarden_data.scope AS s);
        clearance := 32767;
    ELSE
        IF p_surface IS NOT NULL THEN
            PERFORM memwarden_internal.require_surface(v_principal_id, p_surface);
        END IF;
        orgs := memwarden_internal.visible_orgs();
        scopes := memwarden_internal.readable_scopes(v_principal_id, p_surface);
        clearance := coalesce((
            SELECT least(p.clearance, s.max_classification)
              FROM memwarden_data.principal AS p LEFT JOIN memwarden_data.surface AS s ON s.org_id = p.org_id AND s.name = p_surface
             WHERE p.principal_id = v_principal_id), -1);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.entity_reader IS
    'What the caller sees of entities, across a surface where one is given: organisations, scopes and the highest '
    'classification; for a member of memwarden_admin who is no principal, everything. Raises 42704 for an unknown '
    'surface.';

CREATE OR REPLACE FUNCTION memwarden_internal.visible_clearance()
RETURNS smallint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN coalesce((SELECT p.clearance FROM memwarden_data.principal AS p
                      WHERE p.principal_id = (SELECT memwarden_internal.current_principal()) AND p.disabled_at IS NULL), -1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.visible_clearance IS 'How highly classified the caller may read; -1 without identity.';
GRANT EXECUTE ON FUNCTION memwarden_internal.visible_clearance
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_entity(
    p_ceid text, p_scope text, p_surface text DEFAULT NULL, OUT org_id bigint, OUT entity_id bigint, OUT scope_id bigint,
        OUT type text, OUT classification smallint, OUT merged_into bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_reader record := memwarden_internal.entity_reader(p_surface);
    v_found  record;
    v_count  integer := 0;
BEGIN
    FOR v_found IN
        SELECT e.org_id, e.entity_id, e.scope_id, e.type, e.classification, e.merged_into
          FROM memwarden_data.entity AS e JOIN memwarden_data.scope AS s ON s.scope_id = e.scope_id
         WHERE e.ceid = p_ceid AND e.org_id = ANY (v_reader.orgs) AND e.scope_id = ANY (v_reader.scopes)
             AND e.classification <= v_reader.clearance
           AND (p_scope IS NULL OR s.path = p_scope)
         -- Of two of one scope the one that more people see.
         ORDER BY e.scope_id, e.classification LIMIT 2
    LOOP
        v_count := v_count + 1;
        org_id := v_found.org_id;
        entity_id := v_found.entity_id;
        scope_id := v_found.scope_id;
        type := v_found.type;
        classification := v_found.classification;
        merged_into := v_found.merged_into;
        EXIT WHEN p_scope IS NOT NULL;
    END LOOP;
    IF v_count = 0 THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('entity %L', p_ceid));
    ELSIF v_count > 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'scope: several scopes have an entity of that id');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_entity IS
    'The entity of that id that the caller sees, across a surface where one is given. Raises 42704 where there is none, '
    '22023 where the id alone does not tell which.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_registrar(p_org_id bigint, p_scope_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    ELSIF NOT (memwarden_internal.may_administer(p_org_id, 'full') OR memwarden_internal.may_write(
                   memwarden_internal.current_principal(), p_scope_id, (SELECT s.lineage FROM memwarden_data.scope AS s
                       WHERE s.scope_id = p_scope_id))) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'writing the scope of the entity');
    END IF;
    -- Who changes entities takes turns: no two merges can cross.
    PERFORM memwarden_internal.hold_organisation(p_org_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_registrar IS
    'Lets one change at a time into the entities of an organisation. Raises 42501 for who may not write the scope, '
    '25001 at an isolation other than READ COMMITTED.';

CREATE OR REPLACE FUNCTION memwarden_internal.record_entity_event(p_org_id bigint, p_event text, p_entity_id bigint,
    p_other_id bigint, p_alias_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.entity_event (org_id, event_id, event, entity_id, other_id, alias_ids, principal_id, login_role, at)
    VALUES (p_org_id, memwarden_internal.uuid7(), p_event, p_entity_id, p_other_id, coalesce(p_alias_ids, '{}'),
            memwarden_internal.current_principal(), session_user, clock_timestamp());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_entity_event IS 'Notes who changed an entity, and how.';

CREATE OR REPLACE FUNCTION memwarden_internal.entity_level(p_classification text, p_least smallint)
RETURNS smallint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_level smallint := p_least;
BEGIN
    IF p_classification IS NOT NULL THEN
        SELECT c.level INTO v_level FROM memwarden_data.classification AS c WHERE c.name = p_classification;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('classification %L', p_classification));
        ELSIF v_level > (memwarden_internal.entity_reader()).clearance THEN
            PERFORM memwarden_internal.raise_error('not_permitted', 'a classification above one''s own clearance');
        END IF;
    END IF;
    RETURN greatest(v_level, p_least);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.entity_level IS
    'The level of a classification, at least p_least. Raises 42704 for an unknown one, 42501 for one above the caller''s clearance.';
