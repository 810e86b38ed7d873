-- What a human is asked about: one row for each write request that ever waited for one.
CREATE TABLE memwarden_data.review (
    org_id        bigint NOT NULL,
    request_id    uuid NOT NULL,
    scope_id      bigint NOT NULL,
    layer         text NOT NULL,
    label_id      integer NOT NULL,
    -- the writer
    principal_id  bigint NOT NULL,
    class         text,
    tier          text NOT NULL CHECK (tier IN ('async', 'sync')),
    reasons       text[] NOT NULL,
    risk          double precision NOT NULL CHECK (risk BETWEEN 0 AND 1),
    -- by name of the factor: {"value", "weight"}
    factors       jsonb NOT NULL,
    -- what was seen when it was queued: contradictions, duplicates, the proposal, the memory it would renew
    report        jsonb NOT NULL,
    state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected', 'expired', 'not_applicable')),
    -- grows when what was approved is no longer what was seen: approvals count within one round
    round         smallint NOT NULL DEFAULT 1,
    needed        smallint NOT NULL,
    four_eyes     boolean NOT NULL,
    opened_at     timestamptz NOT NULL,
    due_at        timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    escalated     smallint NOT NULL DEFAULT 0,
    decided_at    timestamptz,
    PRIMARY KEY (org_id, request_id),
    CHECK ((state = 'pending') = (decided_at IS NULL))
);
CREATE INDEX review_pending ON memwarden_data.review (org_id, layer, opened_at) WHERE state = 'pending';
CREATE INDEX review_expiry ON memwarden_data.review (expires_at) WHERE state = 'pending';
CREATE INDEX review_due ON memwarden_data.review (due_at) WHERE state = 'pending';
CREATE INDEX review_agreed ON memwarden_data.review (org_id, layer) WHERE state = 'approved' AND (four_eyes OR needed > 1);
-- When people were last asked whether a memory still holds.
CREATE INDEX review_of_lifetime ON memwarden_data.review (org_id, (report #>> '{current,item_id}')) WHERE 'LIFETIME_OVER' = ANY (reasons);
COMMENT ON TABLE memwarden_data.review IS
    'Write requests that wait, or waited, for a human. The request itself keeps the content; report and factors say why it is asked.';

-- Every decision about what was queued, those of the engine too. Never changed. What nobody was asked about is in its
-- signed provenance, and in write_request.review.
CREATE TABLE memwarden_data.review_event (
    org_id        bigint NOT NULL,
    event_id      uuid NOT NULL,
    request_id    uuid NOT NULL,
    round         smallint NOT NULL DEFAULT 1,
    event         text NOT NULL CHECK (event IN (
        'opened', 'approved', 'edited', 'rejected', 'escalated', 'expired', 'not_applicable', 'probe_failed', 'noise')),
    -- NULL for the engine
    principal_id  bigint,
    login         text,
    reason        text CHECK (reason ~ '^[A-Z][A-Z0-9_]{0,62}$'),
    note          text CHECK (length(note) <= 4000),
    detail        jsonb,
    at            timestamptz NOT NULL,
    PRIMARY KEY (org_id, event_id)
);
CREATE INDEX review_event_request ON memwarden_data.review_event (org_id, request_id);
CREATE INDEX review_event_at ON memwarden_data.review_event (org_id, at);
COMMENT ON TABLE memwarden_data.review_event IS
    'What became of proposals, by whom and why: append-only. principal_id is null where the engine decided; login: the '
    'database login of who did.';
