CREATE OR REPLACE FUNCTION memwarden_internal.list_sessions()
RETURNS TABLE (session_id uuid, scope text, task text, opened_at timestamptz, used_at timestamptz, ttl interval, turn integer,
    entries bigint,
               closed_at timestamptz, ended text, resumed_from uuid, shared boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    v_principal_id bigint := memwarden_internal.current_principal();
    v_orgs         bigint[] := memwarden_internal.visible_orgs();
BEGIN
    RETURN QUERY
    SELECT s.session_id, c.path, s.task, s.opened_at, s.used_at, s.ttl, s.turn,
           (SELECT count(*) FROM memwarden_data.session_entry AS e WHERE e.org_id = s.org_id AND e.session_id = s.session_id),
           s.closed_at, s.ended, s.resumed_from, s.shared
      FROM memwarden_data.session AS s JOIN memwarden_data.scope AS c ON c.scope_id = s.scope_id
     WHERE s.org_id = ANY (v_orgs) AND s.principal_id = v_principal_id;
END
$function$;
COMMENT ON FUNCTION memwarden_internal.list_sessions() IS 'The rows of memwarden.sessions.';
REVOKE ALL ON FUNCTION memwarden_internal.list_sessions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memwarden_internal.list_sessions() TO memwarden_agent, memwarden_curator;
