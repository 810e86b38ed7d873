CREATE TABLE memwarden_data.storage (
    storage_version  integer PRIMARY KEY,
    applied_at       timestamptz NOT NULL DEFAULT now(),
    built_from       text,
    shape            jsonb,
    bound            jsonb
);
COMMENT ON TABLE memwarden_data.storage IS
    'The versions of the storage that setup() has brought about. built_from: the version and a hash of the statements '
    'that make its tables, which every door compares; shape: what the tables were like then; bound: what setup() has '
    'hung on them since.';
