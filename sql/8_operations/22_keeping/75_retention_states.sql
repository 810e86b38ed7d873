-- The four states are read off what is there: no second state machine that could disagree with the first.
CREATE OR REPLACE FUNCTION memwarden_internal.list_retention_states()
RETURNS TABLE (org text, item_id uuid, layer text, scope text, state text, kept_by text[], since timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner hashes the scopes: a caller may read a hundred thousand.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_may_hold     boolean := memwarden_internal.may_hold();
    v_now          timestamptz := clock_timestamp();
    v_org_id       bigint;
    v_items        uuid[];
BEGIN
    FOREACH v_org_id IN ARRAY memwarden_internal.overseen_orgs() LOOP
        v_items := ARRAY(
            SELECT i.item_id FROM memwarden_data.item AS i
             WHERE i.org_id = v_org_id
               AND (v_principal_id IS NULL OR i.scope_id = ANY (v_scopes)
                    AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)));
        RETURN QUERY
        WITH kept AS (
            SELECT k.item_id, array_agg(DISTINCT k.reason ORDER BY k.reason) AS reasons
              FROM memwarden_internal.reasons_to_keep(v_org_id, v_items) AS k
             WHERE v_may_hold OR k.reason <> 'HELD' GROUP BY k.item_id
        )
        SELECT o.name, i.item_id, i.layer, s.path,
               CASE WHEN i.status IN ('ACTIVE', 'DRAFT') AND (i.expires_at IS NULL OR i.expires_at > v_now) THEN 'ACTIVE'
                    WHEN 'LINKED' = ANY (k.reasons) OR EXISTS (
                        SELECT FROM memwarden_data.derivation AS d WHERE d.source_org_id = i.org_id AND d.source_item_id = i.item_id)
                    THEN 'REFERENCED' ELSE 'ORPHANED' END,
               coalesce(k.reasons, '{}'),
               CASE WHEN i.status = 'ACTIVE' AND i.expires_at <= v_now THEN i.expires_at ELSE i.updated_at END
          FROM memwarden_data.item AS i
          JOIN memwarden_data.organisation AS o ON o.org_id = i.org_id
          JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
          LEFT JOIN kept AS k ON k.item_id = i.item_id
         WHERE i.org_id = v_org_id AND i.item_id = ANY (v_items);
        RETURN QUERY
        SELECT t.org, t.item_id, t.layer, NULL::text, 'TOMBSTONED', '{}'::text[], t.deleted_at
          FROM memwarden_internal.list_tombstones() AS t
          JOIN memwarden_data.organisation AS o ON o.org_id = v_org_id AND o.name = t.org;
    END LOOP;
END
$function$;
COMMENT ON VIEW memwarden.retention_states IS
    'Lists the retention state of each memory that the caller may see. ACTIVE: in use. REFERENCED: no longer in use, but an action '
    'rests on it or another memory was derived from it, so collection does not delete it. ORPHANED: no longer in use and nothing '
    'refers to it, so it is deleted when its layer says so. TOMBSTONED: deleted for good; memwarden.tombstones says when and why. '
    'kept_by: PINNED, HELD, LINKED, whatever the state. since: since when.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_retention_states TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.list_tombstones()
RETURNS TABLE (org text, item_id uuid, layer text, versions integer, deleted_at timestamptz, cause text, reason text, login_role text,
               agent text, erasure_id uuid, signature text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_orgs bigint[] := memwarden_internal.overseen_orgs();
BEGIN
    RETURN QUERY
    SELECT o.name, t.item_id, l.layer, cardinality(t.version_ids), e.erased_at, e.cause, e.reason, e.login_role, p.name, e.erasure_id,
           memwarden_internal.signature_state('erased item', memwarden_internal.erased_item_statement(
               t.org_id, t.item_id, t.erasure_id, t.version_ids, t.key_id), t.key_id, encode(t.signature, 'hex'))
      FROM memwarden_data.erased_item AS t
      JOIN memwarden_data.erasure AS e ON e.erasure_id = t.erasure_id
      JOIN memwarden_data.organisation AS o ON o.org_id = t.org_id
      LEFT JOIN memwarden_data.principal AS p ON p.principal_id = e.principal_id
      LEFT JOIN LATERAL (
           SELECT g.layer FROM memwarden_data.log AS g
            WHERE g.org_id = t.org_id AND g.item_id = t.item_id AND g.operation = 'ERASE' ORDER BY g.log_seq DESC LIMIT 1) AS l ON true
     WHERE t.org_id = ANY (v_orgs);
END
$function$;
COMMENT ON VIEW memwarden.tombstones IS
    'Lists the memories that were deleted for good, without what they said: which, of which layer, how many versions, when, by whom, '
    'why. cause: ERASURE, COLLECTION or RETENTION. signature tells whether this server signed it: GENUINE, FORGED, UNSIGNED or OTHER_KEY.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_tombstones TO memwarden_curator, memwarden_auditor, memwarden_admin;
