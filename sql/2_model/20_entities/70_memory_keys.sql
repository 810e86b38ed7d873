-- By what else than words a memory is found, kept with it once it is there.
CREATE OR REPLACE FUNCTION memwarden_internal.keep_keys(p_org_id bigint, p_scope_id bigint, p_item_id uuid, p_content_hash bytea,
    p_keys jsonb)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.memory_key AS k (org_id, scope_id, item_id, content_hash, role, said, entity_id)
    SELECT p_org_id, p_scope_id, p_item_id, p_content_hash, n.role, n.said, n.entity_id
      FROM jsonb_to_recordset(p_keys) AS n (role text, said text, entity_id bigint)
    ON CONFLICT (org_id, item_id, role, content_hash) DO UPDATE SET said = excluded.said, entity_id = excluded.entity_id;
    RETURN (
        SELECT jsonb_object_agg(n.role, CASE WHEN n.entity_id IS NULL THEN '{"ambiguous": true}'
            ELSE jsonb_build_object('entity', e.ceid) END)
          FROM jsonb_to_recordset(p_keys) AS n (role text, entity_id bigint)
          LEFT JOIN memwarden_data.entity AS e ON e.org_id IN (0, p_org_id) AND e.entity_id = n.entity_id
         WHERE n.role IN ('subject', 'object'));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.keep_keys IS
    'Stores the keys of a memory, and returns what its writer is told of them: {"subject": {"entity"} or {"ambiguous"}, '
    '"object"}; NULL for nothing.';

CREATE OR REPLACE FUNCTION memwarden_internal.entity_facts(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_predicate text, p_key_hash bytea, p_keys jsonb, p_clearance smallint,
        p_same_key text,
    p_period tstzrange, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_scopes bigint[] := (SELECT s.lineage FROM memwarden_data.scope AS s WHERE s.scope_id = p_scope_id);
    v_id     bigint := (jsonb_path_query_first(p_keys, '$[*] ? (@.role == "subject").entity_id') #>> '{}')::bigint;
BEGIN
    -- A key of another system, which ends in =, is one to the letter, and so is whose it is.
    IF v_id IS NULL OR p_predicate LIKE '%='
       OR 'new_version' <> coalesce((memwarden_internal.predicate_of(p_org_id, p_predicate)).same_key, p_same_key) THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT jsonb_agg(jsonb_build_object(
                   'item_id', i.item_id, 'version_id', i.version_id, 'label_id', i.label_id, 'principal_id', i.principal_id,
                   'known', false, 'method', 'entity', 'renews', true, 'rule', p_predicate || ' holds one value'))
          FROM memwarden_data.memory_key AS k
          JOIN memwarden_data.item AS i ON i.org_id = k.org_id AND i.item_id = k.item_id AND i.content_hash = k.content_hash
         WHERE k.org_id = p_org_id AND k.role = 'subject'
           AND k.entity_id = ANY (memwarden_internal.same_entities(p_org_id, v_id, v_scopes, p_clearance))
           AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > p_now)
           AND i.key_hash <> p_key_hash AND memwarden_internal.predicate_name(i.predicate) = p_predicate AND i.valid_during && p_period);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.entity_facts IS
    'Facts of the same entity by its other names, where a predicate holds one value: for readable_found(); NULL for none.';
