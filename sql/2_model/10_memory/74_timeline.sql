-- What is true of a subject and predicate, over the time of the world. Each change ends rows of the time
-- of the store and begins others; the rows of any earlier moment stay as they were.
CREATE OR REPLACE FUNCTION memwarden_internal.assert_value(
    p_org_id bigint, p_scope_id bigint, p_item_id uuid, p_version_id uuid, p_valid_during tstzrange, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH ended AS (
        UPDATE memwarden_data.timeline AS t SET recorded_during = tstzrange(lower(t.recorded_during), p_now)
         WHERE t.org_id = p_org_id AND t.item_id = p_item_id
           AND t.recorded_during && tstzrange(p_now, NULL) AND upper_inf(t.recorded_during) AND t.valid_during && p_valid_during
        RETURNING t.version_id, t.valid_during
    )
    INSERT INTO memwarden_data.timeline (org_id, scope_id, item_id, version_id, valid_during, recorded_during)
    SELECT p_org_id, p_scope_id, p_item_id, e.version_id, rest.period, tstzrange(p_now, NULL)
      FROM ended AS e, unnest(tstzmultirange(e.valid_during) - tstzmultirange(p_valid_during)) AS rest (period)
     UNION ALL
    SELECT p_org_id, p_scope_id, p_item_id, p_version_id, p_valid_during, tstzrange(p_now, NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.assert_value IS
    'From p_now on the store holds that version true for that period; what it held for the period before keeps the rest of its own.';

-- Whoever says since when something holds, and no end, says nothing of what begins later.
CREATE OR REPLACE FUNCTION memwarden_internal.period_left(p_org_id bigint, p_item_id uuid, p_period tstzrange, p_now timestamptz)
RETURNS tstzmultirange
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF NOT upper_inf(p_period) THEN
        RETURN tstzmultirange(p_period);
    END IF;
    RETURN (
        WITH RECURSIVE later (valid_during, begins_at, restores_version_id) AS (
            SELECT t.valid_during, lower(v.valid_during), v.restores_version_id
              FROM memwarden_data.timeline AS t
              JOIN memwarden_data.version AS v ON v.org_id = t.org_id AND v.version_id = t.version_id
             WHERE t.org_id = p_org_id AND t.item_id = p_item_id AND upper_inf(t.recorded_during)
               AND lower(t.valid_during) > lower(p_period) AND (v.expires_at IS NULL OR v.expires_at > p_now)
            UNION ALL
            -- A version that says again what an earlier one said began with that one.
            SELECT l.valid_during, lower(v.valid_during), v.restores_version_id
              FROM later AS l
              JOIN memwarden_data.version AS v ON v.org_id = p_org_id AND v.version_id = l.restores_version_id)
        SELECT tstzmultirange(p_period) - coalesce(range_agg(tstzrange(
                   -- Nothing is left behind the end of time.
                   lower(l.valid_during), nullif(upper(l.valid_during), 'infinity'))), '{}')
          FROM later AS l WHERE l.restores_version_id IS NULL AND l.begins_at > lower(p_period));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.period_left IS
    'Which part of its period a new value of an item takes: all of it where it has an end; else what no value that began '
    'later holds. So values without an end follow each other by their beginnings, in whatever order they are told.';

CREATE OR REPLACE FUNCTION memwarden_internal.end_values(p_org_id bigint, p_item_id uuid, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.timeline AS t SET recorded_during = tstzrange(lower(t.recorded_during), p_now)
     WHERE t.org_id = p_org_id AND t.item_id = p_item_id
       AND t.recorded_during && tstzrange(p_now, NULL) AND upper_inf(t.recorded_during);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.end_values IS 'From p_now on the store holds nothing true by that item.';

CREATE OR REPLACE FUNCTION memwarden_internal.restore_values(
    p_org_id bigint, p_item_id uuid, p_source_id uuid, p_source_from timestamptz, p_version_id uuid, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.end_values(p_org_id, p_item_id, p_now);
    INSERT INTO memwarden_data.timeline (org_id, scope_id, item_id, version_id, valid_during, recorded_during)
    SELECT t.org_id, t.scope_id, t.item_id, CASE t.version_id WHEN p_source_id THEN p_version_id ELSE t.version_id END,
           t.valid_during, tstzrange(p_now, NULL)
      FROM memwarden_data.timeline AS t
     WHERE t.org_id = p_org_id AND t.item_id = p_item_id AND t.recorded_during @> p_source_from;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.restore_values IS
    'From p_now on the store holds true by that item what it held while version p_source_id, current since '
    'p_source_from, was current; p_version_id takes that one''s place.';

CREATE OR REPLACE FUNCTION memwarden_internal.holds_throughout(p_org_id bigint, p_item_id uuid, p_content_hash bytea, p_period tstzrange)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce((
        SELECT range_agg(t.valid_during) @> memwarden_internal.period_left(p_org_id, p_item_id, p_period, clock_timestamp())
          FROM memwarden_data.timeline AS t
          JOIN memwarden_data.version AS v ON v.org_id = t.org_id AND v.version_id = t.version_id AND v.content_hash = p_content_hash
           AND (v.expires_at IS NULL OR v.expires_at > clock_timestamp())
         WHERE t.org_id = p_org_id AND t.item_id = p_item_id
           AND t.recorded_during @> 'infinity'::timestamptz AND t.valid_during && p_period), false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.holds_throughout IS
    'Whether the store holds content of that hash true by that item over the whole of a period, or over what period_left() '
    'leaves of it.';
