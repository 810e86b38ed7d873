-- Does its evidence bear it out by what is known of its sources today? Its words are what they were: how far an excerpt supports
-- them was settled at the write, by rules, a verifier or a person. What changes is what sources are worth, and how old they are.
CREATE OR REPLACE FUNCTION memwarden_internal.support_at_write(p_grounds jsonb, p_recorded jsonb, p_known jsonb)
RETURNS TABLE (weight double precision, authority double precision, freshness double precision, support double precision,
    support_while_it_held double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER ROWS 3
AS $function$
SELECT (g.e ->> 'weight')::double precision, (g.e ->> 'authority')::double precision, (g.e ->> 'freshness')::double precision,
       -- What is over, or was altered since it was recorded, supports nothing.
       CASE WHEN g.e -> 'believed' IS NULL THEN w.support ELSE 0 END,
       -- That a cited memory has ended says nothing against what rests on it: whether it was taken back is asked apart.
       CASE WHEN g.e -> 'believed' IS NULL OR k.e #>> '{cited,kind}' = 'memory' THEN w.support ELSE 0 END
  FROM jsonb_array_elements(p_grounds) AS g (e)
  LEFT JOIN jsonb_array_elements(p_recorded) AS r (e)
    ON r.e -> 'index' = g.e -> 'index' AND r.e -> 'excerpt_hash' IS NOT DISTINCT FROM g.e -> 'excerpt_hash'
  LEFT JOIN jsonb_array_elements(p_known) WITH ORDINALITY AS k (e, place) ON k.place = (g.e ->> 'index')::integer + 1
 CROSS JOIN LATERAL (SELECT coalesce((r.e ->> 'support')::double precision, (g.e ->> 'support')::double precision) AS support) AS w
 WHERE g.e -> 'counted' IS NULL
$function$;
COMMENT ON FUNCTION memwarden_internal.support_at_write IS
    'The evidence of a memory by what its sources are worth today, with the support that was found when it was written. p_grounds: as '
    'weigh() gives them today; p_recorded: those on its record; p_known: what evidence_sources() says.';

CREATE OR REPLACE FUNCTION memwarden_internal.weigh_again(p_org_id bigint, p_version_id uuid, p_now timestamptz)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_asks  record;
    v_found record;
    v_score record;
    v_unmet record;
BEGIN
    SELECT l.fact_threshold, l.min_authority, l.min_external, l.external_types, l.self_reference, l.unclear, l.no_evidence
      INTO v_asks
      FROM memwarden_data.version AS v
     CROSS JOIN LATERAL (SELECT k.* FROM memwarden_data.kept_layer AS k
                          WHERE k.org_id = v.org_id AND k.layer = v.layer AND k.principal_id IN (0, v.principal_id)
                          ORDER BY k.principal_id DESC LIMIT 1) AS l
     WHERE v.org_id = p_org_id AND v.version_id = p_version_id;
    SELECT w.evidence, w.known, w.grounds, w.authority, w.least_authority, w.external, w.self_made,
           coalesce(w.record -> 'evidence', '[]') AS recorded, (w.record ->> 'fact_score')::double precision AS score,
           (w.record ->> 'authority')::double precision AS authority_then, w.record ->> 'approval_state' = 'APPROVED' AS is_approved
      INTO v_found FROM memwarden_internal.weigh_today(p_org_id, p_version_id, p_now, false) AS w;
    IF NOT FOUND THEN
        RETURN CASE WHEN (v_asks.fact_threshold > 0 OR v_asks.min_external > 0) AND v_asks.no_evidence <> 'store' THEN 'DEMANDS_MORE' END;
    END IF;
    SELECT sum(g.weight * g.support * g.authority * g.freshness) / sum(g.weight) AS today,
           sum(g.weight * g.support_while_it_held * g.authority) / sum(g.weight) AS ageless,
           sum(g.weight * g.authority) / sum(g.weight) AS at_most
      INTO v_score FROM memwarden_internal.support_at_write(v_found.grounds, v_found.recorded, v_found.known) AS g;
    v_unmet := memwarden_internal.unmet_demand(v_asks.self_reference, v_asks.min_authority, v_asks.min_external, v_asks.external_types,
        v_found.self_made, v_found.least_authority, v_found.external, v_found.grounds);
    IF v_unmet.reason IS NULL AND (v_score.today >= v_asks.fact_threshold OR v_found.is_approved
                                   AND memwarden_internal.may_bear_out(v_found.grounds, v_asks.fact_threshold)) THEN
        RETURN NULL;
    ELSIF memwarden_internal.is_hidden_source(p_org_id, v_found.evidence, v_found.known) THEN
        RETURN 'SOURCE_HIDDEN';
    ELSIF v_unmet.reason IS NULL AND (v_score.ageless >= v_asks.fact_threshold
                                      OR v_found.is_approved AND v_score.at_most >= v_asks.fact_threshold) THEN
        RETURN 'EVIDENCE_AGED';
    END IF;
    -- A layer that asks for more than it did knows no more than it did.
    RETURN CASE WHEN v_score.ageless < v_found.score - 1e-6 OR v_found.authority < v_found.authority_then - 1e-6
                     OR v_found.external < (SELECT count(*) FROM jsonb_array_elements(v_found.recorded) AS r (e)
                                             WHERE r.e -> 'external' = 'true' AND r.e -> 'counted' IS NULL)
                THEN 'EVIDENCE_FAILS'
                -- Where it would be stored as it is, nothing more is asked.
                WHEN CASE WHEN v_unmet.reason IS NULL THEN v_asks.unclear ELSE v_asks.no_evidence END = 'store'
                     AND NOT v_found.grounds @> '[{"contradicts": true}]' THEN NULL
                ELSE 'DEMANDS_MORE' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.weigh_again IS
    'Weighs the evidence of a version against what its layer asks, by what its sources are worth today. NULL where it is enough, also '
    'where a person or a verifier said so. EVIDENCE_FAILS: its sources are worth less than when it was written. EVIDENCE_AGED: only age '
    'is the reason. DEMANDS_MORE: its layer asks for more than it did. SOURCE_HIDDEN: its writer no longer reads a source.';

CREATE OR REPLACE FUNCTION memwarden_internal.may_bear_out(p_grounds jsonb, p_threshold double precision)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT NOT p_grounds @> '[{"contradicts": true}]'
   AND coalesce(sum((g.e ->> 'weight')::double precision * (g.e ->> 'authority')::double precision
                    * (g.e ->> 'freshness')::double precision)
                    -- Without words, or of a memory that is over, there is nothing that a person could read.
                    FILTER (WHERE g.e ? 'excerpt_hash' AND g.e -> 'believed' IS NULL), 0)
       >= p_threshold * sum((g.e ->> 'weight')::double precision)
  FROM jsonb_array_elements(p_grounds) AS g (e)
 WHERE g.e -> 'counted' IS NULL
$function$;
COMMENT ON FUNCTION memwarden_internal.may_bear_out IS
    'Whether the evidence would reach a threshold if every excerpt that can be read bore the claim out. False where a '
    'piece of evidence denies the claim.';
