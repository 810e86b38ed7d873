CREATE OR REPLACE FUNCTION memwarden.capture(
    source text, content jsonb, external_id text DEFAULT NULL, session_id text DEFAULT NULL, trace_id text DEFAULT NULL,
    scope text DEFAULT NULL, captured_at timestamptz DEFAULT NULL, classification text DEFAULT NULL, domains text[] DEFAULT NULL,
    captured_for text[] DEFAULT NULL, subject text DEFAULT NULL, class text DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_place record := memwarden_internal.capture_place(memwarden_internal.require_principal(), capture.scope);
BEGIN
    RETURN (memwarden_internal.append_capture(
        v_place.org_id, v_place.principal_id, v_place.scope_id, capture.source, capture.content, capture.external_id, capture.session_id,
        capture.trace_id, capture.captured_at, capture.classification, capture.domains,
        memwarden_internal.agents_named(v_place.org_id, capture.captured_for),
        memwarden_internal.demanded_key(v_place.org_id, capture.class, capture.subject))).capture_id;
END
$function$;
COMMENT ON FUNCTION memwarden.capture IS
    'Appends what happened to the capture log and returns its id. A capture is not memory: nothing that reads memory '
    'finds it. extract() makes candidates for memories from it. What the sensitivity rules of all layers block, '
    'encrypt or redact is masked before it is stored. source: where it comes from, a name of 1 to 63 lower-case '
    'letters, digits and _.- that begins with a letter. content: any JSON but null, by default at most 64 KiB; a turn '
    '{"role", "speaker", "text"}, a list of turns, a text, or what a tool answered {"tool", "result"}. external_id: '
    'its name at the source, at most 200 characters; a second call with the same name, caller and source returns the '
    'id of the first. session_id, trace_id: kept with it, at most 200 characters. scope: a path that the caller '
    'writes; candidates are written there; default its home. captured_at: when it happened; default now. '
    'classification, domains: those of the candidates, and the least of a memory that cites the capture. captured_for: '
    'the agents that may cite the capture beside the caller, where its source does not say otherwise (citable_by); '
    'default the agents whose home the scope is, where it is not the caller''s own. class, subject: a class of writes; where it is '
    'encrypted, the content is kept under the key of the subject, whom it is about, and so is what is made of it. Raises 22023 for '
    'arguments out of range; 42710 where external_id stands for another content; 42704 for a scope that the caller does not '
    'write, an unknown agent or an unknown class; 55000 for a closed scope, or without a generation of subject keys; 28000 '
    'without an identity. Source: F1, F7, V9, R3.';
GRANT EXECUTE ON FUNCTION memwarden.capture TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden.capture_many(captures json)
RETURNS TABLE (ordinal integer, capture_id uuid, repeated boolean, fault text, detail text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.require_principal();
    v_one          record;
    v_given        jsonb;
    v_place        record;
    v_done         record;
BEGIN
    IF json_typeof(capture_many.captures) IS DISTINCT FROM 'array' OR json_array_length(capture_many.captures) > 10000 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'captures: an array of at most 10,000 objects');
    END IF;
    FOR v_one IN SELECT a.element, a.ordinality FROM json_array_elements(capture_many.captures) WITH ORDINALITY AS a (element,
        ordinality) LOOP
        ordinal := v_one.ordinality - 1;
        capture_id := NULL;
        repeated := NULL;
        fault := NULL;
        detail := NULL;
        BEGIN
            v_given := memwarden_internal.read_capture(v_one.element);
            v_place := memwarden_internal.capture_place(v_principal_id, v_given ->> 'scope');
            v_done := memwarden_internal.append_capture(
                v_place.org_id, v_place.principal_id, v_place.scope_id, v_given ->> 'source', v_given -> 'content',
                v_given ->> 'external_id', v_given ->> 'session_id', v_given ->> 'trace_id', (v_given ->> 'captured_at')::timestamptz,
                v_given ->> 'classification', (SELECT d.domains FROM jsonb_to_record(v_given) AS d (domains text[])),
                memwarden_internal.agents_named(v_place.org_id, (SELECT d.captured_for FROM jsonb_to_record(v_given) AS d (
                    captured_for text[]))),
                memwarden_internal.demanded_key(v_place.org_id, v_given ->> 'class', v_given ->> 'subject'));
            capture_id := v_done.capture_id;
            repeated := v_done.repeated;
        EXCEPTION WHEN OTHERS OR assert_failure THEN
            -- One that cannot be kept harms no other; a closed scope and a missing key are its own affair, too.
            IF NOT memwarden_internal.is_request_fault(SQLSTATE) AND SQLSTATE <> '55000' THEN
                RAISE;
            END IF;
            fault := SQLSTATE;
            GET STACKED DIAGNOSTICS detail := PG_EXCEPTION_DETAIL;
            IF fault IN ('22P02', '22P05') THEN
                -- PostgreSQL would repeat a word of it.
                detail := 'values of their types, and JSON without NUL, halves of surrogate pairs, NaN and infinities';
            END IF;
        END;
        RETURN NEXT;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION memwarden.capture_many IS
    'Appends many captures to the capture log, with a result for each. A capture that fails leaves the others '
    'unaffected. Its fault is one of: (1) 22023 for arguments out of range; (2) 22007 or 22008 for an invalid time; (3) 22P02 or '
    '22P05 for values that are none of their types, or JSON that PostgreSQL cannot hold; (4) 42710 '
    'where an external_id stands for another content; (5) 42704 for a scope that the caller does not write, an '
    'unknown agent or an unknown class; (6) 55000 for a closed scope, or without a generation of subject keys. Returns one row '
    'for each capture. captures: an array of at most '
    '10,000 objects whose names are the arguments of capture(); an object may carry content_text, the content as JSON text, instead '
    'of content. ordinal: counts from 0 in the order given. '
    'capture_id: the id of the capture. '
    'repeated: whether it was there before. fault, detail: the SQLSTATE that capture() would raise, with its detail. '
    'Raises 22023 for anything but such an array; 28000 without an identity; 55000 before setup(). Source: F1.';
GRANT EXECUTE ON FUNCTION memwarden.capture_many TO memwarden_agent, memwarden_curator;

CREATE OR REPLACE FUNCTION memwarden_internal.read_capture(p_element json)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_given jsonb := p_element::jsonb;
BEGIN
    IF jsonb_typeof(v_given) <> 'object' OR v_given - ARRAY[
           'source', 'content', 'content_text', 'external_id', 'session_id', 'trace_id', 'scope', 'captured_at', 'classification',
           'domains', 'captured_for', 'subject', 'class'] <> '{}' OR v_given ?& '{content,content_text}' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument',
            'captures: objects whose names are the arguments of capture(), with content or content_text');
    ELSIF jsonb_typeof(v_given -> 'domains') NOT IN ('array', 'null')
        OR jsonb_typeof(v_given -> 'captured_for') NOT IN ('array', 'null') THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'domains, captured_for: an array each');
    END IF;
    RETURN CASE WHEN v_given ? 'content_text' THEN v_given || jsonb_build_object('content', (v_given ->> 'content_text')::jsonb)
        ELSE v_given END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.read_capture IS
    'One element of capture_many(), with its content. Raises 22023 for other names than those of capture(), 22P02 and 22P05 for '
    'JSON that PostgreSQL cannot hold.';

