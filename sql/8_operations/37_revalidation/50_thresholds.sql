-- Where too much is false, more is asked of what is written. The terms of writers read memwarden_data.tightening.
CREATE OR REPLACE FUNCTION memwarden_internal.set_tightening(
    p_org_id bigint, p_layer text, p_sweep_id uuid, p_found_false integer, p_sampled integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_raised_by double precision;
BEGIN
    IF p_found_false > 0.05 * p_sampled THEN
        INSERT INTO memwarden_data.tightening AS t (org_id, layer, raised_by, since, sweep_id)
        VALUES (p_org_id, p_layer, 0.05, clock_timestamp(), p_sweep_id)
        ON CONFLICT ON CONSTRAINT tightening_pkey DO UPDATE SET raised_by = least(t.raised_by + 0.05, 0.2), sweep_id = excluded.sweep_id
        RETURNING t.raised_by INTO v_raised_by;
        PERFORM pg_notify('memwarden_alert', jsonb_build_object('event', 'THRESHOLD_TIGHTENED', 'layer', p_layer)::text);
    ELSE
        DELETE FROM memwarden_data.tightening AS t WHERE t.org_id = p_org_id AND t.layer = p_layer;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    PERFORM memwarden_internal.record_access_change(
        p_org_id, CASE WHEN v_raised_by IS NULL THEN 'relax_threshold' ELSE 'tighten_threshold' END, jsonb_strip_nulls(jsonb_build_object(
            'layer', p_layer, 'raised_by', v_raised_by, 'sweep_id', p_sweep_id, 'found_false', p_found_false, 'sampled', p_sampled)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.set_tightening IS
    'Raises the factual threshold of an organisation and layer by 0.05, to 0.2 more at most, where more than 0.05 of a sample were false; '
    'otherwise takes that back, also where nothing was left to sample.';

CREATE OR REPLACE FUNCTION memwarden.relax_threshold(layer text, reason text, org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(relax_threshold.org, 'layer', relax_threshold.layer);
BEGIN
    IF (length(relax_threshold.reason) <= 1000 AND relax_threshold.reason ~ '[^[:space:]]') IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters, not blank');
    END IF;
    DELETE FROM memwarden_data.tightening AS t WHERE t.org_id = v_org_id AND t.layer = relax_threshold.layer;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('raised threshold of layer %L', relax_threshold.layer));
    END IF;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'relax_threshold', jsonb_build_object(
        'layer', relax_threshold.layer, 'reason', relax_threshold.reason));
END
$function$;
COMMENT ON FUNCTION memwarden.relax_threshold IS
    'Takes back what revalidate() added to the fact_threshold of an organisation in a layer, before a better sweep does. The next sweep '
    'that finds too many false memories raises it again. layer: the layer. reason: why, 1 to 1,000 characters; the access log keeps it. '
    'org: the organisation; by default the caller''s, and a member of memwarden_admin names it. Raises 42704 where nothing is raised, '
    '22023 for a blank reason, 42501 without the right, 25001 at an isolation level other than READ COMMITTED. Source: chapter 12.12.5.';
GRANT EXECUTE ON FUNCTION memwarden.relax_threshold TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.threshold_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    IF NOT memwarden_internal.is_database_admin() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'thresholds', 'warning', 'too many memories were false, so more is asked of writes: '
           || string_agg(format('%s of %s by %s since %s', t.layer, o.name, t.raised_by, date_trunc('second', t.since)), ', '
                         ORDER BY o.name, t.layer) FILTER (WHERE t.place <= 5) || CASE WHEN count(*) > 5 THEN ', ...' ELSE '' END
           || '; SELECT * FROM memwarden.leaked_memories;'
      FROM (SELECT g.org_id, g.layer, g.raised_by, g.since, row_number() OVER (ORDER BY g.org_id, g.layer) AS place
              FROM memwarden_data.tightening AS g) AS t
      JOIN memwarden_data.organisation AS o ON o.org_id = t.org_id
    HAVING count(*) > 0;
    RETURN QUERY
    SELECT 'revalidation', 'warning', format('verifiers have not answered about %s memories that were judged again: does a worker run?; '
           'SELECT * FROM memwarden.revalidations;', sum(n.asked - n.answered))
      FROM (SELECT DISTINCT ON (r.org_id, r.layer) r.asked, r.answered, r.finished_at FROM memwarden_data.revalidation AS r
             WHERE r.finished_at IS NOT NULL ORDER BY r.org_id, r.layer, r.begun_at DESC) AS n
     WHERE n.asked > n.answered AND n.finished_at < clock_timestamp() - interval '1 day'
    HAVING count(*) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.threshold_status IS
    'For administrators: a warning where revalidate() has raised thresholds, and where verifiers have not answered it within a day.';
