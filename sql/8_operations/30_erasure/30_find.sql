-- Where a person can be named: one function a place. A table that is new gets its function here, is asked in
-- found_items() or erasure_extent(), and its rows go in 40_erase_places.sql; tests/operations/erasure/test_every_column.py wants each.
-- p_among: of which rows alone; of all where it is NULL. Few of many are found by an index: a plan of its own each time.
CREATE OR REPLACE FUNCTION memwarden_internal.find_in_versions(p_orgs bigint[], p_subjects text[], p_terms text[], p_among uuid[])
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    -- Items, timeline and vectors say nothing that no version says.
    RETURN QUERY
    SELECT DISTINCT v.item_id
      FROM memwarden_data.said_version AS v
      LEFT JOIN memwarden_data.label AS l ON l.label_id = v.label_id
     WHERE v.org_id = ANY (p_orgs) AND (p_among IS NULL OR v.item_id = ANY (p_among))
       AND (v.subject = ANY (p_subjects)
            -- Whose words of a capture it rests on.
            OR ARRAY(SELECT s.name #>> '{}' FROM jsonb_path_query(v.evidence, 'lax $[*].recorded.speaker') AS s (name)) && p_subjects
            OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[
                   v.content::text, v.subject, v.predicate, v.kind, array_to_string(l.domains, chr(10))],
                   ARRAY[memwarden_internal.said_in_evidence(v.evidence)::text, l.attributes::text]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_versions IS
    'Items one of whose versions, past or present, has one of the subjects or names one of the terms.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_provenance(p_orgs bigint[], p_terms text[], p_among uuid[])
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT p.item_id
      FROM memwarden_data.provenance AS p
     WHERE p.org_id = ANY (p_orgs) AND p_terms <> '{}'
       AND (p_among IS NULL OR p.version_id = ANY (ARRAY(
               SELECT v.version_id FROM memwarden_data.version AS v WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_among))))
       AND memwarden_internal.mentions(p_terms, '{}', ARRAY[memwarden_internal.said_in_record(p.record)::text]);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_provenance IS 'Items whose provenance names one of the terms.';

-- What was taken out of a content and encrypted is looked at in clear, by nobody but the engine.
CREATE OR REPLACE FUNCTION memwarden_internal.find_in_sensitive_values(p_orgs bigint[], p_terms text[], p_among uuid[])
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT s.item_id
      FROM memwarden_data.sensitive_value AS s
      JOIN memwarden_data.sealing_key AS k ON k.org_id = s.org_id
     WHERE s.org_id = ANY (p_orgs) AND p_terms <> '{}' AND (p_among IS NULL OR s.item_id = ANY (p_among))
       AND memwarden_internal.mentions(p_terms, ARRAY[memwarden_internal.readable_value(k.wrapped, s.org_id, s.kind, s.value_id,
           s.sealed)]);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_sensitive_values IS 'Items of which an encrypted value names one of the terms.';

CREATE OR REPLACE FUNCTION memwarden_internal.items_of_values(p_org_id bigint, p_item_ids uuid[], p_terms text[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT o.item_id
          FROM (SELECT s.item_id, memwarden_internal.readable_value(k.wrapped, s.org_id, s.kind, s.value_id, s.sealed) AS value
                  FROM memwarden_data.sensitive_value AS s
                  LEFT JOIN memwarden_data.sealing_key AS k ON k.org_id = s.org_id
                 WHERE s.org_id = p_org_id AND s.item_id = ANY (p_item_ids) OFFSET 0) AS o
         WHERE o.value IS NULL OR memwarden_internal.mentions(p_terms, ARRAY[o.value]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.items_of_values IS
    'Those of the items of which an encrypted value names one of the terms, or cannot be read here.';

CREATE OR REPLACE FUNCTION memwarden_internal.readable_value(p_wrapped bytea, p_org_id bigint, p_kind text, p_value_id text, p_sealed bytea)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.unseal(p_wrapped, p_org_id, p_kind, p_value_id, p_sealed);
EXCEPTION WHEN config_file_error THEN
    RETURN NULL;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.readable_value IS 'An encrypted value in clear; NULL where the server has not the key.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_references(p_orgs bigint[], p_terms text[], p_among uuid[])
RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_source_id integer;
BEGIN
    FOR v_source_id IN SELECT s.source_id FROM memwarden_data.canonical_source AS s WHERE p_terms <> '{}' ORDER BY s.source_id LOOP
        RETURN QUERY EXECUTE format(
            'SELECT DISTINCT r.item_id FROM memwarden_data.%I AS r '
            ' WHERE r.org_id = ANY ($1) AND ($3 IS NULL OR r.item_id = ANY ($3))'
            '   AND memwarden_internal.mentions($2, ARRAY[r.key, r.pinned_version])', 'reference_' || v_source_id)
          USING p_orgs, p_terms, p_among;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_references IS
    'Items that refer to a row of a canonical source whose key is one of the terms.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_evidence(p_orgs bigint[], p_terms text[], p_among uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT e.evidence_id
          FROM memwarden_data.said_record AS e
         WHERE e.org_id = ANY (p_orgs) AND p_terms <> '{}' AND (p_among IS NULL OR e.evidence_id = ANY (p_among))
           AND memwarden_internal.mentions(p_terms, ARRAY[e.uri, e.excerpt, e.version]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_evidence IS 'Recorded evidence that names one of the terms.';

-- A capture is evidence of what was made of it, and goes where that goes.
CREATE OR REPLACE FUNCTION memwarden_internal.find_captures(p_orgs bigint[], p_subjects text[], p_terms text[], p_among uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT c.capture_id
          FROM memwarden_data.said_capture AS c
         WHERE c.org_id = ANY (p_orgs) AND (p_among IS NULL OR c.capture_id = ANY (p_among))
           AND (CASE WHEN EXISTS (SELECT FROM unnest(p_subjects) AS s (name) WHERE strpos(c.content::text, s.name) > 0)
                     THEN memwarden_internal.speakers_in(c.content::text) && p_subjects ELSE false END
                OR EXISTS (SELECT FROM jsonb_path_query(c.content, 'lax $.**.speaker') AS s (name) WHERE s.name #>> '{}' = ANY (p_subjects))
                OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[c.content::text, c.external_id, c.session_id,
                    c.trace_id, array_to_string(c.domains, chr(10))], ARRAY[c.masked::text]))
         UNION
        -- Read again, it would say of the subject what it said.
        SELECT d.capture_id
          FROM memwarden_data.candidate AS d
          JOIN memwarden_data.version AS v ON v.org_id = d.org_id AND v.request_id = d.request_id
          JOIN memwarden_data.capture AS c ON c.org_id = d.org_id AND c.capture_id = d.capture_id
         WHERE d.org_id = ANY (p_orgs) AND v.subject = ANY (p_subjects) AND (p_among IS NULL OR d.capture_id = ANY (p_among)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_captures IS
    'Captures that name one of the terms, in which one of the subjects speaks, or of which a memory about one of them was made.';

CREATE OR REPLACE FUNCTION memwarden_internal.sources_among(p_orgs bigint[], p_source_ids uuid[])
RETURNS TABLE (org_id bigint, source_id uuid, scope_id bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT e.org_id, e.evidence_id, e.scope_id FROM memwarden_data.evidence AS e
     WHERE e.org_id = ANY (p_orgs) AND e.evidence_id = ANY (p_source_ids)
     UNION ALL
    SELECT c.org_id, c.capture_id, c.scope_id FROM memwarden_data.capture AS c
     WHERE c.org_id = ANY (p_orgs) AND c.capture_id = ANY (p_source_ids)
     UNION ALL
    SELECT t.org_id, t.thread_number, t.scope_id FROM memwarden_data.thread AS t
     WHERE t.org_id = ANY (p_orgs) AND t.thread_number = ANY (p_source_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.sources_among IS
    'Those of these numbers that are recorded evidence, captures or threads of a checkpointer, with their scopes.';

CREATE OR REPLACE FUNCTION memwarden_internal.citing_items(p_orgs bigint[], p_evidence_ids uuid[], p_among uuid[] DEFAULT NULL)
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT v.item_id
      FROM memwarden_data.version AS v
     WHERE p_evidence_ids <> '{}' AND v.org_id = ANY (p_orgs) AND (p_among IS NULL OR v.item_id = ANY (p_among))
       AND EXISTS (SELECT FROM jsonb_array_elements(v.evidence) AS e (reference)
                    WHERE memwarden_internal.cited_evidence(e.reference ->> 'uri') = ANY (p_evidence_ids)
                       OR memwarden_internal.cited_capture_id(e.reference ->> 'uri') = ANY (p_evidence_ids));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.citing_items IS 'Items that rest on recorded evidence, or on captures.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_entities(
    p_orgs bigint[], p_subject text, p_terms text[], p_among bigint[] DEFAULT NULL)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT a.entity_id
          FROM memwarden_data.entity_alias AS a
         WHERE a.org_id = ANY (p_orgs) AND (p_among IS NULL OR a.entity_id = ANY (p_among))
           AND (a.said = memwarden_internal.normalised_subject(p_subject, '{}')
                OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[a.name, a.said])));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_entities IS 'Entities that bear a name, or one that names a term.';

CREATE OR REPLACE FUNCTION memwarden_internal.items_of_entities(p_orgs bigint[], p_entity_ids bigint[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(SELECT DISTINCT k.item_id FROM memwarden_data.memory_key AS k
                  WHERE k.org_id = ANY (p_orgs) AND k.entity_id = ANY (p_entity_ids));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.items_of_entities IS
    'Items that some entities are the subject or the content of, whatever they call them.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_questions(p_orgs bigint[], p_terms text[], p_among uuid[])
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN QUERY
    SELECT j.request_id
      FROM (SELECT q.org_id, q.request_id, q.last_error, memwarden_internal.opened_payload(q.payload) AS payload
              FROM memwarden_data.job AS q WHERE p_among IS NULL OR q.request_id = ANY (p_among)) AS j
     WHERE j.org_id = ANY (p_orgs) AND p_terms <> '{}' AND memwarden_internal.mentions(
               p_terms, ARRAY[j.payload ->> 'content', j.last_error], ARRAY[
                   (j.payload - ARRAY['content', 'layer', 'scope_path', 'evidence'])::text,
                       memwarden_internal.said_in_evidence(j.payload -> 'evidence')::text])
     UNION
    SELECT v.request_id FROM memwarden_data.verdict AS v
     WHERE v.org_id = ANY (p_orgs) AND p_terms <> '{}' AND (p_among IS NULL OR v.request_id = ANY (p_among))
       AND memwarden_internal.mentions(p_terms, '{}', ARRAY[v.detail::text])
     UNION
    SELECT q.request_id FROM memwarden_data.review AS q
     WHERE q.org_id = ANY (p_orgs) AND p_terms <> '{}' AND (p_among IS NULL OR q.request_id = ANY (p_among))
       AND memwarden_internal.mentions(p_terms, '{}', ARRAY[q.report::text])
     UNION
    SELECT e.request_id FROM memwarden_data.review_event AS e
     WHERE e.org_id = ANY (p_orgs) AND p_terms <> '{}' AND (p_among IS NULL OR e.request_id = ANY (p_among))
       AND memwarden_internal.mentions(p_terms, ARRAY[e.note], ARRAY[e.detail::text]);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_questions IS
    'Write requests about which the worker was asked or answered, or a reviewer said, something that names one of the '
    'terms.';

CREATE OR REPLACE FUNCTION memwarden_internal.found_items(
    p_orgs bigint[], p_subjects text[], p_terms text[], p_evidence_ids uuid[], p_among uuid[])
RETURNS uuid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT memwarden_internal.find_in_versions(p_orgs, p_subjects, p_terms, p_among)
         UNION
        SELECT memwarden_internal.find_in_provenance(p_orgs, p_terms, p_among)
         UNION
        SELECT memwarden_internal.find_in_sensitive_values(p_orgs, p_terms, p_among)
         UNION
        SELECT memwarden_internal.find_in_references(p_orgs, p_terms, p_among)
         UNION
        SELECT memwarden_internal.citing_items(p_orgs, p_evidence_ids, p_among));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.found_items IS
    'Items that concern the subject by themselves or rest on recorded evidence that does, whatever their layer and '
    'status.';

-- What was made of it concerns it too: E(s) of chapter 12.10.2.
CREATE OR REPLACE FUNCTION memwarden_internal.with_derived(p_orgs bigint[], p_item_ids uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_all   uuid[] := coalesce(p_item_ids, '{}');
    v_added uuid[] := v_all;
BEGIN
    WHILE v_added <> '{}' LOOP
        v_added := ARRAY(
            SELECT n.item_id
              FROM (SELECT d.item_id FROM memwarden_data.derivation AS d WHERE d.source_item_id = ANY (v_added)
                     UNION
                    -- One that took the place of another has its evidence.
                    SELECT v.item_id
                      FROM memwarden_data.version AS a
                      JOIN memwarden_data.version AS v ON v.org_id = a.org_id AND v.absorbed_version_id = a.version_id
                     WHERE a.org_id = ANY (p_orgs) AND a.item_id = ANY (v_added)) AS n
            EXCEPT SELECT u.item_id FROM unnest(v_all) AS u (item_id));
        v_all := v_all || v_added;
    END LOOP;
    RETURN v_all;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.with_derived IS
    'Items, and all that was derived from them or absorbed them, to any depth.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_requests(
    p_orgs bigint[], p_item_ids uuid[], p_evidence_ids uuid[], p_subjects text[], p_terms text[], p_among uuid[] DEFAULT NULL)
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT r.request_id
          FROM memwarden_data.write_request AS r
         WHERE r.org_id = ANY (p_orgs) AND (p_among IS NULL OR r.request_id = ANY (p_among))
           AND (r.item_id = ANY (p_item_ids)
                OR r.subject = ANY (p_subjects)
                OR ARRAY(SELECT s.name #>> '{}' FROM jsonb_path_query(r.evidence, 'lax $[*].recorded.speaker') AS s (name)) && p_subjects
                OR r.request_id IN (SELECT memwarden_internal.find_in_questions(p_orgs, p_terms, p_among))
                -- It waits to say what rests on something that goes.
                OR r.outcome = 'DEFERRED' AND jsonb_typeof(r.evidence) = 'array' AND EXISTS (
                       SELECT FROM jsonb_array_elements(r.evidence) AS e (reference)
                        WHERE memwarden_internal.cited_item(e.reference ->> 'uri') = ANY (p_item_ids)
                           OR memwarden_internal.cited_evidence(e.reference ->> 'uri') = ANY (p_evidence_ids)
                           OR memwarden_internal.cited_capture_id(e.reference ->> 'uri') = ANY (p_evidence_ids))
                OR p_terms <> '{}' AND r.sealed IS NOT NULL AND EXISTS (
                       SELECT FROM jsonb_each(r.sealed) AS s
                         JOIN memwarden_data.sealing_key AS k ON k.org_id = r.org_id
                        WHERE memwarden_internal.mentions(p_terms, ARRAY[memwarden_internal.readable_value(
                                  k.wrapped, r.org_id, s.value ->> 'kind', s.key, decode(s.value ->> 'sealed', 'hex'))]))
                -- All that somebody said, and no name, number, code or place of ours: those stay, and would be found again.
                OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[
                       memwarden_internal.asked_content(r.content, r.subject_key_id, r.sealed_words), r.search_text,
                       r.canonical, r.kind, r.subject, r.predicate, r.class, r.idempotency_key, r.trace_id,
                       r.justification, array_to_string(r.domains, chr(10)), r.intake_fault, r.trail,
                       CASE WHEN NOT EXISTS (SELECT FROM memwarden_data.classification AS c WHERE c.name = r.classification)
                           THEN r.classification END,
                       CASE WHEN NOT memwarden_internal.is_code(r.reason) THEN r.reason END,
                       (SELECT string_agg(g.entry ->> 'reason', chr(10))
                          FROM jsonb_array_elements(memwarden_internal.gates_of(r.gates)) AS g (entry)
                         WHERE NOT memwarden_internal.is_code(g.entry ->> 'reason'))],
                       ARRAY[memwarden_internal.said_in_evidence(r.evidence)::text, memwarden_internal.said_in_evidence(r.grounds)::text,
                             memwarden_internal.said_in_origin(r.origin)::text, r.attributes::text, r.detail::text,
                                 r.findings::text, r.sensitive::text,
                             r.keys::text, r.provenance::text, r.neighbours::text, r.conflicts::text, r.pack_check::text,
                             r.review_asked::text, r.review::text])));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_requests IS
    'Write requests that were about one of the items, have one of the subjects, name one of the terms, or wait to rest '
    'on one of the items or of the evidence.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_reasons(p_orgs bigint[], p_item_ids uuid[], p_terms text[], p_among uuid[])
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT l.log_seq
          FROM memwarden_data.log AS l
         WHERE l.org_id = ANY (p_orgs) AND l.reason <> '' AND p_terms <> '{}' AND (p_among IS NULL OR l.item_id = ANY (p_among))
           AND l.item_id <> ALL (p_item_ids) AND memwarden_internal.mentions(p_terms, ARRAY[l.reason]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_reasons IS
    'Entries of the log whose reason names one of the terms, of other items than those given.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_erasures(p_orgs bigint[], p_terms text[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT e.erasure_id
          FROM memwarden_data.erasure AS e
         WHERE e.org_id = ANY (p_orgs) AND e.reason <> '' AND p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[e.reason]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_erasures IS 'Earlier erasures whose reason names one of the terms.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_in_recalls(p_orgs bigint[], p_terms text[], p_seen pg_snapshot DEFAULT NULL)
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_custom_plan
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT l.recall_id FROM memwarden_data.recall_log AS l
         WHERE l.org_id = ANY (p_orgs) AND l.task IS NOT NULL AND p_terms <> '{}'
           AND (p_seen IS NULL OR l.system_identifier = memwarden_internal.system_identifier()
                AND l.transaction_id >= pg_snapshot_xmin(p_seen))
           AND memwarden_internal.mentions(p_terms, ARRAY[l.task])
         UNION
        SELECT o.recall_id FROM memwarden_data.recall_outcome AS o
         WHERE o.org_id = ANY (p_orgs) AND o.detail IS NOT NULL AND p_terms <> '{}'
           AND (p_seen IS NULL OR o.system_identifier = memwarden_internal.system_identifier()
                AND o.transaction_id >= pg_snapshot_xmin(p_seen))
           AND memwarden_internal.mentions(p_terms, ARRAY[o.detail::text]));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_in_recalls IS
    'Recalls whose task, or of which a report, names one of the terms. p_seen: only those that it did not see.';
