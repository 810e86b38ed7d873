-- Settings of layers belong to the server, to an organisation, or to one of its agents.
ALTER TABLE memwarden_data.layer ADD COLUMN fixed text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN memwarden_data.layer.fixed IS 'Settings that no organisation or agent may have weaker than the server.';
COMMENT ON TABLE memwarden_data.layer IS
    'The layers of memory, and their settings as the server has them. What holds for an organisation: kept_layer.';
ALTER TYPE memwarden_data.write_terms ADD ATTRIBUTE has_lifetimes boolean;
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
-- The pace of an agent is a setting like any other.
INSERT INTO memwarden_data.layer_setting (org_id, principal_id, layer, name, value)
SELECT r.org_id, r.principal_id, r.layer, n.name, n.value
  FROM memwarden_data.rate_limit AS r
 CROSS JOIN LATERAL (VALUES ('rate_limit', to_jsonb(r.rate_limit)), ('rate_window', to_jsonb(r.rate_window))) AS n (name, value);
INSERT INTO memwarden_data.kept_layer
SELECT w.org_id, w.principal_id, l.*
  FROM (SELECT o.org_id, 0 AS principal_id FROM memwarden_data.organisation AS o
         UNION SELECT r.org_id, r.principal_id FROM memwarden_data.rate_limit AS r) AS w
 CROSS JOIN memwarden_data.layer AS l;
UPDATE memwarden_data.kept_layer AS k SET rate_limit = r.rate_limit, rate_window = r.rate_window
  FROM memwarden_data.rate_limit AS r
 WHERE r.org_id = k.org_id AND r.principal_id = k.principal_id AND r.layer = k.layer;
DROP TABLE memwarden_data.rate_limit;
