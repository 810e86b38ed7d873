-- What a write has ended. The request keeps numbers and times alone: whoever asks is told the words while it may read them.
CREATE OR REPLACE FUNCTION memwarden_internal.replaced_values(
    p_org_id bigint, p_item_id uuid, p_fingerprint bytea, p_taken tstzmultirange, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_synonyms text := coalesce((SELECT y.synonyms::text FROM memwarden_data.vocabulary AS y WHERE y.org_id = p_org_id), '{}');
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'item_id', p_item_id, 'version_id', t.version_id, 'from', memwarden_internal.utc_text(lower(l.period)),
                   'to', memwarden_internal.utc_text(upper(l.period))) ORDER BY l.period), '[]')
          FROM memwarden_data.timeline AS t
          JOIN memwarden_data.said_version AS v ON v.org_id = t.org_id AND v.version_id = t.version_id
          LEFT JOIN memwarden_data.item AS i ON i.org_id = t.org_id AND i.item_id = t.item_id AND i.version_id = t.version_id
         CROSS JOIN LATERAL unnest(p_taken * tstzmultirange(t.valid_during)) AS l (period)
         WHERE t.org_id = p_org_id AND t.item_id = p_item_id AND upper_inf(t.recorded_during) AND t.valid_during && p_taken
           AND (v.expires_at IS NULL OR v.expires_at > p_now)
           -- The same value, however it is spelled, is not another.
           AND p_fingerprint <> CASE WHEN i.item_id IS NOT NULL THEN i.fingerprint ELSE memwarden_internal.indexed_hash(
                   (memwarden_internal.fingerprints(v.content::text, v.subject, v.predicate, v_synonyms)).fingerprint,
                   v.subject_key_id) END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.replaced_values IS
    'The values of another fingerprint that an item holds of some periods, which a new one takes: [{"item_id", '
    '"version_id", "from", "to"}], '
    'from and to in UTC; null where there is no bound.';

CREATE OR REPLACE FUNCTION memwarden_internal.replaced_items(p_org_id bigint, p_item_ids uuid[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_object('item_id', i.item_id, 'version_id', i.version_id)
                                  ORDER BY array_position(p_item_ids, i.item_id)), '[]')
          FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = ANY (p_item_ids) AND i.status = 'ACTIVE');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.replaced_items IS
    'The active ones of some items, which a write ends: [{"item_id", "version_id"}].';

CREATE OR REPLACE FUNCTION memwarden_internal.replaced_by(p_request_id uuid, OUT reason text, OUT replaced jsonb)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Planned for the one id, as in stored_requests().
    EXECUTE 'SELECT r.reason, jsonb_build_object(''replaced'', r.detail -> ''replaced'') FROM memwarden_data.write_request AS r'
            ' WHERE r.request_id = $1 AND r.reason = ''REPLACED''' INTO reason, replaced USING p_request_id;
    replaced := coalesce(replaced, '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.replaced_by IS
    'The reason REPLACED and {"replaced": [...]} of a request that has replaced something; NULL and {} of another.';

CREATE OR REPLACE FUNCTION memwarden_internal.tell_replaced(p_principal_id bigint, p_request_id uuid, p_reason text, p_detail jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_reason IS DISTINCT FROM 'REPLACED' THEN
        RETURN p_detail;
    END IF;
    RETURN p_detail || jsonb_build_object(
        'replaced', (
            SELECT coalesce(jsonb_agg(e.said || CASE WHEN v.subject_key_id IS NULL THEN jsonb_build_object('value', v.content)
                                                     ELSE '{}' END ORDER BY e.place), '[]')
              FROM jsonb_array_elements(p_detail -> 'replaced') WITH ORDINALITY AS e (said, place)
             CROSS JOIN LATERAL (
                   -- OFFSET 0: looked up by its number, and only then asked about; else every item of the organisation is.
                   SELECT t.org_id, t.scope_id, t.label_id, t.principal_id FROM memwarden_data.item AS t
                    WHERE t.org_id = ANY (memwarden_internal.visible_orgs()) AND t.item_id = (e.said ->> 'item_id')::uuid
                   OFFSET 0) AS i
              JOIN memwarden_data.version AS v ON v.org_id = i.org_id AND v.version_id = (e.said ->> 'version_id')::uuid
             WHERE memwarden_internal.may_read(p_principal_id, i.scope_id)
               AND memwarden_internal.refusal(p_principal_id, 'READ', i.label_id, i.principal_id) IS NULL),
        'undo', format('SELECT * FROM memwarden.rollback_batch(''replaced by mistake'', requests => ''{%s}'')',
                       coalesce(p_detail ->> 'request_id', p_request_id::text)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.tell_replaced IS
    'The detail of a request as its answer tells it: where it replaced something, with the old values, of those that the '
    'principal may read now, and the call that takes it back. The value of an encrypted memory is not told.';
