-- A person is searched for while writers write: it takes as long as the store is large. Then they wait, and what a transaction has
-- left that the search did not see is looked at too, be it that it had begun before.
CREATE TYPE memwarden_internal.found_person AS (
    extent     memwarden_internal.erasure_extent,
    looked_at  memwarden_internal.erasure_extent,
    holds      uuid[],
    unread     memwarden_internal.unread_extent,
    synonyms   text,
    terms      text[],
    recall_ids uuid[]
);
COMMENT ON TYPE memwarden_internal.found_person IS
    'What a search for a person has found; looked_at: with what is newer, where something may be left; the holds on it; what could '
    'not be read; the synonyms by which names were compared; what was looked for in texts; and recalls whose task names the person.';

CREATE OR REPLACE FUNCTION memwarden_internal.erasure_extent(
    p_org_id bigint, p_orgs bigint[], p_subject text, p_terms text[], p_synonyms text,
    p_among memwarden_internal.erasure_extent DEFAULT NULL, p_found memwarden_internal.erasure_extent DEFAULT NULL)
RETURNS memwarden_internal.erasure_extent
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_org      bigint[] := ARRAY[p_org_id];
    -- Who speaks may be the subject of nothing.
    v_subjects text[] := memwarden_internal.meant_subjects(
        v_org, p_subject, p_synonyms, p_among.item_ids, p_among.request_ids)
        || coalesce(memwarden_internal.named_id(p_subject), p_subject);
    v_found    memwarden_internal.erasure_extent;
BEGIN
    v_found.evidence_ids := memwarden_internal.each_once(p_found.evidence_ids
        || memwarden_internal.find_in_evidence(v_org, p_terms, p_among.evidence_ids)
        || memwarden_internal.find_captures(v_org, v_subjects, p_terms, p_among.evidence_ids)
        || memwarden_internal.find_threads(v_org, p_subject, p_terms, p_synonyms, p_among.evidence_ids));
    v_found.evidence_ids := v_found.evidence_ids || memwarden_internal.sources_under_key(p_org_id, p_subject, v_found.evidence_ids);
    v_found.entity_ids := memwarden_internal.each_once(p_found.entity_ids
        || memwarden_internal.find_in_entities(v_org, p_subject, p_terms, p_among.entity_ids));
    v_found.item_ids := memwarden_internal.with_derived(p_orgs, memwarden_internal.each_once(p_found.item_ids
        || memwarden_internal.found_items(v_org, v_subjects, p_terms, v_found.evidence_ids, p_among.item_ids)
        || memwarden_internal.items_of_entities(v_org, v_found.entity_ids)));
    v_found.request_ids := p_found.request_ids || memwarden_internal.find_in_requests(
        v_org, v_found.item_ids, v_found.evidence_ids, v_subjects, p_terms, p_among.request_ids);
    IF cardinality(p_orgs) > 1 THEN
        v_found.request_ids := v_found.request_ids || memwarden_internal.find_in_requests(array_remove(p_orgs, p_org_id),
            v_found.item_ids, v_found.evidence_ids, '{}', '{}', p_among.request_ids);
    END IF;
    v_found.request_ids := memwarden_internal.each_once(v_found.request_ids);
    v_found.log_seqs := memwarden_internal.each_once(ARRAY(
        SELECT l.log_seq FROM memwarden_data.log AS l
         WHERE p_found.log_seqs <> '{}' AND l.org_id = p_org_id AND l.log_seq = ANY (p_found.log_seqs)
           AND l.item_id <> ALL (v_found.item_ids))
        || memwarden_internal.find_in_reasons(v_org, v_found.item_ids, p_terms, p_among.item_ids));
    SELECT count(*), coalesce(array_agg(DISTINCT v.layer), '{}') INTO v_found.versions, v_found.layers
      FROM memwarden_data.version AS v WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (v_found.item_ids);
    SELECT cardinality(v_found.log_seqs) + count(*) INTO v_found.log_entries
      FROM memwarden_data.log AS l WHERE l.org_id = ANY (p_orgs) AND l.item_id = ANY (v_found.item_ids);
    RETURN v_found;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erasure_extent IS
    'All that concerns a subject in an organisation (captures and threads among the evidence), '
    'and what was derived from it in any of p_orgs. p_among: where to look, by default everywhere. p_found: what was found before, '
    'which is then in the answer.';

