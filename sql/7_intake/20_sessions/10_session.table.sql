-- A session is one agent's work on one task in one scope. What it notes are ordinary memories of layer session; here stands
-- only which of them are whose.
CREATE TABLE memwarden_data.session (
    org_id        bigint NOT NULL,
    session_id    uuid NOT NULL,
    principal_id  bigint NOT NULL,
    scope_id      bigint NOT NULL,
    task          text NOT NULL CHECK (length(task) BETWEEN 1 AND 200),
    -- Without a call for so long it is over.
    ttl           interval NOT NULL CHECK (ttl > interval '0'),
    turn          integer NOT NULL DEFAULT 0,
    opened_at     timestamptz NOT NULL,
    used_at       timestamptz NOT NULL,
    closed_at     timestamptz,
    ended         text CHECK (ended IN ('closed', 'expired', 'scope_closed')),
    resumed_from  uuid,
    -- Others read what it remembers, as far as scopes, roles and policies let them.
    shared        boolean NOT NULL DEFAULT false,
    -- Of what class, and of whom, is what it remembers: by default of none, and of the task.
    class         text,
    subject       text CHECK (length(subject) <= 1000),
    PRIMARY KEY (org_id, session_id),
    CHECK ((closed_at IS NULL) = (ended IS NULL))
);
-- Who opens it again, after an answer that was lost or from another process, has the one that is open.
CREATE UNIQUE INDEX session_open ON memwarden_data.session (org_id, principal_id, scope_id, task) WHERE closed_at IS NULL;
CREATE INDEX session_last ON memwarden_data.session (org_id, principal_id, scope_id, task, closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX session_of_scope ON memwarden_data.session (scope_id) WHERE closed_at IS NULL;
COMMENT ON TABLE memwarden_data.session IS 'Sessions of agents: who worked on which task, where, and until when.';

CREATE TABLE memwarden_data.session_entry (
    org_id              bigint NOT NULL,
    session_id          uuid NOT NULL,
    -- the write that it is
    request_id          uuid NOT NULL,
    part                text NOT NULL CHECK (part IN ('goal', 'progress', 'observation', 'summary')),
    importance          text NOT NULL CHECK (importance IN ('critical', 'high', 'normal', 'low')),
    -- in the order of the session, whatever the clock does
    ordinal             integer NOT NULL,
    -- what was masked in it: kinds and places
    masked              jsonb,
    -- the session holds it no more: a newer or more important one took its place
    dropped             boolean NOT NULL DEFAULT false,
    -- the write of it into a lasting layer
    promotion_id        uuid,
    PRIMARY KEY (org_id, session_id, request_id),
    UNIQUE (org_id, session_id, ordinal),
    FOREIGN KEY (org_id, session_id) REFERENCES memwarden_data.session ON DELETE CASCADE
);
CREATE INDEX session_entry_request ON memwarden_data.session_entry (org_id, request_id);
COMMENT ON TABLE memwarden_data.session_entry IS
    'What a session asked to have remembered: the write requests, and those by which they were promoted.';
