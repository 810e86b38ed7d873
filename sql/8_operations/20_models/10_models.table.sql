-- Who makes the vectors of a model where writers do not bring them: a plug-in of the worker. Settings name a secret's variable
-- and never hold one; so no application role reads this, unlike the models themselves.
CREATE TABLE memwarden_data.embedder (
    model_id  smallint PRIMARY KEY,
    plugin    text NOT NULL CHECK (plugin ~ '^[a-z][a-z0-9_]{0,62}$'),
    settings  jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object' AND octet_length(settings::text) <= 16384)
);
COMMENT ON TABLE memwarden_data.embedder IS 'The plug-in that makes the vectors of a model, and what it takes.';

CREATE TABLE memwarden_data.embedding_use (
    org_id             bigint NOT NULL,
    model_id           smallint NOT NULL,
    -- Whose vectors are meant where none is named.
    is_active          boolean NOT NULL DEFAULT false,
    -- Whether the worker makes what is missing. All that there was is looked through once, up to here; NULL when that is done.
    is_tended          boolean NOT NULL DEFAULT false,
    walked_org_id      bigint,
    walked_item_id     uuid,
    -- What was changed since then the log tells: the transactions that this had not seen, of that cluster.
    seen               pg_snapshot,
    system_identifier  bigint,
    -- It was active until then.
    retired_at         timestamptz,
    changed_at         timestamptz NOT NULL,
    PRIMARY KEY (org_id, model_id),
    CHECK ((walked_org_id IS NULL) = (walked_item_id IS NULL))
);
CREATE UNIQUE INDEX embedding_use_active ON memwarden_data.embedding_use (org_id) WHERE is_active;
COMMENT ON TABLE memwarden_data.embedding_use IS
    'Which models an organisation uses; organisation 0 speaks for all that have no active one of their own.';
INSERT INTO memwarden_data.embedding_use (org_id, model_id, is_active, changed_at)
SELECT 0, m.model_id, true, m.created_at FROM memwarden_data.embedding_model AS m WHERE m.name = 'default';

-- A memory that lacks a vector, and who makes it now. It says which, never what.
CREATE TABLE memwarden_data.embedding_job (
    model_id      smallint NOT NULL,
    org_id        bigint NOT NULL,
    item_id       uuid NOT NULL,
    version_id    uuid NOT NULL,
    -- empty: there is nothing in that version to embed
    state         text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running', 'dead', 'empty')),
    attempts      integer NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL,
    run_at        timestamptz NOT NULL,
    locked_by     text,
    locked_login  text,
    last_error    text CHECK (length(last_error) <= 500),
    PRIMARY KEY (model_id, org_id, item_id),
    CHECK ((state = 'running') = (locked_by IS NOT NULL AND locked_login IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
CREATE INDEX embedding_job_due ON memwarden_data.embedding_job (model_id, run_at) WHERE state IN ('ready', 'running');
COMMENT ON TABLE memwarden_data.embedding_job IS
    'Vectors that the worker is to make: one row a memory and model, as long as it is missing.';

-- Who moves the vectors of a scope holds the row of its number for as long as that lasts, and who adds vectors to one shares it. Not
-- the lock that writers take: closing a scope ends that one, and is not to wait.
CREATE TABLE memwarden_data.vector_move (
    place  smallint PRIMARY KEY
);
COMMENT ON TABLE memwarden_data.vector_move IS
    'What keeps moves of vectors and workers that make some apart: a row for every scope whose number leaves that '
    'remainder.';
INSERT INTO memwarden_data.vector_move (place) SELECT n FROM generate_series(0, 63) AS g (n);
