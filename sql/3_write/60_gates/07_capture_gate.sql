-- What was said in the captures that a write cites? The sentence that bears the claim out is kept with the memory. A memory
-- is at least as secret as the captures and memories that it cites; and encrypted where one of these is, or recorded evidence.
CREATE OR REPLACE FUNCTION memwarden_internal.gate_capture()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_started timestamptz := clock_timestamp();
    v_found   record;
    v_said    jsonb;
    v_item_id uuid;
    v_level   smallint := 0::smallint;
    v_domains text[] := ARRAY[]::text[];
    v_key_id  uuid;
BEGIN
    FOR v_place IN 0 .. CASE jsonb_typeof(NEW.evidence) WHEN 'array' THEN least(jsonb_array_length(NEW.evidence), 100) ELSE 0 END - 1 LOOP
        v_said := NEW.evidence -> v_place;
        CONTINUE WHEN jsonb_typeof(v_said) <> 'object';
        v_item_id := memwarden_internal.cited_item(v_said ->> 'uri');
        IF v_item_id IS NOT NULL THEN
            SELECT l.classification, l.domains, i.subject_key_id AS key_id INTO v_found
              FROM memwarden_internal.cited_memory(NEW.principal_id, NEW.org_id, v_item_id, coalesce(v_said ->> 'version_id', ''),
                       v_started) AS m
              JOIN memwarden_data.item AS i ON i.org_id = m.org_id AND i.item_id = m.item_id
              JOIN memwarden_data.label AS l ON l.label_id = i.label_id;
            v_level := greatest(v_level, v_found.classification);
            v_domains := v_domains || v_found.domains;
            v_key_id := coalesce(v_key_id, v_found.key_id);
        ELSIF starts_with(v_said ->> 'uri', 'memwarden:capture/') THEN
            v_found := memwarden_internal.words_cited(
                NEW.principal_id, NEW.org_id, NEW.request_id, NEW.evidence, v_said, NEW.subject, NEW.predicate, NEW.content);
            NEW.evidence := jsonb_set(NEW.evidence, ARRAY[v_place::text], v_found.reference);
            v_level := greatest(v_level, v_found.level);
            v_domains := v_domains || v_found.domains;
            v_key_id := coalesce(v_key_id, v_found.key_id);
        ELSIF v_key_id IS NULL THEN
            v_key_id := (SELECT e.subject_key_id FROM memwarden_data.evidence AS e
                          WHERE e.org_id IN (0, NEW.org_id) AND e.evidence_id = memwarden_internal.cited_evidence(v_said ->> 'uri')
                            AND memwarden_internal.may_read(NEW.principal_id, e.scope_id));
        END IF;
    END LOOP;
    -- Whatever says what encrypted words say is encrypted; where its own class does not, under the key of the first of these.
    NEW.subject_key_id := v_key_id;
    NEW.label_id := memwarden_internal.raised_label(NEW.label_id, v_level, v_domains, NEW.principal_id);
    NEW.reason := CASE
        WHEN NEW.label_id IS NULL THEN 'TOO_MANY_LABELS'
        WHEN (NEW.terms).has_policies THEN memwarden_internal.refusal(NEW.principal_id, 'WRITE', NEW.label_id, NEW.principal_id) END;
    IF NEW.reason IS NOT NULL THEN
        NEW.outcome := 'REJECTED';
    END IF;
    NEW.trail := NEW.trail || memwarden_internal.gate_entry(TG_NAME, NEW.outcome, NEW.reason, v_started);
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.gate_capture IS
    'Trigger gate_07_capture: looks up what was said in the captures that a write cites, where the writer may cite them, '
    'and makes the memory at least as secret as the captures and memories that it cites, and encrypted where one of these or '
    'recorded evidence is. A capture or memory that the writer '
    'may not cite and one that is not there are left alone alike. Source: V9, P5.';

CREATE OR REPLACE FUNCTION memwarden_internal.words_cited(
    p_principal_id bigint, p_org_id bigint, p_request_id uuid, p_evidence jsonb, p_reference jsonb, p_subject text, p_predicate text,
    p_content text, OUT reference jsonb, OUT level smallint, OUT domains text[], OUT key_id uuid)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_uri     text := p_reference ->> 'uri';
    v_may     record := memwarden_internal.citable_now(p_principal_id, p_org_id, v_uri);
    v_capture record;
    v_bears   record;
    v_turn    record;
    v_kept    jsonb;
