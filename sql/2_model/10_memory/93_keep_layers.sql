-- One row says what holds of a layer for an organisation, or for an agent with settings of its own.

-- The most specific first. A value that is weaker than one the server has fixed counts for nothing.
CREATE OR REPLACE FUNCTION memwarden_internal.own_settings(p_org_id bigint, p_principal_id bigint, p_layer text)
RETURNS TABLE (name text, value jsonb, owner text, layers text, profile text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
-- Values pass through text: it must be the same text in every session.
SET intervalstyle = 'postgres'
SET extra_float_digits = 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (s.name) s.name, s.value, CASE WHEN s.principal_id IS NULL THEN 'organisation' ELSE 'agent' END, s.layer, s.profile
      FROM memwarden_data.layer_setting AS s
      JOIN memwarden_internal.setting_rules() AS r ON r.name = s.name
      JOIN memwarden_data.layer AS l ON l.layer = p_layer
     WHERE s.org_id = p_org_id AND s.layer IN ('*', p_layer) AND (s.principal_id IS NULL OR s.principal_id = p_principal_id)
       AND NOT (s.name = ANY (l.fixed) AND memwarden_internal.is_weaker(r.stricter, s.value, to_jsonb(l) -> s.name))
     ORDER BY s.name, s.principal_id IS NULL, s.profile IS NOT NULL, s.layer = '*';
END
$function$;
COMMENT ON FUNCTION memwarden_internal.own_settings IS
    'The settings of a layer that an organisation, or one agent of it, has otherwise than the server, and whose each is. layers: the '
    'layer or *, as it was set.';

-- p_form: NULL::memwarden_data.kept_layer, a type of the storage, which is not there yet when the function is made.
CREATE OR REPLACE FUNCTION memwarden_internal.settled_layers(p_form anyelement, p_org_id bigint)
RETURNS SETOF anyelement
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET intervalstyle = 'postgres'
SET extra_float_digits = 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT n.*
      FROM (SELECT 0::bigint AS principal_id
             UNION SELECT s.principal_id FROM memwarden_data.layer_setting AS s
                    WHERE s.org_id = p_org_id AND s.principal_id IS NOT NULL) AS w
     CROSS JOIN memwarden_data.layer AS l
     CROSS JOIN LATERAL (SELECT coalesce(jsonb_object_agg(o.name, o.value), '{}') AS own
                           FROM memwarden_internal.own_settings(p_org_id, w.principal_id, l.layer) AS o) AS o
     CROSS JOIN LATERAL jsonb_populate_record(p_form, jsonb_strip_nulls(
                to_jsonb(l) || o.own || jsonb_build_object('org_id', p_org_id, 'principal_id', w.principal_id))) AS n;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settled_layers IS
    'The settings of every layer for an organisation, and for each agent of it that has its own.';

-- Whoever changes settings does it alone, or two would each keep what the other has not seen. Taken before any row is.
CREATE OR REPLACE FUNCTION memwarden_internal.lock_settings()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.hold_table('memwarden_data.kept_layer');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.lock_settings IS 'Locks the settings of layers for this transaction against other changes.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_replicating()
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.pid = pg_backend_pid() AND starts_with(a.backend_type, 'logical replication'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_replicating IS 'Whether this process applies the changes of a subscription.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_layers(p_orgs bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_org_id bigint;
    v_rows   memwarden_data.kept_layer[];
BEGIN
    -- A subscription brings what its publisher has kept.
    IF memwarden_internal.is_replicating() THEN
        RETURN;
    END IF;
    PERFORM memwarden_internal.lock_settings();
    -- An organisation that was founded meanwhile is seen now.
    FOREACH v_org_id IN ARRAY coalesce(p_orgs, ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o)) LOOP
        v_rows := ARRAY(SELECT n FROM memwarden_internal.settled_layers(NULL::memwarden_data.kept_layer, v_org_id) AS n);
        -- What stays as it is, is not touched: its change would be one for every reader and writer.
        DELETE FROM memwarden_data.kept_layer AS k
         WHERE k.org_id = v_org_id AND NOT EXISTS (SELECT FROM unnest(v_rows) AS n WHERE (n.*) IS NOT DISTINCT FROM (k.*));
        INSERT INTO memwarden_data.kept_layer SELECT n.* FROM unnest(v_rows) AS n ON CONFLICT DO NOTHING;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_layers IS
    'Brings kept_layer up to date for some organisations, or all (NULL). Raises 23514 where a setting is out of range, alone or beside '
    'others.';

-- Whoever changes a setting, by whatever right: hence SECURITY DEFINER. They answer nobody and take nothing from who calls.
CREATE OR REPLACE FUNCTION memwarden_internal.keep_all_layers()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.keep_layers(NULL);
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_all_layers IS 'Trigger of layer: what the server changes holds for every organisation.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_changed_layers()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    PERFORM memwarden_internal.keep_layers(ARRAY(SELECT DISTINCT c.org_id FROM changed AS c));
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_changed_layers IS
    'Triggers of layer_setting: keeps what holds for the organisations concerned.';

CREATE OR REPLACE FUNCTION memwarden_internal.keep_new_layers()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
BEGIN
    IF NOT memwarden_internal.is_replicating() THEN
        -- It has nothing of its own yet: it waits for who changes the server's, and for nobody else.
        PERFORM memwarden_internal.hold_table('memwarden_data.kept_layer', 'ROW EXCLUSIVE');
        DELETE FROM memwarden_data.kept_layer AS k USING changed AS c WHERE k.org_id = c.org_id;
        INSERT INTO memwarden_data.kept_layer
        SELECT c.org_id, 0, l.* FROM changed AS c CROSS JOIN memwarden_data.layer AS l;
    END IF;
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_new_layers IS 'Trigger of organisation: a new one goes by the settings of the server.';

-- Always, also in a session that says it only replicates. Who knows what changed while a trigger was not there: making it keeps all.
CREATE OR REPLACE FUNCTION memwarden_internal.keep_triggers()
RETURNS TABLE (name text, body text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT format('trigger memwarden_data.%s %s', t.relation, t.name), format(
           'CREATE TRIGGER %2$s AFTER %3$s ON memwarden_data.%1$s %4$sFOR EACH STATEMENT '
           'EXECUTE FUNCTION memwarden_internal.%5$s(); '
           'ALTER TABLE memwarden_data.%1$s ENABLE ALWAYS TRIGGER %2$s; '
           'SELECT memwarden_internal.keep_layers(NULL)',
           t.relation, t.name, t.event, t.rows, t.function)
  FROM (VALUES ('layer', 'keep_changed', 'INSERT OR UPDATE OR DELETE', '', 'keep_all_layers'),
               ('organisation', 'keep_inserted', 'INSERT', 'REFERENCING NEW TABLE AS changed ', 'keep_new_layers'),
               ('layer_setting', 'keep_inserted', 'INSERT', 'REFERENCING NEW TABLE AS changed ', 'keep_changed_layers'),
               ('layer_setting', 'keep_updated', 'UPDATE', 'REFERENCING NEW TABLE AS changed ', 'keep_changed_layers'),
               ('layer_setting', 'keep_deleted', 'DELETE', 'REFERENCING OLD TABLE AS changed ', 'keep_changed_layers'))
       AS t (relation, name, event, rows, function)
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_triggers IS
    'The triggers that keep kept_layer up to date, and the statements that make each.';
