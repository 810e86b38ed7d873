CREATE OR REPLACE FUNCTION memwarden_internal.blocking_holds(
    p_orgs bigint[], p_item_ids uuid[], p_request_ids uuid[], p_evidence_ids uuid[], p_subject text, p_terms text[], p_synonyms text)
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT h.hold_id
          FROM memwarden_data.legal_hold AS h
         WHERE h.org_id = ANY (p_orgs) AND h.lifted_at IS NULL
           -- Whom a hold names, of whom nothing may go: also what is not a memory yet.
           AND (memwarden_internal.normalised_subject(h.subject, p_synonyms) = memwarden_internal.normalised_subject(p_subject, p_synonyms)
                OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms, h.subject || coalesce(h.texts, '{}'))
                OR EXISTS (SELECT FROM memwarden_internal.held_among(h.org_id, h.hold_id, p_item_ids))
                OR memwarden_internal.holds_source(h.org_id, h.hold_id, p_request_ids, p_evidence_ids))
         ORDER BY h.hold_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.blocking_holds IS
    'The holds that stand against an erasure: those that keep one of the items, of the requests that wait, of the evidence, captures or '
    'threads, and those that name the subject or a term.';

CREATE OR REPLACE FUNCTION memwarden_internal.holds_source(
    p_org_id bigint, p_hold_id uuid, p_request_ids uuid[], p_source_ids uuid[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_hold     record;
    v_terms    text[];
    v_synonyms text := coalesce((SELECT v.synonyms::text FROM memwarden_data.vocabulary AS v WHERE v.org_id = p_org_id), '{}');
    -- By which the subject is registered; NULL where the hold names none, or this server cannot read them.
    v_known    text[];
BEGIN
    SELECT h.scope_ids, h.texts, h.subject, num_nonnulls(h.item_id, h.layers, h.written_during) AS others INTO v_hold
      FROM memwarden_data.legal_hold AS h WHERE h.org_id = p_org_id AND h.hold_id = p_hold_id;
    v_terms := memwarden_internal.search_terms(v_hold.texts);
    IF NOT EXISTS (SELECT FROM memwarden_internal.unread_registrations(p_org_id, v_hold.subject, v_synonyms)) THEN
        v_known := CASE WHEN v_hold.subject IS NOT NULL
                        THEN memwarden_internal.registered_terms(p_org_id, v_hold.subject, v_synonyms) END;
    END IF;
    -- What is no memory yet, or no more, has no subject that is compared and no layer: it is held by its scope and its words.
    IF v_hold.others > 0 OR v_known = '{}' THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM memwarden_internal.sources_among(ARRAY[p_org_id], p_source_ids) AS e
          JOIN memwarden_data.scope AS s ON s.scope_id = e.scope_id
          LEFT JOIN memwarden_data.said_capture AS c ON c.org_id = e.org_id AND c.capture_id = e.source_id
          LEFT JOIN memwarden_data.said_record AS x ON x.org_id = e.org_id AND x.evidence_id = e.source_id
         WHERE (v_hold.scope_ids IS NULL OR s.lineage && v_hold.scope_ids)
           AND (v_terms IS NULL OR c.is_unread OR x.is_unread
                OR memwarden_internal.mentions(v_terms, ARRAY[c.content::text, x.excerpt, x.uri]))
           AND (v_known IS NULL OR c.is_unread OR x.is_unread
                OR memwarden_internal.mentions(v_known, ARRAY[c.content::text, x.excerpt, x.uri])))
        OR (v_terms IS NOT NULL OR v_hold.subject IS NOT NULL) AND EXISTS (
        SELECT FROM memwarden_data.write_request AS r
          JOIN memwarden_data.scope AS s ON s.scope_id = r.scope_id
         WHERE r.org_id = p_org_id AND r.request_id = ANY (p_request_ids) AND r.outcome = 'DEFERRED'
           AND (v_hold.scope_ids IS NULL OR s.lineage && v_hold.scope_ids)
           AND (memwarden_internal.is_unread(r.org_id, r.subject_key_id, r.sealed_words)
                OR NOT EXISTS (
                    SELECT FROM (VALUES (v_terms), (v_known)) AS t (terms)
                     WHERE NOT memwarden_internal.mentions(t.terms, ARRAY[
                               memwarden_internal.asked_content(r.content, r.subject_key_id, r.sealed_words), r.subject, r.predicate]))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.holds_source IS
    'Whether a hold keeps recorded evidence, a capture, a thread or a request that waits: by the scope alone, or by texts, or identifiers '
    'of a registered subject, that it names or that this server cannot read.';

CREATE OR REPLACE FUNCTION memwarden_internal.blocked_reason(p_unread integer, p_hold_ids uuid[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
RETURN CASE WHEN p_unread > 0 THEN 'KEYS_UNAVAILABLE' WHEN p_hold_ids <> '{}' THEN 'HELD' END;
COMMENT ON FUNCTION memwarden_internal.blocked_reason IS 'Why an erasure waits; NULL where nothing blocks it.';

CREATE OR REPLACE FUNCTION memwarden_internal.erasure_number(p_org_id bigint, p_subject text, p_terms text[], p_synonyms text)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce(
        (SELECT b.erasure_id FROM memwarden_data.blocked_erasure AS b
          WHERE b.org_id = p_org_id AND memwarden_internal.search_terms(b.identifiers) <@ p_terms
            AND p_terms <@ memwarden_internal.search_terms(b.identifiers)
            AND memwarden_internal.normalised_subject(b.subject, p_synonyms) = memwarden_internal.normalised_subject(p_subject, p_synonyms)
          ORDER BY b.erasure_id LIMIT 1),
        memwarden_internal.uuid7());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erasure_number IS
    'The number of an erasure: that of the same one where it waits already, else a new one.';

CREATE OR REPLACE FUNCTION memwarden_internal.note_blocked(
    p_org_id bigint, p_erasure_id uuid, p_subject text, p_identifiers text[], p_reason text, p_subject_hash bytea, p_items integer,
    p_hold_ids uuid[], p_unread memwarden_internal.unread_extent)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.blocked_erasure AS b (org_id, erasure_id, subject, identifiers, reason, subject_hash, items, hold_ids,
        principal_id, login, asked_at, looked_at, unread, key_ids)
    SELECT p_org_id, p_erasure_id, p_subject, coalesce(p_identifiers, '{}'), p_reason, p_subject_hash, p_items, p_hold_ids,
           memwarden_internal.current_principal(), session_user, clock_timestamp(), clock_timestamp(), p_unread.documents, p_unread.key_ids
     WHERE p_erasure_id IS NOT NULL
    ON CONFLICT ON CONSTRAINT blocked_erasure_pkey DO UPDATE
       SET hold_ids = excluded.hold_ids, items = excluded.items, looked_at = excluded.looked_at, unread = excluded.unread,
           key_ids = excluded.key_ids;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_blocked IS
    'Notes that an erasure waits, for which holds, and what could not be read; nothing where p_erasure_id is NULL. Who asked first asked.';

CREATE OR REPLACE FUNCTION memwarden_internal.carry_out_next_blocked(p_after uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET lock_timeout = '5s'
AS $function$
DECLARE
    v_id     uuid;
    v_org_id bigint;
BEGIN
    -- What a hold in force is known to block is not looked at again, and nobody waits for it.
    SELECT b.erasure_id, b.org_id INTO v_id, v_org_id
      FROM memwarden_data.blocked_erasure AS b
     WHERE (p_after IS NULL OR b.erasure_id > p_after)
       -- Nor what needs keys that are still missing. What no missing key explains is looked at again every hour.
       AND CASE WHEN b.unread = 0
                THEN NOT EXISTS (SELECT FROM memwarden_data.legal_hold AS h WHERE h.hold_id = ANY (b.hold_ids) AND h.lifted_at IS NULL)
                WHEN b.key_ids = '{}' THEN b.looked_at < clock_timestamp() - interval '1 hour'
                ELSE memwarden_internal.unopened_keys(b.org_id, b.key_ids) = '{}' END
     ORDER BY b.erasure_id LIMIT 1;
    IF FOUND THEN
        BEGIN
            PERFORM memwarden_internal.try_blocked(v_org_id, v_id);
        EXCEPTION WHEN lock_not_available OR deadlock_detected OR internal_error THEN
            -- It stays in the list, and the next run tries again.
            RAISE WARNING 'erasure % was not carried out: %', v_id, SQLERRM;
        END;
    END IF;
    RETURN v_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.carry_out_next_blocked IS
    'Tries the next erasure, by number, whose holds are all lifted and whose keys are back. Returns its number; NULL when there is none.';
GRANT EXECUTE ON FUNCTION memwarden_internal.carry_out_next_blocked TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.try_blocked(p_org_id bigint, p_erasure_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_orgs   bigint[] := memwarden_internal.orgs_of(p_org_id);
    v_row    memwarden_data.blocked_erasure;
    v_person memwarden_internal.found_person;
BEGIN
    SELECT b.* INTO v_row FROM memwarden_data.blocked_erasure AS b WHERE b.org_id = p_org_id AND b.erasure_id = p_erasure_id;
    v_person := memwarden_internal.search_person(
        p_org_id, v_orgs, v_row.subject, memwarden_internal.search_terms(v_row.identifiers), NULL, true);
    -- Another run has carried it out meanwhile.
    IF NOT EXISTS (SELECT FROM memwarden_data.blocked_erasure AS b WHERE b.org_id = p_org_id AND b.erasure_id = p_erasure_id) THEN
        RETURN;
    ELSIF memwarden_internal.blocked_reason((v_person.unread).documents, v_person.holds) IS NOT NULL THEN
        PERFORM memwarden_internal.note_blocked(p_org_id, p_erasure_id, v_row.subject, v_row.identifiers, v_row.reason,
            v_row.subject_hash, cardinality((v_person.extent).item_ids), v_person.holds, v_person.unread);
        RETURN;
    END IF;
    PERFORM memwarden_internal.erase_person(p_org_id, v_orgs, p_erasure_id, v_row.subject, v_person.terms, v_person, v_row.reason,
        v_row.subject_hash, v_row.login, v_row.principal_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.try_blocked IS
    'Carries out an erasure that waits, in the name of who asked for it, unless a hold or something unread blocks it now; does nothing '
    'where it waits no longer.';

-- Holds, pins and links are by number, but what was said about them may name the person.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_keeping(
    p_orgs bigint[], p_erasure_id uuid, p_subject text, p_terms text[], p_synonyms text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_form text := memwarden_internal.normalised_subject(p_subject, p_synonyms);
BEGIN
    DELETE FROM memwarden_data.blocked_erasure AS b WHERE b.org_id = ANY (p_orgs) AND b.erasure_id = p_erasure_id;
    UPDATE memwarden_data.pin AS n SET reason = ''
     WHERE n.org_id = ANY (p_orgs) AND p_terms <> '{}' AND memwarden_internal.mentions(p_terms, ARRAY[n.reason]);
    -- A hold in force that names the person would have blocked this; only its reason can.
    UPDATE memwarden_data.legal_hold AS h
       SET reason = CASE WHEN memwarden_internal.mentions(p_terms, ARRAY[h.reason]) THEN '' ELSE h.reason END,
           lift_reason = CASE WHEN memwarden_internal.mentions(p_terms, ARRAY[h.lift_reason]) THEN '' ELSE h.lift_reason END,
           subject = CASE WHEN memwarden_internal.normalised_subject(h.subject, p_synonyms) = v_form
                            OR memwarden_internal.mentions(p_terms, ARRAY[h.subject]) THEN '' ELSE h.subject END,
           texts = CASE WHEN memwarden_internal.mentions(p_terms, h.texts) THEN '{}' ELSE h.texts END
     WHERE h.org_id = ANY (p_orgs)
       AND (memwarden_internal.normalised_subject(h.subject, p_synonyms) = v_form
            OR p_terms <> '{}' AND memwarden_internal.mentions(p_terms,
                   ARRAY[h.reason, h.lift_reason, h.subject] || coalesce(h.texts, '{}')));
    UPDATE memwarden_data.action_link AS l SET action_id = 'erased ' || n.number
      FROM (SELECT k.org_id, k.action_id, k.principal_id, memwarden_internal.uuid7() AS number
              FROM (SELECT DISTINCT a.org_id, a.action_id, a.principal_id FROM memwarden_data.action_link AS a
                     WHERE a.org_id = ANY (p_orgs) AND p_terms <> '{}'
                       AND memwarden_internal.mentions(p_terms, ARRAY[a.action_id])) AS k) AS n
     WHERE l.org_id = n.org_id AND l.action_id = n.action_id AND l.principal_id = n.principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_keeping IS
    'Takes the person out of reasons of pins and holds, out of lifted holds and out of numbers of actions, and deletes the request '
    'that waited.';
