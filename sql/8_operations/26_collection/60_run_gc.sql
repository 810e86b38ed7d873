-- A collection by hand: first what it would do, then with the number of it.
CREATE OR REPLACE FUNCTION memwarden.run_gc(
    layer text DEFAULT NULL, dry_run boolean DEFAULT true, expected bigint DEFAULT NULL, org text DEFAULT NULL,
    max_items integer DEFAULT 200)
RETURNS TABLE (org_name text, layer_name text, action text, reason text, items bigint, done bigint, needs_expected boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(
        run_gc.org, CASE WHEN run_gc.layer IS NULL THEN 'full' ELSE 'layer' END, run_gc.layer);
    v_orgs   bigint[];
    v_layers text[];
    v_now    timestamptz := clock_timestamp();
BEGIN
    IF run_gc.layer IS NOT NULL AND NOT EXISTS (SELECT FROM memwarden_data.layer AS l WHERE l.layer = run_gc.layer) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('layer %L', left(run_gc.layer, 100)));
    ELSIF run_gc.expected < 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'expected: 0 or more');
    ELSIF (run_gc.max_items BETWEEN 1 AND 10000) IS NOT TRUE THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_items: 1 to 10,000');
    END IF;
    SELECT array_agg(o.org_id ORDER BY o.org_id, l.layer), array_agg(l.layer ORDER BY o.org_id, l.layer) INTO v_orgs, v_layers
      FROM memwarden_data.organisation AS o CROSS JOIN memwarden_data.layer AS l
     WHERE (o.org_id = v_org_id OR v_org_id = 0 AND run_gc.org IS NULL) AND (run_gc.layer IS NULL OR l.layer = run_gc.layer);
    IF coalesce(run_gc.dry_run, true) THEN
        RETURN QUERY
        SELECT o.name, p.layer, f.action, f.reason, f.items, 0::bigint, f.needs_expected
          FROM unnest(v_orgs, v_layers) AS p (org_id, layer)
          JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
         CROSS JOIN LATERAL memwarden_internal.forecast_collection(p.org_id, p.layer, v_now) AS f
         ORDER BY o.name, p.layer, f.action, f.reason;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT o.name, g.layer, g.action, g.reason, g.items, g.done, false
      FROM memwarden_internal.collect_by_hand(v_orgs, v_layers, run_gc.expected, run_gc.max_items, v_now) AS g
      JOIN memwarden_data.organisation AS o ON o.org_id = g.org_id
     ORDER BY o.name, g.layer, g.action, g.reason;
END
$function$;
COMMENT ON FUNCTION memwarden.run_gc IS
    'Collects memories by hand, by the rules of the job collect(). First shows what it would do. Administrators of the organisation may '
    'call it, those of a layer for that layer. layer: default all. dry_run: true, the default, changes nothing. expected: how many '
    'memories may go at most, as the dry run counted them without KEEP; required where a layer would lose more than half of its memories '
    'by a rule other than their time to live. org: the organisation; by default the caller''s, for members of memwarden_admin all. '
    'max_items: how many this call takes at most, 1 to 10,000, by default 200, since writers of their scopes wait meanwhile; the rest '
    'is left to collect(). Returns a row for each layer, action and reason. action: EXPIRE, which recover() undoes within the layer''s '
    'recovery_window; DELETE, for good; in a dry run also KEEP, with what keeps a memory that a rule would take. reason: TTL_OVER, '
    'STALE, IRRELEVANT, UNREAD, OVER_CAP, GRACE_OVER, SUPERSEDED, RETENTION_OVER; or PINNED, HELD, LINKED, DUTY. '
    'items: how many were found. done: how many '
    'went. needs_expected: whether the real run asks for expected. Raises 42501 without the right; 42704 for an unknown organisation or '
    'layer, and where something was expected and nothing was found; 22023 for arguments out of range; 55000 where more would go than '
    'expected; 25001 at an isolation level other than READ COMMITTED; 55P03 while the job works on the layer. Source: chapter 12.7.4.';
