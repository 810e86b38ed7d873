-- Every value of a JSON document by its path (RFC 6901). Positions tell the elements of an array apart.
CREATE OR REPLACE FUNCTION memwarden_internal.json_values(p_document jsonb)
RETURNS TABLE (path text, value jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
WITH RECURSIVE walk (path, value) AS (
    SELECT '', p_document
    UNION ALL
    SELECT w.path || '/' || c.key, c.value
      FROM walk AS w,
           LATERAL (SELECT replace(replace(o.key, '~', '~0'), '/', '~1') AS key, o.value
                      FROM jsonb_each(CASE jsonb_typeof(w.value) WHEN 'object' THEN w.value ELSE '{}' END) AS o
                     UNION ALL
                    SELECT (a.ordinal - 1)::text, a.value
                      FROM jsonb_array_elements(CASE jsonb_typeof(w.value) WHEN 'array' THEN w.value ELSE '[]' END)
                           WITH ORDINALITY AS a (value, ordinal)) AS c
)
SELECT w.path, w.value FROM walk AS w WHERE jsonb_typeof(w.value) NOT IN ('object', 'array') OR w.value IN ('{}', '[]')
$function$;
COMMENT ON FUNCTION memwarden_internal.json_values IS
    'The values within a JSON document, each with its path (RFC 6901); empty objects and arrays are values.';

CREATE OR REPLACE FUNCTION memwarden_internal.json_diff(p_before jsonb, p_after jsonb)
RETURNS TABLE (path text, change text, before jsonb, after jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(b.path, a.path), CASE WHEN b.path IS NULL THEN 'added' WHEN a.path IS NULL THEN 'removed' ELSE 'changed' END,
    b.value, a.value
  FROM memwarden_internal.json_values(p_before) AS b
  FULL JOIN memwarden_internal.json_values(p_after) AS a ON a.path = b.path
 WHERE b.value IS DISTINCT FROM a.value
 ORDER BY 1
$function$;
COMMENT ON FUNCTION memwarden_internal.json_diff IS 'The values in which two JSON documents differ, by their path (RFC 6901).';

CREATE OR REPLACE FUNCTION memwarden_internal.version_document(
    p_content jsonb, p_kind text, p_subject text, p_predicate text, p_confidence double precision, p_importance double precision,
    p_evidence jsonb, p_valid_during tstzrange, p_expires_at timestamptz)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_strip_nulls(jsonb_build_object(
        'kind', p_kind, 'subject', p_subject, 'predicate', p_predicate, 'confidence', p_confidence, 'importance', p_importance,
        'valid_from', lower(p_valid_during), 'valid_to', upper(p_valid_during), 'expires_at', p_expires_at))
    || jsonb_build_object('content', p_content, 'evidence', p_evidence);
COMMENT ON FUNCTION memwarden_internal.version_document IS 'What a version says, as one document to compare.';
