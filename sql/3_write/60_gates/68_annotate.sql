CREATE OR REPLACE FUNCTION memwarden.annotate(item_id uuid, verdict text, note text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_item         record := memwarden_internal.require_item(annotate.item_id);
    v_result       memwarden_internal.write_result;
BEGIN
    -- As secret as what it is about. Who says it is part of the key: that a second verifier agrees is no duplicate.
    SELECT w.* INTO v_result
      FROM memwarden_data.label AS l
      JOIN memwarden_data.classification AS c ON c.level = l.classification
      JOIN memwarden_data.scope AS s ON s.scope_id = v_item.scope_id
     CROSS JOIN LATERAL memwarden.write(
               'episodic', jsonb_strip_nulls(jsonb_build_object(
                   'item_id', annotate.item_id, 'version_id', v_item.version_id, 'verdict', annotate.verdict, 'note', annotate.note)),
               kind => 'annotation', subject => 'memwarden:item/' || annotate.item_id, predicate => 'annotated by ' || v_principal_id,
               scope => s.path,
               evidence => jsonb_build_array(jsonb_build_object('type', 'memory_item', 'uri', 'memwarden:item/' || annotate.item_id)),
               classification => c.name, domains => l.domains, attributes => l.attributes) AS w
     WHERE l.label_id = v_item.label_id;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.annotate IS
    'Writes an annotation that says whether a memory holds. The annotation is an episodic memory of kind annotation '
    'in the same scope. Verifiers may write nothing else. Its subject is memwarden:item/ and the number of the item. '
    'Returns the outcome, as write() does. verdict: confirmed, doubted or refuted. note: at most 2,000 characters. '
    'Raises 42704 for an item that the caller does not see. Source: chapter 12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.annotate TO memwarden_agent, memwarden_reviewer, memwarden_curator;
