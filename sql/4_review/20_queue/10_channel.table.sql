-- Where reviewers are told. A secret is no setting: settings name the variable of the worker's environment that holds it.
CREATE TABLE memwarden_data.review_channel (
    org_id    bigint NOT NULL,
    name      text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    kind      text NOT NULL CHECK (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
    target    text NOT NULL CHECK (length(target) BETWEEN 1 AND 1000) CHECK (target !~ '[[:cntrl:]]'),
    events    text[] NOT NULL CHECK (cardinality(events) > 0 AND events <@ ARRAY[
                  'opened', 'edited', 'approved', 'rejected', 'escalated', 'expired', 'not_applicable', 'probe_failed',
                  'incident']),
    tiers     text[] NOT NULL CHECK (cardinality(tiers) > 0 AND tiers <@ ARRAY['async', 'sync']),
    layer     text,
    -- and what lies below
    scope_id  bigint,
    settings  jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object' AND octet_length(settings::text) <= 4096),
    PRIMARY KEY (org_id, name)
);
COMMENT ON TABLE memwarden_data.review_channel IS
    'Where it is told that a write waits for a human, and what becomes of it. Organisation 0 speaks for all; of one '
    'name an organisation''s own row counts.';

-- What is still to be told, made in the transaction that it tells of: ids only. The notice itself is put together when it is sent.
CREATE TABLE memwarden_data.review_notice (
    org_id           bigint NOT NULL,
    notice_id        uuid NOT NULL,
    channel_org_id   bigint NOT NULL,
    channel          text NOT NULL,
    event_id         uuid NOT NULL,
    request_id       uuid NOT NULL,
    event            text NOT NULL,
    state            text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running', 'done', 'dead')),
    attempts         integer NOT NULL DEFAULT 0,
    created_at       timestamptz NOT NULL,
    -- From when on it may be taken: ready, when it is due; running, when its lease is over.
    run_at           timestamptz NOT NULL,
    locked_by        text,
    locked_login     text,
    last_error       text CHECK (length(last_error) <= 500),
    finished_at      timestamptz,
    PRIMARY KEY (org_id, notice_id),
    UNIQUE (org_id, event_id, channel),
    CHECK ((state = 'running') = (locked_by IS NOT NULL)),
    CHECK ((state IN ('done', 'dead')) = (finished_at IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
CREATE INDEX review_notice_open ON memwarden_data.review_notice (run_at) WHERE state IN ('ready', 'running');
CREATE INDEX review_notice_finished ON memwarden_data.review_notice (finished_at) WHERE finished_at IS NOT NULL;
COMMENT ON TABLE memwarden_data.review_notice IS
    'Notices for the worker to send, one for each event of a review and channel: ready, running (held until run_at), '
    'done, or dead (set aside). notice_id goes along, so that who gets it twice can tell.';
