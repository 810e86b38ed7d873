-- What takes up how much. Sizes of tables are exact and cost nothing to ask; shares of layers and organisations come from a
-- sample of pages.
CREATE OR REPLACE FUNCTION memwarden_internal.table_sizes()
RETURNS TABLE (table_name text, relation regclass, bytes bigint, pages bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT c.relname::text, c.oid::regclass, sum(pg_total_relation_size(p.relid))::bigint,
           sum(pg_relation_size(p.relid) / current_setting('block_size')::integer)::bigint
      FROM pg_class AS c
     CROSS JOIN LATERAL (SELECT t.relid FROM pg_partition_tree(c.oid) AS t WHERE t.isleaf
                         UNION ALL SELECT c.oid WHERE c.relkind = 'r') AS p
     WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     GROUP BY c.relname, c.oid;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.table_sizes IS 'Bytes and pages of every table, with partitions and indexes.';

CREATE OR REPLACE FUNCTION memwarden_internal.note_storage()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
BEGIN
    INSERT INTO memwarden_data.storage_day (day, table_name, bytes)
    SELECT v_today, s.table_name, s.bytes FROM memwarden_internal.table_sizes() AS s ORDER BY s.table_name
        ON CONFLICT DO NOTHING;
    DELETE FROM memwarden_data.storage_day AS d WHERE d.day < v_today - 60;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_storage IS 'Notes the size of every table, once a day, and forgets sizes after 60 days.';

CREATE OR REPLACE FUNCTION memwarden_internal.due_condition(p_relation regclass, OUT condition text, OUT keep interval)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Where most of a memory lies. What keeps one (a pin, a hold, a link) is not asked for: this is an estimate.
    IF p_relation = ANY (ARRAY['memwarden_data.item', 'memwarden_data.version', 'memwarden_data.provenance', 'memwarden_data.timeline',
                               'memwarden_data.past_embedding']::regclass[]) THEN
        keep := interval '0';
        condition := 'EXISTS (SELECT FROM memwarden_data.item AS i JOIN memwarden_data.kept_layer AS l '
            'ON l.org_id = i.org_id AND l.principal_id = 0 AND l.layer = i.layer '
            'WHERE i.org_id = t.org_id AND i.item_id = t.item_id AND l.hard_delete = ''after_grace'' '
            'AND (i.status = ''EXPIRED'' AND i.updated_at < $1 - l.recovery_window OR i.status = ''SUPERSEDED'' '
            'AND i.updated_at < $1 - greatest(interval ''90 days'', l.recovery_window)))';
        RETURN;
    END IF;
    SELECT o.condition, r.keep INTO condition, keep
      FROM memwarden_internal.old_records() AS o JOIN memwarden_data.record_retention AS r ON r.kind = o.kind
     WHERE format('memwarden_data.%I', o.relation)::regclass = p_relation;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.due_condition IS
    'Which rows of a table the next run of a job deletes: by age, or as part of memories that collect() deletes for good. condition: of '
    'a row t, where $1 is the moment keep ago; NULL for other tables.';

CREATE OR REPLACE FUNCTION memwarden_internal.sample_table(p_relation regclass, p_pages bigint)
RETURNS TABLE (org_id bigint, layer text, share double precision, due double precision)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_has_layer boolean := EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = p_relation AND a.attname = 'layer');
    v_old       record := memwarden_internal.due_condition(p_relation);
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT t.org_id, %s, sum(pg_column_size(t.*)) / sum(sum(pg_column_size(t.*))) OVER ()::double precision, '
        '       coalesce(sum(pg_column_size(t.*)) FILTER (WHERE %s), 0) / sum(sum(pg_column_size(t.*))) OVER ()::double precision '
        '  FROM %s AS t TABLESAMPLE SYSTEM (%s) REPEATABLE (1) GROUP BY 1, 2',
        CASE WHEN v_has_layer THEN 't.layer' ELSE 'NULL::text' END, coalesce(v_old.condition, 'false AND $1 IS NULL'), p_relation,
        least(100, 20000.0 / greatest(p_pages, 1)))
      USING memwarden_internal.before(clock_timestamp(), coalesce(v_old.keep, '1 day'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sample_table IS
    'How the bytes of a table are shared between organisations and layers, and what share of it is due to be deleted, '
    'by a sample of 200 pages of p_pages. The table must have a column org_id.';

CREATE OR REPLACE FUNCTION memwarden_internal.months_over(p_table text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_bytes bigint;
BEGIN
    EXECUTE format(
        'SELECT sum(pg_total_relation_size(format(''%%I.%%I'', p.partition_schemaname, p.partition_tablename)::regclass))::bigint '
        '  FROM %1$s.part_config AS c '
        ' CROSS JOIN LATERAL %1$s.show_partitions(c.parent_table) AS p '
        ' CROSS JOIN LATERAL %1$s.show_partition_info(p.partition_schemaname || ''.'' || p.partition_tablename, NULL, c.parent_table) AS i '
        ' WHERE c.parent_table = $1 AND c.retention IS NOT NULL AND i.child_end_time <= clock_timestamp() - '
        'c.retention::interval', memwarden_internal.partman_schema())
       INTO v_bytes USING 'memwarden_data.' || p_table;
    RETURN coalesce(v_bytes, 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.months_over IS 'The bytes of the months of a table that the next maintain() drops.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_storage()
RETURNS TABLE (table_name text, org text, layer text, bytes bigint, growth_per_day bigint, next_run_frees bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- Compiling the query would take longer than all of it.
SET jit = off
AS $function$
DECLARE
    v_is_admin boolean := memwarden_internal.is_database_admin();
    v_orgs     bigint[] := ARRAY(SELECT o.org_id FROM unnest(memwarden_internal.overseen_orgs()) AS o (org_id)
                                  WHERE NOT v_is_admin AND memwarden_internal.may_administer(o.org_id, 'full'));
BEGIN
    -- Most callers administer nothing: for them no table is opened.
    IF NOT v_is_admin AND v_orgs = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH grown AS (
        -- Over a week, or as long as it is known.
        SELECT DISTINCT ON (d.table_name) d.table_name, d.bytes, (clock_timestamp() AT TIME ZONE 'UTC')::date - d.day AS days
          FROM memwarden_data.storage_day AS d
         WHERE d.day BETWEEN (clock_timestamp() AT TIME ZONE 'UTC')::date - 7 AND (clock_timestamp() AT TIME ZONE 'UTC')::date - 1
         ORDER BY d.table_name, d.day
    )
    SELECT s.table_name, o.name, p.layer, round(s.bytes * coalesce(p.share, 1))::bigint,
           round((s.bytes - g.bytes) * coalesce(p.share, 1) / g.days)::bigint,
           round(CASE WHEN m.bytes > 0 THEN m.bytes * coalesce(p.share, 1) ELSE s.bytes * coalesce(p.due, 0) END)::bigint
      FROM memwarden_internal.table_sizes() AS s
      LEFT JOIN LATERAL (SELECT n.org_id, n.layer, n.share, n.due
                           FROM pg_attribute AS a, memwarden_internal.sample_table(s.relation, s.pages) AS n
                          WHERE a.attrelid = s.relation AND a.attname = 'org_id') AS p ON true
      LEFT JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
      LEFT JOIN grown AS g ON g.table_name = s.table_name
     CROSS JOIN LATERAL (SELECT CASE WHEN 'memwarden_data.' || s.table_name = ANY (memwarden_internal.monthly_tables())
                                     THEN memwarden_internal.months_over(s.table_name) ELSE 0 END AS bytes) AS m
     WHERE v_is_admin OR p.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.storage IS
    'Lists how many bytes each table takes up, indexes included, by organisation and layer. Sums over a table are exact. Shares of '
    'organisations and layers are estimated, from about 200 pages of each table, so a look costs the same in a large store. '
    'growth_per_day is the mean of the last week, NULL in the first days. next_run_frees estimates what the next '
    'delete_old_records() or maintain() deletes by age, and collect() with memories whose recovery_window is over (those that something '
    'keeps included). An administrator of the database sees everything, one of an organisation its own rows.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_storage TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_record_retention()
RETURNS TABLE (kind text, keep interval, deleted_by text, changed_at timestamptz, changed_by text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT r.kind, r.keep, CASE WHEN r.kind IN ('requests', 'recalls') THEN 'memwarden_maintain' ELSE 'memwarden_records' END,
           r.changed_at, r.changed_by
      FROM memwarden_data.record_retention AS r;
END
$function$;
COMMENT ON VIEW memwarden.record_retention IS
    'Lists how long each kind of record is kept, and the job that deletes it. set_record_retention() changes it.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_record_retention TO memwarden_auditor, memwarden_admin;
