-- Is it grounded, by somebody else, and not in itself?
CREATE OR REPLACE FUNCTION memwarden_internal.gate_evidence()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_terms   record := NEW.terms;
    v_default text;
    v_claim   text := NEW.canonical;
    v_template text;
    v_found   record;
    v_asked   jsonb := '[]'::jsonb;
    v_unmet   record;
    v_weighed record;
    v_short   record;
BEGIN
    SELECT NULL::text AS reason, NULL::jsonb AS detail INTO v_unmet;
    SELECT NULL::text AS does INTO v_short;
    IF NEW.kind = 'annotation' AND NEW.schema_id IS NOT NULL AND NEW.evidence #>> '{0,uri}' = NEW.subject THEN
        -- What somebody says of a memory rests on who says it. It is about that memory, and says nothing else.
        v_terms.fact_threshold := 0;
        v_terms.min_authority := 0;
        v_terms.min_external := 0;
        v_terms.self_reference := 'allow';
        v_terms.has_verifiers := false;
    END IF;
    -- Asked apart, since most writes name neither.
    IF NEW.origin IS NOT NULL THEN
        v_default := (SELECT k.evidence_type FROM memwarden_data.origin_kind AS k WHERE k.kind = NEW.origin ->> 'kind');
    END IF;
    IF NEW.schema_id IS NOT NULL THEN
        v_template := (SELECT s.text_template FROM memwarden_data.content_schema AS s WHERE s.schema_id = NEW.schema_id);
        IF v_template IS NOT NULL THEN
            v_claim := memwarden_internal.claim_of_kind(NEW.canonical, v_template, NEW.subject, NEW.predicate);
        END IF;
    END IF;
    IF coalesce(NEW.evidence, '[]') <> '[]' THEN
        v_found := memwarden_internal.weigh(
            NEW.subject, NEW.predicate, v_claim, NEW.evidence,
            memwarden_internal.evidence_sources(NEW.principal_id, NEW.org_id, NEW.evidence, v_started),
            NEW.principal_id, v_default, v_terms.external_types,
            extract(epoch FROM v_terms.evidence_half_life)::double precision, memwarden_internal.utc_text(v_started),
                v_terms.has_verifiers);
        -- In one: a new connection plans each statement.
        SELECT v_found.grounds, v_found.authority, v_found.trust_ceiling, v_found.fact_score, v_found.asked
          INTO NEW.grounds, NEW.authority, NEW.trust_ceiling, NEW.fact_score, v_asked;
        IF v_found.item_ids <> '{}' THEN
            NEW.reason := CASE memwarden_internal.closes_circle(
                NEW.principal_id, NEW.org_id, NEW.scope_id, NEW.layer, NEW.key_hash, v_found.item_ids, v_found.version_ids)
                WHEN true THEN 'PROVENANCE_CYCLE' WHEN false THEN NULL ELSE 'PROVENANCE_TOO_DEEP' END;
        END IF;
        IF NEW.reason IS NULL AND (v_found.self_made <> '[]' OR v_found.least_authority < v_terms.min_authority
                                   OR v_found.external < v_terms.min_external) THEN
            v_unmet := memwarden_internal.unmet_demand(
                v_terms.self_reference, v_terms.min_authority, v_terms.min_external, v_terms.external_types,
                v_found.self_made, v_found.least_authority, v_found.external, NEW.grounds);
        END IF;
    ELSE
        NEW.fact_score := CASE WHEN v_terms.fact_threshold > 0 THEN 0 END;
        v_unmet := memwarden_internal.unmet_demand('allow', 0, v_terms.min_external, v_terms.external_types, '[]', 1, 0, '[]');
        IF v_terms.fact_threshold > 0 THEN
            v_unmet.reason := 'INSUFFICIENT_EVIDENCE';
            v_unmet.detail := jsonb_build_object('fact_score', 0, 'threshold', v_terms.fact_threshold, 'evidence', '[]'::jsonb);
        END IF;
    END IF;
    IF v_unmet.reason IS NOT NULL AND v_terms.no_evidence = 'refuse' THEN
        NEW.reason := v_unmet.reason;
        NEW.detail := v_unmet.detail;
    END IF;

    IF NEW.reason IS NULL AND v_terms.has_verifiers THEN
        v_weighed := memwarden_internal.ask_about(NEW.org_id, NEW.request_id, NEW.layer, jsonb_build_object(
            'claim', NEW.search_text, 'subject', NEW.subject, 'predicate', NEW.predicate, 'content', NEW.canonical::jsonb,
            'layer', NEW.layer, 'evidence', v_asked, 'subject_key', NEW.subject_key_id), NEW.grounds);
        NEW.reason := v_weighed.reason;
        NEW.detail := coalesce(v_weighed.detail, NEW.detail);
        NEW.grounds := v_weighed.grounds;
        NEW.retry_at := v_weighed.retry_at;
        NEW.outcome := CASE v_weighed.reason WHEN 'AWAITING_VERDICT' THEN 'DEFERRED' END;
        NEW.fact_score := coalesce(v_weighed.fact_score, NEW.fact_score);
        NEW.provenance := coalesce(NEW.provenance, '{}') || jsonb_build_object('verified_by', v_weighed.verified_by);
    END IF;
    IF NEW.reason IS NULL AND (v_unmet.reason IS NOT NULL OR NEW.fact_score < v_terms.fact_threshold) THEN
        v_short := memwarden_internal.short_of_evidence(
            NEW.fact_score, v_terms.fact_threshold, NEW.grounds, v_unmet.reason, v_unmet.detail, v_terms.unclear, v_terms.no_evidence);
        IF v_short.does = 'ask' THEN
            -- Gate 80 puts the request into the queue.
            NEW.review_asked := memwarden_internal.ask_review(NEW.review_asked, 'EVIDENCE_UNCLEAR', v_short.detail);
        ELSIF v_short.does = 'refuse' THEN
            NEW.reason := v_short.reason;
            NEW.detail := v_short.detail;
        END IF;
    END IF;
    IF NEW.reason IS NOT NULL THEN
        NEW.outcome := coalesce(NEW.outcome, 'REJECTED');
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(
        TG_NAME, NEW.outcome, CASE WHEN v_short.does IN ('ask', 'store') THEN 'EVIDENCE_UNCLEAR' ELSE NEW.reason END, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_evidence IS
    'Trigger gate_40_evidence: weighs the evidence against what the layer asks for: the factual score, the least '
    'authority, sources outside the agent, no circle. Asks the verifiers of the layer. What evidence denies is refused; '
    'what it does not tell, and what has none, is stored, asked about or refused as the layer says. Source: chapter 12.2.3, '
    '12.11.3, 12.11.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.short_of_evidence(
    p_score double precision, p_threshold double precision, p_grounds jsonb, p_unmet text, p_unmet_detail jsonb,
    p_unclear text, p_no_evidence text, OUT does text, OUT reason text, OUT detail jsonb)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    detail := jsonb_build_object('fact_score', p_score, 'threshold', p_threshold, 'evidence',
        memwarden_internal.told_of_grounds(coalesce(p_grounds, '[]')));
    reason := 'INSUFFICIENT_EVIDENCE';
    IF p_score < p_threshold AND p_grounds @> '[{"contradicts": true}]' THEN
        does := 'refuse';
    ELSIF p_unmet IS NOT NULL THEN
        does := p_no_evidence;
        reason := p_unmet;
        detail := detail || p_unmet_detail || jsonb_build_object('lacks', p_unmet);
    ELSIF NOT p_grounds @? '$[*] ? (exists(@.excerpt_hash) && !exists(@.believed))' THEN
        -- Without words, or of a memory that is over, there is nothing that anybody could read.
        does := p_no_evidence;
    ELSE
        does := p_unclear;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.short_of_evidence IS
    'What becomes of a write whose evidence is not enough: store, ask or refuse, with the reason and the detail of a refusal. What '
    'evidence denies is refused; p_unmet is what else the layer asks for and does not get, as unmet_demand() says it.';

