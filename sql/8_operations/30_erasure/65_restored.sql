-- A restored copy, or a standby that was promoted, lies on another timeline, and a restored dump in another cluster:
-- it may lack what was erased last.
CREATE OR REPLACE FUNCTION memwarden_internal.present_timeline()
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- The control file learns of a new timeline from the next checkpoint on; the name of the segment that is written at once.
    RETURN CASE WHEN pg_is_in_recovery() THEN NULL
                ELSE ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.present_timeline IS 'The timeline that this cluster writes; NULL on a standby.';

CREATE OR REPLACE FUNCTION memwarden_internal.note_origin()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    DELETE FROM memwarden_data.store_origin;
    INSERT INTO memwarden_data.store_origin (system_identifier, timeline_id, noted_at)
    VALUES (memwarden_internal.system_identifier(), memwarden_internal.present_timeline(), clock_timestamp());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_origin IS 'Notes that every erasure is carried out in this copy of the store.';

CREATE OR REPLACE FUNCTION memwarden_internal.erasure_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_is_here boolean := pg_is_in_recovery() OR EXISTS (
        SELECT FROM memwarden_data.store_origin AS o
         WHERE o.system_identifier = memwarden_internal.system_identifier() AND o.timeline_id = memwarden_internal.present_timeline());
BEGIN
    RETURN QUERY SELECT 'erasures', CASE WHEN v_is_here THEN 'ok' ELSE 'warning' END,
        CASE WHEN v_is_here THEN 'carried out in this copy of the store'
             ELSE 'this copy was restored or promoted, and may hold what was erased since: SELECT * FROM '
                 'memwarden.apply_erasures(...), with the newest list' END;
    RETURN QUERY SELECT * FROM memwarden_internal.subject_key_status();
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erasure_status IS
    'Whether this copy of the store has been told of all erasures: a warning from a restore or promotion on, until apply_erasures(). '
    'And whether it opens the keys of subjects.';
