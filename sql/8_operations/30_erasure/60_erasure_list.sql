-- A backup holds what was erased after it was taken. So what was erased travels apart from backups, as numbers of rows
-- that say nothing, and a restored copy is erased again before anybody reads it.
CREATE OR REPLACE FUNCTION memwarden.export_erasures(since timestamptz DEFAULT NULL)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_key_id text := memwarden_internal.log_key_id();
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(t.entry || jsonb_build_object('signature',
            encode(memwarden_internal.sign('erasure list', t.entry), 'hex'))
                                  ORDER BY t.erased_at), '[]')
          FROM (SELECT e.erased_at, jsonb_build_object(
                           'certificate', memwarden_internal.erasure_statement(
                               e.org_id, e.erasure_id, e.erased_at, e.login_role, e.principal_id, e.subject_hash, e.reason_hash,
                                   e.items, e.versions,
                               e.requests, e.evidence, e.log_entries, e.layers, e.key_id, e.cause,
                   e.detail),
                           'certificate_signature', encode(e.signature, 'hex'),
                           'items', (SELECT coalesce(jsonb_agg(jsonb_build_object('org_id', i.org_id, 'item_id', i.item_id,
                           'versions', i.version_ids) ORDER BY i.item_id), '[]')
                                       FROM memwarden_data.erased_item AS i WHERE i.erasure_id = e.erasure_id),
                           'requests', (SELECT coalesce(jsonb_agg(r.request_id ORDER BY r.request_id), '[]')
                                          FROM memwarden_data.erased_request AS r WHERE r.erasure_id = e.erasure_id),
                           'evidence', (SELECT coalesce(jsonb_agg(d.evidence_id ORDER BY d.evidence_id), '[]')
                                          FROM memwarden_data.erased_evidence AS d WHERE d.erasure_id = e.erasure_id),
                           'reasons', (SELECT coalesce(jsonb_agg(jsonb_build_array(r.log_seq,
                           memwarden_internal.utc_text(r.recorded_at)) ORDER BY r.log_seq), '[]')
                                         FROM memwarden_data.erased_reason AS r WHERE r.erasure_id = e.erasure_id),
                           'keys', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', k.subject_key_id, 'generation', k.generation)
                           ORDER BY k.subject_key_id), '[]')
                                      FROM memwarden_data.destroyed_key AS k WHERE k.erasure_id = e.erasure_id),
                           'subjects', (SELECT coalesce(jsonb_agg(encode(s.subject_hash, 'hex') ORDER BY s.subject_hash), '[]')
                                          FROM memwarden_data.erased_subject AS s WHERE s.erasure_id = e.erasure_id),
                           'key_id', v_key_id) AS entry
                  FROM memwarden_data.erasure AS e
                 WHERE export_erasures.since IS NULL OR e.erased_at >= export_erasures.since) AS t);
END
$function$;
COMMENT ON FUNCTION memwarden.export_erasures IS
    'Returns the list of erasures as a JSON array, to be kept apart from the backups. apply_erasures() erases the same in a restored '
    'copy. The caller is a member of memwarden_admin. Each erasure is an object with the certificate and the numbers of items, '
    'versions, requests, evidence and log entries, signed. It holds no erased content and no reason. since: erasures from that '
    'moment on; all by default. Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.export_erasures TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden.apply_erasures(erasures jsonb, trust boolean DEFAULT false)
RETURNS TABLE (erasure_id uuid, signature text, items integer, requests integer, log_entries integer)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_entry jsonb;
BEGIN
    IF coalesce(jsonb_typeof(apply_erasures.erasures), '') <> 'array' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'erasures: what export_erasures() returns');
    END IF;
    PERFORM memwarden_internal.require_listed(t.entry, apply_erasures.trust)
        FROM jsonb_array_elements(apply_erasures.erasures) AS t (entry);
    -- Two lists at once would lock organisations each in an order of its own.
    PERFORM memwarden_internal.hold_table('memwarden_data.store_origin');
    FOR v_entry IN SELECT t.entry FROM jsonb_array_elements(apply_erasures.erasures) AS t (entry) LOOP
        RETURN QUERY SELECT a.erasure_id, a.signature, a.items, a.requests, a.log_entries
            FROM memwarden_internal.apply_erasure(v_entry) AS a;
    END LOOP;
    PERFORM memwarden_internal.note_origin();
END
$function$;
COMMENT ON FUNCTION memwarden.apply_erasures IS
    'Erases in a restored copy of the store what export_erasures() lists. Call it with the newest list, before anybody reads a copy '
    'that was restored from a backup. It erases whole items, with everything that was derived from them. What is erased already is '
    'left alone, so it may be called again. It erases everything or nothing. The call also records that this copy has seen a list, '
    'which status() asks for after a restore. Where there was no list, pass [] to say so. The caller is a member of memwarden_admin. '
    'erasures: the list of export_erasures(). trust: true also takes erasures that another master key signed, or none, and signs '
    'them anew; false by default. signature: whether this server signed the erasure. items, requests, log_entries: how many of each '
    'this call erased. Raises 22023 for what is no such list, 55000 for a list whose signature does not hold or, without trust, '
    'cannot be verified, 25001 at an isolation level other than READ COMMITTED, XX000 when something would be left. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter '
    '12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.apply_erasures TO memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_listed(p_entry jsonb, p_trust boolean)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_state text;
