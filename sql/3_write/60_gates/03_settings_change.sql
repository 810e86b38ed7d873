-- Whether what was made of settings still holds: a row of settings_change for each change of them.

-- What the views read that say what settings make of a writer and of a reader, as the catalog has it.
CREATE OR REPLACE FUNCTION memwarden_internal.settings_sources()
RETURNS TABLE (relation text, columns text[], of_readers boolean)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT c.relname, array_agg(DISTINCT a.attname::text), bool_and(r.ev_class = to_regclass('memwarden_data.reader_terms'))
  FROM pg_rewrite AS r
  JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                     AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
  JOIN pg_class AS c ON c.oid = d.refobjid AND c.relkind <> 'c'
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
 WHERE r.ev_class IN (to_regclass('memwarden_data.layer_terms'), to_regclass('memwarden_data.reader_terms'))
 GROUP BY c.relname
$function$;
COMMENT ON FUNCTION memwarden_internal.settings_sources IS
    'The tables that layer_terms and reader_terms read, the columns of each, and whether readers alone go by them.';

-- By row and not by statement: only so is it known whose settings they are, whether they changed at all, and what a
-- subscription of logical replication changes. Always, also in a session that says it only replicates. And who knows what
-- changed while a trigger was not there: making it is a change, too.
CREATE OR REPLACE FUNCTION memwarden_internal.settings_triggers()
RETURNS TABLE (name text, body text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT format('trigger memwarden_data.%s %s', s.relation, t.name), format(
           'CREATE TRIGGER %2$s AFTER %3$s ON memwarden_data.%1$s FOR EACH %4$s '
           'EXECUTE FUNCTION memwarden_internal.note_settings_change(%5$s); '
           'ALTER TABLE memwarden_data.%1$s ENABLE ALWAYS TRIGGER %2$s; '
           'SELECT memwarden_internal.settings_changed(%6$s)',
           s.relation, t.name, t.event, t.level, (SELECT string_agg(quote_literal(c), ', ') FROM unnest(s.columns) AS c),
           CASE WHEN s.of_readers THEN -1 ELSE 0 END)
  FROM memwarden_internal.settings_sources() AS s
 CROSS JOIN LATERAL (
       VALUES (CASE WHEN s.of_readers THEN 'reader_change' ELSE 'settings_change' END, 'INSERT OR UPDATE OR DELETE', 'ROW'),
              (CASE WHEN s.of_readers THEN 'reader_truncated' ELSE 'settings_truncated' END, 'TRUNCATE', 'STATEMENT')
       ) AS t (name, event, level)
$function$;
COMMENT ON FUNCTION memwarden_internal.settings_triggers IS
    'The triggers that note every change of what settings_sources() names, and the statements that make each.';

-- Whoever changes a setting, by whatever right: hence SECURITY DEFINER. It answers nobody and takes nothing from who calls.
CREATE OR REPLACE FUNCTION memwarden_internal.note_settings_change()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_old  jsonb;
    v_new  jsonb;
    v_orgs bigint[];
BEGIN
    IF TG_OP IN ('UPDATE', 'DELETE') THEN
        v_old := to_jsonb(OLD);
        v_old := (SELECT jsonb_object_agg(c, v_old -> c) FROM unnest(TG_ARGV) AS c);
    END IF;
    IF TG_OP IN ('UPDATE', 'INSERT') THEN
        v_new := to_jsonb(NEW);
        v_new := (SELECT jsonb_object_agg(c, v_new -> c) FROM unnest(TG_ARGV) AS c);
    END IF;
    IF TG_OP = 'UPDATE' AND v_new = v_old THEN
        RETURN NULL;
    END IF;
    -- Where nobody asks for the organisation of such a row, it may be anybody's.
    v_orgs := ARRAY(SELECT DISTINCT coalesce((r.was ->> 'org_id')::bigint, 0)
                      FROM (VALUES (v_old), (v_new)) AS r (was) WHERE r.was IS NOT NULL OR TG_OP = 'TRUNCATE');
    -- What readers alone go by has numbers of its own: a new label, which a write makes, changes no terms of writers.
    PERFORM memwarden_internal.settings_changed(CASE WHEN starts_with(TG_NAME, 'reader_') THEN -1 - o.org_id ELSE o.org_id END)
       FROM unnest(v_orgs) AS o (org_id);
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_settings_change IS
    'Triggers settings_change and settings_truncated, reader_change and reader_truncated: what was made of the settings before holds '
    'no longer, or what was made of them for readers. Arguments: the columns that count.';

CREATE OR REPLACE FUNCTION memwarden_internal.settings_changed(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Up to 2^40, and not by random(): its seed is the caller's to set.
    INSERT INTO memwarden_data.settings_change (org_id, weight)
    VALUES (p_org_id, 1 + (hashtextextended(gen_random_uuid()::text, 0) & 1099511627775));
    -- Elsewhere the rows that others took away meanwhile would be an error.
    IF current_setting('transaction_isolation') <> 'read committed'
        OR (SELECT count(*) FROM memwarden_data.settings_change AS c WHERE c.org_id = p_org_id) < 20 THEN
        RETURN;
    END IF;
    -- Gone and made in one statement: whoever sees one sees both. What another folds meanwhile is left to it.
    WITH folded AS (
        DELETE FROM memwarden_data.settings_change AS c
         WHERE c.ctid = ANY (ARRAY(SELECT o.ctid FROM memwarden_data.settings_change AS o WHERE o.org_id = p_org_id
                                      FOR UPDATE SKIP LOCKED))
        RETURNING c.weight
    )
    INSERT INTO memwarden_data.settings_change (org_id, weight)
    SELECT p_org_id, sum(f.weight) FROM folded AS f HAVING count(*) > 0;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settings_changed IS
    'Notes that settings of an organisation have changed (0: of any; -1 - the organisation: what readers alone go by), and makes one '
    'row of its notes once there are 20. Their sum is what counts, and is the same to everybody.';
