-- Append-only, also for who owns the table: the only ways out are time and erasure.
CREATE OR REPLACE FUNCTION memwarden_internal.guard_capture()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_terms   record := memwarden_internal.capture_terms(OLD.org_id, OLD.source);
    v_allowed memwarden_data.capture := OLD;
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.recorded_at + v_terms.keep_record <= clock_timestamp() OR memwarden_internal.present_erasure() IS NOT NULL THEN
            RETURN OLD;
        END IF;
    ELSE
        v_allowed.content := NULL;
        v_allowed.sealed := NULL;
        IF NEW IS NOT DISTINCT FROM v_allowed AND OLD.recorded_at + v_terms.keep_text <= clock_timestamp() THEN
            RETURN NEW;
        END IF;
    END IF;
    PERFORM memwarden_internal.raise_error('append_only', format('%s on capture %s', TG_OP, OLD.capture_id));
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_capture IS
    'Trigger: a capture loses its text when its source keeps none so long, and goes when its source keeps it no more or '
    'with an erasure; nothing else changes.';

CREATE OR REPLACE FUNCTION memwarden_internal.guard_extractor()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_allowed memwarden_data.extractor := OLD;
BEGIN
    v_allowed.enabled := NEW.enabled;
    IF NEW IS DISTINCT FROM v_allowed THEN
        PERFORM memwarden_internal.raise_error('append_only', format('version %s of extractor %L', OLD.version, OLD.extractor));
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.guard_extractor IS 'Trigger: of a version of an extractor changes only whether it is enabled.';

CREATE OR REPLACE FUNCTION memwarden_internal.compact_next_captures(p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_now  timestamptz := clock_timestamp();
    v_ids  uuid[];
    -- Nobody can say which captures will be asked for: a memory that is held may rest on any.
    v_held bigint[] := ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o WHERE memwarden_internal.has_hold(o.org_id));
BEGIN
    -- In time order by an index; what another run holds it is about to do.
    v_ids := ARRAY(
        SELECT c.capture_id FROM memwarden_data.capture AS c
         CROSS JOIN LATERAL memwarden_internal.capture_terms(c.org_id, c.source) AS t
         WHERE c.recorded_at <= v_now - (SELECT min(s.keep_record) FROM memwarden_data.capture_source AS s)
           AND c.recorded_at + t.keep_record <= v_now AND c.org_id <> ALL (v_held)
         LIMIT p_count FOR UPDATE OF c SKIP LOCKED);
    DELETE FROM memwarden_data.capture_key AS k WHERE k.capture_id = ANY (v_ids);
    DELETE FROM memwarden_data.capture AS c WHERE c.capture_id = ANY (v_ids);
    IF v_ids <> '{}' THEN
        RETURN true;
    END IF;
    UPDATE memwarden_data.capture AS c SET content = NULL, sealed = NULL
     WHERE c.capture_id IN (
           SELECT n.capture_id FROM memwarden_data.capture AS n
            CROSS JOIN LATERAL memwarden_internal.capture_terms(n.org_id, n.source) AS t
            WHERE n.content IS NOT NULL
              AND n.recorded_at <= v_now - (SELECT min(s.keep_text) FROM memwarden_data.capture_source AS s)
              AND n.recorded_at + t.keep_text <= v_now AND n.org_id <> ALL (v_held)
            LIMIT p_count FOR UPDATE OF n SKIP LOCKED);
    RETURN FOUND;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compact_next_captures IS
    'Deletes up to p_count captures whose source keeps them no longer, or where there are none takes the text of so '
    'many; false when nothing is due. Captures of an organisation in which a legal hold is in force stay. Two callers take different ones.';
GRANT EXECUTE ON FUNCTION memwarden_internal.compact_next_captures TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.compact_captures()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_captures');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.compact_captures IS
    'Deletes texts and records of captures whose retention is over, as a job. The terms are today''s, see define_capture_source(). '
    'maintain() drops the months in which no capture is left. Captures of an organisation in which a legal hold is in force stay. It is '
    'safe to run twice at once and to kill. It commits after each thousand captures, so it cannot run inside a transaction. Source: F1.';
GRANT EXECUTE ON PROCEDURE memwarden.compact_captures TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.set_capture_retention()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- A month later than the last row may stay: what is dropped is empty.
    EXECUTE format('UPDATE %s.part_config SET retention = $1, retention_keep_table = false WHERE parent_table = $2',
        memwarden_internal.partman_schema())
      USING (SELECT CASE WHEN EXISTS (SELECT FROM memwarden_data.legal_hold AS h WHERE h.lifted_at IS NULL) THEN '200 years'
                         ELSE (max(s.keep_record) + interval '2 months')::text END FROM memwarden_data.capture_source AS s),
            'memwarden_data.capture';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_capture_retention IS
    'Tells pg_partman from when on months of captures are dropped: two months after no source keeps a row of them, and not '
    'while a legal hold is in force.';
