-- The first half of a pass reads, and holds nobody up: a page of items after the other, scope by scope.
CREATE OR REPLACE FUNCTION memwarden_internal.page_of_layer(
    p_org_id bigint, p_layer text, p_status text, p_after_scope bigint, p_after_place bytea, p_count integer,
    OUT item_ids uuid[], OUT last_scope bigint, OUT last_place bytea)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $function$
BEGIN
    -- Items whose fingerprints begin alike come together: none falls between two pages.
    SELECT array_agg(p.item_id), max(p.scope_id), (array_agg(p.place ORDER BY p.scope_id DESC, p.place DESC))[1]
      INTO item_ids, last_scope, last_place
      FROM (SELECT s.scope_id, i.place, i.item_id
              FROM memwarden_data.scope AS s
             CROSS JOIN LATERAL (
                   SELECT substr(h.fingerprint, 1, 4) AS place, h.item_id FROM memwarden_data.item AS h
                    WHERE h.org_id = p_org_id AND h.scope_id = s.scope_id AND h.status = p_status AND h.layer = p_layer
                      AND substr(h.fingerprint, 1, 4) > CASE WHEN s.scope_id > p_after_scope THEN ''::bytea ELSE p_after_place END
                    ORDER BY substr(h.fingerprint, 1, 4)) AS i
             WHERE s.org_id = p_org_id AND s.scope_id >= p_after_scope
             ORDER BY s.scope_id, i.place
             FETCH FIRST p_count ROWS WITH TIES) AS p;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.page_of_layer IS
    'About p_count items of a status in a layer of an organisation, after a place: the scope, and in it four bytes of the fingerprint. '
    'item_ids is NULL after the last.';