BEGIN
    IF NOT coalesce(jsonb_typeof(p_entry) = 'object' AND jsonb_typeof(p_entry -> 'certificate') = 'object'
                    AND p_entry #>> '{certificate,erasure}' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                    AND p_entry #>> '{certificate,org_id}' ~ '^[0-9]{1,18}$'
                    AND jsonb_typeof(p_entry -> 'items') = 'array' AND jsonb_typeof(p_entry -> 'requests') = 'array'
                    AND jsonb_typeof(p_entry -> 'evidence') = 'array' AND jsonb_typeof(p_entry -> 'reasons') = 'array', false) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'erasures: what export_erasures() returns');
    END IF;
    v_state := memwarden_internal.signature_state('erasure list', p_entry - 'signature', p_entry ->> 'key_id', p_entry ->> 'signature');
    IF v_state = 'FORGED' OR v_state <> 'GENUINE' AND memwarden_internal.log_key_id() IS NOT NULL AND NOT coalesce(p_trust, false) THEN
        PERFORM memwarden_internal.raise_error('erasure_untrusted', format('erasure %s: %s', p_entry #>> '{certificate,erasure}', v_state));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_listed IS
    'Raises 22023 unless it is an entry of the list of erasures, 55000 unless its signature holds. p_trust: none that '
    'can be verified is needed.';

CREATE OR REPLACE FUNCTION memwarden_internal.apply_erasure(p_entry jsonb)
RETURNS TABLE (erasure_id uuid, signature text, items integer, requests integer, log_entries integer)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_id       uuid := (p_entry #>> '{certificate,erasure}')::uuid;
    v_org_id   bigint := (p_entry #>> '{certificate,org_id}')::bigint;
    v_orgs     bigint[] := memwarden_internal.orgs_of(v_org_id);
    v_state    text := memwarden_internal.signature_state('erasure list', p_entry - 'signature', p_entry ->> 'key_id',
        p_entry ->> 'signature');
    v_items    uuid[];
    v_requests uuid[];
    v_evidence uuid[];
    v_reasons  bigint[];
BEGIN
    PERFORM memwarden_internal.hold_organisations(v_orgs);
    v_evidence := ARRAY(
        SELECT s.source_id FROM memwarden_internal.sources_among(
            v_orgs, ARRAY(SELECT q.id::uuid FROM jsonb_array_elements_text(p_entry -> 'evidence') AS q (id))) AS s);
    v_items := ARRAY(
        SELECT (i.item ->> 'item_id')::uuid FROM jsonb_array_elements(p_entry -> 'items') AS i (item)
         UNION
        SELECT memwarden_internal.citing_items(v_orgs, v_evidence));
    -- What was merely old has left what was made of it.
    IF NOT p_entry -> 'certificate' ? 'cause' THEN
        v_items := memwarden_internal.with_derived(v_orgs, v_items);
    END IF;
    -- Of those the ones that are here.
    v_items := ARRAY(SELECT DISTINCT v.item_id FROM memwarden_data.version AS v WHERE v.org_id = ANY (v_orgs)
        AND v.item_id = ANY (v_items));
    v_requests := ARRAY(
        SELECT r.request_id FROM memwarden_data.write_request AS r
         WHERE r.org_id = ANY (v_orgs)
           AND r.request_id = ANY (ARRAY(SELECT q.id::uuid FROM jsonb_array_elements_text(p_entry -> 'requests') AS q (id))
                                   || memwarden_internal.find_in_requests(v_orgs, v_items, v_evidence, '{}', '{}'))
           AND NOT EXISTS (SELECT FROM memwarden_data.erased_request AS e WHERE e.org_id = r.org_id AND e.request_id = r.request_id));
    -- A number alone may be another entry's, in a copy that went on from an earlier moment.
    v_reasons := ARRAY(
        SELECT l.log_seq FROM jsonb_array_elements(p_entry -> 'reasons') AS q (place)
          JOIN memwarden_data.log AS l ON l.log_seq = (q.place ->> 0)::bigint AND l.recorded_at = (q.place ->> 1)::timestamptz
         WHERE l.org_id = ANY (v_orgs) AND l.reason_hash IS NULL);
    PERFORM memwarden_internal.record_listed(p_entry, v_state = 'GENUINE');
    PERFORM memwarden_internal.erase_listed_subjects(
        v_org_id, v_id, (p_entry #>> '{certificate,erased_at}')::timestamptz, p_entry -> 'subjects');
    PERFORM memwarden_internal.destroy_listed_keys(
        v_org_id, v_id, p_entry -> 'keys', CASE WHEN p_entry -> 'certificate' ? 'cause' THEN v_items END);
    PERFORM memwarden_internal.carry_out_erasure(v_orgs, v_id, v_items, v_requests, v_evidence, v_reasons);
    RETURN QUERY SELECT v_id, v_state, cardinality(v_items), cardinality(v_requests), cardinality(v_reasons)
        + (SELECT count(*)::integer FROM memwarden_data.log AS l
            WHERE l.org_id = ANY (v_orgs) AND l.item_id = ANY (v_items) AND l.reason_hash IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.apply_erasure IS 'Carries out one erasure of a list, as far as there is anything of it here.';

CREATE OR REPLACE FUNCTION memwarden_internal.record_listed(p_entry jsonb, p_is_genuine boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_new    memwarden_data.erasure;
    v_key_id text := memwarden_internal.log_key_id();
BEGIN
    SELECT c.org_id, c.erasure, c.erased_at, c.login, c.principal_id, decode(c.subject_hash, 'hex'), '', decode(c.reason_hash, 'hex'),
           c.items, c.versions, c.requests, c.evidence, c.log_entries, c.layers, c.key_id,
               decode(p_entry ->> 'certificate_signature', 'hex'),
           memwarden_internal.system_identifier(), pg_current_xact_id(), coalesce(c.cause, 'ERASURE'), c.detail
      INTO v_new.org_id, v_new.erasure_id, v_new.erased_at, v_new.login_role, v_new.principal_id, v_new.subject_hash,
          v_new.reason, v_new.reason_hash,
           v_new.items, v_new.versions, v_new.requests, v_new.evidence, v_new.log_entries, v_new.layers, v_new.key_id, v_new.signature,
           v_new.system_identifier, v_new.transaction_id, v_new.cause, v_new.detail
      FROM jsonb_to_record(p_entry -> 'certificate') AS c (
               org_id bigint, erasure uuid, erased_at timestamptz, login text, principal_id bigint, subject_hash text,
                   reason_hash text, items integer,
               versions integer, requests integer, evidence integer, log_entries integer, layers text[], key_id text, cause text,
               detail jsonb);
    IF NOT p_is_genuine THEN
        v_new.key_id := v_key_id;
        v_new.signature := memwarden_internal.sign('erasure', memwarden_internal.erasure_statement(
            v_new.org_id, v_new.erasure_id, v_new.erased_at, v_new.login_role, v_new.principal_id, v_new.subject_hash,
                v_new.reason_hash, v_new.items,
            v_new.versions, v_new.requests, v_new.evidence, v_new.log_entries, v_new.layers, v_key_id, v_new.cause,
            v_new.detail));
    END IF;
    INSERT INTO memwarden_data.erasure AS e SELECT (v_new).*
    ON CONFLICT ON CONSTRAINT erasure_pkey DO UPDATE SET system_identifier = excluded.system_identifier,
        transaction_id = excluded.transaction_id;
    -- Also of what is not here: the next copy may come from a backup that has it.
    INSERT INTO memwarden_data.erased_item (org_id, item_id, erasure_id, version_ids, key_id, signature)
    SELECT i.org_id, i.item_id, v_new.erasure_id, i.versions, v_key_id, memwarden_internal.sign(
               'erased item', memwarden_internal.erased_item_statement(i.org_id, i.item_id, v_new.erasure_id, i.versions, v_key_id))
      FROM jsonb_to_recordset(p_entry -> 'items') AS i (org_id bigint, item_id uuid, versions uuid[])
    ON CONFLICT ON CONSTRAINT erased_item_pkey DO NOTHING;
    INSERT INTO memwarden_data.erased_request (org_id, request_id, erasure_id)
    SELECT v_new.org_id, q.id::uuid, v_new.erasure_id FROM jsonb_array_elements_text(p_entry -> 'requests') AS q (id)
     WHERE NOT EXISTS (SELECT FROM memwarden_data.write_request AS r WHERE r.request_id = q.id::uuid)
    ON CONFLICT ON CONSTRAINT erased_request_pkey DO NOTHING;
    INSERT INTO memwarden_data.erased_evidence (org_id, evidence_id, erasure_id)
    SELECT v_new.org_id, q.id::uuid, v_new.erasure_id FROM jsonb_array_elements_text(p_entry -> 'evidence') AS q (id)
     WHERE NOT EXISTS (SELECT FROM memwarden_data.evidence AS e WHERE e.evidence_id = q.id::uuid)
    ON CONFLICT ON CONSTRAINT erased_evidence_pkey DO NOTHING;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_listed IS
    'Takes a certificate of a list over, with what it erased, and opens the guards of history to this transaction. What '
    'this server did not sign it signs now.';
