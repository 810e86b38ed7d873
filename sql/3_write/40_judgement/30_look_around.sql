-- For the gates: what is near, and what the write is to each.
CREATE OR REPLACE FUNCTION memwarden_internal.look_around(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_principal_id bigint, p_label_id integer, p_model_id smallint,
    p_embedding real[], p_key_hash bytea, p_least double precision, p_now timestamptz,
    p_subject text, p_predicate text, p_content text, p_text text, p_valid_from timestamptz, p_valid_to timestamptz,
    p_attribute_key bytea, OUT neighbours jsonb, OUT likeness double precision)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    SELECT n.near, n.likeness INTO neighbours, likeness
      FROM memwarden_internal.neighbours(
               p_org_id, p_scope_id, p_layer, p_principal_id, p_label_id, p_model_id, p_embedding::@extschema:vector@.halfvec,
               p_key_hash, p_least, p_now, p_attribute_key) AS n;
    neighbours := CASE WHEN neighbours IS NULL THEN '[]' ELSE memwarden_internal.judge(
        p_subject, p_predicate, p_content, p_text, extract(epoch FROM p_valid_from)::double precision,
        extract(epoch FROM p_valid_to)::double precision, neighbours) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.look_around IS
    'The memories near a write, as neighbours() finds them, with the verdict of the built-in judge on each, an empty '
    'array where there are none; and its likeness.';
