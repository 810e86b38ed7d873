-- A refused duplicate corroborates the memory that is there, as far as it brings something of its own. Who writes
-- holds the scope: no two writers meet in a row here.
CREATE OR REPLACE FUNCTION memwarden_internal.record_sighting(
    p_org_id bigint, p_item_id uuid, p_version_id uuid, p_principal_id bigint, p_label_id integer,
    p_subject text, p_predicate text, p_claim text, p_evidence jsonb, p_grounds jsonb, p_confidence double precision, p_origin_kind text,
    p_terms jsonb, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_seen    record;
    v_kind    record;
    v_worth   record;
    v_grounds jsonb := p_grounds;
    v_source  bytea;
BEGIN
    SELECT v.evidence, v.principal_id = p_principal_id AS is_author INTO v_seen
      FROM memwarden_data.item AS i
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
     -- Who reads the memory learns that somebody else says so: only what is no more secret than it counts.
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.version_id = p_version_id AND i.label_id = p_label_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF p_origin_kind IS NOT NULL THEN
        SELECT k.confidence, k.evidence_type INTO v_kind FROM memwarden_data.origin_kind AS k WHERE k.kind = p_origin_kind;
    END IF;
    -- An agent that says again what it said is believed no more for it.
    IF NOT v_seen.is_author AND v_grounds IS NULL AND coalesce(p_evidence, '[]') <> '[]' THEN
        v_grounds := (memwarden_internal.weigh(
            p_subject, p_predicate, p_claim, p_evidence,
            memwarden_internal.evidence_sources(p_principal_id, p_org_id, p_evidence, p_now), p_principal_id, v_kind.evidence_type,
            ARRAY(SELECT jsonb_array_elements_text(p_terms -> 'external_types')),
            extract(epoch FROM (p_terms ->> 'evidence_half_life')::interval)::double precision, memwarden_internal.utc_text(p_now), false)).grounds;
    END IF;
    v_worth := memwarden_internal.worth_of(coalesce(p_confidence, v_kind.confidence), v_grounds, p_terms);
    IF NOT v_seen.is_author THEN
        v_source := memwarden_internal.own_source(p_principal_id, p_evidence, v_seen.evidence, v_grounds, p_terms);
    END IF;
    INSERT INTO memwarden_data.sighting AS s (
        org_id, item_id, version_id, principal_id, times, first_at, last_at, source, trust, authority)
    VALUES (p_org_id, p_item_id, p_version_id, p_principal_id, 1, p_now, p_now, v_source, v_worth.trust, v_worth.authority)
    ON CONFLICT ON CONSTRAINT sighting_pkey DO UPDATE
       SET times = s.times + 1, last_at = greatest(s.last_at, excluded.last_at), source = least(s.source, excluded.source),
           trust = greatest(s.trust, excluded.trust), authority = greatest(s.authority, excluded.authority);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_sighting(bigint, uuid, uuid, bigint, integer, text, text, text, jsonb, jsonb, double precision, text, jsonb, timestamptz) IS
    'Keeps of a write that is refused as a duplicate who said so again, when, and on what grounds. p_grounds: its evidence as it was weighed; NULL where that has not been done. p_terms: what the layer asks. '
    'A write with another label than the memory leaves nothing. Source: chapter 12.3.2; four-layer design, 4; D3.';
REVOKE ALL ON FUNCTION memwarden_internal.record_sighting(bigint, uuid, uuid, bigint, integer, text, text, text, jsonb, jsonb, double precision, text, jsonb, timestamptz) FROM PUBLIC;
