-- The same as a job, scope by scope: first everything is looked at, then what was found goes, unless it is most of the layer.
CREATE OR REPLACE FUNCTION memwarden_internal.hygiene_step(p_after text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
-- Nobody waits long behind what a step has locked already.
SET lock_timeout = '2s'
AS $function$
DECLARE
    v_at   record;
    v_next bigint;
    v_part bigint;
    v_more jsonb;
    v_now  timestamptz := clock_timestamp();
BEGIN
    PERFORM memwarden_internal.require_storage();
    IF p_after IS NULL THEN
        PERFORM memwarden_internal.list_layers_to_collect();
    END IF;
    SELECT n.org_id, n.layer, n.scope_id, n.part, n.cleans, n.found INTO v_at
      FROM jsonb_to_record(coalesce(p_after::jsonb, memwarden_internal.next_layer_to_clean(0, '')))
           AS n (org_id bigint, layer text, scope_id bigint, part bigint, cleans boolean, found jsonb);
    IF v_at.org_id IS NULL THEN
        RETURN NULL;
    END IF;
    v_next := (SELECT min(i.scope_id) FROM memwarden_data.item AS i
                WHERE i.org_id = v_at.org_id AND i.layer = v_at.layer AND i.status = 'ACTIVE' AND i.scope_id > v_at.scope_id);
    IF v_next IS NOT NULL THEN
        v_more := memwarden_internal.clean_scope(v_at.org_id, v_at.layer, v_next, v_at.part, v_at.cleans, v_now);
        -- Once more where there may be others to end, and then the next part of the scope.
        v_part := CASE WHEN v_more @? '$[*] ? (@.done >= 100)' THEN v_at.part
                       WHEN v_at.part + 1 < memwarden_internal.hygiene_parts(v_at.org_id, v_at.layer, v_next) THEN v_at.part + 1 END;
        RETURN jsonb_build_object(
            'org_id', v_at.org_id, 'layer', v_at.layer, 'scope_id', v_next - (v_part IS NOT NULL)::integer,
            'part', coalesce(v_part, 0), 'cleans', v_at.cleans, 'found', memwarden_internal.add_findings(v_at.found, v_more, v_at.cleans));
    ELSIF NOT v_at.cleans AND memwarden_internal.may_clean(v_at.org_id, v_at.layer, v_at.found) THEN
        RETURN jsonb_build_object(
            'org_id', v_at.org_id, 'layer', v_at.layer, 'scope_id', -1, 'part', 0, 'cleans', true, 'found', v_at.found);
    END IF;
    UPDATE memwarden_data.collection AS c
       SET cleaned_at = v_now, hygiene = memwarden_internal.held_findings(v_at.org_id, v_at.layer, v_at.cleans, v_at.found)
     WHERE c.org_id = v_at.org_id AND c.layer = v_at.layer;
    RETURN memwarden_internal.next_layer_to_clean(v_at.org_id, v_at.layer);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hygiene_step IS
    'Looks at the next scope behind p_after, or cleans it, or notes what was found in a layer, and returns where the next step goes on; '
    'NULL at the end.';
GRANT EXECUTE ON FUNCTION memwarden_internal.hygiene_step TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.next_layer_to_clean(p_org_id bigint, p_layer text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT jsonb_build_object(
                       'org_id', l.org_id, 'layer', l.layer, 'scope_id', -1, 'part', 0, 'cleans', false, 'found', '[]'::jsonb)
              FROM memwarden_data.kept_layer AS l
             WHERE l.principal_id = 0 AND l.org_id <> 0 AND l.hygiene <> 'off' AND (l.org_id, l.layer) > (p_org_id, p_layer)
             ORDER BY l.org_id, l.layer LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.next_layer_to_clean IS
    'Where hygiene_step() goes on behind a layer of an organisation: the next that wants it; NULL behind the last.';

CREATE OR REPLACE FUNCTION memwarden_internal.hygiene_parts(p_org_id bigint, p_layer text, p_scope_id bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT (count(*) + 999) / 1000
              FROM memwarden_data.item AS i
              JOIN memwarden_data.kept_layer AS l ON l.org_id = i.org_id AND l.principal_id = 0 AND l.layer = i.layer
             WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE'
               AND l.duplicate_similarity IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hygiene_parts IS
    'In how many parts the job compares the memories of a scope and layer, at the most; 0 where it does not.';

CREATE OR REPLACE FUNCTION memwarden_internal.clean_scope(
    p_org_id bigint, p_layer text, p_scope_id bigint, p_part bigint, p_cleans boolean, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT coalesce(jsonb_agg(to_jsonb(c)), '[]')
              FROM memwarden_internal.clean_layer(p_org_id, p_layer, p_scope_id, p_part, NOT p_cleans, 9223372036854775807, p_now) AS c);
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    -- Somebody holds one of these memories: the next run looks there again.
    RETURN '[]'::jsonb;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.clean_scope IS
    'What run_hygiene() finds in a part of a scope and layer; p_cleans: and ends, a hundred of each finding at most. Nothing where '
    'others hold it up.';

CREATE OR REPLACE FUNCTION memwarden_internal.add_findings(p_known jsonb, p_more jsonb, p_cleans boolean)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
-- What is ended was counted when it was looked at.
RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object('finding', s.finding, 'action', s.action, 'items', s.items, 'done', s.done)
                                  ORDER BY s.finding, s.action), '[]')
          FROM (SELECT f.finding, f.action, sum(f.items) FILTER (WHERE f.is_known OR NOT p_cleans) AS items, sum(f.done) AS done
                  FROM (SELECT true AS is_known, k.* FROM jsonb_to_recordset(p_known)
                                                         AS k (finding text, action text, items bigint, done bigint)
                         UNION ALL
                        SELECT false, m.* FROM jsonb_to_recordset(p_more) AS m (finding text, action text, items bigint, done bigint)) AS f
                 GROUP BY f.finding, f.action) AS s
         WHERE s.items IS NOT NULL);
