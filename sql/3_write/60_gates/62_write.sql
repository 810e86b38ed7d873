CREATE OR REPLACE FUNCTION memwarden.write(
    layer text,
    content jsonb,
    subject text DEFAULT NULL,
    predicate text DEFAULT NULL,
    scope text DEFAULT NULL,
    confidence double precision DEFAULT NULL,
    evidence jsonb DEFAULT '[]',
    embedding real[] DEFAULT NULL,
    ttl interval DEFAULT NULL,
    deadline timestamptz DEFAULT NULL,
    idempotency_key text DEFAULT NULL,
    request_id uuid DEFAULT NULL,
    kind text DEFAULT NULL,
    importance double precision DEFAULT NULL,
    valid_from timestamptz DEFAULT NULL,
    valid_to timestamptz DEFAULT NULL,
    embedding_model text DEFAULT NULL,
    trace_id text DEFAULT NULL,
    classification text DEFAULT NULL,
    domains text[] DEFAULT NULL,
    attributes jsonb DEFAULT NULL,
    origin jsonb DEFAULT NULL,
    class text DEFAULT NULL,
    justification text DEFAULT NULL,
    corrects uuid DEFAULT NULL)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- For every gate behind it: planning their small queries anew takes longer than running them.
SET plan_cache_mode = force_generic_plan
-- A plan made while a table was empty stays until its next ANALYZE: what is looked up by key is looked up by an index.
SET enable_seqscan = off
SET jit = off
-- What numbers become as JSON, the caller's session must not say.
SET extra_float_digits = 1
-- It looks for the caller's request ids itself; see gate_identity().
SET memwarden.ids_are_new = 'on'
AS $function$
DECLARE
    v_asked_at     timestamptz := clock_timestamp();
    v_principal_id bigint := memwarden_internal.enter();
    v_request_id   uuid;
    v_result       memwarden_internal.write_result;
    v_fault        text;
    v_kept         jsonb;
    v_is_busy      boolean;
    v_names        jsonb := jsonb_build_object('scope', write.scope, 'layer', write.layer, 'kind', write.kind, 'class', write.class,
                                               'classification', write.classification, 'embedding_model', write.embedding_model);
BEGIN
    FOR v_attempt IN 1..3 LOOP
        BEGIN
            IF write.corrects IS NOT NULL THEN
                v_kept := memwarden_internal.corrected(v_principal_id, write.corrects);
            END IF;
            IF write.request_id IS NULL THEN
                v_request_id := memwarden_internal.uuid7();
            ELSE
                v_request_id := memwarden_internal.storable_request_id(write.request_id);
            END IF;
            IF write.request_id IS NOT NULL AND memwarden_internal.stored_requests(ARRAY[write.request_id]) IS NOT NULL THEN
                RETURN memwarden_internal.tell_result(v_principal_id, memwarden_internal.replayed(
                    v_request_id, v_principal_id, write.layer, coalesce(write.scope, v_kept ->> 'scope'),
                        coalesce(write.subject, v_kept ->> 'subject'),
                    coalesce(write.predicate, v_kept ->> 'predicate'), write.corrects, write.content::text), v_names);
            END IF;
            IF v_attempt = 1
               AND num_nonnulls(write.subject, write.predicate, write.deadline, write.idempotency_key, write.kind, write.valid_from,
                                write.valid_to, write.embedding_model, write.classification, write.domains, write.attributes,
                                write.origin, write.class, write.justification, write.corrects) = 0
               AND write.content IS NOT NULL
               AND memwarden_internal.is_plain_write(write.evidence, write.confidence, write.importance, write.trace_id)
               AND (write.request_id IS NULL OR write.request_id = v_request_id) THEN
                v_result := memwarden_internal.write_alone(
                    v_principal_id, v_request_id, write.layer, write.scope, write.content, write.confidence, write.importance,
                    write.evidence, write.embedding, write.ttl, write.trace_id, v_asked_at);
                IF v_result.request_id IS NOT NULL THEN
                    RETURN v_result;
                END IF;
                v_is_busy := v_result.outcome IS NOT NULL;
            END IF;
            PERFORM memwarden_internal.ready_python();
            INSERT INTO memwarden_data.write_request AS r (
                request_id, layer, scope_path, kind, subject, predicate, content, evidence, confidence, importance,
                embedding, embedding_model, ttl, valid_from, valid_to, deadline, idempotency_key, trace_id,
                classification, domains, attributes, origin, class, justification, corrects, submitted_at, intake_fault)
            VALUES (
                v_request_id, write.layer, coalesce(write.scope, v_kept ->> 'scope'), coalesce(write.kind, v_kept ->> 'kind'),
                coalesce(write.subject, v_kept ->> 'subject'), coalesce(write.predicate, v_kept ->> 'predicate'), write.content::text,
                write.evidence, write.confidence, write.importance, write.embedding, write.embedding_model, write.ttl,
                write.valid_from, write.valid_to, write.deadline, write.idempotency_key, write.trace_id,
                write.classification, write.domains, write.attributes, write.origin, coalesce(write.class, v_kept ->> 'class'),
                    write.justification, write.corrects, v_asked_at,
                CASE WHEN v_request_id <> write.request_id THEN 'INVALID_REQUEST_ID'
                     WHEN v_is_busy AND v_attempt = 1 THEN 'SCOPE_BUSY' END)
            RETURNING r.request_id, r.outcome, r.item_id, r.version_id, r.gate, r.reason, r.detail, r.retry_at INTO v_result;
            IF v_result.reason IS NOT NULL THEN
                RETURN memwarden_internal.tell_result(v_principal_id, v_result, v_names);
            END IF;
            RETURN v_result;
        EXCEPTION
            WHEN lock_not_available OR deadlock_detected THEN
                -- What it had locked is free again, so whoever waited for that goes first.
                CONTINUE;
            WHEN OTHERS OR assert_failure THEN
                -- The request is recorded even when a gate failed on it.
                IF v_request_id IS NULL OR NOT memwarden_internal.is_request_fault(SQLSTATE) THEN
                    RAISE;
                END IF;
                v_fault := SQLSTATE;
        END;
        EXIT;
    END LOOP;
    IF v_fault IS NULL THEN
        PERFORM memwarden_internal.raise_error('store_busy', format('request %s', coalesce(v_request_id, write.request_id)));
    END IF;
    RETURN memwarden_internal.record_fault(
        v_request_id, write.layer, write.scope, 'GATE_FAULT', v_fault, write.subject, write.predicate, write.corrects, write.content::text);
