CREATE OR REPLACE VIEW memwarden.allowances WITH (security_invoker = true) AS
SELECT v.org, v.agent, v.layer, v.session, v.allowed, v.rate_window, v.used, v.set_for
  FROM memwarden_internal.list_allowances() AS v;
COMMENT ON VIEW memwarden.allowances IS
    'Shows how many writes are allowed and used: in a layer within rate_window, and in a session. A row for a session (layer null) '
    'is the budget of the agent''s role. Administrators also see other agents that have used some or have a limit of their own. '
    'set_for tells whose setting holds: agent, layer or role.';
GRANT SELECT ON memwarden.allowances TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
