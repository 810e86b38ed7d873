CREATE OR REPLACE FUNCTION memwarden.citable(max_rows integer DEFAULT 20)
RETURNS TABLE (uri text, recorder text, source text, external_id text, speakers text[], scope text, captured_at timestamptz)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter_to_read();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_who          record;
    v_sources      text[];
    v_capture      record;
    v_left         integer := citable.max_rows;
BEGIN
    IF citable.max_rows IS NULL OR citable.max_rows NOT BETWEEN 1 AND 100 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 100');
    END IF;
    SELECT p.org_id, p.home_scope_id INTO v_who FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id;
    v_sources := ARRAY(SELECT s.source FROM memwarden_data.capture_source AS s
                        WHERE s.org_id IN (0, v_who.org_id) AND s.citable_by && ARRAY[0, v_principal_id]);
    FOR v_capture IN
        SELECT c.capture_id, c.captured_at, c.source, c.external_id, p.name, s.path
          FROM memwarden_data.capture AS c
          JOIN memwarden_data.principal AS p ON p.principal_id = c.principal_id
          JOIN memwarden_data.scope AS s ON s.scope_id = c.scope_id
         WHERE c.org_id = v_who.org_id AND c.scope_id = ANY (v_scopes) AND c.content IS NOT NULL
           -- What others may cite costs a comparison here; which of these the caller may, citable_now() says.
           AND (c.principal_id = v_principal_id OR ARRAY[c.source, '*'] && v_sources
                OR coalesce(v_principal_id = ANY (c.captured_for), c.scope_id = v_who.home_scope_id))
         ORDER BY c.capture_id DESC
         LIMIT 1000
    LOOP
        uri := 'memwarden:capture/' || v_capture.capture_id;
        CONTINUE WHEN (memwarden_internal.citable_now(v_principal_id, v_who.org_id, uri)).capture_id IS NULL;
        recorder := v_capture.name;
        source := v_capture.source;
        external_id := v_capture.external_id;
        scope := v_capture.path;
        captured_at := v_capture.captured_at;
        speakers := (SELECT array_agg(DISTINCT t.speaker)
                       FROM memwarden_data.said_capture AS d CROSS JOIN LATERAL memwarden_internal.turns_of(d.content) AS t
                      WHERE d.org_id = v_who.org_id AND d.capture_id = v_capture.capture_id AND t.speaker IS NOT NULL);
        RETURN NEXT;
        v_left := v_left - 1;
        EXIT WHEN v_left = 0;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.citable IS
    'Lists the captures that the caller may cite as evidence, newest first, without what they say. It looks at the last 1,000 captures '
    'of the scopes that the caller reads. uri: what to cite in evidence of a write. recorder, source, external_id: who recorded it, '
    'where it comes from, and its name there. speakers: who speaks in it, as it was recorded. max_rows: 1 to 100; default 20. Raises '
    '28000 without an identity; 22023 for max_rows out of range; 55000 when storage and functions disagree.';
GRANT EXECUTE ON FUNCTION memwarden.citable TO memwarden_agent, memwarden_curator;
