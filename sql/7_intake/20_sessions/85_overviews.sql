CREATE OR REPLACE FUNCTION memwarden_internal.list_sessions()
RETURNS TABLE (session_id uuid, scope text, task text, opened_at timestamptz, used_at timestamptz, ttl interval, turn integer,
    entries bigint,
               closed_at timestamptz, ended text, resumed_from uuid, shared boolean)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
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
COMMENT ON VIEW memwarden.sessions IS
    'Lists the caller''s own sessions, see open_session(). used_at is the time of the last call, and ttl is how long a session lives '
    'without one. turn is its number of turns. entries counts what it asked to have remembered. ended tells how it ended: closed, '
    'expired or scope_closed. shared tells whether others read what it remembers.';
GRANT EXECUTE ON FUNCTION memwarden_internal.list_sessions TO memwarden_agent, memwarden_curator;