CREATE OR REPLACE FUNCTION memwarden_internal.each_once(p_ids anyarray)
RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(SELECT DISTINCT u.id FROM unnest(p_ids) AS u (id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.each_once IS 'The numbers without repetition.';

CREATE OR REPLACE FUNCTION memwarden_internal.both_extents(
    p_one memwarden_internal.erasure_extent, p_other memwarden_internal.erasure_extent)
RETURNS memwarden_internal.erasure_extent
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN ROW((p_one).item_ids || (p_other).item_ids, (p_one).request_ids || (p_other).request_ids,
           (p_one).evidence_ids || (p_other).evidence_ids, (p_one).log_seqs || (p_other).log_seqs,
           (p_one).versions, (p_one).log_entries, (p_one).layers,
           (p_one).entity_ids || (p_other).entity_ids)::memwarden_internal.erasure_extent;
COMMENT ON FUNCTION memwarden_internal.both_extents IS 'What is in one extent or the other.';

-- By the transaction that left a row as it is. All since the oldest that was open then are taken for newer: some too many do no harm.
CREATE OR REPLACE FUNCTION memwarden_internal.newer_extent(p_orgs bigint[], p_seen pg_snapshot)
RETURNS memwarden_internal.erasure_extent
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_age   integer := age(pg_snapshot_xmin(p_seen)::xid);
    v_newer memwarden_internal.erasure_extent;
BEGIN
    v_newer.item_ids := ARRAY(
        SELECT p.item_id FROM memwarden_data.provenance AS p WHERE p.org_id = ANY (p_orgs) AND age(p.xmin) <= v_age
         UNION SELECT s.item_id FROM memwarden_data.sensitive_value AS s WHERE s.org_id = ANY (p_orgs) AND age(s.xmin) <= v_age
         -- No version without its entry.
         UNION SELECT l.item_id FROM memwarden_data.log AS l
                WHERE l.org_id = ANY (p_orgs) AND l.system_identifier = memwarden_internal.system_identifier()
                  AND l.transaction_id >= pg_snapshot_xmin(p_seen)
         UNION SELECT memwarden_internal.newer_references(p_orgs, v_age));
    v_newer.evidence_ids := ARRAY(
        SELECT e.evidence_id FROM memwarden_data.evidence AS e WHERE e.org_id = ANY (p_orgs) AND age(e.xmin) <= v_age
         UNION SELECT c.capture_id FROM memwarden_data.capture AS c WHERE c.org_id = ANY (p_orgs) AND age(c.xmin) <= v_age
         UNION SELECT t.thread_number FROM memwarden_data.thread AS t WHERE t.org_id = ANY (p_orgs) AND age(t.xmin) <= v_age
         -- Of which a memory was made.
         UNION SELECT d.capture_id FROM memwarden_data.candidate AS d
                WHERE d.org_id = ANY (p_orgs) AND (age(d.xmin) <= v_age OR d.request_id IN (
                          SELECT v.request_id FROM memwarden_data.version AS v
                           WHERE v.org_id = ANY (p_orgs) AND v.item_id = ANY (v_newer.item_ids))));
    v_newer.request_ids := ARRAY(
        SELECT r.request_id FROM memwarden_data.write_request AS r WHERE r.org_id = ANY (p_orgs) AND age(r.xmin) <= v_age
         UNION SELECT j.request_id FROM memwarden_data.job AS j WHERE j.org_id = ANY (p_orgs) AND age(j.xmin) <= v_age
         UNION SELECT v.request_id FROM memwarden_data.verdict AS v WHERE v.org_id = ANY (p_orgs) AND age(v.xmin) <= v_age
         UNION SELECT q.request_id FROM memwarden_data.review AS q WHERE q.org_id = ANY (p_orgs) AND age(q.xmin) <= v_age
         UNION SELECT e.request_id FROM memwarden_data.review_event AS e WHERE e.org_id = ANY (p_orgs) AND age(e.xmin) <= v_age);
    v_newer.entity_ids := ARRAY(
        SELECT DISTINCT a.entity_id FROM memwarden_data.entity_alias AS a WHERE a.org_id = ANY (p_orgs) AND age(a.xmin) <= v_age);
    v_newer.log_seqs := '{}';
    RETURN v_newer;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.newer_extent IS
    'What transactions have left in some organisations that p_seen did not see, whoever it is about, and perhaps somewhat more.';

CREATE OR REPLACE FUNCTION memwarden_internal.newer_references(p_orgs bigint[], p_age integer)
RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_source_id integer;
BEGIN
    FOR v_source_id IN SELECT s.source_id FROM memwarden_data.canonical_source AS s ORDER BY s.source_id LOOP
        RETURN QUERY EXECUTE format('SELECT r.item_id FROM memwarden_data.%I AS r WHERE r.org_id = ANY ($1) AND age(r.xmin) <= $2',
                                    'reference_' || v_source_id) USING p_orgs, p_age;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.newer_references IS
    'Items whose references a transaction has left that is no older than p_age transactions.';

-- What an item had before it was found may be anywhere: requests are not looked for by item.
CREATE OR REPLACE FUNCTION memwarden_internal.require_searched(p_orgs bigint[], p_item_ids uuid[], p_seen pg_snapshot)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF EXISTS (SELECT FROM memwarden_data.log AS l
                WHERE l.org_id = ANY (p_orgs) AND l.item_id = ANY (p_item_ids)
                  AND (l.system_identifier <> memwarden_internal.system_identifier()
                       OR pg_visible_in_snapshot(l.transaction_id, p_seen))) THEN
        PERFORM memwarden_internal.raise_error('changed_since', 'memories of the person');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_searched IS
    'Raises 40001 where one of the items was there when p_seen was taken: a search from then on has to look for it again.';

CREATE OR REPLACE FUNCTION memwarden_internal.search_person(
    p_org_id bigint, p_orgs bigint[], p_subject text, p_given text[], p_reason text, p_hold boolean)
RETURNS memwarden_internal.found_person
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_person memwarden_internal.found_person;
BEGIN
    IF p_hold AND current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    FOR v_attempt IN 1 .. 3 LOOP
        BEGIN
            -- Where much is written about the person, more searches do not help.
            IF p_hold AND v_attempt = 3 THEN
                PERFORM memwarden_internal.hold_organisations(p_orgs);
            END IF;
            v_person := memwarden_internal.search_once(p_org_id, p_orgs, p_subject, p_given, p_reason, p_hold);
            EXIT;
        EXCEPTION WHEN serialization_failure THEN
            -- It lets the writers go.
            IF v_attempt = 3 THEN
                RAISE;
            END IF;
        END;
    END LOOP;
    v_person.holds := memwarden_internal.blocking_holds(p_orgs, (v_person.extent).item_ids, (v_person.extent).request_ids,
        (v_person.extent).evidence_ids, p_subject, v_person.terms, v_person.synonyms);
    v_person.unread := memwarden_internal.add_unread(
        v_person.unread, memwarden_internal.unread_of_register(p_org_id, p_subject, v_person.synonyms));
    -- Where a hold keeps it, it may be because nobody can read it.
    IF v_person.holds <> '{}' THEN
        v_person.unread := memwarden_internal.add_unread(v_person.unread,
            memwarden_internal.unread_of_search(p_org_id, v_person.terms, NULL, v_person.extent));
    END IF;
    RETURN v_person;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.search_person IS
    'Searches for a person. p_given: terms beside those of the register; p_reason: must name none of those. p_hold: nobody '
    'writes in these organisations any more until this transaction ends, and what was written while it searched is in the answer. '
    'Raises 25001 then at an isolation other than READ COMMITTED.';

CREATE OR REPLACE FUNCTION memwarden_internal.look_for_person(
    p_org_id bigint, p_orgs bigint[], p_subject text, p_given text[], p_reason text DEFAULT NULL)
RETURNS memwarden_internal.found_person
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_synonyms text := memwarden_internal.synonyms_of(p_org_id);
    v_terms    text[] := memwarden_internal.terms_of_person(p_org_id, p_subject, v_synonyms, p_given, p_reason);
    v_found    memwarden_internal.erasure_extent := memwarden_internal.erasure_extent(p_org_id, p_orgs, p_subject, v_terms, v_synonyms);
BEGIN
    RETURN ROW(v_found, v_found, '{}'::uuid[], memwarden_internal.unread_of_search(p_org_id, v_terms, v_found), v_synonyms, v_terms,
        memwarden_internal.find_in_recalls(p_orgs, v_terms))::memwarden_internal.found_person;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.look_for_person IS
    'Searches everywhere for a person, and holds nobody up. p_given: terms beside those of the register; p_reason: must name none of '
    'those. What of the register could not be read is not counted.';

CREATE OR REPLACE FUNCTION memwarden_internal.search_once(
    p_org_id bigint, p_orgs bigint[], p_subject text, p_given text[], p_reason text, p_hold boolean)
RETURNS memwarden_internal.found_person
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_seen     pg_snapshot := memwarden_internal.snapshot_here();
    v_person   memwarden_internal.found_person := memwarden_internal.look_for_person(p_org_id, p_orgs, p_subject, p_given, p_reason);
    v_synonyms text := v_person.synonyms;
    v_terms    text[] := v_person.terms;
    v_found    memwarden_internal.erasure_extent := v_person.extent;
    v_newer    memwarden_internal.erasure_extent;
    v_now      text[];
BEGIN
    IF p_hold THEN
        PERFORM memwarden_internal.hold_organisations(p_orgs);
        v_now := memwarden_internal.terms_of_person(p_org_id, p_subject, v_synonyms, p_given, p_reason);
        IF memwarden_internal.synonyms_of(p_org_id) <> v_synonyms OR NOT (v_now <@ v_terms AND v_terms <@ v_now) THEN
            PERFORM memwarden_internal.raise_error('changed_since', 'synonyms, or identifiers of the person');
        END IF;
        v_newer := memwarden_internal.newer_extent(p_orgs, v_seen);
        v_person.extent := memwarden_internal.erasure_extent(p_org_id, p_orgs, p_subject, v_terms, v_synonyms, v_newer, v_found);
        PERFORM memwarden_internal.require_searched(p_orgs, ARRAY(
            SELECT i.id FROM unnest((v_person.extent).item_ids) AS i (id)
            EXCEPT SELECT i.id FROM unnest(v_found.item_ids) AS i (id)), v_seen);
        v_person.recall_ids := v_person.recall_ids || memwarden_internal.find_in_recalls(p_orgs, v_terms, v_seen);
        v_person.looked_at := memwarden_internal.both_extents(v_person.extent, v_newer);
        v_person.unread := memwarden_internal.add_unread(v_person.unread,
            memwarden_internal.unread_of_search(p_org_id, v_terms, v_person.extent, v_newer));
    END IF;
    RETURN v_person;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.search_once IS
    'As search_person(), but for holds. Raises 40001 where it has to be done again.';

CREATE OR REPLACE FUNCTION memwarden_internal.synonyms_of(p_org_id bigint)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce((SELECT v.synonyms::text FROM memwarden_data.vocabulary AS v WHERE v.org_id = p_org_id), '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.synonyms_of IS 'The words that an organisation takes for equal, as a JSON object.';
