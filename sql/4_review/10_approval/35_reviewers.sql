-- Who may decide: a person or a service whose role has APPROVE there, never an agent.
CREATE OR REPLACE FUNCTION memwarden_internal.labels_to_approve(p_principal_id bigint)
RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN ARRAY(
        SELECT j.label_id
          FROM memwarden_data.principal AS p
         CROSS JOIN LATERAL memwarden_internal.judge_labels(
                   p.principal_id, 'APPROVE', ARRAY(SELECT l.label_id FROM memwarden_data.label AS l WHERE l.org_id IN (0, p.org_id))) AS j
         WHERE p.principal_id = p_principal_id AND p.kind <> 'agent' AND NOT j.own AND j.refusal IS NULL);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.labels_to_approve IS
    'The labels of proposals of others that a principal may decide about, by role, clearance, domains and policies; none for an agent.';

CREATE OR REPLACE FUNCTION memwarden_internal.approvable_labels()
RETURNS integer[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS $function$
BEGIN
    RETURN memwarden_internal.labels_to_approve(memwarden_internal.current_principal());
END
$function$;
COMMENT ON FUNCTION memwarden_internal.approvable_labels IS
    'The labels of proposals that the caller may decide about. Empty without identity, and for an agent.';
GRANT EXECUTE ON FUNCTION memwarden_internal.approvable_labels
    TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
