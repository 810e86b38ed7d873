-- Where a record belongs is signed with it, and said by the columns beside it: the columns are enough. A mark stays, by
-- which a record that was moved is told from one that was altered. Its ids, hashes and numbers have columns too, and what
-- nearly all records say alike is left out.
CREATE OR REPLACE FUNCTION memwarden_internal.place_mark(
    p_item_id uuid, p_version_id uuid, p_provenance_id uuid, p_event text, p_recorded_at timestamptz)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN encode(substr(sha256(uuid_send(p_item_id) || uuid_send(p_version_id) || uuid_send(p_provenance_id)
    || convert_to(p_event || memwarden_internal.utc_text(p_recorded_at), 'UTF8')), 1, 6), 'hex');
COMMENT ON FUNCTION memwarden_internal.place_mark IS
    'Twelve characters for where a record of provenance belongs. No secret: the signature vouches for the place.';

CREATE OR REPLACE FUNCTION memwarden_internal.whole_record(
    p_record jsonb, p_item_id uuid, p_version_id uuid, p_provenance_id uuid, p_event text, p_recorded_at timestamptz,
    p_request_id uuid, p_supersedes uuid, p_content_hash bytea, p_agent_confidence numeric, p_fact_score numeric,
    p_validation_score numeric, p_adjusted_confidence numeric, p_authority numeric)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_record ? 'place' AND NOT p_record ? 'provenance_id' THEN jsonb_build_object(
    'provenance_id', p_provenance_id, 'event', p_event, 'item_id', p_item_id, 'version_id', p_version_id,
    'recorded_at', memwarden_internal.utc_text(p_recorded_at), 'request_id', p_request_id, 'supersedes', p_supersedes,
    'content_hash', encode(p_content_hash, 'hex'), 'agent_confidence', p_agent_confidence, 'fact_score', p_fact_score,
    'validation_score', p_validation_score, 'adjusted_confidence', p_adjusted_confidence, 'authority', p_authority,
    'judged', '[]'::jsonb, 'origin', '{}'::jsonb, 'approval_state', 'NOT_REQUIRED', 'sensitivity', 'none')
    -- What the record says itself comes last: whoever adds to it alters it.
    || (p_record - 'place') ELSE p_record END;
COMMENT ON FUNCTION memwarden_internal.whole_record IS
    'A stored record of provenance with what the columns beside it say: what the signature covers. Records of release 0.1.0 '
    'hold all of it themselves.';

