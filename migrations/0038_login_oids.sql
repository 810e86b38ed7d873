-- A role that was dropped and made anew is not the one that was bound. setup() notes which roles are.
ALTER TABLE memwarden_data.principal_login
    ADD COLUMN role_oid oid,
    ADD COLUMN system_identifier bigint;
COMMENT ON COLUMN memwarden_data.principal_login.role_oid IS 'The role that was bound; NULL until setup() has looked.';
COMMENT ON COLUMN memwarden_data.principal_login.system_identifier IS 'The cluster in which role_oid is that role.';