COMMENT ON FUNCTION memwarden_internal.add_findings IS
    'Counts of findings and those of another scope, together. p_cleans: of the second only how many were ended.';

CREATE OR REPLACE FUNCTION memwarden_internal.may_clean(p_org_id bigint, p_layer text, p_found jsonb)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_count bigint := (SELECT sum(f.items) FROM jsonb_to_recordset(p_found) AS f (action text, items bigint) WHERE f.action = 'SUPERSEDE');
BEGIN
    RETURN v_count > 0
       AND EXISTS (SELECT FROM memwarden_data.kept_layer AS l
                    WHERE l.org_id = p_org_id AND l.principal_id = 0 AND l.layer = p_layer AND l.hygiene = 'clean')
       AND NOT memwarden_internal.needs_consent(v_count, (SELECT count(*) FROM memwarden_data.item AS i
                                                           WHERE i.org_id = p_org_id AND i.layer = p_layer AND i.status = 'ACTIVE'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.may_clean IS
    'Whether what was found may end unasked: the layer is to be cleaned, and it is not most of it.';

CREATE OR REPLACE FUNCTION memwarden_internal.held_findings(p_org_id bigint, p_layer text, p_cleans boolean, p_found jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN CASE WHEN NOT p_cleans
                     AND EXISTS (SELECT FROM memwarden_data.kept_layer AS l
                                  WHERE l.org_id = p_org_id AND l.principal_id = 0 AND l.layer = p_layer AND l.hygiene = 'clean')
                THEN (SELECT coalesce(jsonb_agg(f.finding || CASE f.finding ->> 'action' WHEN 'SUPERSEDE'
                                 THEN jsonb_build_object('action', 'HELD_BACK') ELSE '{}' END ORDER BY f.place), '[]')
                        FROM jsonb_array_elements(p_found) WITH ORDINALITY AS f (finding, place))
                ELSE p_found END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.held_findings IS
    'The counts of findings as they are kept: HELD_BACK where they would have ended, and wait for a person.';

CREATE OR REPLACE PROCEDURE memwarden.clean_layers()
LANGUAGE plpgsql SECURITY INVOKER
AS $procedure$
BEGIN
    CALL memwarden_internal.run_job('memwarden_hygiene');
END
$procedure$;
COMMENT ON PROCEDURE memwarden.clean_layers IS
    'Looks over all stored memories for duplicates, contradictions, what is stale and what is sensitive, as run_hygiene() does, as a job. '
    'The setting hygiene of each layer says whether it does not look (off), counts (report, as shipped), or also ends what is surely worse '
    'than what stands beside it (clean), with an entry in the log that gives the finding as its reason. More than half of a layer never '
    'ends so: that is HELD_BACK, and waits for run_hygiene() with a number. What is stale collect() takes, and what is sensitive sweep() '
    'scans. Of a scope about 1,000 memories at a time are compared in other words, each with others in each week: any two meet once in as '
    'many weeks as the scope has times 500 memories. The view collections shows what it found. A scope in which somebody writes is left to '
    'the next run, and no writer waits for more than one scope. It commits after each part of a scope, so it cannot '
    'run inside a transaction. It is safe to run twice at once and to kill. Raises 55000 before setup(). Source: four-layer design, 6.';
GRANT EXECUTE ON PROCEDURE memwarden.clean_layers TO memwarden_jobs, memwarden_admin;
