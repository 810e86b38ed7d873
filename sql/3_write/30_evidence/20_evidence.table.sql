-- What an application, a tool or a broker has seen itself, kept in its words: agents cite it and cannot change it.
CREATE TABLE memwarden_data.evidence (
    org_id        bigint NOT NULL,
    evidence_id   uuid NOT NULL,
    scope_id      bigint NOT NULL,
    uri           text NOT NULL,
    type          text NOT NULL,
    version       text,
    accessed_at   timestamptz NOT NULL,
    excerpt       text NOT NULL,
    excerpt_hash  bytea NOT NULL CHECK (octet_length(excerpt_hash) = 32),
    -- HMAC of the row under the server's master key; NULL where the server has none.
    seal          bytea CHECK (octet_length(seal) = 32),
    issuer_id     bigint NOT NULL,
    recorded_at   timestamptz NOT NULL,
    -- Of a class that is encrypted: the excerpt under the key of its subject, and none in clear.
    subject_key_id uuid,
    sealed        bytea,
    PRIMARY KEY (org_id, evidence_id),
    CHECK ((subject_key_id IS NULL) = (sealed IS NULL) AND (sealed IS NULL OR excerpt = ''))
);
CREATE INDEX evidence_of_scope ON memwarden_data.evidence (org_id, scope_id);
CREATE INDEX evidence_subject_key ON memwarden_data.evidence (org_id, subject_key_id) WHERE subject_key_id IS NOT NULL;
COMMENT ON TABLE memwarden_data.evidence IS 'Recorded evidence: an excerpt, where it comes from, who saw it and when. Never changed.';
