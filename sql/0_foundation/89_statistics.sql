-- ANALYZE copies the most common values of a column, and a hundred others, into a catalog. What is erased from the table
-- would stay there until the next ANALYZE, and pg_upgrade would carry it along. So no column has statistics that could hold what
-- somebody said, or a hash or vector of it: every column has none, but for numbers, times, ids, and names from a list.
CREATE OR REPLACE FUNCTION memwarden_internal.columns_of_words()
RETURNS TABLE (relation regclass, number smallint, name name, is_index boolean, has_statistics boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    WITH said AS MATERIALIZED (
        SELECT c.oid, a.attnum, a.attname, a.attstattarget
          FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          JOIN pg_type AS t ON t.oid = a.atttypid
          LEFT JOIN pg_type AS e ON e.oid = t.typelem AND t.typcategory = 'A'
         WHERE c.relnamespace IN ('memwarden_data'::regnamespace, to_regnamespace('memwarden_threads')) AND c.relkind IN ('r', 'p')
           AND CASE c.relname
               -- Words of a language, the same for everybody; words of memories, by the number that they make.
               WHEN 'lexicon_word' THEN false WHEN 'lexicon_sense' THEN false WHEN 'shelf_word' THEN a.attname = 'word'
               ELSE t.typcategory NOT IN ('B', 'D', 'N', 'R', 'T') AND t.oid NOT IN ('uuid'::regtype, 'xid8'::regtype)
                    AND (e.oid IS NULL OR e.oid NOT IN ('uuid'::regtype, 'bigint'::regtype, 'integer'::regtype))
                    AND a.attname NOT IN ('layer', 'tier') END
           AND NOT EXISTS (
               SELECT FROM pg_constraint AS k
                WHERE (k.contypid = t.oid AND t.typtype = 'd' OR k.conrelid = c.oid AND k.conkey = ARRAY[a.attnum])
                  AND (k.contype = 'c'
                       AND pg_get_constraintdef(k.oid) ~ '^CHECK [(][(][(]?(VALUE|[a-z_]+) = ANY [(]ARRAY[[][^[]+[]][)][)]+$'
                       OR k.contype = 'f' AND EXISTS (SELECT FROM pg_class AS l
                                                       WHERE l.oid = k.confrelid AND l.relnamespace = c.relnamespace)))
    )
    SELECT s.oid::regclass, s.attnum, s.attname, false, s.attstattarget IS DISTINCT FROM 0 FROM said AS s
     UNION ALL
    -- Of an index, expressions alone have statistics; what an expression makes of words may be a number.
    SELECT x.indexrelid::regclass, a.attnum, a.attname, true, a.attstattarget IS DISTINCT FROM 0
      FROM pg_index AS x
      JOIN pg_class AS c ON c.oid = x.indexrelid AND c.relkind = 'i'
      JOIN pg_attribute AS a ON a.attrelid = x.indexrelid AND x.indkey[a.attnum - 1] = 0
     WHERE x.indexprs IS NOT NULL AND EXISTS (
               SELECT FROM pg_depend AS d JOIN said AS s ON s.oid = d.refobjid AND s.attnum = d.refobjsubid
                WHERE d.classid = 'pg_class'::regclass AND d.objid = x.indexrelid AND d.refclassid = 'pg_class'::regclass);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.columns_of_words IS
    'Columns of tables, and expressions of indexes, that can hold what somebody said, or a hash or vector of it. has_statistics: '
    'whether the next ANALYZE copies values from there into pg_statistic.';

CREATE OR REPLACE FUNCTION memwarden_internal.refuse_statistics(p_tables regclass[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_change record;
BEGIN
    IF p_tables = '{}' THEN
        RETURN;
    END IF;
    -- In one order. Readers and writers do not wait for this lock, nor it for them.
    FOR v_change IN
        SELECT format('ALTER %s %s %s', CASE WHEN w.is_index THEN 'INDEX' ELSE 'TABLE ONLY' END, w.relation,
                      string_agg(format('ALTER COLUMN %s SET STATISTICS 0', CASE WHEN w.is_index THEN w.number::text
                                                                                 ELSE quote_ident(w.name) END), ', ')) AS statement
          FROM memwarden_internal.columns_of_words() AS w
          JOIN pg_class AS c ON c.oid = w.relation
         WHERE w.has_statistics AND pg_has_role(c.relowner, 'USAGE')
           AND (p_tables IS NULL OR c.oid = ANY (p_tables)
                OR EXISTS (SELECT FROM pg_index AS x WHERE x.indexrelid = c.oid AND x.indrelid = ANY (p_tables)))
         GROUP BY w.relation, w.is_index ORDER BY w.relation::oid
    LOOP
        EXECUTE v_change.statement;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refuse_statistics IS
    'Sees to it that ANALYZE copies no words out of those tables that the caller owns: of p_tables, or of all. Columns where that is so '
    'are not touched.';

-- ANALYZE leaves statistics that are there where it is to make none. Only a superuser can delete them.
CREATE OR REPLACE FUNCTION memwarden_internal.forget_statistics()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_statistics record;
BEGIN
    DELETE FROM pg_statistic AS s USING memwarden_internal.columns_of_words() AS w
     WHERE s.starelid = w.relation AND s.staattnum = w.number;
    -- Those of several columns are somebody else's work.
    FOR v_statistics IN
        SELECT e.oid, n.nspname AS schema, e.stxname AS name, e.stxstattarget IS DISTINCT FROM 0 AS is_filled
          FROM pg_statistic_ext AS e
          JOIN pg_namespace AS n ON n.oid = e.stxnamespace
          JOIN pg_class AS c ON c.oid = e.stxrelid
         WHERE c.relnamespace IN ('memwarden_data'::regnamespace, to_regnamespace('memwarden_threads'))
    LOOP
        IF v_statistics.is_filled THEN
            EXECUTE format('ALTER STATISTICS %I.%I SET STATISTICS 0', v_statistics.schema, v_statistics.name);
        END IF;
        DELETE FROM pg_statistic_ext_data AS d WHERE d.stxoid = v_statistics.oid;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_statistics IS
    'Deletes what earlier ANALYZE runs have copied out of columns of words, and empties what somebody has created by CREATE '
    'STATISTICS on the storage. Raises 42501 for others than superusers.';
