-- Figures of health, and how long they are kept.
INSERT INTO memwarden_data.record_retention (kind, keep) VALUES ('metrics', '400 days');
-- What jobs have counted, so that nobody who looks at figures reads the events. Hours are those of UTC.
CREATE TABLE memwarden_data.write_hour (
    org_id        bigint NOT NULL,
    hour          timestamptz NOT NULL,
    layer         text NOT NULL,
    principal_id  bigint NOT NULL,
    outcome       text NOT NULL,
    -- Who decided, and why; - where nobody had a reason.
    gate          text NOT NULL,
    reason        text NOT NULL,
    writes        bigint NOT NULL,
    -- of them not at the first attempt, or waiting for a scope that is busy
    retried       bigint NOT NULL,
    PRIMARY KEY (org_id, hour, layer, principal_id, outcome, gate, reason)
);
CREATE INDEX write_hour_hour ON memwarden_data.write_hour (hour);
COMMENT ON TABLE memwarden_data.write_hour IS
    'Of each hour, layer and agent: how many writes were asked for, with which outcome, at which gate and for which reason.';

CREATE TABLE memwarden_data.write_day (
    org_id        bigint NOT NULL,
    day           date NOT NULL,
    layer         text NOT NULL,
    principal_id  bigint NOT NULL,
    outcome       text NOT NULL,
    gate          text NOT NULL,
    reason        text NOT NULL,
    writes        bigint NOT NULL,
    retried       bigint NOT NULL,
    PRIMARY KEY (org_id, day, layer, principal_id, outcome, gate, reason)
);
CREATE INDEX write_day_day ON memwarden_data.write_day (day);
COMMENT ON TABLE memwarden_data.write_day IS 'The same by the day, in UTC.';

CREATE TABLE memwarden_data.gate_hour (
    org_id        bigint NOT NULL,
    hour          timestamptz NOT NULL,
    gate          text NOT NULL,
    -- The time lies between 2 ^ (bucket / 4) and 2 ^ ((bucket + 1) / 4) microseconds.
    bucket        smallint NOT NULL,
    requests      bigint NOT NULL,
    PRIMARY KEY (org_id, hour, gate, bucket)
);
CREATE INDEX gate_hour_hour ON memwarden_data.gate_hour (hour);
COMMENT ON TABLE memwarden_data.gate_hour IS
    'Of each hour and gate: how many requests took how long, in buckets a fifth wide. Of a busy hour a sample of the requests.';

CREATE TABLE memwarden_data.counted_hour (
    hour        timestamptz PRIMARY KEY,
    counted_at  timestamptz NOT NULL,
    requests    bigint NOT NULL,
    deferred    bigint NOT NULL,
    is_closed   boolean NOT NULL
);
CREATE INDEX counted_hour_open ON memwarden_data.counted_hour (hour) WHERE NOT is_closed;
COMMENT ON TABLE memwarden_data.counted_hour IS
    'Which hours of requests are counted, by the time in their numbers. An hour is closed, and counted no more, once nobody can choose a '
    'number in it and none of its requests waits.';

CREATE TABLE memwarden_data.metric_point (
    -- 0: the database as a whole
    org_id     bigint NOT NULL,
    metric     text NOT NULL,
    -- The layer, the gate; * for all.
    part       text NOT NULL,
    hour       timestamptz NOT NULL,
    value      double precision,
    events     bigint,
    state      text NOT NULL CHECK (state IN ('OK', 'WARNING', 'ALERT', 'MISSING_METRIC')),
    -- since when it has been in that state
    since      timestamptz NOT NULL,
    taken_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, metric, part, hour)
);
CREATE INDEX metric_point_hour ON memwarden_data.metric_point (hour);
COMMENT ON TABLE memwarden_data.metric_point IS
    'Every metric, once an hour: the last value in that hour, of how many events, and the state it was in.';

CREATE TABLE memwarden_data.metric_range (
    metric      text PRIMARY KEY,
    low         double precision,
    high        double precision,
    alert_low   double precision,
    alert_high  double precision,
    changed_at  timestamptz NOT NULL,
    changed_by  text NOT NULL
);
COMMENT ON TABLE memwarden_data.metric_range IS 'Healthy ranges that an administrator has set in place of the documented ones.';

-- Recalls that go without memory, and memories that were at fault.
ALTER TABLE memwarden_data.recall_log ADD COLUMN withheld uuid[];
ALTER TABLE memwarden_data.recall_outcome ADD COLUMN at_fault uuid[];
ALTER TABLE memwarden_data.incident DROP CONSTRAINT incident_kind_check, ADD CONSTRAINT incident_kind_check CHECK (kind IN (
    'RETENTION_BREACH', 'ERASURE_UNFINISHED', 'RESIDENCY_BREACH', 'CONSENT_NOT_ENFORCED', 'MEMORY_HARMS'));
COMMENT ON TABLE memwarden_data.incident IS
    'Breaches of retention, erasure, residency or consent, and harm by memory, that the compliance run found: opened when '
    'first seen, closed by the run that finds none.';
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
CREATE INDEX recall_outcome_at_fault ON memwarden_data.recall_outcome (org_id, recall_id) WHERE at_fault IS NOT NULL;

-- Memories that were good when they were written, looked at again with what is known today.
CREATE TABLE memwarden_data.revalidation (
    org_id       bigint NOT NULL,
    sweep_id     uuid NOT NULL,
    layer        text NOT NULL,
    begun_at     timestamptz NOT NULL,
    finished_at  timestamptz,
    population   bigint NOT NULL,
    sampled      integer NOT NULL,
    verified     integer,
    found_false  integer,
    uncertain    integer,
    PRIMARY KEY (org_id, sweep_id)
);
CREATE UNIQUE INDEX revalidation_open ON memwarden_data.revalidation (org_id, layer) WHERE finished_at IS NULL;
CREATE INDEX revalidation_latest ON memwarden_data.revalidation (org_id, layer, begun_at);
COMMENT ON TABLE memwarden_data.revalidation IS
    'Each sweep over a sample of the memories of an organisation in a layer: how many, and what came of it.';

CREATE TABLE memwarden_data.revalidated (
    org_id      bigint NOT NULL,
    sweep_id    uuid NOT NULL,
    item_id     uuid NOT NULL,
    version_id  uuid NOT NULL,
    verdict     text CHECK (verdict IN ('VERIFIED', 'FALSE', 'UNCERTAIN', 'GONE')),
    reason      text,
    checked_at  timestamptz,
    PRIMARY KEY (org_id, sweep_id, item_id),
    FOREIGN KEY (org_id, sweep_id) REFERENCES memwarden_data.revalidation ON DELETE CASCADE
);
CREATE INDEX revalidated_due ON memwarden_data.revalidated (org_id, sweep_id) WHERE verdict IS NULL;
CREATE INDEX revalidated_item ON memwarden_data.revalidated (org_id, item_id);
COMMENT ON TABLE memwarden_data.revalidated IS
    'The memories of each sample, by number, and what was found. GONE: it has ended since it was drawn.';

CREATE TABLE memwarden_data.tightening (
    org_id     bigint NOT NULL,
    layer      text NOT NULL,
    raised_by  double precision NOT NULL CHECK (raised_by > 0 AND raised_by <= 0.5),
    since      timestamptz NOT NULL,
    sweep_id   uuid NOT NULL,
    PRIMARY KEY (org_id, layer)
);
COMMENT ON TABLE memwarden_data.tightening IS
    'By how much the factual threshold of a layer is higher for an organisation, because too many of its memories were found false.';
