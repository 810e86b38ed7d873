-- A stretch of what is stored, in the order of the numbers of versions: all of it, or a batch.
CREATE OR REPLACE FUNCTION memwarden_internal.provenance_findings(
    p_since timestamptz, p_after_org bigint, p_after uuid, p_until_org bigint, p_until uuid)
RETURNS TABLE (finding text, item_id uuid, version_id uuid, provenance_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT c.finding, c.item_id, c.version_id, c.provenance_id, c.detail
      FROM (SELECT p.item_id, p.version_id, p.provenance_id,
                   CASE WHEN p.signature IS NULL THEN 'UNSIGNED'
                        WHEN k.key_id IS NULL THEN 'UNKNOWN_KEY'
                        WHEN s.fits IS NULL THEN 'OTHER_KEY'
                        -- Of a record that takes its place from the columns, moving it breaks the signature as well.
                        WHEN NOT s.fits AND NOT (p.record ? 'place' AND m.is_misplaced) THEN 'ALTERED'
                        WHEN m.is_misplaced THEN 'MISPLACED'
                        WHEN v.version_id IS NULL OR v.item_id <> p.item_id OR v.scope_id <> p.scope_id THEN 'WITHOUT_VERSION'
                        WHEN w.record ->> 'content_hash' IS DISTINCT FROM encode(v.content_hash, 'hex') THEN 'OTHER_CONTENT' END AS finding,
                   CASE WHEN p.signature IS NULL THEN 'stored without a signature: the server had no master key, or it was taken away'
                        WHEN k.key_id IS NULL THEN format('key %s is gone', p.key_id)
                        WHEN s.fits IS NULL THEN format('key %s does not open under this server''s master key', p.key_id)
                        ELSE format('%s, signed under key %s', p.event, p.key_id) END AS detail
              FROM memwarden_data.provenance AS p
              LEFT JOIN memwarden_data.signing_key AS k ON k.key_id = p.key_id AND k.purpose = 'provenance'
             CROSS JOIN LATERAL memwarden_internal.whole_record(
                                    p.record, p.item_id, p.version_id, p.provenance_id, p.event, p.recorded_at, p.request_id,
                                    p.supersedes, p.content_hash, p.agent_confidence, p.fact_score, p.validation_score,
                                    p.adjusted_confidence, p.authority) AS w (record)
             CROSS JOIN LATERAL memwarden_internal.is_signed(k.wrapped, 'provenance', w.record::text, p.signature) AS s (fits)
             CROSS JOIN LATERAL memwarden_internal.is_misplaced(
                                    p.item_id, p.version_id, p.provenance_id, p.event, p.recorded_at, p.record) AS m (is_misplaced)
              LEFT JOIN memwarden_data.version AS v ON v.org_id = p.org_id AND v.version_id = p.version_id
             WHERE p.recorded_at >= p_since
               AND (p.org_id, p.version_id) > (p_after_org, p_after) AND (p.org_id, p.version_id) <= (p_until_org, p_until)) AS c
     WHERE c.finding IS NOT NULL;
    RETURN QUERY
    SELECT 'MISSING', v.item_id, v.version_id, NULL::uuid, format('version %s has no record', v.version)
      FROM memwarden_data.version AS v
     WHERE lower(v.recorded_during) >= p_since
       AND (v.org_id, v.version_id) > (p_after_org, p_after) AND (v.org_id, v.version_id) <= (p_until_org, p_until)
       AND NOT EXISTS (SELECT FROM memwarden_data.provenance AS p
                        WHERE p.org_id = v.org_id AND p.version_id = v.version_id AND p.event IN ('WRITE', 'RESTATE'));
    RETURN QUERY
    SELECT 'HEAD', i.item_id, i.version_id, NULL::uuid, 'the item says otherwise than its record what it is worth'
      FROM memwarden_data.version AS v
      JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id AND i.version_id = v.version_id
     CROSS JOIN LATERAL memwarden_internal.trust_of_version(i.org_id, i.version_id) AS t
     WHERE i.updated_at >= p_since
       AND (v.org_id, v.version_id) > (p_after_org, p_after) AND (v.org_id, v.version_id) <= (p_until_org, p_until)
       AND (t.adjusted_confidence <> i.adjusted_confidence OR t.authority <> i.authority OR t.standing <> i.standing);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.provenance_findings IS
    'What verify_provenance() finds in the versions behind one number (organisation and version) and up to another.';

CREATE OR REPLACE FUNCTION memwarden.verify_provenance(since timestamptz DEFAULT NULL)
RETURNS TABLE (finding text, item_id uuid, version_id uuid, provenance_id uuid, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN QUERY
    SELECT f.finding, f.item_id, f.version_id, f.provenance_id, f.detail
      FROM memwarden_internal.provenance_findings(
               coalesce(verify_provenance.since, '-infinity'), -1, '00000000-0000-0000-0000-000000000000',
               9223372036854775807, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS f;
END
$function$;
COMMENT ON FUNCTION memwarden.verify_provenance IS
    'Checks the signature of every provenance record against the stored data, and returns what does not fit. No row means that all '
    'is intact. The caller is an administrator, since the function looks at every organisation. since: records from that moment on; '
    'all by default. finding: ALTERED (not what was signed), MISPLACED (moved to another version), OTHER_CONTENT (the version has '
    'another content hash), WITHOUT_VERSION, MISSING (a version without a record), UNSIGNED, UNKNOWN_KEY, OTHER_KEY (wrapped by '
    'another master key), or HEAD (an item''s adjusted_confidence, authority or standing is not its record''s). Source: chapter 12.4.5.';
GRANT EXECUTE ON FUNCTION memwarden.verify_provenance TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.is_misplaced(
    p_item_id uuid, p_version_id uuid, p_provenance_id uuid, p_event text, p_recorded_at timestamptz, p_record jsonb)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_record ? 'place' THEN p_record ->> 'place'
    IS DISTINCT FROM memwarden_internal.place_mark(p_item_id, p_version_id, p_provenance_id, p_event, p_recorded_at)
    ELSE p_record ->> 'item_id' IS DISTINCT FROM p_item_id::text
    OR p_record ->> 'version_id' IS DISTINCT FROM p_version_id::text
    OR p_record ->> 'provenance_id' IS DISTINCT FROM p_provenance_id::text
    OR p_record ->> 'event' IS DISTINCT FROM p_event
    OR p_record ->> 'recorded_at' IS DISTINCT FROM memwarden_internal.utc_text(p_recorded_at) END;
COMMENT ON FUNCTION memwarden_internal.is_misplaced IS
    'Whether a record was signed for another place than the row it stands in.';
