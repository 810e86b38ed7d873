CREATE OR REPLACE FUNCTION memwarden.erase_subject(
    subject text, reason text, identifiers text[] DEFAULT '{}', org text DEFAULT NULL, dry_run boolean DEFAULT false)
RETURNS TABLE (erasure_id uuid, status text, items integer, versions integer, requests integer, evidence integer,
    log_entries integer, layers text[],
               erased_at timestamptz, subject_hash bytea, places jsonb, final_at timestamptz,
               blocked_reason text, unread integer)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id   bigint := memwarden_internal.require_eraser(erase_subject.org);
    -- What the organisations have of /global's memory goes with it.
    v_orgs     bigint[] := memwarden_internal.orgs_of(v_org_id);
    v_id       uuid;
    v_given    text[] := memwarden_internal.erasure_terms(erase_subject.subject, erase_subject.identifiers, erase_subject.reason);
    v_person   memwarden_internal.found_person;
    v_found    memwarden_internal.erasure_extent;
    v_hash     bytea;
BEGIN
    v_person := memwarden_internal.search_person(
        v_org_id, v_orgs, erase_subject.subject, v_given, erase_subject.reason, NOT coalesce(erase_subject.dry_run, false));
    -- It took a while: the caller may be nobody any more.
    PERFORM memwarden_internal.require_eraser(erase_subject.org);
    v_found := v_person.extent;
    v_hash := memwarden_internal.keyed_hash('erased subject', convert_to(
        v_org_id || ' ' || memwarden_internal.normalised_subject(erase_subject.subject, v_person.synonyms), 'UTF8'));
    IF NOT coalesce(erase_subject.dry_run, false) THEN
        v_id := memwarden_internal.erasure_number(v_org_id, erase_subject.subject, v_given, v_person.synonyms);
    END IF;
    blocked_reason := memwarden_internal.blocked_reason((v_person.unread).documents, v_person.holds);
    IF v_id IS NULL OR blocked_reason IS NOT NULL THEN
        PERFORM memwarden_internal.note_blocked(v_org_id, v_id, erase_subject.subject, erase_subject.identifiers, erase_subject.reason,
            v_hash, cardinality(v_found.item_ids), v_person.holds, v_person.unread);
        IF v_id IS NOT NULL AND (v_person.unread).documents > 0 THEN
            PERFORM memwarden_internal.note_incidents(v_org_id, NULL, 'KEYS_UNAVAILABLE');
        END IF;
        RETURN QUERY SELECT v_id, CASE WHEN blocked_reason IS NULL THEN 'DRY_RUN' ELSE 'BLOCKED' END, cardinality(v_found.item_ids),
            v_found.versions, cardinality(v_found.request_ids), cardinality(v_found.evidence_ids), v_found.log_entries, v_found.layers,
            NULL::timestamptz, v_hash, NULL::jsonb, NULL::timestamptz, blocked_reason, (v_person.unread).documents;
        RETURN;
    END IF;
    PERFORM memwarden_internal.erase_person(v_org_id, v_orgs, v_id, erase_subject.subject, v_person.terms, v_person, erase_subject.reason,
        v_hash, session_user, memwarden_internal.current_principal());
    RETURN QUERY
    SELECT e.erasure_id, 'COMPLETED', e.items, e.versions, e.requests, e.evidence, e.log_entries, e.layers, e.erased_at, e.subject_hash,
           e.detail -> 'places', e.final_at, NULL::text, 0
      FROM memwarden_data.erasure AS e WHERE e.erasure_id = v_id;
