-- One decision of an agent about one version of a memory: its key is why none is carried out twice.
CREATE TABLE memwarden_data.consolidation (
    org_id             bigint NOT NULL,
    principal_id       bigint NOT NULL,
    source_version_id  uuid NOT NULL,
    -- where to
    layer              text NOT NULL,
    scope_id           bigint NOT NULL,
    source_item_id     uuid NOT NULL,
    decision           text NOT NULL CHECK (decision IN ('ADD', 'UPDATE', 'DELETE', 'NOOP')),
    target_item_id     uuid,
    target_version_id  uuid,
    -- of ADD and UPDATE
    request_id         uuid,
    -- NULL while it is carried out, in a transaction that is not over
    outcome            text,
    reason             text,
    decider            text NOT NULL CHECK (decider ~ '^[A-Za-z0-9_.:/-]{1,100}$'),
    decided_at         timestamptz NOT NULL,
    PRIMARY KEY (org_id, principal_id, source_version_id, layer),
    CHECK ((decision IN ('UPDATE', 'DELETE')) = (target_item_id IS NOT NULL)),
    CHECK ((target_item_id IS NULL) = (target_version_id IS NULL)),
    -- of DELETE the one that people are asked with, where they are
    CHECK (decision = 'DELETE' OR (decision IN ('ADD', 'UPDATE')) = (request_id IS NOT NULL))
);
CREATE UNIQUE INDEX consolidation_request ON memwarden_data.consolidation (org_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX consolidation_source ON memwarden_data.consolidation (org_id, source_item_id);
CREATE INDEX consolidation_target ON memwarden_data.consolidation (org_id, target_item_id);
COMMENT ON TABLE memwarden_data.consolidation IS 'What agents decided about memories of one layer for another, and what came of it.';