CREATE OR REPLACE FUNCTION memwarden_internal.capture_place(
    p_principal_id bigint, p_scope text, OUT org_id bigint, OUT principal_id bigint, OUT scope_id bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_who record;
BEGIN
    SELECT p.org_id, p.principal_id, s.scope_id, s.closed_at, memwarden_internal.may_write(p.principal_id, s.scope_id,
        s.lineage) AS may_write
      INTO v_who
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.scope AS home ON home.scope_id = p.home_scope_id
      LEFT JOIN memwarden_data.scope AS s ON s.path = coalesce(p_scope, home.path)
     WHERE p.principal_id = p_principal_id AND p.disabled_at IS NULL;
    IF v_who.scope_id IS NULL OR NOT v_who.may_write THEN
        -- One that the caller does not write and one that does not exist answer alike.
        PERFORM memwarden_internal.raise_error('unknown_object', format('scope %L that the caller writes', p_scope));
    ELSIF v_who.closed_at IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('scope_closed', format('scope %L', p_scope));
    END IF;
    PERFORM memwarden_internal.require_residency(v_who.org_id);
    org_id := v_who.org_id;
    principal_id := v_who.principal_id;
    scope_id := v_who.scope_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.capture_place IS
    'Where a principal captures: a scope that it writes, its home by default. Raises 42704 for any other, 55000 for a closed one.';

CREATE OR REPLACE FUNCTION memwarden_internal.agents_named(p_org_id bigint, p_names text[])
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_ids     bigint[];
    v_unknown text;
BEGIN
    IF p_names IS NULL THEN
        RETURN NULL;
    ELSIF NOT memwarden_internal.is_list(p_names) OR cardinality(p_names) > 100 OR array_position(p_names, NULL) IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'agents: a list of at most 100 names');
    END IF;
    SELECT array_agg(p.principal_id ORDER BY p.principal_id), min(n.name) FILTER (WHERE p.principal_id IS NULL)
      INTO v_ids, v_unknown
      FROM (SELECT DISTINCT unnest(p_names) AS name) AS n
      LEFT JOIN memwarden_data.principal AS p ON p.org_id = p_org_id AND p.name = n.name;
    IF v_unknown IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('agent %L', v_unknown));
    END IF;
    RETURN coalesce(v_ids, '{}');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.agents_named IS
    'The agents of an organisation that have these names; NULL for NULL. Raises 42704 for a name that none has, 22023 '
    'for anything but a list of at most 100 names.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_capture(
    p_max_bytes integer, p_source text, p_content jsonb, p_external_id text, p_session_id text, p_trace_id text, p_captured_at timestamptz,
    p_classification text, p_domains text[], p_held_domains text[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF p_source IS NULL OR p_source !~ '^[a-z][a-z0-9_.-]{0,62}$' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'source: 1 to 63 lower-case letters, digits and _.-, a letter first');
    ELSIF p_content IS NULL OR p_content = 'null' OR octet_length(p_content::text) > p_max_bytes THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('content: JSON but not null, at most %s bytes', p_max_bytes));
    ELSIF length(p_external_id) NOT BETWEEN 1 AND 200 OR length(p_session_id) NOT BETWEEN 1 AND 200
        OR length(p_trace_id) NOT BETWEEN 1 AND 200 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'external_id, session_id, trace_id: 1 to 200 characters');
    ELSIF p_captured_at NOT BETWEEN timestamptz '1970-01-01 00:00:00+00' AND clock_timestamp() + interval '5 minutes' THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'captured_at: since 1970, not in the future');
    ELSIF p_classification IS NOT NULL AND NOT EXISTS (SELECT FROM memwarden_data.classification AS c WHERE c.name = p_classification) THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'classification: public, internal, confidential or restricted');
    ELSIF NOT p_domains <@ p_held_domains THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'domains: those that the caller holds');
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_capture IS 'Raises 22023 for arguments of capture() out of range.';