GRANT EXECUTE ON FUNCTION memwarden.run_gc TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.forecast_collection(p_org_id bigint, p_layer text, p_now timestamptz)
RETURNS TABLE (action text, reason text, items bigint, needs_expected boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_status text;
    v_page   record;
    v_scope  bigint;
    v_place  bytea;
    v_active bigint := 0;
    v_found  jsonb := jsonb_build_object();
    v_counts jsonb;
    v_asked  bigint;
BEGIN
    FOREACH v_status IN ARRAY ARRAY['ACTIVE', 'EXPIRED', 'SUPERSEDED'] LOOP
        v_scope := -1;
        v_place := ''::bytea;
        LOOP
            v_page := memwarden_internal.page_of_layer(p_org_id, p_layer, v_status, v_scope, v_place, 1000);
            EXIT WHEN v_page.item_ids IS NULL;
            v_scope := v_page.last_scope;
            v_place := v_page.last_place;
            v_active := v_active + CASE v_status WHEN 'ACTIVE' THEN cardinality(v_page.item_ids) ELSE 0 END;
            SELECT jsonb_object_agg(g.name, g.items) INTO v_counts
              FROM (SELECT CASE WHEN coalesce(r.kept, '{}') = '{}' THEN r.action || ' ' || r.reason ELSE 'KEEP ' || r.kept[1] END AS name,
                           count(*) AS items
                      FROM memwarden_internal.collection_rules(p_org_id, v_page.item_ids, p_now) AS r GROUP BY 1) AS g;
            v_found := memwarden_internal.sum_of_counts(v_found, v_counts);
        END LOOP;
    END LOOP;
    SELECT jsonb_build_object('EXPIRE OVER_CAP', count(*)) INTO v_counts
      FROM memwarden_internal.over_cap(p_org_id, p_layer, p_now) AS o
     WHERE NOT EXISTS (SELECT FROM memwarden_internal.collection_rules(p_org_id, ARRAY[o.item_id], p_now));
    v_found := memwarden_internal.sum_of_counts(v_found, v_counts);
    v_asked := (SELECT sum(f.value::bigint) FROM jsonb_each_text(v_found) AS f
                 WHERE f.key LIKE 'EXPIRE %' AND f.key <> 'EXPIRE TTL_OVER');
    RETURN QUERY
    SELECT split_part(f.key, ' ', 1), split_part(f.key, ' ', 2), f.value::bigint,
           f.key LIKE 'EXPIRE %' AND f.key <> 'EXPIRE TTL_OVER' AND memwarden_internal.needs_consent(v_asked, v_active)
      FROM jsonb_each_text(v_found) AS f;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forecast_collection IS
    'What a pass over a layer would find at p_now: how many, by action and reason. KEEP: what a rule would take, and something keeps.';

CREATE OR REPLACE FUNCTION memwarden_internal.collect_by_hand(
    p_orgs bigint[], p_layers text[], p_expected bigint, p_most integer, p_now timestamptz)
RETURNS TABLE (org_id bigint, layer text, action text, reason text, items bigint, done bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_before jsonb;
    v_place  record;
    v_begun  bigint := 0;
BEGIN
    PERFORM memwarden_internal.look_by_hand(p_orgs, p_layers, p_expected, p_now);
    SELECT coalesce(jsonb_agg(to_jsonb(g)), '[]') INTO v_before
      FROM (SELECT f.org_id, f.layer, f.action, f.reason, count(*) AS items
              FROM unnest(p_orgs, p_layers) AS p (org_id, layer)
              JOIN memwarden_data.collectable AS f ON f.org_id = p.org_id AND f.layer = p.layer
             GROUP BY f.org_id, f.layer, f.action, f.reason) AS g;
    FOR v_place IN SELECT p.org_id, p.layer FROM unnest(p_orgs, p_layers) AS p (org_id, layer) LOOP
        WHILE v_begun < p_most LOOP
            IF NOT memwarden_internal.take_collectable(v_place.org_id, v_place.layer, least(p_most - v_begun, 50)::integer, p_now,
                   coalesce(memwarden_internal.current_principal(), 0)) THEN
                PERFORM memwarden_internal.end_collection(v_place.org_id, v_place.layer, p_now);
                EXIT;
            END IF;
            v_begun := (SELECT sum(b.items) FROM jsonb_to_recordset(v_before) AS b (items bigint))
                - (SELECT count(*) FROM unnest(p_orgs, p_layers) AS p (org_id, layer)
                     JOIN memwarden_data.collectable AS f ON f.org_id = p.org_id AND f.layer = p.layer);
        END LOOP;
    END LOOP;
    RETURN QUERY
    SELECT b.org_id, b.layer, b.action, b.reason, b.items, coalesce((c.done ->> b.reason)::bigint, 0)
      FROM jsonb_to_recordset(v_before) AS b (org_id bigint, layer text, action text, reason text, items bigint)
      JOIN memwarden_data.collection AS c ON c.org_id = b.org_id AND c.layer = b.layer;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.collect_by_hand IS
    'Looks at whole layers and takes at most p_most of what is found; the job takes the rest. Raises as run_gc() does.';

CREATE OR REPLACE FUNCTION memwarden_internal.look_by_hand(p_orgs bigint[], p_layers text[], p_expected bigint, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_place record;
    v_held  text;
    v_total bigint;
BEGIN
    PERFORM memwarden_internal.list_layers_to_collect();
    FOR v_place IN SELECT p.org_id, p.layer FROM unnest(p_orgs, p_layers) AS p (org_id, layer) LOOP
        PERFORM FROM memwarden_data.collection AS c
          WHERE c.org_id = v_place.org_id AND c.layer = v_place.layer FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            PERFORM memwarden_internal.raise_error('scope_busy', format('a collection of layer %s', v_place.layer));
        END IF;
        PERFORM memwarden_internal.begin_collection(v_place.org_id, v_place.layer, p_now);
        UPDATE memwarden_data.collection AS c SET agreed = p_expected WHERE c.org_id = v_place.org_id AND c.layer = v_place.layer;
        WHILE EXISTS (SELECT FROM memwarden_data.collection AS c
                       WHERE c.org_id = v_place.org_id AND c.layer = v_place.layer AND c.stage <> 'COLLECT') LOOP
            PERFORM memwarden_internal.look_for_collection(v_place.org_id, v_place.layer, 1000, p_now);
        END LOOP;
    END LOOP;
    SELECT string_agg(format('%s of the %s memories in layer %s', h.items, c.active, c.layer), '; ') INTO v_held
      FROM unnest(p_orgs, p_layers) AS p (org_id, layer)
      JOIN memwarden_data.collection AS c ON c.org_id = p.org_id AND c.layer = p.layer AND c.held_back <> '{}'
     CROSS JOIN LATERAL (SELECT sum(e.value::bigint) AS items FROM jsonb_each_text(c.held_back) AS e) AS h;
    v_total := (SELECT count(*) FROM unnest(p_orgs, p_layers) AS p (org_id, layer)
                  JOIN memwarden_data.collectable AS f ON f.org_id = p.org_id AND f.layer = p.layer);
    IF v_held IS NOT NULL OR v_total > p_expected THEN
        PERFORM memwarden_internal.raise_error('more_than_expected', coalesce(v_held, format('%s memories', v_total)));
    ELSIF v_total = 0 AND p_expected > 0 THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'a memory that is due for collection');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.look_by_hand IS
    'Makes the first half of a pass over some layers. Raises 55000 where that finds more than p_expected, or most of a layer and no '
    'number was given; 42704 where it finds nothing of what was expected; 55P03 while another works on one of them.';
