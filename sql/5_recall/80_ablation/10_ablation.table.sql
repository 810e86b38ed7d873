-- What memory does for tasks shows only where some tasks go without it.
CREATE TABLE memwarden_data.ablation (
    org_id      bigint NOT NULL REFERENCES memwarden_data.organisation,
    -- Recalls of agents whose home is in that scope or below.
    scope_id    bigint NOT NULL REFERENCES memwarden_data.scope,
    -- of this task; empty: of all
    task        text NOT NULL,
    share       double precision NOT NULL CHECK (share > 0 AND share <= 0.5),
    -- Memories of such an importance are always given.
    spare_from  double precision NOT NULL CHECK (spare_from BETWEEN 0 AND 1),
    set_at      timestamptz NOT NULL,
    set_by      text NOT NULL,
    PRIMARY KEY (org_id, scope_id, task)
);
CREATE INDEX ablation_scope ON memwarden_data.ablation (scope_id);
COMMENT ON TABLE memwarden_data.ablation IS 'Where, and how often, recalls are withheld at random: see set_ablation().';