CREATE OR REPLACE FUNCTION memwarden_internal.look_for_collection(p_org_id bigint, p_layer text, p_count integer, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_pass  record;
    v_ids   uuid[];
    v_scope bigint;
    v_place bytea;
    v_next  text;
BEGIN
    SELECT c.stage, c.after_scope, c.after_place INTO v_pass
      FROM memwarden_data.collection AS c WHERE c.org_id = p_org_id AND c.layer = p_layer;
    IF v_pass.stage = 'CAPS' THEN
        INSERT INTO memwarden_data.collectable (org_id, layer, scope_id, item_id, action, reason)
        SELECT p_org_id, p_layer, o.scope_id, o.item_id, 'EXPIRE', 'OVER_CAP'
          FROM memwarden_internal.over_cap(p_org_id, p_layer, p_now) AS o
            ON CONFLICT DO NOTHING;
        PERFORM memwarden_internal.note_full_scopes(p_org_id, p_layer);
    ELSE
        SELECT p.item_ids, p.last_scope, p.last_place INTO v_ids, v_scope, v_place
          FROM memwarden_internal.page_of_layer(p_org_id, p_layer, v_pass.stage, v_pass.after_scope, v_pass.after_place, p_count) AS p;
        -- Most pages are empty: most layers have no memory of most stages.
        IF v_ids IS NOT NULL THEN
            INSERT INTO memwarden_data.collectable (org_id, layer, scope_id, item_id, action, reason)
            SELECT p_org_id, p_layer, r.scope_id, r.item_id, r.action, r.reason
              FROM memwarden_internal.collection_rules(p_org_id, v_ids, p_now) AS r
             WHERE coalesce(r.kept, '{}') = '{}'
                ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    -- Behind a page that is not full there is no other.
    v_next := CASE WHEN v_pass.stage = 'CAPS' THEN 'COLLECT' WHEN cardinality(v_ids) >= p_count THEN v_pass.stage
                   WHEN v_pass.stage = 'ACTIVE' THEN 'EXPIRED' WHEN v_pass.stage = 'EXPIRED' THEN 'SUPERSEDED' ELSE 'CAPS' END;
    UPDATE memwarden_data.collection AS c
       SET stage = v_next,
           after_scope = CASE WHEN v_next = v_pass.stage THEN v_scope ELSE -1 END,
           after_place = CASE WHEN v_next = v_pass.stage THEN v_place ELSE '' END,
           looked = c.looked + coalesce(cardinality(v_ids), 0),
           active = c.active + CASE v_pass.stage WHEN 'ACTIVE' THEN coalesce(cardinality(v_ids), 0) ELSE 0 END
     WHERE c.org_id = p_org_id AND c.layer = p_layer;
    IF v_next = 'COLLECT' THEN
        PERFORM memwarden_internal.hold_back(p_org_id, p_layer);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.look_for_collection IS
    'Looks at the next page of a pass, notes what a rule would collect, and goes on to the next stage behind the last page.';

CREATE OR REPLACE FUNCTION memwarden_internal.note_full_scopes(p_org_id bigint, p_layer text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_full jsonb := (SELECT coalesce(jsonb_object_agg(f.scope_id, f.items), '{}')
                       FROM memwarden_internal.full_scopes(p_org_id, p_layer, 0.9) AS f);
BEGIN
    -- Each scope is told of once, when it is nearly full.
    PERFORM pg_notify('memwarden_alert', jsonb_build_object(
        'event', 'SCOPE_FULL', 'org', o.name, 'layer', p_layer, 'scopes', n.scopes, 'memories', n.most)::text)
       FROM memwarden_data.organisation AS o
       JOIN memwarden_data.collection AS c ON c.org_id = o.org_id AND c.layer = p_layer
      CROSS JOIN LATERAL (SELECT count(*) AS scopes, max(e.value::bigint) AS most FROM jsonb_each_text(v_full) AS e
                           WHERE NOT c.full_scopes ? e.key) AS n
      WHERE o.org_id = p_org_id AND n.scopes > 0;
    UPDATE memwarden_data.collection AS c SET full_scopes = v_full
     WHERE c.org_id = p_org_id AND c.layer = p_layer AND c.full_scopes <> v_full;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_full_scopes IS
    'Notes which scopes hold more than nine tenths of the max_items of a layer, and tells who listens on memwarden_alert of those that '
    'did not when the last pass looked.';

CREATE OR REPLACE FUNCTION memwarden_internal.needs_consent(p_found bigint, p_active bigint)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_found > 10 AND p_found > p_active / 2;
COMMENT ON FUNCTION memwarden_internal.needs_consent IS
    'Whether so many of the active memories of a layer are too many to expire unasked: more than half of them, and more than ten.';

CREATE OR REPLACE FUNCTION memwarden_internal.hold_back(p_org_id bigint, p_layer text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_found  jsonb;
    v_count  bigint;
    v_before record;
BEGIN
    -- Whose time is over nobody reads anyway, and who gave it that time has said so.
    SELECT jsonb_object_agg(g.reason, g.items), sum(g.items) INTO v_found, v_count
      FROM (SELECT f.reason, count(*) AS items FROM memwarden_data.collectable AS f
             WHERE f.org_id = p_org_id AND f.layer = p_layer AND f.action = 'EXPIRE' AND f.reason <> 'TTL_OVER' GROUP BY f.reason) AS g;
    SELECT c.held_back <> '{}' AS was_held,
           coalesce(v_count > coalesce(c.agreed, 0) AND memwarden_internal.needs_consent(v_count, c.active), false) AS is_held INTO v_before
      FROM memwarden_data.collection AS c WHERE c.org_id = p_org_id AND c.layer = p_layer;
    IF v_before.is_held THEN
        DELETE FROM memwarden_data.collectable AS f
         WHERE f.org_id = p_org_id AND f.layer = p_layer AND f.action = 'EXPIRE' AND f.reason <> 'TTL_OVER';
        IF NOT v_before.was_held THEN
            PERFORM pg_notify('memwarden_alert', jsonb_build_object(
                'event', 'COLLECTION_HELD_BACK', 'org', o.name, 'layer', p_layer, 'memories', v_count)::text)
               FROM memwarden_data.organisation AS o WHERE o.org_id = p_org_id;
        END IF;
    END IF;
    -- What the pass before held back is said until this one has looked at everything.
    UPDATE memwarden_data.collection AS c SET held_back = CASE WHEN v_before.is_held THEN v_found ELSE '{}' END
     WHERE c.org_id = p_org_id AND c.layer = p_layer AND (v_before.is_held OR v_before.was_held);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hold_back IS
    'Takes back what a pass has found, where it is most of the layer and nobody has agreed, and tells who listens on memwarden_alert when '
    'that begins. What goes by its time to live is not counted.';
