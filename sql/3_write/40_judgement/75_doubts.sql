-- What is said against a memory, and when that lowers it: nothing is lowered by something weaker.
CREATE OR REPLACE FUNCTION memwarden_internal.voices_against(p_org_id bigint, p_item_id uuid, p_now timestamptz)
RETURNS TABLE (principal_id bigint, owner_id bigint, is_firm boolean, said text, annotation_id uuid)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
BEGIN
    RETURN QUERY
    WITH memory AS MATERIALIZED (
        SELECT i.version_id, i.principal_id, i.content_hash FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = p_item_id
    ), annotated AS (
        -- Of each who annotated the present words the last word counts; its writer has had its say, and renews nothing away.
        SELECT DISTINCT ON (a.principal_id) a.principal_id, v.content ->> 'verdict' AS verdict, a.version_id
          FROM memory AS m
          JOIN memwarden_data.item AS a
            ON a.org_id = p_org_id AND a.status = 'ACTIVE' AND a.subject IS NOT NULL
           AND hashtextextended(memwarden_internal.form_of_subject(a.subject_form, a.subject), 0)
               = hashtextextended('memwarden:item/' || p_item_id, 0)
           AND a.kind = 'annotation' AND a.principal_id <> m.principal_id AND (a.expires_at IS NULL OR a.expires_at > p_now)
          JOIN memwarden_data.version AS v ON v.org_id = a.org_id AND v.version_id = a.version_id AND v.tier = 'hot'
          JOIN memwarden_data.version AS t
            ON t.org_id = p_org_id AND t.version_id = (v.content ->> 'version_id')::uuid AND t.content_hash = m.content_hash
         WHERE v.content ->> 'item_id' = p_item_id::text
         ORDER BY a.principal_id, a.updated_at DESC
    ), against AS (
        SELECT n.principal_id, 'refuted' AS said, n.version_id AS annotation_id FROM annotated AS n WHERE n.verdict = 'refuted'
        UNION ALL
        SELECT f.principal_id, 'at_fault', NULL FROM memory AS m
         CROSS JOIN LATERAL memwarden_internal.faults_of(p_org_id, ARRAY[p_item_id], p_now) AS f
         GROUP BY f.principal_id HAVING count(*) >= 3
    )
    SELECT a.principal_id, coalesce(p.owner_id, p.principal_id), p.kind = 'human' OR r.name IN ('curator', 'verifier'), a.said,
           a.annotation_id
      FROM against AS a
      JOIN memwarden_data.principal AS p ON p.principal_id = a.principal_id AND p.disabled_at IS NULL
      JOIN memwarden_data.access_role AS r ON r.role_id = p.role_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.voices_against IS
    'Who speaks against the present words of a memory: refuted them, or reported it at fault in three tasks. owner_id: the person who '
    'answers for the principal, or itself. is_firm: a person, a curator or a verifier. annotation_id: the version of the annotation.';

CREATE OR REPLACE FUNCTION memwarden_internal.faults_of(p_org_id bigint, p_item_ids uuid[], p_now timestamptz)
RETURNS TABLE (item_id uuid, principal_id bigint, task text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 10
AS $function$
BEGIN
    RETURN QUERY
    SELECT DISTINCT u.id, l.principal_id, coalesce(l.task, l.session_id::text, l.recall_id::text)
      FROM memwarden_data.recall_outcome AS o
     CROSS JOIN LATERAL unnest(o.at_fault) AS u (id)
      JOIN memwarden_data.item AS i ON i.org_id = p_org_id AND i.item_id = u.id
      JOIN memwarden_data.recall_log AS l ON l.org_id = o.org_id AND l.recall_id = o.recall_id
     WHERE o.org_id = p_org_id AND o.at_fault IS NOT NULL AND o.at_fault && p_item_ids AND u.id = ANY (p_item_ids)
       AND o.recall_id >= memwarden_internal.uuid7_floor(p_now - interval '90 days')
       -- A new version has a new beginning, and the last report holds.
       AND o.reported_at > memwarden_internal.uuid7_time(i.version_id)
       AND NOT EXISTS (SELECT FROM memwarden_data.recall_outcome AS n
                        WHERE n.org_id = o.org_id AND n.recall_id = o.recall_id AND n.revision > o.revision);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.faults_of IS
    'Of which tasks of which principals a failure came from memories, as they are now, in the last 90 days: each task and principal '
    'once. A recall without a task or session is a task of its own.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_denied(
    p_org_id bigint, p_version_id uuid, p_annotation_id uuid, p_principal_id bigint, p_now timestamptz)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_cited jsonb := (
        SELECT jsonb_agg(e.e ORDER BY e.place)
          FROM memwarden_data.said_version AS v
         CROSS JOIN LATERAL jsonb_array_elements(v.evidence) WITH ORDINALITY AS e (e, place)
         -- All other words only the refuter has seen.
         WHERE v.org_id = p_org_id AND v.version_id = p_annotation_id
           AND e.e ->> 'uri' ~ '^memwarden:(evidence|capture)/');
