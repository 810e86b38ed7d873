-- The second half of a pass writes: a few memories of one scope, where nobody writes at this moment, and then it lets go.
CREATE OR REPLACE FUNCTION memwarden_internal.take_collectable(
    p_org_id bigint, p_layer text, p_count integer, p_now timestamptz, p_principal_id bigint DEFAULT 0)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_scope_id bigint;
    v_action   text;
    v_done     jsonb;
    v_free     boolean;
BEGIN
    SELECT f.scope_id, f.action INTO v_scope_id, v_action
      FROM memwarden_data.collectable AS f
      JOIN memwarden_data.collection AS c ON c.org_id = f.org_id AND c.layer = f.layer
     WHERE f.org_id = p_org_id AND f.layer = p_layer AND f.scope_id > c.after_scope
     ORDER BY f.scope_id, f.item_id LIMIT 1;
    IF v_scope_id IS NULL THEN
        RETURN false;
    END IF;
    PERFORM FROM memwarden_data.write_lock AS w
      WHERE w.org_id = p_org_id AND w.scope_id = v_scope_id AND w.layer = p_layer FOR NO KEY UPDATE SKIP LOCKED;
    v_free := FOUND OR NOT EXISTS (SELECT FROM memwarden_data.write_lock AS w
                                    WHERE w.org_id = p_org_id AND w.scope_id = v_scope_id AND w.layer = p_layer);
    IF v_free THEN
        WITH taken AS (
            DELETE FROM memwarden_data.collectable AS f
             WHERE f.org_id = p_org_id AND f.layer = p_layer AND f.scope_id = v_scope_id
               AND f.item_id = ANY (ARRAY(
                       SELECT g.item_id FROM memwarden_data.collectable AS g
                        WHERE g.org_id = p_org_id AND g.layer = p_layer AND g.scope_id = v_scope_id AND g.action = v_action
                        ORDER BY g.item_id LIMIT p_count))
            RETURNING f.item_id, f.reason)
        SELECT coalesce(jsonb_object_agg(t.reason, t.item_ids), '{}') INTO v_done
          FROM (SELECT n.reason, jsonb_agg(n.item_id) AS item_ids FROM taken AS n GROUP BY n.reason) AS t;
        v_done := CASE v_action WHEN 'EXPIRE' THEN memwarden_internal.expire_collectable(p_org_id, v_done, p_now, p_principal_id)
                                ELSE memwarden_internal.delete_collectable(p_org_id, v_done, p_now) END;
    END IF;
    -- Where somebody writes the next run looks again.
    UPDATE memwarden_data.collection AS c
       SET after_scope = CASE WHEN v_free THEN c.after_scope ELSE v_scope_id END,
           done = memwarden_internal.sum_of_counts(c.done, v_done)
     WHERE c.org_id = p_org_id AND c.layer = p_layer;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.take_collectable IS
    'Expires, or deletes for good, at most p_count of what a pass has found, in one scope; leaves a scope in which somebody writes. '
    'False when nothing is left.';

CREATE OR REPLACE FUNCTION memwarden_internal.expire_collectable(
    p_org_id bigint, p_found jsonb, p_now timestamptz, p_principal_id bigint)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item_ids uuid[] := ARRAY(SELECT e.id::uuid FROM jsonb_each(p_found) AS f, jsonb_array_elements_text(f.value) AS e (id));
    v_change   uuid := memwarden_internal.uuid7();
    v_done     jsonb := jsonb_build_object();
    v_reason   text;
    v_ids      uuid[];
    v_count    bigint;
BEGIN
    PERFORM memwarden_internal.stop_new_reasons(p_org_id, v_item_ids);
    -- Now that nobody else changes them: what was read since, written anew, pinned or held stays.
    FOR v_reason, v_ids IN
        SELECT r.reason, array_agg(r.item_id) FROM memwarden_internal.collection_rules(p_org_id, v_item_ids, p_now) AS r
         WHERE coalesce(r.kept, '{}') = '{}' AND r.action = 'EXPIRE' GROUP BY r.reason
         UNION ALL
        SELECT 'OVER_CAP', array_agg(e.id::uuid) FROM jsonb_array_elements_text(p_found -> 'OVER_CAP') AS e (id)
         WHERE NOT EXISTS (SELECT FROM memwarden_internal.reasons_to_keep(p_org_id, v_item_ids) AS k
                            WHERE k.item_id = e.id::uuid AND k.reason <> 'LINKED')
           AND e.id::uuid <> ALL (ARRAY(SELECT d.id FROM memwarden_internal.duties_among(p_org_id, ARRAY(
                   SELECT o.id::uuid FROM jsonb_array_elements_text(p_found -> 'OVER_CAP') AS o (id)), p_now) AS d (id)))
         ORDER BY 1 DESC
    LOOP
        SELECT count(*) INTO v_count
          FROM memwarden_internal.end_items(p_org_id, v_ids, 'EXPIRED', 'EXPIRE', v_reason, p_principal_id, v_change, p_now);
        v_done := memwarden_internal.sum_of_counts(v_done, jsonb_build_object(v_reason, v_count));
    END LOOP;
    RETURN v_done;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.expire_collectable IS
    'Expires those of p_found ({"reason": [item, ...]}) of which a rule still holds, as one change, each with an entry EXPIRE in the log '
    'that says why. Returns how many, by reason. The caller holds their scope.';

CREATE OR REPLACE FUNCTION memwarden_internal.delete_collectable(p_org_id bigint, p_found jsonb, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item_ids uuid[] := ARRAY(SELECT e.id::uuid FROM jsonb_each(p_found) AS f, jsonb_array_elements_text(f.value) AS e (id));
    v_done     jsonb := jsonb_build_object();
    v_reason   text;
    v_ids      uuid[];
    v_gone     record;
BEGIN
    PERFORM memwarden_internal.stop_new_reasons(p_org_id, v_item_ids);
    FOR v_reason, v_ids IN
        SELECT r.reason, array_agg(r.item_id) FROM memwarden_internal.collection_rules(p_org_id, v_item_ids, p_now) AS r
         WHERE coalesce(r.kept, '{}') = '{}' AND r.action = 'DELETE' GROUP BY r.reason
    LOOP
        v_gone := memwarden_internal.delete_for_good(p_org_id, v_ids, v_reason, 'COLLECTION', false, p_now);
        v_done := memwarden_internal.sum_of_counts(v_done, jsonb_build_object(v_reason, cardinality(v_gone.deleted)));
    END LOOP;
    RETURN v_done;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.delete_collectable IS
    'Deletes for good those of p_found ({"reason": [item, ...]}) of which a rule still holds. Returns how many, by reason.';

CREATE OR REPLACE FUNCTION memwarden_internal.sum_of_counts(p_one jsonb, p_other jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT coalesce(jsonb_object_agg(s.name, s.total), '{}')
              FROM (SELECT e.name, sum(e.value::bigint) AS total
                      FROM (SELECT a.key AS name, a.value FROM jsonb_each_text(p_one) AS a
                             UNION ALL
                            SELECT b.key, b.value FROM jsonb_each_text(p_other) AS b) AS e
                     GROUP BY e.name) AS s
             WHERE s.total > 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sum_of_counts IS 'Adds objects of counts, name by name; NULL counts as none.';
