-- On a replica nothing can be appended. Whoever recalled there says so afterwards, on the primary, in its own name.
CREATE OR REPLACE FUNCTION memwarden.record_recalls(recalls json)
RETURNS TABLE (recall_id uuid, recorded boolean, fault text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_org_id bigint := (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = v_principal_id);
    v_given  json;
BEGIN
    IF json_typeof(record_recalls.recalls) IS DISTINCT FROM 'array' OR json_array_length(record_recalls.recalls) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'recalls: an array of at most 1,000 objects');
    END IF;
    FOR v_given IN SELECT e.recall FROM json_array_elements(record_recalls.recalls) WITH ORDINALITY AS e (recall, place) ORDER BY e.place
    LOOP
        recall_id := NULL;
        recorded := NULL;
        fault := NULL;
        detail := NULL;
        BEGIN
            SELECT r.recall_id, r.recorded INTO recall_id, recorded
              FROM memwarden_internal.record_recall(v_principal_id, v_org_id, v_given) AS r;
        EXCEPTION WHEN data_exception THEN
            -- One that cannot be recorded harms no other.
            fault := SQLSTATE;
            GET STACKED DIAGNOSTICS detail := PG_EXCEPTION_DETAIL;
        END;
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.record_recalls IS
    'Appends recalls that the caller made where it could not write, as on a replica. The log marks them as reported. '
    'It keeps an HMAC of the query, and leaves out memories that the caller does not read. recalls: at most 1,000 '
    'objects of {"recall_id", "purpose", "query", "task", "session_id", "scopes", "layers", "k", "threshold", '
    '"embedding_model", "item_ids", "version_ids", "scores"}. The "recall_id" is a new UUID version 7 of the moment '
    'of the recall, at most a day ago. The "purpose" is recall, context or push. Returns one row for each recall, in '
    'that order. recorded: false for an id that was recorded before, so that it is safe to send recalls again. fault, detail: '
    '22023 for a malformed recall, and what is wrong with it; the others are recorded. Raises 28000 without an identity; 22023 for '
    'anything but such an array. Source: Z4.';
GRANT EXECUTE ON FUNCTION memwarden.record_recalls TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;

