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
    -- the subject areas of the label that the memory bears, or would have
    domains       text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (org_id, hour, layer, principal_id, outcome, gate, reason, domains)
);
CREATE INDEX write_hour_hour ON memwarden_data.write_hour (hour);
COMMENT ON TABLE memwarden_data.write_hour IS
    'Of each hour, layer, agent and set of subject areas: how many writes were asked for, with which outcome, at which gate and for '
    'which reason.';

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
    -- Of the whole write (gate *) alone: the layer, and how it was decided.
    layer         text NOT NULL DEFAULT '*',
    path          text NOT NULL DEFAULT '*',
    PRIMARY KEY (org_id, hour, gate, layer, path, bucket)
);
CREATE INDEX gate_hour_hour ON memwarden_data.gate_hour (hour);
COMMENT ON TABLE memwarden_data.gate_hour IS
    'Of each hour and gate, and of the whole write (gate *) by layer and path: how many requests took how long, in buckets a fifth '
    'wide. Of a busy hour a sample of the requests.';

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
    state      text NOT NULL CHECK (state IN ('OK', 'WARNING', 'ALERT', 'MISSING_METRIC', 'NOT_MEASURED')),
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
