-- The states of threads lie in tables that LangGraph's package makes in the schema memwarden_threads. Only tables of a superuser are
-- touched: those of anybody else may have triggers, policies and columns that run whatever they like.
CREATE OR REPLACE FUNCTION memwarden_internal.thread_tables()
RETURNS TABLE (relation regclass, owner name, is_trusted boolean, is_guarded boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 3
AS $function$
BEGIN
    RETURN QUERY
    SELECT c.oid::regclass, o.rolname, o.rolsuper,
           c.relrowsecurity AND c.relforcerowsecurity
           AND EXISTS (SELECT FROM pg_constraint AS k
                        WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confdeltype = 'c' AND k.convalidated
                          AND k.confrelid = to_regclass('memwarden_data.thread'))
           AND EXISTS (SELECT FROM pg_trigger AS g
                        WHERE g.tgrelid = c.oid AND g.tgenabled = 'O'
                          AND g.tgfoid = to_regprocedure('memwarden_internal.own_thread()'))
           AND EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = c.oid AND p.polname = 'own'
                          AND pg_get_expr(p.polqual, c.oid) LIKE '%current_principal%')
           AND has_table_privilege('memwarden_owner', c.oid, 'SELECT')
      FROM pg_namespace AS n
      JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relkind = 'r'
                        AND c.relname IN ('checkpoints', 'checkpoint_blobs', 'checkpoint_writes')
      JOIN pg_roles AS o ON o.oid = c.relowner
     WHERE n.nspname = 'memwarden_threads'
     ORDER BY 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.thread_tables IS
    'The tables of a checkpointer beside the store. is_trusted: a superuser owns it. is_guarded: setup() has bound its rows to '
    'memwarden_data.thread.';

CREATE OR REPLACE FUNCTION memwarden_internal.threads_schema()
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT 'memwarden_threads' FROM memwarden_internal.thread_tables() AS t
             WHERE t.is_trusted AND t.is_guarded HAVING count(*) = 3);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.threads_schema IS
    'The schema with the guarded tables of a checkpointer; NULL where there is none.';

CREATE OR REPLACE FUNCTION memwarden_internal.thread_status()
RETURNS TABLE (component text, state text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT 'threads', CASE WHEN bool_and(t.is_trusted AND t.is_guarded) THEN 'ok' ELSE 'warning' END,
           coalesce('nothing erases ' || string_agg(t.relation || CASE WHEN t.is_trusted THEN '' ELSE ' of ' || t.owner END, ', ')
                        FILTER (WHERE NOT (t.is_trusted AND t.is_guarded))
                    || ': give it to a superuser, who runs: SELECT memwarden.setup();',
                    'each belongs to a login')
      FROM memwarden_internal.thread_tables() AS t HAVING count(*) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.thread_status IS
    'A row where there are tables of a checkpointer: a warning where they are not guarded.';