END
$function$;
COMMENT ON FUNCTION memwarden.erase_subject IS
    'Erases for good all that an organisation remembers of a subject, and returns a certificate. It erases in any '
    'layer, status and tier: (1) every item with a version that has the subject (compared as keys are); (2) every '
    'item with a version that names an identifier in content, evidence, subject, predicate, kind, attributes or '
    'provenance; (3) what was encrypted of these items, and all that was derived from them, to any depth; (4) their '
    'whole history, vectors and timeline; (5) the content of every write request about them or naming them (a request '
    'that waits ends as REJECTED, SUBJECT_ERASED); (6) recorded evidence that names an identifier, with what rests on '
    'it; (7) captures that name an identifier, in which the subject speaks, or from which a memory of the subject was '
    'made, with what rests on them; (8) the entities that bear the name or an identifier, with their names, '
    'attributes and all that was remembered of them by any name; (9) attributes of other entities that name an '
    'identifier, synonyms and defined predicates that do; (10) the reasons in the log; the hashes of the log stay; (11) what '
    'register_subject() registered of the subject: all these identifiers count as given. The call searches about 5,000 items a second '
    'while writers write. Then they wait for as long as it takes to look at what was written meanwhile, and to erase. Administrators '
    'of the organisation (full) with a role '
    'that deletes for good may call it. subject: looked for as a subject only; id:john-doe is the identifier that an '
    'adapter gave, compared to the letter, and id:users/ana a namespace of LangGraph; to find the name in texts, give it as '
    'an identifier too. reason: kept with the certificate; it must name neither the subject nor an identifier. '
    'identifiers: at most 100 texts of 2 to 1,000 characters; found literally, whatever the case, and never as part '
    'of a longer word. org: the organisation; by default the caller''s; members of memwarden_admin name it. dry_run: '
    'true only counts. Returns the certificate as one row. erasure_id: the number of the erasure. layers: the layers '
    'concerned. erased_at: when it was done. status: COMPLETED, DRY_RUN; or BLOCKED. Then nothing is erased, the erasure waits in '
    'memwarden.erasures, and enforce_consent() carries it out once nothing blocks it. blocked_reason: KEYS_UNAVAILABLE where this '
    'server cannot read some of what is encrypted, which may name the person; unread counts these documents. HELD where a legal hold '
    'keeps one of the memories or names the person. NULL where nothing blocks it. items, versions, requests, '
    'log_entries: how many there were. evidence: how many pieces of recorded evidence, captures and threads there were. '
    'subject_hash: the HMAC of the normalised subject, NULL without a master key. places: rows deleted or blanked, by table: '
    'captures, sessions, entities and keys of subjects among them. final_at: from when on no copy of the store can bring it back, see '
    'finalise_erasures(). Raises 42501 without the right; 42704 for an unknown organisation, and when nothing matched; '
    '22023 for arguments out of range; 25001 at an isolation level other than READ COMMITTED; 40001 when what was found changes again '
    'and again; XX000 when something would be left. '
    'Raises 55P03 when others hold it up for longer than 30 seconds, or lock_timeout. '
    'Source: chapter 12.10.2.';
GRANT EXECUTE ON FUNCTION memwarden.erase_subject TO memwarden_agent, memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.require_eraser(p_org text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(p_org, 'full');
BEGIN
    IF p_org IS NULL AND memwarden_internal.is_database_admin() THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'org: name the organisation');
    ELSIF NOT memwarden_internal.may_erase(v_org_id) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', 'DELETE (hard) in every layer');
    END IF;
    RETURN v_org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_eraser IS
    'The organisation in which the caller may erase: its own by default. Raises 42501 unless the caller administers it '
    'and deletes for good in every layer, 22023 where a member of memwarden_admin names none, 42704 for an unknown one.';

CREATE OR REPLACE FUNCTION memwarden_internal.may_erase(p_org_id bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.is_database_admin() OR memwarden_internal.may_administer(p_org_id, 'full') AND EXISTS (
        SELECT FROM memwarden_data.principal AS p
          JOIN memwarden_data.role_permission AS r ON r.role_id = p.role_id
         WHERE p.principal_id = (SELECT memwarden_internal.current_principal()) AND r.operation = 'DELETE' AND r.degree = 'hard'
           AND r.layer = '*' AND r.kind IS NULL AND r.reach = 'all');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.may_erase IS
    'Whether the caller administers an organisation and deletes for good in every layer.';

CREATE OR REPLACE FUNCTION memwarden_internal.erasure_terms(p_subject text, p_identifiers text[], p_reason text)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_terms text[];
BEGIN
    IF p_subject IS NULL OR p_subject !~ '[^[:space:]]' OR length(p_subject) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'subject: 1 to 1,000 characters, not blank');
    ELSIF p_reason IS NULL OR p_reason !~ '[^[:space:]]' OR length(p_reason) > 1000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: 1 to 1,000 characters, not blank');
    ELSIF cardinality(p_identifiers) > 100 OR NOT memwarden_internal.is_list(p_identifiers)
        OR EXISTS (SELECT FROM unnest(p_identifiers) AS i (name) WHERE length(i.name) > 1000) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'identifiers: at most 100, each of 2 to 1,000 characters');
    END IF;
    v_terms := memwarden_internal.search_terms(coalesce(p_identifiers, '{}'));
    -- A single character would erase nearly everything.
    IF cardinality(v_terms) < cardinality(memwarden_internal.search_terms(p_identifiers || '{}'::text[]))
       OR EXISTS (SELECT FROM unnest(p_identifiers) AS i (name)
           WHERE length(coalesce((memwarden_internal.search_terms(ARRAY[i.name]))[1], '')) < 2) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'identifiers: at most 100, each of 2 to 1,000 characters');
    ELSIF memwarden_internal.mentions(v_terms || memwarden_internal.search_terms(ARRAY[p_subject]), ARRAY[p_reason]) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reason: it must not name the subject, for it is kept');
    END IF;
    RETURN v_terms;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erasure_terms IS
    'The identifiers as they are looked for. Raises 22023 for arguments of erase_subject() out of range.';