CREATE OR REPLACE FUNCTION memwarden_internal.unmet_demand(
    p_self_reference text, p_min_authority double precision, p_min_external integer, p_external_types text[],
    p_self_made jsonb, p_least_authority double precision, p_external integer, p_grounds jsonb, OUT reason text, OUT detail jsonb)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    IF p_self_reference = 'refuse' AND p_self_made <> '[]'
       OR p_self_reference = 'not_all' AND jsonb_array_length(p_self_made) = jsonb_array_length(p_grounds) THEN
        reason := 'SELF_REFERENTIAL';
        detail := jsonb_build_object('self_made', p_self_made, 'evidence', memwarden_internal.told_of_grounds(p_grounds));
    ELSIF p_least_authority < p_min_authority THEN
        reason := 'AUTHORITY_TOO_LOW';
        detail := jsonb_build_object('authority', p_least_authority, 'min_authority', p_min_authority, 'evidence',
            memwarden_internal.told_of_grounds(p_grounds));
    ELSIF p_external < p_min_external THEN
        reason := 'NO_EXTERNAL_EVIDENCE';
        detail := jsonb_build_object('external', p_external, 'min_external', p_min_external, 'external_types', to_jsonb(p_external_types),
            'evidence', memwarden_internal.told_of_grounds(p_grounds));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.unmet_demand IS
    'The first thing that a layer asks of evidence and that is not there, beside the score: not the agent''s own word, '
    'enough authority, enough sources from outside. Nulls where there is none. Source: chapter 12.11.3, 12.11.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.ask_about(
    p_org_id bigint, p_request_id uuid, p_layer text, p_payload jsonb, p_grounds jsonb,
    OUT reason text, OUT detail jsonb, OUT grounds jsonb, OUT fact_score double precision, OUT verified_by jsonb, OUT retry_at timestamptz)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_asked   record;
    v_weighed record;
