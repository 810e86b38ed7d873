-- Values that were taken out of contents and kept, encrypted. They end with their item.
CREATE TABLE memwarden_data.sensitive_value (
    org_id      bigint NOT NULL,
    item_id     uuid NOT NULL,
    value_id    text NOT NULL CHECK (value_id ~ '^[a-p]{32}$'),
    kind        text NOT NULL,
    sealed      bytea NOT NULL,
    sealed_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, item_id, value_id)
);
CREATE INDEX sensitive_value_id ON memwarden_data.sensitive_value (org_id, value_id);
COMMENT ON TABLE memwarden_data.sensitive_value IS
    'Sensitive values of items, encrypted (AES-256-GCM) under the key of the organisation. value_id is in the token '
    'that stands for the value in the content.';

CREATE TABLE memwarden_data.sealing_key (
    org_id      bigint PRIMARY KEY,
    wrapped     bytea NOT NULL CHECK (octet_length(wrapped) = 60),
    created_at  timestamptz NOT NULL
);
COMMENT ON TABLE memwarden_data.sealing_key IS
    'The key of each organisation that encrypts its sensitive values, wrapped by the master key (AES-256-GCM). Without '
    'it they are gone.';

-- What a later look found in contents that were stored before a rule was there.
CREATE TABLE memwarden_data.sensitivity_scan (
    org_id       bigint NOT NULL,
    item_id      uuid NOT NULL,
    version_id   uuid NOT NULL,
    sensitivity  text NOT NULL CHECK (sensitivity IN ('none', 'suspicious', 'high')),
    findings     jsonb NOT NULL,
    scanned_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, item_id, version_id)
);
COMMENT ON TABLE memwarden_data.sensitivity_scan IS 'Findings of rescan() in stored versions: where, and by which rule; never what.';
