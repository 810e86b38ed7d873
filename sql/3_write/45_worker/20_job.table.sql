-- One question to one plug-in. Job libraries (procrastinate, pgqueuer) bring tables that their workers read and write freely, and
-- whose rows outlive the question; here payloads are a tenant's content. Rows change often: room on the page, an early vacuum.
CREATE TABLE memwarden_data.job (
    org_id        bigint NOT NULL,
    request_id    uuid NOT NULL,
    purpose       text NOT NULL,
    plugin        text NOT NULL,
    part          integer NOT NULL,
    job_id        uuid NOT NULL UNIQUE,
    -- What the plug-in is to judge; nothing once the job is over.
    payload       jsonb,
    state         text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running', 'done', 'dead')),
    attempts      integer NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL,
    -- From when on it may be taken: ready, when it is due; running, when its lease is over.
    run_at        timestamptz NOT NULL,
    deadline      timestamptz NOT NULL,
    locked_by     text,
    locked_login  text,
    locked_until  timestamptz,
    last_error    text CHECK (length(last_error) <= 500),
    finished_at   timestamptz,
    -- Nobody waits for the answer: request_id is a version that stands, and those that are waited for come first.
    afterwards    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (org_id, request_id, purpose, plugin, part),
    CHECK ((state = 'running') = (locked_by IS NOT NULL)),
    CHECK ((state IN ('done', 'dead')) = (finished_at IS NOT NULL) AND (finished_at IS NULL OR payload IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
CREATE INDEX job_open ON memwarden_data.job (afterwards, run_at) WHERE state IN ('ready', 'running');
CREATE INDEX job_running ON memwarden_data.job (run_at) WHERE state = 'running';
CREATE INDEX job_finished ON memwarden_data.job (finished_at) WHERE finished_at IS NOT NULL;
COMMENT ON TABLE memwarden_data.job IS
    'Questions for the worker: ready, running (claimed until locked_until), done, or dead (set aside). Payloads are '
    'kept no longer than the question is open. afterwards: about a version that is stored, whose number request_id is.';

CREATE TABLE memwarden_data.verdict (
    org_id          bigint NOT NULL,
    request_id      uuid NOT NULL,
    purpose         text NOT NULL,
    plugin          text NOT NULL,
    part            integer NOT NULL,
    plugin_version  text NOT NULL CHECK (length(plugin_version) <= 100),
    decision        text NOT NULL CHECK (decision IN ('accept', 'reject')),
    score           double precision CHECK (score BETWEEN 0 AND 1),
    -- Empty once the request is decided: it may repeat what it judged.
    detail          jsonb NOT NULL CHECK (jsonb_typeof(detail) = 'object'),
    given_at        timestamptz NOT NULL,
    given_by        text NOT NULL,
    PRIMARY KEY (org_id, request_id, purpose, plugin, part)
);
CREATE INDEX verdict_given ON memwarden_data.verdict (given_at);
COMMENT ON TABLE memwarden_data.verdict IS
    'What plug-ins answered about a request: one row a question. given_by: the worker''s login role.';
