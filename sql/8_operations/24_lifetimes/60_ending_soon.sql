CREATE OR REPLACE FUNCTION memwarden.ending_soon(within interval DEFAULT '7 days', grain text DEFAULT 'layer')
RETURNS TABLE (scope text, layer text, item_id uuid, ending text, memories bigint, first_at timestamptz, last_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_now          timestamptz := clock_timestamp();
BEGIN
    IF coalesce(ending_soon.within NOT BETWEEN interval '1 second' AND interval '1000 years', true) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'within: 1 second to 1,000 years');
    ELSIF coalesce(ending_soon.grain NOT IN ('layer', 'scope', 'item'), true) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'grain: layer, scope or item');
    END IF;
    RETURN QUERY
    SELECT CASE WHEN ending_soon.grain <> 'layer' THEN s.path END, i.layer, CASE ending_soon.grain WHEN 'item' THEN i.item_id END,
           e.ending, count(*), min(e.at), max(e.at)
      FROM memwarden_data.item AS i
     CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = i.org_id AND k.layer = i.layer AND k.principal_id IN (0, i.principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
     CROSS JOIN LATERAL (VALUES
           ('hard', i.expires_at),
           ('soft', coalesce(i.fresh_until, CASE WHEN l.decay <> 'exempt' THEN
                                CASE l.counted_from WHEN 'creation' THEN i.created_at ELSE i.updated_at END + l.soft_ttl END)))
               AS e (ending, at)
     WHERE i.org_id = ANY (v_orgs) AND i.scope_id = ANY (v_scopes) AND i.status = 'ACTIVE'
       AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
       AND (i.expires_at IS NULL OR i.expires_at > v_now)
       AND e.at > v_now AND e.at <= v_now + ending_soon.within
     GROUP BY 1, 2, 3, 4
     ORDER BY 6, 1, 2, 3, 4;
END
$function$;
COMMENT ON FUNCTION memwarden.ending_soon IS
    'Lists what ends soon of the memories that the caller reads, the soonest first, so that somebody may renew() it in time. within: '
    'how far to look ahead, 1 second to 1,000 years; default 7 days. grain: one row for each layer (the default), scope or item. '
    'ending: hard, recall no longer gives the memory; or soft, it counts half from then on. memories: how many; first_at, last_at: '
    'when the first and the last of them end. Raises 22023 for arguments out of range, 28000 without an identity. Source: four-layer '
    'design 8.';
GRANT EXECUTE ON FUNCTION memwarden.ending_soon TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
