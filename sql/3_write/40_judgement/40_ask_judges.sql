-- Judges outside the database: the job carries the memories that the writer reads and that are near, with their words.
CREATE OR REPLACE FUNCTION memwarden_internal.ask_judges(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_label_id integer, p_model_id smallint,
    p_embedding real[], p_key_hash bytea, p_least double precision, p_now timestamptz, p_request_id uuid, p_memory jsonb,
    OUT outcome text, OUT reason text, OUT detail jsonb, OUT retry_at timestamptz, OUT verdicts jsonb)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_asked record;
BEGIN
    v_asked := memwarden_internal.ask_verifiers(p_org_id, p_request_id, p_layer, 'judge', p_memory || jsonb_build_object(
        'neighbours', coalesce((SELECT n.near FROM memwarden_internal.neighbours(
            p_org_id, p_scope_id, p_layer, p_principal_id, p_label_id, p_model_id, p_embedding::@extschema:vector@.halfvec, p_key_hash,
            p_least, p_now) AS n), '[]'::jsonb)));
    verdicts := v_asked.verdicts;
    retry_at := v_asked.retry_at;
    outcome := CASE v_asked.state WHEN 'waiting' THEN 'DEFERRED' WHEN 'timed_out' THEN 'REJECTED' END;
    reason := CASE v_asked.state WHEN 'waiting' THEN 'AWAITING_VERDICT' WHEN 'timed_out' THEN 'VERDICT_TIMEOUT' END;
    detail := CASE WHEN outcome IS NOT NULL THEN jsonb_build_object('purpose', 'judge') END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.ask_judges IS
    'Asks the plug-ins that a layer has for the purpose judge what a write is to the memories near it: their verdicts, '
    'as ask_verifiers() gives them, and whether the write waits for some, or has waited in vain.';

CREATE OR REPLACE FUNCTION memwarden_internal.judged_by(p_neighbours jsonb, p_verdicts jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(n.e || coalesce(t.verdict, '{}') ORDER BY n.place), '[]')
          FROM jsonb_array_elements(p_neighbours) WITH ORDINALITY AS n (e, place)
          LEFT JOIN LATERAL (
              -- Of several panels most decide; of as many, what speaks against the write.
              SELECT jsonb_build_object('relation', j.e ->> 'relation', 'score', avg((j.e ->> 'score')::double precision),
                  'method', 'judged',
                                        'judge', min(v.e ->> 'plugin'), 'version', min(v.e ->> 'version')) AS verdict
                FROM jsonb_path_query(p_verdicts, '$[*]') AS v (e)
               CROSS JOIN LATERAL jsonb_path_query(v.e, '$.detail.neighbours[*]') AS j (e)
               WHERE j.e -> 'item_id' = n.e -> 'item_id' AND j.e -> 'version_id' = n.e -> 'version_id'
                 AND j.e ->> 'relation' IN ('same', 'narrower', 'wider', 'contradicts', 'updates', 'unrelated')
                 AND jsonb_typeof(j.e -> 'score') = 'number'
               GROUP BY j.e ->> 'relation'
               ORDER BY count(*) DESC, j.e ->> 'relation' = 'contradicts' DESC, j.e ->> 'relation'
               LIMIT 1) AS t ON true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judged_by IS
    'Neighbours with their verdicts, where plug-ins have judged as well theirs instead: detail.neighbours of a verdict '
    'is an array of item_id, version_id, relation and score. What they say of a version that is no longer there, or do '
    'not say, changes nothing. Source: V7.';
