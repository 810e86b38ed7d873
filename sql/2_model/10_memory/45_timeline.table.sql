-- Two clocks: what the store held to be true of a subject and predicate, at which time in the world
-- (valid_during), and when it held that (recorded_during). A new value takes its period from those before it.
CREATE TABLE memwarden_data.timeline (
    org_id           bigint NOT NULL,
    scope_id         bigint NOT NULL,
    item_id          uuid NOT NULL,
    version_id       uuid NOT NULL,
    valid_during     tstzrange NOT NULL CHECK (NOT isempty(valid_during)),
    recorded_during  tstzrange NOT NULL CHECK (NOT isempty(recorded_during)),
    -- At no moment does the store hold two values for the same moment.
    CONSTRAINT timeline_one_value EXCLUDE USING gist
        (org_id WITH =, item_id WITH =, recorded_during WITH &&, valid_during WITH &&)
);
-- What is held still, one period after another: finds the value of a time, however many values there were.
CREATE INDEX timeline_held ON memwarden_data.timeline (org_id, item_id, lower(valid_during)) WHERE upper_inf(recorded_during);
-- The table has no primary key: a publication of all tables says of a row that goes or changes which it was by all of it.
ALTER TABLE memwarden_data.timeline REPLICA IDENTITY FULL;
COMMENT ON TABLE memwarden_data.timeline IS
    'For items that hold one value at a time: which version was held true for which period, and when that was held. '
    'Rows end, and are never changed otherwise.';
