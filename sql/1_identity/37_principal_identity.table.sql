-- To the letter: an issuer and its subjects are names of another system.
CREATE TABLE memwarden_data.principal_identity (
    issuer        text NOT NULL CHECK (issuer ~ '^https?://[!-~]+$' AND length(issuer) <= 500),
    subject       text NOT NULL CHECK (subject ~ '^[ -~]{1,255}$'),
    principal_id  bigint NOT NULL REFERENCES memwarden_data.principal,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX principal_identity_principal ON memwarden_data.principal_identity (principal_id);
COMMENT ON TABLE memwarden_data.principal_identity IS
    'Binds whom an issuer of tokens outside names (iss and sub of its tokens) to a principal.';
