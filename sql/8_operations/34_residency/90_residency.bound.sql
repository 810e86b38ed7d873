CREATE OR REPLACE TRIGGER renew_publications AFTER INSERT OR UPDATE OR DELETE ON memwarden_data.residency_rule
    FOR EACH STATEMENT EXECUTE FUNCTION memwarden_internal.renew_publications();
CREATE OR REPLACE TRIGGER renew_publications BEFORE INSERT ON memwarden_data.organisation
    FOR EACH ROW EXECUTE FUNCTION memwarden_internal.renew_publications();

CREATE OR REPLACE VIEW memwarden.regions WITH (security_invoker = true) AS
SELECT v.region, v.description, v.is_here, v.standbys, v.publication, v.published_orgs
  FROM memwarden_internal.list_regions() AS v;
COMMENT ON VIEW memwarden.regions IS
    'Lists the regions: whether this server is there, which of its standbys are, and which publication carries which organisations '
    'there.';
GRANT SELECT ON memwarden.regions TO memwarden_admin;

CREATE OR REPLACE VIEW memwarden.residency WITH (security_invoker = true) AS
SELECT v.org, v.class, v.regions, v.set_at FROM memwarden_internal.list_residency() AS v;
COMMENT ON VIEW memwarden.residency IS
    'Lists in which regions memories may lie: of an organisation (global: of every organisation without a rule of its own) and of a '
    'class (null: whatever its class). Where two rules apply, both must allow a region.';
GRANT SELECT ON memwarden.residency TO memwarden_curator, memwarden_auditor, memwarden_admin;

CREATE OR REPLACE VIEW memwarden.residency_breaches WITH (security_invoker = true) AS
SELECT v.org, v.class, v.place, v.region, v.allowed, v.memories, v.since FROM memwarden_internal.list_residency_breaches() AS v;
COMMENT ON VIEW memwarden.residency_breaches IS
    'Lists what lies, or is carried, where its rules do not allow it: place is this server, one of its standbys, a replication slot '
    'or a publication. region is null where nobody has declared it; allowed tells where the memories may lie, and since when the '
    'rule is broken.';
GRANT SELECT ON memwarden.residency_breaches TO memwarden_curator, memwarden_auditor, memwarden_admin;
