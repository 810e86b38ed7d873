CREATE OR REPLACE FUNCTION memwarden_internal.blocking_holds(
    p_orgs bigint[], p_item_ids uuid[], p_evidence_ids uuid[], p_subject text, p_terms text[], p_synonyms text)
RETURNS uuid[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
                -- A scope that is held whole is held with what its memories come from.
                OR num_nonnulls(h.item_id, h.subject, h.texts, h.layers, h.written_during) = 0
                   AND EXISTS (SELECT FROM memwarden_internal.sources_among(ARRAY[h.org_id], p_evidence_ids) AS e
                                 JOIN memwarden_data.scope AS s ON s.scope_id = e.scope_id
                                WHERE s.lineage && h.scope_ids))
         ORDER BY h.hold_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.blocking_holds(bigint[], uuid[], uuid[], text, text[], text) IS
    'The holds that stand against an erasure: those that keep one of the items, the scope of evidence, a capture or a thread, '
    'and those that name the subject or a term.';
REVOKE ALL ON FUNCTION memwarden_internal.blocking_holds(bigint[], uuid[], uuid[], text, text[], text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.erasure_number(p_org_id bigint, p_subject text, p_terms text[], p_synonyms text)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden_internal.erasure_number(bigint, text, text[], text) IS
    'The number of an erasure: that of the same one where it waits already, else a new one.';
REVOKE ALL ON FUNCTION memwarden_internal.erasure_number(bigint, text, text[], text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.note_blocked(
    p_org_id bigint, p_erasure_id uuid, p_subject text, p_identifiers text[], p_reason text, p_subject_hash bytea, p_items integer,
    p_hold_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    INSERT INTO memwarden_data.blocked_erasure AS b (org_id, erasure_id, subject, identifiers, reason, subject_hash, items, hold_ids,
        principal_id, login, asked_at, looked_at)
    SELECT p_org_id, p_erasure_id, p_subject, coalesce(p_identifiers, '{}'), p_reason, p_subject_hash, p_items, p_hold_ids,
           memwarden_internal.current_principal(), session_user, clock_timestamp(), clock_timestamp()
     WHERE p_erasure_id IS NOT NULL
    ON CONFLICT ON CONSTRAINT blocked_erasure_pkey DO UPDATE
       SET hold_ids = excluded.hold_ids, items = excluded.items, looked_at = excluded.looked_at;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.note_blocked(bigint, uuid, text, text[], text, bytea, integer, uuid[]) IS
    'Notes that an erasure waits, and for which holds; nothing where p_erasure_id is NULL. Who asked first asked.';
REVOKE ALL ON FUNCTION memwarden_internal.note_blocked(bigint, uuid, text, text[], text, bytea, integer, uuid[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION memwarden_internal.carry_out_next_blocked(p_after uuid)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
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
       AND NOT EXISTS (SELECT FROM memwarden_data.legal_hold AS h WHERE h.hold_id = ANY (b.hold_ids) AND h.lifted_at IS NULL)
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
COMMENT ON FUNCTION memwarden_internal.carry_out_next_blocked(uuid) IS
    'Tries the next erasure, by number, whose holds are all lifted. Returns its number; NULL when there is none.';
REVOKE ALL ON FUNCTION memwarden_internal.carry_out_next_blocked(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.carry_out_next_blocked(uuid) TO memwarden_jobs, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.try_blocked(p_org_id bigint, p_erasure_id uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_orgs     bigint[] := CASE p_org_id WHEN 0 THEN ARRAY(SELECT o.org_id FROM memwarden_data.organisation AS o) ELSE ARRAY[p_org_id] END;
    v_row      memwarden_data.blocked_erasure;
    v_terms    text[];
    v_synonyms text;
    v_found    memwarden_internal.erasure_extent;
    v_holds    uuid[];
BEGIN
    PERFORM memwarden_internal.hold_organisations(v_orgs);
    -- Another run has carried it out meanwhile.
    SELECT b.* INTO v_row FROM memwarden_data.blocked_erasure AS b WHERE b.org_id = p_org_id AND b.erasure_id = p_erasure_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_terms := memwarden_internal.search_terms(v_row.identifiers);
    v_synonyms := coalesce((SELECT v.synonyms::text FROM memwarden_data.vocabulary AS v WHERE v.org_id = p_org_id), '{}');
    v_found := memwarden_internal.erasure_extent(p_org_id, v_orgs, v_row.subject, v_terms, v_synonyms);
    v_holds := memwarden_internal.blocking_holds(v_orgs, v_found.item_ids, v_found.evidence_ids, v_row.subject, v_terms, v_synonyms);
    IF v_holds = '{}' THEN
        PERFORM memwarden_internal.erase_person(p_org_id, v_orgs, p_erasure_id, v_row.subject, v_terms, v_synonyms, v_row.reason,
            v_row.subject_hash, v_found, v_row.login, v_row.principal_id);
    ELSE
        PERFORM memwarden_internal.note_blocked(p_org_id, p_erasure_id, v_row.subject, v_row.identifiers, v_row.reason,
            v_row.subject_hash, cardinality(v_found.item_ids), v_holds);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.try_blocked(bigint, uuid) IS
    'Carries out an erasure that waits, in the name of who asked for it, unless another hold blocks it now; does nothing where it '
    'waits no longer.';
REVOKE ALL ON FUNCTION memwarden_internal.try_blocked(bigint, uuid) FROM PUBLIC;

-- Holds, pins and links are by number, but what was said about them may name the person.
CREATE OR REPLACE FUNCTION memwarden_internal.erase_keeping(
    p_orgs bigint[], p_erasure_id uuid, p_subject text, p_terms text[], p_synonyms text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
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
COMMENT ON FUNCTION memwarden_internal.erase_keeping(bigint[], uuid, text, text[], text) IS
    'Takes the person out of reasons of pins and holds, out of lifted holds and out of numbers of actions, and deletes the request '
    'that waited.';
REVOKE ALL ON FUNCTION memwarden_internal.erase_keeping(bigint[], uuid, text, text[], text) FROM PUBLIC;