BEGIN
    v_asked := memwarden_internal.ask_verifiers(p_org_id, p_request_id, p_layer, 'verify', p_payload);
    v_weighed := memwarden_internal.weigh_verdicts(v_asked.state, v_asked.verdicts, p_grounds);
    reason := v_weighed.reason;
    detail := v_weighed.detail;
    grounds := v_weighed.grounds;
    fact_score := v_weighed.fact_score;
    verified_by := v_weighed.verified_by;
    retry_at := v_asked.retry_at;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_about IS
    'Asks the verifiers of a layer about a write, and weighs what they have answered.';

CREATE OR REPLACE FUNCTION memwarden_internal.told_of_grounds(p_grounds jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(jsonb_agg(jsonb_build_object(
           'index', g.e -> 'index', 'type', g.e -> 'type', 'registered', g.e -> 'registered', 'authority', g.e -> 'authority',
           'support', g.e -> 'support', 'contradicts', coalesce(g.e -> 'contradicts', 'false'), 'freshness', g.e -> 'freshness')
           ORDER BY (g.e ->> 'index')::integer), '[]')
  FROM jsonb_array_elements(p_grounds) AS g (e)
$function$;
COMMENT ON FUNCTION memwarden_internal.told_of_grounds IS
    'What a refusal says of the evidence: numbers and types, by the place of each reference.';

CREATE OR REPLACE FUNCTION memwarden_internal.closes_circle(
    p_principal_id bigint, p_org_id bigint, p_scope_id bigint, p_layer text, p_key_hash bytea, p_item_ids uuid[], p_version_ids uuid[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    -- Whose next version it would be. A hidden holder of the key is none: the write makes an item beside it.
    v_heads  uuid[] := ARRAY(
        SELECT i.item_id FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer
           AND i.key_hash = p_key_hash AND i.status = 'ACTIVE' AND i.exclusive
           AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL);
BEGIN
    RETURN CASE WHEN v_heads = '{}' THEN false ELSE memwarden_internal.rests_on(p_org_id, p_item_ids, p_version_ids, v_heads) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.closes_circle IS
    'Whether the cited memories rest on the item that a write would make a new version of; NULL where that is too much '
    'to look through. Source: chapter 12.11.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.looks_at_source(p_plugin text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- All others judge the words that the writer has quoted.
RETURN p_plugin IN ('retrieval', 'code_execution') OR starts_with(p_plugin, 'register');
COMMENT ON FUNCTION memwarden_internal.looks_at_source IS
    'Whether a plug-in looks at the source itself: it fetches it (retrieval), runs it (code_execution), or asks a register (a name '
    'that begins with register).';

CREATE OR REPLACE FUNCTION memwarden_internal.weigh_verdicts(
    p_state text, p_verdicts jsonb, p_grounds jsonb,
    OUT reason text, OUT detail jsonb, OUT grounds jsonb, OUT fact_score double precision, OUT verified_by jsonb)
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_score double precision;
BEGIN
    grounds := p_grounds;
    verified_by := (SELECT coalesce(jsonb_agg(jsonb_build_object('verifier', v.e -> 'plugin', 'version', v.e -> 'version',
        'score', CASE WHEN v.e ->> 'decision' = 'reject' THEN '0' ELSE v.e -> 'score' END,
        'looked', memwarden_internal.looks_at_source(v.e ->> 'plugin'))), '[]')
                      FROM jsonb_array_elements(p_verdicts) AS v (e));
    IF p_state = 'waiting' THEN
        reason := 'AWAITING_VERDICT';
    ELSIF p_state = 'timed_out' THEN
        reason := 'VERDICT_TIMEOUT';
    ELSIF EXISTS (SELECT FROM jsonb_array_elements(p_verdicts) AS v (e)
                   GROUP BY v.e ->> 'plugin'
                  -- Several judges of one kind vote; each kind can refuse.
                  HAVING 2 * count(*) FILTER (WHERE v.e ->> 'decision' = 'reject') >= count(*)) THEN
        reason := 'VERIFICATION_FAILED';
        detail := jsonb_build_object('verdicts', (
            SELECT jsonb_agg(jsonb_build_object('verifier', v.e -> 'plugin', 'decision', v.e -> 'decision', 'score', v.e -> 'score'))
              FROM jsonb_array_elements(p_verdicts) AS v (e)));
    ELSE
        SELECT avg(CASE WHEN v.e ->> 'decision' = 'reject' THEN 0 ELSE (v.e ->> 'score')::double precision END) INTO v_score
          FROM jsonb_array_elements(p_verdicts) AS v (e);
        IF v_score IS NOT NULL AND p_grounds IS NOT NULL THEN
            -- They read better than the rules do; but what the rules find to contradict the claim, or is over, supports nothing.
            SELECT jsonb_agg(CASE WHEN (g.e -> 'believed') IS NOT NULL OR (g.e -> 'contradicts') IS NOT NULL THEN g.e
                                  ELSE g.e || jsonb_build_object('support', v_score,
                                                                 'by_rules', coalesce(g.e -> 'by_rules', g.e -> 'support')) END
                             ORDER BY g.place)
              INTO grounds FROM jsonb_array_elements(p_grounds) WITH ORDINALITY AS g (e, place);
            fact_score := memwarden_internal.score_of(grounds);
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.weigh_verdicts IS
    'What the verdicts of the verifiers make of a write: AWAITING_VERDICT, VERDICT_TIMEOUT, VERIFICATION_FAILED (at '
    'least half of those of one verifier reject), or the factual score with the mean of their scores as support of '
    'every piece of evidence that is believed and does not contradict the claim. Source: chapter 12.2.3.';
