-- The current version is one, and found as that: an index of numbers need not hold it.
DROP INDEX memwarden_data.version_number;
CREATE UNIQUE INDEX version_number ON memwarden_data.version (org_id, item_id, version, tier) WHERE NOT upper_inf(recorded_during);
