-- Requests are counted by the hour, again and again until the hour can change no more: then a late or a killed run counts nothing twice.
CREATE OR REPLACE FUNCTION memwarden_internal.next_hour(p_after timestamptz, p_now timestamptz)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_last    timestamptz := (SELECT max(h.hour) FROM memwarden_data.counted_hour AS h);
    -- A caller may choose a number of the last 24 hours.
    v_from    timestamptz := greatest(p_after + interval '1 hour', CASE WHEN v_last IS NOT NULL
        THEN least(v_last, date_trunc('hour', p_now - interval '26 hours', 'UTC')) END);
    v_open    timestamptz := (SELECT min(h.hour) FROM memwarden_data.counted_hour AS h WHERE NOT h.is_closed AND h.hour > p_after);
    v_request uuid;
BEGIN
    SELECT r.request_id INTO v_request FROM memwarden_data.write_request AS r
     WHERE r.request_id >= memwarden_internal.uuid7_floor(coalesce(v_from, '1970-01-01 00:00:00+00'))
       AND r.request_id < memwarden_internal.uuid7_floor(p_now) ORDER BY r.request_id LIMIT 1;
    RETURN least(v_open, date_trunc('hour', memwarden_internal.uuid7_time(v_request), 'UTC'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.next_hour IS
    'The next hour behind p_after that is still open, or has requests and is not counted; NULL when there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_next_hour(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_now   timestamptz := clock_timestamp();
    v_hour  timestamptz;
    v_known record;
    v_found record;
BEGIN
    -- One at a time. Who writes does not meet this lock.
    PERFORM memwarden_internal.hold_table('memwarden_data.counted_hour');
    v_hour := memwarden_internal.next_hour(coalesce(p_after::timestamptz, '-infinity'), v_now);
    IF v_hour IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT h.requests, h.deferred INTO v_known FROM memwarden_data.counted_hour AS h WHERE h.hour = v_hour;
    SELECT count(*) AS requests, count(*) FILTER (WHERE r.outcome = 'DEFERRED') AS deferred INTO v_found
      FROM memwarden_data.write_request AS r
     WHERE r.request_id >= memwarden_internal.uuid7_floor(v_hour)
       AND r.request_id < memwarden_internal.uuid7_floor(v_hour + interval '1 hour');
    IF v_found IS DISTINCT FROM v_known THEN
        PERFORM memwarden_internal.count_hour(v_hour, v_found.requests);
    END IF;
    INSERT INTO memwarden_data.counted_hour AS h (hour, counted_at, requests, deferred, is_closed)
    VALUES (v_hour, v_now, v_found.requests, v_found.deferred,
            -- What waits for longer than a month is counted as waiting.
            v_hour < v_now - interval '27 hours' AND (v_found.deferred = 0 OR v_hour < v_now - interval '31 days'))
    ON CONFLICT (hour) DO UPDATE
       SET counted_at = excluded.counted_at, requests = excluded.requests, deferred = excluded.deferred, is_closed = excluded.is_closed;
    RETURN v_hour;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_next_hour IS
    'Counts the requests of the next hour behind p_after that may have changed, and returns that hour; NULL when none is left. Waits for '
    'another that counts.';

CREATE OR REPLACE FUNCTION memwarden_internal.count_hour(p_hour timestamptz, p_requests bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_day   date := (p_hour AT TIME ZONE 'UTC')::date;
    v_from  uuid := memwarden_internal.uuid7_floor(p_hour);
    v_until uuid := memwarden_internal.uuid7_floor(p_hour + interval '1 hour');
    -- Of a busy hour 20,000 requests tell the times; drawn by the last bits of their numbers.
    v_below integer := ceil(65536 * least(1, 20000.0 / greatest(p_requests, 1)));
BEGIN
    DELETE FROM memwarden_data.write_hour AS h WHERE h.hour = p_hour;
    DELETE FROM memwarden_data.gate_hour AS h WHERE h.hour = p_hour;
    INSERT INTO memwarden_data.write_hour (org_id, hour, layer, principal_id, outcome, gate, reason, writes, retried, domains)
    -- Names of layers that do not exist are the caller's invention, and could be as many as there are requests.
    SELECT r.org_id, p_hour, coalesce(l.layer, '-'), r.principal_id, r.outcome, coalesce(r.gate, '-'), coalesce(f.reason, '-'),
           count(*), count(*) FILTER (WHERE r.attempt > 1 OR r.reason = 'SCOPE_BUSY'), coalesce(b.domains, '{}')
      FROM memwarden_data.write_request AS r
      LEFT JOIN memwarden_data.layer AS l ON l.layer = r.layer
      LEFT JOIN memwarden_data.label AS b ON b.label_id = r.label_id
     -- The last gate that found what a merged write adds to.
     CROSS JOIN LATERAL (SELECT CASE r.outcome WHEN 'MERGED' THEN substring(r.gates FROM '.*"((?:STRUCTURAL|SEMANTIC)_DUPLICATE)"')
                                               ELSE r.reason END AS reason) AS f
     WHERE r.request_id >= v_from AND r.request_id < v_until AND r.act IS NULL
     GROUP BY r.org_id, coalesce(l.layer, '-'), r.principal_id, r.outcome, coalesce(r.gate, '-'), coalesce(f.reason, '-'),
              coalesce(b.domains, '{}');
    DELETE FROM memwarden_data.write_day AS d WHERE d.day = v_day;
    INSERT INTO memwarden_data.write_day (org_id, day, layer, principal_id, outcome, gate, reason, writes, retried)
    SELECT h.org_id, v_day, h.layer, h.principal_id, h.outcome, h.gate, h.reason, sum(h.writes), sum(h.retried)
      FROM memwarden_data.write_hour AS h
     WHERE h.hour >= v_day AT TIME ZONE 'UTC' AND h.hour < (v_day + 1) AT TIME ZONE 'UTC'
     GROUP BY h.org_id, h.layer, h.principal_id, h.outcome, h.gate, h.reason;
    -- What a plain write did not ask singly took no time of its own: that is no measurement.
    INSERT INTO memwarden_data.gate_hour (org_id, hour, gate, bucket, requests)
    SELECT t.org_id, p_hour, memwarden_internal.gates_of(t.gate || ' 0') -> 0 ->> 'gate', t.bucket, t.requests
      FROM (SELECT r.org_id, split_part(g.line, ' ', 1) AS gate,
                   memwarden_internal.time_bucket(split_part(g.line, ' ', 2)::double precision) AS bucket,
                   count(*) AS requests
              FROM memwarden_data.write_request AS r, string_to_table(memwarden_internal.every_gate(r.gates), E'\n') AS g (line)
             WHERE r.request_id >= v_from AND r.request_id < v_until AND r.act IS NULL AND split_part(g.line, ' ', 2) NOT IN ('', '-')
               AND ('x' || right(r.request_id::text, 4))::bit(16)::integer < v_below
             GROUP BY 1, 2, 3) AS t;
    INSERT INTO memwarden_data.gate_hour (org_id, hour, gate, layer, path, bucket, requests)
    SELECT w.org_id, p_hour, '*', coalesce(l.layer, '-'), w.path, w.bucket, count(*)
      FROM (SELECT r.org_id, r.layer, memwarden_internal.write_path(r.outcome, r.attempt, r.login, r.gates) AS path,
                   memwarden_internal.time_bucket(date_part('epoch', r.decided_at - r.submitted_at) * 1000000) AS bucket
              FROM memwarden_data.write_request AS r
             WHERE r.request_id >= v_from AND r.request_id < v_until AND r.act IS NULL
               -- What made a gate fail is recorded anew, after nobody knows how long.
               AND r.reason IS DISTINCT FROM 'GATE_FAULT'
               AND ('x' || right(r.request_id::text, 4))::bit(16)::integer < v_below) AS w
      LEFT JOIN memwarden_data.layer AS l ON l.layer = w.layer
     WHERE w.path IS NOT NULL
     GROUP BY 1, 3, 4, 5, 6;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_hour IS
    'Counts the writes of an hour anew, the times of their gates and of each as a whole. p_requests: how many requests it has.';

CREATE OR REPLACE FUNCTION memwarden_internal.time_bucket(p_us double precision)
RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN floor(4 * ln(greatest(p_us, 1)) / ln(2::double precision))::smallint;
COMMENT ON FUNCTION memwarden_internal.time_bucket IS 'The bucket of gate_hour for a time in microseconds.';

-- From when the door was asked to the decision. Of what waited that is not the time that deciding takes.
CREATE OR REPLACE FUNCTION memwarden_internal.write_path(p_outcome text, p_attempt integer, p_login text, p_gates text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_outcome = 'DEFERRED' THEN CASE WHEN p_attempt = 1 THEN 'deferred' END
            -- Whose login was kept has waited once.
            WHEN p_attempt > 1 OR p_login IS NOT NULL THEN 'waited'
            WHEN starts_with(p_gates, '=') THEN 'alone'
            WHEN starts_with(p_gates, '+') THEN 'set'
            ELSE 'gates' END;
COMMENT ON FUNCTION memwarden_internal.write_path IS
    'How a request was decided. alone: plain, by write_alone(); set: plain, in a batch; gates: gate by gate; deferred: it waits, and its '
    'time is that until it was told so; waited: tried again or decided by a person, and its time is that with the wait. NULL for one '
    'that was tried again and still waits.';
