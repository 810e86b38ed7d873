-- Keys that sign what is stored. Wrapped by the master key: a dump alone opens none.
CREATE TABLE memwarden_data.signing_key (
    key_id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purpose     text NOT NULL CHECK (purpose ~ '^[a-z_]{1,40}$'),
    wrapped     bytea NOT NULL CHECK (octet_length(wrapped) = 60),
    created_at  timestamptz NOT NULL,
    retired_at  timestamptz CHECK (retired_at >= created_at)
);
-- One at a time signs; those before it verify.
CREATE UNIQUE INDEX signing_key_current ON memwarden_data.signing_key (purpose) WHERE retired_at IS NULL;
COMMENT ON TABLE memwarden_data.signing_key IS
    'Signing keys, each wrapped by the master key (AES-256-GCM). The one that is not retired signs.';
