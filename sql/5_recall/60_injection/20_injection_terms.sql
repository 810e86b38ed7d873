-- The policy that holds for somebody, as one document: read once a push.
CREATE OR REPLACE FUNCTION memwarden_internal.injection_terms(p_principal_id bigint)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN (
        SELECT to_jsonb(p) || jsonb_build_object('blocks', (
                   SELECT coalesce(jsonb_agg(to_jsonb(b) ORDER BY b.tier, b.priority DESC, b.block), '[]')
                     FROM memwarden_data.injection_block AS b WHERE b.org_id = p.org_id AND b.policy_id = p.policy_id))
          FROM memwarden_data.principal AS a
          JOIN memwarden_data.injection_policy AS p ON p.org_id IN (0, a.org_id) AND (p.agent IS NULL OR p.agent = a.name
              AND p.org_id = a.org_id)
         WHERE a.principal_id = p_principal_id
         ORDER BY p.agent IS NULL, p.org_id DESC
         LIMIT 1);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.injection_terms IS
    'What is pushed to a principal: {"token_budget", "max_items", "refresh_turns", "working_budget", "resumed_budget", '
    '"blocks": [...]}, the blocks in the order in which they are filled. Its own policy goes before its '
    'organisation''s, that before the one of all.';
