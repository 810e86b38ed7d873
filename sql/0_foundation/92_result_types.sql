-- What the doors of the write path answer. An update script runs this again, hence the questions.
CREATE TYPE memwarden_internal.write_result AS (
    request_id   uuid,
    outcome      text,
    item_id      uuid,
    version_id   uuid,
    gate         text,
    reason       text,
    detail       jsonb,
    retry_after  timestamptz
);
COMMENT ON TYPE memwarden_internal.write_result IS 'The answer to one write request.';

CREATE TYPE memwarden_internal.batch_result AS (
    ordinal      integer,
    request_id   uuid,
    outcome      text,
    item_id      uuid,
    version_id   uuid,
    gate         text,
    reason       text,
    detail       jsonb,
    retry_after  timestamptz
);
COMMENT ON TYPE memwarden_internal.batch_result IS 'The answer to one request of a batch; ordinal counts from 0 in the order given.';

CREATE TYPE memwarden_internal.request_state AS (
    request_id    uuid,
    outcome       text,
    item_id       uuid,
    version_id    uuid,
    gate          text,
    reason        text,
    detail        jsonb,
    retry_after   timestamptz,
    layer         text,
    scope         text,
    attempt       integer,
    submitted_at  timestamptz,
    decided_at    timestamptz,
    gates         jsonb
);
COMMENT ON TYPE memwarden_internal.request_state IS 'A write request with everything the gates said.';
