-- What was erased, without saying what it was: identifiers of rows that are gone, and nobody's name. verify_log()
-- tells by these that a version is lawfully gone, and a restored copy is erased again by them.
CREATE TABLE memwarden_data.erasure (
    org_id             bigint NOT NULL,
    erasure_id         uuid NOT NULL,
    erased_at          timestamptz NOT NULL,
    login_role         text NOT NULL,
    principal_id       bigint,
    -- Keyed: whoever can guess a name must not be able to confirm it.
    subject_hash       bytea CHECK (octet_length(subject_hash) = 32),
    reason             text NOT NULL,
    reason_hash        bytea NOT NULL CHECK (octet_length(reason_hash) = 32),
    items              integer NOT NULL,
    versions           integer NOT NULL,
    requests           integer NOT NULL,
    evidence           integer NOT NULL,
    log_entries        integer NOT NULL,
    layers             text[] NOT NULL,
    key_id             text,
    signature          bytea,
    -- Where, and in which transaction, it was carried out last: the guards of history let that one through.
    system_identifier  bigint NOT NULL,
    transaction_id     xid8 NOT NULL,
    -- What let it happen: a person's right, the age of what went, or the time for which it might be kept.
    cause              text NOT NULL DEFAULT 'ERASURE' CHECK (cause IN ('ERASURE', 'COLLECTION', 'RETENTION')),
    -- places: rows deleted or blanked, by table; subject_keys: how many keys it destroyed; generation: the newest that ever wrapped
    -- one of them; in_clear: of what it took, how much no destroyed key had encrypted; remains: rows that stay, by table.
    detail             jsonb,
    -- Since when nobody can have it back, why (KEYS, COPIES), and who vouches for that.
    final_at           timestamptz,
    final_by           text CHECK (final_by IN ('KEYS', 'COPIES')),
    final_key_id       text,
    final_signature    bytea,
    PRIMARY KEY (org_id, erasure_id),
    CHECK ((key_id IS NULL) = (signature IS NULL))
);
CREATE UNIQUE INDEX erasure_number ON memwarden_data.erasure (erasure_id);
CREATE INDEX erasure_transaction ON memwarden_data.erasure (transaction_id);
COMMENT ON TABLE memwarden_data.erasure IS
    'Every deletion for good, of a subject or of what was collected: who, when, why, how much. Append-only.';
COMMENT ON COLUMN memwarden_data.erasure.reason IS 'Blank where it named somebody who was erased later; reason_hash is of what it was.';

CREATE TABLE memwarden_data.erased_item (
    org_id       bigint NOT NULL,
    item_id      uuid NOT NULL,
    erasure_id   uuid NOT NULL,
    version_ids  uuid[] NOT NULL,
    key_id       text,
    signature    bytea,
    PRIMARY KEY (org_id, item_id),
    CHECK ((key_id IS NULL) = (signature IS NULL))
);
CREATE INDEX erased_item_erasure ON memwarden_data.erased_item (erasure_id);
COMMENT ON TABLE memwarden_data.erased_item IS
    'Items that were erased, each with the versions that it had. The tombstone: nothing of what they said.';

-- A reason that named the subject, in the entry of an item that stays.
CREATE TABLE memwarden_data.erased_reason (
    org_id       bigint NOT NULL,
    log_seq      bigint NOT NULL,
    recorded_at  timestamptz NOT NULL,
    erasure_id   uuid NOT NULL,
    key_id       text,
    signature    bytea,
    PRIMARY KEY (org_id, log_seq),
    CHECK ((key_id IS NULL) = (signature IS NULL))
);
CREATE INDEX erased_reason_erasure ON memwarden_data.erased_reason (erasure_id);
COMMENT ON TABLE memwarden_data.erased_reason IS 'Entries of the log that lost their reason to an erasure while their item stays.';

CREATE TABLE memwarden_data.erased_request (
    org_id      bigint NOT NULL,
    request_id  uuid NOT NULL,
    erasure_id  uuid NOT NULL,
    PRIMARY KEY (org_id, request_id)
);
CREATE INDEX erased_request_erasure ON memwarden_data.erased_request (erasure_id);
COMMENT ON TABLE memwarden_data.erased_request IS
    'Write requests that were blanked. A copy of the store that is older may hold them still waiting, and would commit them.';

CREATE TABLE memwarden_data.erased_evidence (
    org_id       bigint NOT NULL,
    evidence_id  uuid NOT NULL,
    erasure_id   uuid NOT NULL,
    PRIMARY KEY (org_id, evidence_id)
);
CREATE INDEX erased_evidence_erasure ON memwarden_data.erased_evidence (erasure_id);
COMMENT ON TABLE memwarden_data.erased_evidence IS 'Recorded evidence that was erased.';

-- Which copy of the store this is. A restored or promoted one lies on another timeline or in another cluster.
CREATE TABLE memwarden_data.store_origin (
    system_identifier  bigint NOT NULL,
    timeline_id        integer NOT NULL,
    noted_at           timestamptz NOT NULL,
    PRIMARY KEY (system_identifier, timeline_id)
);
COMMENT ON TABLE memwarden_data.store_origin IS
    'The cluster and timeline in which every erasure is known to have been carried out. One row.';


INSERT INTO memwarden_data.store_origin (system_identifier, timeline_id, noted_at)
SELECT s.system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer, clock_timestamp()
    FROM pg_control_system() AS s;
