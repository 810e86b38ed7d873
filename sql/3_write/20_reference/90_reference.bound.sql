CREATE OR REPLACE VIEW memwarden.canonical_sources WITH (security_invoker = true) AS
SELECT v.org, v.name, v.category, v.kind, v.relation, v.key_column, v.text_column, v.version_column, v.threshold, v.enabled, v.state
  FROM memwarden_internal.list_canonical_sources() AS v;
COMMENT ON VIEW memwarden.canonical_sources IS
    'Lists the tables whose content memories may refer to and may not repeat (canonical sources). Rows of organisation global hold '
    'for all organisations.';
GRANT SELECT ON memwarden.canonical_sources TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
