CREATE OR REPLACE FUNCTION memwarden_internal.list_collections()
RETURNS TABLE (org text, layer text, begun_at timestamptz, finished_at timestamptz, looked bigint, waiting bigint,
               done jsonb, held_back jsonb, hygiene jsonb, cleaned_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, c.layer, c.begun_at, c.finished_at, c.looked,
           (SELECT count(*) FROM memwarden_data.collectable AS f WHERE f.org_id = c.org_id AND f.layer = c.layer), c.done, c.held_back,
           c.hygiene, c.cleaned_at
      FROM memwarden_data.collection AS c
      JOIN memwarden_data.organisation AS o ON o.org_id = c.org_id
     WHERE c.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.collections IS
    'Shows the collection of each organisation and layer. begun_at: since when a pass runs, null between passes. finished_at: when the '
    'last one ended. looked: at how many memories. waiting: how many of them are still to go. done: how many went, by reason. held_back: '
    'how many wait for run_gc() with a number, by reason, because they are most of the layer. hygiene: what clean_layers() found last, an '
    'array of finding, action, items and done as run_hygiene() returns them; HELD_BACK are more than half of the layer, which wait for '
    'run_hygiene() with a number. cleaned_at: when it had looked.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_collections TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.held_back_of(p_org_id bigint)
RETURNS TABLE (layer text, items bigint, reasons text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 2
AS $function$
BEGIN
    RETURN QUERY
    SELECT c.layer, sum(e.value::bigint)::bigint, string_agg(e.key || ' ' || e.value, ', ' ORDER BY e.key)
      FROM memwarden_data.collection AS c CROSS JOIN LATERAL jsonb_each_text(c.held_back) AS e
     WHERE c.org_id = p_org_id GROUP BY c.layer;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.held_back_of IS
    'How many memories of each layer of an organisation the last pass held back, and by which rules; layers without any are no row.';

CREATE OR REPLACE FUNCTION memwarden_internal.collection_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_told boolean;
BEGIN
    -- How much others hold is an administrator's to know.
    IF NOT memwarden_internal.is_database_admin() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'collection', 'warning', format(
               'layer %s of %s: %s of %s memories are due and held back, since they are most of the layer (%s). Look: SELECT * FROM '
               'memwarden.run_gc(%L, org => %L); and then either let them go: the same with dry_run => false, expected => the sum of items '
               'without KEEP; or change the rule: configure_layer()', h.layer, o.name, h.items, c.active, h.reasons, h.layer, o.name)
      FROM memwarden_data.organisation AS o
     CROSS JOIN LATERAL memwarden_internal.held_back_of(o.org_id) AS h
      JOIN memwarden_data.collection AS c ON c.org_id = o.org_id AND c.layer = h.layer
     ORDER BY o.name, h.layer;
    v_told := FOUND;
    RETURN QUERY
    SELECT 'collection', 'warning', format(
               '%s scopes of %s hold more than nine tenths of what layer %s is for (max_items %s), the fullest %s. %s. Raise max_items, '
               'or let memories go: configure_layer(%L, ...), SELECT * FROM memwarden.run_gc(%L, org => %L)', f.scopes, o.name, c.layer,
               l.max_items, f.most, CASE WHEN l.eviction IS NULL THEN 'None goes, since the layer has no eviction'
                                         ELSE 'What is more goes, by ' || l.eviction || ', and recover() brings it back' END,
               c.layer, c.layer, o.name)
      FROM memwarden_data.collection AS c
      JOIN memwarden_data.organisation AS o ON o.org_id = c.org_id
      JOIN memwarden_data.kept_layer AS l ON l.org_id = c.org_id AND l.principal_id = 0 AND l.layer = c.layer
     CROSS JOIN LATERAL (SELECT count(*) AS scopes, max(e.value::bigint) AS most FROM jsonb_each_text(c.full_scopes) AS e) AS f
     WHERE c.full_scopes <> '{}'
     ORDER BY o.name, c.layer;
    IF NOT FOUND AND NOT v_told THEN
        RETURN QUERY SELECT 'collection', 'ok', 'nothing held back, no scope full';
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.collection_status IS
    'For administrators: a warning for each layer of which collection holds most back, and for each of which scopes are nearly full or '
    'over, with what to do.';