BEGIN
    reference := p_reference;
    IF v_may.capture_id IS NOT NULL THEN
        -- Whatever ends or erases it waits, or was first; so the right is asked for once more.
        PERFORM FROM memwarden_data.capture AS c WHERE c.org_id = p_org_id AND c.capture_id = v_may.capture_id FOR KEY SHARE;
        v_may := memwarden_internal.citable_now(p_principal_id, p_org_id, v_uri);
    END IF;
    IF v_may.capture_id IS NOT NULL THEN
        level := v_may.level;
        domains := v_may.domains;
    END IF;
    SELECT c.source, c.captured_at, c.content, c.subject_key_id INTO v_capture
      FROM memwarden_data.said_capture AS c WHERE c.org_id = p_org_id AND c.capture_id = v_may.capture_id;
    key_id := v_capture.subject_key_id;
    IF v_capture.content IS NOT NULL THEN
        SELECT (memwarden_internal.bearing_sentence(p_subject, p_predicate, p_content, array_agg(t.said ORDER BY t.turn),
                   array_agg(t.speaker ORDER BY t.turn), p_reference ->> 'excerpt')).*
          INTO v_bears FROM memwarden_internal.turns_of(v_capture.content) AS t;
        SELECT t.speaker, t.role INTO v_turn FROM memwarden_internal.turns_of(v_capture.content) AS t WHERE t.turn = v_bears.turn;
        reference := p_reference || jsonb_strip_nulls(jsonb_build_object(
            'uri', 'memwarden:capture/' || v_may.capture_id, 'excerpt', v_bears.sentence,
            'recorded', jsonb_build_object(
                'issuer_id', v_may.recorder_id, 'citer_id', p_principal_id, 'source', v_capture.source, 'turn', v_bears.turn,
                'speaker', v_turn.speaker, 'role', v_turn.role, 'at', memwarden_internal.utc_text(v_capture.captured_at))));
        RETURN;
    END IF;
    v_kept := memwarden_internal.kept_words(p_principal_id, p_org_id, p_request_id, p_evidence, v_uri);
    IF v_kept IS NOT NULL THEN
        reference := v_kept;
    ELSIF v_may.capture_id IS NULL AND EXISTS (
            SELECT FROM memwarden_data.capture AS c
             WHERE c.org_id = p_org_id AND c.capture_id = memwarden_internal.cited_capture_id(v_uri) AND c.content IS NOT NULL) THEN
        -- A request that waited: what was kept of a capture stays when the capture ends, not when the right does.
        reference := p_reference - 'recorded';
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.words_cited IS
    'A reference to a capture with the sentence of it that bears the claim out best and what was recorded of it, how '
    'secret it is, its domains, and the key under which it is encrypted. Where the principal may not cite it or it is not there: '
    'what a memory that the request '
    'cites or copies has kept of it, or the reference alone. Keeps the capture from ending until the transaction does.';

CREATE OR REPLACE FUNCTION memwarden_internal.kept_words(
    p_principal_id bigint, p_org_id bigint, p_request_id uuid, p_evidence jsonb, p_uri text)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT k.reference
              FROM (SELECT memwarden_internal.cited_item(e.reference ->> 'uri') AS item_id,
                           coalesce(e.reference ->> 'version_id', '') AS version_id
                      FROM jsonb_array_elements(p_evidence) AS e (reference) WHERE jsonb_typeof(e.reference) = 'object'
                     UNION ALL
                    SELECT p.item_id, '' FROM memwarden_data.promotion AS p WHERE p.org_id = p_org_id AND p.request_id = p_request_id) AS c
             CROSS JOIN LATERAL memwarden_internal.cited_memory(p_principal_id, p_org_id, c.item_id, c.version_id, clock_timestamp()) AS m
              JOIN memwarden_data.said_version AS v ON v.org_id = m.org_id AND v.item_id = m.item_id AND v.version_id = m.version_id
             CROSS JOIN LATERAL jsonb_array_elements(v.evidence) AS k (reference)
             WHERE k.reference ->> 'uri' = p_uri AND k.reference ? 'recorded' LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.kept_words IS
    'The reference to a capture as a memory keeps it that a request cites or copies and that the principal may read: the sentence, '
    'and what was recorded of it. NULL where none does. So a copy stands on the words after the capture has ended.';

CREATE OR REPLACE FUNCTION memwarden_internal.citable_now(
    p_principal_id bigint, p_org_id bigint, p_uri text, OUT capture_id uuid, OUT level smallint, OUT domains text[],
    OUT recorder_id bigint)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_found record := memwarden_internal.citable_capture(p_principal_id, p_org_id, p_uri);
    v_label integer;
BEGIN
    level := v_found.level;
    domains := v_found.domains;
    recorder_id := v_found.recorder_id;
    IF EXISTS (SELECT FROM memwarden_data.policy_set AS s WHERE s.org_id IN (0, p_org_id) AND 'READ' = ANY (s.operations)) THEN
        -- A policy judges a capture as it would a memory of an event there.
        v_label := memwarden_internal.find_label(
            p_org_id, 'episodic', NULL, v_found.scope_kind, level, ARRAY(SELECT DISTINCT unnest(domains) ORDER BY 1), '{}', false,
            p_principal_id);
        IF memwarden_internal.refusal(p_principal_id, 'READ', v_label, recorder_id) IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    capture_id := v_found.capture_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.citable_now IS
    'The capture that a reference names, where the principal may cite it by the policies too: see citable_capture().';

CREATE OR REPLACE FUNCTION memwarden_internal.raised_label(p_label_id integer, p_level smallint, p_domains text[], p_principal_id bigint)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT CASE WHEN l.classification >= p_level AND l.domains @> p_domains THEN l.label_id
                        ELSE memwarden_internal.find_label(
                            l.org_id, l.layer, l.kind, l.scope_kind, greatest(l.classification, p_level),
                            ARRAY(SELECT DISTINCT d FROM unnest(l.domains || p_domains) AS d ORDER BY d), l.attributes, l.shared,
                            p_principal_id) END
              FROM memwarden_data.label AS l WHERE l.label_id = p_label_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.raised_label IS
    'A label, or one like it that is at least of that classification and bears these domains too; NULL where the principal '
    'may make no more labels.';
