-- Integrity rules, asked of a write: each of a memory alone, or of it and another of its subject, whichever came first.
CREATE OR REPLACE FUNCTION memwarden_internal.breaks(p_broken jsonpath, p_memory jsonb, p_other jsonb DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER
-- A date without a time is midnight there, whatever the session thinks.
SET timezone = 'UTC'
AS $function$
BEGIN
    -- Undecidable counts against the write.
    RETURN coalesce(jsonb_path_match_tz(jsonb_build_object('memory', p_memory) || coalesce(jsonb_build_object('other', p_other), '{}'),
                                        p_broken, '{}', true), true);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.breaks IS 'Whether a memory, or two, as memory_document() shows them, break a rule.';

CREATE OR REPLACE FUNCTION memwarden_internal.memory_document(
    p_layer text, p_kind text, p_subject text, p_predicate text, p_content jsonb, p_confidence double precision,
        p_importance double precision,
    p_valid_from timestamptz, p_valid_to timestamptz)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER
RETURN jsonb_strip_nulls(jsonb_build_object(
    'layer', p_layer, 'kind', p_kind, 'subject', p_subject, 'predicate', memwarden_internal.predicate_name(p_predicate),
    'confidence', p_confidence,
    'importance', p_importance, 'valid_from', memwarden_internal.utc_text(p_valid_from), 'valid_to',
    memwarden_internal.utc_text(p_valid_to)))
    || jsonb_build_object('content', p_content);
COMMENT ON FUNCTION memwarden_internal.memory_document IS 'A memory as integrity rules see it.';

CREATE OR REPLACE FUNCTION memwarden_internal.document_of(p_org_id bigint, p_version_id uuid)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT memwarden_internal.memory_document(
                   v.layer, v.kind, v.subject, v.predicate, v.content, v.confidence, v.importance,
                   CASE WHEN lower(v.valid_during) <> '-infinity' THEN lower(v.valid_during) END,
                   CASE WHEN upper(v.valid_during) <> 'infinity' THEN upper(v.valid_during) END)
          FROM memwarden_data.said_version AS v WHERE v.org_id = p_org_id AND v.version_id = p_version_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.document_of IS 'A version as integrity rules see it.';

CREATE OR REPLACE FUNCTION memwarden_internal.rules_broken_alone(p_org_id bigint, p_memory jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT jsonb_agg(jsonb_build_object('item_id', NULL, 'relation', 'contradicts', 'score', 1.0, 'similarity', NULL,
                                            'method', r.method, 'rule', r.name, 'action', r.action) ORDER BY r.name)
          FROM memwarden_data.integrity_rule AS r
         WHERE r.org_id IN (0, p_org_id) AND r.layer IN ('*', p_memory ->> 'layer') AND r.against IS NULL
           AND (r.predicate IS NULL OR r.predicate = p_memory ->> 'predicate')
           AND memwarden_internal.breaks(r.broken, p_memory));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.rules_broken_alone IS
    'The rules about one memory that this one breaks, as conflicts; NULL for none.';

CREATE OR REPLACE FUNCTION memwarden_internal.facts_under_rules(
    p_org_id bigint, p_scope_id bigint, p_layer text, p_subject text, p_predicate text, p_now timestamptz)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT jsonb_agg(jsonb_build_object(
                   'item_id', i.item_id, 'version_id', i.version_id, 'label_id', i.label_id, 'principal_id', i.principal_id, 'known', false,
                   'method', r.method, 'rule', r.name, 'rule_org', r.org_id, 'comes_first', s.comes_first))
          FROM memwarden_data.integrity_rule AS r
         -- A rule about two holds whichever of them is written last.
         CROSS JOIN LATERAL (SELECT r.against AS predicate, true AS comes_first WHERE r.predicate = p_predicate
                              UNION ALL SELECT r.predicate, false WHERE r.against = p_predicate) AS s
         CROSS JOIN LATERAL memwarden_internal.facts_of_key(p_org_id, p_scope_id, p_layer,
             memwarden_internal.key_of(p_org_id, p_subject, s.predicate)) AS i
         WHERE r.org_id IN (0, p_org_id) AND r.layer IN ('*', p_layer)
           AND (i.expires_at IS NULL OR i.expires_at > p_now)
           -- The value whose place the new one takes.
           AND NOT (i.exclusive AND s.predicate = p_predicate));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.facts_under_rules IS
    'Facts of the same subject in a scope and layer that some rule sets beside a new one: as inverse_facts(), with the '
    'rule and whether the new one is its memory or its other.';

CREATE OR REPLACE FUNCTION memwarden_internal.facts_of_key(p_org_id bigint, p_scope_id bigint, p_layer text, p_key_hash bytea)
RETURNS TABLE (item_id uuid, version_id uuid, label_id integer, principal_id bigint, exclusive boolean, expires_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER ROWS 5
AS $function$
BEGIN
    -- Each half has an index.
    RETURN QUERY
    SELECT i.item_id, i.version_id, i.label_id, i.principal_id, true, i.expires_at FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.key_hash = p_key_hash
         AND i.status = 'ACTIVE' AND i.exclusive
     UNION ALL
    SELECT i.item_id, i.version_id, i.label_id, i.principal_id, false, i.expires_at FROM memwarden_data.item AS i
     WHERE i.org_id = p_org_id AND i.scope_id = p_scope_id AND i.layer = p_layer AND i.key_hash = p_key_hash
         AND i.status = 'ACTIVE' AND NOT i.exclusive;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.facts_of_key IS 'The active items of a key.';

CREATE OR REPLACE FUNCTION memwarden_internal.readable_found(
    p_org_id bigint, p_principal_id bigint, p_label_id integer, p_found jsonb, p_memory jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    -- Asked whatever is there: how long it takes must not tell.
    v_labels integer[] := memwarden_internal.readable_among(
        p_principal_id, p_label_id || ARRAY(SELECT (f.e ->> 'label_id')::integer FROM jsonb_array_elements(p_found) AS f (e)));
BEGIN
    RETURN (
        SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                   'item_id', f.item_id, 'version_id', f.version_id, 'relation', CASE WHEN f.renews
                   AND f.principal_id = p_principal_id THEN 'updates' ELSE 'contradicts' END, 'score', 1.0, 'method', f.method,
                   'rule', f.rule,
                   'action', r.action, 'confidence', v.confidence, 'mine', f.principal_id = p_principal_id, 'known',
                   NULLIF(f.known, false)))
                   || '{"similarity": null}' ORDER BY f.known DESC, f.rule, f.item_id)
          FROM jsonb_to_recordset(p_found) AS f (item_id uuid, version_id uuid, label_id integer, principal_id bigint,
              known boolean, method text,
                                                 renews boolean, rule text, rule_org bigint, comes_first boolean)
          JOIN memwarden_data.said_version AS v ON v.org_id = p_org_id AND v.version_id = f.version_id
          LEFT JOIN memwarden_data.integrity_rule AS r ON r.org_id = f.rule_org AND r.name = f.rule
         WHERE (CASE WHEN f.principal_id = p_principal_id THEN -f.label_id ELSE f.label_id END) = ANY (v_labels)
           AND (r.name IS NULL
                OR CASE WHEN f.comes_first THEN memwarden_internal.breaks(r.broken, p_memory,
                    memwarden_internal.document_of(p_org_id, f.version_id))
                        ELSE memwarden_internal.breaks(r.broken, memwarden_internal.document_of(p_org_id, f.version_id), p_memory) END));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.readable_found IS
    'Of what was found against a write that which its writer reads, and which breaks its rule where it stands under '
    'one: conflicts for resolve_conflict(); NULL for none.';