END
$function$;
COMMENT ON FUNCTION memwarden.write IS
    'Writes one memory through every gate and returns the outcome. A refused write is a result with a reason (see '
    'reasons()). It is recorded, and never an exception. layer: working, session, episodic, semantic, procedural or '
    'durable. content: any JSON but an empty one, at most 1 MiB. subject, predicate: what the content is about; '
    'together they are the key of a fact, and a second value becomes its next version. scope: a path; default the '
    'agent''s home. confidence, importance: 0 to 1. evidence: array of {"type", "uri", ...}. embedding: as many '
    'numbers as embedding_model has; without it memwarden embeds the words, or, where the layer''s embedding is '
    'worker, the write is DEFERRED until the worker has made a vector. embedding_model: the model of embedding; '
    'default the active model (see active_embedding_model()), as shipped one of 384 numbers. ttl: how long to '
    'remember; default that of the layer; a newer value of what another wrote lives no shorter than that would have. '
    'deadline: the write is not committed later than this. idempotency_key: at '
    'most one write for each key within the layer''s idempotency_window, 24 hours by default. request_id: a UUIDv7 of '
    'the caller''s, at most 24 hours old; the same id again answers with the first outcome; with another content, '
    'subject, predicate, layer or scope it is REJECTED, REQUEST_ID_REUSED. kind: which registered schema. valid_from, '
    'valid_to: from when to when it is true in the world; without valid_from since it is written, or since the words were said that '
    'bear it out, where it cites evidence, captures or memories that the store holds. trace_id: kept with the request. '
    'classification: public, '
    'internal (default), confidential or restricted. domains: subject areas. attributes: {"name": value}, as '
    'define_attribute() declares them. origin: how it came about, {"kind", "agent_version", "task", "session", '
    '"trigger", "decision", "workflow", "retrieval_query", "retrieval_scores"}; all optional. class: a write class '
    '(evidence_link, preference, decision_outcome, correction, or one of the organisation''s), with its own '
    'retention, consent and writers; see the view write_classes. justification: why to remember it, at most 4,000 '
    'characters; for the human who decides, where one is asked. corrects: the item_id of a current memory of that '
    'layer that this agent wrote last; content becomes its next version; scope, kind, class, subject and predicate '
    'stay as they are where they are left out. Classification, domains and attributes together decide who sees the '
    'memory. None may exceed what the writer is cleared for. A new version of a memory never lowers its '
    'classification, and keeps its domains. A write that ends another value is COMMITTED with the reason REPLACED; its '
    'detail has that value and the call that takes the write back. A request that asks a human is DEFERRED until somebody decides about it '
    'in review_queue(): see await_decision(). outcome: COMMITTED, MERGED, ALREADY_COMMITTED, REJECTED, DEFERRED or '
    'DEADLINE_EXCEEDED. Raises 28000 without an identity; 25001 at an isolation level other than READ COMMITTED; '
    '55000 before setup(); 55P03 when a table was locked for longer than lock_timeout. Source: chapter 12.1.3.';
GRANT EXECUTE ON FUNCTION memwarden.write TO memwarden_agent, memwarden_curator;

-- A request that a gate could not digest is stored by itself, without what the gate choked on.
CREATE OR REPLACE FUNCTION memwarden_internal.record_fault(
    p_request_id uuid, p_layer text, p_scope text, p_code text, p_detail text, p_subject text, p_predicate text, p_corrects uuid,
        p_content text)
RETURNS memwarden_internal.write_result
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_result memwarden_internal.write_result;
BEGIN
    IF p_request_id IS NOT NULL AND memwarden_internal.stored_requests(ARRAY[p_request_id]) IS NOT NULL THEN
        RETURN memwarden_internal.replayed(
            p_request_id, memwarden_internal.current_principal(), p_layer, p_scope, p_subject, p_predicate, p_corrects, p_content);
    END IF;
    INSERT INTO memwarden_data.write_request AS r (request_id, layer, scope_path, content, intake_fault)
    VALUES (memwarden_internal.storable_request_id(p_request_id), p_layer, p_scope, NULL, p_code || ' ' || p_detail)
    RETURNING r.request_id, r.outcome, r.item_id, r.version_id, r.gate, r.reason, r.detail, r.retry_at INTO v_result;
    RETURN v_result;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_fault IS
    'Records a request whose arguments or gates failed; the schema gate rejects it with the code. What it asked for is '
    'compared, not kept: another at the same moment may have its id.';
