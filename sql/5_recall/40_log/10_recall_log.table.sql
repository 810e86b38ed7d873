-- Who was given what, when and for what: one narrow row a recall, never changed. It keeps no word of the query.
CREATE TABLE memwarden_data.recall_log (
    org_id             bigint NOT NULL,
    recall_id          uuid NOT NULL,
    principal_id       bigint NOT NULL,
    login              text NOT NULL,
    recalled_at        timestamptz NOT NULL,
    transaction_id     xid8 NOT NULL,
    system_identifier  bigint NOT NULL,
    purpose            text NOT NULL,
    task               text,
    session_id         uuid,
    -- HMAC of the query: who asks the same again leaves the same.
    query_digest       bytea,
    -- What was asked for; where nothing was, all that the caller sees.
    scopes             text[],
    layers             text[],
    k                  integer,
    threshold          double precision,
    embedding_model    text,
    surface            text,
    -- What was given, best first; a row of each three belongs together.
    item_ids           uuid[] NOT NULL,
    version_ids        uuid[] NOT NULL,
    scores             real[] NOT NULL,
    -- Those of them that were given as stale or of low confidence.
    doubtful           uuid[],
    -- Told afterwards by who was given it, on a replica.
    reported           boolean,
    -- What an ablation kept from it; empty where it took part and was given all, NULL where it took no part.
    withheld           uuid[],
    PRIMARY KEY (org_id, recall_id)
) PARTITION BY RANGE (recall_id);
CREATE INDEX recall_log_transaction ON memwarden_data.recall_log (system_identifier, transaction_id);
COMMENT ON TABLE memwarden_data.recall_log IS
    'Append-only: every recall, by whom, when, for which task, and which versions of which memories it gave. An erasure '
    'empties task and digest; maintain() drops a month when its time is over.';

CREATE TABLE memwarden_data.recall_outcome (
    org_id             bigint NOT NULL,
    recall_id          uuid NOT NULL,
    revision           integer NOT NULL CHECK (revision BETWEEN 1 AND 100),
    reported_at        timestamptz NOT NULL,
    login              text NOT NULL,
    transaction_id     xid8 NOT NULL,
    system_identifier  bigint NOT NULL,
    used               uuid[] NOT NULL,
    outcome            text NOT NULL CHECK (outcome IN ('success', 'partial', 'failure', 'unknown')),
    detail             jsonb,
    -- Of a failure: the memories that it came from.
    at_fault           uuid[],
    PRIMARY KEY (org_id, recall_id, revision)
) PARTITION BY RANGE (recall_id);
CREATE INDEX recall_outcome_transaction ON memwarden_data.recall_outcome (system_identifier, transaction_id);
CREATE INDEX recall_outcome_at_fault ON memwarden_data.recall_outcome (org_id, recall_id) WHERE at_fault IS NOT NULL;
COMMENT ON TABLE memwarden_data.recall_outcome IS
    'Append-only: what came of a recall, as whoever recalled says; the last revision holds.';
