-- What goes, place by place. The caller holds the organisations, and the records of the erasure stand.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_items(p_orgs bigint[], p_item_ids uuid[], p_version_ids uuid[] DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- Told the versions it asks indexes by them, and otherwise reads whole tables: never by the plan of the other.
SET plan_cache_mode = force_custom_plan
AS $function$
DECLARE
    v_count bigint;
BEGIN
    PERFORM memwarden_internal.forget_counts(p_orgs, ARRAY(
        SELECT DISTINCT i.scope_id FROM memwarden_data.item AS i WHERE i.org_id = ANY (p_orgs) AND i.item_id = ANY (p_item_ids)));
    DELETE FROM memwarden_data.derivation AS d
     WHERE d.org_id = ANY (p_orgs) AND d.item_id = ANY (p_item_ids) AND (p_version_ids IS NULL OR d.version_id = ANY (p_version_ids));
    DELETE FROM memwarden_data.embedding AS e
     WHERE e.org_id = ANY (p_orgs) AND e.item_id = ANY (p_item_ids)
       AND (p_version_ids IS NULL
            OR e.scope_id = ANY (ARRAY(SELECT i.scope_id FROM memwarden_data.item AS i
                                        WHERE i.org_id = ANY (p_orgs) AND i.item_id = ANY (p_item_ids)))
               AND e.model_id = ANY (ARRAY(SELECT m.model_id FROM memwarden_data.embedding_model AS m)));
    DELETE FROM memwarden_data.pushed_memory AS p WHERE p.org_id = ANY (p_orgs) AND p.item_ids && p_item_ids;
    DELETE FROM memwarden_data.past_embedding AS e
     WHERE e.org_id = ANY (p_orgs) AND e.item_id = ANY (p_item_ids) AND (p_version_ids IS NULL OR e.version_id = ANY (p_version_ids));
    DELETE FROM memwarden_data.embedding_job AS j
     WHERE j.model_id = ANY (ARRAY(SELECT m.model_id FROM memwarden_data.embedding_model AS m))
       AND j.org_id = ANY (p_orgs) AND j.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.timeline AS t WHERE t.org_id = ANY (p_orgs) AND t.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.sensitive_value AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.sensitivity_scan AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.personal_item AS p WHERE p.org_id = ANY (p_orgs) AND p.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.sighting AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.signal AS s
     WHERE s.org_id = ANY (p_orgs) AND (s.item_id = ANY (p_item_ids) OR s.corrected_item_id = ANY (p_item_ids));
    DELETE FROM memwarden_data.audit_sample AS a WHERE a.org_id = ANY (p_orgs) AND a.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.provenance AS p
     WHERE p.org_id = ANY (p_orgs) AND p.item_id = ANY (p_item_ids) AND (p_version_ids IS NULL OR p.version_id = ANY (p_version_ids));
    DELETE FROM memwarden_data.consolidation AS c
     WHERE c.org_id = ANY (p_orgs) AND (c.source_item_id = ANY (p_item_ids) OR c.target_item_id = ANY (p_item_ids));
    -- A pair is two rows: from either side.
    DELETE FROM memwarden_data.dispute AS d
     USING memwarden_data.dispute AS m
     WHERE m.org_id = ANY (p_orgs) AND m.item_id = ANY (p_item_ids) AND d.org_id = m.org_id AND d.item_id = m.other_item_id
       AND d.other_item_id = m.item_id;
    DELETE FROM memwarden_data.dispute AS d WHERE d.org_id = ANY (p_orgs) AND d.item_id = ANY (p_item_ids);
    -- Where it was the newer value, the one row is the older one's.
    DELETE FROM memwarden_data.dispute AS d WHERE d.org_id = ANY (p_orgs) AND d.outdated AND d.other_item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.memory_key AS k WHERE k.org_id = ANY (p_orgs) AND k.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.recall_use AS u WHERE u.org_id = ANY (p_orgs) AND u.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.pin AS n WHERE n.org_id = ANY (p_orgs) AND n.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.revalidated AS r WHERE r.org_id = ANY (p_orgs) AND r.item_id = ANY (p_item_ids);
    PERFORM memwarden_internal.unlink_references(p_orgs, p_item_ids);
    DELETE FROM memwarden_data.item AS i WHERE i.org_id = ANY (p_orgs) AND i.item_id = ANY (p_item_ids);
    -- What verifiers are asked about them.
    DELETE FROM memwarden_data.job AS j
     USING memwarden_data.version AS v
     WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_item_ids) AND j.org_id = v.org_id AND j.request_id = v.version_id;
    DELETE FROM memwarden_data.verdict AS d
     USING memwarden_data.version AS v
     WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_item_ids) AND d.org_id = v.org_id AND d.request_id = v.version_id;
    -- Every tier.
    DELETE FROM memwarden_data.version AS v WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_item_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_items IS
    'Deletes items with all that hangs on them. Returns how many versions they had. p_version_ids: all the versions they have, '
    'where nothing else is to be looked for.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_requests(p_orgs bigint[], p_item_ids uuid[], p_request_ids uuid[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM memwarden_data.idempotency AS i
     WHERE i.org_id = ANY (p_orgs) AND (i.item_id = ANY (p_item_ids) OR i.request_id = ANY (p_request_ids));
    DELETE FROM memwarden_data.promotion AS p
     WHERE p.org_id = ANY (p_orgs) AND (p.item_id = ANY (p_item_ids) OR p.request_id = ANY (p_request_ids));
    DELETE FROM memwarden_data.job AS j
     WHERE j.org_id = ANY (p_orgs)
       AND (j.request_id = ANY (p_request_ids)
            -- It carries what is near the request; asked again, it will do without.
            OR p_item_ids <> '{}' AND EXISTS (SELECT FROM jsonb_path_query(
                memwarden_internal.opened_payload(j.payload), '$.neighbours[*].item_id') AS n (id)
                WHERE (n.id #>> '{}')::uuid = ANY (p_item_ids)));
    DELETE FROM memwarden_data.verdict AS v WHERE v.org_id = ANY (p_orgs) AND v.request_id = ANY (p_request_ids);
    DELETE FROM memwarden_data.noise AS n WHERE n.org_id = ANY (p_orgs) AND n.request_id = ANY (p_request_ids);
    -- What a request that goes has left at a memory that stays.
    DELETE FROM memwarden_data.sighting AS s
     USING memwarden_data.write_request AS r
     WHERE r.org_id = ANY (p_orgs) AND r.request_id = ANY (p_request_ids) AND r.outcome = 'REJECTED'
       AND s.org_id = r.org_id AND s.item_id = r.item_id AND s.principal_id = r.principal_id;
    -- That it was asked, by whom, when and with which outcome stays; of its content the keyed hash. No gate fires: they
    -- wait for another attempt.
    UPDATE memwarden_data.write_request AS r
       SET outcome = CASE r.outcome WHEN 'DEFERRED' THEN 'REJECTED' ELSE r.outcome END,
           reason = CASE WHEN r.outcome = 'DEFERRED' THEN 'SUBJECT_ERASED' WHEN memwarden_internal.is_code(r.reason) THEN r.reason
                         WHEN r.reason IS NOT NULL THEN 'UNSPECIFIED' END,
           retry_at = NULL,
           refused_hash = coalesce(r.refused_hash, memwarden_internal.keyed_hash('refused content', r.content_hash)),
           asked_hash = memwarden_internal.veiled_hash(r.asked_hash),
           -- The line of a plain write holds no word.
           gates = CASE WHEN left(r.gates, 1) IN ('=', '+') THEN r.gates ELSE memwarden_internal.gates_text((
               SELECT jsonb_agg(g.entry - ARRAY['reason', 'detail'] ORDER BY g.ordinal)
                 FROM jsonb_array_elements(memwarden_internal.gates_of(r.gates)) WITH ORDINALITY AS g (entry, ordinal))) END,
           detail = NULL, kind = NULL, subject = NULL, predicate = NULL, content = NULL, evidence = NULL, confidence = NULL,
               importance = NULL,
           embedding = NULL, ttl = NULL, valid_from = NULL, valid_to = NULL, idempotency_key = NULL, trace_id = NULL,
           classification = NULL, domains = NULL, attributes = NULL, origin = NULL, justification = NULL, review_asked = NULL,
               review = NULL, class = NULL, consent_check = NULL, pack_check = NULL, verdict = NULL,
           intake_fault = NULL, canonical = NULL, search_text = NULL,
           content_hash = NULL, fingerprint = NULL, key_hash = NULL, attribute_key = NULL, token = NULL, findings = NULL, sensitive = NULL,
               sealed = NULL, grounds = NULL,
           trail = NULL, provenance = NULL, neighbours = NULL, conflicts = NULL, inverse_key_hash = NULL, keys = NULL, login = NULL,
           subject_key_id = NULL, sealed_words = NULL
     WHERE r.org_id = ANY (p_orgs) AND r.request_id = ANY (p_request_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    -- Who decided, when and how stays; what was said to it goes. A proposal that waited has left the queue by now.
    UPDATE memwarden_data.review AS q SET report = '{}' WHERE q.org_id = ANY (p_orgs) AND q.request_id = ANY (p_request_ids);
    UPDATE memwarden_data.review_event AS e SET note = NULL, detail = NULL
     WHERE e.org_id = ANY (p_orgs) AND e.request_id = ANY (p_request_ids);
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_requests IS
    'Blanks write requests and forgets their tokens; one that waits is refused. Returns how many requests there were.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_evidence(p_orgs bigint[], p_evidence_ids uuid[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM memwarden_data.evidence AS e WHERE e.org_id = ANY (p_orgs) AND e.evidence_id = ANY (p_evidence_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    -- With all states of the thread.
    DELETE FROM memwarden_data.thread AS t WHERE t.org_id = ANY (p_orgs) AND t.thread_number = ANY (p_evidence_ids);
    RETURN v_count + memwarden_internal.erase_captures(p_orgs, p_evidence_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_evidence IS 
    'Deletes recorded evidence, captures and threads of a checkpointer. Returns how much there was of the first two.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_captures(p_orgs bigint[], p_capture_ids uuid[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM memwarden_data.candidate AS d WHERE d.org_id = ANY (p_orgs) AND d.capture_id = ANY (p_capture_ids);
    DELETE FROM memwarden_data.extraction AS x WHERE x.org_id = ANY (p_orgs) AND x.capture_id = ANY (p_capture_ids);
    DELETE FROM memwarden_data.capture_key AS k WHERE k.org_id = ANY (p_orgs) AND k.capture_id = ANY (p_capture_ids);
    DELETE FROM memwarden_data.capture AS c WHERE c.org_id = ANY (p_orgs) AND c.capture_id = ANY (p_capture_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_captures IS
    'Deletes captures with all that says what came of them. Returns how many.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_entities(p_orgs bigint[], p_entity_ids bigint[], p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.memory_key AS k SET entity_id = NULL WHERE k.entity_id = ANY (p_entity_ids);
    UPDATE memwarden_data.entity AS e SET merged_into = NULL WHERE e.org_id = ANY (p_orgs) AND e.merged_into = ANY (p_entity_ids);
    DELETE FROM memwarden_data.entity_alias AS a WHERE a.org_id = ANY (p_orgs) AND a.entity_id = ANY (p_entity_ids);
    -- What another entity has of the person goes alone.
    DELETE FROM memwarden_data.entity_attribute AS a
     WHERE a.org_id = ANY (p_orgs) AND (a.entity_id = ANY (p_entity_ids)
           OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[a.name, a.value #>> '{}']));
    DELETE FROM memwarden_data.probe_run AS r USING memwarden_data.probe AS p
     WHERE p.org_id = ANY (p_orgs) AND r.org_id = p.org_id AND r.probe_id = p.probe_id
       AND p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[p.name, p.query, p.contains, p.lacks]);
    DELETE FROM memwarden_data.probe AS p
     WHERE p.org_id = ANY (p_orgs) AND p_terms <> '{}' AND memwarden_internal.mentions(p_terms,
         ARRAY[p.name, p.query, p.contains, p.lacks]);
    DELETE FROM memwarden_data.entity AS e WHERE e.org_id = ANY (p_orgs) AND e.entity_id = ANY (p_entity_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_entities IS
    'Deletes entities with their names and attributes, and attributes of others and golden queries that name one of the '
    'terms.';

-- What an organisation says of words may name a person too.
CREATE OR REPLACE FUNCTION memwarden_internal.names_in_vocabulary(p_orgs bigint[], p_terms text[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN p_terms <> '{}' AND (
        EXISTS (SELECT FROM memwarden_data.vocabulary AS v
                 WHERE v.org_id = ANY (p_orgs) AND memwarden_internal.mentions(p_terms, ARRAY[v.synonyms::text]))
        OR EXISTS (SELECT FROM memwarden_data.predicate AS p
                    WHERE p.org_id = ANY (p_orgs) AND memwarden_internal.mentions(p_terms, ARRAY[
                        p.predicate, p.inverse, p.subject_schema::text, p.object_schema::text] || p.disjoint || p.ends)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.names_in_vocabulary IS
    'Whether synonyms or defined predicates of some organisations name one of the terms.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_vocabulary(p_orgs bigint[], p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    IF memwarden_internal.names_in_vocabulary(p_orgs, p_terms) THEN
        PERFORM memwarden_internal.compare_by(v.org_id, (
            SELECT coalesce(jsonb_object_agg(e.key, e.value), '{}') FROM jsonb_each(v.synonyms) AS e
             WHERE NOT memwarden_internal.mentions(p_terms, ARRAY[e.key, e.value #>> '{}'])))
           FROM memwarden_data.vocabulary AS v
          WHERE v.org_id = ANY (p_orgs) AND memwarden_internal.mentions(p_terms, ARRAY[v.synonyms::text]);
        -- A predicate that names somebody goes; of another goes what it says of that one.
        DELETE FROM memwarden_data.predicate AS p
         WHERE p.org_id = ANY (p_orgs)
           AND memwarden_internal.mentions(p_terms, ARRAY[p.predicate, p.subject_schema::text, p.object_schema::text]);
        UPDATE memwarden_data.predicate AS p
           SET inverse = CASE WHEN NOT memwarden_internal.mentions(p_terms, ARRAY[p.inverse]) THEN p.inverse END,
               disjoint = ARRAY(SELECT d.name FROM unnest(p.disjoint) AS d (name)
                                 WHERE NOT memwarden_internal.mentions(p_terms, ARRAY[d.name])),
               ends = ARRAY(SELECT d.name FROM unnest(p.ends) AS d (name)
                             WHERE NOT memwarden_internal.mentions(p_terms, ARRAY[d.name]))
         WHERE p.org_id = ANY (p_orgs) AND memwarden_internal.mentions(p_terms, ARRAY[p.inverse] || p.disjoint || p.ends);
    END IF;
    -- Copies of settings: whoever writes next makes them anew.
    DELETE FROM memwarden_data.kept_terms AS k
     WHERE k.org_id = ANY (p_orgs) AND p_terms <> '{}'
       AND memwarden_internal.mentions(p_terms, ARRAY[to_jsonb(k.terms)::text, to_jsonb(k.plain)::text]);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_vocabulary IS
    'Takes synonyms and defined predicates that name one of the terms away, and copies of settings that do. The caller holds the '
    'organisations.';

-- That somebody was given something stays, by number: whoever must be told that it is gone can be found. What was asked, and
-- for what, goes.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_recalls(p_orgs bigint[], p_item_ids uuid[], p_recall_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- What a session was given it may have noted in other words. Working memory is made anew of what the session remembers.
    IF p_item_ids <> '{}' THEN
        DELETE FROM memwarden_data.working_memory AS w
         WHERE w.org_id = ANY (p_orgs) AND w.session_id IN (
                   SELECT l.session_id FROM memwarden_data.recall_log AS l WHERE l.session_id IS NOT NULL AND l.item_ids && p_item_ids);
    END IF;
    -- Of a memory that another recalls than has it, the log is the other's.
    UPDATE memwarden_data.recall_log AS l SET task = NULL, query_digest = NULL
     WHERE num_nonnulls(l.task, l.query_digest) > 0
       AND (l.item_ids && p_item_ids OR l.withheld && p_item_ids
            OR l.org_id = ANY (p_orgs) AND l.recall_id = ANY (p_recall_ids));
    UPDATE memwarden_data.recall_outcome AS o SET detail = NULL
     WHERE o.detail IS NOT NULL
       AND (o.org_id = ANY (p_orgs) AND o.recall_id = ANY (p_recall_ids)
            OR EXISTS (SELECT FROM memwarden_data.recall_log AS l
                        WHERE l.org_id = o.org_id AND l.recall_id = o.recall_id
                          AND (l.item_ids && p_item_ids OR l.withheld && p_item_ids)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_recalls IS
    'Empties task and digest of recalls that gave or withheld one of the items, and of the recalls with these numbers, and what was '
    'reported of them; and deletes the working memory of sessions that were given one of the items.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_reasons(p_orgs bigint[], p_item_ids uuid[], p_log_seqs bigint[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_count bigint;
BEGIN
    UPDATE memwarden_data.log AS l
       SET reason = '', reason_hash = sha256(convert_to(l.reason, 'UTF8'))
     WHERE l.org_id = ANY (p_orgs) AND (l.item_id = ANY (p_item_ids) OR l.log_seq = ANY (p_log_seqs))
       AND l.reason_hash IS NULL AND l.operation <> 'ERASE';
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_reasons IS
    'Puts the hash of the reason in the place of the reason, in the entries of items and in others. Returns how many entries that changed.';

CREATE OR REPLACE FUNCTION memwarden_internal.left_of_items(p_orgs bigint[], p_item_ids uuid[])
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT 'item' FROM memwarden_data.item AS i WHERE i.org_id = ANY (p_orgs) AND i.item_id = ANY (p_item_ids)
         UNION SELECT 'version' FROM memwarden_data.version AS v WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_item_ids)
         UNION SELECT 'timeline' FROM memwarden_data.timeline AS t WHERE t.org_id = ANY (p_orgs) AND t.item_id = ANY (p_item_ids)
         UNION SELECT 'embedding' FROM memwarden_data.embedding AS e WHERE e.org_id = ANY (p_orgs) AND e.item_id = ANY (p_item_ids)
         UNION SELECT 'pushed_memory' FROM memwarden_data.pushed_memory AS p WHERE p.org_id = ANY (p_orgs) AND p.item_ids && p_item_ids
         UNION SELECT 'past_embedding' FROM memwarden_data.past_embedding AS e WHERE e.org_id = ANY (p_orgs)
             AND e.item_id = ANY (p_item_ids)
         UNION SELECT 'embedding_job' FROM memwarden_data.embedding_job AS j WHERE j.org_id = ANY (p_orgs) AND j.item_id = ANY (p_item_ids)
         UNION SELECT 'provenance' FROM memwarden_data.provenance AS p WHERE p.org_id = ANY (p_orgs) AND p.item_id = ANY (p_item_ids)
         UNION SELECT 'sighting' FROM memwarden_data.sighting AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids)
         UNION SELECT 'sensitive_value' FROM memwarden_data.sensitive_value AS s WHERE s.org_id = ANY (p_orgs)
             AND s.item_id = ANY (p_item_ids)
         UNION SELECT 'sensitivity_scan' FROM memwarden_data.sensitivity_scan AS s WHERE s.org_id = ANY (p_orgs)
             AND s.item_id = ANY (p_item_ids)
         UNION SELECT 'consolidation' FROM memwarden_data.consolidation AS c
                WHERE c.org_id = ANY (p_orgs) AND (c.source_item_id = ANY (p_item_ids) OR c.target_item_id = ANY (p_item_ids))
         UNION SELECT 'recall_use' FROM memwarden_data.recall_use AS u WHERE u.org_id = ANY (p_orgs) AND u.item_id = ANY (p_item_ids)
         UNION SELECT 'pin' FROM memwarden_data.pin AS n WHERE n.org_id = ANY (p_orgs) AND n.item_id = ANY (p_item_ids)
         UNION SELECT 'memory_key' FROM memwarden_data.memory_key AS k WHERE k.org_id = ANY (p_orgs) AND k.item_id = ANY (p_item_ids)
         UNION SELECT 'dispute' FROM memwarden_data.dispute AS d WHERE d.org_id = ANY (p_orgs)
             AND (d.item_id = ANY (p_item_ids) OR d.outdated AND d.other_item_id = ANY (p_item_ids))
         UNION SELECT 'promotion' FROM memwarden_data.promotion AS p WHERE p.org_id = ANY (p_orgs) AND p.item_id = ANY (p_item_ids)
         UNION SELECT 'derivation' FROM memwarden_data.derivation AS d
                WHERE d.source_item_id = ANY (p_item_ids) OR d.org_id = ANY (p_orgs) AND d.item_id = ANY (p_item_ids)
         UNION SELECT 'idempotency' FROM memwarden_data.idempotency AS y WHERE y.org_id = ANY (p_orgs) AND y.item_id = ANY (p_item_ids)
         UNION SELECT 'write_request' FROM memwarden_data.write_request AS r
                WHERE r.org_id = ANY (p_orgs) AND r.item_id = ANY (p_item_ids) AND num_nonnulls(r.content, r.subject, r.evidence,
                    r.sealed_words) > 0
         UNION SELECT 'log' FROM memwarden_data.log AS l
                WHERE l.org_id = ANY (p_orgs) AND l.item_id = ANY (p_item_ids) AND l.reason_hash IS NULL AND l.operation <> 'ERASE');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.left_of_items IS 'The tables that still hold something of items that were erased.';

-- What was recorded of a person's agreement names that person: it goes too. Who writes about them then must ask anew.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_consent(p_orgs bigint[], p_subject text, p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    WITH of_subject AS MATERIALIZED (
        SELECT o.org_id, memwarden_internal.consent_forms(o.org_id, p_subject) || memwarden_internal.consent_forms(
                   o.org_id, 'id:' || coalesce(memwarden_internal.named_id(p_subject), p_subject)) AS forms
          FROM unnest(p_orgs) AS o (org_id)
    ), gone AS (
        DELETE FROM memwarden_data.consent AS c
         USING of_subject AS f
         WHERE c.org_id = f.org_id
           AND (memwarden_internal.consent_forms(c.org_id, c.subject) && f.forms
                OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[c.subject], ARRAY[c.evidence::text]))
        RETURNING c.org_id, c.consent_id
    )
    DELETE FROM memwarden_data.consent_state AS s
     USING of_subject AS f
     WHERE s.org_id = f.org_id
       AND (s.subject_form = ANY (f.forms)
            OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[s.subject_form])
            OR EXISTS (SELECT FROM gone AS g WHERE g.org_id = s.org_id AND g.consent_id = s.consent_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_consent IS
    'Deletes the consents of a subject, and those that name one of the terms. Called within an erasure.';

-- Sessions hold names of tasks and, in working memory, words. What a session remembers goes with its items.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_sessions(p_orgs bigint[], p_subject text, p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_form text := memwarden_internal.normalised_subject(p_subject, '{}');
BEGIN
    DELETE FROM memwarden_data.working_memory AS w
     USING memwarden_data.session AS s, memwarden_data.said_working_memory AS d
     WHERE w.org_id = ANY (p_orgs) AND s.org_id = w.org_id AND s.session_id = w.session_id
       AND d.org_id = w.org_id AND d.session_id = w.session_id
       AND (v_form IN (memwarden_internal.normalised_subject(s.task, '{}'), memwarden_internal.normalised_subject(s.subject, '{}'))
            OR s.subject = ANY (memwarden_internal.subjects_of_id(memwarden_internal.named_id(p_subject)))
            OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[
                   s.task, s.subject, d.goal, d.plan::text, d.observations::text, d.constraints::text, d.scratchpad]));
    DELETE FROM memwarden_data.session AS s
     WHERE s.org_id = ANY (p_orgs)
       AND (v_form IN (memwarden_internal.normalised_subject(s.task, '{}'), memwarden_internal.normalised_subject(s.subject, '{}'))
            OR s.subject = ANY (memwarden_internal.subjects_of_id(memwarden_internal.named_id(p_subject)))
            OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[s.task, s.subject]));
    -- Without it nothing is withheld for that task.
    DELETE FROM memwarden_data.ablation AS a
     WHERE a.org_id = ANY (p_orgs) AND a.task <> '' AND p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[a.task]);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_sessions IS
    'Deletes the sessions whose task or subject is the subject or names one of the terms, and working memory that names one; that '
    'of a session which goes on is made anew of what it still remembers. And what is withheld for a task that names one.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_entries(p_orgs bigint[], p_request_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_sessions uuid[] := ARRAY(
        SELECT DISTINCT e.session_id FROM memwarden_data.session_entry AS e
         WHERE e.org_id = ANY (p_orgs) AND e.request_id = ANY (p_request_ids));
BEGIN
    -- Who resumed such a session has its findings before him.
    DELETE FROM memwarden_data.working_memory AS w
     USING memwarden_data.session AS s
     WHERE w.org_id = ANY (p_orgs) AND s.org_id = w.org_id AND s.session_id = w.session_id
       AND (s.session_id = ANY (v_sessions) OR s.resumed_from = ANY (v_sessions));
    DELETE FROM memwarden_data.session_entry AS e WHERE e.org_id = ANY (p_orgs) AND e.request_id = ANY (p_request_ids);
    -- All of it was about them: so is the name of the task, perhaps.
    DELETE FROM memwarden_data.session AS s
     WHERE s.org_id = ANY (p_orgs) AND s.session_id = ANY (v_sessions)
       AND NOT EXISTS (SELECT FROM memwarden_data.session_entry AS e WHERE e.org_id = s.org_id AND e.session_id = s.session_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_entries IS
    'Takes write requests that are erased out of the sessions that asked for them, with their working memory and that '
    'of who resumed them, which is made anew without them; a session of which nothing is left goes.';
