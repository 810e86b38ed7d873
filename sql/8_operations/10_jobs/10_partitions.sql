-- pg_partman cuts what grows for ever. It is installed into a schema of its own by setup(), since a
-- CASCADE would put its hundred functions beside the user's.
CREATE OR REPLACE FUNCTION memwarden_internal.partman_schema()
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT quote_ident(n.nspname) FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'pg_partman'
$function$;
COMMENT ON FUNCTION memwarden_internal.partman_schema IS 'The schema pg_partman is installed in, quoted; NULL when it is not.';

CREATE OR REPLACE FUNCTION memwarden_internal.prepare_partman()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_schema  text;
    v_object record;
BEGIN
    IF memwarden_internal.partman_schema() IS NULL THEN
        -- Who owned such a schema already could put functions beside pg_partman's: then this fails.
        IF NOT EXISTS (SELECT FROM pg_namespace AS n JOIN pg_roles AS r ON r.oid = n.nspowner
                        WHERE n.nspname = 'partman' AND r.rolsuper) THEN
            CREATE SCHEMA partman;
        END IF;
        CREATE EXTENSION pg_partman SCHEMA partman;
    END IF;
    v_schema := memwarden_internal.partman_schema();
    EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %s TO memwarden_owner', v_schema);
    -- An earlier release gave more.
    FOR v_object IN
        SELECT DISTINCT c.oid::regclass AS relation
          FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
          JOIN pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
          JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'pg_partman'
         WHERE a.grantee = 'memwarden_owner'::regrole
           AND NOT CASE c.relname WHEN 'part_config' THEN a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
                                  WHEN 'part_config_sub' THEN a.privilege_type = 'SELECT' ELSE false END
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM memwarden_owner', v_object.relation);
    END LOOP;
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s.part_config TO memwarden_owner', v_schema);
    EXECUTE format('GRANT SELECT ON %s.part_config_sub TO memwarden_owner', v_schema);
    -- Its functions are everybody's. A right to one is a line of every dump, and fails where another release of pg_partman has it no more.
    FOR v_object IN
        SELECT p.oid::regprocedure AS signature FROM pg_proc AS p
         WHERE p.pronamespace = to_regnamespace(v_schema)
           AND EXISTS (SELECT FROM aclexplode(p.proacl) AS a WHERE a.grantee = 'memwarden_owner'::regrole)
           AND EXISTS (SELECT FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
                        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND e.extname = 'pg_partman')
    LOOP
        EXECUTE format('REVOKE ALL ON ROUTINE %s FROM memwarden_owner', v_object.signature);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.prepare_partman IS
    'Installs pg_partman where it is missing and lets memwarden_owner use it: its schema and its settings, no function '
    'by name.';

CREATE OR REPLACE FUNCTION memwarden_internal.create_partitions()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_schema  text := memwarden_internal.partman_schema();
    v_is_made boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM %s.part_config WHERE parent_table = $1)', v_schema)
       INTO v_is_made USING 'memwarden_data.write_request';
    IF NOT v_is_made THEN
        EXECUTE format(
            'SELECT %1$s.create_parent(p_parent_table := $1, p_control := $2, p_interval := $3, '
            'p_time_encoder := %2$L, p_time_decoder := %3$L)',
            v_schema, v_schema || '.uuid7_time_encoder', v_schema || '.uuid7_time_decoder')
          USING 'memwarden_data.write_request', 'request_id', '1 month';
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s.part_config WHERE parent_table = $1)', v_schema)
       INTO v_is_made USING 'memwarden_data.log';
    IF NOT v_is_made THEN
        EXECUTE format('SELECT %s.create_parent(p_parent_table := $1, p_control := $2, p_interval := $3)', v_schema)
          USING 'memwarden_data.log', 'recorded_at', '1 month';
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s.part_config WHERE parent_table = $1)', v_schema)
       INTO v_is_made USING 'memwarden_data.capture';
    IF NOT v_is_made THEN
        EXECUTE format(
            'SELECT %1$s.create_parent(p_parent_table := $1, p_control := $2, p_interval := $3, '
            'p_time_encoder := %2$L, p_time_decoder := %3$L)',
            v_schema, v_schema || '.uuid7_time_encoder', v_schema || '.uuid7_time_decoder')
          USING 'memwarden_data.capture', 'capture_id', '1 month';
    END IF;
    PERFORM memwarden_internal.cut_recall_log();
    -- Otherwise months without a row get no partition, and the rows after them land in the default one.
    -- Maintenance of everything at once would be another role's, and so would the partitions it makes.
    EXECUTE format('UPDATE %s.part_config SET infinite_time_partitions = true, automatic_maintenance = ''off'' '
                   'WHERE parent_table = ANY ($1) AND (infinite_time_partitions IS NOT TRUE OR automatic_maintenance <> ''off'')', v_schema)
      USING ARRAY['memwarden_data.write_request', 'memwarden_data.log', 'memwarden_data.capture',
                  'memwarden_data.recall_log', 'memwarden_data.recall_outcome'];
END
$function$;
COMMENT ON FUNCTION memwarden_internal.create_partitions IS
    'Hands write_request, log, capture and the log of recalls to pg_partman: a partition a month. Run as '
    'memwarden_owner, so that partitions belong to it.';

CREATE OR REPLACE FUNCTION memwarden_internal.cut_recall_log()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_schema  text := memwarden_internal.partman_schema();
    v_table   text;
    v_is_made boolean;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['memwarden_data.recall_log', 'memwarden_data.recall_outcome'] LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s.part_config WHERE parent_table = $1)', v_schema) INTO v_is_made USING v_table;
        CONTINUE WHEN v_is_made;
        EXECUTE format(
            'SELECT %1$s.create_parent(p_parent_table := $1, p_control := $2, p_interval := $3, '
            'p_time_encoder := %2$L, p_time_decoder := %3$L)',
            v_schema, v_schema || '.uuid7_time_encoder', v_schema || '.uuid7_time_decoder')
          USING v_table, 'recall_id', '1 month';
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.cut_recall_log IS
    'Hands the log of recalls and what was reported of them to pg_partman: a partition a month.';
