-- Nobody waits for a lock without an end: behind a lock of a whole table or organisation, everybody else waits as well.
CREATE OR REPLACE FUNCTION memwarden_internal.bound_wait(p_usual interval)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', (extract(epoch FROM CASE v_timeout WHEN '0' THEN p_usual
                                            ELSE least(v_timeout::interval, interval '5 minutes') END) * 1000)::bigint::text, true);
    RETURN v_timeout;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.bound_wait IS
    'Sets how long this transaction waits for a lock: the session''s lock_timeout, at most five minutes, or p_usual where it has none. '
    'Returns what the session had set.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_table(p_table regclass, p_mode text DEFAULT 'SHARE ROW EXCLUSIVE')
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_timeout text := memwarden_internal.bound_wait(interval '30 seconds');
BEGIN
    BEGIN
        EXECUTE format(CASE p_mode
            WHEN 'SHARE' THEN 'LOCK TABLE %s IN SHARE MODE'
            WHEN 'ROW EXCLUSIVE' THEN 'LOCK TABLE %s IN ROW EXCLUSIVE MODE'
            WHEN 'SHARE ROW EXCLUSIVE' THEN 'LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE'
            WHEN 'EXCLUSIVE' THEN 'LOCK TABLE %s IN EXCLUSIVE MODE'
            ELSE 'LOCK TABLE %s IN ACCESS EXCLUSIVE MODE' END, p_table);
    EXCEPTION WHEN lock_not_available THEN
        PERFORM memwarden_internal.raise_error('store_busy', p_table::text);
    END;
    PERFORM set_config('lock_timeout', v_timeout, true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_table IS
    'Locks a table until this transaction ends. p_mode: against other changes of it by default. Raises 55P03 when that takes '
    'longer than lock_timeout (at most five minutes), or 30 seconds where none is set.';
