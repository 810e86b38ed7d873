CREATE TABLE memwarden_data.access_log (
    entry_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    changed_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    org_id        bigint NOT NULL REFERENCES memwarden_data.organisation,
    login_role    text NOT NULL,
    principal_id  bigint,
    action        text NOT NULL,
    detail        jsonb NOT NULL
);
CREATE INDEX access_log_org ON memwarden_data.access_log (org_id, changed_at);
COMMENT ON TABLE memwarden_data.access_log IS
    'Every change of who may do what: by which login and principal, and what it was. Append-only.';
