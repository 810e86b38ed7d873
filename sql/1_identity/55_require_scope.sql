CREATE OR REPLACE FUNCTION memwarden_internal.require_scope(
    p_path text, OUT scope_id bigint, OUT org_id bigint, OUT parent_id bigint, OUT kind text, OUT lineage bigint[],
        OUT closed_at timestamptz)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT s.scope_id, s.org_id, s.parent_id, s.kind, s.lineage, s.closed_at
      INTO require_scope.scope_id, require_scope.org_id, require_scope.parent_id, require_scope.kind,
           require_scope.lineage, require_scope.closed_at
      FROM memwarden_data.scope AS s WHERE s.path = p_path;
    -- Hidden and absent answer alike.
    IF NOT FOUND OR NOT (memwarden_internal.may_administer(require_scope.org_id, 'full')
                         OR memwarden_internal.may_read(memwarden_internal.current_principal(), require_scope.scope_id)) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('scope %L', p_path));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_scope IS
    'The scope of that path, for who reads or administers it. Raises 42704 when there is none.';
