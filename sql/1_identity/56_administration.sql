-- Who administers: members of memwarden_admin, the whole database; principals whose role has ADMIN, their
-- organisation, provided that they write its scope (a right over all needs a place above all) and that the
-- policies allow it.
CREATE OR REPLACE FUNCTION memwarden_internal.may_administer(p_org_id bigint, p_degree text, p_layer text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    RETURN memwarden_internal.is_database_admin() OR EXISTS (
        SELECT FROM memwarden_data.principal AS p
          JOIN memwarden_data.role_permission AS r ON r.role_id = p.role_id
          JOIN memwarden_data.scope_grant AS g ON g.principal_id = p.principal_id AND g.writes
          JOIN memwarden_data.scope AS s ON s.scope_id = g.scope_id
         WHERE p.principal_id = (SELECT memwarden_internal.current_principal()) AND p.org_id = p_org_id AND p_org_id <> 0
           AND s.org_id = p_org_id AND s.parent_id = 0
           AND r.operation = 'ADMIN' AND r.layer IN ('*', p_layer) AND r.degree IN (p_degree, 'full')
           AND NOT EXISTS (SELECT FROM memwarden_internal.ask_policies(p.principal_id, 'ADMIN', ARRAY[NULL::integer]) AS a
                            WHERE NOT a.allowed));
END
$function$;
COMMENT ON FUNCTION memwarden_internal.may_administer IS
    'Whether the caller administers the organisation to that degree (layer or full); p_layer: what is asked for '
    'concerns that layer alone. Source: chapter 12.8.2.';

CREATE OR REPLACE FUNCTION memwarden_internal.is_database_admin()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT pg_has_role(session_user, 'memwarden_admin', 'USAGE') OR pg_has_role(session_user, 'memwarden_admin', 'SET')
$function$;
COMMENT ON FUNCTION memwarden_internal.is_database_admin IS 'Whether this session''s login is a member of memwarden_admin.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_administration(p_org_id bigint, p_degree text, p_layer text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
BEGIN
    IF NOT memwarden_internal.may_administer(p_org_id, p_degree, p_layer) THEN
        PERFORM memwarden_internal.raise_error('not_permitted', format('ADMIN (%s) in that organisation', p_degree));
    END IF;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_administration IS
    'Raises 42501 unless the caller administers the organisation to that degree.';

-- The organisation that an administrator's call is about. One that the caller does not administer and one that
-- does not exist answer alike.
CREATE OR REPLACE FUNCTION memwarden_internal.administered_org(p_org text, p_degree text, p_layer text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_org_id bigint;
BEGIN
    SELECT o.org_id INTO v_org_id FROM memwarden_data.organisation AS o
     WHERE CASE WHEN p_org IS NOT NULL THEN o.name = p_org
                WHEN memwarden_internal.is_database_admin() THEN o.org_id = 0
                ELSE o.org_id = (SELECT p.org_id FROM memwarden_data.principal AS p
                                  WHERE p.principal_id = (SELECT memwarden_internal.current_principal())) END;
    IF v_org_id IS NULL AND memwarden_internal.is_database_admin() THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('organisation %L', p_org));
    END IF;
    PERFORM memwarden_internal.require_administration(coalesce(v_org_id, -1), p_degree, p_layer);
    RETURN v_org_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.administered_org IS
    'The organisation of that name; by default 0 (all) for members of memwarden_admin, and the caller''s own for '
    'others. Raises 42501 for one that the caller does not administer, 42704 for an unknown one.';

CREATE OR REPLACE FUNCTION memwarden_internal.require_agent(
    p_name text, p_org text, OUT principal_id bigint, OUT org_id bigint)
RETURNS record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY INVOKER
AS $function$
DECLARE
    v_ids  bigint[];
    v_orgs bigint[];
BEGIN
    SELECT array_agg(p.principal_id), array_agg(p.org_id) INTO v_ids, v_orgs
      FROM memwarden_data.principal AS p
      JOIN memwarden_data.organisation AS o ON o.org_id = p.org_id
     WHERE p.name = p_name AND p.principal_id <> 0
       AND CASE WHEN p_org IS NOT NULL THEN o.name = p_org
                ELSE memwarden_internal.is_database_admin() OR p.org_id = (
                         SELECT c.org_id FROM memwarden_data.principal AS c
                          WHERE c.principal_id = (SELECT memwarden_internal.current_principal())) END
       AND memwarden_internal.may_administer(p.org_id, 'full');
    IF v_ids IS NULL THEN
        PERFORM memwarden_internal.raise_error('unknown_object', format('agent %L', p_name));
    ELSIF cardinality(v_ids) > 1 THEN
        PERFORM memwarden_internal.raise_error('invalid_argument', format('org: %s organisations have an agent of that name',
            cardinality(v_ids)));
    END IF;
    require_agent.principal_id := v_ids[1];
    require_agent.org_id := v_orgs[1];
END
$function$;
COMMENT ON FUNCTION memwarden_internal.require_agent IS
    'The principal of that name that the caller administers. Raises 42704 when there is none, 22023 when the name alone '
    'does not tell which.';

CREATE OR REPLACE FUNCTION memwarden_internal.record_access_change(p_org_id bigint, p_action text, p_detail jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER
AS $function$
BEGIN
    -- In an older snapshot the caller might still hold a right that it has lost.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM memwarden_internal.raise_error('wrong_isolation', 'isolation is ' || current_setting('transaction_isolation'));
    END IF;
    INSERT INTO memwarden_data.access_log (org_id, login_role, principal_id, action, detail)
    VALUES (p_org_id, session_user, memwarden_internal.current_principal(), p_action, p_detail);
END
$function$;
COMMENT ON FUNCTION memwarden_internal.record_access_change IS
    'Notes who changed who may do what. Raises 25001 at an isolation other than READ COMMITTED.';
