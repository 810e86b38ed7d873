CREATE OR REPLACE FUNCTION memwarden.set_storage_budget(layer text, max_items bigint DEFAULT NULL, max_bytes bigint DEFAULT NULL,
    org text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(set_storage_budget.org, 'full');
BEGIN
    PERFORM memwarden_internal.require_layers(ARRAY[set_storage_budget.layer]);
    IF coalesce(set_storage_budget.max_items, 1) <= 0 OR coalesce(set_storage_budget.max_bytes, 1) <= 0 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_items, max_bytes: more than 0');
    END IF;
    DELETE FROM memwarden_data.storage_budget AS b WHERE b.org_id = v_org_id AND b.layer = set_storage_budget.layer;
    INSERT INTO memwarden_data.storage_budget (org_id, layer, max_items, max_bytes)
    SELECT v_org_id, set_storage_budget.layer, set_storage_budget.max_items, set_storage_budget.max_bytes
     WHERE num_nonnulls(set_storage_budget.max_items, set_storage_budget.max_bytes) > 0;
    PERFORM memwarden_internal.record_access_change(v_org_id, 'set_storage_budget', jsonb_build_object(
        'layer', layer, 'max_items', max_items, 'max_bytes', max_bytes));
END
$function$;
COMMENT ON FUNCTION memwarden.set_storage_budget IS
    'Sets how many memories, and how many bytes, a layer is meant to hold. The budget refuses no write: the view storage_budgets '
    'shows it, and status() warns. A call without both limits removes the budget. max_items: the number of memories; no limit by '
    'default. max_bytes: the bytes of the memories with their share of the indexes; no limit by default. org: the organisation; by '
    'default the caller''s, and for members of memwarden_admin all organisations. Raises 42704 for an unknown layer or organisation, '
    '22023 for a limit out of range, 42501 without ADMIN (full), 25001 at an isolation level other than READ COMMITTED. Source: '
    'memory fabric.';
GRANT EXECUTE ON FUNCTION memwarden.set_storage_budget TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_storage_budgets()
RETURNS TABLE (org text, layer text, items bigint, bytes bigint, index_bytes bigint, max_items bigint, max_bytes bigint, exceeded boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs  bigint[] := memwarden_internal.overseen_orgs();
    v_all   bigint;
    v_index bigint;
BEGIN
    SELECT greatest(sum(c.reltuples), 1)::bigint INTO v_all FROM pg_class AS c WHERE c.oid = 'memwarden_data.item'::regclass;
    SELECT sum(pg_indexes_size(c.oid))::bigint INTO v_index
      FROM pg_class AS c
     WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind = 'r'
       AND (c.relname IN ('item', 'timeline') OR c.relname ~ '^(version|embedding)_');
    RETURN QUERY
    SELECT o.name, t.layer, t.items, t.bytes, t.index_bytes, b.max_items, b.max_bytes,
           coalesce(t.items > b.max_items, false) OR coalesce(t.bytes + t.index_bytes > b.max_bytes, false)
      FROM (SELECT i.org_id, i.layer, count(*) AS items,
                   sum(pg_column_size(i.*) + coalesce(v.size, 0))::bigint AS bytes,
                   -- No index is of one layer: by the number of memories. Before statistics are there, the count is.
                   (v_index * least(count(*)::double precision / greatest(v_all, count(*)), 1))::bigint AS index_bytes
              FROM memwarden_data.item AS i
              LEFT JOIN LATERAL (SELECT sum(pg_column_size(v.*)) AS size FROM memwarden_data.version AS v
                                  WHERE v.org_id = i.org_id AND v.item_id = i.item_id) AS v ON true
             WHERE i.org_id = ANY (v_orgs) GROUP BY i.org_id, i.layer) AS t
      JOIN memwarden_data.organisation AS o ON o.org_id = t.org_id
      LEFT JOIN LATERAL (SELECT x.max_items, x.max_bytes FROM memwarden_data.storage_budget AS x
                          WHERE x.org_id IN (0, t.org_id) AND x.layer = t.layer ORDER BY x.org_id DESC LIMIT 1) AS b ON true;
END
$function$;
COMMENT ON VIEW memwarden.storage_budgets IS
    'Compares what each layer holds, in memories and bytes, with its budget. The bytes are those of all versions of its memories, '
    'with their share of the indexes. Each query measures everything, so ask occasionally.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_storage_budgets TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.budget_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    -- Nothing is counted where nobody has set a limit, or for who does not administer.
    IF memwarden_internal.is_database_admin() AND EXISTS (SELECT FROM memwarden_data.storage_budget) THEN
        RETURN QUERY
        SELECT 'storage budgets', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
               CASE WHEN count(*) = 0 THEN 'kept' ELSE 'exceeded by ' || string_agg(format('%s of %s', b.layer, b.org), ', '
                   ORDER BY b.org, b.layer)
                                                       || ': SELECT * FROM memwarden.storage_budgets;' END
          FROM memwarden_internal.list_storage_budgets() AS b WHERE b.exceeded;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.budget_status IS 'For administrators: a warning where a layer holds more than its budget.';
