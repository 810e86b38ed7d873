-- A key is derived from the server's master key and this salt: the table, and a dump of it, signs nothing.
CREATE TABLE memwarden_data.token_key (
    key_id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    salt        bytea NOT NULL CHECK (octet_length(salt) = 32),
    created_at  timestamptz NOT NULL DEFAULT now(),
    retires_at  timestamptz
);
COMMENT ON TABLE memwarden_data.token_key IS 'Keys that tokens are signed under: the newest signs, all that have not retired verify.';

CREATE TABLE memwarden_data.token (
    token_id      uuid PRIMARY KEY,
    key_id        integer NOT NULL REFERENCES memwarden_data.token_key,
    principal_id  bigint NOT NULL REFERENCES memwarden_data.principal,
    audience      text NOT NULL,
    issued_by     text NOT NULL,
    issued_at     timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    revoked_at    timestamptz
);
CREATE INDEX token_principal ON memwarden_data.token (principal_id, audience);
CREATE INDEX token_key_used ON memwarden_data.token (key_id);
CREATE INDEX token_expiry ON memwarden_data.token (expires_at);
COMMENT ON TABLE memwarden_data.token IS 'Tokens that brokers were given, for whom and for which login. The token itself is not stored.';
