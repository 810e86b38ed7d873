CREATE OR REPLACE FUNCTION memwarden.change_agent(
    agent text, org text DEFAULT NULL, role text DEFAULT NULL, clearance text DEFAULT NULL, domains text[] DEFAULT NULL,
    attributes jsonb DEFAULT NULL, validated boolean DEFAULT NULL, enabled boolean DEFAULT NULL,
    owner text DEFAULT NULL, reputation double precision DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $function$
DECLARE
    v_agent    record := memwarden_internal.require_agent(change_agent.agent, change_agent.org);
    v_old      record;
    v_standing record;
BEGIN
    IF change_agent.reputation NOT BETWEEN 0 AND 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', 'reputation: 0 to 1');
    END IF;
    SELECT r.name AS role, c.name AS clearance, p.domains, p.attributes, p.validated, p.disabled_at IS NULL AS enabled,
           o.name AS owner, p.reputation, p.kind INTO v_old
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.access_role AS r ON r.role_id = p.role_id
      JOIN memwarden_data.classification AS c ON c.level = p.clearance
      LEFT JOIN memwarden_data.principal AS o ON o.principal_id = p.owner_id
     WHERE p.principal_id = v_agent.principal_id
       FOR NO KEY UPDATE OF p;
    v_standing := memwarden_internal.check_standing(
        v_agent.org_id, coalesce(change_agent.role, v_old.role), coalesce(change_agent.clearance, v_old.clearance),
        coalesce(change_agent.domains, v_old.domains), coalesce(change_agent.attributes, '{}'));
    UPDATE memwarden_data.principal AS p
       SET role_id = CASE WHEN change_agent.role IS NULL THEN p.role_id ELSE v_standing.role_id END,
           clearance = v_standing.level,
           domains = coalesce(change_agent.domains, p.domains),
           attributes = coalesce(change_agent.attributes, p.attributes),
           validated = coalesce(change_agent.validated, p.validated),
           owner_id = CASE WHEN change_agent.owner IS NULL THEN p.owner_id
                           ELSE memwarden_internal.require_owner(v_agent.org_id, change_agent.owner, v_old.kind) END,
           reputation = coalesce(change_agent.reputation, p.reputation),
           disabled_at = CASE WHEN change_agent.enabled THEN NULL
                              WHEN NOT change_agent.enabled THEN coalesce(p.disabled_at, clock_timestamp())
                              ELSE p.disabled_at END
     WHERE p.principal_id = v_agent.principal_id;
    PERFORM memwarden_internal.record_access_change(v_agent.org_id, 'change_agent', jsonb_build_object(
        'agent', change_agent.agent, 'agent_id', v_agent.principal_id, 'before', to_jsonb(v_old) - ARRAY['kind', 'owner',
        'reputation'] || CASE
            WHEN num_nonnulls(change_agent.owner, change_agent.reputation) = 0 THEN '{}'
            ELSE jsonb_build_object('owner', v_old.owner, 'reputation', v_old.reputation) END, 'changes',
                jsonb_strip_nulls(jsonb_build_object(
            'role', change_agent.role, 'clearance', change_agent.clearance, 'domains', change_agent.domains,
            'attributes', change_agent.attributes, 'validated', change_agent.validated, 'enabled', change_agent.enabled,
            'owner', change_agent.owner, 'reputation', change_agent.reputation))));
END
$function$;
COMMENT ON FUNCTION memwarden.change_agent IS
    'Changes what an agent is and may do, from its next statement on. An argument that is left out keeps its value. Arguments that '
    'are not listed here mean what they mean in register_agent(). org: the agent''s organisation, where the name is not unique. '
    'enabled: false takes the agent''s identity away, in open sessions and for issued tokens too, and rejects its deferred writes; '
    'true gives the identity back. owner: the person who answers for the agent. reputation: 0 to 1; below the organisation''s '
    'threshold every write of the agent needs a human, see set_reputation_threshold(). Raises 42704 for an unknown agent, role or '
    'clearance, 22023 for malformed domains or attributes, 25001 at an isolation level other than READ COMMITTED. Source: chapter '
    '12.8.2.';
GRANT EXECUTE ON FUNCTION memwarden.change_agent TO memwarden_curator, memwarden_admin;
