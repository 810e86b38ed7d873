-- A fact that holds one value at a time, and another value of it for times that overlap. Whoever says from when on a value holds
-- goes on with the story; whoever speaks of times of which somebody else has told already contradicts.
CREATE OR REPLACE FUNCTION memwarden_internal.overlapping_values(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_key_hash bytea, p_fingerprint bytea, p_principal_id bigint,
        p_period tstzrange, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_synonyms text := coalesce((SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), '{}');
BEGIN
    RETURN (
        SELECT jsonb_agg(jsonb_build_object(
                   'item_id', i.item_id, 'version_id', v.version_id, 'label_id', i.label_id, 'principal_id', i.principal_id,
                   'known', false, 'method', 'temporal', 'rule', 'one value at a time'))
          FROM memwarden_data.item AS i
          JOIN memwarden_data.timeline AS t ON t.org_id = i.org_id AND t.item_id = i.item_id AND upper_inf(t.recorded_during)
          JOIN memwarden_data.said_version AS v ON v.org_id = t.org_id AND v.version_id = t.version_id
         WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE' AND i.exclusive
           AND i.key_hash = p_key_hash
           AND t.valid_during && range_merge(memwarden_internal.period_left(i.org_id, i.item_id, p_period, p_now))
           AND v.principal_id <> p_principal_id AND (v.expires_at IS NULL OR v.expires_at > p_now)
           AND NOT (lower(t.valid_during) < lower(p_period) AND (
                   upper_inf(t.valid_during)
                   -- It was told without an end, and has one since the next is known.
                   OR upper_inf(p_period) AND (upper_inf(v.valid_during) OR EXISTS (
                          SELECT FROM memwarden_data.timeline AS n
                           WHERE n.org_id = t.org_id AND n.item_id = t.item_id AND upper_inf(n.recorded_during)
                             AND lower(n.valid_during) = upper(t.valid_during)))))
           AND memwarden_internal.indexed_hash((memwarden_internal.fingerprints(v.content::text, v.subject, v.predicate,
                                                v_synonyms)).fingerprint, v.subject_key_id) <> p_fingerprint);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.overlapping_values IS
    'Other values that other writers have given a fact for times that overlap a period: as inverse_facts(). One '
    'that holds from earlier on without an end is not among them: it ends where the new one begins. Nor is one at which a new '
    'one without an end itself ends.';
