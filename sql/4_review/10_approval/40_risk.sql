-- How many could be misled: who reads the scope, and who was given memories of it.
CREATE OR REPLACE FUNCTION memwarden_internal.blast_radius(
    p_scope_id bigint, p_principal_id bigint, OUT readers bigint, OUT recalls bigint, OUT consumers bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Written out in one: each further query is one for every write.
    SELECT (SELECT count(*) FROM (
                -- readable_scopes() asked the other way round, no further than a hundred.
                SELECT g.principal_id
                  FROM memwarden_data.scope_grant AS g
                 WHERE g.descendants AND g.principal_id <> p_principal_id AND g.scope_id = ANY (s.lineage)
                 UNION
                SELECT g.principal_id FROM memwarden_data.scope_grant AS g
                 WHERE g.scope_id = p_scope_id AND g.principal_id <> p_principal_id
                 UNION
                SELECT g.principal_id
                  FROM memwarden_data.scope AS d
                  JOIN memwarden_data.scope_grant AS g ON g.scope_id = d.scope_id
                 -- Most scopes have none within them.
                 WHERE d.lineage @> ARRAY[p_scope_id] AND g.principal_id <> p_principal_id
                   AND EXISTS (SELECT FROM memwarden_data.scope AS c WHERE c.parent_id = p_scope_id)
                 LIMIT 100) AS b),
           -- The job has counted all; what the writer recalled itself is few rows.
           coalesce(greatest(r.recalls - o.recalls, 0), 0), coalesce(greatest(r.consumers - (o.recalls > 0)::integer, 0), 0)
      INTO readers, recalls, consumers
      FROM memwarden_data.scope AS s
      LEFT JOIN memwarden_data.recall_reach AS r ON r.org_id = s.org_id AND r.scope_id = s.scope_id
     CROSS JOIN LATERAL (SELECT coalesce(sum(c.recalls), 0) AS recalls FROM memwarden_data.recall_consumer AS c
                          WHERE c.org_id = s.org_id AND c.scope_id = s.scope_id AND c.principal_id = p_principal_id
                            AND c.day > (clock_timestamp() AT TIME ZONE 'UTC')::date - 30) AS o
     WHERE s.scope_id = p_scope_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.blast_radius IS
    'How many others, up to 100, may read a scope; and as of the last count, how often others recalled memories of it in '
    'the last 30 days, and how many they were. Source: chapter 12.6.2.';

CREATE OR REPLACE FUNCTION memwarden_internal.risk_of(
    p_weights double precision[], p_layer_risk double precision, p_contradicts boolean, p_authority double precision,
    p_adjusted double precision, p_likeness double precision, p_readers bigint, p_recalls bigint, p_consumers bigint,
    OUT risk double precision, OUT measures double precision[])
RETURNS record
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    -- Out of a sum of doubles nothing may stand beside its bounds.
    measures := ARRAY[
        least(greatest(p_layer_risk, 0), 1),
        p_contradicts::integer,
        least(greatest(1 - coalesce(p_authority, 0), 0), 1),
        least(greatest(1 - coalesce(p_adjusted, 0), 0), 1),
        -- None other: 0. A hundred or more: 1. In between each doubling counts alike. Who may read says it, until enough is
        -- known of who does: a few recalls, which anybody can make, change nothing.
        least(greatest(ln(1 + CASE WHEN p_recalls >= 30 THEN p_consumers ELSE p_readers END) / ln(101), 0), 1),
        least(greatest(1 - coalesce(p_likeness, 0), 0), 1),
        p_recalls, p_consumers, p_readers];
    risk := least(p_weights[1] * measures[1] + p_weights[2] * measures[2] + p_weights[3] * measures[3]
                  + p_weights[4] * measures[4] + p_weights[5] * measures[5] + p_weights[6] * measures[6], 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.risk_of IS
    'The weighted sum of the six measures of a risk, and the measures, as assess_risk() says them.';

-- What could go wrong if it were remembered: six factors, each from 0 to 1 by a rule that is stated here.
CREATE OR REPLACE FUNCTION memwarden_internal.assess_risk(
    p_scope_id bigint, p_layer text, p_principal_id bigint, p_weights double precision[], p_layer_risk double precision,
    p_contradicts boolean, p_grounds jsonb, p_adjusted double precision, p_likeness double precision,
    OUT risk double precision, OUT measures double precision[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_authority double precision := (p_grounds #>> '{0,authority}')::double precision;
    v_readers   bigint;
    v_recalls   bigint;
    v_consumers bigint;
BEGIN
    -- Of one nothing need be worked out.
    IF jsonb_array_length(p_grounds) > 1 THEN
        v_authority := (SELECT avg((g.e ->> 'authority')::double precision) FROM jsonb_array_elements(p_grounds) AS g (e));
    END IF;
    SELECT b.readers, b.recalls, b.consumers INTO v_readers, v_recalls, v_consumers
      FROM memwarden_internal.blast_radius(p_scope_id, p_principal_id) AS b;
    SELECT r.risk, r.measures INTO risk, measures
      FROM memwarden_internal.risk_of(
               p_weights, coalesce(p_layer_risk, memwarden_internal.layer_risk(
                   (SELECT s.org_id FROM memwarden_data.scope AS s WHERE s.scope_id = p_scope_id), p_layer)),
               p_contradicts, v_authority, p_adjusted, p_likeness, v_readers, v_recalls, v_consumers) AS r;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.assess_risk IS
    'The risk of a write, 0 to 1: the weighted sum of layer (p_layer_risk, else layer_risk()), contradiction (1 where '
    'it contradicts a memory), evidence (1 - the mean authority of its references; 1 without any), confidence_gap (1 - '
    'adjusted confidence), blast_radius (consumers, up to 100, on a logarithmic scale: how many others were given '
    'memories of the scope in the last 30 days, as recalls are counted; where others recalled less than 30 times, how '
    'many others may read it: by their grants there, above (with descendants) and below, up to 100), novelty (1 - '
    'likeness to the most like memory of the scope and layer that the writer reads; 1 where none is half as like as '
    'topic_similarity). measures: the six in this order, then recalls and consumers (but the writer) as of the last count, and '
    'readers. Source: chapter 12.6.2.';

CREATE OR REPLACE FUNCTION memwarden_internal.risk_factors(p_measures double precision[], p_weights double precision[])
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
-- Text that is read once: as many small objects, each is made anew within the next.
RETURN ('{"layer": {"value": ' || round(p_measures[1]::numeric, 4) || ', "weight": ' || p_weights[1]
    || '}, "contradiction": {"value": ' || round(p_measures[2]::numeric, 4) || ', "weight": ' || p_weights[2]
    || '}, "evidence": {"value": ' || round(p_measures[3]::numeric, 4) || ', "weight": ' || p_weights[3]
    || '}, "confidence_gap": {"value": ' || round(p_measures[4]::numeric, 4) || ', "weight": ' || p_weights[4]
    || '}, "blast_radius": {"value": ' || round(p_measures[5]::numeric, 4) || ', "weight": ' || p_weights[5]
    || ', "recalls": ' || p_measures[7]::bigint || ', "consumers": ' || p_measures[8]::bigint || ', "readers": ' || p_measures[9]::bigint
    || '}, "novelty": {"value": ' || round(p_measures[6]::numeric, 4) || ', "weight": ' || p_weights[6] || '}}')::jsonb;
COMMENT ON FUNCTION memwarden_internal.risk_factors IS
    'What assess_risk() measured, as humans are told: {name: {"value", "weight"}}, and of blast_radius {"recalls", '
    '"consumers", "readers"}.';

CREATE OR REPLACE FUNCTION memwarden_internal.told_of_auto(p_review jsonb)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
-- A blank parts the three; whatever was stored before is an object already.
RETURN CASE WHEN jsonb_typeof(p_review -> 'auto') = 'string' THEN jsonb_build_object(
           'risk', split_part(p_review ->> 'auto', ' ', 1)::double precision,
           'factors', memwarden_internal.risk_factors(
               split_part(p_review ->> 'auto', ' ', 2)::double precision[], split_part(p_review ->> 'auto', ' ', 3)::double precision[]))
       ELSE p_review - 'auto' END;
COMMENT ON FUNCTION memwarden_internal.told_of_auto IS
    'Risk and factors of a write that nobody was asked about, from write_request.review: {"auto": "risk measures weights"}, '
    'as assess_risk() and the policy had them.';

CREATE OR REPLACE FUNCTION memwarden_internal.risk_of_layer(p_admission text, p_ttl interval)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE p_admission WHEN 'free' THEN 0 WHEN 'schema' THEN 0.1
    -- As events, where it ends by itself; as truths, where it lasts.
    ELSE CASE WHEN p_ttl IS NULL THEN 0.8 ELSE 0.3 END END;
COMMENT ON FUNCTION memwarden_internal.risk_of_layer IS
    'What layer_risk() says, of a layer with that admission, whose memories end after that time.';

CREATE OR REPLACE FUNCTION memwarden_internal.layer_risk(p_org_id bigint, p_layer text)
RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT memwarden_internal.risk_of_layer(l.admission, coalesce(l.default_ttl, l.max_ttl))
              FROM memwarden_data.kept_layer AS l
             WHERE l.org_id = p_org_id AND l.principal_id = 0 AND l.layer = p_layer);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.layer_risk IS
    'What a write into a layer risks where no policy says so: 0 where nothing is asked of a write, 0.1 where its form '
    'is checked, 0.3 where memories end by themselves, 0.8 where they last. Source: H1.';
