-- A breach is an incident until a run finds none of its kind.
CREATE OR REPLACE FUNCTION memwarden_internal.note_incidents(
    p_org_id bigint, p_now timestamptz DEFAULT NULL, p_kind text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now   timestamptz := coalesce(p_now, clock_timestamp());
    v_kinds text[] := ARRAY[]::text[];
    v_found record;
    v_new   uuid;
BEGIN
    FOR v_found IN
        SELECT n.kind, count(*) AS breaches, jsonb_agg(n.detail ORDER BY n.place) FILTER (WHERE n.place <= 100) AS examples
          FROM (SELECT b.kind, b.detail, row_number() OVER (PARTITION BY b.kind ORDER BY b.object_id) AS place
                  FROM memwarden_internal.breaches(p_org_id, v_now, p_kind) AS b) AS n
         GROUP BY n.kind ORDER BY n.kind
    LOOP
        v_kinds := v_kinds || v_found.kind;
        UPDATE memwarden_data.incident AS i SET breaches = v_found.breaches, examples = v_found.examples, seen_at = v_now
         WHERE i.org_id = p_org_id AND i.kind = v_found.kind AND i.closed_at IS NULL;
        CONTINUE WHEN FOUND;
        INSERT INTO memwarden_data.incident AS i (org_id, incident_id, kind, breaches, examples, opened_at, seen_at)
        VALUES (p_org_id, memwarden_internal.uuid7(), v_found.kind, v_found.breaches, v_found.examples, v_now, v_now)
        ON CONFLICT (org_id, kind) WHERE i.closed_at IS NULL DO NOTHING
        RETURNING i.incident_id INTO v_new;
        -- Another run has just opened it: that one tells.
        CONTINUE WHEN v_new IS NULL;
        PERFORM memwarden_internal.tell_of_incident(p_org_id, v_new, v_found.kind);
        v_new := NULL;
    END LOOP;
    UPDATE memwarden_data.incident AS i SET closed_at = v_now
     WHERE i.org_id = p_org_id AND i.closed_at IS NULL AND i.kind <> ALL (v_kinds) AND i.kind = coalesce(p_kind, i.kind);
    RETURN cardinality(v_kinds);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_incidents IS
    'Opens an incident for each kind of breach that is new, brings the open ones up to date, and closes those of which '
    'nothing is left. Returns how many are open. p_now: the moment, now by default. p_kind: of this kind alone; by default of all.';

CREATE OR REPLACE FUNCTION memwarden_internal.tell_of_incident(p_org_id bigint, p_incident_id uuid, p_kind text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    INSERT INTO memwarden_data.review_notice (
        org_id, notice_id, channel_org_id, channel, event_id, request_id, event, created_at, run_at)
    SELECT p_org_id, memwarden_internal.uuid7(), c.org_id, c.name, p_incident_id, p_incident_id, 'incident', v_now, v_now
      FROM (SELECT DISTINCT ON (o.name) o.org_id, o.name, o.events, o.layer, o.scope_id FROM memwarden_data.review_channel AS o
             WHERE o.org_id IN (0, p_org_id) ORDER BY o.name, o.org_id DESC) AS c
     -- It is of no layer and no scope.
     WHERE 'incident' = ANY (c.events) AND c.layer IS NULL AND c.scope_id IS NULL;
    IF FOUND THEN
        PERFORM pg_notify('memwarden_notice', '');
    END IF;
    PERFORM pg_notify('memwarden_alert', jsonb_build_object('event', p_kind, 'incident_id', p_incident_id)::text);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tell_of_incident IS
    'Makes a notice of an incident for each channel that takes them, and tells who listens on memwarden_alert.';

CREATE OR REPLACE FUNCTION memwarden_internal.notice_of_incident(p_org_id bigint, p_notice_id uuid, p_incident_id uuid, p_link text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT jsonb_strip_nulls(jsonb_build_object(
                   'id', p_notice_id, 'event', 'incident', 'at', i.opened_at, 'incident_id', i.incident_id, 'org', o.name,
                   'severity', 'P0', 'kind', i.kind, 'breaches', i.breaches, 'closed_at', i.closed_at,
                   'link', p_link || i.incident_id::text))
          FROM memwarden_data.incident AS i
          JOIN memwarden_data.organisation AS o ON o.org_id = i.org_id
         WHERE i.org_id = p_org_id AND i.incident_id = p_incident_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.notice_of_incident IS
    'What a channel is told about an incident: names, numbers and times as they are now.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_next_org(p_after bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := (SELECT min(o.org_id) FROM memwarden_data.organisation AS o WHERE p_after IS NULL OR o.org_id > p_after);
BEGIN
    IF v_org_id IS NOT NULL THEN
        PERFORM memwarden_internal.note_incidents(v_org_id);
    END IF;
    RETURN v_org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_next_org IS
    'Looks for breaches in the next organisation by number. Returns it; NULL after the last.';
GRANT EXECUTE ON FUNCTION memwarden_internal.check_next_org TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE PROCEDURE memwarden.check_compliance()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
DECLARE
    v_org_id bigint;
BEGIN
    LOOP
        v_org_id := memwarden_internal.check_next_org(v_org_id);
        EXIT WHEN v_org_id IS NULL;
        COMMIT;
    END LOOP;
    COMMIT;
END
$procedure$;
COMMENT ON PROCEDURE memwarden.check_compliance IS
    'Looks for breaches of retention, erasure, residency and consent, and for harm by memory (MEMORY_HARMS: tasks that are surely done '
    'better without it, see correctness_impact), in every organisation, as a part of the job '
    'enforce_retention(). It opens a P0 incident for each kind of breach and organisation, tells the channels that take the event '
    'incident, and closes incidents of which nothing is left. The view incidents lists them, and remediate() acts. It changes no '
    'memory. It is safe to run twice at once and to kill. It commits after each organisation, so it cannot run inside a transaction. '
    'Source: chapter 12.10.5, R6.';
GRANT EXECUTE ON PROCEDURE memwarden.check_compliance TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.compliance_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    -- What is wrong elsewhere, and who is sought, is an administrator's to know.
    IF NOT memwarden_internal.is_database_admin() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'incidents', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           CASE WHEN count(*) = 0 THEN 'none open'
                ELSE format('P0: %s open since %s: %s; SELECT * FROM memwarden.incidents WHERE state = ''open''; and then '
                            'memwarden.remediate(incident_id)', count(*), date_trunc('second', min(i.opened_at)),
                            string_agg(format('%s of %s (%s)', i.kind, o.name, i.breaches), ', ' ORDER BY i.opened_at, o.name)
                                FILTER (WHERE i.place <= 5) || CASE WHEN count(*) > 5 THEN ', ...' ELSE '' END) END
      FROM (SELECT n.org_id, n.kind, n.breaches, n.opened_at, row_number() OVER (ORDER BY n.opened_at, n.incident_id) AS place
              FROM memwarden_data.incident AS n WHERE n.closed_at IS NULL) AS i
      JOIN memwarden_data.organisation AS o ON o.org_id = i.org_id;
    RETURN QUERY
    SELECT 'legal holds', CASE WHEN b.erasures + b.unread + u.memories = 0 THEN 'ok' ELSE 'warning' END,
           h.holds || ' in force' || CASE WHEN u.memories = 0 THEN '' ELSE format(
               '; %s memories cannot be read and count as held: see subject keys', u.memories) END
           || CASE WHEN b.erasures = 0 THEN '' ELSE format(
               '; %s erasures wait for them, the first since %s: SELECT * FROM memwarden.erasures WHERE status = ''BLOCKED'';',
               b.erasures, date_trunc('second', b.since)) END
           || CASE WHEN b.unread = 0 THEN '' ELSE format(
               '; %s erasures wait for keys of subjects', b.unread) END
      FROM (SELECT count(*) AS holds FROM memwarden_data.legal_hold AS l WHERE l.lifted_at IS NULL) AS h
     CROSS JOIN (SELECT count(*) FILTER (WHERE e.unread = 0) AS erasures, min(e.asked_at) FILTER (WHERE e.unread = 0) AS since,
                        count(*) FILTER (WHERE e.unread > 0) AS unread FROM memwarden_data.blocked_erasure AS e) AS b
     CROSS JOIN (SELECT coalesce(sum(memwarden_internal.count_unread(o.org_id)), 0) AS memories
                   FROM (SELECT DISTINCT l.org_id FROM memwarden_data.legal_hold AS l
                          WHERE l.lifted_at IS NULL AND l.texts IS NOT NULL) AS o) AS u;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.compliance_status IS
    'For administrators: a warning while incidents of the compliance run are open, and one while erasures wait for legal holds or for '
    'keys, or memories that cannot be read count as held.';
