-- Whether what was made of settings still holds: a row of settings_change for each change of them.

-- What the view layer_terms reads. The catalog knows it too, and a test compares the two.
CREATE OR REPLACE FUNCTION memwarden_internal.settings_sources()
RETURNS TABLE (relation text, columns text[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
VALUES ('access_role', '{role_id,write_budget}'::text[]),
       ('approval_policy', '{org_id,layer,class,agent,approval,auto_below,weights,layer_risk}'),
       ('canonical_source', '{org_id,enabled}'),
       ('content_schema', '{org_id,layer,kind,schema_id,schema,constraints,text_template,merge_policy,embedding_dimension,current}'),
       ('durability_ruleset', '{org_id,layer,rules}'),
       ('embedding_model', '{model_id,name,dimension}'),
       ('embedding_use', '{org_id,model_id,is_active}'),
       ('integrity_rule', '{org_id,layer}'),
       ('layer', '{layer,admission,shared,writers,direct_writes,same_key,default_ttl,max_ttl,default_confidence,embedding,'
                 'text_search_config,max_content_bytes,max_text_length,idempotency_window,rate_limit,rate_window,'
                 'extend_validity,duplicate_similarity,topic_similarity,contradiction_score,conflict,conflict_gap,'
                 'max_pending,fact_threshold,evidence_half_life,min_authority,min_external,external_types,'
                 'self_reference,validation_weights,confidence_weights}'),
       ('organisation', '{org_id,reputation_threshold}'),
       ('pack_use', '{org_id}'),
       ('policy_set', '{org_id,operations}'),
       ('predicate', '{org_id,inverse,disjoint,subject_schema,object_schema}'),
       ('principal', '{principal_id,org_id,name,home_scope_id,validated,role_id,clearance,domains,anchor_required,'
                     'anchor_nullable,reputation,disabled_at}'),
       ('rate_limit', '{org_id,principal_id,layer,rate_limit,rate_window}'),
       ('residency_rule', '{org_id,class,regions}'),
       ('role_permission', '{role_id,operation,layer,kind,reach}'),
       ('sensitivity_ruleset', '{org_id,layer,rules_hash}'),
       ('tightening', '{org_id,layer,raised_by}'),
       ('verifier', '{org_id,layer,purpose}'),
       ('vocabulary', '{org_id,synonyms}')
$function$;
COMMENT ON FUNCTION memwarden_internal.settings_sources() IS 'The tables that layer_terms reads, and the columns of each.';
REVOKE ALL ON FUNCTION memwarden_internal.settings_sources() FROM PUBLIC;

-- By row and not by statement: only so is it known whose settings they are, whether they changed at all, and what a
-- subscription of logical replication changes. Always, also in a session that says it only replicates. And who knows what
-- changed while a trigger was not there: making it is a change, too.
CREATE OR REPLACE FUNCTION memwarden_internal.settings_triggers()
RETURNS TABLE (name text, body text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
SELECT format('trigger memwarden_data.%s %s', s.relation, t.name), format(
           'CREATE TRIGGER %2$s AFTER %3$s ON memwarden_data.%1$s FOR EACH %4$s '
           'EXECUTE FUNCTION memwarden_internal.note_settings_change(%5$s); '
           'ALTER TABLE memwarden_data.%1$s ENABLE ALWAYS TRIGGER %2$s; '
           'SELECT memwarden_internal.settings_changed(0)',
           s.relation, t.name, t.event, t.level, (SELECT string_agg(quote_literal(c), ', ') FROM unnest(s.columns) AS c))
  FROM memwarden_internal.settings_sources() AS s
 CROSS JOIN (VALUES ('settings_change', 'INSERT OR UPDATE OR DELETE', 'ROW'),
                    ('settings_truncated', 'TRUNCATE', 'STATEMENT')) AS t (name, event, level)
$function$;
COMMENT ON FUNCTION memwarden_internal.settings_triggers() IS
    'The triggers that note every change of what settings_sources() names, and the statements that make each.';
REVOKE ALL ON FUNCTION memwarden_internal.settings_triggers() FROM PUBLIC;

-- Whoever changes a setting, by whatever right: hence SECURITY DEFINER. It answers nobody and takes nothing from who calls.
CREATE OR REPLACE FUNCTION memwarden_internal.note_settings_change()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_old  jsonb;
    v_new  jsonb;
    v_orgs bigint[];
BEGIN
    IF TG_OP IN ('UPDATE', 'DELETE') THEN
        v_old := (SELECT jsonb_object_agg(c, to_jsonb(OLD) -> c) FROM unnest(TG_ARGV) AS c);
    END IF;
    IF TG_OP IN ('UPDATE', 'INSERT') THEN
        v_new := (SELECT jsonb_object_agg(c, to_jsonb(NEW) -> c) FROM unnest(TG_ARGV) AS c);
    END IF;
    IF TG_OP = 'UPDATE' AND v_new = v_old THEN
        RETURN NULL;
    END IF;
    -- Where nobody asks for the organisation of such a row, it may be anybody's.
    v_orgs := ARRAY(SELECT DISTINCT coalesce((r.was ->> 'org_id')::bigint, 0)
                      FROM (VALUES (v_old), (v_new)) AS r (was) WHERE r.was IS NOT NULL OR TG_OP = 'TRUNCATE');
    PERFORM memwarden_internal.settings_changed(o.org_id) FROM unnest(v_orgs) AS o (org_id);
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_settings_change() IS
    'Triggers settings_change and settings_truncated: what was made of the settings before holds no longer. Arguments: the '
    'columns that count.';
REVOKE ALL ON FUNCTION memwarden_internal.note_settings_change() FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.settings_changed(p_org_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden_internal.settings_changed(bigint) IS
    'Notes that settings of an organisation have changed (0: of any), and makes one row of its notes once there are 20. Their '
    'sum is what counts, and is the same to everybody.';
REVOKE ALL ON FUNCTION memwarden_internal.settings_changed(bigint) FROM PUBLIC;
