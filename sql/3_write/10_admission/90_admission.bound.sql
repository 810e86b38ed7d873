CREATE OR REPLACE VIEW memwarden.allowances WITH (security_invoker = true) AS
SELECT v.org, v.agent, v.layer, v.session, v.allowed, v.rate_window, v.used, v.set_for
  FROM memwarden_internal.list_allowances() AS v;
COMMENT ON VIEW memwarden.allowances IS
    'What the caller may write and has used of it: per layer within rate_window, per session (layer NULL) of its '
    'role''s budget. Administrators see who else has used some, or has a limit of its own. set_for: agent, layer or '
    'role, whose setting holds.';
GRANT SELECT ON memwarden.allowances TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
