-- Settings have an owner. The server's are in memwarden_data.layer; what an organisation or one of its agents has otherwise is here.
CREATE TABLE memwarden_data.layer_setting (
    setting_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id        bigint NOT NULL REFERENCES memwarden_data.organisation,
    principal_id  bigint REFERENCES memwarden_data.principal,
    layer         text NOT NULL,
    name          text NOT NULL,
    value         jsonb NOT NULL,
    -- Which profile brought it; NULL where somebody set it by hand.
    profile       text,
    CHECK (org_id <> 0 OR principal_id IS NOT NULL),
    UNIQUE NULLS NOT DISTINCT (org_id, principal_id, layer, name, profile)
);
CREATE INDEX layer_setting_principal ON memwarden_data.layer_setting (principal_id);
COMMENT ON TABLE memwarden_data.layer_setting IS
    'Settings of layers that differ from the server''s: of an organisation, or of one agent of it. The most specific holds.';
COMMENT ON COLUMN memwarden_data.layer_setting.layer IS 'A layer, or * for all of them.';
COMMENT ON COLUMN memwarden_data.layer_setting.principal_id IS 'The agent; NULL for all of the organisation.';

-- What these make of each layer, worked out whenever one of them changes, so that nobody who writes, recalls or cleans up has to.
CREATE TABLE memwarden_data.kept_layer (
    org_id        bigint NOT NULL REFERENCES memwarden_data.organisation,
    -- 0: whoever has no settings of its own
    principal_id  bigint NOT NULL,
    LIKE memwarden_data.layer INCLUDING CONSTRAINTS,
    PRIMARY KEY (org_id, principal_id, layer)
);
-- As if each column were declared here: else a restored layer, of which these were the names, would get others (PostgreSQL 18).
DO $$
DECLARE
    v_name text;
BEGIN
    FOR v_name IN SELECT c.conname FROM pg_constraint AS c
                   WHERE c.conrelid = 'memwarden_data.kept_layer'::regclass AND c.contype = 'n' AND starts_with(c.conname, 'layer_') LOOP
        EXECUTE format('ALTER TABLE memwarden_data.kept_layer RENAME CONSTRAINT %I TO %I', v_name, 'kept_' || v_name);
    END LOOP;
END
$$;
COMMENT ON TABLE memwarden_data.kept_layer IS
    'The settings of each layer that hold for an organisation, and for each of its agents that has its own: what layer and '
    'layer_setting make of them.';
INSERT INTO memwarden_data.kept_layer SELECT 0, 0, l.* FROM memwarden_data.layer AS l;
