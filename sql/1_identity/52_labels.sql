-- Access is decided per label: role, clearance, domains and policies depend on nothing else of an item
-- but on whether it is the principal's own. Of a layer that is not shared nobody reads what is another's, unless the
-- label says that its session is shared, or the principal's role administers the layer.
CREATE OR REPLACE FUNCTION memwarden_internal.judge_labels(
    p_principal_id bigint, p_operation text, p_label_ids integer[])
RETURNS TABLE (label_id integer, own boolean, refusal text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN QUERY
    SELECT l.label_id, o.own,
           CASE WHEN l.classification > p.clearance THEN 'CLEARANCE_TOO_LOW'
                WHEN NOT l.domains <@ p.domains THEN 'DOMAIN_NOT_HELD'
                WHEN p_operation = 'READ' AND NOT (o.own OR y.shared OR l.shared) AND NOT EXISTS (
                         SELECT FROM memwarden_data.role_permission AS r
                          WHERE r.role_id = p.role_id AND r.operation = 'ADMIN' AND r.layer IN ('*', l.layer)) THEN 'ROLE_FORBIDS'
                WHEN NOT EXISTS (
                         SELECT FROM memwarden_data.role_permission AS r
                          WHERE r.role_id = p.role_id AND r.operation = p_operation AND r.layer IN ('*', l.layer)
                            AND (r.kind IS NULL OR r.kind = l.kind) AND (r.reach = 'all' OR o.own)) THEN 'ROLE_FORBIDS'
                -- Where there are none, which is nearly everywhere, they are not asked.
                WHEN EXISTS (SELECT FROM memwarden_data.policy_set AS s
                               WHERE s.org_id IN (0, p.org_id) AND p_operation = ANY (s.operations)) AND (l.label_id, o.own) IN (
                         SELECT a.label_id, a.own FROM memwarden_internal.ask_policies(p_principal_id, p_operation, p_label_ids) AS a
                          WHERE NOT a.allowed) THEN 'POLICY_FORBIDS'
           END
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.label AS l ON l.org_id IN (0, p.org_id)
      JOIN memwarden_data.kept_layer AS y ON y.org_id = l.org_id AND y.principal_id = 0 AND y.layer = l.layer
     CROSS JOIN (VALUES (false), (true)) AS o (own)
     WHERE p.principal_id = p_principal_id AND p.disabled_at IS NULL
       AND l.label_id = ANY (p_label_ids);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.judge_labels IS
    'For each label, once for the principal''s own items and once for those of others: NULL where the operation is '
    'permitted, otherwise what forbids it. Source: chapter 12.8.2, 12.8.5.';

CREATE OR REPLACE FUNCTION memwarden_internal.readable_among(p_principal_id bigint, p_label_ids integer[])
RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- What judge_labels() would say, written out: every write pays for a call.
    RETURN ARRAY(
        SELECT CASE WHEN o.own THEN -l.label_id ELSE l.label_id END
          FROM memwarden_data.principal AS p
          JOIN memwarden_data.label AS l ON l.org_id IN (0, p.org_id)
          JOIN memwarden_data.kept_layer AS y ON y.org_id = l.org_id AND y.principal_id = 0 AND y.layer = l.layer
         CROSS JOIN (VALUES (false), (true)) AS o (own)
         WHERE p.principal_id = p_principal_id AND p.disabled_at IS NULL
           AND l.label_id = ANY (p_label_ids) AND l.classification <= p.clearance AND l.domains <@ p.domains
           AND EXISTS (SELECT FROM memwarden_data.role_permission AS r
                        WHERE r.role_id = p.role_id AND r.operation = 'READ' AND r.layer IN ('*', l.layer)
                          AND (r.kind IS NULL OR r.kind = l.kind) AND (r.reach = 'all' OR o.own))
           AND (o.own OR y.shared OR l.shared
                OR EXISTS (SELECT FROM memwarden_data.role_permission AS r
                            WHERE r.role_id = p.role_id AND r.operation = 'ADMIN' AND r.layer IN ('*', l.layer)))
           AND CASE WHEN EXISTS (SELECT FROM memwarden_data.policy_set AS s WHERE s.org_id IN (0, p.org_id) AND 'READ' = ANY (s.operations))
                    THEN (l.label_id, o.own) NOT IN (
                             SELECT a.label_id, a.own FROM memwarden_internal.ask_policies(p_principal_id, 'READ', p_label_ids) AS a
                              WHERE NOT a.allowed)
                    ELSE true END);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.readable_among IS
    'Those of some labels that a principal reads: n where the items of others, -n where its own. One array, so that a query asks once.';

CREATE OR REPLACE FUNCTION memwarden_internal.readable_labels(p_principal_id bigint)
RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    -- As far as that is kept.
    RETURN coalesce((SELECT r.labels FROM memwarden_data.reader_at AS r WHERE r.principal_id = p_principal_id LIMIT 1),
        memwarden_internal.readable_among(p_principal_id, ARRAY(
            SELECT l.label_id FROM memwarden_data.label AS l
             WHERE l.org_id IN (0, (SELECT p.org_id FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id)))));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.readable_labels IS
    'The labels a principal reads, of all there are for it, as readable_among() lists them.';

-- Most principals read every label there is for them. Then a row costs the look at a boolean; otherwise
-- policies ask for the labels that are visible whoever wrote the item, and for the rest of rows that are left.
CREATE OR REPLACE FUNCTION memwarden_internal.reads_every_label()
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
BEGIN
    RETURN coalesce((
        SELECT NOT EXISTS (SELECT FROM memwarden_data.policy_set AS s WHERE s.org_id IN (0, p.org_id) AND 'READ' = ANY (s.operations))
           AND NOT EXISTS (
                   SELECT FROM memwarden_data.label AS l
                     JOIN memwarden_data.kept_layer AS y ON y.org_id = l.org_id AND y.principal_id = 0 AND y.layer = l.layer
                    WHERE l.org_id IN (0, p.org_id)
                      AND NOT (l.classification <= p.clearance AND l.domains <@ p.domains
                               AND (y.shared OR l.shared
                                    OR EXISTS (SELECT FROM memwarden_data.role_permission AS r
                                                WHERE r.role_id = p.role_id AND r.operation = 'ADMIN' AND r.layer IN ('*', l.layer)))
                               AND EXISTS (SELECT FROM memwarden_data.role_permission AS r
                                            WHERE r.role_id = p.role_id AND r.operation = 'READ' AND r.layer IN ('*', l.layer)
                                              AND (r.kind IS NULL OR r.kind = l.kind) AND r.reach = 'all')))
          FROM memwarden_data.principal AS p
         WHERE p.principal_id = v_principal_id), false);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.reads_every_label IS
    'Whether no role, clearance, domain, policy or layer that is not shared keeps any item from the caller, so that '
    'scopes alone decide. False without identity.';
GRANT EXECUTE ON FUNCTION memwarden_internal.reads_every_label
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.visible_labels()
RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_labels integer[] := memwarden_internal.readable_labels(memwarden_internal.current_principal());
BEGIN
    RETURN ARRAY(SELECT l FROM unnest(v_labels) AS l WHERE l > 0 AND -l = ANY (v_labels));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.visible_labels IS
    'The labels that the caller reads whoever wrote the item. Empty without identity.';
GRANT EXECUTE ON FUNCTION memwarden_internal.visible_labels
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.partly_visible_labels()
RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
DECLARE
    v_labels integer[] := memwarden_internal.readable_labels(memwarden_internal.current_principal());
BEGIN
    RETURN ARRAY(SELECT l FROM unnest(v_labels) AS l WHERE -l <> ALL (v_labels));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.partly_visible_labels IS
    'The labels that the caller reads on some items: -n on its own only, n on those of others only. Empty without identity.';
GRANT EXECUTE ON FUNCTION memwarden_internal.partly_visible_labels
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.refusal(
    p_principal_id bigint, p_operation text, p_label_id integer, p_author_id bigint)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_refusal text;
BEGIN
    SELECT j.refusal INTO v_refusal
      FROM memwarden_internal.judge_labels(p_principal_id, p_operation, ARRAY[p_label_id]) AS j
     WHERE j.own = (p_author_id = p_principal_id);
    -- Of another organisation's label, or for a disabled principal, there is no judgement.
    RETURN CASE WHEN FOUND THEN v_refusal ELSE 'ROLE_FORBIDS' END;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.refusal IS
    'Why the principal may not do this to an item of that label and author, whatever its scope; NULL when it may.';

CREATE OR REPLACE FUNCTION memwarden_internal.find_label(
    p_org_id bigint, p_layer text, p_kind text, p_scope_kind text, p_classification smallint,
    p_domains text[], p_attributes jsonb, p_shared boolean, p_principal_id bigint)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_label_id integer;
BEGIN
    SELECT min(l.label_id) INTO v_label_id
      FROM memwarden_data.label AS l
     WHERE l.org_id = p_org_id AND l.layer = p_layer AND l.kind IS NOT DISTINCT FROM p_kind AND l.scope_kind = p_scope_kind
       AND l.classification = p_classification AND l.domains = p_domains AND l.attributes = p_attributes AND l.shared = p_shared;
    RETURN coalesce(v_label_id, memwarden_internal.make_label(
        p_org_id, p_layer, p_kind, p_scope_kind, p_classification, p_domains, p_attributes, p_shared, p_principal_id));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.find_label IS
    'The label of that meaning, made where there is none; NULL where make_label() makes none.';

CREATE OR REPLACE FUNCTION memwarden_internal.make_label(
    p_org_id bigint, p_layer text, p_kind text, p_scope_kind text, p_classification smallint,
    p_domains text[], p_attributes jsonb, p_shared boolean, p_principal_id bigint)
RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
DECLARE
    v_label_id integer;
BEGIN
    -- Labels are made by writers; one must not be able to make them without end.
    IF current_setting('transaction_read_only')::boolean THEN
        RETURN NULL;
    ELSIF (SELECT count(*) FROM memwarden_data.label AS l
         WHERE l.org_id = p_org_id AND l.first_used_by = p_principal_id) < 256 THEN
        INSERT INTO memwarden_data.label AS l (org_id, layer, kind, scope_kind, classification, domains, attributes, first_used_by, shared)
        VALUES (p_org_id, p_layer, p_kind, p_scope_kind, p_classification, p_domains, p_attributes, p_principal_id, p_shared)
        RETURNING l.label_id INTO v_label_id;
    END IF;
    RETURN v_label_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.make_label IS
    'A new label; NULL when the principal has made 256 already, and in a transaction that only reads.';
