-- Who is asked about a write of a layer. What a plug-in needs to know stands in settings; a secret does not:
-- settings name the variable of the worker's environment that holds it.
CREATE TABLE memwarden_data.verifier (
    org_id      bigint NOT NULL,
    layer       text NOT NULL,
    purpose     text NOT NULL CHECK (purpose IN ('verify', 'classify', 'gate', 'judge')),
    plugin      text NOT NULL CHECK (plugin ~ '^[a-z][a-z0-9_]{0,62}$'),
    quorum      integer NOT NULL CHECK (quorum BETWEEN 1 AND 9),
    patience    interval NOT NULL CHECK (patience BETWEEN interval '1 second' AND interval '7 days'),
    on_timeout  text NOT NULL CHECK (on_timeout IN ('reject', 'accept')),
    settings    jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object' AND octet_length(settings::text) <= 16384),
    PRIMARY KEY (org_id, layer, purpose, plugin)
);
COMMENT ON TABLE memwarden_data.verifier IS
    'Which plug-ins of the worker are asked about writes of a layer, and for what. Organisation 0 speaks for all; of '
    'one plug-in an organisation''s own row counts.';
