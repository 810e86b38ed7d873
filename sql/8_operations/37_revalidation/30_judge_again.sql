-- Would it be believed today? Nothing of it changes but for how long it is fresh.
CREATE OR REPLACE FUNCTION memwarden_internal.provenance_fault(p_org_id bigint, p_version_id uuid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT CASE WHEN bool_and(f.finding IN ('UNSIGNED', 'UNKNOWN_KEY', 'OTHER_KEY')) THEN 'UNSIGNED' ELSE 'PROVENANCE_BROKEN' END
          FROM memwarden_internal.provenance_findings('-infinity', p_org_id,
                   memwarden_internal.uuid7_floor(memwarden_internal.uuid7_time(p_version_id)), p_org_id, p_version_id) AS f
         WHERE f.version_id = p_version_id HAVING count(*) > 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.provenance_fault IS
    'What verify_provenance() finds of a version: PROVENANCE_BROKEN; UNSIGNED where nobody can tell; NULL where all is well.';

CREATE OR REPLACE FUNCTION memwarden_internal.broken_rule(
    p_org_id bigint, p_item_id uuid, p_version_id uuid, p_now timestamptz, OUT is_alone boolean)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_memory jsonb;
    v_said   record;
BEGIN
    IF NOT EXISTS (SELECT FROM memwarden_data.integrity_rule AS r WHERE r.org_id IN (0, p_org_id)) THEN
        RETURN;
    END IF;
    v_memory := memwarden_internal.document_of(p_org_id, p_version_id);
    IF memwarden_internal.rules_broken_alone(p_org_id, v_memory) @> '[{"action": "reject"}]' THEN
        is_alone := true;
        RETURN;
    END IF;
    SELECT s.scope_id, s.layer, s.subject, memwarden_internal.predicate_name(s.predicate) AS predicate INTO v_said
      FROM memwarden_data.said_version AS s WHERE s.org_id = p_org_id AND s.version_id = p_version_id;
    IF memwarden_internal.rules_broken_alone(p_org_id, v_memory) IS NOT NULL OR EXISTS (
           SELECT FROM jsonb_to_recordset(memwarden_internal.facts_under_rules(
                      p_org_id, v_said.scope_id, v_said.layer, v_said.subject, v_said.predicate, p_now))
                           AS f (item_id uuid, version_id uuid, rule text, rule_org bigint, comes_first boolean)
             JOIN memwarden_data.integrity_rule AS r ON r.org_id = f.rule_org AND r.name = f.rule
            WHERE f.item_id <> p_item_id
              AND CASE WHEN f.comes_first
                       THEN memwarden_internal.breaks(r.broken, v_memory, memwarden_internal.document_of(p_org_id, f.version_id))
                       ELSE memwarden_internal.breaks(r.broken, memwarden_internal.document_of(p_org_id, f.version_id), v_memory) END) THEN
        is_alone := false;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.broken_rule IS
    'Whether a memory breaks an integrity rule of today that refuses it (true), or one that wants a person, or one together with another '
    'memory, of which nobody knows which is wrong (false). NULL where it breaks none.';

CREATE OR REPLACE FUNCTION memwarden_internal.verifier_denies(p_org_id bigint, p_version_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM (SELECT p.record FROM memwarden_data.provenance AS p
                      WHERE p.org_id = p_org_id AND p.version_id = p_version_id ORDER BY p.provenance_id DESC LIMIT 1) AS p
         CROSS JOIN LATERAL jsonb_array_elements(coalesce(p.record -> 'verified_by', '[]')) AS v (e)
         -- What a person agreed to, or words on record bear out without them, stands firmer than they do.
         WHERE memwarden_internal.firmness(memwarden_internal.standing_of(p.record)) <= memwarden_internal.firmness('reported')
         GROUP BY v.e ->> 'verifier'
        HAVING 2 * count(*) FILTER (WHERE (v.e ->> 'score')::double precision = 0) >= count(*));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.verifier_denies IS
    'Whether a verifier said no of a version, at least half of its judges, and nothing firmer bears the version out.';

CREATE OR REPLACE FUNCTION memwarden_internal.judge_again(p_org_id bigint, p_item_id uuid, p_version_id uuid, p_now timestamptz,
    OUT verdict text, OUT reason text)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_item    record;
    v_record  text := memwarden_internal.provenance_fault(p_org_id, p_version_id);
    v_rule    boolean;
    v_grounds text;
    v_unread  boolean := (SELECT s.is_unread FROM memwarden_data.said_version AS s
                           WHERE s.org_id = p_org_id AND s.version_id = p_version_id);
    v_lowered jsonb := (SELECT p.record -> 'lowered' FROM memwarden_data.provenance AS p
                         WHERE p.org_id = p_org_id AND p.version_id = p_version_id ORDER BY p.provenance_id DESC LIMIT 1);
BEGIN
    SELECT i.valid_during, i.content_hash INTO v_item FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.version_id = p_version_id AND i.status = 'ACTIVE'
       AND (i.expires_at IS NULL OR i.expires_at > p_now);
    IF NOT FOUND THEN
        verdict := 'GONE';
        RETURN;
    END IF;
    -- Of an altered record nothing else is worth asking; what nobody reads, nobody judges.
    IF v_record IS DISTINCT FROM 'PROVENANCE_BROKEN' AND NOT v_unread THEN
        v_rule := memwarden_internal.broken_rule(p_org_id, p_item_id, p_version_id, p_now);
        v_grounds := memwarden_internal.weigh_again(p_org_id, p_version_id, p_now);
    END IF;
    reason := CASE
        WHEN v_record = 'PROVENANCE_BROKEN' THEN v_record
        -- As far as these lower it: nothing is lowered by something weaker.
        WHEN v_lowered ? 'refuted' THEN 'REFUTED'
        WHEN v_lowered ? 'at_fault' THEN 'AT_FAULT'
        WHEN memwarden_internal.is_stale(p_org_id, p_version_id) THEN 'SOURCE_WITHDRAWN'
        WHEN v_rule THEN 'RULE_BROKEN'
        WHEN v_grounds = 'EVIDENCE_FAILS' THEN v_grounds
        WHEN NOT v_unread AND memwarden_internal.verifier_denies(p_org_id, p_version_id) THEN 'VERIFICATION_FAILED' END;
    IF reason IS NOT NULL THEN
        verdict := 'FALSE';
        RETURN;
    END IF;
    reason := CASE
        WHEN v_unread THEN 'KEYS_UNAVAILABLE'
        WHEN memwarden_internal.stands_disputed(p_org_id, p_item_id) THEN 'CONTRADICTED'
        WHEN NOT v_rule THEN 'RULE_UNSURE'
        WHEN v_grounds IS NOT NULL THEN v_grounds
        WHEN EXISTS (SELECT FROM memwarden_data.sensitivity_scan AS s
                      WHERE s.org_id = p_org_id AND s.item_id = p_item_id AND s.version_id = p_version_id
                        AND s.sensitivity <> 'none') THEN 'SENSITIVE'
        WHEN upper(v_item.valid_during) <= p_now THEN 'TIME_IS_OVER'
        ELSE v_record END;
    verdict := CASE WHEN reason IS NULL THEN 'VERIFIED' ELSE 'UNCERTAIN' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judge_again IS
    'What is to be thought of a memory today. FALSE: its record is broken, a refutation or faults lower it, what it was '
    'derived from was taken back, an integrity rule refuses it, its sources are worth less and no longer bear it out, or a verifier says '
    'no. UNCERTAIN: it '
    'cannot be read here, is contradicted, breaks a rule together with another, has evidence that is old, hidden or '
    'less than its layer asks today, holds what '
    'the last scan found sensitive, is true of a time that is over, or is unsigned. GONE: it has ended. Source: chapter 12.12.5.';
