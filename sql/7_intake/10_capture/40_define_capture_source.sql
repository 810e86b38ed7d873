CREATE OR REPLACE FUNCTION memwarden.define_capture_source(
    source text, keep_text interval DEFAULT '30 days', keep_record interval DEFAULT '365 days', max_bytes integer DEFAULT 65536,
        org text DEFAULT NULL, citable_by text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id     bigint := memwarden_internal.administered_org(define_capture_source.org, 'full');
    -- 0 stands for all who read a capture: no principal that writes has this number.
    v_citable_by bigint[] := CASE WHEN define_capture_source.citable_by = '{*}' THEN ARRAY[0]::bigint[]
        ELSE memwarden_internal.agents_named(v_org_id, define_capture_source.citable_by) END;
BEGIN
    IF define_capture_source.source IS NULL OR define_capture_source.source !~ '^([*]|[a-z][a-z0-9_.-]{0,62})$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'source: the name of one, or * for those without terms of their own');
    ELSIF define_capture_source.keep_text IS NULL OR define_capture_source.keep_record IS NULL
        OR define_capture_source.keep_text < interval '0'
          OR define_capture_source.keep_record < define_capture_source.keep_text
              OR define_capture_source.keep_record > interval '100 years' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'keep_text, keep_record: not negative, the first no longer '
            'than the second, at most 100 years');
    ELSIF define_capture_source.max_bytes IS NULL OR define_capture_source.max_bytes NOT BETWEEN 1 AND 1048576 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_bytes: 1 to 1,048,576');
    END IF;
    INSERT INTO memwarden_data.capture_source AS s (org_id, source, keep_text, keep_record, max_bytes, citable_by)
    VALUES (v_org_id, define_capture_source.source, define_capture_source.keep_text, define_capture_source.keep_record,
        define_capture_source.max_bytes, v_citable_by)
    ON CONFLICT ON CONSTRAINT capture_source_pkey
    DO UPDATE SET keep_text = excluded.keep_text, keep_record = excluded.keep_record, max_bytes = excluded.max_bytes,
        citable_by = excluded.citable_by;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'define_capture_source', jsonb_build_object(
        'source', define_capture_source.source, 'keep_text', define_capture_source.keep_text, 'keep_record',
        define_capture_source.keep_record,
        'max_bytes', define_capture_source.max_bytes, 'citable_by', define_capture_source.citable_by));
END
$function$;
COMMENT ON FUNCTION memwarden.define_capture_source IS
    'Sets the retention and size limit of captures of a source, also for captures that exist. What a capture is worth as evidence is '
    'set by define_source(''capture:SOURCE/*'', ...). source: the name of the source, or * for all sources without terms of their '
    'own. keep_text: how long the text is kept; 30 days by default. keep_record: how long the time and the hash of the capture are '
    'kept, counted like keep_text from its recording; 365 days by default. max_bytes: the largest capture, 1 to 1,048,576; 65,536 by '
    'default. org: the organisation, whose own terms precede the common ones; by default the caller''s, and for members of '
    'memwarden_admin all organisations. citable_by: the agents of the organisation that may cite its captures as evidence, as far as '
    'they read them; {*} for all that do; by default the agents that each capture was made for. A recorder may cite its own. Raises '
    '22023 for arguments out of range, 42704 for an unknown organisation or agent, 42501 without the right, 25001 at an isolation '
    'level other than READ COMMITTED. Source: F1, V9.';
GRANT EXECUTE ON FUNCTION memwarden.define_capture_source TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.capture_terms(
    p_org_id bigint, p_source text, OUT keep_text interval, OUT keep_record interval, OUT max_bytes integer,
    OUT citable_by bigint[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT s.keep_text, s.keep_record, s.max_bytes, s.citable_by INTO keep_text, keep_record, max_bytes, citable_by
      FROM memwarden_data.capture_source AS s
     WHERE s.org_id IN (0, p_org_id) AND s.source IN ('*', p_source)
     ORDER BY s.org_id DESC, s.source = '*' LIMIT 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.capture_terms IS
    'On what terms an organisation keeps captures of a source: its own before those of all, those of the source before those of *.';
