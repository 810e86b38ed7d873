-- One probe: a recall as its definer would make it now, in this transaction.
CREATE OR REPLACE FUNCTION memwarden_internal.probe_faults(p_org_id bigint, p_probe_id bigint)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_probe  record;
    v_found  uuid[];
    v_texts  text[];
BEGIN
    SELECT p.query, p.layers, p.k, p.items, p.contains, p.lacks, p.principal_id, s.path,
           memwarden_internal.may_read(p.principal_id, p.scope_id) AS may_read
      INTO v_probe
      FROM memwarden_data.probe AS p
      JOIN memwarden_data.scope AS s ON s.scope_id = p.scope_id
     WHERE p.org_id = p_org_id AND p.probe_id = p_probe_id;
    SELECT coalesce(array_agg(g.item_id), '{}'), coalesce(array_agg(lower(normalize(concat_ws(' ', f.text, f.content::text), NFKC))), '{}')
      INTO v_found, v_texts
      FROM memwarden_internal.answer(
               v_probe.principal_id, p_query => v_probe.query, p_k => v_probe.k, p_layers => v_probe.layers, p_scope => v_probe.path) AS f,
           -- What another item says as well is found with it.
           LATERAL unnest(f.item_id || f.same_as) AS g (item_id)
     WHERE v_probe.may_read;
    RETURN coalesce((
        SELECT jsonb_agg(w.fault ORDER BY w.fault)
          FROM (SELECT jsonb_build_object('expected', 'item', 'item_id', u.id) AS fault FROM unnest(v_probe.items) AS u (id)
              WHERE u.id <> ALL (v_found)
                 UNION ALL
                SELECT '{"expected": "contains"}'
                 WHERE v_probe.contains IS NOT NULL AND NOT EXISTS (
                           SELECT FROM unnest(v_texts) AS t (said) WHERE strpos(t.said, lower(normalize(v_probe.contains, NFKC))) > 0)
                 UNION ALL
                SELECT '{"expected": "lacks"}'
                 WHERE EXISTS (SELECT FROM unnest(v_texts) AS t (said)
                     WHERE strpos(t.said, lower(normalize(v_probe.lacks, NFKC))) > 0)) AS w), '[]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.probe_faults IS
    'What is amiss with a probe now: [{"expected": "item", "item_id"}, {"expected": "contains"}, {"expected": '
    '"lacks"}]; an empty array where nothing. Asks with the rights of who defined it.';

CREATE OR REPLACE FUNCTION memwarden_internal.run_probe(p_org_id bigint, p_probe_id bigint)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_faults jsonb := memwarden_internal.probe_faults(p_org_id, p_probe_id);
BEGIN
    INSERT INTO memwarden_data.probe_run (org_id, run_id, probe_id, ran_at, passed, faults)
    VALUES (p_org_id, memwarden_internal.uuid7(), p_probe_id, clock_timestamp(), v_faults = '[]', v_faults);
    DELETE FROM memwarden_data.probe_run AS r
     WHERE r.org_id = p_org_id AND r.probe_id = p_probe_id
       AND r.ran_at < (SELECT o.ran_at FROM memwarden_data.probe_run AS o
                        WHERE o.org_id = p_org_id AND o.probe_id = p_probe_id ORDER BY o.ran_at DESC OFFSET 99 LIMIT 1);
    RETURN v_faults;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.run_probe IS
    'Runs a probe and keeps how it ended, with its last hundred runs. Returns its faults.';

CREATE OR REPLACE FUNCTION memwarden_internal.visible_probes()
RETURNS TABLE (org_id bigint, probe_id bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_reader record := memwarden_internal.entity_reader();
BEGIN
    -- Whether a probe passes tells what its definer sees.
    RETURN QUERY
    SELECT p.org_id, p.probe_id
      FROM memwarden_data.probe AS p
      JOIN memwarden_data.principal AS d ON d.principal_id = p.principal_id
     WHERE p.org_id = ANY (v_reader.orgs) AND p.scope_id = ANY (v_reader.scopes) AND d.clearance <= v_reader.clearance;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.visible_probes IS
    'The probes of scopes that the caller reads, by definers who are not cleared for more.';

-- Asked before an approval commits, with the memory in its place.
CREATE OR REPLACE FUNCTION memwarden_internal.failed_probes(p_org_id bigint, p_scope_id bigint, p_item_id uuid)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_probe   record;
    v_faults  jsonb;
    v_broken  jsonb := '[]'::jsonb;
    v_hidden  integer := 0;
BEGIN
    -- A change concerns those who read its scope: there and below. A hundred are asked, the job sees to the others.
    FOR v_probe IN
        SELECT p.org_id, p.probe_id, p.name, s.path, n.probe_id IS NOT NULL AS is_visible
          FROM memwarden_data.probe AS p
          JOIN memwarden_data.scope AS s ON s.scope_id = p.scope_id AND s.lineage @> ARRAY[p_scope_id]
          LEFT JOIN memwarden_internal.visible_probes() AS n ON n.org_id = p.org_id AND n.probe_id = p.probe_id
         WHERE p_org_id IN (0, p.org_id)
           AND (p.layers IS NULL OR p_item_id IS NULL
                OR (SELECT i.layer FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = p_item_id) = ANY (p.layers))
           -- What failed before is not this change's doing.
           AND (SELECT r.passed FROM memwarden_data.probe_run AS r
                 WHERE r.org_id = p.org_id AND r.probe_id = p.probe_id ORDER BY r.ran_at DESC LIMIT 1)
         ORDER BY p.probe_id LIMIT 100
    LOOP
        v_faults := memwarden_internal.probe_faults(v_probe.org_id, v_probe.probe_id);
        IF v_faults <> '[]' AND v_probe.is_visible THEN
            v_broken := v_broken || jsonb_build_object('probe', v_probe.name, 'scope', v_probe.path, 'faults', v_faults);
        ELSIF v_faults <> '[]' THEN
            v_hidden := v_hidden + 1;
        END IF;
    END LOOP;
    RETURN v_broken || CASE WHEN v_hidden > 0 THEN jsonb_build_array(jsonb_build_object('probe', NULL, 'hidden', v_hidden)) ELSE '[]' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.failed_probes IS
    'The golden queries that passed and fail now, with what this transaction has written in a scope: [{"probe", '
    '"scope", "faults"}], and how many more where the caller does not see them; an empty array for none. p_item_id: the '
    'memory that was written, whose layer they must ask. At most 100 are asked. Source: Z7.';
