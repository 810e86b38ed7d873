-- Where a pack redacts, its rules come on top of those of the organisation, at a recall as at a write.
CREATE OR REPLACE FUNCTION memwarden_internal.hashes_with_packs(
    p_org_id bigint, p_rows memwarden_internal.recalled_item[], p_rules_hashes text[])
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT CASE WHEN k.rules_hash IS NULL THEN p_rules_hashes[r.ordinality]
                    -- A pack's are those of the organisation and more.
                    WHEN p_rules_hashes[r.ordinality] IS NOT NULL OR i.sensitivity <> 'none'
                      OR k.swept_at IS NULL AND (r.provenance ->> 'recorded_at')::timestamptz < k.rules_since + interval '1 minute'
                          THEN k.rules_hash END
          FROM unnest(p_rows) WITH ORDINALITY AS r
          LEFT JOIN LATERAL (SELECT h.org_id, h.layer, h.principal_id, h.scope_id, h.sensitivity FROM memwarden_data.item AS h
                              WHERE h.org_id = ANY (ARRAY[0, p_org_id]) AND h.item_id = r.item_id OFFSET 0) AS i ON true
          LEFT JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
          LEFT JOIN LATERAL (SELECT u.pack #>> ARRAY['rules', i.layer] AS rules_hash, u.rules_since, u.swept_at
                               FROM memwarden_data.pack_use AS u
                              WHERE u.org_id IN (0, i.org_id) AND (u.principal_id IS NULL OR u.principal_id = i.principal_id)
                                AND (u.scope_id IS NULL OR u.scope_id = ANY (s.lineage))
                              ORDER BY u.org_id = 0, u.depth DESC LIMIT 1) AS k ON true
         ORDER BY r.ordinality);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.hashes_with_packs IS
    'By which rules each of some rows is to be screened before it is told, where packs have rules: as present() has '
    'found it, with the rules of the pack that holds for its writer and scope. NULL where that has been done.';
