CREATE TABLE memwarden_data.storage (
    storage_version  integer PRIMARY KEY,
    applied_at       timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE memwarden_data.storage IS 'The versions of the storage that setup() has brought about.';
