-- What a human refused, so that nobody is asked about it again.
CREATE TABLE memwarden_data.noise (
    org_id        bigint NOT NULL,
    noise_id      uuid NOT NULL,
    scope_id      bigint NOT NULL,
    layer         text NOT NULL,
    -- of what was refused: who may not see that is told nothing of it
    label_id      integer NOT NULL,
    principal_id  bigint NOT NULL,
    request_id    uuid NOT NULL,
    reason        text NOT NULL,
    -- HMAC of its fingerprint
    fingerprint   bytea,
    -- Where it lies. An embedding lets its text be guessed at: it is kept no longer than this row, and erased as the text is.
    embedding     @extschema:vector@.halfvec,
    model_id      smallint,
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    PRIMARY KEY (org_id, noise_id)
);
CREATE INDEX noise_of_scope ON memwarden_data.noise (org_id, scope_id, layer, expires_at);
CREATE UNIQUE INDEX noise_request ON memwarden_data.noise (org_id, request_id);
COMMENT ON TABLE memwarden_data.noise IS
    'Rejections that are remembered until expires_at. Words are not kept here: the refused request keeps them, and what '
    'it says is read there.';

CREATE TABLE memwarden_data.noise_policy (
    org_id   bigint PRIMARY KEY,
    keep     interval NOT NULL CHECK (keep BETWEEN interval '0' AND interval '730 days'),
    reasons  text[] NOT NULL CHECK (reasons <@ ARRAY[
                 'FACTUAL_ERROR', 'POLICY_VIOLATION', 'INSUFFICIENT_EVIDENCE', 'DUPLICATE', 'OUTDATED', 'NOISE', 'SENSITIVE',
                 'OUT_OF_SCOPE', 'OTHER'])
);
COMMENT ON TABLE memwarden_data.noise_policy IS
    'How long a rejection is remembered, and for which reasons. Organisation 0 speaks for all that have no row.';
-- Not what better evidence or another time may make right (INSUFFICIENT_EVIDENCE, OUTDATED), what is known anyway (DUPLICATE), or
-- what nobody gave a reason for (OTHER).
INSERT INTO memwarden_data.noise_policy (org_id, keep, reasons) VALUES
    (0, '90 days', '{FACTUAL_ERROR,POLICY_VIOLATION,NOISE,SENSITIVE,OUT_OF_SCOPE}');
