CREATE OR REPLACE FUNCTION memwarden_internal.reasons_to_keep(p_org_id bigint, p_item_ids uuid[])
RETURNS TABLE (item_id uuid, reason text, detail text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_hold_id uuid;
BEGIN
    RETURN QUERY
    SELECT p.item_id, 'PINNED', p.reason FROM memwarden_data.pin AS p WHERE p.org_id = p_org_id AND p.item_id = ANY (p_item_ids);
    RETURN QUERY
    SELECT DISTINCT l.item_id, 'LINKED', CASE WHEN l.org_id = p_org_id THEN l.action_id ELSE 'an action of another organisation' END
      FROM memwarden_data.action_link AS l WHERE l.item_org_id = p_org_id AND l.item_id = ANY (p_item_ids);
    FOR v_hold_id IN SELECT h.hold_id FROM memwarden_data.legal_hold AS h WHERE h.org_id = p_org_id AND h.lifted_at IS NULL LOOP
        RETURN QUERY
        SELECT i.id, 'HELD', v_hold_id::text FROM memwarden_internal.held_among(p_org_id, v_hold_id, p_item_ids) AS i (id);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reasons_to_keep IS
    'Why some of these items of an organisation must stay: a row for each reason, none for items that may go. PINNED: a '
    'curator said so (detail: why); neither expires nor is deleted by collection. HELD: a legal hold (detail: its number); '
    'nothing ends or deletes it but a person who retracts, expires or rolls back, which deletes nothing. LINKED: an action '
    'rests on it (detail: its number); it may expire, and is not deleted, except by erasure and retention. Who deletes '
    'calls stop_new_reasons() first. Source: N8, Z5, G3.';

CREATE OR REPLACE FUNCTION memwarden_internal.stop_new_reasons(p_org_id bigint, p_item_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- A hold waits for the row of its organisation, a pin and a link wait for the item.
    PERFORM FROM memwarden_data.organisation AS o WHERE o.org_id = p_org_id FOR SHARE;
    PERFORM FROM memwarden_data.item AS i WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) ORDER BY i.item_id FOR UPDATE;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.stop_new_reasons IS
    'Keeps these items from being held, pinned or linked until this transaction ends: what reasons_to_keep() then does not '
    'say may be deleted. The caller holds the scopes of the items, if it needs them.';

CREATE OR REPLACE FUNCTION memwarden_internal.held_among(p_org_id bigint, p_hold_id uuid, p_item_ids uuid[])
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_hold     memwarden_data.legal_hold;
    v_terms    text[];
    v_synonyms text := coalesce((SELECT v.synonyms::text FROM memwarden_data.vocabulary AS v WHERE v.org_id = p_org_id), '{}');
    v_named    uuid[];
    v_subjects text[];
    v_valued   uuid[];
    -- By which the person is registered; where that cannot be read, everything may name the person.
    v_known    text[];
    v_by_known uuid[];
    v_is_dark  boolean := false;
BEGIN
    SELECT h.* INTO v_hold FROM memwarden_data.legal_hold AS h WHERE h.org_id = p_org_id AND h.hold_id = p_hold_id;
    v_terms := coalesce(memwarden_internal.search_terms(v_hold.texts), '{}');
    IF v_hold.subject IS NOT NULL THEN
        SELECT array_agg(s.subject) INTO v_subjects
          FROM (SELECT DISTINCT v.subject FROM memwarden_data.version AS v
                 WHERE v.org_id = p_org_id AND v.item_id = ANY (p_item_ids) AND v.subject IS NOT NULL) AS s
         WHERE s.subject = ANY (memwarden_internal.subjects_of_id(memwarden_internal.named_id(v_hold.subject)))
            -- Of a person by name and id, Ana <U0A1>, the id.
            OR right(s.subject, length(v_hold.subject)) = ' <' || memwarden_internal.named_id(v_hold.subject) || '>'
            OR memwarden_internal.normalised_subject(s.subject, v_synonyms)
               = memwarden_internal.normalised_subject(v_hold.subject, v_synonyms);
        -- Under any name that the entity bears.
        v_named := ARRAY(
            SELECT k.item_id FROM memwarden_data.memory_key AS k
             WHERE k.org_id = p_org_id AND k.item_id = ANY (p_item_ids)
               AND k.entity_id = ANY (memwarden_internal.find_in_entities(ARRAY[p_org_id], v_hold.subject, '{}')));
        v_known := memwarden_internal.registered_terms(p_org_id, v_hold.subject, v_synonyms);
        v_is_dark := EXISTS (SELECT FROM memwarden_internal.unread_registrations(p_org_id, v_hold.subject, v_synonyms));
        v_by_known := CASE WHEN v_known <> '{}' THEN memwarden_internal.items_of_values(p_org_id, p_item_ids, v_known) END;
    END IF;
    IF v_hold.texts IS NOT NULL THEN
        v_valued := memwarden_internal.items_of_values(p_org_id, p_item_ids, v_terms);
    END IF;
    -- Any version, also one of the past: what was held once does not slip away by being corrected.
    RETURN QUERY
    SELECT DISTINCT v.item_id
      FROM memwarden_data.said_version AS v
     WHERE v.org_id = p_org_id AND v.item_id = ANY (p_item_ids)
       AND (v_hold.item_id IS NULL OR v.item_id = v_hold.item_id)
       AND (v_hold.subject IS NULL OR v_is_dark OR v.subject = ANY (v_subjects) OR v.item_id = ANY (v_named)
            OR v.item_id = ANY (v_by_known)
            OR v_known <> '{}' AND (v.is_unread OR memwarden_internal.mentions(
                   v_known, ARRAY[v.content::text, v.subject, v.predicate, v.kind],
                   ARRAY[memwarden_internal.said_in_evidence(v.evidence)::text])))
       AND (v_hold.scope_ids IS NULL OR v.scope_id IN (
               SELECT s.scope_id FROM memwarden_data.scope AS s WHERE s.lineage && v_hold.scope_ids))
       AND (v_hold.layers IS NULL OR v.layer = ANY (v_hold.layers))
       AND (v_hold.written_during IS NULL OR lower(v.recorded_during) <@ v_hold.written_during)
       AND (v_hold.texts IS NULL OR v.item_id = ANY (v_valued)
            OR memwarden_internal.mentions(
                   v_terms, ARRAY[v.content::text, v.subject, v.predicate, v.kind],
                   ARRAY[memwarden_internal.said_in_evidence(v.evidence)::text])
            -- Nobody here can say what it names: it may be what is asked for.
            OR v.is_unread);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.held_among IS
    'Those of the items that a hold keeps: one of their versions, past or present, is all that the hold asks for. A version that '
    'this server cannot read names every text.';