CREATE OR REPLACE FUNCTION memwarden_internal.kept_record(p_record jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN p_record - '{provenance_id,event,item_id,version_id,recorded_at,request_id,supersedes,content_hash,agent_confidence,fact_score,'
    'validation_score,adjusted_confidence,authority}'::text[]
    - ARRAY[CASE WHEN p_record -> 'judged' = '[]' THEN 'judged' END, CASE WHEN p_record -> 'origin' = '{}' THEN 'origin' END,
            CASE WHEN p_record ->> 'approval_state' = 'NOT_REQUIRED' THEN 'approval_state' END,
            CASE WHEN p_record ->> 'sensitivity' = 'none' THEN 'sensitivity' END];
COMMENT ON FUNCTION memwarden_internal.kept_record IS
    'A record of provenance without what whole_record() adds: what has a column, and what nearly all records say alike.';

CREATE OR REPLACE FUNCTION memwarden_internal.record_provenance(
    p_org_id bigint, p_scope_id bigint, p_item_id uuid, p_version_id uuid, p_previous_version_id uuid,
    p_event text, p_record jsonb, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_id        uuid := memwarden_internal.uuid7();
    v_kept      jsonb := memwarden_internal.kept_record(p_record)
        || jsonb_build_object('place', memwarden_internal.place_mark(p_item_id, p_version_id, v_id, p_event, p_now));
    v_of        record;
    v_record    jsonb;
    v_signature bytea;
BEGIN
    -- What the record says in columns, and the key, in one: a new connection plans each statement.
    SELECT (p_record ->> 'request_id')::uuid AS request_id, decode(p_record ->> 'content_hash', 'hex') AS content_hash,
           (p_record ->> 'agent_confidence')::numeric AS agent_confidence, (p_record ->> 'fact_score')::numeric AS fact_score,
           (p_record ->> 'validation_score')::numeric AS validation_score,
           (p_record ->> 'adjusted_confidence')::numeric AS adjusted_confidence, (p_record ->> 'authority')::numeric AS authority,
           k.key_id, k.wrapped, k.created_at
      INTO v_of
      FROM (SELECT) AS one
      LEFT JOIN memwarden_data.signing_key AS k ON k.purpose = 'provenance' AND k.retired_at IS NULL;
    v_record := memwarden_internal.whole_record(
        v_kept, p_item_id, p_version_id, v_id, p_event, p_now, v_of.request_id, p_previous_version_id, v_of.content_hash,
        v_of.agent_confidence, v_of.fact_score, v_of.validation_score, v_of.adjusted_confidence, v_of.authority);
    -- The text of a jsonb value is one form whatever it was made of, and the same after a dump.
    v_signature := memwarden_internal.sign_text(v_of.wrapped, 'provenance', v_record::text);
    IF v_signature = '' THEN
        -- Restored under another master key: the keys that came along sign no more, and verify again where theirs is back.
        PERFORM memwarden_internal.replace_signing_key('provenance', v_of.created_at + interval '1 microsecond');
        SELECT k.key_id, k.wrapped INTO v_of.key_id, v_of.wrapped
          FROM memwarden_data.signing_key AS k WHERE k.purpose = 'provenance' AND k.retired_at IS NULL;
        v_signature := memwarden_internal.sign_text(v_of.wrapped, 'provenance', v_record::text);
    END IF;
    INSERT INTO memwarden_data.provenance (
        org_id, scope_id, item_id, version_id, provenance_id, event, recorded_at, record, key_id, signature, request_id, supersedes,
        content_hash, agent_confidence, fact_score, validation_score, adjusted_confidence, authority)
    VALUES (
        p_org_id, p_scope_id, p_item_id, p_version_id, v_id, p_event, p_now, v_kept,
        CASE WHEN v_signature IS NOT NULL THEN v_of.key_id END, v_signature, v_of.request_id, p_previous_version_id,
        v_of.content_hash, v_of.agent_confidence, v_of.fact_score, v_of.validation_score, v_of.adjusted_confidence, v_of.authority);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_provenance IS
    'Completes a record of provenance with where it belongs, signs it with the key of today and stores it. Source: chapter 12.4.5.';

CREATE OR REPLACE FUNCTION memwarden_internal.restated(p_grounds jsonb, p_own jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT coalesce(jsonb_agg(CASE WHEN p_own @> jsonb_build_array(g.e) OR NOT g.e ? 'held' THEN g.e ELSE g.e || '{"restated": true}' END
                          ORDER BY g.place), '[]')
  FROM jsonb_array_elements(p_grounds) WITH ORDINALITY AS g (e, place)
$function$;
COMMENT ON FUNCTION memwarden_internal.restated IS
    'Evidence that bore out other words than those it stands beside now: what of it is not among p_own is marked, and makes no standing.';

CREATE OR REPLACE FUNCTION memwarden_internal.merged_record(p_org_id bigint, p_version_id uuid, p_record jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_old record;
BEGIN
    SELECT p.provenance_id, p.record INTO v_old
      FROM memwarden_data.whole_provenance AS p WHERE p.org_id = p_org_id AND p.version_id = p_version_id
     ORDER BY p.provenance_id DESC LIMIT 1;
    IF v_old.record IS NULL THEN
        RETURN p_record;
    END IF;
    -- What it is worth stays what its own evidence makes it: the words are new, and no old memory vouches for what they add.
    RETURN p_record || jsonb_build_object(
        'restates', jsonb_build_array(v_old.provenance_id),
        'evidence', memwarden_internal.evidence_union(
            memwarden_internal.restated(v_old.record -> 'evidence', p_record -> 'evidence'), p_record -> 'evidence'),
        'agent_confidence', greatest((v_old.record ->> 'agent_confidence')::double precision,
        (p_record ->> 'agent_confidence')::double precision));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.merged_record IS
    'The record of a write that a memory grows by: its own, with the evidence of the version before beside it, and the '
    'greater confidence that agents have said. Source: chapter 12.3.4.';

CREATE OR REPLACE FUNCTION memwarden_internal.restate_provenance(
    p_org_id bigint, p_item_id uuid, p_version_id uuid, p_previous_version_id uuid, p_source_id uuid, p_absorbed_id uuid, p_united jsonb,
    p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- What numbers become as JSON, the caller's session must not say.
SET extra_float_digits = 1
AS $function$
DECLARE
    v_source   record;
    v_absorbed record;
BEGIN
    SELECT p.scope_id, p.provenance_id, p.record INTO v_source
      FROM memwarden_data.whole_provenance AS p WHERE p.org_id = p_org_id AND p.version_id = p_source_id
     ORDER BY p.provenance_id DESC LIMIT 1;
    SELECT p.provenance_id, p.record INTO v_absorbed
      FROM memwarden_data.whole_provenance AS p WHERE p.org_id = p_org_id AND p.version_id = p_absorbed_id
     ORDER BY p.provenance_id DESC LIMIT 1;
    IF v_source.record IS NULL THEN
        -- Nothing is known of it: verify_provenance() says so of its source as well.
        RETURN;
    END IF;
    -- What a sweep said of the version before it has not said of this one. What others say against these words stays.
    v_source.record := v_source.record - 'lowered' || CASE
        WHEN (v_source.record -> 'lowered') - 'found_false' <> '[]'
        THEN jsonb_build_object('lowered', (v_source.record -> 'lowered') - 'found_false') ELSE '{}' END;
    PERFORM memwarden_internal.record_provenance(
        p_org_id, v_source.scope_id, p_item_id, p_version_id, p_previous_version_id, 'RESTATE',
        v_source.record || jsonb_build_object('restates', jsonb_build_array(v_source.provenance_id))
        || CASE WHEN v_absorbed.record IS NULL THEN '{}' ELSE jsonb_build_object(
               'restates', jsonb_build_array(v_source.provenance_id, v_absorbed.provenance_id),
               'evidence', memwarden_internal.evidence_union(v_source.record -> 'evidence', memwarden_internal.restated(
                   v_absorbed.record -> 'evidence', v_source.record -> 'evidence')),
               'evidence_quality', memwarden_internal.evidence_quality(
                   memwarden_internal.evidence_union(v_source.record -> 'evidence', v_absorbed.record -> 'evidence')),
               'agent_confidence', greatest((v_source.record ->> 'agent_confidence')::double precision,
               (v_absorbed.record ->> 'agent_confidence')::double precision),
               'adjusted_confidence', greatest((v_source.record ->> 'adjusted_confidence')::double precision,
               (v_absorbed.record ->> 'adjusted_confidence')::double precision),
               'authority', greatest((v_source.record ->> 'authority')::double precision,
               (v_absorbed.record ->> 'authority')::double precision)) END
        -- Words that neither said alone are believed no more than the half that is believed less.
        || CASE WHEN p_united -> 'fields' <> '{}' THEN jsonb_build_object(
               'content_hash', p_united -> 'content_hash',
               'merged', jsonb_build_object('item_id', p_united -> 'item_id', 'version_id', p_absorbed_id, 'fields', p_united -> 'fields'),
               'adjusted_confidence', least((v_source.record ->> 'adjusted_confidence')::double precision,
               coalesce((v_absorbed.record ->> 'adjusted_confidence')::double precision, 0)),
               'authority', least((v_source.record ->> 'authority')::double precision,
               coalesce((v_absorbed.record ->> 'authority')::double precision, 0)),
               'sensitivity', (SELECT CASE WHEN bool_or(x.level = 'high') THEN 'high' WHEN bool_or(x.level = 'suspicious')
               THEN 'suspicious' ELSE 'none' END
                                 FROM unnest(ARRAY[v_source.record ->> 'sensitivity', v_absorbed.record ->> 'sensitivity',
                                     p_united ->> 'sensitivity']) AS x (level)))
               ELSE '{}' END,
        p_now);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.restate_provenance IS
    'The provenance of a version that says again what another said, with what it absorbed: theirs, named in restates. '
    'p_united: as append_version() takes it.';

CREATE OR REPLACE FUNCTION memwarden_internal.trust_of_version(p_org_id bigint, p_version_id uuid)
RETURNS TABLE (adjusted_confidence double precision, authority double precision, sensitivity text, standing text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 1
AS $function$
BEGIN
    RETURN QUERY
    SELECT (p.record ->> 'adjusted_confidence')::double precision, (p.record ->> 'authority')::double precision,
           -- What a later look found weighs as much as what was found at the write.
           CASE WHEN 'high' IN (p.record ->> 'sensitivity', s.sensitivity) THEN 'high'
                WHEN 'suspicious' IN (p.record ->> 'sensitivity', s.sensitivity) THEN 'suspicious' ELSE 'none' END,
           memwarden_internal.standing_of(p.record)
      FROM memwarden_data.whole_provenance AS p
      LEFT JOIN memwarden_data.sensitivity_scan AS s ON s.org_id = p.org_id AND s.item_id = p.item_id AND s.version_id = p.version_id
     WHERE p.org_id = p_org_id AND p.version_id = p_version_id
     ORDER BY p.provenance_id DESC LIMIT 1;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.trust_of_version IS
    'What the latest record of a version makes of it: adjusted confidence, authority, sensitivity and standing; nulls where there '
    'is none.';
