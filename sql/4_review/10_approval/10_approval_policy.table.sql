-- When a human is asked before something is remembered. The most specific row holds: of an agent, else of a class, else of
-- the layer; of the organisation before that of all (organisation 0).
CREATE TABLE memwarden_data.approval_policy (
    policy_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id         bigint NOT NULL REFERENCES memwarden_data.organisation,
    layer          text NOT NULL REFERENCES memwarden_data.layer,
    class          text NOT NULL DEFAULT '*' CHECK (class ~ '^(\*|[a-z][a-z0-9_]{0,62})$'),
    -- By name: a policy may be there before its agent.
    agent          text CHECK (length(agent) BETWEEN 1 AND 200),
    approval       text NOT NULL CHECK (approval IN ('always', 'by_risk', 'pack_auto', 'never')),
    auto_below     double precision NOT NULL DEFAULT 0.3 CHECK (auto_below BETWEEN 0 AND 1.01),
    sync_from      double precision NOT NULL DEFAULT 0.7 CHECK (sync_from BETWEEN 0 AND 1.01),
    weights        double precision[] NOT NULL DEFAULT '{0.25,0.20,0.15,0.15,0.15,0.10}'
        CHECK (cardinality(weights) = 6 AND 0 <= ALL (weights)
               AND abs(weights[1] + weights[2] + weights[3] + weights[4] + weights[5] + weights[6] - 1) < 1e-9),
    layer_risk     double precision CHECK (layer_risk BETWEEN 0 AND 1),
    sla            interval NOT NULL DEFAULT '48 hours' CHECK (sla > interval '0'),
    max_wait_sync  interval NOT NULL DEFAULT '15 minutes' CHECK (max_wait_sync > interval '0'),
    expires_after  interval NOT NULL DEFAULT '14 days' CHECK (expires_after > interval '0'),
    max_queue      integer NOT NULL DEFAULT 1000 CHECK (max_queue BETWEEN 1 AND 1000000),
    needed         smallint NOT NULL DEFAULT 1 CHECK (needed BETWEEN 1 AND 20),
    needed_sync    smallint NOT NULL DEFAULT 1 CHECK (needed_sync BETWEEN 1 AND 20),
    four_eyes      boolean NOT NULL DEFAULT true,
    profile        text,
    CHECK (auto_below <= sync_from),
    CONSTRAINT approval_policy_key UNIQUE NULLS NOT DISTINCT (org_id, layer, class, agent, profile)
);
CREATE INDEX approval_policy_layer ON memwarden_data.approval_policy (layer);
COMMENT ON TABLE memwarden_data.approval_policy IS
    'When a human is asked before something is remembered, how soon, and how many. The most specific row holds.';
COMMENT ON COLUMN memwarden_data.approval_policy.approval IS
    'always: a human; by_risk: where the risk is auto_below or more; pack_auto: where no pack lets it pass; never: nobody.';
COMMENT ON COLUMN memwarden_data.approval_policy.weights IS
    'Of the factors of risk: layer, contradiction, evidence, confidence gap, blast radius, novelty. Their sum is 1.';
COMMENT ON COLUMN memwarden_data.approval_policy.sync_from IS
    'From this risk on the writer is to wait, and no answer within max_wait_sync is a refusal.';
COMMENT ON COLUMN memwarden_data.approval_policy.layer_risk IS
    'What a write into the layer risks by itself; by the stated rule of layer_risk() where null.';
COMMENT ON COLUMN memwarden_data.approval_policy.needed IS 'How many humans must agree; needed_sync: of what the writer waits for.';
COMMENT ON COLUMN memwarden_data.approval_policy.four_eyes IS 'Nobody decides about a write of its own, or of an agent of its own.';

COMMENT ON COLUMN memwarden_data.approval_policy.profile IS
    'Which profile brought it; null where somebody set it by hand, which holds before it.';

INSERT INTO memwarden_data.approval_policy (org_id, layer, approval, auto_below, layer_risk, profile) VALUES
    -- An event is always new and seldom disputed: below this it is one that contradicts nothing.
    (0, 'episodic', 'by_risk', 0.5, 0.3, 'strict'),
    (0, 'semantic', 'always', 0.3, 0.8, 'strict'),
    (0, 'procedural', 'always', 0.3, 1.0, 'strict'),
    (0, 'durable', 'always', 0.3, NULL, 'strict');
