-- A condition on the view cannot reach an index: where it did, EXPLAIN ANALYZE would tell of rows that are not the
-- caller's. An argument can.
CREATE OR REPLACE FUNCTION memwarden.find_items(
    subject text, predicate text DEFAULT NULL, layer text DEFAULT NULL, scope text DEFAULT NULL, kind text DEFAULT NULL,
        max_rows integer DEFAULT 100)
RETURNS SETOF memwarden_internal.item_state
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
-- With the values at hand the planner drops what is not asked for, and finds the index.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.enter_to_read();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
    v_names        record := memwarden_internal.asked_names(v_orgs, find_items.subject, find_items.predicate);
    v_hashes       bigint[] := ARRAY(SELECT hashtextextended(s.form, 0) FROM unnest(v_names.subjects) AS s (form));
    v_items        uuid[];
BEGIN
    IF find_items.subject IS NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'subject: a text');
    ELSIF find_items.max_rows IS NULL OR find_items.max_rows NOT BETWEEN 1 AND 10000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'max_rows: 1 to 10000');
    END IF;
    IF find_items.scope IS NOT NULL THEN
        v_scopes := ARRAY(SELECT s.scope_id FROM memwarden_data.scope AS s WHERE s.path = find_items.scope AND s.scope_id = ANY (v_scopes));
    END IF;
    -- A hidden memory of the subject costs a comparison, as another one does, and no call that would take time.
    v_items := ARRAY(
        SELECT i.item_id FROM memwarden_data.item AS i
         WHERE i.org_id = ANY (v_orgs) AND i.scope_id = ANY (v_scopes) AND i.status = 'ACTIVE'
           AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
           AND i.subject IS NOT NULL AND hashtextextended(memwarden_internal.form_of_subject(i.subject_form, i.subject), 0) = ANY (v_hashes)
           AND memwarden_internal.form_of_subject(i.subject_form, i.subject) = ANY (v_names.subjects)
           AND (find_items.predicate IS NULL
                OR memwarden_internal.form_of_predicate(i.predicate_form, i.predicate) = ANY (v_names.predicates))
           AND (find_items.layer IS NULL OR i.layer = find_items.layer)
           AND (find_items.kind IS NULL OR i.kind = find_items.kind)
           AND (i.expires_at IS NULL OR i.expires_at > clock_timestamp())
           AND (i.class IS NULL OR NOT memwarden_internal.has_withdrawn_consent(i.org_id, i.item_id, i.class, i.subject_form, i.subject))
         ORDER BY i.updated_at DESC, i.item_id
         LIMIT find_items.max_rows);
    RETURN QUERY SELECT g.* FROM unnest(v_items) WITH ORDINALITY AS t (item_id, n) CROSS JOIN LATERAL memwarden.get(t.item_id) AS g
        ORDER BY t.n;
END
$function$;
COMMENT ON FUNCTION memwarden.find_items IS
    'Returns the current memories about a subject that the caller may see, newest first. Each row is as get() shows '
    'it. An index finds the memories, so the call is fast however many others there are. No row means that there is '
    'none that the caller may see. subject, predicate: compared as write() compares them. layer, '
    'scope, kind: only memories of this layer, of exactly this scope, of this kind. max_rows: 1 to 10000; default '
    '100. Raises 22023 without a subject; 28000 without an identity.';
GRANT EXECUTE ON FUNCTION memwarden.find_items TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
