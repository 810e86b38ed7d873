-- Which version of which extractor has read which capture. The key is why none does so twice.
CREATE TABLE memwarden_data.extraction (
    org_id        bigint NOT NULL,
    capture_id    uuid NOT NULL,
    extractor_id  bigint NOT NULL,
    principal_id  bigint NOT NULL,
    candidates    integer NOT NULL,
    -- Under the floor, malformed, or more than one capture may have.
    dropped       integer NOT NULL,
    -- SQLSTATE of what it failed with; tried again a few times.
    fault         text,
    attempts      integer NOT NULL DEFAULT 1,
    extracted_at  timestamptz NOT NULL,
    -- Parts of the capture whose shape the extractor does not know.
    unread        integer NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, capture_id, extractor_id)
);
CREATE INDEX extraction_mine ON memwarden_data.extraction (org_id, principal_id, capture_id);
CREATE INDEX extraction_unread ON memwarden_data.extraction (org_id, capture_id) WHERE unread > 0;
COMMENT ON TABLE memwarden_data.extraction IS 'Which captures each version of an extractor has read, and how many candidates it found.';

CREATE TABLE memwarden_data.candidate (
    org_id        bigint NOT NULL,
    capture_id    uuid NOT NULL,
    extractor_id  bigint NOT NULL,
    ordinal       integer NOT NULL,
    -- NULL: dropped.
    request_id    uuid,
    layer         text,
    stated        double precision,
    confidence    double precision,
    fault         text,
    PRIMARY KEY (org_id, capture_id, extractor_id, ordinal)
);
CREATE UNIQUE INDEX candidate_request ON memwarden_data.candidate (org_id, request_id) WHERE request_id IS NOT NULL;
COMMENT ON TABLE memwarden_data.candidate IS
    'What extractors found: the request of each candidate, the confidence its extractor stated, and what calibration '
    'made of that. What it says is in the request and nowhere else.';
