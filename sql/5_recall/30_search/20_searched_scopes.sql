-- Which scopes a recall looks into. What the caller cannot see and what does not exist raise the same error.
CREATE OR REPLACE FUNCTION memwarden_internal.searched_scopes(
    p_principal_id bigint, p_scope text, p_scopes text[], p_surface text DEFAULT NULL)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_path   text;
    v_scope  record;
    v_result bigint[] := '{}'::bigint[];
BEGIN
    IF p_scope IS NULL AND p_scopes IS NULL THEN
        RETURN memwarden_internal.readable_scopes(p_principal_id, p_surface);
    ELSIF array_ndims(p_scopes) > 1 THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'scopes: a list of paths, not lists of them');
    END IF;
    FOREACH v_path IN ARRAY coalesce(p_scopes, '{}') || CASE WHEN p_scope IS NOT NULL THEN ARRAY[p_scope] ELSE '{}' END LOOP
        -- With what may_read() asks, in one look.
        SELECT s.scope_id, s.lineage INTO v_scope
          FROM memwarden_data.scope AS s
         WHERE s.path = v_path AND EXISTS (
                   SELECT FROM memwarden_data.scope_grant AS g
                     JOIN memwarden_data.scope AS granted ON granted.scope_id = g.scope_id
                    WHERE g.principal_id = p_principal_id AND (g.surfaces IS NULL OR p_surface = ANY (g.surfaces))
                      AND (s.scope_id = ANY (granted.lineage) OR g.descendants AND g.scope_id = ANY (s.lineage)));
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('unknown_object', format('scope %L', v_path));
        END IF;
        -- Who reads a scope reads what it inherits from; p_scopes means exactly these.
        v_result := v_result || CASE WHEN p_scopes IS NULL THEN v_scope.lineage ELSE ARRAY[v_scope.scope_id] END;
    END LOOP;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.searched_scopes IS
    'The scopes to search: every visible one, a scope with its ancestors, or exactly a list. Raises 42704 for a scope '
    'the principal cannot read, not even through the surface.';
