-- A writer corrects what it wrote: is that memory its own, and is it still there? Asked under the lock of the scope.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_correction()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_terms   memwarden_data.write_terms := NEW.terms;
    v_item    record;
BEGIN
    SELECT i.principal_id, i.key_hash, memwarden_internal.refusal(NEW.principal_id, 'WRITE', i.label_id,
        i.principal_id) AS refusal INTO v_item
      FROM memwarden_data.item AS i
     WHERE i.org_id = NEW.org_id AND i.item_id = NEW.corrects AND i.scope_id = NEW.scope_id AND i.layer = NEW.layer
       AND i.status = 'ACTIVE' AND (i.expires_at IS NULL OR i.expires_at > v_started)
       AND memwarden_internal.refusal(NEW.principal_id, 'READ', i.label_id, i.principal_id) IS NULL;
    NEW.reason := CASE
        WHEN NOT FOUND THEN 'UNKNOWN_ITEM'
        WHEN v_item.principal_id <> NEW.principal_id THEN 'NOT_AUTHOR'
        WHEN v_item.refusal IS NOT NULL THEN v_item.refusal
        WHEN v_item.key_hash IS DISTINCT FROM NEW.key_hash THEN 'KEY_DIFFERS'
        WHEN NEW.evidence @? '$[*].uri ? (@ starts with "memwarden:item/")'
            THEN memwarden_internal.circle_of_correction(NEW.org_id, NEW.corrects, NEW.evidence) END;
    IF NEW.reason IS NOT NULL THEN
        NEW.outcome := 'REJECTED';
    ELSE
        -- It takes the place of that memory: what the two are to each other refuses nothing.
        IF NEW.conflicts IS NOT NULL THEN
            NEW.conflicts := memwarden_internal.but_item(NEW.conflicts, NEW.corrects);
        END IF;
        IF NEW.admission = 'full' AND NEW.embedding IS NOT NULL AND (v_terms.duplicate_similarity IS NOT NULL
            OR v_terms.conflict <> 'accumulate') THEN
            SELECT memwarden_internal.but_item(a.neighbours, NEW.corrects), a.likeness INTO NEW.neighbours, NEW.likeness
              FROM memwarden_internal.look_around(
                    NEW.org_id, NEW.scope_id, NEW.layer, NEW.principal_id, NEW.label_id, NEW.model_id, NEW.embedding, NEW.key_hash,
                    -- As gate 50 asks.
                    CASE WHEN v_terms.conflict = 'accumulate' AND NOT coalesce(v_terms.durability -> 'overlap' ? 'share', false)
                         THEN v_terms.duplicate_similarity ELSE v_terms.topic_similarity END, v_started,
                    NEW.subject, NEW.predicate, NEW.canonical, NEW.search_text, NEW.valid_from, NEW.valid_to,
                    NEW.attribute_key) AS a;
        END IF;
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_correction IS
    'Trigger gate_48_correction: a request that corrects a memory goes on where its writer wrote that memory last and '
    'the memory is current; the gates behind compare it with all others.';

CREATE OR REPLACE FUNCTION memwarden_internal.but_item(p_found jsonb, p_item_id uuid)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN jsonb_path_query_array(p_found, '$[*] ? (!(@.item_id == $item))', jsonb_build_object('item', p_item_id));
COMMENT ON FUNCTION memwarden_internal.but_item IS 'What gates found of memories, without one of them.';

CREATE OR REPLACE FUNCTION memwarden_internal.circle_of_correction(p_org_id bigint, p_item_id uuid, p_evidence jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_cited uuid[] := ARRAY(
        SELECT (regexp_match(e.uri, '^memwarden:item/([0-9a-f-]{36})$'))[1]::uuid
          FROM (SELECT u.uri #>> '{}' AS uri FROM jsonb_path_query(p_evidence, '$[*].uri ? (@ starts with "memwarden:item/")')
              AS u (uri)) AS e
         WHERE e.uri ~ '^memwarden:item/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$');
BEGIN
    RETURN CASE memwarden_internal.rests_on(p_org_id, v_cited, '{}', ARRAY[p_item_id])
           WHEN true THEN 'PROVENANCE_CYCLE' WHEN false THEN NULL ELSE 'PROVENANCE_TOO_DEEP' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.circle_of_correction IS
    'PROVENANCE_CYCLE where a correction cites memories that rest on what it corrects, PROVENANCE_TOO_DEEP where that '
    'is too much to look through; NULL else.';

-- What a correction leaves out stays as it is. Of another's memory nothing is taken over, and the gate refuses.
CREATE OR REPLACE FUNCTION memwarden_internal.corrected(p_principal_id bigint, p_item_id uuid)
RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT jsonb_build_object('scope', s.path, 'kind', i.kind, 'class', i.class, 'subject', i.subject, 'predicate', i.predicate)
          FROM memwarden_data.item AS i
          JOIN memwarden_data.scope AS s ON s.scope_id = i.scope_id
         WHERE i.org_id = ANY (memwarden_internal.visible_orgs()) AND i.item_id = p_item_id AND i.principal_id = p_principal_id
           AND i.status = 'ACTIVE' AND memwarden_internal.change_refusal(p_principal_id, p_item_id, 'WRITE', false) IS NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.corrected IS
    'What a correction of a memory keeps unless it says otherwise: {"scope", "kind", "class", "subject", "predicate"}; '
    'NULL where the principal did not write that memory last or may not write it.';
