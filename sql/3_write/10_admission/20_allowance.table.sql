-- Rows are small and change often: room on each page keeps the changes there. No foreign keys: they would lock
-- rows that administrators change.
CREATE TABLE memwarden_data.allowance (
    org_id        bigint NOT NULL,
    principal_id  bigint NOT NULL,
    scope_id      bigint NOT NULL,
    layer         text NOT NULL,
    shard         smallint NOT NULL,
    allowed       memwarden_data.counter NOT NULL,
    share         memwarden_data.counter NOT NULL,
    grain         memwarden_data.counter NOT NULL,
    place         memwarden_data.counter NOT NULL,
    spent         integer NOT NULL CHECK (spent >= 0),
    used_at       timestamptz[] NOT NULL,
    PRIMARY KEY (org_id, principal_id, scope_id, layer, shard)
) WITH (fillfactor = 50);
COMMENT ON TABLE memwarden_data.allowance IS
    'What agents have used of their rate limits (one layer, scope_id 0) and write budgets (a session''s scope_id, layer *), in shards.';
COMMENT ON COLUMN memwarden_data.allowance.allowed IS
    'The whole limit that this is a share of; rows of another limit than today''s are shared anew.';
COMMENT ON COLUMN memwarden_data.allowance.shard IS '0 and up; -1 for what was used of a higher limit than today''s.';
COMMENT ON COLUMN memwarden_data.allowance.share IS 'How many permits this row has.';
COMMENT ON COLUMN memwarden_data.allowance.used_at IS
    'When permits were last used: a ring, of whose entries each stands for as many as grain, the last for the rest.';
COMMENT ON COLUMN memwarden_data.allowance.place IS 'The entry that is used next, the oldest.';
COMMENT ON COLUMN memwarden_data.allowance.spent IS 'How many permits of that entry are used already.';
