-- Before a rule stands: which of the memories that are there would break it. They stay; a rule is asked of writes.
CREATE OR REPLACE FUNCTION memwarden.preview_integrity_rule(
    condition text, predicate text DEFAULT NULL, against text DEFAULT NULL, layer text DEFAULT NULL, org text DEFAULT NULL)
RETURNS TABLE (item_id uuid, other_item_id uuid, scope text, item_layer text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id    bigint := memwarden_internal.administered_org(preview_integrity_rule.org, 'full');
    v_predicate text := memwarden_internal.predicate_name(preview_integrity_rule.predicate);
    v_against   text := memwarden_internal.predicate_name(preview_integrity_rule.against);
    v_form      record;
BEGIN
    v_form := memwarden_internal.compile_rule(coalesce(preview_integrity_rule.condition, ''), v_against IS NOT NULL);
    IF v_form.fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_condition', format('at character %s: %s', v_form.at_offset + 1, v_form.fault));
    END IF;
    RETURN QUERY
    SELECT i.item_id, o.item_id, s.path, i.layer
      FROM memwarden_data.item AS i
      JOIN memwarden_data.kept_layer AS l ON l.org_id = i.org_id AND l.principal_id = 0 AND l.layer = i.layer AND l.admission = 'full'
      JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
      LEFT JOIN LATERAL memwarden_internal.facts_of_key(
               i.org_id, i.scope_id, i.layer, memwarden_internal.key_of(i.org_id, i.subject, v_against)) AS o ON v_against IS NOT NULL
     WHERE v_org_id IN (0, i.org_id) AND i.status = 'ACTIVE' AND i.kind IS DISTINCT FROM 'annotation'
       AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp()) AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())
       AND (preview_integrity_rule.layer IS NULL OR i.layer = preview_integrity_rule.layer)
       AND (v_predicate IS NULL OR memwarden_internal.predicate_name(i.predicate) = v_predicate)
       AND (v_against IS NULL OR o.item_id <> i.item_id)
       AND memwarden_internal.breaks(v_form.broken::jsonpath, memwarden_internal.document_of(i.org_id, i.version_id),
                                     memwarden_internal.document_of(i.org_id, o.version_id))
     ORDER BY s.path, i.layer, i.item_id, o.item_id;
END
$function$;
COMMENT ON FUNCTION memwarden.preview_integrity_rule IS
    'Returns the memories, or pairs of one subject, that would break a rule, and changes nothing. It returns their ids and places, '
    'in scopes that the caller reads or not, and none of their content. The arguments are those of define_integrity_rule(). Raises '
    '42601 with the position of what cannot be accepted, 42704 for an unknown organisation, 42501 without the right. Source: chapter '
    '12.2.4.';
GRANT EXECUTE ON FUNCTION memwarden.preview_integrity_rule TO memwarden_curator, memwarden_admin;
