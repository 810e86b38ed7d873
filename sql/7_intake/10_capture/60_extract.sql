CREATE OR REPLACE FUNCTION memwarden.extract(
    source text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    extractor text DEFAULT NULL, extractor_version integer DEFAULT NULL, k integer DEFAULT 100)
RETURNS TABLE (capture_id uuid, extractor_name text, version integer, candidates integer, dropped integer, fault text,
               request_id uuid, outcome text, item_id uuid, gate text, reason text, unread integer)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.open_door();
    v_read         jsonb := '[]'::jsonb;
    v_requests     jsonb := '[]'::jsonb;
    v_due          record;
    v_found        record;
    v_asked        jsonb;
BEGIN
    IF extract.k IS NULL OR extract.k NOT BETWEEN 1 AND 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'k: 1 to 1,000');
    ELSIF extract.extractor_version IS NOT NULL AND extract.extractor IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'extractor_version: of which extractor');
    END IF;
    FOR v_due IN
        SELECT d.org_id, d.capture_id, d.extractor_id
          FROM memwarden_internal.due_captures(v_principal_id, '{rules,function}', extract.extractor, extract.extractor_version,
                   extract.source, extract.since, extract.until, extract.k) AS d
    LOOP
        v_found := memwarden_internal.run_extractor(v_due.org_id, v_due.capture_id, v_due.extractor_id);
        v_asked := memwarden_internal.take_candidates(v_due.org_id, v_due.capture_id, v_due.extractor_id, v_found.candidates,
            v_found.fault, v_found.unread);
        IF v_asked IS NOT NULL THEN
            v_requests := v_requests || v_asked;
            v_read := v_read || jsonb_build_object('capture_id', v_due.capture_id, 'extractor_id', v_due.extractor_id, 'requests',
                                                   (SELECT coalesce(jsonb_agg(a -> 'request_id'), '[]')
                                                       FROM jsonb_array_elements(v_asked) AS a));
        END IF;
    END LOOP;
    RETURN QUERY
    WITH written AS MATERIALIZED (
        SELECT w.request_id, w.outcome::text AS outcome, w.item_id, w.gate, w.reason FROM memwarden.write_many(v_requests::json) AS w
    )
    SELECT x.capture_id, e.extractor, e.version, x.candidates, x.dropped, x.fault, w.request_id, w.outcome, w.item_id, w.gate, w.reason,
           x.unread
      FROM jsonb_array_elements(v_read) WITH ORDINALITY AS r (read, ordinality)
      JOIN memwarden_data.extraction AS x
        ON x.principal_id = v_principal_id AND x.capture_id = (r.read ->> 'capture_id')::uuid
            AND x.extractor_id = (r.read ->> 'extractor_id')::bigint
      JOIN memwarden_data.extractor AS e ON e.extractor_id = x.extractor_id AND e.org_id IN (0, x.org_id)
      LEFT JOIN LATERAL jsonb_array_elements_text(r.read -> 'requests') WITH ORDINALITY AS q (id, place) ON true
      LEFT JOIN written AS w ON w.request_id = q.id::uuid
     ORDER BY r.ordinality, q.place;
END
$function$;
COMMENT ON FUNCTION memwarden.extract IS
    'Runs extractors over the caller''s captures and writes the memories that they find. The memories are written in '
    'the caller''s name and through every gate, with the capture as evidence (memwarden:capture/ID). Each version of '
    'an extractor reads a capture once. Several runs at once read different captures. A run that was killed is just '
    'run again. The program memwarden extract runs extractors of method plugin. source, since, until: only captures '
    'from this source and of this time (by captured_at). extractor: only this one. extractor_version: this version of '
    'it, also for captures that came before it; by default the version that was the newest when the capture came '
    'reads it. k: at most so many pairs of capture and extractor, 1 to 1,000, default 100; call again until no row '
    'comes. Returns one row for each candidate that was asked for, with the outcome of its write. A capture without '
    'candidates has one row without a request. candidates: how many were asked for. dropped: how many were under the '
    'floor or malformed. fault: the SQLSTATE of an extractor that failed; memwarden tries it up to three times. unread: how many parts '
    'of the capture have a shape that the built-in rules do not know; fault is then 0A000, the other parts are read, and status() tells '
    'of it. '
    'Raises 22023 for arguments out of range; 28000 without an identity; 25001 at an isolation level other than READ '
    'COMMITTED; 55000 before setup(); 55P03 as write_many() does. Source: F2, primitives 8.';
GRANT EXECUTE ON FUNCTION memwarden.extract TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.run_extractor(
    p_org_id bigint, p_capture_id uuid, p_extractor_id bigint, OUT candidates jsonb, OUT fault text, OUT unread integer)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_extractor record;
    v_function  regprocedure;
    v_capture   jsonb := memwarden_internal.shown_capture(p_org_id, p_capture_id);
BEGIN
    SELECT e.method, e.implementation, e.body_hash INTO v_extractor
      FROM memwarden_data.extractor AS e WHERE e.extractor_id = p_extractor_id AND e.org_id IN (0, p_org_id);
    candidates := '[]'::jsonb;
    unread := 0;
    IF v_extractor.method = 'rules' THEN
        SELECT r.candidates, r.unread, CASE WHEN r.unread > 0 THEN '0A000' END INTO candidates, unread, fault
          FROM memwarden_internal.extract_by_rules((v_capture -> 'content')::text) AS r;
        RETURN;
    END IF;
    v_function := to_regprocedure(v_extractor.implementation);
    -- Its owner or its body may have changed since it was defined.
    IF v_function IS NULL OR NOT memwarden_internal.is_safe_extractor(v_function)
       OR memwarden_internal.body_hash(v_function) IS DISTINCT FROM v_extractor.body_hash THEN
        fault := '55000';
        RETURN;
    END IF;
    BEGIN
        EXECUTE format('SELECT coalesce(jsonb_agg(f.candidate), ''[]'') FROM (SELECT r.candidate FROM %s($1) AS r (candidate) '
            'LIMIT 1000) AS f',
                       v_function::oid::regproc)
           INTO candidates USING v_capture;
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        IF NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
            RAISE;
        END IF;
        candidates := '[]'::jsonb;
        fault := SQLSTATE;
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.run_extractor IS
    'What an extractor of method rules or function finds in a capture, a JSON array; fault: the SQLSTATE that it failed '
    'with, 55000 where the function is gone or no longer what it was, 0A000 where parts of the capture have a shape that it does not '
    'know; unread: how many these are.';
