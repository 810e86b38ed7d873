CREATE OR REPLACE FUNCTION memwarden.promote(item_id uuid, target text DEFAULT NULL, layer text DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_item   record := memwarden_internal.require_item(promote.item_id);
    v_target text;
BEGIN
    IF v_item.status <> 'ACTIVE' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('active item %s', promote.item_id));
    END IF;
    v_target := memwarden_internal.hold_target(
        (SELECT s.lineage FROM memwarden_data.scope AS s WHERE s.scope_id = v_item.scope_id), promote.target);
    RETURN memwarden_internal.write_copy(promote.item_id, v_target, promote.layer);
END
$function$;
COMMENT ON FUNCTION memwarden.promote IS
    'Writes a copy of a memory into a scope above its own, through every gate there. The original stays, and is the '
    'evidence of the copy. The caller needs the right to write the target: nothing is promoted by itself. Returns the '
    'outcome, as write() does. target: a scope on the path to the root, never /global; default the nearest that is '
    'not transient. layer: the layer of the copy, which may also be one that takes no direct writes; default that of '
    'the item. Raises 42704 for an item that is not active or that the caller does not see; 22023 for a target that '
    'is not above it; otherwise as write() does. Source: four-layer design, 7.';
GRANT EXECUTE ON FUNCTION memwarden.promote TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.write_copy(
    p_item_id uuid, p_scope text, p_layer text, p_request_id uuid DEFAULT NULL, p_revises uuid DEFAULT NULL, p_content jsonb DEFAULT NULL,
    p_origin jsonb DEFAULT NULL, p_cites boolean DEFAULT true, p_alive_at timestamptz DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_item       record := memwarden_internal.require_item(p_item_id, p_alive_at);
    v_request_id uuid := coalesce(p_request_id, memwarden_internal.uuid7());
    v_result     memwarden_internal.write_result;
BEGIN
    -- Upwards, by scope or by layer, is a promotion; other words than the item's are none. The gates read it here, where no
    -- caller writes.
    INSERT INTO memwarden_data.promotion (org_id, request_id, item_id)
    SELECT v_item.org_id, v_request_id, p_item_id
     WHERE p_content IS NULL AND (
           p_scope IS NOT NULL
        OR (SELECT t.ordinal FROM memwarden_data.layer AS t WHERE t.layer = p_layer)
           > (SELECT f.ordinal FROM memwarden_data.layer AS f WHERE f.layer = v_item.layer));
    SELECT w.* INTO v_result
      FROM memwarden_data.said_version AS v
      JOIN memwarden_data.label AS l ON l.label_id = v_item.label_id
      JOIN memwarden_data.classification AS c ON c.level = l.classification
      LEFT JOIN memwarden_data.version AS t ON t.org_id = v.org_id AND t.version_id = p_revises
      LEFT JOIN LATERAL (
          -- What words can be embedded from is embedded anew.
          SELECT m.name, e.embedding::real[] AS embedding
            FROM memwarden_data.embedding AS e JOIN memwarden_data.embedding_model AS m ON m.model_id = e.model_id
           WHERE e.org_id = v.org_id AND e.scope_id = v.scope_id AND e.item_id = v.item_id AND e.shelf >= 0 AND m.name <> 'lexical'
               AND p_content IS NULL
           ORDER BY m.name = memwarden_internal.active_model(v.org_id) DESC, m.model_id LIMIT 1) AS e ON true
     CROSS JOIN LATERAL memwarden.write(
               layer => coalesce(p_layer, v.layer), content => coalesce(p_content, v.content),
               subject => CASE WHEN p_revises IS NULL THEN v.subject ELSE t.subject END,
               predicate => CASE WHEN p_revises IS NULL THEN v.predicate ELSE t.predicate END,
               scope => coalesce(p_scope, (SELECT s.path FROM memwarden_data.scope AS s WHERE s.scope_id = v.scope_id)),
                   confidence => v.confidence, importance => v.importance,
               kind => CASE WHEN p_revises IS NULL THEN v.kind ELSE t.kind END,
               evidence => v.evidence || CASE WHEN p_cites OR v.evidence = '[]' THEN jsonb_build_array(jsonb_build_object(
                   'type', 'memory_item', 'uri', 'memwarden:item/' || v.item_id, 'version_id', v.version_id)) ELSE '[]' END,
               embedding => e.embedding, embedding_model => e.name,
               -- Where nobody said since when it holds, the copy does not either: a later time is what makes a contrary an update.
               valid_from => nullif(lower(v.valid_during), lower(v.recorded_during)), valid_to => upper(v.valid_during),
                   request_id => v_request_id,
               classification => c.name, domains => l.domains, attributes => l.attributes, origin => p_origin, class => v.class) AS w
     WHERE v.org_id = v_item.org_id AND v.version_id = v_item.version_id;
    -- What waits is a promotion also when it is tried again.
    DELETE FROM memwarden_data.promotion AS m
     WHERE m.org_id = v_item.org_id AND m.request_id = v_request_id AND v_result.outcome <> 'DEFERRED';
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.write_copy IS
    'Writes what an item says, through every gate, into another scope or layer (its own where NULL), in the name of the '
    'caller, with the item as evidence. Upwards, also into a layer that takes no direct writes. p_revises: the version '
    'whose subject, predicate and kind it has; p_content: what it says instead. p_cites: not where its own evidence is '
    'all that it rests on. p_alive_at: see require_item().';

CREATE OR REPLACE FUNCTION memwarden_internal.require_item(p_item_id uuid, p_alive_at timestamptz DEFAULT NULL, OUT org_id bigint,
    OUT scope_id bigint, OUT layer text,
    OUT status text, OUT label_id integer, OUT principal_id bigint, OUT version_id uuid)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
BEGIN
    SELECT i.org_id, i.scope_id, i.layer, i.status, i.label_id, i.principal_id, i.version_id
      INTO require_item.org_id, require_item.scope_id, require_item.layer, require_item.status,
           require_item.label_id, require_item.principal_id, require_item.version_id
      FROM memwarden_data.item AS i
     WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id
       AND (i.expires_at IS NULL OR i.expires_at > coalesce(p_alive_at, clock_timestamp()))
       AND memwarden_internal.may_read(v_principal_id, i.scope_id)
       AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL;
    IF NOT FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('item %s', p_item_id));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_item IS
    'An item that the caller sees, and whose time to live is not over now, or was not at p_alive_at. Raises 42704 when '
    'there is none, 28000 without identity.';