CREATE OR REPLACE FUNCTION memwarden_internal.record_erasure(
    p_org_id bigint, p_erasure_id uuid, p_erased_at timestamptz, p_reason text, p_subject_hash bytea,
        p_extent memwarden_internal.erasure_extent, p_cause text DEFAULT 'ERASURE',
        p_login text DEFAULT NULL, p_principal_id bigint DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_key_id       text := memwarden_internal.log_key_id();
    v_login        text := coalesce(p_login, session_user);
    v_principal_id bigint := CASE WHEN p_login IS NULL THEN memwarden_internal.current_principal() ELSE p_principal_id END;
    v_reason_hash  bytea := sha256(convert_to(p_reason, 'UTF8'));
    v_items        integer := cardinality(p_extent.item_ids);
    v_requests     integer := cardinality(p_extent.request_ids);
    v_evidence     integer := cardinality(p_extent.evidence_ids);
BEGIN
    INSERT INTO memwarden_data.erasure (
        org_id, erasure_id, erased_at, login_role, principal_id, subject_hash, reason, reason_hash, items, versions, requests,
            evidence, log_entries,
        layers, key_id, signature, system_identifier, transaction_id, cause)
    VALUES (
        p_org_id, p_erasure_id, p_erased_at, v_login, v_principal_id, p_subject_hash, p_reason, v_reason_hash, v_items,
            p_extent.versions,
        v_requests, v_evidence, p_extent.log_entries, p_extent.layers, v_key_id,
        memwarden_internal.sign('erasure', memwarden_internal.erasure_statement(
            p_org_id, p_erasure_id, p_erased_at, v_login, v_principal_id, p_subject_hash, v_reason_hash, v_items, p_extent.versions,
            v_requests, v_evidence, p_extent.log_entries, p_extent.layers, v_key_id, p_cause)),
        memwarden_internal.system_identifier(), pg_current_xact_id(), p_cause);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_erasure IS
    'The certificate of an erasure, signed; p_login and p_principal_id: who asked for it, by default the caller. It opens '
    'the guards of history to this transaction.';

CREATE OR REPLACE FUNCTION memwarden_internal.blank_erasure_reasons(p_erasure_ids uuid[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    UPDATE memwarden_data.erasure AS e SET reason = '' WHERE e.erasure_id = ANY (p_erasure_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.blank_erasure_reasons IS 'Takes the reasons of earlier erasures away; their hashes stay.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_nothing_left(
    p_org_id bigint, p_orgs bigint[], p_subject text, p_terms text[], p_synonyms text, p_among memwarden_internal.erasure_extent)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_left memwarden_internal.erasure_extent := memwarden_internal.erasure_extent(
        p_org_id, p_orgs, p_subject, p_terms, p_synonyms, p_among);
BEGIN
    IF cardinality(v_left.item_ids) + cardinality(v_left.request_ids) + cardinality(v_left.evidence_ids) + cardinality(v_left.log_seqs)
       + cardinality(v_left.entity_ids) + cardinality(memwarden_internal.find_in_erasures(ARRAY[p_org_id], p_terms)) > 0
       OR memwarden_internal.names_in_vocabulary(ARRAY[p_org_id], p_terms)
       OR memwarden_internal.registered_hashes(p_org_id, p_subject, p_synonyms, p_terms) <> '{}' THEN
        PERFORM memwarden_internal.raise_error('erasure_incomplete', format('%s items, %s requests, %s pieces of evidence, '
            '%s log entries are left',
            cardinality(v_left.item_ids), cardinality(v_left.request_ids), cardinality(v_left.evidence_ids), cardinality(v_left.log_seqs)));
    ELSIF (memwarden_internal.unread_of_search(p_org_id, p_terms, NULL, p_among)).documents > 0 THEN
        PERFORM memwarden_internal.raise_error('erasure_incomplete', 'something encrypted could not be read');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_nothing_left IS
    'Searches again after an erasure, where something was found or is new. Raises XX000 when anything is found, or cannot be read.';

CREATE OR REPLACE FUNCTION memwarden_internal.erase_person(
    p_org_id bigint, p_orgs bigint[], p_erasure_id uuid, p_subject text, p_terms text[], p_person memwarden_internal.found_person,
    p_reason text, p_subject_hash bytea, p_login text, p_principal_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_found      memwarden_internal.erasure_extent := p_person.extent;
    v_before     jsonb := memwarden_internal.rows_changed();
    v_registered bytea[] := memwarden_internal.registered_hashes(p_org_id, p_subject, p_person.synonyms, p_terms);
    v_keys       uuid[] := memwarden_internal.doomed_keys(
        p_orgs, p_subject_hash, v_found.item_ids, v_found.evidence_ids, v_registered);
BEGIN
    PERFORM memwarden_internal.record_erasure(p_org_id, p_erasure_id, clock_timestamp(), p_reason, p_subject_hash, v_found, 'ERASURE',
        p_login, p_principal_id);
    v_before := v_before || jsonb_build_object('in clear', memwarden_internal.count_in_clear(p_orgs, v_found, v_keys)
        + (SELECT count(*) FROM memwarden_data.registered_subject AS r
            WHERE r.org_id = p_org_id AND r.subject_hash = ANY (v_registered)
              AND (r.sealed IS NULL OR r.subject_key_id <> ALL (v_keys))));
    PERFORM memwarden_internal.carry_out_erasure(p_orgs, p_erasure_id, v_found.item_ids, v_found.request_ids, v_found.evidence_ids,
        v_found.log_seqs);
    PERFORM memwarden_internal.erase_entities(ARRAY[p_org_id], v_found.entity_ids, p_terms);
    PERFORM memwarden_internal.erase_vocabulary(ARRAY[p_org_id], p_terms);
    PERFORM memwarden_internal.blank_erasure_reasons(memwarden_internal.find_in_erasures(p_orgs, p_terms));
    PERFORM memwarden_internal.erase_recalls(p_orgs, '{}', p_person.recall_ids);
    PERFORM memwarden_internal.erase_consent(p_orgs, p_subject, p_terms);
    PERFORM memwarden_internal.erase_sessions(p_orgs, p_subject, p_terms);
    PERFORM memwarden_internal.erase_keeping(p_orgs, p_erasure_id, p_subject, p_terms, p_person.synonyms);
    PERFORM memwarden_internal.erase_remarks(p_orgs, p_terms);
    PERFORM memwarden_internal.erase_registered(p_org_id, p_erasure_id, p_subject, p_person.synonyms, v_registered);
    -- Whatever it is that was overlooked: nothing is certified that is not so.
    PERFORM memwarden_internal.require_nothing_left(p_org_id, p_orgs, p_subject, p_terms, p_person.synonyms, p_person.looked_at);
    PERFORM memwarden_internal.destroy_keys(p_orgs, p_erasure_id, v_keys);
    PERFORM memwarden_internal.complete_certificate(p_erasure_id, v_before || jsonb_build_object(
        'remains', memwarden_internal.names_left(ARRAY[p_org_id], p_terms)
            || memwarden_internal.shared_registrations(p_org_id, p_terms)));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.erase_person IS
    'The erasure itself: records, deletes, and looks again. The caller holds the organisations and no hold stands against it. '
    'p_login, p_principal_id: who asked for it. Raises XX000 when anything is left, 42704 when nothing matched.';
