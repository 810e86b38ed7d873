CREATE OR REPLACE FUNCTION memwarden_internal.require_scope(
    p_path text, OUT scope_id bigint, OUT org_id bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    SELECT s.scope_id, s.org_id INTO require_scope.scope_id, require_scope.org_id
      FROM memwarden_data.scope AS s WHERE s.path = p_path;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('scope %L', p_path));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_scope(text) IS
    'The scope of that path. Raises 42704 when there is none. For administrators: it does not ask who may see it.';
REVOKE ALL ON FUNCTION memwarden_internal.require_scope(text) FROM PUBLIC;