BEGIN
    RETURN coalesce((
        SELECT w.grounds @? ('$[*] ? (@.contradicts == true && @.held == true && @.independent == true && !exists(@.believed)'
                             ' && @.words_of != "assistant" && @.words_of != "model")')
          FROM memwarden_data.said_version AS s
          LEFT JOIN memwarden_data.content_schema AS c ON c.schema_id = s.schema_id
         CROSS JOIN LATERAL memwarden_internal.weigh(
               s.subject, s.predicate, CASE WHEN c.text_template IS NULL THEN s.content::text
                    ELSE memwarden_internal.claim_of_kind(s.content::text, c.text_template, s.subject, s.predicate) END,
               v_cited, memwarden_internal.evidence_sources(p_principal_id, p_org_id, v_cited, p_now), p_principal_id, NULL, '{}',
               31536000, memwarden_internal.utc_text(p_now), false) AS w
         WHERE v_cited IS NOT NULL AND s.org_id = p_org_id AND s.version_id = p_version_id), false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_denied IS
    'Whether an annotation cites words on record that deny a version, and that somebody independent of the annotator recorded.';

CREATE OR REPLACE FUNCTION memwarden_internal.settle_standing(p_org_id bigint, p_item_id uuid, p_waits boolean DEFAULT true)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
-- What numbers become as JSON, the caller's session must not say.
SET extra_float_digits = 1
AS $function$
DECLARE
    v_now    timestamptz := clock_timestamp();
    v_item   record;
    v_last   record;
    v_basis  text;
    v_voices record;
    v_counts boolean;
    v_new    jsonb;
BEGIN
    -- Two who speak at once come one after the other, and the second sees both.
    IF p_waits THEN
        SELECT i.scope_id, i.version_id INTO v_item FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.status = 'ACTIVE' FOR NO KEY UPDATE;
    ELSE
        SELECT i.scope_id, i.version_id INTO v_item FROM memwarden_data.item AS i
         WHERE i.org_id = p_org_id AND i.item_id = p_item_id AND i.status = 'ACTIVE' FOR NO KEY UPDATE SKIP LOCKED;
    END IF;
    SELECT p.record, (p.record ->> 'supersedes')::uuid AS supersedes INTO v_last FROM memwarden_data.whole_provenance AS p
     WHERE p.org_id = p_org_id AND p.version_id = v_item.version_id ORDER BY p.provenance_id DESC LIMIT 1;
    IF v_last.record IS NULL THEN
        RETURN;
    END IF;
    v_basis := memwarden_internal.standing_of(v_last.record - 'lowered');
    SELECT count(DISTINCT v.principal_id) AS voices, count(DISTINCT v.owner_id) AS owners, coalesce(bool_or(v.is_firm), false) AS is_firm,
           array_agg(DISTINCT v.said) AS said,
           coalesce(bool_or(v_basis = 'supported' AND v.annotation_id IS NOT NULL AND memwarden_internal.is_denied(
               p_org_id, v_item.version_id, v.annotation_id, v.principal_id, v_now)), false) AS is_denied
      INTO v_voices FROM memwarden_internal.voices_against(p_org_id, p_item_id, v_now) AS v;
    v_counts := v_voices.voices > 0 AND (v_voices.is_firm OR CASE v_basis WHEN 'verified' THEN false
        WHEN 'supported' THEN v_voices.owners >= 2 OR v_voices.is_denied ELSE true END);
    v_new := v_last.record - '{lowered,doubted_by}'::text[] || jsonb_strip_nulls(jsonb_build_object(
        'lowered', nullif(to_jsonb(CASE WHEN v_counts THEN v_voices.said ELSE '{}' END
                                   || CASE WHEN memwarden_internal.was_found_false(p_org_id, p_item_id, v_item.version_id)
                                           THEN '{found_false}'::text[] ELSE '{}' END), '[]'),
        'doubted_by', CASE WHEN NOT v_counts THEN nullif(v_voices.voices, 0) END));
    IF v_new = v_last.record THEN
        RETURN;
    END IF;
    PERFORM memwarden_internal.append_standing(
        p_org_id, v_item.scope_id, p_item_id, v_item.version_id, v_last.supersedes, v_new, v_now);
    IF v_new -> 'lowered' IS DISTINCT FROM v_last.record -> 'lowered' THEN
        -- What is lowered scores half from now on.
        PERFORM memwarden_internal.settle_lifetimes(p_org_id, ARRAY[p_item_id], v_now);
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.settle_standing IS
    'Lowers the standing of a memory by what is said against its present version, or raises it again, with a record STANDING. What is '
    'reported or inferred is lowered by any voice (see voices_against()); what is supported by voices of two owners, or by one that '
    'cites words on record that deny it; what is verified by a person, a curator or a verifier alone. Until then doubted_by says how '
    'many there are. p_waits: whether to wait for who holds the memory, or leave it.';

CREATE OR REPLACE FUNCTION memwarden_internal.was_found_false(p_org_id bigint, p_item_id uuid, p_version_id uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- Refutations and faults are asked themselves, and what rests on something that ended is outdated.
    RETURN coalesce((
        SELECT r.verdict = 'FALSE' AND r.reason NOT IN ('REFUTED', 'AT_FAULT', 'SOURCE_WITHDRAWN') FROM memwarden_data.revalidated AS r
         WHERE r.org_id = p_org_id AND r.item_id = p_item_id AND r.version_id = p_version_id AND r.verdict IS NOT NULL
         ORDER BY r.checked_at DESC LIMIT 1), false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.was_found_false IS
    'Whether the last sweep that looked at a memory, as it is now, found it false by its record, its evidence or a rule.';
