-- What is told beside memories crosses a boundary as well: names of entities, goals, notes, answers from outside.
CREATE OR REPLACE FUNCTION memwarden_internal.stripped(p_org_id bigint, p_document jsonb, p_surface text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_surface record;
BEGIN
    IF p_surface IS NULL THEN
        RETURN p_document;
    END IF;
    SELECT s.strip, s.max_classification, s.rules_hash INTO STRICT v_surface
      FROM memwarden_data.surface AS s WHERE s.org_id = p_org_id AND s.name = p_surface;
    RETURN (
        SELECT t.document::jsonb
          FROM memwarden_internal.tell(
                   ARRAY[p_document::text], ARRAY[NULL::text], v_surface.rules_hash,
                   memwarden_internal.names_to_strip(p_org_id, v_surface.strip, v_surface.max_classification),
                       'uri' = ANY (v_surface.strip)) AS t);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.stripped IS
    'A JSON object of words without what a surface of the organisation strips; as it is for no surface. A value that '
    'keeps yielding something is null. The caller has asked require_surface().';
