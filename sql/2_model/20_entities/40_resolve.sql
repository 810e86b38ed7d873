-- Whom a name means, for somebody: of the entities that he sees, by the names that he sees. What he does not see counts
-- for nothing, neither as a meaning nor as a second one.
CREATE OR REPLACE FUNCTION memwarden_internal.root_of(p_org_id bigint, p_entity_id bigint, p_scopes bigint[], p_clearance smallint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_root bigint := p_entity_id;
    v_next bigint;
BEGIN
    LOOP
        SELECT t.entity_id INTO v_next
          FROM memwarden_data.entity AS e
          JOIN memwarden_data.entity AS t ON t.org_id = e.org_id AND t.entity_id = e.merged_into
         WHERE e.org_id IN (0, p_org_id) AND e.entity_id = v_root AND t.scope_id = ANY (p_scopes) AND t.classification <= p_clearance;
        EXIT WHEN NOT FOUND;
        v_root := v_next;
    END LOOP;
    RETURN v_root;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.root_of IS
    'The entity that another has become by merging, as far as who reads those scopes with that clearance sees.';

CREATE OR REPLACE FUNCTION memwarden_internal.same_entities(p_org_id bigint, p_entity_id bigint, p_scopes bigint[], p_clearance smallint)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_root bigint := memwarden_internal.root_of(p_org_id, p_entity_id, p_scopes, p_clearance);
BEGIN
    RETURN ARRAY(
        WITH RECURSIVE family (entity_id) AS (
            SELECT v_root
             UNION
            SELECT e.entity_id FROM family AS f
              JOIN memwarden_data.entity AS e ON e.org_id IN (0, p_org_id) AND e.merged_into = f.entity_id
             WHERE e.scope_id = ANY (p_scopes) AND e.classification <= p_clearance
        )
        SELECT f.entity_id FROM family AS f);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.same_entities IS
    'All that are one with an entity, itself included, as far as that reader sees.';

CREATE OR REPLACE FUNCTION memwarden_internal.entities_named(p_org_id bigint, p_said text, p_scopes bigint[], p_clearance smallint)
RETURNS TABLE (entity_id bigint, root_id bigint, type text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (e.entity_id) e.entity_id, memwarden_internal.root_of(p_org_id, e.entity_id, p_scopes, p_clearance), e.type
      FROM memwarden_data.entity_alias AS a
      JOIN memwarden_data.entity AS e ON e.org_id = a.org_id AND e.entity_id = a.entity_id
     WHERE a.org_id IN (0, p_org_id) AND a.said = p_said AND a.classification <= p_clearance
       AND e.scope_id = ANY (p_scopes) AND e.classification <= p_clearance
     ORDER BY e.entity_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.entities_named IS
    'The entities of some scopes that bear a name (as normalised_subject() gives it), and what they have become, for a '
    'reader of that clearance.';

CREATE OR REPLACE FUNCTION memwarden_internal.key_of_name(p_org_id bigint, p_role text, p_name text, p_scopes bigint[],
    p_clearance smallint)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_said  text := memwarden_internal.normalised_subject(left(p_name, 1000), '{}');
    v_found record;
BEGIN
    SELECT min(n.entity_id) AS entity_id, count(DISTINCT n.root_id) AS meanings, min(n.type) AS type INTO v_found
      FROM memwarden_internal.entities_named(p_org_id, v_said, p_scopes, p_clearance) AS n;
    RETURN CASE WHEN v_found.meanings > 0 THEN jsonb_build_object(
        'role', p_role, 'said', v_said, 'entity_id', CASE WHEN v_found.meanings = 1 THEN v_found.entity_id END,
        'type', CASE WHEN v_found.meanings = 1 THEN v_found.type END) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.key_of_name IS
    'A name as a key of a memory: the entity it means, none where it means several, and NULL where nobody bears it.';
