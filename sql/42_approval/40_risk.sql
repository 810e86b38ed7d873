-- What could go wrong if it were remembered: six factors, each from 0 to 1 by a rule that is stated here.
CREATE OR REPLACE FUNCTION memwarden_internal.assess_risk(
    p_scope_id bigint, p_layer text, p_principal_id bigint, p_weights double precision[], p_layer_risk double precision,
    p_contradicts boolean, p_grounds jsonb, p_adjusted double precision, p_likeness double precision,
    OUT risk double precision, OUT factors jsonb)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_readers integer := memwarden_internal.count_readers(p_scope_id, p_principal_id, 100);
    v_reach   record := memwarden_internal.reach_beside(p_scope_id, p_principal_id);
    v_values  double precision[];
BEGIN
    v_values := ARRAY[
        coalesce(p_layer_risk, memwarden_internal.layer_risk(p_layer)),
        p_contradicts::integer,
        1 - coalesce((SELECT avg((g.e ->> 'authority')::double precision) FROM jsonb_array_elements(p_grounds) AS g (e)), 0),
        1 - coalesce(p_adjusted, 0),
        -- None other: 0. A hundred or more: 1. In between each doubling counts alike. Who may read says it, until enough is
        -- known of who does: a few recalls, which anybody can make, change nothing.
        ln(1 + CASE WHEN v_reach.recalls >= 30 THEN v_reach.consumers ELSE v_readers END) / ln(101),
        1 - coalesce(p_likeness, 0)];
    -- Out of a sum of doubles nothing may stand beside its bounds.
    v_values := ARRAY(SELECT least(greatest(f.v, 0), 1) FROM unnest(v_values) WITH ORDINALITY AS f (v, n) ORDER BY f.n);
    SELECT least(sum(w.weight * v_values[w.n]), 1),
           jsonb_object_agg(w.name, jsonb_build_object('value', round(v_values[w.n]::numeric, 4), 'weight', w.weight))
      INTO assess_risk.risk, assess_risk.factors
      FROM unnest(ARRAY['layer', 'contradiction', 'evidence', 'confidence_gap', 'blast_radius', 'novelty'], p_weights) WITH ORDINALITY AS w (name, weight, n);
    assess_risk.factors := jsonb_set(assess_risk.factors, '{blast_radius}', assess_risk.factors -> 'blast_radius' || jsonb_build_object(
        'recalls', v_reach.recalls, 'consumers', v_reach.consumers, 'readers', v_readers));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.assess_risk(bigint, text, bigint, double precision[], double precision, boolean, jsonb, double precision, double precision) IS
    'The risk of a write, 0 to 1: the weighted sum of layer (p_layer_risk, else layer_risk()), contradiction (1 where it contradicts a memory), evidence (1 - the mean authority of its references; 1 without any), '
    'confidence_gap (1 - adjusted confidence), blast_radius (consumers, up to 100, on a logarithmic scale: how many others were given memories of the scope in the last 30 days, as recalls are counted; where others recalled less than 30 times, how many others may read it), '
    'novelty (1 - likeness to the most like memory that the gates found; 1 where they found none). factors: {name: {"value", "weight"}}, and of blast_radius {"recalls", "consumers", "readers"}. Source: chapter 12.6.2.';
REVOKE ALL ON FUNCTION memwarden_internal.assess_risk(bigint, text, bigint, double precision[], double precision, boolean, jsonb, double precision, double precision) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.layer_risk(p_layer text)
RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN (SELECT CASE l.admission WHEN 'free' THEN 0 WHEN 'schema' THEN 0.1
                   -- As events, where it ends by itself; as truths, where it lasts.
                   ELSE CASE WHEN coalesce(l.default_ttl, l.max_ttl) IS NULL THEN 0.8 ELSE 0.3 END END
              FROM memwarden_data.layer AS l WHERE l.layer = p_layer);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.layer_risk(text) IS
    'What a write into a layer risks where no policy says so: 0 where nothing is asked of a write, 0.1 where its form is checked, 0.3 where memories end by themselves, 0.8 where they last. Source: H1.';
REVOKE ALL ON FUNCTION memwarden_internal.layer_risk(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.reach_beside(p_scope_id bigint, p_principal_id bigint, OUT recalls bigint, OUT consumers bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- The job has counted all; what the writer recalled itself is few rows.
    SELECT greatest(r.recalls - o.recalls, 0), greatest(r.consumers - (o.recalls > 0)::integer, 0) INTO recalls, consumers
      FROM memwarden_data.scope AS s
      JOIN memwarden_data.recall_reach AS r ON r.org_id = s.org_id AND r.scope_id = s.scope_id
     CROSS JOIN LATERAL (SELECT coalesce(sum(c.recalls), 0) AS recalls FROM memwarden_data.recall_consumer AS c
                          WHERE c.org_id = s.org_id AND c.scope_id = s.scope_id AND c.principal_id = p_principal_id
                            AND c.day > (clock_timestamp() AT TIME ZONE 'UTC')::date - 30) AS o
     WHERE s.scope_id = p_scope_id;
    recalls := coalesce(recalls, 0);
    consumers := coalesce(consumers, 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reach_beside(bigint, bigint) IS
    'In how many recalls memories of a scope were given to others than that principal in the last 30 days, and to how many, as of the last count.';
REVOKE ALL ON FUNCTION memwarden_internal.reach_beside(bigint, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.count_readers(p_scope_id bigint, p_principal_id bigint, p_most integer)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    -- readable_scopes() asked the other way round.
    RETURN (SELECT count(*) FROM (
                SELECT g.principal_id
                  FROM memwarden_data.scope_grant AS g
                 WHERE g.descendants AND g.principal_id <> p_principal_id
                   AND g.scope_id = ANY ((SELECT s.lineage FROM memwarden_data.scope AS s WHERE s.scope_id = p_scope_id)::bigint[])
                 UNION
                SELECT g.principal_id
                  FROM memwarden_data.scope AS d
                  JOIN memwarden_data.scope_grant AS g ON g.scope_id = d.scope_id
                 WHERE d.lineage @> ARRAY[p_scope_id] AND g.principal_id <> p_principal_id
                 LIMIT p_most) AS r);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.count_readers(bigint, bigint, integer) IS
    'How many principals but that one read a scope, by their grants there, above (with descendants) and below; no further than p_most.';
REVOKE ALL ON FUNCTION memwarden_internal.count_readers(bigint, bigint, integer) FROM PUBLIC;
