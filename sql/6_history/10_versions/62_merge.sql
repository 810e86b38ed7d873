CREATE OR REPLACE FUNCTION memwarden.merge(item_id uuid, absorbed uuid, reason text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_item   record;
    v_other  record;
    v_result memwarden_internal.write_result;
    v_now    timestamptz;
    v_united jsonb;
BEGIN
    IF merge.item_id = merge.absorbed THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'absorbed: another item');
    END IF;
    v_item := memwarden_internal.hold_item(merge.item_id, 'WRITE', merge.reason);
    -- Of the same scope and layer, or else refused below: no second lock is taken.
    v_other := memwarden_internal.require_item(merge.absorbed);
    IF v_item.status <> 'ACTIVE' OR v_other.status <> 'ACTIVE' THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('active items %s and %s', merge.item_id, merge.absorbed));
    ELSIF NOT EXISTS (SELECT FROM memwarden_data.item AS i
                       WHERE i.org_id = v_other.org_id AND i.item_id = merge.item_id AND i.scope_id = v_other.scope_id
                         AND i.layer = v_other.layer AND i.label_id = v_other.label_id) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'absorbed: an item of the same scope, layer, kind, '
            'classification, domains and attributes');
    -- It has just been there: that its time runs out meanwhile is no want of rights.
    ELSIF memwarden_internal.change_refusal(v_item.principal_id, merge.absorbed, 'DELETE', true) IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('DELETE of item %s', merge.absorbed));
    END IF;
    v_united := memwarden_internal.united_words(v_item.org_id, v_item.version_id, v_other.version_id);
    v_result := memwarden_internal.request_act('merge', ARRAY[merge.item_id, merge.absorbed], jsonb_build_object(
        'item_id', merge.item_id, 'absorbed', merge.absorbed, 'reason', merge.reason), true);
    IF v_result.request_id IS NOT NULL THEN
        RETURN v_result;
    END IF;
    v_result := (memwarden_internal.change_number(), 'COMMITTED', merge.item_id, NULL, NULL, NULL, NULL, NULL);
    v_now := (SELECT greatest(clock_timestamp(), max(i.updated_at) + interval '1 microsecond')
                FROM memwarden_data.item AS i WHERE i.org_id = v_item.org_id AND i.item_id IN (merge.item_id, merge.absorbed));
    PERFORM memwarden_internal.end_items(
        v_other.org_id, ARRAY[merge.absorbed], 'SUPERSEDED', 'SUPERSEDE', merge.reason, v_item.principal_id, v_result.request_id, v_now);
    v_result.version_id := memwarden_internal.append_version(
        v_item.org_id, merge.item_id, v_item.version_id, 'UPDATE', merge.reason, v_item.principal_id, v_result.request_id,
        v_now, p_absorbed_id => v_other.version_id, p_united => v_united);
    IF v_united IS NOT NULL THEN
        PERFORM memwarden_internal.note_personal(v_item.org_id, merge.item_id, p.kinds)
           FROM memwarden_data.personal_item AS p WHERE p.org_id = v_item.org_id AND p.item_id = merge.absorbed;
    END IF;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden.merge IS
    'Merges two memories that say the same into one. The item gains the evidence of the absorbed item, the higher '
    'confidence and importance and the earlier beginning, as a new version with two predecessors. The absorbed item '
    'ends SUPERSEDED. rollback() brings both back. Where the schema of their kind has a merge policy and both have '
    'fields, the policy makes the words from both; the older memory is the one that was recorded first. Otherwise the '
    'item keeps its own words. Both must be active, in one scope and layer, and equal in kind, classification, '
    'domains and attributes. The caller must be permitted to write the item and to delete the absorbed one. item_id: '
    'the memory that stays. absorbed: the memory that ends. reason: 1 to 1,000 characters. outcome: COMMITTED, with '
    'the version; or DEFERRED, and the request waits in review_queue(): people decided about one of the memories, or '
    'the caller is an agent and people are asked about a write there. Raises 42704 for an item that is not active or '
    'that the caller does not see; 22023 for items that cannot become one, or a blank reason; 22023 for fields that '
    'the policy leaves in conflict; 22023 for what schema, length or sensitivity rules would refuse of both together; '
    '42501 without the right; 55P03 while another writer holds the lock on the scope; otherwise as write() does. '
    'Source: chapter 12.3.4, 12.5.2.';
GRANT EXECUTE ON FUNCTION memwarden.merge TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.united_words(p_org_id bigint, p_version_id uuid, p_absorbed_id uuid)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_said   record;
    v_merged record;
    v_form   record;
BEGIN
    SELECT s.schema_id, s.merge_policy::text AS policy, v.subject, v.predicate, v.principal_id, v.scope_id, a.item_id AS absorbed_item_id,
           v.content::text AS own, a.content::text AS other,
           (lower(v.recorded_during), v.version_id) <= (lower(a.recorded_during), a.version_id) AS is_older
      INTO v_said
      FROM memwarden_data.said_version AS v
      JOIN memwarden_data.said_version AS a ON a.org_id = v.org_id AND a.version_id = p_absorbed_id
      JOIN memwarden_data.content_schema AS s ON s.layer = v.layer AND s.kind = v.kind AND s.org_id IN (0, v.org_id) AND s.current
     WHERE v.org_id = p_org_id AND v.version_id = p_version_id
     ORDER BY s.org_id DESC LIMIT 1;
    IF v_said.policy IS NULL OR jsonb_typeof(v_said.own::jsonb) <> 'object' OR jsonb_typeof(v_said.other::jsonb) <> 'object' THEN
        RETURN NULL;
    END IF;
    v_merged := memwarden_internal.merge_contents(
        CASE WHEN v_said.is_older THEN v_said.own ELSE v_said.other END,
        CASE WHEN v_said.is_older THEN v_said.other ELSE v_said.own END, v_said.policy,
        (SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), false);
    IF v_merged.conflicts <> '{}' THEN
        PERFORM memwarden_internal.raise_error('merge_conflict', array_to_string(v_merged.conflicts, ', '));
    END IF;
    v_form := memwarden_internal.examine_merged(
        p_org_id, v_said.schema_id, v_merged.content, v_said.subject, v_said.predicate, false, v_said.principal_id, v_said.scope_id);
    IF v_form.faults IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('merge_invalid', coalesce(
            (SELECT string_agg(DISTINCT concat_ws(' ', f.e ->> 'code', f.e ->> 'rule', f.e ->> 'path'), ', ')
               FROM jsonb_path_query(v_form.faults, '$.*[*]') AS f (e)), 'max_text_length'));
    END IF;
    RETURN jsonb_build_object(
        'schema_id', v_said.schema_id, 'content', v_form.canonical::jsonb, 'search_text', v_form.search_text, 'content_hash',
        encode(v_form.content_hash, 'hex'),
        'sensitivity', v_form.sensitivity, 'item_id', v_said.absorbed_item_id,
        'fields', CASE WHEN v_form.canonical::jsonb = v_said.own::jsonb THEN '{}' ELSE v_merged.told END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.united_words IS
    'What two versions say together by the merge policy of their kind: schema_id, content, search_text, content_hash, '
    'sensitivity, item_id of the second, and fields, by field what was done (empty where the first says it all). NULL '
    'without a policy, and where one of them has no fields. Raises 22023 where the policy leaves a field in conflict, '
    'or nobody could write what comes of it. Source: chapter 12.3.4.';
