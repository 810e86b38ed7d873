-- What another profile would have made of what was written before: from what is recorded, by one pure function.
CREATE OR REPLACE FUNCTION memwarden_internal.previewed(
    p_facts jsonb, p_layer jsonb, p_policy jsonb, OUT would_be text, OUT reason text)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_asked    text[] := ARRAY(SELECT jsonb_array_elements_text(NULLIF(p_facts -> 'asked', 'null')));
    v_evidence record := memwarden_internal.previewed_evidence(p_facts, p_layer);
    v_kept     text[];
    v_contests boolean := false;
    v_risky    boolean := false;
BEGIN
    IF NOT p_facts ? 'asked' AND p_facts ->> 'was' NOT IN ('COMMITTED', 'MERGED') THEN
        IF memwarden_internal.would_refuse_alike(p_facts, p_layer) THEN
            would_be := p_facts ->> 'was';
            reason := p_facts ->> 'reason';
        END IF;
        RETURN;
    END IF;
    IF v_evidence.does = 'refuse' THEN
        would_be := 'REJECTED';
        reason := v_evidence.reason;
        RETURN;
    END IF;
    IF (p_facts ->> 'against')::boolean AND p_layer ->> 'conflict' NOT IN ('accumulate', 'mark') THEN
        v_contests := CASE WHEN 'CONTRADICTION_REVIEW' = ANY (v_asked) AND p_facts ->> 'policy' = p_layer ->> 'conflict' THEN true END;
    END IF;
    IF p_policy ->> 'approval' = 'by_risk' THEN
        v_risky := CASE WHEN (p_facts #>> '{risk,0}')::double precision >= (p_policy ->> 'auto_below')::double precision THEN true
                        WHEN (p_facts #>> '{risk,1}')::double precision < (p_policy ->> 'auto_below')::double precision THEN false END;
    ELSIF p_policy ->> 'approval' = 'pack_auto' THEN
        v_risky := NULL;
    END IF;
    IF v_evidence.does IS NULL OR v_contests IS NULL THEN
        RETURN;
    END IF;
    -- What no profile changes, is asked whatever the profile.
    v_kept := ARRAY(SELECT a FROM unnest(v_asked) AS a WHERE a <> ALL (
        '{EVIDENCE_UNCLEAR,CONTRADICTION_REVIEW,LAYER_POLICY,CLASS_POLICY,AGENT_POLICY,PACK,RISK}'));
    IF cardinality(v_kept) > 0 OR v_evidence.does = 'ask' OR v_contests OR v_risky OR p_policy ->> 'approval' = 'always' THEN
        would_be := 'DEFERRED';
        reason := coalesce((SELECT k FROM unnest(v_kept) AS k WHERE k NOT IN ('FOUR_EYES', 'REPUTATION') LIMIT 1),
                           CASE WHEN v_evidence.does = 'ask' THEN 'EVIDENCE_UNCLEAR' WHEN v_contests THEN 'CONTRADICTION_REVIEW'
                                ELSE 'AWAITING_APPROVAL' END);
    ELSIF NOT v_risky THEN
        would_be := CASE p_facts ->> 'was' WHEN 'MERGED' THEN 'MERGED' ELSE 'COMMITTED' END;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.previewed IS
    'What some settings of a layer (p_layer) and an approval policy would make of a request of which these facts are recorded, see '
    'previewed_requests(). NULLs where the facts do not tell.';

CREATE OR REPLACE FUNCTION memwarden_internal.previewed_evidence(p_facts jsonb, p_layer jsonb, OUT does text, OUT reason text)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_grounds   jsonb := NULLIF(p_facts -> 'grounds', 'null');
    v_score     double precision := (p_facts ->> 'score')::double precision;
    v_threshold double precision := (p_layer ->> 'fact_threshold')::double precision;
    v_unmet     record;
BEGIN
    IF p_layer ->> 'admission' <> 'full' OR p_layer ->> 'unclear' = 'store' AND p_layer ->> 'no_evidence' = 'store' THEN
        -- What evidence denies did not come so far.
        does := 'store';
        RETURN;
    ELSIF v_grounds IS NULL THEN
        does := CASE WHEN (p_facts ->> 'enough')::boolean THEN 'store'
                     WHEN p_facts -> 'told' = '[]' OR p_layer ->> 'unclear' = p_layer ->> 'no_evidence' THEN p_layer ->> 'no_evidence' END;
        reason := CASE does WHEN 'refuse' THEN 'INSUFFICIENT_EVIDENCE' END;
        RETURN;
    END IF;
    v_unmet := memwarden_internal.unmet_demand(
        p_layer ->> 'self_reference', (p_layer ->> 'min_authority')::double precision, (p_layer ->> 'min_external')::integer,
        ARRAY(SELECT jsonb_array_elements_text(p_layer -> 'external_types')),
        jsonb_path_query_array(v_grounds, '$[*] ? (@.type == "agent_reasoning").index'),
        coalesce((SELECT min((g.e ->> 'authority')::double precision) FROM jsonb_array_elements(v_grounds) AS g (e)), 1),
        (SELECT count(DISTINCT split_part(g.e ->> 'uri', '#', 1)) FROM jsonb_array_elements(v_grounds) AS g (e)
          WHERE (g.e ->> 'external')::boolean AND (g.e ->> 'counted')::boolean IS NOT FALSE)::integer, v_grounds);
    IF v_grounds = '[]' AND v_threshold > 0 THEN
        v_unmet.reason := 'INSUFFICIENT_EVIDENCE';
    END IF;
    IF v_unmet.reason IS NOT NULL AND p_layer ->> 'no_evidence' = 'refuse' THEN
        does := 'refuse';
        reason := v_unmet.reason;
    ELSIF v_grounds @> '[{"type": "memory_item"}]' AND p_layer ->> 'self_reference' <> 'allow' AND p_layer ->> 'no_evidence' <> 'store' THEN
        -- Whether that memory was the writer's own, is not in the record.
        RETURN;
    ELSIF v_unmet.reason IS NOT NULL OR v_score < v_threshold THEN
        SELECT s.does, CASE WHEN s.does = 'refuse' THEN s.reason END INTO does, reason
          FROM memwarden_internal.short_of_evidence(
                   v_score, v_threshold, v_grounds, v_unmet.reason, v_unmet.detail, p_layer ->> 'unclear', p_layer ->> 'no_evidence') AS s;
    ELSE
        does := 'store';
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.previewed_evidence IS
    'What becomes of recorded evidence under some settings of a layer: store, ask or refuse, and why; NULL where the record does not tell.';

CREATE OR REPLACE FUNCTION memwarden_internal.would_refuse_alike(p_facts jsonb, p_layer jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN coalesce(CASE
    -- A profile has rate limits, and with them goes how much waits.
    WHEN p_facts ->> 'reason' IN ('RATE_LIMITED', 'TOO_MANY_PENDING') OR p_facts ->> 'gate' IS NULL THEN false
    WHEN p_facts ->> 'gate' < '40' THEN true
    WHEN p_facts ->> 'gate' NOT LIKE '40%' THEN
        -- Not before the gates about evidence have passed it.
        ((p_facts ->> 'enough')::boolean OR p_layer ->> 'unclear' = 'store' AND p_layer ->> 'no_evidence' = 'store')
        AND NOT starts_with(p_facts ->> 'reason', 'CONTRADICTION') AND p_facts ->> 'gate' < '80'
    WHEN p_facts ->> 'reason' NOT IN ('INSUFFICIENT_EVIDENCE', 'SELF_REFERENTIAL', 'AUTHORITY_TOO_LOW', 'NO_EXTERNAL_EVIDENCE') THEN false
    -- Evidence denies it, or is missing where it is demanded.
    WHEN p_facts -> 'told' @> '[{"contradicts": true}]' AND p_facts ->> 'reason' = 'INSUFFICIENT_EVIDENCE' THEN true
    ELSE p_layer ->> 'no_evidence' = 'refuse'
         AND (p_facts ->> 'reason' <> 'INSUFFICIENT_EVIDENCE' OR p_facts -> 'told' = '[]' OR p_layer ->> 'unclear' = 'refuse') END, false);
COMMENT ON FUNCTION memwarden_internal.would_refuse_alike IS
    'Whether a request that a gate refused or deferred, and no person was asked about, is decided alike under some settings of a layer, '
    'as far as what is recorded tells.';

CREATE OR REPLACE FUNCTION memwarden_internal.previewed_risk(
    p_auto text, p_factors jsonb, p_grounds jsonb, p_adjusted double precision, p_against boolean, p_layer_risk double precision,
    p_weights double precision[])
RETURNS double precision[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_least double precision[] := split_part(p_auto, ' ', 2)::double precision[];
    v_most  double precision[];
BEGIN
    IF v_least IS NULL AND p_factors IS NOT NULL THEN
        v_least := ARRAY(SELECT (p_factors #>> ARRAY[f.name, 'value'])::double precision FROM unnest(
            '{layer,contradiction,evidence,confidence_gap,blast_radius,novelty}'::text[]) WITH ORDINALITY AS f (name, place)
            ORDER BY f.place);
    END IF;
    v_most := v_least;
    IF v_least IS NULL AND p_adjusted IS NOT NULL THEN
        -- Nobody measured it: how many could read it, and how new it was, may have been anything.
        v_least := ARRAY[0, 0, 1 - coalesce((SELECT avg((g.e ->> 'authority')::double precision)
                                               FROM jsonb_array_elements(p_grounds) AS g (e)), 0), 1 - p_adjusted, 0, 0];
        v_most := v_least;
        v_most[2] := p_against::integer;
        v_most[5] := 1;
        v_most[6] := 1;
    END IF;
    v_least[1] := p_layer_risk;
    v_most[1] := p_layer_risk;
    RETURN (SELECT ARRAY[sum(p_weights[n] * v_least[n]), sum(p_weights[n] * v_most[n])] FROM generate_series(1, 6) AS n);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.previewed_risk IS
    'The least and the greatest risk that a request can have had: as it was measured (write_request.review, or review.factors), else '
    'from its record of provenance. p_layer_risk and p_weights: of the policy that is asked.';

CREATE OR REPLACE FUNCTION memwarden_internal.previewed_requests(p_org_id bigint, p_profile text, p_since timestamptz)
RETURNS TABLE (request_id uuid, layer text, was text, facts jsonb, settings jsonb, policy jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT r.*
          FROM memwarden_data.write_request AS r
         WHERE r.request_id >= memwarden_internal.uuid7_floor(p_since) AND r.act IS NULL
           AND r.org_id = ANY (ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o
                                      WHERE o.org_id = p_org_id OR p_org_id = 0 AND o.profile IS NULL))
         ORDER BY r.request_id DESC LIMIT 10000
    ), terms AS MATERIALIZED (
        -- Once for each writer, layer and class.
        SELECT d.*, s.settings, to_jsonb(a) || jsonb_build_object('layer_risk', coalesce(a.layer_risk, memwarden_internal.risk_of_layer(
                   s.settings ->> 'admission', coalesce(s.settings ->> 'default_ttl', s.settings ->> 'max_ttl')::interval))) AS policy
          FROM (SELECT DISTINCT k.org_id, k.layer, k.class, k.principal_id FROM asked AS k WHERE k.layer IS NOT NULL) AS d
          JOIN memwarden_data.principal AS p ON p.principal_id = d.principal_id
         CROSS JOIN LATERAL (SELECT to_jsonb(k) || memwarden_internal.tried_settings(
                                        d.org_id, p_org_id, d.principal_id, d.layer, p_profile) AS settings
                               FROM memwarden_data.kept_layer AS k
                              WHERE k.org_id = d.org_id AND k.layer = d.layer AND k.principal_id IN (0, d.principal_id)
                              ORDER BY k.principal_id DESC LIMIT 1) AS s
         CROSS JOIN LATERAL memwarden_internal.approval_terms(
                        d.org_id, d.layer, d.class, p.name, d.principal_id,
                        memwarden_internal.tried_policies((
                            SELECT jsonb_agg(to_jsonb(y)) FROM memwarden_data.approval_policy AS y
                             WHERE y.org_id IN (0, d.org_id) AND y.layer = d.layer), p_org_id, d.layer, p_profile)) AS a
    )
    SELECT k.request_id, k.layer, f.was, jsonb_strip_nulls(jsonb_build_object(
               'was', f.was, 'reason', k.reason, 'gate', k.gate, 'asked', to_jsonb(v.reasons),
               'score', coalesce(w.fact_score, k.fact_score),
               'told', coalesce(k.detail -> 'evidence', v.report -> 'evidence', CASE WHEN k.evidence = '[]' THEN k.evidence END),
               'enough', k.gates ~ E'(^|\n)40 [0-9]+(\n|$)', 'against', f.against, 'policy', k.detail -> 'policy'))
               -- A ground says null of nothing.
               || CASE WHEN w.record IS NULL THEN '{}' ELSE jsonb_build_object('grounds', w.record -> 'evidence') END
               || jsonb_build_object('risk', to_jsonb(memwarden_internal.previewed_risk(
                      k.review ->> 'auto', v.factors, w.record -> 'evidence', w.adjusted_confidence::double precision, f.against,
                      (t.policy ->> 'layer_risk')::double precision,
                      ARRAY(SELECT jsonb_array_elements_text(t.policy -> 'weights'))::double precision[]))),
           t.settings, CASE WHEN t.settings ->> 'admission' = 'full' THEN t.policy ELSE '{"approval": "never"}' END
      FROM asked AS k
      JOIN terms AS t ON t.org_id = k.org_id AND t.layer = k.layer AND t.class IS NOT DISTINCT FROM k.class
                     AND t.principal_id = k.principal_id
      LEFT JOIN memwarden_data.review AS v ON v.org_id = k.org_id AND v.request_id = k.request_id
      LEFT JOIN LATERAL (SELECT n.record, n.fact_score, n.adjusted_confidence FROM memwarden_data.provenance AS n
                          WHERE n.org_id = k.org_id AND n.version_id = k.version_id AND n.request_id = k.request_id AND n.event = 'WRITE'
                            AND k.outcome IN ('COMMITTED', 'MERGED') AND k.subject_key_id IS NULL LIMIT 1) AS w ON true
     CROSS JOIN LATERAL (SELECT CASE WHEN v.request_id IS NULL THEN k.outcome::text ELSE 'DEFERRED' END AS was,
                                coalesce(v.report ? 'contradictions', false)
                                OR coalesce(v.report -> 'asked' ? 'CONTRADICTION_REVIEW', false)
                                OR coalesce(w.record -> 'judged' @? (
                                       '$[*] ? ((@.relation == "contradicts" || @.relation == "updates") '
                                       '&& !(@.same_key == true && @.mine == true))')::jsonpath, false) AS against) AS f;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.previewed_requests IS
    'The latest 10,000 writes of an organisation (0: of those that go by the server''s profile) since a time. facts: what is recorded '
    'of each. was: what was decided when it came; reason, gate: what is decided by now; asked: why a person was asked; grounds, score: '
    'what its evidence was worth; told: what a refusal or a reviewer was told of it; enough: whether gate 40 had nothing to say of it; '
    'against: whether it may contradict a memory, policy: what the layer did with that; risk: the least and the greatest that it can '
    'have had. settings, policy: what would hold for it under a profile.';

CREATE OR REPLACE FUNCTION memwarden.preview_profile(profile text, org text DEFAULT NULL, since interval DEFAULT '30 days')
RETURNS TABLE (layer text, was text, would_be text, reason text, requests bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := (memwarden_internal.settings_asked(preview_profile.org, NULL)).org_id;
BEGIN
    PERFORM memwarden_internal.require_profile(preview_profile.profile);
    RETURN QUERY
    SELECT k.layer, k.was, w.would_be, CASE WHEN w.would_be IS NULL THEN 'NOT_JUDGED' ELSE w.reason END, count(*)
      FROM memwarden_internal.previewed_requests(
               v_org_id, preview_profile.profile, memwarden_internal.before(clock_timestamp(), preview_profile.since)) AS k
     CROSS JOIN LATERAL memwarden_internal.previewed(k.facts, k.settings, k.policy) AS w
     GROUP BY k.layer, k.was, w.would_be, 4
     ORDER BY k.layer, count(*) DESC, k.was, w.would_be;
END
$function$;
COMMENT ON FUNCTION memwarden.preview_profile IS
    'Counts what a profile would have made of the latest writes, at most 10,000, from what is recorded of them: the decision, the worth '
    'of the evidence, contradictions and the risk. Nothing is read again, and nothing is changed. layer: where they went. was: what was '
    'decided when they came. would_be, reason: what the profile would have said; would_be is null, with the reason NOT_JUDGED, where '
    'what is recorded does not tell: a write that a gate refused before the others looked at it, for example. requests: how many. '
    'Later writes are not simulated, and all other settings count as they are now. observe_profile() tells more. profile: open, '
    'balanced or strict. org: the organisation; by default the caller''s, and for members of memwarden_admin the server: those that '
    'have no profile of their own. since: how far back. Raises 22023 for an unknown profile, 42501 or 42704 as explain_settings() does.';
GRANT EXECUTE ON FUNCTION memwarden.preview_profile
    TO memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
