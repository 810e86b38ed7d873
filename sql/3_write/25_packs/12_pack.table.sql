-- What an organisation lets pass, as one document in versions; no version ever changes.
CREATE TABLE memwarden_data.pack (
    org_id      bigint NOT NULL REFERENCES memwarden_data.organisation,
    name        text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    version     integer NOT NULL CHECK (version > 0),
    definition  jsonb NOT NULL,
    defined_by  text NOT NULL,
    defined_at  timestamptz NOT NULL,
    PRIMARY KEY (org_id, name, version)
);
COMMENT ON TABLE memwarden_data.pack IS 'Packs in all their versions: thresholds, classes, redaction, freshness, consent, audit.';

-- Which is in force where. Of an agent before that of a scope, of a nearer scope before one above it, then the organisation's.
CREATE TABLE memwarden_data.pack_use (
    org_id        bigint NOT NULL REFERENCES memwarden_data.organisation,
    scope_id      bigint REFERENCES memwarden_data.scope,
    principal_id  bigint REFERENCES memwarden_data.principal,
    depth         integer NOT NULL,
    name          text NOT NULL,
    version       integer NOT NULL,
    -- What a write reads: {"name", "version", "definition", "rules": {layer: hash of the sensitivity rules, * for all layers}}.
    pack          jsonb NOT NULL,
    since         timestamptz NOT NULL,
    -- Where it has redaction rules: since when they hold there, and when all that was written before had been looked at by them.
    rules_since   timestamptz,
    swept_at      timestamptz,
    FOREIGN KEY (org_id, name, version) REFERENCES memwarden_data.pack,
    UNIQUE NULLS NOT DISTINCT (org_id, scope_id, principal_id),
    CHECK (num_nonnulls(scope_id, principal_id) <= 1)
);
CREATE INDEX pack_use_version ON memwarden_data.pack_use (org_id, name, version);
CREATE INDEX pack_use_scope ON memwarden_data.pack_use (scope_id);
CREATE INDEX pack_use_principal ON memwarden_data.pack_use (principal_id);
-- The table has no primary key: a publication of all tables says of a row that goes or changes which it was by all of it.
ALTER TABLE memwarden_data.pack_use REPLICA IDENTITY FULL;
COMMENT ON TABLE memwarden_data.pack_use IS
    'The version of a pack that is in force for an organisation, a scope and what lies below it, or an agent.';

-- Whether what a pack finds eligible passes by itself; no row where nobody has said otherwise.
CREATE TABLE memwarden_data.auto_promotion (
    org_id      bigint NOT NULL REFERENCES memwarden_data.organisation,
    pack        text NOT NULL,
    class       text NOT NULL,
    enabled     boolean NOT NULL,
    reason      text NOT NULL CHECK (length(reason) BETWEEN 1 AND 1000),
    changed_by  text NOT NULL,
    changed_at  timestamptz NOT NULL,
    PRIMARY KEY (org_id, pack, class)
);
COMMENT ON TABLE memwarden_data.auto_promotion IS
    'Which classes a pack lets pass by itself no longer, or again: who or what switched that, when and why.';

-- What passed by itself and a human looks at afterwards.
CREATE TABLE memwarden_data.audit_sample (
    org_id        bigint NOT NULL,
    request_id    uuid NOT NULL,
    item_id       uuid NOT NULL,
    version_id    uuid NOT NULL,
    scope_id      bigint NOT NULL,
    label_id      integer NOT NULL,
    principal_id  bigint NOT NULL,
    pack          text NOT NULL,
    pack_version  integer NOT NULL,
    class         text NOT NULL,
    verdict       text CHECK (verdict IN ('right', 'wrong')),
    note          text CHECK (length(note) BETWEEN 1 AND 1000),
    decided_by    bigint,
    login         text,
    sampled_at    timestamptz NOT NULL,
    decided_at    timestamptz,
    PRIMARY KEY (org_id, request_id),
    CHECK ((verdict IS NULL) = (decided_at IS NULL))
);
CREATE INDEX audit_sample_open ON memwarden_data.audit_sample (org_id, sampled_at) WHERE verdict IS NULL;
CREATE INDEX audit_sample_decided ON memwarden_data.audit_sample (org_id, pack, class, decided_at) WHERE verdict IS NOT NULL;
CREATE INDEX audit_sample_item ON memwarden_data.audit_sample (org_id, item_id);
COMMENT ON TABLE memwarden_data.audit_sample IS 'The share of what a pack let pass that is looked at afterwards, and what was found.';
