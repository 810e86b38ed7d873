-- An item is as secret as the most secret thing it has said: versions of one item are seen together.
CREATE OR REPLACE FUNCTION memwarden_internal.label_of_successor(
    p_principal_id bigint, p_asked_id integer, p_head_id integer, p_head_author_id bigint,
    p_names_classification boolean, p_names_attributes boolean, OUT label_id integer, OUT refusal text)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_head  record;
    v_asked record;
BEGIN
    label_id := p_asked_id;
    IF p_head_id <> p_asked_id OR p_head_author_id <> p_principal_id THEN
        refusal := memwarden_internal.refusal(p_principal_id, 'WRITE', p_head_id, p_head_author_id);
    END IF;
    IF p_head_id = p_asked_id OR refusal IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT l.classification, l.domains, l.attributes, l.shared INTO v_head FROM memwarden_data.label AS l WHERE l.label_id = p_head_id;
    SELECT l.org_id, l.layer, l.kind, l.scope_kind, l.classification, l.domains, l.attributes, l.shared
      INTO v_asked FROM memwarden_data.label AS l WHERE l.label_id = p_asked_id;
    label_of_successor.label_id := memwarden_internal.find_label(
        v_asked.org_id, v_asked.layer, v_asked.kind, v_asked.scope_kind,
        CASE WHEN p_names_classification THEN greatest(v_head.classification, v_asked.classification) ELSE v_head.classification END,
        ARRAY(SELECT d FROM unnest(v_head.domains) AS d UNION SELECT d FROM unnest(v_asked.domains) AS d ORDER BY 1),
        CASE WHEN p_names_attributes THEN v_asked.attributes ELSE v_head.attributes END,
        v_head.shared AND v_asked.shared, p_principal_id);
    refusal := CASE WHEN label_of_successor.label_id IS NULL THEN 'TOO_MANY_LABELS'
                    ELSE memwarden_internal.refusal(p_principal_id, 'WRITE', label_of_successor.label_id, p_principal_id) END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.label_of_successor IS
    'The label of a new version: never less classified than the item, with all its domains, shared only if both are, '
    'and its attributes unless others are named. refusal: why the writer may not write it so.';
