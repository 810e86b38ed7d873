-- An agent whose pace is not its layer's.
CREATE TABLE memwarden_data.rate_limit (
    org_id        bigint NOT NULL,
    principal_id  bigint NOT NULL REFERENCES memwarden_data.principal,
    layer         text NOT NULL REFERENCES memwarden_data.layer,
    rate_limit    integer NOT NULL CHECK (rate_limit BETWEEN 1 AND 1000000),
    rate_window   interval NOT NULL CHECK (rate_window BETWEEN interval '1 second' AND interval '1 day'),
    PRIMARY KEY (org_id, principal_id, layer)
);
CREATE INDEX rate_limit_principal ON memwarden_data.rate_limit (principal_id);
CREATE INDEX rate_limit_layer ON memwarden_data.rate_limit (layer);
COMMENT ON TABLE memwarden_data.rate_limit IS
    'How many writes an agent may ask for in a layer within rate_window, where that differs from the layer''s own '
    'limit.';
