-- What a job has counted of the log, so that nobody who reads updates anything. Days are those of UTC.
CREATE TABLE memwarden_data.recall_use (
    org_id         bigint NOT NULL,
    item_id        uuid NOT NULL,
    day            date NOT NULL,
    scope_id       bigint NOT NULL,
    layer          text NOT NULL,
    given          bigint NOT NULL DEFAULT 0,
    doubtful       bigint NOT NULL DEFAULT 0,
    last_given_at  timestamptz,
    -- of recalls of which somebody said what came of them
    judged         bigint NOT NULL DEFAULT 0,
    used           bigint NOT NULL DEFAULT 0,
    succeeded      bigint NOT NULL DEFAULT 0,
    failed         bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, item_id, day)
);
CREATE INDEX recall_use_day ON memwarden_data.recall_use (day);
COMMENT ON TABLE memwarden_data.recall_use IS
    'Of each memory and day: how often it was given, and of what was reported how often it was used, and with which outcome.';

CREATE TABLE memwarden_data.recall_day (
    org_id         bigint NOT NULL,
    day            date NOT NULL,
    principal_id   bigint NOT NULL,
    purpose        text NOT NULL,
    -- One that was asked; * for the recall as a whole.
    layer          text NOT NULL,
    recalls        bigint NOT NULL DEFAULT 0,
    answered       bigint NOT NULL DEFAULT 0,
    given          bigint NOT NULL DEFAULT 0,
    doubtful       bigint NOT NULL DEFAULT 0,
    reported       bigint NOT NULL DEFAULT 0,
    -- reported, and something was given; the sum of what share of it was used
    rated          bigint NOT NULL DEFAULT 0,
    precision_sum  double precision NOT NULL DEFAULT 0,
    hits           bigint NOT NULL DEFAULT 0,
    judged         bigint NOT NULL DEFAULT 0,
    used           bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, day, principal_id, purpose, layer)
);
COMMENT ON TABLE memwarden_data.recall_day IS
    'Of each day, agent, purpose and layer: how many recalls, how many gave something, and how much of that was of use.';

CREATE TABLE memwarden_data.recall_consumer (
    org_id         bigint NOT NULL,
    scope_id       bigint NOT NULL,
    principal_id   bigint NOT NULL,
    day            date NOT NULL,
    recalls        bigint NOT NULL,
    PRIMARY KEY (org_id, scope_id, principal_id, day)
);
CREATE INDEX recall_consumer_day ON memwarden_data.recall_consumer (day);
COMMENT ON TABLE memwarden_data.recall_consumer IS 'Who was given memories of a scope on a day, in how many recalls.';

-- So that a write asks one row.
CREATE TABLE memwarden_data.recall_reach (
    org_id         bigint NOT NULL,
    scope_id       bigint NOT NULL,
    recalls        bigint NOT NULL,
    consumers      bigint NOT NULL,
    counted_on     date NOT NULL,
    PRIMARY KEY (org_id, scope_id)
);
CREATE INDEX recall_reach_counted ON memwarden_data.recall_reach (counted_on);
COMMENT ON TABLE memwarden_data.recall_reach IS
    'How far the memories of a scope went in the last 30 days: in how many recalls, to how many principals.';

CREATE TABLE memwarden_data.recall_count (
    system_identifier  bigint PRIMARY KEY,
    below_transaction  xid8 NOT NULL,
    counted_at         timestamptz NOT NULL
);
COMMENT ON TABLE memwarden_data.recall_count IS
    'How far the log of recalls is counted: up to which transaction of which cluster, and when.';
