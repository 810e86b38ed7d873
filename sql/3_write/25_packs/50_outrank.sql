-- Of one key the higher class goes before the lower, whatever the conflict policy says and however sure the writer is.
CREATE OR REPLACE FUNCTION memwarden_internal.precedence(p_org_id bigint, p_class text)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce((SELECT c.precedence FROM memwarden_data.write_class AS c
                      WHERE c.org_id IN (0, p_org_id) AND c.class = p_class ORDER BY c.org_id DESC LIMIT 1), 0);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.precedence IS 'The precedence of a class in an organisation; 0 without one.';

CREATE OR REPLACE FUNCTION memwarden_internal.not_outranked(p_org_id bigint, p_class jsonb, p_conflicts jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_precedence integer := coalesce((p_class ->> 'precedence')::integer, 0);
BEGIN
    IF v_precedence = 0 THEN
        RETURN p_conflicts;
    END IF;
    -- A rule that was laid down stays above it.
    RETURN coalesce((
        SELECT jsonb_agg(c.e ORDER BY c.place) FROM jsonb_array_elements(p_conflicts) WITH ORDINALITY AS c (e, place)
         WHERE c.e ? 'action' OR (c.e -> 'same_key') IS DISTINCT FROM 'true'
            OR v_precedence < memwarden_internal.precedence(p_org_id, (
                   SELECT i.class FROM memwarden_data.item AS i WHERE i.org_id = p_org_id
                       AND i.item_id = (c.e ->> 'item_id')::uuid))), '[]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.not_outranked IS
    'Of what contradicts a write of a class, what it does not outrank: other keys, rules, higher classes. Of its own '
    'key the rest becomes an earlier version. Source: four-layer design, 7.';

CREATE OR REPLACE FUNCTION memwarden_internal.succeed_class(
    p_org_id bigint, p_item_id uuid, p_standing text, p_class jsonb, p_subject text, p_provenance jsonb,
    OUT class text, OUT refusal text, OUT detail jsonb)
RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_standing record;
    v_approved boolean := coalesce(p_provenance ->> 'approval_state' = 'APPROVED', false);
    v_consent  text;
BEGIN
    SELECT c.class, c.precedence, c.consent_purpose, c.consent_missing INTO v_standing
      FROM memwarden_data.write_class AS c
     WHERE c.org_id IN (0, p_org_id) AND c.class = p_standing ORDER BY c.org_id DESC LIMIT 1;
    class := p_class ->> 'class';
    IF v_standing.precedence > coalesce((p_class ->> 'precedence')::integer, 0) AND NOT v_approved THEN
        refusal := 'OUTRANKED';
        detail := jsonb_build_object('item_id', p_item_id, 'class', p_standing);
    ELSIF p_class IS NULL AND v_standing.precedence = 0 THEN
        -- What is said of the same thing without a class is of the class that it was: it needs what that needed.
        class := p_standing;
        IF v_standing.consent_purpose IS NOT NULL THEN
            v_consent := memwarden_internal.ask_consent(p_org_id, p_subject, v_standing.consent_purpose);
            refusal := CASE WHEN v_consent = 'withdrawn' THEN 'CONSENT_WITHDRAWN'
                            WHEN v_consent = 'missing' AND NOT (v_standing.consent_missing = 'review' AND v_approved)
                                THEN 'CONSENT_MISSING' END;
            detail := CASE WHEN refusal IS NOT NULL THEN jsonb_build_object('purpose', v_standing.consent_purpose) END;
        END IF;
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.succeed_class IS
    'Of which class the next version of a memory is whose class is another than the write''s, or why it does not become '
    'one: outranked, unless a human approved it, or without consent.';

CREATE OR REPLACE FUNCTION memwarden_internal.emit_signals(
    p_org_id bigint, p_class text, p_scope_id bigint, p_layer text, p_label_id integer, p_item_id uuid, p_version_id uuid,
        p_principal_id bigint,
    p_corrected_version_id uuid, p_corrected_principal_id bigint, p_replaces uuid[], p_now timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    INSERT INTO memwarden_data.signal (
        org_id, signal_id, class, scope_id, layer, label_id, item_id, version_id, principal_id,
        corrected_item_id, corrected_version_id, corrected_principal_id, emitted_at)
    SELECT p_org_id, memwarden_internal.uuid7(), p_class, p_scope_id, p_layer, p_label_id, p_item_id, p_version_id, p_principal_id,
           c.item_id, c.version_id, c.principal_id, p_now
      FROM (SELECT p_item_id AS item_id, p_corrected_version_id AS version_id, p_corrected_principal_id AS principal_id
             WHERE p_corrected_version_id IS NOT NULL
             UNION ALL
            SELECT i.item_id, i.version_id, i.principal_id FROM memwarden_data.item AS i
             WHERE i.org_id = p_org_id AND i.item_id = ANY (p_replaces) AND i.item_id <> p_item_id) AS c;
    PERFORM pg_notify('memwarden_signal', p_version_id::text);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.emit_signals IS
    'Records what a write took the place of, and whose it was, and notifies the channel memwarden_signal with the '
    'number of the version. Source: memory fabric.';

CREATE OR REPLACE FUNCTION memwarden_internal.list_signals()
RETURNS TABLE (signal_id uuid, class text, layer text, scope text, item_id uuid, version_id uuid, corrected_by text,
               corrected_item_id uuid, corrected_version_id uuid, corrected_agent text, emitted_at timestamptz, stands boolean,
                   adopted bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
    v_scopes       bigint[] := memwarden_internal.readable_scopes(v_principal_id);
    v_labels       integer[] := memwarden_internal.readable_labels(v_principal_id);
BEGIN
    RETURN QUERY
    SELECT g.signal_id, g.class, g.layer, s.path, g.item_id, g.version_id, p.name, g.corrected_item_id, g.corrected_version_id,
        c.name, g.emitted_at,
           i.status = 'ACTIVE' AND i.version_id = g.version_id,
           -- Later memories that rest on the correction.
           (SELECT count(DISTINCT d.item_id) FROM memwarden_data.derivation AS d
             WHERE d.source_org_id = g.org_id AND d.source_item_id = g.item_id AND d.source_version_id = g.version_id)
      FROM memwarden_data.signal AS g
      JOIN memwarden_data.item AS i ON i.org_id = g.org_id AND i.item_id = g.item_id
      JOIN memwarden_data.scope AS s ON s.scope_id = g.scope_id
      JOIN memwarden_data.principal AS p ON p.principal_id = g.principal_id
      JOIN memwarden_data.principal AS c ON c.principal_id = g.corrected_principal_id
     WHERE g.org_id = ANY (v_orgs) AND g.scope_id = ANY (v_scopes)
       AND (CASE WHEN i.principal_id = v_principal_id THEN -i.label_id ELSE i.label_id END) = ANY (v_labels);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_signals IS 'The rows of memwarden.learning_signals.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_signals
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor;
