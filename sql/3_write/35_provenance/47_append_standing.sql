-- What is learnt later of how firmly a memory may be said is a record of its own, and the head follows.
CREATE OR REPLACE FUNCTION memwarden_internal.append_standing(
    p_org_id bigint, p_scope_id bigint, p_item_id uuid, p_version_id uuid, p_supersedes uuid, p_record jsonb, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    PERFORM memwarden_internal.record_provenance(
        p_org_id, p_scope_id, p_item_id, p_version_id, p_supersedes, 'STANDING', p_record, p_now);
    UPDATE memwarden_data.item AS i SET standing = memwarden_internal.standing_of(p_record)
     WHERE i.org_id = p_org_id AND i.item_id = p_item_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.append_standing IS
    'Appends a record STANDING to the present version of a memory, and sets the standing that it makes. The caller holds the item.';

CREATE OR REPLACE FUNCTION memwarden_internal.score_of(p_grounds jsonb)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT sum((g.e ->> 'weight')::double precision * (g.e ->> 'support')::double precision
           * (g.e ->> 'authority')::double precision * (g.e ->> 'freshness')::double precision)
       / sum((g.e ->> 'weight')::double precision)
  FROM jsonb_array_elements(p_grounds) AS g (e) WHERE g.e -> 'counted' IS NULL
$function$;
COMMENT ON FUNCTION memwarden_internal.score_of IS
    'The factual score of evidence: the mean of weight x support x authority x freshness, weights brought to a mean of 1.';
