-- Who can act for whom: the logins that are bound to a principal, and those that hold a token of its.
CREATE OR REPLACE FUNCTION memwarden_internal.is_independent(p_one bigint, p_other bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
AS $function$
BEGIN
    -- What was recorded under a token stays recorded when the token has ended.
    RETURN p_one <> p_other AND NOT EXISTS (
        SELECT FROM (SELECT l.login_role FROM memwarden_data.principal_login AS l WHERE l.principal_id = p_one
                     UNION ALL
                     SELECT t.audience FROM memwarden_data.token AS t
                      WHERE t.principal_id = p_one) AS o
         WHERE o.login_role IN (
               SELECT l.login_role FROM memwarden_data.principal_login AS l WHERE l.principal_id = p_other
               UNION ALL
               SELECT t.audience FROM memwarden_data.token AS t
                WHERE t.principal_id = p_other));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_independent IS
    'Whether two principals are different and no login acts for both, or ever did by a token: none is bound to both, has had tokens of '
    'both, or has had one of the one and is bound to the other.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_application(p_principal_id bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (SELECT p.kind <> 'agent' FROM memwarden_data.principal AS p WHERE p.principal_id = p_principal_id);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.is_application IS
    'Whether a principal records for others: a service, a person or a worker, and no agent.';
