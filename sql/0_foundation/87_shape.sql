-- What the tables are like: columns, types, constraints, indexes. Only of the tables that the *.table.sql files name:
-- partitions, shelves and references are made while the store is in use.
CREATE OR REPLACE FUNCTION memwarden_internal.storage_shape()
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_tables text[] := ARRAY(
        SELECT m[1] FROM memwarden_internal.storage_parts() AS p
         CROSS JOIN LATERAL regexp_matches(p.body, 'CREATE (?:UNLOGGED )?TABLE memwarden_data[.]([a-z0-9_]+)', 'g') AS m
         WHERE p.phase = 'table');
BEGIN
    RETURN (
        WITH named AS MATERIALIZED (
            SELECT c.oid, c.relname FROM pg_class AS c
             WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relname = ANY (v_tables)
        ), described AS (
            SELECT format('column %s.%s', n.relname, a.attname) AS name,
                   concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
                       pg_get_expr(d.adbin, d.adrelid)) AS looks
              FROM named AS n
              JOIN pg_attribute AS a ON a.attrelid = n.oid AND a.attnum > 0 AND NOT a.attisdropped
              LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            UNION ALL
            SELECT format('index %s', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid) || i.indisvalid
              FROM named AS n JOIN pg_index AS i ON i.indrelid = n.oid
            UNION ALL
            -- From PostgreSQL 18 on NOT NULL is a constraint too; the column says it.
            SELECT format('constraint %s of %s', k.conname, n.relname), pg_get_constraintdef(k.oid) || k.convalidated
              FROM named AS n JOIN pg_constraint AS k ON k.conrelid = n.oid AND k.contype <> 'n'
            UNION ALL
            SELECT format('constraint %s of %s', k.conname, k.contypid::regtype), pg_get_constraintdef(k.oid)
              FROM pg_constraint AS k JOIN pg_type AS t ON t.oid = k.contypid AND t.typnamespace = 'memwarden_data'::regnamespace
             WHERE k.contype <> 'n'
            UNION ALL
            SELECT format('column %s.%s', c.relname, a.attname), format_type(a.atttypid, a.atttypmod)
              FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
             WHERE c.relnamespace = 'memwarden_data'::regnamespace AND c.relkind = 'c'
        )
        SELECT jsonb_object_agg(s.name, left(md5(s.looks), 8)) || jsonb_build_object('server',
            left(current_setting('server_version_num'), 2))
          FROM described AS s);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.storage_shape IS
    'What the tables are like: every column, index and constraint with a hash of its definition; server: the major '
    'version of PostgreSQL that says so.';

-- What a DBA adds, an index of his own, is no harm. On another major version the same may be written in other words.
CREATE OR REPLACE FUNCTION memwarden_internal.storage_damage()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_made     jsonb := (SELECT s.shape FROM memwarden_data.storage AS s ORDER BY s.storage_version DESC LIMIT 1);
    v_now      jsonb := memwarden_internal.storage_shape();
    v_is_alike boolean := v_made -> 'server' = v_now -> 'server';
BEGIN
    RETURN (SELECT string_agg(m.key, ', ' ORDER BY m.key)
              FROM jsonb_each_text(v_made) AS m LEFT JOIN jsonb_each_text(v_now) AS n ON n.key = m.key
             WHERE n.key IS NULL OR v_is_alike AND n.value <> m.value);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.storage_damage IS
    'What is gone or otherwise of columns, indexes and constraints since setup() made the storage; NULL where nothing '
    'is.';
