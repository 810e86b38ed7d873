-- A dry run is the change itself, taken back: nothing here knows what a policy means.
CREATE OR REPLACE FUNCTION memwarden.preview_policy(policy_set text, name text, effect text, condition text, org text DEFAULT NULL)
RETURNS TABLE (agent text, agent_org text, operation text, layer text, kind text, scope_kind text, classification text,
    domains text[], attributes jsonb, own boolean,
               items bigint, allowed_before boolean, allowed_after boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_org_id bigint := memwarden_internal.administered_org(preview_policy.org, 'full');
    v_before jsonb := memwarden_internal.all_access(v_org_id);
    v_after  jsonb;
BEGIN
    BEGIN
        PERFORM memwarden.set_policy(preview_policy.policy_set, preview_policy.name, preview_policy.effect,
            preview_policy.condition, preview_policy.org);
        v_after := memwarden_internal.all_access(v_org_id);
        RAISE EXCEPTION USING ERRCODE = 'MW000';
    EXCEPTION WHEN SQLSTATE 'MW000' THEN
        NULL;
    END;
    RETURN QUERY
    SELECT p.name, o.name, b.operation, l.layer, l.kind, l.scope_kind, c.name, l.domains, l.attributes, b.own,
           (SELECT count(*) FROM memwarden_data.item AS i
             WHERE i.org_id = l.org_id AND i.label_id = l.label_id AND i.status = 'ACTIVE' AND (i.principal_id = p.principal_id) = b.own),
           b.allowed, a.allowed
      FROM jsonb_to_recordset(v_before) AS b (principal_id bigint, operation text, label_id integer, own boolean, allowed boolean)
      JOIN jsonb_to_recordset(v_after) AS a (principal_id bigint, operation text, label_id integer, own boolean, allowed boolean)
        ON a.principal_id = b.principal_id AND a.operation = b.operation AND a.label_id = b.label_id AND a.own = b.own
      JOIN memwarden_data.principal AS p ON p.principal_id = b.principal_id
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
      JOIN memwarden_data.label AS l ON l.label_id = b.label_id
      JOIN memwarden_data.classification AS c ON c.level = l.classification
     WHERE a.allowed <> b.allowed
     ORDER BY o.name, p.name, b.operation, b.label_id, b.own;
END
$function$;
COMMENT ON FUNCTION memwarden.preview_policy IS
    'Returns what set_policy() with these arguments would change, and changes nothing. Each row is one agent, one operation and one '
    'combination of what items bear for which the answer would differ. A policy never widens the scopes that an agent reaches. The '
    'arguments are those of set_policy(). items: the number of active items concerned, in scopes that the caller reads or not. '
    'allowed_before, allowed_after: the answer now, and the answer with the policy. Raises as set_policy(), 25001 at an isolation '
    'level other than READ COMMITTED. Source: chapter 12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.preview_policy TO memwarden_curator, memwarden_admin;

CREATE OR REPLACE FUNCTION memwarden_internal.all_access(p_org_id bigint)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN coalesce((
        SELECT jsonb_agg(jsonb_build_object('principal_id', p.principal_id, 'operation', o.operation, 'label_id', j.label_id,
                                            'own', j.own, 'allowed', j.refusal IS NULL))
          FROM memwarden_data.principal AS p
         CROSS JOIN (VALUES ('READ'), ('WRITE'), ('DELETE'), ('ADMIN')) AS o (operation)
         CROSS JOIN LATERAL memwarden_internal.judge_labels(p.principal_id, o.operation, ARRAY(
                        SELECT l.label_id FROM memwarden_data.label AS l WHERE l.org_id IN (0, p.org_id))) AS j
         WHERE p.principal_id <> 0 AND (p.org_id = p_org_id OR p_org_id = 0)), '[]');
END
$function$;
COMMENT ON FUNCTION memwarden_internal.all_access IS
    'Every agent of an organisation (of all, for 0) against every operation and label.';
