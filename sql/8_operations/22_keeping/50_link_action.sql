CREATE OR REPLACE FUNCTION memwarden.link_action(action_id text, versions uuid[], recall_id uuid DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_org_id       bigint := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id);
    v_unseen       uuid;
BEGIN
    IF link_action.action_id IS NULL OR link_action.action_id !~ E'^\\S(.{0,198}\\S)?$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'action_id: 1 to 200 characters, no blanks around them');
    ELSIF coalesce(cardinality(link_action.versions), 0) NOT BETWEEN 1 AND 1000 OR NOT memwarden_internal.is_list(link_action.versions) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'versions: 1 to 1,000');
    ELSIF link_action.recall_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM memwarden_data.recall_log AS l
         WHERE l.org_id = v_org_id AND l.recall_id = link_action.recall_id AND l.principal_id = v_principal_id) THEN
        PERFORM memwarden_internal.raise_error('unknown_object', 'recall_id');
    END IF;
    PERFORM memwarden_internal.require_harmless(v_principal_id, jsonb_build_object('action_id', link_action.action_id));
    SELECT u.id INTO v_unseen
      FROM unnest(link_action.versions) AS u (id)
     WHERE NOT EXISTS (
        SELECT FROM memwarden_data.version AS v JOIN memwarden_data.item AS i ON i.org_id = v.org_id AND i.item_id = v.item_id
         WHERE v.org_id IN (0, v_org_id) AND v.version_id = u.id AND memwarden_internal.may_read(v_principal_id, i.scope_id)
           AND memwarden_internal.refusal(v_principal_id, 'READ', i.label_id, i.principal_id) IS NULL)
     LIMIT 1;
    IF FOUND THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('version %s', v_unseen));
    END IF;
    RETURN memwarden_internal.record_links(v_org_id, v_principal_id, link_action.action_id, link_action.versions, link_action.recall_id);
END
$function$;
COMMENT ON FUNCTION memwarden.link_action IS
    'Records that an action of the caller rests on versions of memories. Nothing beneath an action is collected: neither these '
    'memories, nor those from which these versions were derived, to any depth. They may expire and leave recall(), and their '
    'history stays. Only an erasure or a retention rule deletes them, which leaves a tombstone. The same call again adds nothing, '
    'and another call adds versions. action_id: the number of the action in the application, 1 to 200 characters; no name of a '
    'person. versions: 1 to 1,000 version_ids, as recall() returns them. recall_id: the recall of the caller that gave them; '
    'optional. Returns how many versions were linked that were not, sources included. Raises 28000 without an identity; 42704 for '
    'a version or recall that the caller does not see; 22023 for arguments out of range; 55000 before setup(). Source: N8.';
GRANT EXECUTE ON FUNCTION memwarden.link_action TO memwarden_agent, memwarden_reviewer, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.record_links(
    p_org_id bigint, p_principal_id bigint, p_action_id text, p_version_ids uuid[], p_recall_id uuid)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_orgs     bigint[] := ARRAY[0, p_org_id];
    v_found    uuid[] := p_version_ids;
    v_distance integer := 0;
    v_added    integer;
    v_sum      integer := 0;
BEGIN
    WHILE v_found <> '{}' LOOP
        -- Who deletes one of them has it locked: it is gone, or it stays.
        PERFORM FROM memwarden_data.item AS i
          WHERE (i.org_id, i.item_id) IN (SELECT v.org_id, v.item_id FROM memwarden_data.version AS v
                                           WHERE v.org_id = ANY (v_orgs) AND v.version_id = ANY (v_found))
          ORDER BY i.org_id, i.item_id FOR KEY SHARE;
        IF v_distance = 0 AND EXISTS (SELECT FROM unnest(v_found) AS u (id) WHERE NOT EXISTS (
               SELECT FROM memwarden_data.version AS v WHERE v.org_id = ANY (v_orgs) AND v.version_id = u.id)) THEN
            PERFORM memwarden_internal.raise_error('unknown_object', 'a version that has just been deleted');
        END IF;
        INSERT INTO memwarden_data.action_link (
            org_id, action_id, principal_id, version_id, item_org_id, item_id, distance, recall_id, linked_at)
        SELECT p_org_id, p_action_id, p_principal_id, v.version_id, v.org_id, v.item_id, v_distance, p_recall_id, clock_timestamp()
          FROM memwarden_data.version AS v WHERE v.org_id = ANY (v_orgs) AND v.version_id = ANY (v_found)
            ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS v_added = ROW_COUNT;
        v_sum := v_sum + v_added;
        v_distance := v_distance + 1;
        v_found := ARRAY(
            SELECT n.version_id
              FROM (SELECT d.source_version_id AS version_id FROM memwarden_data.derivation AS d
                     WHERE d.org_id = ANY (v_orgs) AND d.version_id = ANY (v_found)
                     UNION
                    SELECT v.absorbed_version_id FROM memwarden_data.version AS v
                     WHERE v.org_id = ANY (v_orgs) AND v.version_id = ANY (v_found) AND v.absorbed_version_id IS NOT NULL) AS n
             WHERE NOT EXISTS (SELECT FROM memwarden_data.action_link AS l
                                WHERE l.org_id = p_org_id AND l.action_id = p_action_id AND l.principal_id = p_principal_id
                                  AND l.version_id = n.version_id));
    END LOOP;
    RETURN v_sum;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_links IS
    'Links an action with versions and, to any depth, with the versions that they were derived from or absorbed. Asks no rights.';