CREATE OR REPLACE FUNCTION memwarden_internal.record_recall(
    p_principal_id bigint, p_org_id bigint, p_recall json, OUT recall_id uuid, OUT recorded boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_recall record;
    v_given  record;
BEGIN
    v_recall := memwarden_internal.reported_recall(p_recall);
    PERFORM memwarden_internal.check_reported_recall(v_recall.recall_id, v_recall.purpose, v_recall.item_ids, v_recall.version_ids,
        v_recall.scores, clock_timestamp());
    v_given := memwarden_internal.readable_given(p_principal_id, v_recall.item_ids, v_recall.version_ids, v_recall.scores);
    INSERT INTO memwarden_data.recall_log AS l (
        org_id, recall_id, principal_id, login, recalled_at, transaction_id, system_identifier, purpose, task, session_id,
        query_digest, scopes, layers, k, threshold, embedding_model, item_ids, version_ids, scores, reported)
    VALUES (p_org_id, v_recall.recall_id, p_principal_id, session_user, memwarden_internal.uuid7_time(v_recall.recall_id),
            pg_current_xact_id(), memwarden_internal.system_identifier(), v_recall.purpose,
            CASE WHEN v_recall.task IS NOT NULL THEN memwarden_internal.recordable_task(p_org_id, v_recall.task) END,
            v_recall.session_id, memwarden_internal.query_digest(p_org_id, v_recall.query),
            -- Names that there are, and no other words.
            (SELECT array_agg(s.path) FROM memwarden_data.scope AS s
              WHERE s.path = ANY (v_recall.scopes) AND memwarden_internal.may_read(p_principal_id, s.scope_id)),
            (SELECT array_agg(y.layer) FROM memwarden_data.layer AS y WHERE y.layer = ANY (v_recall.layers)), v_recall.k,
            v_recall.threshold,
            (SELECT m.name FROM memwarden_data.embedding_model AS m WHERE m.name = v_recall.embedding_model), v_given.item_ids,
            v_given.version_ids, v_given.scores, true)
    ON CONFLICT ON CONSTRAINT recall_log_pkey DO NOTHING;
    recall_id := v_recall.recall_id;
    recorded := FOUND;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_recall IS
    'Appends one recall that record_recalls() was given. Raises 22023 for what is malformed.';

CREATE OR REPLACE FUNCTION memwarden_internal.reported_recall(
    p_recall json, OUT recall_id uuid, OUT purpose text, OUT task text, OUT session_id uuid, OUT query text, OUT scopes text[],
    OUT layers text[], OUT k integer, OUT threshold double precision, OUT embedding_model text, OUT item_ids uuid[],
    OUT version_ids uuid[], OUT scores real[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF json_typeof(p_recall) IS DISTINCT FROM 'object' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'recalls: an array of objects');
    END IF;
    BEGIN
        SELECT r.* INTO recall_id, purpose, task, session_id, query, scopes, layers, k, threshold, embedding_model, item_ids,
               version_ids, scores
          FROM jsonb_to_record(p_recall::jsonb) AS r (
               recall_id uuid, purpose text, task text, session_id uuid, query text, scopes text[], layers text[], k integer,
               threshold double precision, embedding_model text, item_ids uuid[], version_ids uuid[], scores real[]);
    EXCEPTION WHEN data_exception THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'recalls: ids are UUIDs, k an integer, threshold and scores '
            'numbers, lists arrays, and text has no NUL');
    END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reported_recall IS
    'One recall of record_recalls() as a row. Raises 22023 for what is malformed.';

CREATE OR REPLACE FUNCTION memwarden_internal.uuid7_time(p_id uuid)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
RETURN to_timestamp(('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
COMMENT ON FUNCTION memwarden_internal.uuid7_time IS 'When a UUID version 7 was made, to the millisecond.';

CREATE OR REPLACE FUNCTION memwarden_internal.check_reported_recall(
    p_recall_id uuid, p_purpose text, p_item_ids uuid[], p_version_ids uuid[], p_scores real[], p_now timestamptz)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_count integer := cardinality(coalesce(p_item_ids, '{}'));
BEGIN
    -- The month of a recall is that of its id: nobody chooses another.
    IF p_recall_id IS NULL OR p_recall_id::text !~ E'^.{14}7.{4}[89ab]'
       OR memwarden_internal.uuid7_time(p_recall_id) NOT BETWEEN p_now - interval '1 day' AND p_now + interval '1 minute' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'recall_id: a UUID version 7 of the last day');
    ELSIF p_purpose IS NULL OR p_purpose NOT IN ('recall', 'context', 'push') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'purpose: recall, context or push');
    ELSIF v_count > 1000 OR cardinality(coalesce(p_version_ids, '{}')) <> v_count OR cardinality(coalesce(p_scores, '{}')) <> v_count
          OR NOT memwarden_internal.is_list(p_item_ids) OR NOT memwarden_internal.is_list(p_version_ids) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'item_ids, version_ids and scores: at most 1,000 and as many of each');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.check_reported_recall IS 'Raises 22023 for a recall that record_recalls() cannot take.';

CREATE OR REPLACE FUNCTION memwarden_internal.readable_given(
    p_principal_id bigint, p_item_ids uuid[], p_version_ids uuid[], p_scores real[],
    OUT item_ids uuid[], OUT version_ids uuid[], OUT scores real[])
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_orgs   bigint[] := memwarden_internal.visible_orgs();
    v_labels integer[] := memwarden_internal.readable_labels(p_principal_id);
BEGIN
    SELECT coalesce(array_agg(g.item_id ORDER BY g.place), '{}'), coalesce(array_agg(g.version_id ORDER BY g.place), '{}'),
           coalesce(array_agg(g.score ORDER BY g.place), '{}')
      INTO item_ids, version_ids, scores
      FROM (SELECT DISTINCT ON (u.item_id) u.item_id, u.version_id, u.score, u.place
              FROM unnest(p_item_ids, p_version_ids, p_scores) WITH ORDINALITY AS u (item_id, version_id, score, place)
              JOIN memwarden_data.item AS i ON i.org_id = ANY (v_orgs) AND i.item_id = u.item_id
             WHERE memwarden_internal.may_read(p_principal_id, i.scope_id)
               AND (CASE WHEN i.principal_id = p_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels)
               AND EXISTS (SELECT FROM memwarden_data.version AS v
                            WHERE v.org_id = i.org_id AND v.item_id = i.item_id AND v.version_id = u.version_id)
             ORDER BY u.item_id, u.place) AS g;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.readable_given IS
    'What was given, as far as it is there and the principal reads it; each memory once.';