CREATE OR REPLACE FUNCTION memwarden_internal.append_capture(
    p_org_id bigint, p_principal_id bigint, p_scope_id bigint, p_source text, p_content jsonb, p_external_id text,
        p_session_id text, p_trace_id text,
    p_captured_at timestamptz, p_classification text, p_domains text[], p_captured_for bigint[], p_key_id uuid,
    OUT capture_id uuid, OUT repeated boolean)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_now   timestamptz := clock_timestamp();
    v_id    uuid := memwarden_internal.uuid7();
    v_clean record;
    v_hash  bytea;
    v_first record;
    v_sealed bytea;
BEGIN
    PERFORM memwarden_internal.require_capture(
        (memwarden_internal.capture_terms(p_org_id, p_source)).max_bytes, p_source, p_content, p_external_id, p_session_id, p_trace_id,
        p_captured_at, p_classification, p_domains, (SELECT p.domains FROM memwarden_data.principal AS p
            WHERE p.principal_id = p_principal_id));
    v_clean := memwarden_internal.mask_capture(
        p_content::text, jsonb_strip_nulls(jsonb_build_object('external_id', p_external_id, 'session_id', p_session_id,
            'trace_id', p_trace_id))::text,
        memwarden_internal.ruleset(p_org_id, NULL));
    IF v_clean.fault IS NOT NULL THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'content: ' || v_clean.fault);
    END IF;
    v_hash := sha256(convert_to(v_clean.content, 'UTF8'));
    IF p_key_id IS NOT NULL THEN
        v_sealed := memwarden_internal.seal(p_key_id, jsonb_build_object('said', v_clean.content::jsonb));
    END IF;
    IF p_external_id IS NOT NULL THEN
        -- Who captures it at the same moment waits here, and then finds it captured.
        INSERT INTO memwarden_data.capture_key (org_id, principal_id, source, key_hash, capture_id)
        VALUES (p_org_id, p_principal_id, p_source, sha256(convert_to(p_external_id, 'UTF8')), v_id)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            SELECT c.capture_id, c.content_hash, c.subject_key_id INTO v_first
              FROM memwarden_data.capture_key AS k
              JOIN memwarden_data.capture AS c ON c.org_id = k.org_id AND c.capture_id = k.capture_id
             WHERE k.org_id = p_org_id AND k.principal_id = p_principal_id AND k.source = p_source
               AND k.key_hash = sha256(convert_to(p_external_id, 'UTF8'));
            IF v_first.content_hash IS DISTINCT FROM memwarden_internal.indexed_hash(v_hash, v_first.subject_key_id) THEN
                PERFORM memwarden_internal.raise_error('already_exists', format('capture %s, of another content', v_first.capture_id));
            END IF;
            capture_id := v_first.capture_id;
            repeated := true;
            RETURN;
        END IF;
    END IF;
    INSERT INTO memwarden_data.capture (
        org_id, capture_id, scope_id, principal_id, source, external_id, session_id, trace_id, captured_at, recorded_at,
        content, content_hash, content_bytes, masked, classification, domains, captured_for, subject_key_id, sealed)
    VALUES (p_org_id, v_id, p_scope_id, p_principal_id, p_source, v_clean.arguments ->> 'external_id', v_clean.arguments ->> 'session_id',
            v_clean.arguments ->> 'trace_id', least(coalesce(p_captured_at, v_now), v_now), v_now,
            CASE WHEN v_sealed IS NULL THEN v_clean.content::jsonb ELSE '{"encrypted": true}' END,
            memwarden_internal.indexed_hash(v_hash, p_key_id), octet_length(v_clean.content), v_clean.masked, p_classification,
            p_domains, p_captured_for, p_key_id, v_sealed);
    capture_id := v_id;
    repeated := false;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.append_capture IS
    'Masks a capture and stores it, encrypted where there is a key for it, or finds the one that bears its external id already. '
    'Raises 22023 for arguments out '
    'of range, 42710 where that has another content.';
