-- A refused duplicate corroborates the memory that is there, as far as it brings something of its own. Who writes
-- holds the scope: no two writers meet in a row here.
CREATE OR REPLACE FUNCTION memwarden_internal.record_sighting(
    p_org_id bigint, p_item_id uuid, p_version_id uuid, p_principal_id bigint, p_label_id integer,
    p_evidence jsonb, p_grounds jsonb, p_needs_evidence boolean, p_trust double precision, p_authority double precision, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_seen   record;
    v_source bytea;
BEGIN
    SELECT v.evidence, v.principal_id = p_principal_id AS is_author INTO v_seen
      FROM memwarden_data.item AS i
      JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = i.version_id AND v.tier = 'hot'
     -- Who reads the memory learns that somebody else says so: only what is no more secret than it is counts.
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.version_id = p_version_id
       AND (i.label_id = p_label_id OR EXISTS (
               SELECT FROM memwarden_data.label AS l
                 JOIN memwarden_data.label AS m ON m.label_id = i.label_id
                WHERE l.label_id = p_label_id AND l.kind IS NOT DISTINCT FROM m.kind AND l.classification <= m.classification
                  AND l.domains <@ m.domains AND l.attributes = m.attributes
                  AND (l.shared OR NOT m.shared OR EXISTS (
                           SELECT FROM memwarden_data.kept_layer AS y
                            WHERE y.org_id = p_org_id AND y.principal_id = 0 AND y.layer = m.layer AND y.shared))));
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF NOT v_seen.is_author THEN
        v_source := memwarden_internal.own_source(p_principal_id, p_evidence, p_grounds, p_needs_evidence, v_seen.evidence);
    END IF;
    INSERT INTO memwarden_data.sighting AS s (
        org_id, item_id, version_id, principal_id, times, first_at, last_at, source, trust, authority)
    VALUES (p_org_id, p_item_id, p_version_id, p_principal_id, 1, p_now, p_now, v_source,
            CASE WHEN v_source IS NULL THEN 0 ELSE p_trust END, CASE WHEN v_source IS NULL THEN 0 ELSE p_authority END)
    ON CONFLICT ON CONSTRAINT sighting_pkey DO UPDATE
       SET times = s.times + 1, last_at = greatest(s.last_at, excluded.last_at), source = least(s.source, excluded.source),
           trust = greatest(s.trust, excluded.trust), authority = greatest(s.authority, excluded.authority);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_sighting IS
    'Keeps of a write that is refused as a duplicate of a version who said so again, when, and by what. p_grounds: its '
    'evidence as it was weighed; p_needs_evidence: the layer takes nobody''s mere word. A write that is classified '
    'higher than the memory, of other domains or attributes, or not shared where the memory is, leaves nothing. Source: '
    'chapter 12.3.2; four-layer design, 4; D3.';

CREATE OR REPLACE FUNCTION memwarden_internal.own_source(
    p_principal_id bigint, p_evidence jsonb, p_grounds jsonb, p_needs_evidence boolean, p_known jsonb)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF coalesce(p_evidence, '[]') = '[]' THEN
        RETURN CASE WHEN NOT p_needs_evidence THEN memwarden_internal.source_hash('agent', p_principal_id::text) END;
    END IF;
    RETURN (
        SELECT memwarden_internal.source_hash('place', c.place) AS source
          FROM (SELECT split_part(g.e ->> 'uri', '#', 1) AS place
                  FROM jsonb_array_elements(CASE WHEN p_needs_evidence THEN p_grounds ELSE p_evidence END) AS g (e)
                 -- A memory is no source: who read it there says it again.
                 WHERE NOT starts_with(g.e ->> 'uri', 'memwarden:item/')
                   AND (NOT p_needs_evidence OR (g.e @> '{"external": true}' AND (g.e ->> 'support')::double precision > 0
                                                 AND g.e -> 'believed' IS NULL AND g.e -> 'counted' IS NULL))
                EXCEPT
                SELECT split_part(k.e ->> 'uri', '#', 1) FROM jsonb_array_elements(p_known) AS k (e)) AS c
         ORDER BY source LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.own_source IS
    'What a write brings that the memory does not rest on: the least hash of the places that it cites and the memory '
    'does not, where the layer needs evidence only those outside the agent that bear it out; of the agent itself where '
    'words are enough and it cites nothing. NULL for none.';

CREATE OR REPLACE FUNCTION memwarden_internal.source_hash(p_kind text, p_name text)
RETURNS bytea
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- What a refused write cited is not kept: whoever guesses it must not be able to confirm that.
    RETURN coalesce(memwarden_internal.keyed_hash('source', convert_to(p_kind || ' ' || p_name, 'UTF8')),
                    sha256(convert_to(p_kind || ' ' || p_name, 'UTF8')));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.source_hash IS
    'Tells sources apart without naming them; keyed where the server has a key.';

CREATE OR REPLACE FUNCTION memwarden_internal.adjusted_confidence(
    p_weights double precision[], p_confidence double precision, p_fact_score double precision, p_authority double precision,
        p_ceiling double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
-- So small a number times a weight is an error, not 0.
RETURN least(p_weights[1] * (CASE WHEN p_confidence < 1e-300 THEN 0 ELSE p_confidence END)
             + p_weights[2] * coalesce(p_fact_score, 0) + p_weights[3] * p_authority, coalesce(p_ceiling, 1));
COMMENT ON FUNCTION memwarden_internal.adjusted_confidence IS
    'How far a write is to be believed, before a human has approved it, by the weights of its layer. Source: chapter '
    '12.4.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.said_confidence(p_confidence double precision, p_origin jsonb, p_default double precision)
RETURNS double precision
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_confidence IS NULL AND p_origin IS NOT NULL THEN
        RETURN coalesce((SELECT k.confidence FROM memwarden_data.origin_kind AS k WHERE k.kind = p_origin ->> 'kind'), p_default);
    END IF;
    RETURN coalesce(p_confidence, p_default);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.said_confidence IS
    'The confidence that a writer gives, else that of the kind of its origin, else the default of the layer.';
