-- session, session_entry and working_memory have no policy for an application role: nobody sees a row, whatever is granted.

CREATE OR REPLACE VIEW memwarden.sessions WITH (security_invoker = true) AS
SELECT s.session_id, s.scope, s.task, s.opened_at, s.used_at, s.ttl, s.turn, s.entries, s.closed_at, s.ended, s.resumed_from, s.shared
  FROM memwarden_internal.list_sessions() AS s;
COMMENT ON VIEW memwarden.sessions IS
    'Lists the caller''s own sessions, see open_session(). used_at is the time of the last call, and ttl is how long a session lives '
    'without one. turn is its number of turns. entries counts what it asked to have remembered. ended tells how it ended: closed, '
    'expired or scope_closed. shared tells whether others read what it remembers.';
GRANT SELECT ON memwarden.sessions TO memwarden_agent, memwarden_curator;
