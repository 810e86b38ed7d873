-- The threads of LangGraph's checkpointer lie beside the store, in tables that its package makes and its adapter guards: each row
-- knows the login that wrote it. Only tables of a superuser are touched: a trigger of anybody else would run with the rights of the store.
CREATE OR REPLACE FUNCTION memwarden_internal.threads_schema()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN (SELECT n.nspname
              FROM pg_namespace AS n
              JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relkind = 'r'
                                AND c.relname IN ('checkpoints', 'checkpoint_blobs', 'checkpoint_writes')
              JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'login_role'
              JOIN pg_roles AS o ON o.oid = c.relowner AND o.rolsuper
             WHERE n.nspname = 'memwarden_threads' AND has_table_privilege(c.oid, 'SELECT, DELETE')
             GROUP BY n.nspname HAVING count(*) = 3);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.threads_schema() IS
    'The schema with the tables of a checkpointer, which a superuser has set up with checkpointer(setup=True); NULL where there is none.';
REVOKE ALL ON FUNCTION memwarden_internal.threads_schema() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.is_login_of(p_login text, p_orgs bigint[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN NOT EXISTS (SELECT FROM memwarden_data.principal_login AS l WHERE l.login_role = p_login)
        OR EXISTS (SELECT FROM memwarden_data.principal_login AS l
                     JOIN memwarden_data.principal AS p ON p.principal_id = l.principal_id
                    WHERE l.login_role = p_login AND p.org_id = ANY (p_orgs));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_login_of(text, bigint[]) IS
    'Whether a login acts in one of these organisations, or in none: then nobody can say whose threads it writes.';
REVOKE ALL ON FUNCTION memwarden_internal.is_login_of(text, bigint[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.packed_text(p_value bytea)
RETURNS text
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
return GD["memwarden:@python_hash@"].packed_text(p_value)
$function$;
COMMENT ON FUNCTION memwarden_internal.packed_text(bytea) IS 'Every text in a MessagePack value, one a line.';
REVOKE ALL ON FUNCTION memwarden_internal.packed_text(bytea) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.find_threads(p_orgs bigint[], p_subject text, p_terms text[])
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_schema text := memwarden_internal.threads_schema();
    v_found  text[];
    v_thread text;
BEGIN
    IF v_schema IS NOT NULL THEN
        FOR v_thread IN EXECUTE format($query$
            SELECT DISTINCT f.thread_id
              FROM (SELECT c.thread_id, c.login_role
                      FROM %1$I.checkpoints AS c
                     WHERE memwarden_internal.normalised_subject(c.metadata ->> 'user_id', '{}') = $1
                        OR $2 <> '{}' AND memwarden_internal.mentions($2, ARRAY[c.thread_id, c.metadata::text, c.checkpoint::text])
                     UNION ALL
                    SELECT b.thread_id, b.login_role
                      FROM %1$I.checkpoint_blobs AS b
                     WHERE $2 <> '{}' AND memwarden_internal.mentions($2, ARRAY[memwarden_internal.packed_text(b.blob)])
                     UNION ALL
                    SELECT w.thread_id, w.login_role
                      FROM %1$I.checkpoint_writes AS w
                     WHERE $2 <> '{}' AND memwarden_internal.mentions($2, ARRAY[memwarden_internal.packed_text(w.blob)])) AS f
             WHERE memwarden_internal.is_login_of(f.login_role, $3) $query$, v_schema)
          USING memwarden_internal.normalised_subject(p_subject, '{}'), p_terms, p_orgs
        LOOP
            v_found := array_append(v_found, v_thread);
        END LOOP;
    END IF;
    RETURN coalesce(v_found, '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_threads(bigint[], text, text[]) IS
    'Threads of logins of these organisations, or of none, whose user_id is the subject, or whose state names one of the terms.';
REVOKE ALL ON FUNCTION memwarden_internal.find_threads(bigint[], text, text[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.delete_threads(p_orgs bigint[], p_threads text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['checkpoint_writes', 'checkpoint_blobs', 'checkpoints'] LOOP
        EXECUTE format('DELETE FROM %I.%I AS t WHERE t.thread_id = ANY ($1) AND ($2 IS NULL '
                       'OR memwarden_internal.is_login_of(t.login_role, $2))', memwarden_internal.threads_schema(), v_table)
          USING p_threads, p_orgs;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.delete_threads(bigint[], text[]) IS
    'Deletes what logins of these organisations, or of none, have written in these threads; without organisations, all of it.';
REVOKE ALL ON FUNCTION memwarden_internal.delete_threads(bigint[], text[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.erase_threads(p_orgs bigint[], p_subject text, p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_schema  text := memwarden_internal.threads_schema();
    v_threads text[];
BEGIN
    IF v_schema IS NOT NULL THEN
        -- Nobody goes on with a thread that is being erased.
        EXECUTE format('LOCK TABLE ONLY %I.checkpoints IN SHARE ROW EXCLUSIVE MODE', v_schema);
        v_threads := memwarden_internal.find_threads(p_orgs, p_subject, p_terms);
        IF v_threads <> '{}' THEN
            PERFORM memwarden_internal.delete_threads(p_orgs, v_threads);
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_threads(bigint[], text, text[]) IS 'Deletes the threads that find_threads() finds.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_threads(bigint[], text, text[]) FROM PUBLIC;

-- Times of checkpoints are ISO 8601 in UTC: they stand in the order of their letters.
CREATE OR REPLACE FUNCTION memwarden_internal.old_threads(p_before timestamptz, p_among text[] DEFAULT NULL, p_count integer DEFAULT NULL)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_old    text[];
    v_thread text;
BEGIN
    FOR v_thread IN EXECUTE format($query$
        SELECT c.thread_id
          FROM %1$I.checkpoints AS c
         WHERE $2 IS NULL OR c.thread_id = ANY ($2)
         GROUP BY c.thread_id
        HAVING max(c.checkpoint ->> 'ts' COLLATE "C") < to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
           -- While a hold is in force, nobody can say which of them will be asked for.
           AND NOT EXISTS (SELECT FROM memwarden_data.legal_hold AS h
                            WHERE h.lifted_at IS NULL
                              AND (h.org_id = 0 OR memwarden_internal.is_login_of(min(c.login_role::text), ARRAY[h.org_id])
                                   OR memwarden_internal.is_login_of(max(c.login_role::text), ARRAY[h.org_id])))
         LIMIT $3 $query$, memwarden_internal.threads_schema())
      USING p_before, p_among, p_count
    LOOP
        v_old := array_append(v_old, v_thread);
    END LOOP;
    RETURN coalesce(v_old, '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.old_threads(timestamptz, text[], integer) IS
    'Up to p_count threads, or those of p_among, that nobody went on with since a moment, and that no legal hold may ask for.';
REVOKE ALL ON FUNCTION memwarden_internal.old_threads(timestamptz, text[], integer) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.forget_old_threads(p_before timestamptz, p_count integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_schema  text := memwarden_internal.threads_schema();
    v_threads text[];
BEGIN
    IF v_schema IS NOT NULL THEN
        v_threads := memwarden_internal.old_threads(p_before, p_count => p_count);
    END IF;
    IF cardinality(v_threads) > 0 THEN
        -- Whoever has gone on with one meanwhile keeps it.
        EXECUTE format('LOCK TABLE ONLY %I.checkpoints IN SHARE ROW EXCLUSIVE MODE', v_schema);
        PERFORM memwarden_internal.delete_threads(NULL, memwarden_internal.old_threads(p_before, v_threads));
    END IF;
    RETURN coalesce(cardinality(v_threads) > 0, false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.forget_old_threads(timestamptz, integer) IS
    'Deletes up to p_count threads that are too old; false when none is left.';
REVOKE ALL ON FUNCTION memwarden_internal.forget_old_threads(timestamptz, integer) FROM PUBLIC;
