-- What goes, place by place. The caller holds the organisations, and the records of the erasure stand.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_items(p_orgs bigint[], p_item_ids uuid[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM memwarden_data.derivation AS d WHERE d.org_id = ANY (p_orgs) AND d.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.embedding AS e WHERE e.org_id = ANY (p_orgs) AND e.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.past_embedding AS e WHERE e.org_id = ANY (p_orgs) AND e.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.timeline AS t WHERE t.org_id = ANY (p_orgs) AND t.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.sensitive_value AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.sensitivity_scan AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.sighting AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.signal AS s
     WHERE s.org_id = ANY (p_orgs) AND (s.item_id = ANY (p_item_ids) OR s.corrected_item_id = ANY (p_item_ids));
    DELETE FROM memwarden_data.audit_sample AS a WHERE a.org_id = ANY (p_orgs) AND a.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.provenance AS p WHERE p.org_id = ANY (p_orgs) AND p.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.consolidation AS c
     WHERE c.org_id = ANY (p_orgs) AND (c.source_item_id = ANY (p_item_ids) OR c.target_item_id = ANY (p_item_ids));
    -- A pair is two rows: from either side.
    DELETE FROM memwarden_data.dispute AS d
     USING memwarden_data.dispute AS m
     WHERE m.org_id = ANY (p_orgs) AND m.item_id = ANY (p_item_ids) AND d.org_id = m.org_id AND d.item_id = m.other_item_id
       AND d.other_item_id = m.item_id;
    DELETE FROM memwarden_data.dispute AS d WHERE d.org_id = ANY (p_orgs) AND d.item_id = ANY (p_item_ids);
    DELETE FROM memwarden_data.memory_key AS k WHERE k.org_id = ANY (p_orgs) AND k.item_id = ANY (p_item_ids);
    PERFORM memwarden_internal.unlink_references(p_orgs, p_item_ids);
    DELETE FROM memwarden_data.item AS i WHERE i.org_id = ANY (p_orgs) AND i.item_id = ANY (p_item_ids);
    -- Every tier.
    DELETE FROM memwarden_data.version AS v WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_item_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_items(bigint[], uuid[]) IS 'Deletes items with all that hangs on them. Returns how many versions they had.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_items(bigint[], uuid[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.erase_requests(p_orgs bigint[], p_item_ids uuid[], p_request_ids uuid[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
            OR EXISTS (SELECT FROM jsonb_path_query(j.payload, '$.neighbours[*].item_id') AS n (id) WHERE (n.id #>> '{}')::uuid = ANY (p_item_ids)));
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
           reason = CASE WHEN r.outcome = 'DEFERRED' THEN 'SUBJECT_ERASED' WHEN r.reason ~ '^[A-Z][A-Z0-9_]*$' THEN r.reason
                         WHEN r.reason IS NOT NULL THEN 'UNSPECIFIED' END,
           retry_at = NULL,
           refused_hash = coalesce(r.refused_hash, memwarden_internal.keyed_hash('refused content', r.content_hash)),
           gates = (SELECT jsonb_agg(g.entry - ARRAY['reason', 'detail'] ORDER BY g.ordinal)
                      FROM jsonb_array_elements(r.gates) WITH ORDINALITY AS g (entry, ordinal)),
           detail = NULL, kind = NULL, subject = NULL, predicate = NULL, content = NULL, evidence = NULL, confidence = NULL, importance = NULL,
           embedding = NULL, ttl = NULL, valid_from = NULL, valid_to = NULL, idempotency_key = NULL, trace_id = NULL,
           classification = NULL, domains = NULL, attributes = NULL, origin = NULL, justification = NULL, review_asked = NULL, review = NULL, class = NULL, consent_check = NULL, pack_check = NULL, verdict = NULL,
           intake_fault = NULL, canonical = NULL, search_text = NULL,
           content_hash = NULL, fingerprint = NULL, key_hash = NULL, token = NULL, findings = NULL, sensitive = NULL, sealed = NULL, grounds = NULL,
           trail = NULL, provenance = NULL, neighbours = NULL, conflicts = NULL, inverse_key_hash = NULL, keys = NULL
     WHERE r.org_id = ANY (p_orgs) AND r.request_id = ANY (p_request_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    -- Who decided, when and how stays; what was said to it goes. A proposal that waited has left the queue by now.
    UPDATE memwarden_data.review AS q SET report = '{}' WHERE q.org_id = ANY (p_orgs) AND q.request_id = ANY (p_request_ids);
    UPDATE memwarden_data.review_event AS e SET note = NULL, detail = NULL
     WHERE e.org_id = ANY (p_orgs) AND e.request_id = ANY (p_request_ids);
    RETURN v_count;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_requests(bigint[], uuid[], uuid[]) IS
    'Blanks write requests and forgets their tokens; one that waits is refused. Returns how many requests there were.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_requests(bigint[], uuid[], uuid[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.erase_evidence(p_orgs bigint[], p_evidence_ids uuid[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM memwarden_data.evidence AS e WHERE e.org_id = ANY (p_orgs) AND e.evidence_id = ANY (p_evidence_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count + memwarden_internal.erase_captures(p_orgs, p_evidence_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_evidence(bigint[], uuid[]) IS 'Deletes recorded evidence, and captures. Returns how much.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_evidence(bigint[], uuid[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.erase_captures(p_orgs bigint[], p_capture_ids uuid[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden_internal.erase_captures(bigint[], uuid[]) IS 'Deletes captures with all that says what came of them. Returns how many.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_captures(bigint[], uuid[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.erase_entities(p_orgs bigint[], p_entity_ids bigint[], p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
     WHERE p.org_id = ANY (p_orgs) AND p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[p.name, p.query, p.contains, p.lacks]);
    DELETE FROM memwarden_data.entity AS e WHERE e.org_id = ANY (p_orgs) AND e.entity_id = ANY (p_entity_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_entities(bigint[], bigint[], text[]) IS 'Deletes entities with their names and attributes, and attributes of others and golden queries that name one of the terms.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_entities(bigint[], bigint[], text[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.erase_reasons(p_orgs bigint[], p_item_ids uuid[], p_log_seqs bigint[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden_internal.erase_reasons(bigint[], uuid[], bigint[]) IS
    'Puts the hash of the reason in the place of the reason, in the entries of items and in others. Returns how many entries that changed.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_reasons(bigint[], uuid[], bigint[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.left_of_items(p_orgs bigint[], p_item_ids uuid[])
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT 'item' FROM memwarden_data.item AS i WHERE i.org_id = ANY (p_orgs) AND i.item_id = ANY (p_item_ids)
         UNION SELECT 'version' FROM memwarden_data.version AS v WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (p_item_ids)
         UNION SELECT 'timeline' FROM memwarden_data.timeline AS t WHERE t.org_id = ANY (p_orgs) AND t.item_id = ANY (p_item_ids)
         UNION SELECT 'embedding' FROM memwarden_data.embedding AS e WHERE e.org_id = ANY (p_orgs) AND e.item_id = ANY (p_item_ids)
         UNION SELECT 'past_embedding' FROM memwarden_data.past_embedding AS e WHERE e.org_id = ANY (p_orgs) AND e.item_id = ANY (p_item_ids)
         UNION SELECT 'provenance' FROM memwarden_data.provenance AS p WHERE p.org_id = ANY (p_orgs) AND p.item_id = ANY (p_item_ids)
         UNION SELECT 'sighting' FROM memwarden_data.sighting AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids)
         UNION SELECT 'sensitive_value' FROM memwarden_data.sensitive_value AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids)
         UNION SELECT 'sensitivity_scan' FROM memwarden_data.sensitivity_scan AS s WHERE s.org_id = ANY (p_orgs) AND s.item_id = ANY (p_item_ids)
         UNION SELECT 'consolidation' FROM memwarden_data.consolidation AS c
                WHERE c.org_id = ANY (p_orgs) AND (c.source_item_id = ANY (p_item_ids) OR c.target_item_id = ANY (p_item_ids))
         UNION SELECT 'memory_key' FROM memwarden_data.memory_key AS k WHERE k.org_id = ANY (p_orgs) AND k.item_id = ANY (p_item_ids)
         UNION SELECT 'dispute' FROM memwarden_data.dispute AS d WHERE d.org_id = ANY (p_orgs) AND d.item_id = ANY (p_item_ids)
         UNION SELECT 'promotion' FROM memwarden_data.promotion AS p WHERE p.org_id = ANY (p_orgs) AND p.item_id = ANY (p_item_ids)
         UNION SELECT 'derivation' FROM memwarden_data.derivation AS d
                WHERE d.source_item_id = ANY (p_item_ids) OR d.org_id = ANY (p_orgs) AND d.item_id = ANY (p_item_ids)
         UNION SELECT 'idempotency' FROM memwarden_data.idempotency AS y WHERE y.org_id = ANY (p_orgs) AND y.item_id = ANY (p_item_ids)
         UNION SELECT 'write_request' FROM memwarden_data.write_request AS r
                WHERE r.org_id = ANY (p_orgs) AND r.item_id = ANY (p_item_ids) AND num_nonnulls(r.content, r.subject, r.evidence) > 0
         UNION SELECT 'log' FROM memwarden_data.log AS l
                WHERE l.org_id = ANY (p_orgs) AND l.item_id = ANY (p_item_ids) AND l.reason_hash IS NULL AND l.operation <> 'ERASE');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.left_of_items(bigint[], uuid[]) IS 'The tables that still hold something of items that were erased.';
REVOKE ALL ON FUNCTION memwarden_internal.left_of_items(bigint[], uuid[]) FROM PUBLIC;

-- What was recorded of a person's agreement names that person: it goes too. Who writes about them then must ask anew.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_consent(p_orgs bigint[], p_subject text, p_terms text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    WITH gone AS (
        DELETE FROM memwarden_data.consent AS c
         WHERE c.org_id = ANY (p_orgs)
           AND (memwarden_internal.subject_form(c.subject) = memwarden_internal.subject_form(p_subject)
                OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[c.subject, c.evidence::text]))
        RETURNING c.org_id, memwarden_internal.subject_form(c.subject) AS subject_form
    )
    DELETE FROM memwarden_data.consent_state AS s
     WHERE s.org_id = ANY (p_orgs)
       AND (s.subject_form = memwarden_internal.subject_form(p_subject)
            OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[s.subject_form])
            OR EXISTS (SELECT FROM gone AS g WHERE g.org_id = s.org_id AND g.subject_form = s.subject_form));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_consent(bigint[], text, text[]) IS 'Deletes the consents of a subject, and those that name one of the terms. Called within an erasure.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_consent(bigint[], text, text[]) FROM PUBLIC;
