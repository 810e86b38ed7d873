CREATE OR REPLACE VIEW memwarden.functions WITH (security_invoker = true) AS
SELECT a.area, p.proname::text AS name,
       CASE WHEN r.callers && ARRAY['memwarden_agent'] THEN 'agent'
            WHEN r.callers && ARRAY['memwarden_reviewer'] THEN 'reviewer'
            WHEN r.callers && ARRAY['memwarden_curator', 'memwarden_auditor', 'memwarden_admin', 'memwarden_broker'] THEN 'administrator'
            ELSE 'operator' END AS audience,
       r.callers,
       regexp_replace(obj_description(p.oid, 'pg_proc'), '^(.+?\.)(\s.*)?$', '\1') AS summary
  FROM pg_proc AS p
  JOIN memwarden_internal.function_areas() AS a ON a.name = p.proname
 CROSS JOIN LATERAL (SELECT ARRAY(SELECT e.grantee::regrole::text FROM aclexplode(p.proacl) AS e
                                   WHERE e.grantee <> p.proowner AND e.grantee::regrole::text <> 'memwarden_owner'
                                   ORDER BY 1) AS callers) AS r
 WHERE p.pronamespace = 'memwarden'::regnamespace;
COMMENT ON VIEW memwarden.functions IS
    'Lists the public functions, with area, audience, callers and summary. area is the wing of the documentation. audience is who '
    'mainly calls the function: agent, reviewer, administrator, or operator (jobs, workers and DBAs). callers are the roles that may '
    'call it. summary is what it does, in one line.';
GRANT SELECT ON memwarden.functions TO memwarden_agent, memwarden_reviewer, memwarden_curator, memwarden_auditor, memwarden_admin;
