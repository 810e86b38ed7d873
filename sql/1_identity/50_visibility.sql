-- Which scopes the caller reads. Policies call these inside a sub-select, so that a query evaluates each once.
CREATE OR REPLACE FUNCTION memwarden_internal.visible_scopes()
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN memwarden_internal.readable_scopes(memwarden_internal.current_principal());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.visible_scopes IS
    'The scopes the caller reads: each granted scope with its ancestors, and its descendants where granted. Empty without identity.';
GRANT EXECUTE ON FUNCTION memwarden_internal.visible_scopes
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.readable_scopes(p_principal_id bigint, p_surface text DEFAULT NULL)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce((
        SELECT array_agg(v.scope_id)
          FROM (SELECT unnest(s.lineage) AS scope_id
                  FROM memwarden_data.scope_grant AS g
                  JOIN memwarden_data.scope AS s ON s.scope_id = g.scope_id
                 WHERE g.principal_id = p_principal_id AND (g.surfaces IS NULL OR p_surface = ANY (g.surfaces))
                 UNION
                SELECT d.scope_id
                  FROM memwarden_data.scope_grant AS g
                  JOIN memwarden_data.scope AS d ON d.lineage @> ARRAY[g.scope_id]
                 WHERE g.principal_id = p_principal_id AND g.descendants AND (g.surfaces IS NULL OR p_surface = ANY (g.surfaces)))
                     AS v), '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.readable_scopes IS
    'The scopes a principal reads, as visible_scopes() says of the caller; with those that it reads through a surface '
    'alone.';

CREATE OR REPLACE FUNCTION memwarden_internal.visible_orgs()
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    -- Asked once: in the query, it would be asked for each principal that is looked at.
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    -- 0 owns /global, which every organisation inherits.
    RETURN coalesce((SELECT ARRAY[0, p.org_id] FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id), '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.visible_orgs IS
    'The caller''s organisation and the owner of /global. Empty without identity.';
GRANT EXECUTE ON FUNCTION memwarden_internal.visible_orgs
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

-- The same rule for one scope, without listing the others: an agent may see a hundred thousand.
CREATE OR REPLACE FUNCTION memwarden_internal.may_read(p_principal_id bigint, p_scope_id bigint, p_surface text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM memwarden_data.scope_grant AS g
          JOIN memwarden_data.scope AS granted ON granted.scope_id = g.scope_id
         WHERE g.principal_id = p_principal_id AND (g.surfaces IS NULL OR p_surface = ANY (g.surfaces))
           AND (p_scope_id = ANY (granted.lineage)
                OR (g.descendants
                    AND g.scope_id = ANY ((SELECT s.lineage FROM memwarden_data.scope AS s
                                            WHERE s.scope_id = p_scope_id)::bigint[]))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.may_read IS
    'Whether the principal reads the scope: readable_scopes() asked of one scope.';

CREATE OR REPLACE FUNCTION memwarden_internal.may_write(p_principal_id bigint, p_scope_id bigint, p_lineage bigint[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM memwarden_data.scope_grant AS g
         WHERE g.principal_id = p_principal_id AND g.writes
           AND (g.scope_id = p_scope_id OR (g.descendants AND g.scope_id = ANY (p_lineage))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.may_write IS
    'Whether the principal writes the scope of that lineage: granted itself, or from above with descendants; never from below.';
