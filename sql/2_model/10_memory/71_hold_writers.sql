-- Who changes what writers compare with, or deletes what they may build on, keeps them waiting meanwhile.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_writers(p_orgs bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := memwarden_internal.bound_wait(interval '30 seconds');
BEGIN
    BEGIN
        -- Where nobody has written yet there is no row to lock; who makes one asks the organisation first.
        PERFORM FROM memwarden_data.organisation AS o WHERE o.org_id = ANY (p_orgs) ORDER BY o.org_id FOR UPDATE;
        PERFORM FROM memwarden_data.write_lock AS w WHERE w.org_id = ANY (p_orgs)
          ORDER BY w.org_id, w.scope_id, w.layer FOR NO KEY UPDATE;
    EXCEPTION WHEN lock_not_available THEN
        PERFORM memwarden_internal.raise_error('scope_busy', format('organisation %s', array_to_string(p_orgs, ', ')));
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_writers IS
    'Keeps everybody from writing in these organisations until this transaction ends. Raises 55P03 when a scope stays busy for '
    'lock_timeout (at most five minutes), or 30 seconds where none is set.';

CREATE OR REPLACE FUNCTION memwarden_internal.orgs_of(p_org_id bigint)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE p_org_id WHEN 0 THEN ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o) ELSE ARRAY[p_org_id] END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.orgs_of IS 'The organisation, or all of them for 0: what is of /global holds for each.';

-- In the one order that everybody keeps: layers, organisations, scopes.
CREATE OR REPLACE FUNCTION memwarden_internal.hold_layers(p_layers text[] DEFAULT NULL)
RETURNS text[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := memwarden_internal.bound_wait(interval '30 seconds');
    v_layers  text[];
BEGIN
    BEGIN
        v_layers := ARRAY(SELECT l.layer FROM memwarden_data.layer AS l WHERE p_layers IS NULL OR l.layer = ANY (p_layers)
                           ORDER BY l.ordinal FOR NO KEY UPDATE);
    EXCEPTION WHEN lock_not_available THEN
        PERFORM memwarden_internal.raise_error('store_busy', 'memwarden_data.layer');
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
    RETURN v_layers;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_layers IS
    'Keeps the settings of layers, by default of all, and the tiers of their versions as they are until this transaction ends. '
    'Returns the layers. Raises 55P03 as hold_writers() does.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_shelves()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := memwarden_internal.bound_wait(interval '30 seconds');
BEGIN
    BEGIN
        PERFORM FROM memwarden_data.shelf AS s WHERE s.org_id = 0 AND s.shelf = 0 FOR NO KEY UPDATE;
    EXCEPTION WHEN lock_not_available THEN
        PERFORM memwarden_internal.raise_error('store_busy', 'memwarden_data.shelf');
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_shelves IS
    'Lets no move of vectors begin until this transaction ends, and waits for one that goes on. Raises 55P03 as hold_writers() does.';
