-- Changes that must not cross take turns at the row of the organisation. Writers take no part, but for those that make its scopes.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_organisation(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := memwarden_internal.bound_wait(interval '30 seconds');
BEGIN
    BEGIN
        PERFORM FROM memwarden_data.organisation AS o WHERE o.org_id = p_org_id FOR NO KEY UPDATE;
    EXCEPTION WHEN lock_not_available THEN
        PERFORM memwarden_internal.raise_error('store_busy', format('organisation %s', p_org_id));
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_organisation IS
    'Lets one change of an organisation at a time begin, until this transaction ends. Raises 55P03 when another takes longer than '
    'lock_timeout (at most five minutes), or 30 seconds where none is set.';
