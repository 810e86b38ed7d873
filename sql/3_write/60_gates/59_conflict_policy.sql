-- What a layer's conflict policy makes of a write that contradicts what is there.
CREATE OR REPLACE FUNCTION memwarden_internal.resolve_conflict(
    p_policy text, p_gap double precision, p_confidence double precision, p_conflicts jsonb,
    OUT outcome text, OUT reason text, OUT detail jsonb, OUT replaces uuid[], OUT disputes uuid[])
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
DECLARE
    v_most  double precision;
    v_ids   uuid[];
    v_wins  boolean;
    v_asks  boolean;
    v_rule  text;
BEGIN
    SELECT max((c.e ->> 'confidence')::double precision), array_agg((c.e ->> 'item_id')::uuid
        ORDER BY c.place) FILTER (WHERE c.e ->> 'item_id' IS NOT NULL)
      INTO v_most, v_ids FROM jsonb_array_elements(p_conflicts) WITH ORDINALITY AS c (e, place);
    v_wins := CASE WHEN p_policy = 'latest_wins' THEN true
                   WHEN p_policy IN ('review', 'mark', 'ask_firmer') THEN false
                   -- 0.8 is 0.2 more than 0.6, whatever binary fractions say.
                   ELSE p_confidence - v_most >= p_gap - 1e-9 END;
    v_asks := CASE p_policy WHEN 'ask_firmer' THEN p_conflicts @> '[{"firmer": true}]' ELSE p_confidence > v_most END;
    v_rule := CASE WHEN p_conflicts @> '[{"action": "reject"}]' THEN 'reject' WHEN p_conflicts @> '[{"action": "review"}]'
        THEN 'review' END;
    IF v_rule IS NOT NULL THEN
        -- A rule that was laid down is above the policy.
        outcome := CASE v_rule WHEN 'reject' THEN 'REJECTED' ELSE 'DEFERRED' END;
        reason := CASE v_rule WHEN 'reject' THEN 'INTEGRITY_VIOLATION' ELSE 'INTEGRITY_REVIEW' END;
        detail := jsonb_build_object('rules', jsonb_path_query_array(p_conflicts, '$[*] ? (exists (@.action)).rule'),
            'contradicts', p_conflicts);
    ELSIF p_policy = 'accumulate' OR p_conflicts = '[]' THEN
        RETURN;
    ELSIF v_wins THEN
        replaces := v_ids;
    ELSIF p_policy IN ('coexist', 'mark') OR p_policy = 'ask_firmer' AND NOT v_asks THEN
        disputes := v_ids;
    ELSE
        outcome := CASE WHEN v_asks THEN 'DEFERRED' ELSE 'REJECTED' END;
        reason := CASE WHEN v_asks THEN 'CONTRADICTION_REVIEW' ELSE 'CONTRADICTION' END;
        detail := jsonb_build_object('policy', p_policy, 'confidence', p_confidence, 'contradicts', p_conflicts)
            || CASE outcome WHEN 'DEFERRED' THEN jsonb_build_object('proposal', jsonb_build_object('action', 'supersede',
                'items', to_jsonb(v_ids))) ELSE '{}' END;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.resolve_conflict IS
    'What a conflict policy decides of a write of that confidence that contradicts some memories: refused or deferred '
    'with a report; replaces, whose place it takes; disputes, beside which it stands, all marked contradicted; nothing, '
    'where the layer accumulates. p_conflicts: each with its confidence, and where it stands firmer than the write, '
    'firmer. Source: chapter 12.2.4, V5; four-layer design, 6.';
