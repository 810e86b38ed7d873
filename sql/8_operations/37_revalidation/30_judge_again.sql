-- Would it be believed today? Nothing of it changes but for how long it is fresh.
CREATE OR REPLACE FUNCTION memwarden_internal.judge_evidence_again(p_org_id bigint, p_version_id uuid, p_now timestamptz)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_said record;
    v_aged record;
    v_kept record;
BEGIN
    SELECT s.subject, s.predicate, s.content::text AS content, s.evidence, s.principal_id, l.fact_threshold, l.external_types,
           extract(epoch FROM l.evidence_half_life)::double precision AS half_life,
           memwarden_internal.evidence_sources(s.principal_id, p_org_id, s.evidence, p_now) AS known
      INTO v_said
      FROM memwarden_data.said_version AS s JOIN memwarden_data.layer AS l ON l.layer = s.layer
     WHERE s.org_id = p_org_id AND s.version_id = p_version_id AND l.fact_threshold > 0 AND s.evidence <> '[]';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_aged := memwarden_internal.weigh(v_said.subject, v_said.predicate, v_said.content, v_said.evidence, v_said.known,
        v_said.principal_id, NULL, v_said.external_types, v_said.half_life, memwarden_internal.utc_text(p_now), false);
    IF v_aged.fact_score >= v_said.fact_threshold THEN
        RETURN NULL;
    END IF;
    -- That evidence grows old says nothing against it.
    v_kept := memwarden_internal.weigh(v_said.subject, v_said.predicate, v_said.content, v_said.evidence, v_said.known,
        v_said.principal_id, NULL, v_said.external_types, 1e12, memwarden_internal.utc_text(p_now), false);
    RETURN CASE WHEN v_kept.fact_score >= v_said.fact_threshold THEN 'EVIDENCE_AGED' ELSE 'EVIDENCE_FAILS' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judge_evidence_again(bigint, uuid, timestamptz) IS
    'Weighs the evidence of a version by what is known of its sources today: EVIDENCE_FAILS below the threshold of the layer, '
    'EVIDENCE_AGED where only its age is the reason, else NULL.';
REVOKE ALL ON FUNCTION memwarden_internal.judge_evidence_again(bigint, uuid, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.judge_again(p_org_id bigint, p_item_id uuid, p_version_id uuid, p_now timestamptz,
    OUT verdict text, OUT reason text)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_item    record;
    v_finding text;
BEGIN
    SELECT i.valid_during INTO v_item FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.version_id = p_version_id AND i.status = 'ACTIVE';
    IF NOT FOUND THEN
        verdict := 'GONE';
        RETURN;
    END IF;
    SELECT f.finding INTO v_finding
      FROM memwarden_internal.provenance_findings('-infinity', p_org_id,
               memwarden_internal.uuid7_floor(memwarden_internal.uuid7_time(p_version_id)), p_org_id, p_version_id) AS f
     WHERE f.version_id = p_version_id ORDER BY f.finding IN ('UNSIGNED', 'UNKNOWN_KEY', 'OTHER_KEY') LIMIT 1;
    reason := CASE
        WHEN v_finding NOT IN ('UNSIGNED', 'UNKNOWN_KEY', 'OTHER_KEY') THEN 'PROVENANCE_BROKEN'
        WHEN EXISTS (SELECT FROM memwarden_internal.annotations_of(p_org_id, ARRAY[p_item_id], p_now) AS a
                      WHERE a.refuted > 0) THEN 'REFUTED'
        WHEN EXISTS (SELECT FROM memwarden_data.recall_outcome AS o
                      WHERE o.org_id = p_org_id AND o.at_fault @> ARRAY[p_item_id] AND o.at_fault IS NOT NULL
                        AND o.recall_id >= memwarden_internal.uuid7_floor(p_now - interval '90 days')
                        AND o.reported_at > memwarden_internal.uuid7_time(p_version_id)) THEN 'AT_FAULT'
        WHEN EXISTS (SELECT FROM memwarden_data.derivation AS d
                       JOIN memwarden_data.item AS s ON s.org_id = d.source_org_id AND s.item_id = d.source_item_id
                      WHERE d.org_id = p_org_id AND d.version_id = p_version_id AND s.status = 'RETRACTED') THEN 'SOURCE_WITHDRAWN'
        ELSE memwarden_internal.judge_evidence_again(p_org_id, p_version_id, p_now) END;
    IF reason IS NOT NULL AND reason <> 'EVIDENCE_AGED' THEN
        verdict := 'FALSE';
        RETURN;
    END IF;
    reason := coalesce(reason, CASE
        WHEN v_finding IS NOT NULL THEN 'UNSIGNED'
        WHEN EXISTS (SELECT FROM memwarden_data.dispute AS d
                       JOIN memwarden_data.item AS i ON i.org_id = d.org_id AND i.item_id = d.item_id AND i.content_hash = d.content_hash
                      WHERE d.org_id = p_org_id AND d.item_id = p_item_id AND d.settled_at IS NULL) THEN 'CONTRADICTED'
        WHEN upper(v_item.valid_during) <= p_now THEN 'TIME_IS_OVER' END);
    verdict := CASE WHEN reason IS NULL THEN 'VERIFIED' ELSE 'UNCERTAIN' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judge_again(bigint, uuid, uuid, timestamptz) IS
    'What is to be thought of a memory today. FALSE: its record is broken, somebody refuted it, a task failed because of it, what it was '
    'derived from was retracted, or its evidence no longer bears it out. UNCERTAIN: its evidence is old, it is unsigned, contradicted, or '
    'true of a time that is over. GONE: it has ended. Source: chapter 12.12.5.';
REVOKE ALL ON FUNCTION memwarden_internal.judge_again(bigint, uuid, uuid, timestamptz) FROM PUBLIC;
